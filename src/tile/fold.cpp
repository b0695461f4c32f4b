#include "tile/fold.h"

#include <algorithm>
#include <cstring>

#include "kernel/kernel.h"
#include "ops/block_name.h"
#include "tile/packed.h"
#include "tile/places.h"
#include "tile/pool.h"
#include "tile/prefetch.h"
#include "tile/registers.h"
#include "tile/run.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

constexpr int64_t kSlack = 16;            // states behind the last one that kernels may write
constexpr int64_t kBlock = 1 << 12;       // elements that are copied, cast and folded at once
constexpr int64_t kFewLanes = 16;         // below this a kept loop gives no vectors
constexpr int64_t kSmallBlock = 1 << 10;  // elements; smaller blocks are folded together
constexpr int64_t kFewRows = 64;          // rows that are gathered at once
constexpr int64_t kWidth = 512;           // outputs of a tile
constexpr int64_t kRowsAtOnce = 16;       // rows far apart: each is a page
constexpr int64_t kNarrowSteps = 256;     // elements that a narrow state takes before a wide one takes it
// Elements; shorter runs are folded faster as columns. Bench: ./dev bench --sweep, inner reductions.
constexpr int64_t kShortRun = 20, kShortNarrowRun = 3;
// Elements of rows with gaps that are copied to one run, and of an output of such rows: if the rows are short, so many
// rows, because vectors of outputs are nearly as fast; where there are too few outputs for those, a few. Bench: ./dev
// bench --sweep --reductions, gaps.
constexpr int64_t kMostJoined = 255, kFewestOfOutput = 256, kShortJoined = 4, kFewestOfFew = 48;
constexpr int64_t kLongCast = 64;  // elements of rows that are cast one by one
// Elements of runs that are columns, and rows for which that pays. Bench: ./dev bench --sweep, several dims.
constexpr int64_t kMostColumns = 64, kFewestRows = 16;

/// One loop gives the outputs of a tile, one the rows that they fold; the others count. -1: no such loop.
struct Shape {
  int64_t lane_loop = -1, row_loop = -1;
  int64_t lanes = 1, rows = 1;
  bool along = false;   // a run of rows becomes one state; else a row of lanes goes into as many states
  bool direct = false;  // memory is folded where it lies
  int64_t inner = 0;    // not 0: each lane is a block, whose rows of so many elements become as many states
  int64_t run = 1;      // along, if each row is one of loop 0: its elements, which are brought as parts of one run
  int64_t columns = 1;  // across, if each lane is a run of loop 0: its elements, whose states are joined at the end
  bool keeps_columns = false;             // they are results instead
  int64_t width = 1;                      // lanes of a tile
  int64_t brought = 1;                    // along: lanes that are brought and folded at once
  int64_t piece = 1;                      // rows at once
  SmallVector<int64_t, 8> kept, reduced;  // the loops that count
  int64_t kept_count = 1, reduced_count = 1;
  int64_t tiles = 1, pieces = 1;
  int64_t segments = 1;  // apart-folded pieces of a tile's work
};

int64_t stride_of(const Plan& plan, int64_t operand, int64_t loop) {
  return loop < 0 ? 0 : plan.strides_of(operand)[loop];
}

/// Whether the innermost rows are short and follow each other in blocks, whose results follow each other, too.
bool lies_in_blocks(const Plan& plan) {
  if (plan.ndim() < 2 || is_reduced(plan, 0) || !is_reduced(plan, 1)) return false;
  const bool is_one = plan.ndim() == 2, is_small = !is_one && plan.sizes[0] * plan.sizes[1] <= kSmallBlock;
  if (plan.sizes[0] >= kFewLanes && (!is_small || plan.sizes[0] > kWidth / 2)) return false;
  return stride_of(plan, 0, 0) == 1 && stride_of(plan, 1, 0) == 1 && (is_one || stride_of(plan, 0, 2) == plan.sizes[0]);
}

/// The loop whose elements are one run, if none is kept: the innermost one, `first`, or the longest if that is short.
/// Each run costs as much as tens of elements. Bench: ./dev bench-catalogue --filter count_nonzero.
int64_t run_loop(const Plan& plan, int64_t first) {
  if (first < 0 || plan.sizes[first] >= kFewLanes) return first;
  const int64_t* const sizes = plan.sizes.data();
  return std::max_element(sizes, sizes + plan.ndim()) - sizes;
}

