#include "tile/places.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "kernel/kernel.h"
#include "ops/block_name.h"
#include "tile/pool.h"
#include "tile/prefetch.h"
#include "tile/registers.h"
#include "tile/run.h"
#include "tile/scratch.h"
#include "type/visit.h"

namespace tenon {
namespace {

// Bench: ./dev bench --sweep, reductions.
constexpr int64_t kChunk = 1 << 12;       // elements that are folded and then searched in the first cache
constexpr int64_t kWidth = 512;           // outputs of a tile
constexpr int64_t kRowsAtOnce = 32;       // rows far apart: each is a page
constexpr int64_t kFarRowsAtOnce = 16;    // the same beyond the caches
constexpr int64_t kRowsNearby = 128;      // rows of less than a page
constexpr int64_t kSmallest = 64;         // elements for which kernels of blocks are set up
constexpr int64_t kColumnBytes = 20;      // of runs; shorter ones do not fill the blocks that are read as columns
constexpr int64_t kShortRun = 32;         // elements; shorter runs are folded faster as columns
constexpr int64_t kShortNarrowRun = 24;   // the same of one or two bytes
constexpr int64_t kRowsOfSegment = 512;   // of several columns, whose segments take long to join
constexpr int64_t kPartsAcross = 16;      // the same: so many parts are enough
constexpr int64_t kMostAhead = 16 << 10;  // bytes of the next chunk that are prefetched

static_assert(kRowsNearby <= kSearchedRows);

bool gives_extremes(const Fold& fold) { return fold.op == Op::max_dim || fold.op == Op::min_dim; }

enum class Way {
  along,   // runs are folded, and searched for what they fold to
  blocks,  // the same for blocks of short rows
  across,  // rows are searched column by column
  rows,    // short runs are searched side by side
};

int64_t reduced_loop(const Plan& plan) {
  for (int64_t loop = 0; loop < plan.ndim(); ++loop)
    if (is_reduced(plan, loop)) return loop;
  return -1;
}
/// Whether runs are short, but no shorter than what is read as columns, and so many that groups of them are whole.
bool fills_columns(const Plan& plan, const Fold& fold) {
  constexpr int64_t kFewGroups = 4, kGroupBytes = 64;
  const int64_t n = plan.sizes[0], size = itemsize(fold.input);
  // Memory is read best in order: groups of many or of long rows are not.
  constexpr int64_t kFarElement = 4, kFarRow = 1024;
  if (is_far(plan, fold) && (size < kFarElement || n * size > kFarRow)) return false;
  return n > 3 && n <= kSearchedRows && n * size >= kColumnBytes && plan.ndim() > 1 && plan.strides_of(1)[1] >= 0 &&
         plan.sizes[1] * size >= kFewGroups * kGroupBytes && kernels().place[static_cast<int>(fold.input)].rows;
}
/// How memory is searched where it lies, if it is. Bytes of bool may have any value: only kernels of columns know that.
std::optional<Way> way_of(const Plan& plan, const Fold& fold) {
  const auto op = static_cast<int>(extreme_of_place(fold.op)), dtype = static_cast<int>(fold.input);
  const int64_t reduced = reduced_loop(plan);
  if (reduced < 0 || plan.strides_of(1)[0] != 1) return {};
  if (reduced == 0 && fills_columns(plan, fold)) return Way::rows;
  if (fold.input == bool_ && (reduced == 0 || plan.sizes[0] < kSearchedColumns)) return {};
  const int64_t least = itemsize(fold.input) < 4 ? kShortNarrowRun : kShortRun;
  if (reduced == 0 && plan.sizes[0] >= least) return Way::along;
  if (reduced == 0 || plan.strides_of(1)[reduced] < 0) return {};
  if (plan.sizes[0] >= kSearchedColumns) return Way::across;
  const bool is_block = reduced == 1 && kernels().fold_blocks[op][dtype] &&
                        (plan.ndim() == 2 || plan.strides_of(1)[2] >= 0) &&
                        plan.sizes[0] * plan.sizes[1] >= kSearchedColumns && plan.numel >= kSmallest;
  if (is_block) return Way::blocks;
  return {};
}

/// How the work is cut. Outputs of a tile are `runs` times `inner`.
struct Shape {
  Way way;
  bool gathers = false;  // chunks are copied first
  int64_t row_loop, rows;
  int64_t lane_loop = -1, lanes = 1;  // the loop of which a tile takes some turns; -1: one turn
  int64_t inner = 1;                  // outputs of each turn: of blocks
  int64_t width = 1;                  // turns of a tile
  int64_t chunk = 1, chunks = 1;      // rows at once
  int64_t tiles = 1, segments = 1;
  SmallVector<int64_t, 8> kept;
  int64_t kept_count = 1;

