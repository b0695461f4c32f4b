#include "tile/schedule.h"

#include <algorithm>
#include <cstdlib>
#include <numeric>

#include "ops/block_name.h"
#include "tenon/threads.h"
#include "tile/direct.h"
#include "tile/elements.h"
#include "tile/gather.h"
#include "tile/pool.h"
#include "tile/program_rows.h"
#include "tile/run.h"

namespace tenon {
namespace {

// A tile's registers together fill half of a 32 KiB first-level cache. Bench: tenon_bench --filter
// '^large/(f32\+i32|u8\*f32)/' and '^grad/'.
constexpr int64_t kTileBytes = 16 << 10;
constexpr int64_t kMinTile = 256, kMaxTile = 2048;
// Runs that are only copied take longer tiles: each costs as much as some of its runs. Bench: ./dev bench --sweep,
// copies.
constexpr int64_t kCopiedTileBytes = 64 << 10;
// Bytes of a register where several operands are gathered from beyond the caches, or of all where a result is scattered
// there: the processor reads ahead in each of them only while its turn comes back soon. Bench: ./dev bench --sweep,
// steps.
constexpr int64_t kFarTileBytes = 2 << 10, kLeastFarTile = 128;
// Transposed operands are read in blocks: a few cache lines along memory, which the processor prefetches, and rows long
// enough for the kernels. Bench: tenon_bench --filter '^large/(A\+B.T|copy A.T)/'.
constexpr int64_t kBlockRowBytes = 256, kBlockColumns = 128;
// Blocks of fewer rows have more columns. Bench: ./dev bench --sweep, permuted.
constexpr int64_t kMostColumns = 1024;
constexpr int64_t kFarBlockRowBytes =
    512;  // beyond the caches, where longer runs matter more than the first-level cache
// In the second-level cache shorter runs cost nothing, and blocks of 16 KiB leave room in the first. Elements of one
// and two bytes gain nothing. Bench: ./dev bench --sweep, transposed.
constexpr int64_t kNearBlockRowBytes = 128, kNearBytes = 1 << 20;
// Rows of a copy that begin a multiple of so many bytes apart share a quarter of the first cache or less, or one place
// for all. Then elements of two and four bytes are transposed to a tile, whose rows are copied; blocks of others are as
// high as a line is long, so that each line is written at once. Bench: ./dev bench --sweep, copies, and
// tenon_bench --filter '^large/copy A.T/L3'.
constexpr int64_t kFewPlacesBytes = 1024, kLineRowBytes = 64;
// Rows of fewer bytes, by the size of their elements, that do not end on a cache line are joined before they are
// streamed. Those that are a little longer are stored by ordinary stores, and so are narrow ones whose operands have
// gaps, and those of which few follow each other: a row that is streamed begins and ends in a line that waits. Bench:
// tenon_bench --filter '^large/(NCHW 7x7|\[N,3\]\+\[N,1\])/' and ./dev bench --sweep, rows, columns, gaps and both
// sides.
constexpr int64_t kJoinedRowBytes[] = {416, 1664, 1664, 2048, 2048}, kStreamedUnevenBytes = 3072,
                  kJoinedTurnBytes = 2048;
// Rows with gaps between them mostly end within cache lines, which streaming stores cannot write, so shorter rows use
// ordinary stores. The shortest that are streamed: of rows that are whole lines; of others with gaps of at least
// kWideGapBytes; of all others. Elements of one and two bytes leave more single lanes there. Bench: ./dev bench
// --sweep, gaps.
constexpr int64_t kStreamedLinesBytes = 768, kStreamedRowBytes = 1024, kWideGapBytes = 384, kStreamedLongBytes = 4096,
                  kStreamedNarrowRowBytes = 1536;
// With vectors that are no whole lines, rows of fewer bytes that end within a vector are not joined: a copy to lines
// takes longer than lines that are read first. Bench: the same.
constexpr int64_t kStreamedShortBytes = 1024;
// A short periodic operand is repeated up to this many elements, and bytes: kernel calls are rare, and it stays in the
// first-level cache. Bench: tenon_bench --filter '^large/\[N,3\]\+\[3\]/' and ./dev bench --sweep, copies.
constexpr int64_t kPatternPiece = 1024, kPatternBytes = 4096;
// Elements of one part of the work. Smaller results than three parts are computed by the caller alone: their data would
// move to another core's cache. Bench: tenon_bench --filter '^threads/(equal|exp|sum) (256|1024)/'.
constexpr int64_t kGrainNumel = 32768, kSerialNumel = 3 * kGrainNumel;
// The same of functions, whose arithmetic takes longer than that. Bench: tenon_bench --filter '^threads/exp 192/'.
constexpr int64_t kFunctionGrain = 16384, kSerialFunctions = 2 * kFunctionGrain;

int64_t result_size(const Program& program, int result = 0) { return itemsize(program.dtype(program.result(result))); }

/// Bytes of the cache lines that a plan reads of an operand. exact: of its memory
int64_t bytes_read(const Plan& plan, int64_t operand, int64_t size) {
  int64_t elements = 1, step = kLine / size;
  for (int64_t dim = 0; dim < plan.ndim(); ++dim) {
    const int64_t stride = std::abs(plan.strides_of(operand)[dim]);
    if (stride == 0 || plan.sizes[dim] == 1) continue;
    elements *= plan.sizes[dim];
    step = std::min(step, stride);
  }
  return elements * size * std::max<int64_t>(step, 1);
}

/// Whether the outputs go to memory past the caches.
bool is_far(const Plan& plan, const Program& program) {
  int64_t written = 0, read = 0;
  for (int result = 0; result < program.results(); ++result) written += plan.numel * result_size(program, result);
  if (written <= streaming_threshold()) return false;
  for (int input = 0; input < program.inputs(); ++input)
    read += bytes_read(plan, plan.input(input), itemsize(program.dtype(input)));
  return outgrows_cache(written, read);
}

/// The inputs that need no slot, because kernels read their memory.
SmallVector<bool, 8> inputs_in_place(const Plan& plan) {
  SmallVector<bool, 8> in_place(plan.operands.size() - plan.outputs);
  for (int64_t i = 0; i < in_place.size(); ++i) {
    const AccessPattern access = plan.operands[plan.input(i)].access;
    in_place[i] = access == AccessPattern::direct || access == AccessPattern::splat;
  }
  return in_place;
}

/// Whether an input is neither read where it lies nor one short run of elements that repeat.
bool gathers_any(const Plan& plan) {
  return std::any_of(plan.operands.begin() + plan.outputs, plan.operands.end(), [](const Plan::Operand& operand) {
    return operand.access == AccessPattern::gather || operand.access == AccessPattern::transposed;
  });
}

/// Whether every row of an output begins on a cache line: rows that different threads write must not share one.
bool rows_are_on_lines(const Plan& plan, const Program& program, const Memory& memory, int result) {
  if (memory.place(result) != 0) return false;
  for (int64_t dim = plan.fused; dim < plan.ndim(); ++dim)
    if (plan.strides_of(result)[dim] * result_size(program, result) % kLine != 0) return false;
  return true;
}

Route choose_route(const Plan& plan, const Program& program) {
  if (runs_directly(plan, program)) return Route::direct;
  return plan.transposed != 0 ? Route::blocks : Route::tiles;
}

/// Whether a direct run has rows that end within cache lines and follow each other without gaps.
bool has_uneven_rows(const Plan& plan, const Memory& memory) {
  if (plan.fused >= plan.ndim() || plan.sizes[plan.fused] <= 1) return false;
  const bool fills_blocks = memory.place(0) == 0 && plan.flat % kStreamedLanes == 0;
  return !fills_blocks && plan.strides_of(0)[plan.fused] == plan.flat;
}
int64_t row_bytes(const Plan& plan, const Program& program) { return plan.flat * result_size(program); }
bool joins_rows(const Plan& plan, const Program& program, const Memory& memory) {
  const int shift = shift_of(program.dtype(program.result()));
  return has_uneven_rows(plan, memory) && row_bytes(plan, program) < kJoinedRowBytes[shift];
}

/// Whether an input that is read row by row has gaps between its rows.
bool reads_gaps(const Plan& plan) {
  for (int64_t operand = plan.outputs; operand < plan.operands.size(); ++operand) {
    const int64_t step = plan.strides_of(operand)[plan.fused];
    if (plan.operands[operand].access == AccessPattern::direct && step != 0 && step != plan.flat) return true;
  }
  return false;
}
/// Whether ordinary stores are faster for a direct run's rows, which end within cache lines.
bool has_slow_rows(const Plan& plan, const Program& program, const Memory& memory) {
  if (!has_uneven_rows(plan, memory)) return false;
  const int64_t size = result_size(program), bytes = row_bytes(plan, program);
  if (plan.sizes[plan.fused] * bytes < kJoinedTurnBytes) return true;
  if (size <= 2 && bytes < kStreamedNarrowRowBytes && reads_gaps(plan)) return true;
  const int64_t vector = kernels().vector_bytes, joined = kJoinedRowBytes[shift_of(program.dtype(program.result()))];
  if (vector < kLine && bytes % vector != 0 && bytes < std::max(joined, kStreamedShortBytes)) return true;
  const bool are_slow = size == 2 || size == 4 || (size > 4 && reads_gaps(plan));
  return are_slow && bytes < kStreamedUnevenBytes && !joins_rows(plan, program, memory);
}

/// Whether a direct run stores rows with gaps between them that are too short for streaming stores.
bool has_short_rows_with_gaps(const Plan& plan, const Program& program, const Memory& memory) {
  if (plan.fused >= plan.ndim()) return false;
  const int64_t size = result_size(program), row = plan.flat * size, gap = plan.strides_of(0)[plan.fused] * size - row;
  if (gap == 0) return false;
  if (size <= 2 && row < kStreamedNarrowRowBytes) return true;
  if (row % kLine == 0 && rows_are_on_lines(plan, program, memory, 0)) return row < kStreamedLinesBytes;
  return row < (gap >= kWideGapBytes ? kStreamedRowBytes : kStreamedLongBytes);
}

StoreMode choose_store_mode(const Plan& plan, const Program& program, const Memory& memory, const Schedule& schedule,
                            int result) {
  if (plan.operands[result].access != AccessPattern::direct) return StoreMode::scattered;
  if (!schedule.is_far || !memory.is_fresh) return StoreMode::in_place;
  if (memory.place(result) % static_cast<uintptr_t>(result_size(program, result)) != 0) return StoreMode::in_place;
  if (plan.transposed != 0 && !rows_are_on_lines(plan, program, memory, result)) return StoreMode::in_place;
  if (schedule.route != Route::direct) return StoreMode::streamed;
  if (has_short_rows_with_gaps(plan, program, memory) || has_short_jumps(plan, program)) return StoreMode::in_place;
  if (has_slow_rows(plan, program, memory)) return StoreMode::in_place;
  // Without a streaming kernel, results are gathered to lines, too.
  const bool joins = !program.instructions()[0].streamed || joins_rows(plan, program, memory);
  return joins ? StoreMode::joined : StoreMode::streamed;
}

/// Bytes from an input's first element to its last one.
int64_t span(const Plan& plan, const Program& program, int64_t input) {
  const int64_t* strides = plan.strides_of(plan.input(input));
  int64_t elements = 1;
  for (int64_t dim = 0; dim < plan.ndim(); ++dim)
    elements += (plan.sizes[dim] - 1) * std::abs(strides[dim]);  // exact: the elements have memory
  return elements * itemsize(program.dtype(static_cast<int>(input)));
}

/// Whether the operands that are gathered exceed the second-level cache.
bool gathers_far(const Plan& plan, const Program& program) {
  int64_t bytes = 0;
  for (int64_t input = 0; input < program.inputs(); ++input)
    if (plan.operands[plan.input(input)].access == AccessPattern::gather) bytes += span(plan, program, input);
  return bytes > kNearBytes;
}

// Along one loop the processor reads one operand ahead by itself, and several if their steps are longer than this, or
// their elements narrower: pieces of a tile, prefetched, would take up to 1.8 times as long. Bench: ./dev bench
// --sweep, steps.
constexpr int64_t kShortStep = 2, kPrefetchedWidth = 4;

/// How many operands are gathered from beyond the caches: together they exceed their share, as results may not. None if
/// the processor reads them ahead.
int count_far_gathers(const Plan& plan, const Program& program, const Schedule& schedule) {
  int count = 0;
  int64_t bytes = 0, longest = 0;
  for (int64_t input = 0; input < program.inputs(); ++input)
    if (plan.operands[plan.input(input)].access == AccessPattern::gather) {
      ++count;
      bytes += span(plan, program, input);
      longest = std::max<int64_t>(longest, std::abs(plan.strides_of(plan.input(input))[0]));
    }
  const bool is_read_ahead = count == 1 || longest > kShortStep || program.widest() < kPrefetchedWidth;
  if (plan.fused == 1 && is_read_ahead) return 0;
  // Rows that are only copied come from the last cache without: prefetched, they take up to 1.8 times as long. Bench:
  // ./dev bench --sweep, copies.
  const bool copies_rows = count == 1 && longest == 1 && program.copies();
  const int64_t most = copies_rows ? 3 * streaming_threshold() / 2 : streaming_threshold() / 2;
  return schedule.is_far || bytes > most ? count : 0;
}

/// Whether an operand is gathered in this form by tiles of so many elements.
bool gathers(const Plan& plan, const Program& program, GatherForm form, int64_t tile) {
  for (int input = 0; input < program.inputs(); ++input) {
    const int64_t operand = plan.input(input);
    if (plan.operands[operand].access == AccessPattern::gather &&
        gather_form(plan, plan.strides_of(operand), shift_of(program.dtype(input)),
                    std::min(tile / plan.unit * plan.unit, plan.flat)) == form)
      return true;
  }
  return false;
}

/// Whether an operand is gathered over the fused loops and is the same for every turn of the others: one tile for all
/// fused loops loads it once. Bench: ./dev bench --sweep, both sides.
bool stays_gathered(const Plan& plan, const Program& program) {
  if (plan.fused == plan.ndim()) return false;
  for (int input = 0; input < program.inputs(); ++input) {
    const int64_t operand = plan.input(input);
    const int64_t* strides = plan.strides_of(operand);
    if (plan.operands[operand].access == AccessPattern::gather &&
        std::all_of(strides + plan.fused, strides + plan.ndim(), [](int64_t stride) { return stride == 0; }))
      return true;
  }
  return false;
}

/// Elements of a tile whose registers stay in the first-level cache.
int64_t near_tile(const Program& program, const Schedule& schedule) {
  const int64_t slots = std::max<int64_t>(schedule.slots.count, 1);
  return std::clamp(kTileBytes / program.widest() / slots, kMinTile, kMaxTile);
}

/// Elements of a tile of runs that are copied straight to the result, which need no register; 0 if none are. A list of
/// runs takes time to make.
int64_t copied_tile(const Plan& plan, const Program& program, const Schedule& schedule) {
  constexpr int64_t kListedRuns = 128;
  if (!program.copies() || schedule.store != StoreMode::in_place || schedule.far_gathers > 0) return 0;
  const int64_t* strides = plan.strides_of(plan.input(0));
  if (plan.operands[plan.input(0)].access != AccessPattern::gather || strides[0] != 1) return 0;
  const int64_t most = kCopiedTileBytes / program.widest();
  const GatherForm form = gather_form(plan, strides, shift_of(program.dtype(0)), kMaxTile);
  if (form == GatherForm::block) return most;
  return form == GatherForm::runs ? std::min(most, kListedRuns * plan.sizes[0]) : 0;
}

/// Whether results go to memory beyond the caches in steps or rows with gaps: while they are written, nothing is read.
/// Elements of one and two bytes take longer to move.
bool scatters_far(const Program& program, const Schedule& schedule) {
  return schedule.store == StoreMode::scattered && schedule.is_far && program.widest() >= 4;
}

/// The elements that a tile should have, of fused loops that have more.
int64_t wanted_tile(const Plan& plan, const Program& program, const Schedule& schedule) {
  const int64_t near = near_tile(program, schedule), far = kFarTileBytes / program.widest();
  if (scatters_far(program, schedule)) return std::max(far / std::max(program.inputs(), 1), kLeastFarTile);
  if (schedule.far_gathers > 1) return far;
  // A list of single elements is as long as a tile and takes time to make.
  if (gathers(plan, program, GatherForm::list, near)) return kMinTile;
  return std::max(near, copied_tile(plan, program, schedule));
}

/// The tile length over the fused loops.
int64_t choose_tile(const Plan& plan, const Program& program, const Schedule& schedule) {
  if (plan.flat <= near_tile(program, schedule) && stays_gathered(plan, program)) return plan.flat;
  const int64_t wanted = wanted_tile(plan, program, schedule);
  const int64_t largest = std::max(wanted / plan.unit, int64_t{1}) * plan.unit;
  if (largest >= plan.flat) return plan.flat;
  // Tiles of equal length: a short tile at the end costs as much as a long one.
  const int64_t tiles = (plan.flat + largest - 1) / largest, units = plan.flat / plan.unit;
  const int64_t equal = (units + tiles - 1) / tiles * plan.unit;
  // Streaming stores are done in blocks: a tile is a multiple of a block, unless that makes it much longer.
  const int64_t blocks = std::lcm(plan.unit, kStreamedLanes);
  // NOLINTNEXTLINE(clang-analyzer-core.DivideZero): units have elements
  return schedule.streams() && blocks <= kMinTile ? std::min((equal + blocks - 1) / blocks * blocks, plan.flat) : equal;
}

void cut_into_tiles(const Plan& plan, Schedule& schedule) {
  schedule.per_loop = (plan.flat + schedule.tile - 1) / schedule.tile;
  schedule.tiles = plan.numel / plan.flat * schedule.per_loop;
}

/// Elements of a part, and of the smallest result that has several.
struct Grain {
  int64_t numel, several;
};
Grain grain_of(const Program& program) {
  for (const Instruction& instruction : program.instructions())
    if (!instruction.is_cast && row_of(instruction.op).vectors) return {kFunctionGrain, kSerialFunctions};
  return {kGrainNumel, kSerialNumel};
}

void schedule_direct(const Plan& plan, const Program& program, Schedule& schedule) {
  const int64_t grain = grain_of(program).numel;
  const int64_t unit = plan.numel >= 2 * grain ? std::max(grain / plan.unit, int64_t{1}) * plan.unit : plan.flat;
  schedule.tile = std::min(unit, plan.flat);
  cut_into_tiles(plan, schedule);
  schedule.pattern =
      has_patterns(plan) ? std::min(plan.flat, std::max(kPatternPiece, kPatternBytes / program.widest())) : 0;
  if (schedule.streams())
    schedule.staging_bytes = StreamedOutput::bytes(std::max(schedule.pattern * result_size(program), kJoinedBytes));
  schedule.scratch_bytes = pattern_bytes(plan, program, schedule.pattern) + schedule.staging_bytes;
}

void schedule_elements(const Plan& plan, const Program& program, Schedule& schedule) {
  schedule.route = Route::elements;
  schedule.store = StoreMode::in_place;
  schedule.gathers_far = gathers_far(plan, program);
  schedule.tile = std::min(kGrainNumel, plan.sizes[0]);
  schedule.per_loop = (plan.sizes[0] + schedule.tile - 1) / schedule.tile;
  schedule.tiles = plan.numel / plan.sizes[0] * schedule.per_loop;
}

/// Scratch for a register of so many elements.
int64_t slot_bytes_of(const Plan& plan, const Program& program, int64_t elements, int64_t tile) {
  const int64_t slack = gathers(plan, program, GatherForm::shuffles, tile) ? ShuffleList::kSlack : 0;
  return (elements * program.widest() + slack + kLine - 1) / kLine * kLine;
}

void schedule_tiles(const Plan& plan, const Program& program, Schedule& schedule) {
  schedule.gathers_far = gathers_far(plan, program);
  schedule.far_gathers = count_far_gathers(plan, program, schedule);
  schedule.tile = choose_tile(plan, program, schedule);
  schedule.rows = ProgramRows::rows_of(plan, program, schedule, near_tile(program, schedule));
  schedule.slot_bytes = slot_bytes_of(plan, program, schedule.tile * schedule.rows, schedule.tile);
  cut_into_tiles(plan, schedule);
}

/// Whether a transposed copy goes through tiles, because its rows share one place of the first cache.
bool goes_through_tiles(const Plan& plan, const Program& program, const Schedule& schedule) {
  const int64_t size = program.widest(), step = plan.strides_of(0)[plan.transposed] * size;
  return program.copies() && !schedule.is_far && step % kOnePlaceBytes == 0 && (size == 2 || size == 4);
}

/// Bytes of a row of a block as it lies in a transposed operand's memory.
int64_t block_row_bytes(const Plan& plan, const Program& program, const Schedule& schedule) {
  if (schedule.is_far) return program.instructions().size() == 1 ? kFarBlockRowBytes : kBlockRowBytes;
  if (program.copies()) {
    const int64_t step = plan.strides_of(0)[plan.transposed] * program.widest();
    if (step % kOnePlaceBytes == 0) return schedule.through_tiles ? kNearBlockRowBytes : kLineRowBytes;
    return step % kFewPlacesBytes == 0 ? kNearBlockRowBytes : kBlockRowBytes;
  }
  const bool is_near = plan.numel * program.widest() <= kNearBytes && program.widest() >= 4;
  return is_near ? kNearBlockRowBytes : kBlockRowBytes;
}

/// Blocks of few rows have more columns, but for copies, of which wide blocks took twice the time beyond the second
/// cache; not those of bytes. Bench: ./dev bench --sweep, transposed and copies.
void schedule_blocks(const Plan& plan, const Program& program, Schedule& schedule) {
  const int64_t along = plan.sizes[plan.transposed] * (plan.continued == 0 ? 1 : plan.sizes[plan.continued]);
  schedule.through_tiles = goes_through_tiles(plan, program, schedule);
  const int64_t rows = block_row_bytes(plan, program, schedule) / program.widest();
  const bool stays_short = plan.fused == 1 && program.copies() && program.widest() > 1;
  const int64_t columns =
      stays_short ? kBlockColumns : std::min(kBlockColumns * std::max(rows / along, int64_t{1}), kMostColumns);
  schedule.tile = std::min(std::max(columns / plan.unit, int64_t{1}) * plan.unit, plan.flat);
  schedule.rows = std::min(std::max(rows * kBlockColumns / std::max(schedule.tile, kBlockColumns), int64_t{1}), along);
  schedule.slot_bytes = slot_bytes_of(plan, program, schedule.tile * schedule.rows, schedule.tile);
  schedule.per_loop = (along + schedule.rows - 1) / schedule.rows;
  schedule.tiles = plan.numel / plan.flat / along * schedule.per_loop;
}

int64_t list_bytes_of(const Plan& plan, const Program& program, int input, const Schedule& schedule) {
  const int64_t operand = plan.input(input);
  switch (plan.operands[operand].access) {
    case AccessPattern::transposed:
      return plan.fused == 1 ? 0 : column_list_bytes(schedule.tile);
    case AccessPattern::gather:
      return gather_list_bytes(plan, plan.strides_of(operand), shift_of(program.dtype(input)), schedule.tile);
    default:
      return 0;
  }
}

/// The number of parts: a few for each thread, so that no thread waits long for another.
int64_t choose_parts(int64_t tiles, int64_t numel, Grain grain) {
  const int64_t threads = numel < grain.several ? 1 : get_num_threads(), most = threads == 1 ? 1 : 8 * threads;
  return std::clamp<int64_t>(numel / grain.numel, 1, std::min(tiles, most));
}

}  // namespace

Memory Memory::of(const Program& program, const void* const* outs, const void* const* inputs) noexcept {
  if (!outs[0]) return {};  // only planned
  const void* const* const end = inputs + program.inputs();
  return {std::find(inputs, end, outs[0]) == end, outs};
}

uintptr_t Memory::place(int64_t output) const noexcept {
  return outs ? reinterpret_cast<uintptr_t>(outs[output]) % kLine : 0;
}

int64_t Schedule::staging_bytes_of(const Program& program, int result) const noexcept {
  const int64_t elements = tile * (route == Route::tiles ? rows : 1);
  return streams(result) ? StreamedOutput::bytes(elements * result_size(program, result)) : 0;
}

void make_schedule(const Plan& plan, const Program& program, const Memory& memory, Schedule& schedule) {
  schedule.route = choose_route(plan, program);
  schedule.is_far = memory.is_part_of_far || is_far(plan, program);
  schedule.store = choose_store_mode(plan, program, memory, schedule, 0);
  for (int result = 1; result < program.results(); ++result)
    schedule.further_stores.push_back(choose_store_mode(plan, program, memory, schedule, result));
  if (schedule.route == Route::direct) {
    schedule_direct(plan, program, schedule);
  } else if (schedule.route == Route::tiles && runs_by_elements(plan, program, schedule.streams())) {
    schedule_elements(plan, program, schedule);
  } else {
    const SmallVector<bool, 8> in_place = inputs_in_place(plan);
    schedule.slots = assign_slots(program, in_place);
    schedule.route == Route::blocks ? schedule_blocks(plan, program, schedule)
                                    : schedule_tiles(plan, program, schedule);
    for (int result = 0; result < program.results(); ++result)
      schedule.staging_bytes += schedule.staging_bytes_of(program, result);
    for (int input = 0; input < program.inputs(); ++input)
      schedule.list_bytes += list_bytes_of(plan, program, input, schedule);
    schedule.scratch_bytes = schedule.slots.count * schedule.slot_bytes + schedule.list_bytes + schedule.staging_bytes;
    if (schedule.route == Route::tiles)
      schedule.scratch_bytes += ProgramRows::value_bytes(plan, program, schedule.rows);
    schedule.is_one_tile =
        schedule.route == Route::tiles && schedule.tiles == 1 && schedule.list_bytes == 0 && !gathers_any(plan);
    for (int result = 0; result < program.results(); ++result)
      schedule.is_one_tile &= schedule.store_of(result) == StoreMode::in_place;
  }
  schedule.parts = choose_parts(schedule.tiles, plan.numel, grain_of(program));
}

constinit thread_local CourseRecord* CourseRecord::current = nullptr;

Course course_of(const Plan& plan, const Program& program, const Schedule& schedule) {
  return {.route = route_name(schedule.route),
          .stores = store_mode_name(schedule.store),
          .accesses = accesses_of(plan),
          .parts = schedule.parts,
          .threads = threads_for(schedule.parts),
          .scratch_bytes = schedule.scratch_bytes,
          .kernels = kernels_of(program),
          .plan = plan};
}

SmallVector<AccessPattern, 8> accesses_of(const Plan& plan) {
  SmallVector<AccessPattern, 8> accesses;
  for (int64_t operand = plan.outputs; operand < plan.operands.size(); ++operand)
    accesses.push_back(plan.operands[operand].access);
  return accesses;
}
SmallVector<KernelName, 4> kernels_of(const Program& program) {
  SmallVector<KernelName, 4> kernels;
  for (const Instruction& instruction : program.instructions()) {
    const bool copies = instruction.is_cast && program.dtype(instruction.in[0]) == instruction.dtype;
    kernels.push_back({copies                ? "copy"
                       : instruction.is_cast ? "cast"
                                             : block_name(formula_of(instruction.op)),
                       instruction.dtype});
  }
  return kernels;
}
const char* route_name(Route route) noexcept {
  static constexpr const char* names[] = {"direct", "tiles", "blocks", "elements"};
  return names[static_cast<int>(route)];
}
const char* store_mode_name(StoreMode store) noexcept {
  static constexpr const char* names[] = {"in place", "streamed", "joined to lines", "scattered"};
  return names[static_cast<int>(store)];
}

}  // namespace tenon