/// Whether the elements of an output are short rows with gaps.
bool joins_rows(const Plan& plan, const Shape& shape) {
  if (shape.inner > 0 || plan.ndim() < 2 || !is_reduced(plan, 0) || !is_reduced(plan, 1)) return false;
  const int64_t row = plan.sizes[0];
  if (stride_of(plan, 1, 0) != 1 || row > kMostJoined) return false;
  if (shape.lane_loop >= 0 && shape.lanes < kFewLanes && row < kFewLanes) return plan.sizes[1] >= kFewestOfFew / row;
  return plan.sizes[1] >= (row < kShortJoined ? kFewestOfOutput : kFewestOfOutput / row);
}

/// Whether short runs of reduced elements lie side by side in rows, and rows are reduced, too, as in batches of images.
bool lies_in_columns(const Plan& plan) {
  if (plan.ndim() < 3 || !is_reduced(plan, 0) || is_reduced(plan, 1) || !is_reduced(plan, 2)) return false;
  if (stride_of(plan, 1, 0) != 1 || stride_of(plan, 1, 1) != plan.sizes[0]) return false;
  // Kernels read whole vectors. exact: at most the number of elements
  const bool fills_vectors = plan.sizes[0] * plan.sizes[1] >= kFewLanes;
  return fills_vectors && plan.sizes[0] <= kMostColumns && plan.sizes[2] >= kFewestRows;
}

/// Whether each output is short runs of neighbours, whose rows are reduced, and outputs follow each other.
bool lies_in_kept_columns(const Plan& plan) {
  if (plan.ndim() < 3 || is_reduced(plan, 0) || !is_reduced(plan, 1) || is_reduced(plan, 2)) return false;
  if (plan.sizes[0] >= kFewLanes || plan.sizes[2] < kFewLanes) return false;
  return stride_of(plan, 1, 0) == 1 && stride_of(plan, 0, 0) == 1 && stride_of(plan, 0, 2) == plan.sizes[0];
}

/// The innermost kept loop that fills vectors, else the longest; for blocks the third.
void choose_loops(const Plan& plan, Shape& shape) {
  if (shape.inner > 0) {
    shape.row_loop = 1;
    if (plan.ndim() > 2) {
      shape.lane_loop = 2;
      shape.lanes = plan.sizes[2];
    }
  }
  if (shape.columns > 1) {
    shape.lane_loop = shape.keeps_columns ? 2 : 1;
    shape.row_loop = shape.keeps_columns ? 1 : 2;
    shape.lanes = plan.sizes[shape.lane_loop];
  }
  for (int64_t loop = plan.ndim() - 1; loop >= 0 && shape.inner == 0 && shape.columns == 1; --loop) {
    if (is_reduced(plan, loop)) {
      shape.row_loop = loop;
    } else if (shape.lane_loop < 0 || plan.sizes[loop] >= kFewLanes || plan.sizes[loop] >= shape.lanes) {
      shape.lane_loop = loop;
      shape.lanes = plan.sizes[loop];
    }
  }
  if (shape.inner == 0 && shape.lane_loop < 0) shape.row_loop = run_loop(plan, shape.row_loop);
  if (joins_rows(plan, shape)) {
    shape.lane_loop = -1;
    shape.lanes = 1;
    shape.row_loop = 1;
    shape.run = plan.sizes[0];
  }
  if (shape.row_loop >= 0) shape.rows = plan.sizes[shape.row_loop];
  for (int64_t loop = 0; loop < plan.ndim(); ++loop) {
    const bool is_inner = loop == 0 && (shape.inner > 0 || shape.run > 1 || shape.columns > 1);
    if (loop == shape.lane_loop || loop == shape.row_loop || is_inner) continue;
    (is_reduced(plan, loop) ? shape.reduced : shape.kept).push_back(loop);
    (is_reduced(plan, loop) ? shape.reduced_count : shape.kept_count) *= plan.sizes[loop];
  }
}

const StateKernels& states_of(Op op, Dtype dtype) {
  return *kernels().state_fold[static_cast<int>(op)][static_cast<int>(dtype)];
}
/// Whether short runs are folded together.
bool folds_blocks(const Fold& fold) { return states_of(fold.op, fold.lanes).blocks != nullptr; }

/// Below this, a run is not worth joining the lanes it was folded in.
int64_t shortest_run(const Fold& fold) {
  if (folds_blocks(fold)) return fold.lanes == float64 ? kShortRun : kShortNarrowRun;
  return row_of(fold.op).vectors ? 256 : 128 / itemsize(fold.lanes);
}