  int64_t outputs() const { return kept_count * tiles; }
  int64_t room() const { return width * inner; }
};

void choose_tile(const Plan& plan, const Fold& fold, Shape& shape) {
  if (shape.way == Way::across && shape.gathers) {
    shape.chunk = std::min(shape.rows, kRowsNearby);
    // Tiles are as good as equal: none is narrower than what is searched.
    shape.width = std::min({std::max(kChunk / shape.chunk, 2 * kSearchedColumns), shape.lanes, kWidth});
    return;
  }
  if (shape.way == Way::across) {
    const int64_t step_bytes = plan.strides_of(1)[shape.row_loop] * itemsize(fold.input);
    const int64_t apart = is_far(plan, fold) ? kFarRowsAtOnce : kRowsAtOnce;
    shape.chunk = std::min(shape.rows, step_bytes > kPagesApart ? apart : kRowsNearby);
    shape.width = std::min(shape.lanes, kWidth);
    return;
  }
  if (shape.way == Way::rows) {
    shape.chunk = shape.rows;
    shape.width = std::min(shape.lanes, kWidth);
    return;
  }
  shape.chunk = std::min(shape.rows, std::max<int64_t>(kChunk / shape.inner, 1));
  shape.width =
      std::clamp<int64_t>(kChunk / (shape.chunk * shape.inner), 1, std::min(kWidth / shape.inner, shape.lanes));
}

/// The innermost kept loop that fills vectors, else the longest; -1: none.
int64_t gathered_loop(const Plan& plan) {
  int64_t found = -1;
  for (int64_t loop = plan.ndim() - 1; loop >= 0; --loop)
    if (!is_reduced(plan, loop) &&
        (found < 0 || plan.sizes[loop] >= kSearchedColumns || plan.sizes[loop] >= plan.sizes[found]))
      found = loop;
  return found;
}
int64_t lane_loop_of(const Plan& plan, const Shape& shape) {
  if (shape.gathers) return gathered_loop(plan);
  const int64_t loop = shape.way == Way::across ? 0 : shape.way == Way::blocks ? 2 : 1;
  return loop < plan.ndim() ? loop : -1;
}

Shape choose_shape(const Plan& plan, const Fold& fold) {
  const int64_t reduced = reduced_loop(plan);
  const std::optional<Way> found = way_of(plan, fold);
  Shape shape{.way = found.value_or(Way::along),
              .gathers = !found,
              .row_loop = reduced,
              .rows = reduced < 0 ? 1 : plan.sizes[reduced],
              .kept = {}};
  if (shape.way == Way::blocks) shape.inner = plan.sizes[0];
  shape.lane_loop = lane_loop_of(plan, shape);
  if (shape.lane_loop >= 0) shape.lanes = plan.sizes[shape.lane_loop];
  if (shape.gathers && shape.lanes >= kSearchedColumns) shape.way = Way::across;
  for (int64_t loop = shape.way == Way::blocks ? 1 : 0; loop < plan.ndim(); ++loop) {
    if (loop == shape.lane_loop || loop == reduced) continue;
    shape.kept.push_back(loop);
    shape.kept_count *= plan.sizes[loop];
  }
  choose_tile(plan, fold, shape);
  shape.tiles = (shape.lanes + shape.width - 1) / shape.width;
  shape.chunks = (shape.rows + shape.chunk - 1) / shape.chunk;
  const int64_t most =
      shape.way == Way::across ? std::min(shape.rows / kRowsOfSegment, kPartsAcross / shape.outputs()) : shape.chunks;
  shape.segments = count_segments(plan.numel, shape.outputs(), most);
  return shape;
}

/// Whether the first element is more extreme.
using Beyond = bool (*)(const void* a, const void* b);
template <class T, bool kSmallest>
bool is_beyond(const void* a, const void* b) {
  const auto number = [](const void* from) {
    T element;
    std::memcpy(&element, from, sizeof element);
    if constexpr (is_half_v<T>)
      return element_cast<float>(element);
    else
      return element;
  };
  const auto left = number(a), right = number(b);
  if constexpr (is_floating_v<T>)
    if (std::isnan(left) || std::isnan(right)) return !std::isnan(right);
  return kSmallest ? left < right : left > right;
}
Beyond beyond_of(Op extreme, Dtype dtype) {
  return visit_dtype(dtype, [&]<class T>() -> Beyond {
    if constexpr (is_complex_v<T>)
      return nullptr;
    else
      return extreme == Op::amin ? &is_beyond<T, true> : &is_beyond<T, false>;
  });
}
PlaceOrder order_of(Op extreme, Dtype dtype) {
  const bool is_smallest = extreme == Op::amin;
  const uint64_t sign = uint64_t{1} << (8 * itemsize(dtype) - 1);
  return visit_dtype(dtype, [&]<class T>() -> PlaceOrder {
    if constexpr (is_floating_v<T>) {
      uint64_t bits = 0;
      const T infinite = element_cast<T>(std::numeric_limits<double>::infinity());
      std::memcpy(&bits, &infinite, sizeof infinite);
      return {is_smallest ? sign : 0, bits};
    } else {
      const uint64_t flip = std::is_signed_v<T> ? 0 : sign;
      return {is_smallest ? ~flip : flip, 0, std::is_same_v<T, bool> ? uint8_t{1} : uint8_t{0xFF}};
    }
  });
}

struct Setup {
  const Plan& plan;
  const Fold& fold;
  const Shape shape;
  const Op extreme;
  const PlaceOrder order;
  const Beyond beyond;
  const PlaceKernels& kernel;
  const int shift;            // of elements
  const bool keeps_elements;  // whether kernels keep extremes bit by bit: those of 16-bit floats have one zero
  const bool is_far;
  const std::byte* in = nullptr;

