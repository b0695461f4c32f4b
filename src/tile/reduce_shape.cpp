#include "tile/reduce_shape.h"

#include <algorithm>
#include <numeric>

#include "tile/reduce.h"

namespace tenon {
namespace {

// Bench: tenon_bench --filter '^reduce/sum/' (kLanes) and '^reduce/(\[N,3\] sum|NCHW)' (kNarrow).
constexpr int64_t kLanes = 1024;  // elements of a tile
// Of a widened tile whose rounds a kernel folds, and which rows are widened then. Bench: tenon_bench --filter
// '^reduce/\[N,3\] sum dim 0'.
constexpr int64_t kFewLanes = 256, kShortRow = 128, kManyRows = 128, kVectorLanes = 16;
// Outputs of at most so many elements are folded together if their rows are short. Bench: ./dev bench --sweep, middle
// reductions.
constexpr int64_t kFewOfOutput = 64;
// An innermost loop shorter than this is reduced across rows, not along them; the second, if other loops are, too.
constexpr int64_t kNarrow = kNarrowRow, kNarrowOfSeveral = 64;
// Blocks of rows that a kernel folds by one call: elements of a block, if its rows are shorter than vectors (those fold
// each lane in few sums) and if not; of a row; of all blocks of a tile; results of a tile. Bench: ./dev bench --sweep,
// middle reductions.
constexpr int64_t kShortBlock = 4 << 10, kBlock = 32 << 10, kBlockRow = 1024, kBlocks = 32 << 10, kBlockResults = 2048;
// A kernel joins every 16 rows of a block one after the other: more would be less exact than pairwise summation.
constexpr int64_t kBlockRows = 1024;
constexpr int64_t kTogether = 16;  // rows that fold kernels fold together
// Rows of a segment, at least; and if there are so many tiles that threads need no segments. Bench: ./dev bench
// --sweep, outer reductions.
constexpr int64_t kRowsOfSegment = 8, kRowsBesideTiles = 64, kEnoughTiles = 4;

/// Whether loop 1 continues loop 0 in every input.
bool continues(const Plan& plan) {
  for (int64_t operand = 1; operand < plan.operands.size(); ++operand) {
    const int64_t* strides = plan.strides_of(operand);
    if (strides[1] != strides[0] * plan.sizes[0]) return false;
  }
  return true;
}

/// Rows of fewer lanes are folded several at a time. `has_rows`: a kernel folds rows of the input where they lie, and
/// only short ones gain, if there are so many that joining lanes at the end does not matter.
int64_t widened_lanes(const Plan& plan, bool has_rows) {
  if (!has_rows) return kLanes / 2;
  return plan.sizes[1] < kManyRows ? kNarrow : kShortRow;
}

/// Whether each output is a few elements of a short lane loop's rows, so that many outputs are folded together.
bool has_few_of_many(const Plan& plan, bool has_rows) {
  return plan.ndim() > 2 && !is_reduced(plan, 0) && is_reduced(plan, 1) && !is_reduced(plan, 2) &&
         plan.sizes[0] < (has_rows ? kNarrow : kShortRow) && plan.sizes[0] * plan.sizes[1] <= kFewOfOutput &&
         plan.sizes[2] >= kShortRow;
}

/// Whether all of loops 0, 1 and 2 is one run of the only input.
bool is_one_run(const Plan& plan) {
  const int64_t* steps = plan.strides_of(1);
  return plan.operands.size() == 2 && steps[0] == 1 && steps[1] == plan.sizes[0] &&
         steps[2] == plan.sizes[0] * plan.sizes[1];
}

/// Whether each output is a row of a block that kernels fold where it lies, or after it was computed.
bool has_blocks(const Plan& plan, FoldForms forms) {
  if (plan.ndim() < 3 || is_reduced(plan, 0) || !is_reduced(plan, 1)) return false;
  if (!forms.rows && !(forms.blocks && is_one_run(plan))) return false;
  for (int64_t loop = 2; loop < plan.ndim(); ++loop)
    if (is_reduced(plan, loop)) return false;
  return fits_in_block(plan.sizes[0], plan.sizes[1], forms.rows);
}

/// How many rounds of `lanes` lanes make at most `most` lanes and whole vectors, or else half vectors, if possible.
int64_t whole_vectors(int64_t lanes, int64_t most) {
  const int64_t rounds = most / lanes;
  for (int64_t vector : {kVectorLanes, kVectorLanes / 2})
    if (const int64_t unit = vector / std::gcd(lanes, vector); unit <= rounds) return rounds / unit * unit;
  return rounds;
}

void choose_lanes(const Plan& plan, FoldForms forms, ReduceShape& shape) {
  const bool has_rows = forms.rows;
  if (plan.ndim() == 0) return;
  shape.lane_loop = 0;
  if (is_reduced(plan, 0)) {
    bool several = false;
    for (int64_t loop = 1; loop < plan.ndim(); ++loop) several = several || is_reduced(plan, loop);
    const bool across = plan.sizes[0] < (several ? kNarrowOfSeveral : kNarrow) && plan.ndim() > 1 &&
                        !is_reduced(plan, 1) && plan.sizes[1] > plan.sizes[0] && (several || !forms.narrow);
    shape.along = !across;
    if (across) shape.lane_loop = 1;
  } else if (shape.in_blocks = has_blocks(plan, forms); shape.in_blocks || has_few_of_many(plan, has_rows)) {
    shape.row_loop = 2;
    shape.lanes = plan.sizes[0] * plan.sizes[2];
    return;
  } else if (plan.ndim() > 1 && plan.sizes[0] < widened_lanes(plan, has_rows) && is_reduced(plan, 1) &&
             (continues(plan) || !has_rows)) {
    shape.apart = !continues(plan);
    shape.widened = std::min(whole_vectors(plan.sizes[0], has_rows ? kFewLanes : kLanes), plan.sizes[1]);
    shape.rounds_left = plan.sizes[1] % shape.widened;
  }
  shape.lanes = plan.sizes[shape.lane_loop];
}

/// The most segments. A segment across rows has several of them: joining segments costs several rows. Each must
/// hold a whole tile, because a widened tile's lanes are joined at its end.
int64_t most_segments(const ReduceShape& shape, int64_t outputs) {
  if (shape.along) return shape.reduced_count;
  return std::max<int64_t>(shape.reduced_count / (outputs < kEnoughTiles ? kRowsOfSegment : kRowsBesideTiles), 1);
}

/// How many short runs are folded together if they are computed first.
int64_t rows_of_tile(int64_t lanes) {
  return lanes < kLanes / 4 ? (kLanes / lanes + kTogether - 1) / kTogether * kTogether
                            : std::max<int64_t>(4 * kLanes / lanes, 1);
}

// Kernels fold rows of fewer lanes in pairs.
constexpr int64_t kNarrowTile = 64;
/// Whole vectors of a row that is cut to equal tiles: none is so narrow that kernels fold it in another order.
int64_t equal_part(int64_t lanes) {
  const int64_t tiles = (lanes - 1) / (4 * kLanes) + 1;
  int64_t length = (lanes / tiles / kVectorLanes + 1) * kVectorLanes;
  while (length < lanes && lanes % length != 0 && lanes % length < kNarrowTile) length += kVectorLanes;
  return std::min(lanes, length);
}

/// Lanes of a tile.
int64_t lanes_of_blocks(const Plan& plan, int64_t most) {
  const int64_t row = plan.sizes[0], blocks = std::min(most / (row * plan.sizes[1]), kBlockResults / row);
  return std::max<int64_t>(blocks, 1) * row;
}

/// Rows of the first kept loop are folded by one call of a kernel: if that loop is short, a longer one comes first.
/// Outputs are not in the input's order then.
void take_longer_loop(const Plan& plan, ReduceShape& shape) {
  if (plan.sizes[shape.kept[0]] >= kVectorLanes || plan.sizes[shape.kept[0]] * shape.lanes >= kLanes) return;
  for (int64_t& loop : shape.kept)
    if (plan.sizes[loop] >= 2 * plan.sizes[shape.kept[0]]) std::swap(loop, shape.kept[0]);
}

}  // namespace

bool fits_in_block(int64_t row, int64_t rows, bool has_rows) {
  const int64_t most = row < kVectorLanes || !has_rows ? kShortBlock : kBlock;
  return row <= kBlockRow && rows <= std::min(most / row, kBlockRows);
}

ReduceShape choose_shape(const Plan& plan, FoldForms forms) {
  ReduceShape shape;
  choose_lanes(plan, forms, shape);
  for (int64_t loop = 0; loop < plan.ndim(); ++loop) {
    if (loop == shape.lane_loop || loop == shape.row_loop || (shape.in_blocks && loop == 1)) continue;
    if (is_reduced(plan, loop)) {
      const bool widens = shape.widened > 1 && loop == 1;
      if (!widens) shape.reduced.push_back(loop);
      shape.reduced_count *= widens ? (plan.sizes[loop] + shape.widened - 1) / shape.widened : plan.sizes[loop];
    } else {
      shape.kept.push_back(loop);
      shape.kept_count *= plan.sizes[loop];
    }
  }
  if (shape.folds_rows()) take_longer_loop(plan, shape);
  if (shape.along) {
    // A tile holds several short runs. Long runs are cut, so that a tile's casts stay in the cache; the pieces become
    // one more reduced loop.
    const int64_t runs = shape.reduced_count == 1 ? shape.kept_count : plan.sizes[shape.reduced[0]];
    shape.tile = shape.lanes <= kRowNumel ? shape.lanes * std::min(rows_of_tile(shape.lanes), runs) : 4 * kLanes;
    shape.reduced_count *= (shape.lanes + shape.tile - 1) / shape.tile;
  } else {
    shape.tile = shape.in_blocks ? std::min(shape.lanes, lanes_of_blocks(plan, forms.rows ? kBlocks : kShortBlock))
                 : shape.row_loop >= 0 ? std::min(shape.lanes, kLanes / plan.sizes[0] * plan.sizes[0])
                 : shape.widened > 1   ? shape.lanes * shape.widened
                                       : equal_part(shape.lanes);
    shape.tiles = shape.widened > 1 ? 1 : (shape.lanes + shape.tile - 1) / shape.tile;
  }
  const int64_t outputs = shape.kept_count * shape.tiles;
  shape.segments = count_segments(plan.numel, outputs, most_segments(shape, outputs));
  return shape;
}

}  // namespace tenon