void choose_tile(const Plan& plan, const Fold& fold, Shape& shape) {
  const bool casts = fold.input != fold.lanes;
  const int64_t lane_stride = stride_of(plan, 1, shape.lane_loop), row_stride = stride_of(plan, 1, shape.row_loop);
  const bool rows_first = shape.row_loop >= 0 && (shape.lane_loop < 0 || shape.row_loop < shape.lane_loop);
  shape.along = rows_first ? shape.rows >= shortest_run(fold) || shape.lanes < kFewLanes
                           : shape.lanes < kFewLanes && shape.rows >= kFewRows;
  if (shape.columns > 1) shape.along = false;
  if (shape.along) {
    shape.direct = !casts && shape.run == 1 && (row_stride == 1 || shape.rows == 1);
    // Neighbours that lie in one line of memory are read at once.
    shape.piece = std::min(shape.rows, rows_first ? kBlock / shape.run : kBlock / shape.lanes);
    const int64_t fitting = std::max<int64_t>(kBlock / shape.piece, 1);
    // Tiles of one plane of several are long runs of memory; so are rows of several pieces, one by one. Bench: ./dev
    // bench --sweep --reductions.
    const bool is_wide = (shape.direct && shape.piece == shape.rows) || (rows_first && shape.reduced_count > 1);
    shape.width = std::min({shape.lanes, kWidth, is_wide ? kWidth : fitting});
    shape.brought = shape.direct ? shape.width : fitting;
  } else {
    const bool in_columns = shape.columns > 1 && !shape.keeps_columns;
    const bool in_order = in_columns || (lane_stride == 1 && shape.lanes >= kFewLanes);
    shape.direct = !casts && in_order;
    const bool is_near = folds_blocks(fold) && row_stride * itemsize(fold.input) <= 4096;
    shape.piece = std::min(shape.rows, !in_order ? kFewRows : is_near ? 2 * kRowsAtOnce : kRowsAtOnce);
    const int64_t fitting = std::max(kBlock / shape.piece / kFewLanes * kFewLanes, kFewLanes);
    const int64_t widest = std::min(kWidth, shape.direct ? kWidth : fitting);
    shape.width = std::min(shape.lanes, std::max<int64_t>(widest / shape.columns, 1));
  }
}

/// Whether short rows are folded in blocks.
bool chooses_blocks(const Plan& plan, const Fold& fold) {
  if (!folds_blocks(fold) || !lies_in_blocks(plan)) return false;
  const bool can_cast = fold.input == fold.lanes || stride_of(plan, 1, 1) == plan.sizes[0];
  return can_cast && plan.sizes[0] * plan.sizes[1] >= kFewLanes;
}
void choose_blocks(const Fold& fold, Shape& shape) {
  shape.direct = fold.input == fold.lanes;
  shape.piece = std::min(shape.rows, std::max<int64_t>(kBlock / shape.inner, 1));
  shape.width =
      std::clamp<int64_t>(kBlock / (shape.piece * shape.inner), 1, std::min(kWidth / shape.inner, shape.lanes));
}

Shape choose_shape(const Plan& plan, const Fold& fold) {
  Shape shape;
  if (chooses_blocks(plan, fold)) shape.inner = plan.sizes[0];
  shape.keeps_columns = shape.inner == 0 && lies_in_kept_columns(plan);
  if (shape.keeps_columns || (shape.inner == 0 && lies_in_columns(plan))) shape.columns = plan.sizes[0];
  choose_loops(plan, shape);
  if (shape.inner > 0)
    choose_blocks(fold, shape);
  else
    choose_tile(plan, fold, shape);
  shape.tiles = (shape.lanes + shape.width - 1) / shape.width;
  shape.pieces = (shape.rows + shape.piece - 1) / shape.piece;
  shape.segments = count_segments(plan.numel, shape.kept_count * shape.tiles, shape.pieces * shape.reduced_count);
  return shape;
}

struct Setup {
  const Plan& plan;
  const Fold& fold;
  Shape shape;
  const StateKernels& narrow;
  const StateKernels& wide;
  Dtype wide_dtype;
  int64_t stride;  // between the fields of states
  const std::byte* in = nullptr;

  int64_t wide_bytes() const { return narrow.fields * stride * 8; }
};

void cast(Dtype from, Dtype to, void* out, const void* in, int64_t n) {
  const Lanes lanes{in, 1};
  kernels().cast[static_cast<int>(from)][static_cast<int>(to)](out, &lanes, n);
}