  Setup(const Plan& loops, const Fold& what)
      : plan(loops),
        fold(what),
        shape(choose_shape(loops, what)),
        extreme(extreme_of_place(what.op)),
        order(order_of(extreme, what.input)),
        beyond(beyond_of(extreme, what.input)),
        kernel(kernels().place[static_cast<int>(what.input)]),
        shift(shift_of(what.input)),
        keeps_elements(what.input != float16 && what.input != bfloat16),
        is_far(tenon::is_far(loops, what)) {}

  int64_t stride(int64_t operand, int64_t loop) const { return loop < 0 ? 0 : plan.strides_of(operand)[loop]; }
  int64_t places_bytes() const { return shape.room() * int64_t{sizeof(int64_t)}; }
};

class PlaceLoop {
 public:
  explicit PlaceLoop(const Setup& setup)
      : setup_(setup),
        shape_(setup.shape),
        kept_(setup.plan, setup.shape.kept),
        lane_stride_(setup.stride(1, setup.shape.lane_loop)),
        row_stride_(setup.stride(1, setup.shape.row_loop)),
        places_(setup.places_bytes()),
        gathered_(gathered_bytes(setup)) {}

  static int64_t scratch_bytes(const Setup& setup) { return setup.places_bytes() + gathered_bytes(setup); }

  void go_to(int64_t tile) {
    kept_.go_to(tile / shape_.tiles);
    const int64_t place = tile % shape_.tiles;
    first_lane_ = shape_.lanes * place / shape_.tiles;
    width_ = shape_.lanes * (place + 1) / shape_.tiles - first_lane_;
    gathered_chunk_ = -1;
  }
  /// Finds the places of a tile's outputs and stores them.
  void find_whole(int64_t tile) {
    go_to(tile);
    keeps_best_ = (shape_.way == Way::across || shape_.way == Way::rows) && setup_.keeps_elements;
    std::byte* const out = is_dense() ? result(places_index()) : places_.data();
    auto* const places = reinterpret_cast<int64_t*>(out);
    find(places, 0, shape_.chunks);
    store(places);
  }
  /// Finds those of a segment.
  void find_segment(int64_t tile, int64_t segment, int64_t* places) {
    go_to(tile);
    find(places, shape_.chunks * segment / shape_.segments, shape_.chunks * (segment + 1) / shape_.segments);
  }
  /// Takes places of later rows where elements are more extreme.
  void join(int64_t* places, const int64_t* later) const {
    for (int64_t i = 0; i < outputs(); ++i)
      if (setup_.beyond(element(i, later[i]), element(i, places[i]))) places[i] = later[i];
  }
  void store(const int64_t* places) {
    if (gives_extremes(setup_.fold)) store_extremes(places);
    if (reinterpret_cast<const std::byte*>(places) == result(places_index())) return;
    scatter(places_index(), places, 3);
  }

