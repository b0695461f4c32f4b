// tile: how a run of a Program is done: route, how results are stored, grain, scratch. Takes a plan, a Program and what
// is known of the memory; gives all that is decided before a thread starts.
#pragma once
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/program.h"
#include "tile/registers.h"

namespace tenon {

// Results that are fewer at once are joined to whole lines before they leave past the caches.
inline constexpr int64_t kShortStream = 256;
// Rows of a direct run are joined, so many elements at a time.
inline constexpr int64_t kJoined = 512;

enum class Route : uint8_t {
  direct,  // one kernel works on memory itself, row after row
  tiles,   // operands are brought to tiles over the fused loops
  blocks,  // tiles are blocks over the innermost loop and the one along which transposed operands lie
};
enum class StoreMode : uint8_t {
  in_place,   // the last kernel writes where the result belongs
  streamed,   // it does so past the caches
  joined,     // short rows are joined to whole lines, which go past the caches
  scattered,  // the tile is written element by element
};

/// What a schedule asks of the memory it runs on.
struct Memory {
  bool is_fresh = true;  // the output's elements are written without having been read
  uintptr_t place = 0;   // of the output's first byte, modulo a cache line

  static Memory of(const Program& program, const void* out, const void* const* inputs) noexcept;
};

struct Schedule {
  Route route;
  StoreMode store;
  int64_t tile;        // elements of a tile, or of a direct run's piece
  int64_t rows = 1;    // of a block
  int64_t per_loop;    // tiles of one turn of the outer loops; of blocks, along the transposed loop
  int64_t tiles;       // all there are; of blocks, rows of them
  int64_t parts;       // the tiles in so many equal parts, which threads take
  int64_t pattern;     // elements of a direct run's patterns; 0: no operand repeats one
  int64_t slot_bytes;  // scratch for one register
  Slots slots;
  int64_t staging_bytes;  // of results on their way to lines; 0: none are
  int64_t scratch_bytes;  // of one thread, all together

  bool streams() const noexcept { return store == StoreMode::streamed || store == StoreMode::joined; }
};

Schedule make_schedule(const Plan& plan, const Program& program, const Memory& memory);
/// The same in words, for a new result.
Course course_of(const Plan& plan, const Program& program);
/// Of the inputs.
SmallVector<AccessPattern, 8> accesses_of(const Plan& plan);
const char* route_name(Route route) noexcept;
const char* store_mode_name(StoreMode store) noexcept;

}  // namespace tenon