class FoldLoop {
 public:
  explicit FoldLoop(const Setup& setup)
      : setup_(setup),
        shape_(setup.shape),
        kept_(setup.plan, setup.shape.kept),
        reduced_(setup.plan, setup.shape.reduced),
        lane_stride_(stride_of(setup.plan, 1, setup.shape.lane_loop)),
        row_stride_(stride_of(setup.plan, 1, setup.shape.row_loop)),
        is_far_(is_far(setup.plan, setup.fold)),
        itemsize_(setup.narrow.blocks ? 8 : itemsize(setup.fold.lanes)),
        states_(setup.wide_bytes()),
        results_(results_bytes(setup)),
        block_(block_bytes(setup)),
        joined_(joined_bytes(setup)) {}

  /// Scratch of one loop.
  static int64_t scratch_bytes(const Setup& setup) {
    return setup.wide_bytes() + results_bytes(setup) + block_bytes(setup) + joined_bytes(setup);
  }

  /// Folds a segment of the work of tile `tile` into wide states.
  void fold(int64_t tile, int64_t segment, std::byte* wide) {
    go_to(tile);
    const int64_t work = shape_.reduced_count * shape_.pieces;
    const int64_t begin = work * segment / shape_.segments, end = work * (segment + 1) / shape_.segments;
    reduced_.go_to(begin / shape_.pieces);
    int64_t piece = begin % shape_.pieces, taken = 0, start = 0;
    bool fresh = true;
    const auto absorb = [&] {
      if (to_ != wide) setup_.narrow.absorb(wide, to_, setup_.stride, states(), start, fresh, setup_.fold.numbers);
      fresh = false;
      taken = 0;
    };
    for (int64_t i = begin; i < end; ++i) {
      check_interrupt();
      const int64_t row = piece * shape_.piece, rows = std::min(shape_.piece, shape_.rows - row);
      if (taken == 0) start = row;
      // States that are wide already begin where they end.
      to_ = fresh && setup_.narrow.blocks ? wide : states_.data();
      int64_t step = 0;
      if (shape_.inner > 0) {
        const std::byte* from = bring(row, rows, 0, width_, step);
        setup_.narrow.blocks(to_, setup_.stride, from, shape_.inner, row_stride_, rows,
                             shape_.direct ? lane_stride_ : step, width_, setup_.fold.numbers);
        absorb();
      } else if (shape_.along) {
        for (int64_t lane = 0; lane < width_; lane += shape_.brought) {
          const int64_t count = std::min(shape_.brought, width_ - lane);
          const std::byte* from = bring(row, rows, lane, count, step);
          setup_.narrow.along(to_ + lane * itemsize_, setup_.stride, from, step, count, rows * shape_.run,
                              setup_.fold.numbers);
        }
        absorb();
      } else {
        const std::byte* from = bring(row, rows, 0, width_, step);
        fold_across(from, step, rows, taken);
        taken += rows;
        if (taken >= kNarrowSteps) absorb();
      }
      if (++piece == shape_.pieces) {
        piece = 0;
        reduced_.advance();
      }
    }
    if (taken > 0) absorb();
  }

  /// The wide state of no elements.
  void fold_nothing(std::byte* wide) {
    setup_.narrow.along(states_.data(), setup_.stride, wide, 0, 1, 0, setup_.fold.numbers);
    setup_.narrow.absorb(wide, states_.data(), setup_.stride, 1, 0, true, setup_.fold.numbers);
  }

  /// Stores what the wide states of a tile finish as.
  void store(int64_t tile, const std::byte* wide) {
    go_to(tile);
    if (shape_.columns > 1 && !shape_.keeps_columns) wide = joined_columns(wide);
    setup_.wide.finish(results_.data(), wide, setup_.stride, outputs(), setup_.fold.numbers);
    for (int result = 0; result < setup_.wide.results; ++result)
      store(result, results_.data() + result * setup_.stride * 8);
  }

 private:
  /// One state for each lane.
  const std::byte* joined_columns(const std::byte* wide) {
    std::byte* const column = states_.data();
    for (int64_t i = 0; i < shape_.columns; ++i) {
      for (int64_t field = 0; field < setup_.wide.fields; ++field)
        kernels().move[3].gather(column + field * setup_.stride * 8, wide + (field * setup_.stride + i) * 8,
                                 shape_.columns, width_, 0, 1);
      setup_.wide.absorb(joined_.data(), column, setup_.stride, width_, 0, i == 0, setup_.fold.numbers);
    }
    return joined_.data();
  }

  /// Of the tile.
  int64_t states() const { return width_ * std::max<int64_t>(shape_.inner, 1) * shape_.columns; }
  int64_t outputs() const { return shape_.columns == 1 || shape_.keeps_columns ? states() : width_; }