 private:
  static int64_t gathered_bytes(const Setup& setup) {
    const Shape& shape = setup.shape;
    return shape.gathers ? shape.width * shape.chunk << setup.shift : 0;
  }
  int64_t outputs() const { return width_ * shape_.inner; }
  int places_index() const { return gives_extremes(setup_.fold) ? 1 : 0; }
  std::byte* result(int index) const {
    const int64_t offset = kept_[0] + first_lane_ * setup_.stride(0, shape_.lane_loop);
    return static_cast<std::byte*>(setup_.fold.out[index]) + offset * itemsize(setup_.fold.outputs[index]);
  }
  /// Whether the outputs of the tile follow each other.
  bool is_dense() const {
    const int64_t lane = setup_.stride(0, shape_.lane_loop);
    return (width_ == 1 || lane == shape_.inner) && (shape_.inner == 1 || setup_.stride(0, 0) == 1);
  }
  void scatter(int index, const void* results, int shift) const {
    const int64_t inner = shape_.inner > 1 ? setup_.stride(0, 0) : 1;
    kernels().move[shift].scatter(result(index), inner, shape_.inner, setup_.stride(0, shape_.lane_loop), width_,
                                  results);
  }

  /// The tile's first element in row `row`.
  const std::byte* at(int64_t row) const {
    return setup_.in + ((kept_[1] + first_lane_ * lane_stride_ + row * row_stride_) << setup_.shift);
  }
  /// The element of output `i` in row `row`.
  const std::byte* element(int64_t i, int64_t row) const {
    return at(row) + ((i / shape_.inner * lane_stride_ + i % shape_.inner) << setup_.shift);
  }
  void store_extremes(const int64_t* places) {
    const bool is_direct = is_dense();
    std::byte* const to = is_direct ? result(0) : best_;
    if (keeps_best_)
      restore(to);
    else if (setup_.fold.input == bool_)
      pick_truths(to, places);
    else if (setup_.shift == 0)
      pick<uint8_t>(to, places);
    else if (setup_.shift == 1)
      pick<uint16_t>(to, places);
    else if (setup_.shift == 2)
      pick<uint32_t>(to, places);
    else
      pick<uint64_t>(to, places);
    if (!is_direct) scatter(0, best_, setup_.shift);
  }
  /// The extremes that were kept in their order.
  void restore(std::byte* to) const {
    constexpr Dtype kBits[] = {int8, int16, int32, int64};
    const Lanes in[] = {{best_, 1}, {&setup_.order.flip, 0}};
    kernel_of(Op::bitwise_xor, kBits[setup_.shift])(to, in, outputs());
  }
  /// The elements of the outputs in these rows, which have the size of T.
  template <class T>
  void pick(std::byte* out, const int64_t* places) const {
    T* to = reinterpret_cast<T*>(out);
    const T* from = reinterpret_cast<const T*>(at(0));
    if (shape_.inner == 1) {
      for (int64_t i = 0; i < width_; ++i) to[i] = from[i * lane_stride_ + places[i] * row_stride_];
      return;
    }
    for (int64_t turn = 0; turn < width_; ++turn, from += lane_stride_)
      for (int64_t i = 0; i < shape_.inner; ++i) *to++ = from[i + *places++ * row_stride_];
  }
  void pick_truths(std::byte* to, const int64_t* places) const {
    pick<uint8_t>(to, places);
    for (int64_t i = 0; i < outputs(); ++i) to[i] = std::byte(to[i] != std::byte(0));
  }

