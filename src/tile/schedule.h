// tile: all decisions about a run that are made before a thread starts: route, store mode, tile size, parts, scratch.
// Takes a plan, a Program and facts about the memory.
#pragma once
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/program.h"
#include "tile/registers.h"

namespace tenon {

// Runs of fewer results are joined to whole cache lines before a streaming store. Bench: tenon_bench --filter
// '^large/NCHW 7x7/memory'.
inline constexpr int64_t kShortStream = 256;
// Short rows of a direct run are joined up to so many bytes. Bench: tenon_bench --filter '^large/NCHW 7x7/memory' and
// ./dev bench --sweep, gaps.
inline constexpr int64_t kJoinedBytes = 4096;
// Rows that begin a multiple of so many bytes apart share one place of the first-level cache.
inline constexpr int64_t kOnePlaceBytes = 4096;

enum class Route : uint8_t {
  direct,    // one kernel works on memory itself, row after row
  tiles,     // operands are brought to tiles over the fused loops
  blocks,    // tiles are blocks over the innermost loop and the transposed operands' loop
  elements,  // one kernel computes the innermost loop's elements one by one
};
enum class StoreMode : uint8_t {
  in_place,   // the last kernel writes to the output
  streamed,   // the same with streaming stores
  joined,     // short rows are joined to whole cache lines, then stored with streaming stores
  scattered,  // the result's tile is copied to the output element by element
};

/// Facts about the memory that a schedule depends on.
struct Memory {
  bool is_fresh = true;               // no output is an input
  const void* const* outs = nullptr;  // null: outputs begin on cache lines
  bool is_part_of_far = false;        // the outputs are parts of such as exceed their share of the last-level cache

  static Memory of(const Program& program, const void* const* outs, const void* const* inputs) noexcept;
  /// Address of an output's first byte, modulo a cache line.
  uintptr_t place(int64_t output) const noexcept;
};

struct Schedule {
  Route route = Route::direct;
  bool is_far = false;                    // the results exceed their share of the last-level cache
  StoreMode store = StoreMode::in_place;  // of the first result
  SmallVector<StoreMode, 4> further_stores;
  bool is_one_tile = false;    // of operands that lie or repeat there, and results that kernels write in place
  int64_t tile = 0;            // elements of a tile, or of a direct run's piece
  int64_t rows = 1;            // of a block; for tiles: that are computed together
  bool through_tiles = false;  // a transposed copy's blocks are transposed to a tile
  bool gathers_far = false;    // operands are gathered from beyond the second-level cache
  int far_gathers = 0;         // operands that are gathered from beyond the caches
  int64_t per_loop = 0;        // tiles for one index of the outer loops; for blocks: along the transposed loop; for
                               // elements: pieces of the innermost loop
  int64_t tiles = 0;           // number of tiles; for blocks: of rows of blocks
  int64_t parts = 0;           // number of equal parts that threads take
  int64_t pattern = 0;         // elements of a direct run's patterns; 0: no operand is periodic
  int64_t slot_bytes = 0;      // scratch for one register
  int64_t list_bytes = 0;      // of the lists of gathered operands, together
  Slots slots;
  int64_t staging_bytes = 0;  // staging areas for streaming stores, together; 0: none
  int64_t scratch_bytes = 0;  // scratch of one thread, in total

  bool streams() const noexcept { return streams(0); }
  bool streams(int result) const noexcept {
    return store_of(result) == StoreMode::streamed || store_of(result) == StoreMode::joined;
  }
  StoreMode store_of(int result) const noexcept { return result == 0 ? store : further_stores[result - 1]; }
  /// Staging area for the tiles of one result.
  int64_t staging_bytes_of(const Program& program, int result) const noexcept;
};

/// Fills an empty schedule. The plan has elements.
void make_schedule(const Plan& plan, const Program& program, const Memory& memory, Schedule& schedule);
/// Describes a run that is only planned.
Course course_of(const Plan& plan, const Program& program, const Schedule& schedule);
/// The access patterns of the inputs.
SmallVector<AccessPattern, 8> accesses_of(const Plan& plan);
/// The kernels of the instructions.
SmallVector<KernelName, 4> kernels_of(const Program& program);
const char* route_name(Route route) noexcept;
const char* store_mode_name(StoreMode store) noexcept;

}  // namespace tenon