  /// Tiles are as good as equal: none is narrower than a vector.
  void go_to(int64_t tile) {
    kept_.go_to(tile / shape_.tiles);
    const int64_t place = tile % shape_.tiles;
    first_lane_ = shape_.lanes * place / shape_.tiles;
    width_ = shape_.lanes * (place + 1) / shape_.tiles - first_lane_;
  }
  /// Room for results as they are folded and as they are cast.
  static int64_t results_bytes(const Setup& setup) { return (setup.wide.results + 1) * setup.stride * 8; }
  static int64_t joined_bytes(const Setup& setup) {
    return setup.shape.columns > 1 && !setup.shape.keeps_columns ? setup.wide_bytes() : 0;
  }
  /// Lanes that are brought at once.
  static int64_t brought(const Shape& shape) { return shape.along ? shape.brought : shape.width; }
  /// Room for a block as it is read and as it is cast.
  static int64_t block_bytes(const Setup& setup) {
    const Shape& shape = setup.shape;
    const int64_t n = brought(shape) * shape.piece * std::max<int64_t>(shape.inner, 1) * shape.run * shape.columns;
    return shape.direct ? 0 : (n + kSlack) * (8 + 8);
  }

  void store(int result, const std::byte* results) {
    const Dtype output = setup_.fold.outputs[result];
    if (output != setup_.wide_dtype) {
      const Lanes from{results, 1};
      std::byte* cast = results_.data() + setup_.wide.results * setup_.stride * 8;
      kernels().cast[static_cast<int>(setup_.wide_dtype)][static_cast<int>(output)](cast, &from, outputs());
      results = cast;
    }
    const int64_t stride = stride_of(setup_.plan, 0, shape_.lane_loop), size = itemsize(output);
    std::byte* to = static_cast<std::byte*>(setup_.fold.out[result]) + (kept_[0] + first_lane_ * stride) * size;
    if (stride == 1 || width_ == 1 || shape_.inner > 0 || shape_.keeps_columns)
      std::memcpy(to, results, static_cast<std::size_t>(outputs() * size));
    else
      kernels().move[shift_of(output)].scatter(to, stride, width_, 0, 1, results);
  }

  void fold_across(const std::byte* from, int64_t step, int64_t rows, int64_t taken) {
    const int shift = shift_of(setup_.fold.input);
    const auto fold = [&](int64_t start, int64_t count) {
      setup_.narrow.across(to_ + start * itemsize_, setup_.stride, from + (start << shift), step, rows, count, taken,
                           setup_.fold.numbers);
    };
    const int64_t width = width_ * shape_.columns;
    if (is_far_ && shape_.direct && width << shift > kPieceBytes)
      return fold_pieces(from, width, step, rows, shift, rows == shape_.rows, fold);
    fold(0, width);
  }

  /// The element of the tile's lane `lane` in row `row`.
  const std::byte* at(int64_t row, int64_t lane) const {
    const int64_t offset = kept_[1] + reduced_[1] + (first_lane_ + lane) * lane_stride_ + row * row_stride_;
    return setup_.in + (offset << shift_of(setup_.fold.input));
  }

  /// The elements of `lanes` lanes of the tile in `rows` rows, ready for the kernels; `step`: from run to run, or from
  /// row to row.
  const std::byte* bring(int64_t row, int64_t rows, int64_t lane, int64_t lanes, int64_t& step) {
    const Fold& fold = setup_.fold;
    const std::byte* from = at(row, lane);
    if (shape_.direct) {
      step = shape_.along ? lane_stride_ : row_stride_;
      return from;
    }
    if (shape_.inner > 0) {  // blocks without gaps
      step = rows * shape_.inner;
      const int64_t runs = lane_stride_ == step ? 1 : lanes, n = lanes / runs * step;
      for (int64_t run = 0; run < runs; ++run)
        cast(fold.input, fold.lanes, block_.data() + (run * n << shift_of(fold.lanes)),
             from + (run * lane_stride_ << shift_of(fold.input)), n);
      return block_.data();
    }
    // Runs of n elements, `inner` apart.
    const bool joins = shape_.run > 1, lies_along = shape_.along && !joins;
    const int64_t n = joins ? shape_.run : shape_.along ? rows : lanes * shape_.columns;
    const int64_t runs = lies_along ? lanes : rows;
    const int64_t inner = joins || shape_.columns > 1 ? 1 : lies_along ? row_stride_ : lane_stride_;
    const int64_t outer = lies_along ? lane_stride_ : row_stride_;
    step = n;
    const bool casts = fold.input != fold.lanes;
    std::byte* const cast = block_.data();
    const auto kernel = kernels().cast[static_cast<int>(fold.input)][static_cast<int>(fold.lanes)];
    if (casts && inner == 1 && !shape_.keeps_columns && (outer == n || n >= kLongCast)) {
      if (is_far_ && !shape_.along && rows == shape_.rows) {  // the next tile's
        const std::byte* const next = from + (n << shift_of(fold.input));
        prefetch_rows(next, n << shift_of(fold.input), outer << shift_of(fold.input), rows);
      }
      if (outer == n) {  // one run
        const Lanes run{from, 1};
        kernel(cast, &run, n * runs);
        return cast;
      }
      for (int64_t run = 0; run < runs; ++run) {
        const Lanes in{from + (run * outer << shift_of(fold.input)), 1};
        kernel(cast + (run * n << shift_of(fold.lanes)), &in, n);
      }
      return cast;
    }
    std::byte* raw = casts ? cast + (brought(shape_) * shape_.piece * shape_.run * shape_.columns + kSlack) * 8 : cast;
    const int shift = shift_of(fold.input);
    if (shape_.keeps_columns) {
      for (int64_t i = 0; i < runs; ++i)
        kernels().move[shift].gather(raw + (i * n << shift), from + (i * outer << shift), 1, shape_.columns,
                                     lane_stride_, lanes);
    } else {
      kernels().move[shift].gather(raw, from, inner, n, outer, runs);
    }
    if (!casts) return raw;
    const Lanes in{raw, 1};
    kernel(cast, &in, n * runs);
    return cast;
  }