  /// Searches the chunks from `begin` to `end`.
  void find(int64_t* places, int64_t begin, int64_t end) {
    if (shape_.way == Way::across) return find_across(places, begin, end);
    if (shape_.way == Way::rows) return find_in_rows(places);
    alignas(64) std::byte best[kWidth * 8 + 64], values[kWidth * 8 + 64];
    check_interrupt();
    fold_chunk(begin, best);
    if (end - begin == 1) return search_chunk(begin, best, places);
    // Few outputs: a chunk is searched if it has one's extreme.
    int64_t chunk_of[kWidth];
    std::fill_n(chunk_of, outputs(), begin);
    for (int64_t chunk = begin + 1; chunk < end; ++chunk) {
      check_interrupt();
      fold_chunk(chunk, values);
      for (int64_t i = 0; i < outputs(); ++i) {
        const int64_t place = i << setup_.shift;
        if (!setup_.beyond(values + place, best + place)) continue;
        std::memcpy(best + place, values + place, std::size_t{1} << setup_.shift);
        chunk_of[i] = chunk;
      }
    }
    search_chunks(chunk_of, best, places);
  }
  void find_in_rows(int64_t* places) {
    check_interrupt();
    setup_.kernel.rows(places, keeps_best_ ? best_ : nullptr, at(0), shape_.rows, lane_stride_, width_, setup_.order);
  }
  void search_chunks(int64_t* chunk_of, const std::byte* best, int64_t* places) {
    int64_t found[kWidth];
    for (int64_t i = 0; i < outputs(); ++i) {
      const int64_t chunk = chunk_of[i];
      if (chunk < 0) continue;
      search_chunk(chunk, best, found);
      for (int64_t other = i; other < outputs(); ++other)
        if (chunk_of[other] == chunk) {
          places[other] = chunk * shape_.chunk + found[other];
          chunk_of[other] = -1;
        }
    }
  }
  /// The tile's elements in the rows of a chunk.
  struct Chunk {
    const std::byte* data;
    int64_t rows, lane_step, row_step;
  };
  Chunk bring(int64_t chunk) {
    const int64_t rows = rows_of(chunk);
    const std::byte* const from = at(chunk * shape_.chunk);
    if (!shape_.gathers) return {from, rows, lane_stride_, row_stride_};
    const bool is_across = shape_.way == Way::across;
    if (chunk != gathered_chunk_) {
      const auto gather = kernels().move[setup_.shift].gather;
      if (is_across)
        gather(gathered_.data(), from, lane_stride_, width_, row_stride_, rows);
      else
        gather(gathered_.data(), from, row_stride_, rows, lane_stride_, width_);
      if (setup_.fold.input == bool_) {
        const Lanes lanes{gathered_.data(), 1};
        kernels().cast[static_cast<int>(bool_)][static_cast<int>(uint8)](gathered_.data(), &lanes, rows * width_);
      }
      gathered_chunk_ = chunk;
    }
    if (is_across) return {gathered_.data(), rows, 1, width_};
    return {gathered_.data(), rows, rows, 1};
  }
  int64_t rows_of(int64_t chunk) const { return std::min(shape_.chunk, shape_.rows - chunk * shape_.chunk); }

  /// Folds each output's elements of a chunk.
  void fold_chunk(int64_t chunk, std::byte* values) {
    const auto op = static_cast<std::size_t>(setup_.extreme), dtype = static_cast<std::size_t>(setup_.fold.input);
    const Chunk of = bring(chunk);
    if (shape_.way == Way::along)
      kernels().fold[op][dtype](values, of.data, of.rows, of.lane_step, width_, setup_.is_far && !shape_.gathers);
    else
      kernels().fold_blocks[op][dtype](values, of.data, shape_.inner, of.row_step, of.rows, of.lane_step, width_);
    // While this chunk is searched, memory is read.
    if (setup_.is_far && !shape_.gathers && (shape_.way == Way::blocks || shape_.chunks == 1)) {
      const int64_t bytes = shape_.chunks > 1 ? of.rows * row_stride_ : width_ * lane_stride_;
      prefetch_rows(of.data + (bytes << setup_.shift), std::min(bytes << setup_.shift, kMostAhead), 0, 1);
    }
  }
  /// Finds the row of each output's extreme in a chunk that has it.
  void search_chunk(int64_t chunk, const std::byte* extremes, int64_t* places) {
    const Chunk of = bring(chunk);
    if (shape_.way == Way::along)
      setup_.kernel.along(places, of.data, extremes, of.rows, of.lane_step, width_, setup_.order.infinite);
    else
      setup_.kernel.blocks(places, of.data, extremes, shape_.inner, of.row_step, of.rows, of.lane_step, width_,
                           setup_.order.infinite);
  }

