// tile: how a reduction is divided. Takes its plan; gives the loop whose elements are the lanes of a tile, the loops
// that are counted, and the pieces that are folded separately. Depends on shapes only, so that results have the same
// bits for any number of threads.
#pragma once
#include <algorithm>

#include "plan/plan.h"

namespace tenon {

// Bench: tenon_bench --filter '^reduce/sum/'.
inline constexpr int64_t kSegmentNumel = 1 << 17;  // elements of a segment, which is reduced on its own
inline constexpr int64_t kMaxParts = 64;
// So many elements are reduced in one piece, by one thread.
inline constexpr int64_t kFewNumel = 1 << 16;

/// Into how many pieces each of `outputs` is divided that has at most `most`.
inline int64_t count_segments(int64_t numel, int64_t outputs, int64_t most) {
  if (outputs >= kMaxParts || most <= 1) return 1;
  return std::clamp<int64_t>(numel / kSegmentNumel / outputs, 1, std::min(kMaxParts / outputs, most));
}

/// The order of the loops: one loop gives the lanes of a tile, the others are counters.
struct ReduceShape {
  bool along = false;                     // the lane loop is a reduced one: each tile is folded to one value
  int64_t lane_loop = -1;                 // -1: one lane
  int64_t row_loop = -1;                  // across: its turns of the short lane loop are lanes, too; -1: none
  int64_t lanes = 1;                      // of the lane loop, or of both
  bool in_blocks = false;                 // across: kernels fold the turns of loop 1 for each turn of the row loop
  int64_t widened = 1;                    // across: a tile holds so many turns (rounds) of the next, reduced loop
  int64_t rounds_left = 0;                // rounds that do not fill a tile
  bool apart = false;                     // rounds do not follow each other in an input, and are copied to a tile
  SmallVector<int64_t, 8> kept, reduced;  // the loops that are counted one by one
  int64_t kept_count = 1, reduced_count = 1;
  int64_t tile = 1;      // lanes of a tile
  int64_t tiles = 1;     // tiles over the lanes
  int64_t segments = 1;  // pieces of the reduced loops that are folded separately

  /// Whether rows of a short lane loop are copied to a tile, one after the other.
  bool joins_rows() const { return row_loop >= 0 && !in_blocks; }
  /// Whether several short runs of one output are copied to a tile, and computed together.
  bool joins_runs() const { return along && !folds_rows() && !reduced.empty() && tile >= 2 * lanes; }
  /// Whether each output is a run, so that neighbouring ones are folded together.
  bool folds_rows() const { return along && reduced_count == 1 && kept_count > 1; }
};

/// Which kernels there are.
struct FoldForms {
  bool rows;    // folds rows of the input where they lie
  bool blocks;  // folds blocks of rows that were computed from one input
  bool narrow;  // folds runs of a few elements of the input where they lie
};
/// Whether kernels fold blocks of `rows` rows of `row` elements by one call. `has_rows`: see FoldForms.
bool fits_in_block(int64_t row, int64_t rows, bool has_rows);
ReduceShape choose_shape(const Plan& plan, FoldForms forms);

}  // namespace tenon