  const Setup& setup_;
  const Shape& shape_;
  OuterCounter kept_, reduced_;
  int64_t lane_stride_, row_stride_;
  bool is_far_;
  int64_t itemsize_;  // of a state's field
  std::byte* to_ = nullptr;
  int64_t first_lane_ = 0, width_ = 1;
  Scratch states_, results_, block_, joined_;
};

int64_t parts_of(const Plan& plan, const Shape& shape) {
  const int64_t outputs = shape.kept_count * shape.tiles;
  return shape.segments > 1 ? outputs * shape.segments
                            : std::clamp<int64_t>(plan.numel / kSegmentNumel, 1, std::min(outputs, kMaxParts));
}
/// But for what is counted while it runs.
Course route_of(const Plan& plan, const Fold& fold, const Shape& shape) {
  const int64_t stride = stride_of(plan, 0, shape.lane_loop);
  Course course{
      .route = shape.inner > 0 ? "rounds"
               : shape.along   ? "along"
                               : "across",
      .stores = stride == 1 || shape.width == 1 || shape.inner > 0 || shape.keeps_columns ? "in place" : "scattered"};
  course.plan = plan;
  course.accesses.push_back(shape.direct ? AccessPattern::direct : AccessPattern::gather);
  if (fold.input != fold.lanes) course.kernels.push_back({"cast", fold.lanes});
  course.kernels.push_back({block_name(fold.op), fold.lanes});
  return course;
}

Setup make_setup(const Plan& plan, const Fold& fold) {
  const Dtype wide = is_floating_point(fold.lanes) ? float64 : int64;
  Setup setup{.plan = plan,
              .fold = fold,
              .shape = choose_shape(plan, fold),
              .narrow = states_of(fold.op, fold.lanes),
              .wide = states_of(fold.op, wide),
              .wide_dtype = wide,
              .stride = 0};
  const int64_t states = setup.shape.width * std::max<int64_t>(setup.shape.inner, 1) * setup.shape.columns;
  setup.stride = (states + kSlack - 1) / kSlack * kSlack + kSlack;
  return setup;
}

/// Short rows, whose results a kernel computes from the elements.
class FinishedRows {
 public:
  FinishedRows(const Plan& plan, const Fold& fold)
      : plan_(plan),
        fold_(fold),
        kernel_(states_of(fold.op, fold.lanes)),
        n_(plan.sizes[0]),
        rows_(plan.ndim() > 1 ? plan.sizes[1] : 1),
        step_(stride_of(plan, 1, plan.ndim() > 1 ? 1 : -1)),
        width_(casts() ? std::max<int64_t>(kBlock / n_ / kGroup, 1) * kGroup : kRowsAtOnce) {
    for (int64_t loop = 2; loop < plan.ndim(); ++loop) {
      kept_.push_back(loop);
      kept_count_ *= plan.sizes[loop];
    }
  }