  void find_across(int64_t* places, int64_t begin, int64_t end) {
    for (int64_t chunk = begin; chunk < end; ++chunk) {
      check_interrupt();
      const Chunk of = bring(chunk);
      const auto search = [&](int64_t start, int64_t count) {
        const int64_t bytes = start << setup_.shift;
        setup_.kernel.across(places + start, best_ + bytes, of.data + bytes, count, of.row_step, of.rows,
                             chunk * shape_.chunk, chunk > begin, setup_.order);
      };
      if (setup_.is_far && !shape_.gathers && width_ << setup_.shift > kPieceBytes)
        fold_pieces(of.data, width_, of.row_step, of.rows, setup_.shift, shape_.chunks == 1, search);
      else
        search(0, width_);
    }
  }

  const Setup& setup_;
  const Shape& shape_;
  OuterCounter kept_;
  int64_t lane_stride_, row_stride_;
  int64_t first_lane_ = 0, width_ = 1;
  int64_t gathered_chunk_ = -1;
  bool keeps_best_ = false;  // whether best_ has the tile's extremes
  alignas(64) std::byte best_[kWidth * 8];
  Scratch places_, gathered_;
};

int64_t parts_of(const Setup& setup) {
  const Shape& shape = setup.shape;
  if (shape.segments > 1) return shape.outputs() * shape.segments;
  return std::clamp<int64_t>(setup.plan.numel / kSegmentNumel, 1, std::min(shape.outputs(), kMaxParts));
}
Course route_of(const Setup& setup) {
  const Shape& shape = setup.shape;
  const int64_t stride = setup.stride(0, shape.lane_loop);
  Course course{.route = shape.way == Way::along    ? "along"
                         : shape.way == Way::rows   ? "along"
                         : shape.way == Way::blocks ? "rounds"
                                                    : "across",
                .stores = stride == 1 || shape.width == 1 || shape.inner > 1 ? "in place" : "scattered"};
  course.plan = setup.plan;
  course.accesses.push_back(shape.gathers ? AccessPattern::gather : AccessPattern::direct);
  course.kernels.push_back({block_name(setup.fold.op), setup.fold.input});
  return course;
}

/// A segment each, joined in their order.
void find_in_segments(const Setup& setup) {
  const int64_t segments = setup.shape.segments, outputs = setup.shape.outputs(), room = setup.shape.room();
  Scratch apart(outputs * segments * setup.places_bytes());
  auto* const found = reinterpret_cast<int64_t*>(apart.data());
  parallel_for(
      outputs * segments, [&] { return PlaceLoop(setup); },
      [&](PlaceLoop& loop, int64_t part) { loop.find_segment(part / segments, part % segments, found + part * room); });
  note_pass();
  PlaceLoop loop(setup);
  for (int64_t tile = 0; tile < outputs; ++tile) {
    loop.go_to(tile);
    int64_t* const places = found + tile * segments * room;
    for (int64_t segment = 1; segment < segments; ++segment) loop.join(places, places + segment * room);
    loop.store(places);
  }
}

}  // namespace

Course course_of_places(const Plan& plan, const Fold& fold) {
  const Setup setup(plan, fold);
  const bool is_cut = setup.shape.segments > 1;
  Course course = route_of(setup);
  course.passes = is_cut ? 2 : 1;
  course.parts = parts_of(setup);
  course.threads = threads_for(course.parts);
  course.scratch_bytes = PlaceLoop::scratch_bytes(setup) + (is_cut ? course.parts * setup.places_bytes() : 0);
  return course;
}

void run_places(const Plan& plan, const Fold& fold, const void* in) {
  Setup setup(plan, fold);
  for (int result = 0; result < (gives_extremes(fold) ? 2 : 1); ++result) check_memory(fold.out[result], &in, 1);
  setup.in = static_cast<const std::byte*>(in);
  if (CourseRecord::now()) [[unlikely]]
    note_course(route_of(setup));
  if (setup.shape.segments > 1) return find_in_segments(setup);
  const int64_t outputs = setup.shape.outputs(), parts = parts_of(setup);
  parallel_for(
      parts, [&] { return PlaceLoop(setup); },
      [&](PlaceLoop& loop, int64_t part) {
        for (int64_t tile = outputs * part / parts; tile < outputs * (part + 1) / parts; ++tile) loop.find_whole(tile);
      });
}

}  // namespace tenon