  /// Whether there is such a kernel for these rows, one after the other or apart, but with neighbouring results.
  static bool finish(const Plan& plan, const Fold& fold) {
    const StateKernels& kernel = states_of(fold.op, fold.lanes);
    if (!kernel.finished || plan.ndim() == 0 || !is_reduced(plan, 0) || plan.strides_of(1)[0] != 1) return false;
    if (plan.sizes[0] < 2 || plan.sizes[0] > kFinishedRow || plan.numel < kSmallBlock) return false;
    for (int64_t loop = 1; loop < plan.ndim(); ++loop)
      if (is_reduced(plan, loop)) return false;
    if (plan.ndim() > 1 && stride_of(plan, 0, 1) != 1) return false;
    for (int result = 0; result < kernel.results; ++result)
      if (itemsize(fold.outputs[result]) > itemsize(fold.lanes)) return false;
    return true;
  }
  /// But for what is counted while it runs.
  Course route() const {
    Course course{.route = "along", .stores = "in place"};
    course.plan = plan_;
    course.accesses.push_back(casts() ? AccessPattern::gather : AccessPattern::direct);
    if (casts()) course.kernels.push_back({"cast", fold_.lanes});
    course.kernels.push_back({block_name(fold_.op), fold_.lanes});
    return course;
  }
  Course course() const {
    Course course = route();
    course.passes = 1;
    course.parts = parts();
    course.threads = threads_for(course.parts);
    course.scratch_bytes = elements_bytes() + results_bytes();
    return course;
  }
  void run(const void* in) const {
    if (CourseRecord::now()) [[unlikely]]
      note_course(route());
    const int64_t tiles = this->tiles(), outputs = kept_count_ * tiles, parts = this->parts();
    parallel_for(
        parts, [&] { return Tile(*this); },
        [&](Tile& tile, int64_t part) {
          for (int64_t i = outputs * part / parts; i < outputs * (part + 1) / parts; ++i) {
            check_interrupt();
            tile.kept.go_to(i / tiles);
            const int64_t row = i % tiles * width_;
            fold(tile, static_cast<const std::byte*>(in), row, std::min(width_, rows_ - row));
          }
        });
  }

 private:
  static constexpr int64_t kGroup = 16, kRowsAtOnce = 1 << 10;  // rows of vectors; of a tile
  static constexpr int64_t kAheadBytes = 256;                   // of rows that are prefetched

  struct Tile {
    OuterCounter kept;
    Scratch elements, results;
    explicit Tile(const FinishedRows& rows)
        : kept(rows.plan_, rows.kept_), elements(rows.elements_bytes()), results(rows.results_bytes()) {}
  };

  bool casts() const { return fold_.input != fold_.lanes; }
  int64_t tiles() const { return (rows_ + width_ - 1) / width_; }
  int64_t parts() const {
    return std::clamp<int64_t>(plan_.numel / kSegmentNumel, 1, std::min(kept_count_ * tiles(), kMaxParts));
  }
  int64_t elements_bytes() const { return casts() ? width_ * n_ * itemsize(fold_.lanes) : 0; }
  int64_t results_bytes() const { return width_ * kernel_.results * 8; }
  void fold(Tile& tile, const std::byte* in, int64_t row, int64_t rows) const {
    const std::byte* const from = in + ((tile.kept[1] + row * step_) << shift_of(fold_.input));
    void* results[kMostFolded];
    std::byte* outputs[kMostFolded];
    for (int result = 0; result < kernel_.results; ++result) {
      const Dtype output = fold_.outputs[result];
      outputs[result] = static_cast<std::byte*>(fold_.out[result]) + (tile.kept[0] + row) * itemsize(output);
      results[result] = output == fold_.lanes ? outputs[result] : tile.results.data() + result * width_ * 8;
    }
    if (casts())
      kernel_.finished(results, cast_rows(tile, from, rows), n_, n_, rows, fold_.numbers);
    else if (n_ << shift_of(fold_.input) >= kAheadBytes && plan_.numel << shift_of(fold_.input) > streaming_threshold())
      finish_ahead(results, from, rows);
    else
      kernel_.finished(results, from, n_, step_, rows, fold_.numbers);
    for (int result = 0; result < kernel_.results; ++result)
      if (results[result] != outputs[result])
        cast(fold_.lanes, fold_.outputs[result], outputs[result], results[result], rows);
  }
  /// The processor does not read ahead while kernels read many long rows at a time. Bench: ./dev bench --sweep
  /// --reductions.
  void finish_ahead(void* const* results, const std::byte* from, int64_t rows) const {
    const int shift = shift_of(fold_.input);
    void* to[kMostFolded];
    std::copy_n(results, kernel_.results, to);
    for (int64_t left = rows; left > 0; left -= kGroup, from += kGroup * (step_ << shift)) {
      prefetch_rows(from + kGroup * (step_ << shift), n_ << shift, step_ << shift, kGroup);
      kernel_.finished(to, from, n_, step_, std::min(left, kGroup), fold_.numbers);
      for (int result = 0; result < kernel_.results; ++result)
        to[result] = static_cast<std::byte*>(to[result]) + (kGroup << shift_of(fold_.lanes));
    }
  }
  const std::byte* cast_rows(Tile& tile, const std::byte* from, int64_t rows) const {
    const int64_t runs = step_ == n_ ? 1 : rows, n = rows / runs * n_;
    for (int64_t run = 0; run < runs; ++run)
      cast(fold_.input, fold_.lanes, tile.elements.data() + (run * n << shift_of(fold_.lanes)),
           from + (run * step_ << shift_of(fold_.input)), n);
    return tile.elements.data();
  }

  const Plan& plan_;
  const Fold& fold_;
  const StateKernels& kernel_;
  int64_t n_, rows_, step_, width_;
  SmallVector<int64_t, 8> kept_;
  int64_t kept_count_ = 1;
};

/// A segment each, joined in their order.
void fold_segments(const Setup& setup, int64_t outputs) {
  const int64_t segments = setup.shape.segments, bytes = setup.wide_bytes();
  Scratch apart(outputs * segments * bytes);
  parallel_for(
      outputs * segments, [&] { return FoldLoop(setup); },
      [&](FoldLoop& loop, int64_t part) { loop.fold(part / segments, part % segments, apart.data() + part * bytes); });
  note_pass();
  FoldLoop loop(setup);
  for (int64_t tile = 0; tile < outputs; ++tile) {
    std::byte* wide = apart.data() + tile * segments * bytes;
    for (int64_t segment = 1; segment < segments; ++segment)
      setup.wide.absorb(wide, wide + segment * bytes, setup.stride, setup.stride - kSlack, 0, false,
                        setup.fold.numbers);
    loop.store(tile, wide);
  }
}

}  // namespace

Course course_of(const Plan& plan, const Fold& fold) {
  if (finds_places(fold)) return course_of_places(plan, fold);
  if (FinishedRows::finish(plan, fold)) return FinishedRows(plan, fold).course();
  const Setup setup = make_setup(plan, fold);
  const bool is_cut = setup.shape.segments > 1;
  Course course = route_of(plan, fold, setup.shape);
  course.passes = is_cut ? 2 : 1;
  course.parts = parts_of(plan, setup.shape);
  course.threads = threads_for(course.parts);
  course.scratch_bytes = FoldLoop::scratch_bytes(setup) + (is_cut ? course.parts : 1) * setup.wide_bytes();
  return course;
}

void run_fold(const Plan& plan, const Fold& fold, const void* in) {
  if (packs_rows(plan)) return run_packed(plan, fold, in);
  if (!fold.out[0] && CourseRecord::plans_meta()) return note_course(course_of(plan, fold));
  if (finds_places(fold)) return run_places(plan, fold, in);
  for (int result = 0; result < states_of(fold.op, fold.lanes).results; ++result)
    check_memory(fold.out[result], &in, 1);
  if (FinishedRows::finish(plan, fold)) return FinishedRows(plan, fold).run(in);
  Setup setup = make_setup(plan, fold);
  setup.in = static_cast<const std::byte*>(in);
  const int64_t outputs = setup.shape.kept_count * setup.shape.tiles, parts = parts_of(plan, setup.shape);
  if (CourseRecord::now()) [[unlikely]]
    note_course(route_of(plan, fold, setup.shape));
  if (setup.shape.segments > 1) return fold_segments(setup, outputs);
  struct State {
    explicit State(const Setup& given) : loop(given), wide(given.wide_bytes()) {}
    FoldLoop loop;
    Scratch wide;
  };
  parallel_for(
      parts, [&] { return State(setup); },
      [&](State& state, int64_t part) {
        for (int64_t tile = outputs * part / parts; tile < outputs * (part + 1) / parts; ++tile) {
          state.loop.fold(tile, 0, state.wide.data());
          state.loop.store(tile, state.wide.data());
        }
      });
}

void run_fold_of_nothing(const Fold& fold) {
  const StridedView one[] = {{{}, {}}, {{}, {}}};
  Plan plan;
  make_reduction_plan({}, one, 2, plan);
  const Setup setup = make_setup(plan, fold);
  FoldLoop loop(setup);
  Scratch wide(setup.wide_bytes());
  loop.fold_nothing(wide.data());
  loop.store(int64_t{0}, wide.data());
}

}  // namespace tenon
