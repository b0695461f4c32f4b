#include "tile/run.h"

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <forward_list>

#include "base/fork.h"
#include "hwy/cache_control.h"
#include "system/processor.h"
#include "tenon/error.h"
#include "tile/blocks.h"
#include "tile/chain_rows.h"
#include "tile/direct.h"
#include "tile/elements.h"
#include "tile/gather.h"
#include "tile/pool.h"
#include "tile/prefetch.h"
#include "tile/program_rows.h"
#include "tile/result.h"
#include "tile/schedule.h"
#include "tile/streamed.h"

namespace tenon {
namespace {

// Rows of a block that are prefetched ahead of the one that is read. Bench: tenon_bench --filter
// '^large/A\+B.T/memory'.
constexpr int64_t kRowsAhead = 4;
// In rows of so many bytes the processor reads ahead by itself, and to wait for prefetches takes longer. Bench: ./dev
// bench --sweep, permuted.
constexpr int64_t kUnaidedRow = 1 << 10;
// Of results of so many bytes the rows that are written next are prefetched, too. Bench: ./dev bench --sweep,
// transposed.
constexpr int64_t kPrefetchedResult = 512 << 10;

// While one operand is gathered the others' memory waits, so each is prefetched: so many bytes ahead, after each piece
// of so many bytes. Bench: ./dev bench --sweep, steps.
constexpr int64_t kGatherAhead = 16 << 10, kGatherPiece = 512;
// Programs of so many steps prefetch the next tile, each step a part of it: five steps from memory take 0.92 of the
// time. Bench: tenon_bench --filter '^fuse/gelu by hand/memory'.
constexpr int64_t kAheadSteps = 3;
// Of a transposed operand this is prefetched in each column, beyond what a tile reads. Bench: ./dev bench --sweep,
// transposed.
constexpr int64_t kStreamBytesAhead = 256;

struct Setup {
  const Plan& plan;
  const Program& program;
  const Schedule& schedule;
  void* const* outs;
  const void* const* inputs;
};

/// Whether the Program is one kernel that writes its result directly to memory.
bool is_one_kernel(const Setup& setup) {
  if (!setup.program.is_one_kernel() || setup.schedule.store == StoreMode::scattered) return false;
  const Instruction& instruction = setup.program.instructions()[0];
  return instruction.in_order() && instruction.in[0] == 0;
}

/// Whether an operand's elements are moved straight to the result: a copy by ordinary stores.
bool moves_straight(const Setup& setup) {
  if (setup.schedule.streams() || setup.schedule.through_tiles || !is_one_kernel(setup)) return false;
  const AccessPattern access = setup.plan.operands[1].access;
  return setup.program.copies() && (access == AccessPattern::transposed || access == AccessPattern::gather);
}

/// Whether the loops visit the first result's memory element after element.
bool is_dense(const Plan& plan) {
  int64_t step = 1;  // exact: at most the number of elements
  for (int64_t loop = 0; loop < plan.ndim(); step *= plan.sizes[loop++])
    if (plan.strides_of(0)[loop] != step) return false;
  return true;
}

/// Runs the tiles of one part of the work.
class TileLoop {
 public:
  explicit TileLoop(const Setup& setup)
      : setup_(setup),
        plan_(setup.plan),
        program_(setup.program),
        registers_(setup.program, setup.schedule.slots, setup.schedule.slot_bytes),
        first_(plan_, program_, setup.schedule, 0, setup.outs[0]),
        built_(program_.inputs()),
        lists_(setup.schedule.list_bytes),
        gathers_(program_.inputs()),
        columns_(program_.inputs()),
        loops_(outer_loops(plan_)),
        outer_(plan_, loops_),
        row_loops_(row_loops(plan_)),
        rows_(plan_, row_loops_),
        one_kernel_(is_one_kernel(setup)),
        copies_(moves_straight(setup)),
        is_dense_(copies_ && is_dense(plan_)) {
    for (Built& built : built_) built = {};
    std::byte* list = lists_.data();
    for (int i = 0; i < program_.inputs(); ++i) list += make_list(i, list);
    load_numbers();
    set_ahead();
    for (int result = 1; result < program_.results(); ++result)
      further_.emplace_front(plan_, program_, setup.schedule, result, setup.outs[result]);
  }

  /// Computes tiles [begin, end) of the fused loops.
  void run_fused(int64_t begin, int64_t end) {
    const int64_t per_flat = setup_.schedule.per_loop;
    outer_.go_to(begin / per_flat);
    int64_t index = begin % per_flat;
    for (int64_t t = begin; t < end; ++t) {
      check_interrupt();
      const int64_t start = index * setup_.schedule.tile;
      const int64_t n = std::min(setup_.schedule.tile, plan_.flat - start);
      if (copies_ && may_write_behind(t + 1, end)) {
        copy_tile(start, n);
      } else {
        for (const int i : loaded_) load(i, outer_[plan_.input(i)], start, n);
        execute_and_store([this](int64_t output) { return outer_[output]; }, start, n);
      }
      if (++index == per_flat) {
        index = 0;
        outer_.advance();
      }
    }
    flush();
  }

  /// Whether tiles [next, end) follow this one in the result, with room for what gathering it writes behind it.
  bool may_write_behind(int64_t next, int64_t end) const {
    if (!gathers_[0].writes_behind()) return true;
    const int64_t per_flat = setup_.schedule.per_loop;
    const auto elements_before = [&](int64_t tile) {
      return tile / per_flat * plan_.flat + tile % per_flat * setup_.schedule.tile;
    };
    const int64_t left = elements_before(end) - std::min(elements_before(next), elements_before(end));
    return is_dense_ && left << shift_of(program_.dtype(0)) >= ShuffleList::kSlack;
  }
  /// Gathers `n` elements straight to the result.
  void copy_tile(int64_t start, int64_t n) {
    const int shift = shift_of(program_.dtype(0));
    const int64_t* strides = plan_.strides_of(1);
    const std::byte* from = at(setup_.inputs[0], outer_[1] + start / plan_.unit * strides[plan_.fused - 1], shift);
    std::byte* const to = static_cast<std::byte*>(setup_.outs[0]) + ((outer_[0] + start) << shift);
    gather(0, to, from, strides, shift, n / plan_.unit);
  }

  /// Computes blocks over the fused loops and the transposed operands' loop, for every index of the other loops.
  void run_transposed(int64_t begin, int64_t end) {
    const int64_t along = plan_.sizes[plan_.transposed] * (plan_.continued == 0 ? 1 : plan_.sizes[plan_.continued]);
    const int64_t block_rows = setup_.schedule.rows, blocks_along = setup_.schedule.per_loop;
    for (int64_t t = begin; t < end; ++t) {
      check_interrupt();
      outer_.go_to(t / blocks_along);
      const int64_t row = t % blocks_along * block_rows, rows = std::min(block_rows, along - row);
      for (int64_t start = 0; start < plan_.flat; start += setup_.schedule.tile)
        run_block(row, start, std::min(setup_.schedule.tile, plan_.flat - start), rows);
    }
    flush();
  }

 private:
  /// The loops around tiles, or around blocks.
  static SmallVector<int64_t, 8> outer_loops(const Plan& plan) {
    SmallVector<int64_t, 8> loops;
    for (int64_t loop = plan.fused; loop < plan.ndim(); ++loop)
      if (loop != plan.transposed && loop != plan.continued) loops.push_back(loop);
    return loops;
  }
  /// The loops over the rows of blocks.
  static SmallVector<int64_t, 8> row_loops(const Plan& plan) {
    SmallVector<int64_t, 8> loops;
    for (const int64_t loop : {plan.transposed, plan.continued})
      if (loop != 0) loops.push_back(loop);
    return loops;
  }

  /// Loads what is one value for all tiles over the fused loops; the other inputs are loaded for each. Of short rows
  /// that takes longer than the numbers' arithmetic. Bench: tenon_bench --filter '^fuse/chain both ways/L2'.
  void load_numbers() {
    for (int i = 0; i < program_.inputs(); ++i) {
      const int64_t operand = plan_.input(i), *const strides = plan_.strides_of(operand);
      const bool stays =
          std::all_of(strides + plan_.fused, strides + plan_.ndim(), [](int64_t stride) { return stride == 0; });
      if (stays && plan_.operands[operand].access == AccessPattern::splat)
        load(i, 0, 0, 1);
      else
        loaded_.push_back(i);
    }
  }

  /// Chooses the inputs whose memory waits while several instructions compute a tile.
  void set_ahead() {
    const Schedule& schedule = setup_.schedule;
    if (!schedule.is_far || schedule.route != Route::tiles || program_.steps() < kAheadSteps) return;
    for (int i = 0; i < program_.inputs(); ++i) {
      const int64_t operand = plan_.input(i);
      const int64_t* const strides = plan_.strides_of(operand);
      const bool comes_back =
          std::any_of(strides + plan_.fused, strides + plan_.ndim(), [](int64_t stride) { return stride == 0; });
      if (plan_.operands[operand].access == AccessPattern::direct && !comes_back) ahead_.push_back(i);
    }
  }

  /// Prepares input i to be gathered. Gives the bytes of its list.
  int64_t make_list(int i, std::byte* list) {
    const int64_t operand = plan_.input(i), tile = setup_.schedule.tile;
    const int64_t* strides = plan_.strides_of(operand);
    if (plan_.operands[operand].access == AccessPattern::transposed) {
      columns_[i] = nullptr;
      if (plan_.fused == 1) return 0;
      list_offsets(plan_.sizes.data(), strides, plan_.fused, tile / plan_.unit, reinterpret_cast<int64_t*>(list));
      columns_[i] = reinterpret_cast<const int64_t*>(list);
      return column_list_bytes(tile);
    }
    if (plan_.operands[operand].access != AccessPattern::gather) return 0;
    const int shift = shift_of(program_.dtype(i));
    gathers_[i] = Gather(plan_, strides, shift, tile, static_cast<const std::byte*>(setup_.inputs[i]), list);
    return gather_list_bytes(plan_, strides, shift, tile);
  }

  void run_block(int64_t row, int64_t start, int64_t columns, int64_t rows) {
    rows_.go_to(row);
    for (int i = 0; i < program_.inputs() && !copies_; ++i)
      if (plan_.operands[plan_.input(i)].access == AccessPattern::transposed)
        transpose(i, registers_.slot(i), setup_.schedule.tile, start, columns, rows);
    int64_t done = 0;
    while (true) {
      const int64_t turns = std::min(rows_.left(), rows - done);
      if (copies_)
        copy_rows(start, columns, turns);
      else
        run_rows(done, start, columns, turns);
      done += turns;
      if (done == rows) return;
      rows_.advance(turns);
    }
  }

  /// Transposes a block of input i from the row that `rows_` is at.
  void transpose(int i, std::byte* to, int64_t row_step, int64_t start, int64_t columns, int64_t rows) {
    const int64_t operand = plan_.input(i);
    const int shift = shift_of(program_.dtype(i));
    const int64_t offset = offset_in_block(operand) + start / plan_.unit * plan_.strides_of(operand)[plan_.fused - 1];
    const std::byte* from = at(setup_.inputs[i], offset, shift);
    const MoveKernels& move = kernels().move[shift];
    if (columns_[i])
      move.transpose_listed(to, row_step, from, columns_[i], rows, columns);
    else
      move.transpose(to, row_step, from, plan_.strides_of(operand)[0], rows, columns);
  }
  /// Rows of a result that is its operand transposed.
  void copy_rows(int64_t start, int64_t columns, int64_t rows) {
    const int shift = shift_of(program_.dtype(0));
    std::byte* const to = static_cast<std::byte*>(setup_.outs[0]) + ((offset_in_block(0) + start) << shift);
    transpose(0, to, plan_.strides_of(0)[plan_.transposed], start, columns, rows);
  }

  /// An operand's offset at the block's row that `rows_` is at. exact: within the operand
  int64_t offset_in_block(int64_t operand) const { return outer_[operand] + rows_[operand]; }

  /// The memory of an input's row of a block.
  struct BlockRow {
    const std::byte* data;
    int64_t row_step;  // in bytes
    int64_t step;      // of its lanes: 0 or 1; -1: each row is loaded
    int64_t ahead;     // bytes to prefetch
  };
  /// What is prefetched of rows of so many bytes.
  static int64_t bytes_ahead(int64_t bytes) { return bytes < kUnaidedRow ? bytes : 0; }
  /// `first`: rows of the block before this one.
  BlockRow block_row(int i, int64_t first, int64_t start, int64_t columns) {
    const int64_t operand = plan_.input(i), tile = setup_.schedule.tile;
    const int shift = shift_of(program_.dtype(i));
    const std::byte* from = at(setup_.inputs[i], offset_in_block(operand), shift);
    const int64_t row_step = plan_.strides_of(operand)[plan_.transposed] * (int64_t{1} << shift);
    switch (plan_.operands[operand].access) {
      case AccessPattern::transposed:
        return {registers_.slot(i) + ((first * tile) << shift), tile << shift, 1, 0};
      case AccessPattern::direct:
        return {from + (start << shift), row_step, 1, bytes_ahead(columns << shift)};
      case AccessPattern::splat:
        return {from, row_step, 0, 0};
      default:
        return {nullptr, 0, -1, 0};
    }
  }

  /// Rows along the transposed loop. They are short, so every branch counts.
  void run_rows(int64_t first, int64_t start, int64_t columns, int64_t rows) {
    SmallVector<BlockRow, 4> inputs;
    for (int i = 0; i < program_.inputs(); ++i) inputs.push_back(block_row(i, first, start, columns));
    const auto offset_of = [&](int64_t operand, int64_t row) {
      return offset_in_block(operand) + row * plan_.strides_of(operand)[plan_.transposed];
    };
    const bool loads = std::any_of(inputs.begin(), inputs.end(), [](const BlockRow& input) { return input.step < 0; });
    if (one_kernel_ && !loads) return run_together(inputs, offset_of(0, 0) + start, columns, rows);
    for (int64_t row = 0; row < rows; ++row) {
      for (int i = 0; i < program_.inputs(); ++i) {
        BlockRow& input = inputs[i];
        if (input.step < 0) {
          load(i, offset_of(plan_.input(i), row), start, columns);
          continue;
        }
        prefetch_row(input, 0);
        registers_[i] = {input.data, input.step};
        input.data += input.row_step;
      }
      execute_and_store([&](int64_t output) { return offset_of(output, row); }, start, columns);
    }
  }

  /// The same for one kernel whose inputs are where they are read, some rows at a time.
  void run_together(SmallVector<BlockRow, 4>& inputs, int64_t offset, int64_t columns, int64_t rows) {
    const Instruction& instruction = program_.instructions()[0];
    const int shift = shift_of(program_.dtype(program_.result()));
    const int64_t row_step = plan_.strides_of(0)[plan_.transposed] * (int64_t{1} << shift);
    const bool streams = setup_.schedule.streams();
    std::byte* to = static_cast<std::byte*>(setup_.outs[0]) + (offset << shift);
    int64_t steps[kMaxArgs] = {};
    const bool together = instruction.rows && !streams;
    const bool prefetches = !streams && plan_.numel << shift >= kPrefetchedResult;  // exact: the result has memory
    while (rows > 0) {
      const int64_t count = together ? std::min(kRowsAhead, rows) : 1;
      for (int64_t i = 0; i < inputs.size(); ++i) {
        BlockRow& input = inputs[i];
        for (int64_t row = 0; input.ahead > 0 && row < count; ++row) prefetch_row(input, row);
        registers_[i] = {input.data, input.step};
        steps[i] = input.row_step;
        input.data += count * input.row_step;
      }
      rows -= count;
      if (prefetches)
        for (int64_t row = 0; row < count; ++row) prefetch_row({to, row_step, 1, bytes_ahead(columns << shift)}, row);
      if (together)
        instruction.rows(to, row_step, &registers_[0], steps, columns, count);
      else if (streams)
        stream_row(to, columns);
      else
        instruction.kernel(to, &registers_[0], columns);
      to += count * row_step;
    }
  }
  /// Most rows of a block are too short for the hardware prefetcher.
  [[gnu::always_inline]] static void prefetch_row(const BlockRow& input, int64_t row) {
    const std::byte* const later = input.data + (row + kRowsAhead) * input.row_step;
    for (int64_t line = 0; line < input.ahead; line += 64) __builtin_prefetch(later + line);
  }

  void stream_row(std::byte* to, int64_t columns) {
    const Instruction& instruction = program_.instructions()[0];
    Lanes in[kMaxArgs];
    std::copy_n(&registers_[0], instruction.arity, in);
    run_streamed(instruction, to, program_, program_.result(), in, columns, first_.streamed());
  }

  /// Whether the slot of input i holds other elements than the `n` that begin at `from`; it will hold these.
  bool needs(int i, const std::byte* from, int64_t n) {
    Built& built = built_[i];
    if (built.from == from && n <= built.n) return false;
    built = {from, n};
    return true;
  }

  /// Loads `n` elements of input i, from element `start` of the fused loops on, as contiguous lanes.
  void load(int i, int64_t offset, int64_t start, int64_t n) {
    const Plan::Operand& operand = plan_.operands[plan_.input(i)];
    const int64_t* strides = plan_.strides_of(plan_.input(i));
    const int shift = shift_of(program_.dtype(i));
    const std::byte* base = at(setup_.inputs[i], offset, shift);
    switch (operand.access) {
      case AccessPattern::direct:
        registers_[i] = {base + (start << shift), 1};
        return;
      case AccessPattern::splat:
        registers_[i] = {base, 0};
        return;
      case AccessPattern::periodic:
        if (needs(i, base, 0))
          build_pattern(registers_.slot(i), base, plan_, strides, shift, operand.length,
                        std::min(setup_.schedule.tile, plan_.flat));
        registers_[i] = {registers_.slot(i), 1};
        return;
      case AccessPattern::repeated: {
        const std::byte* from = base + ((start / operand.length) << shift);
        if (needs(i, from, n))
          kernels().move[shift].repeat(registers_.slot(i), from, operand.length, n / operand.length);
        registers_[i] = {registers_.slot(i), 1};
        return;
      }
      case AccessPattern::transposed:
      case AccessPattern::gather: {
        const int64_t last = plan_.fused - 1;
        const int64_t row = start / plan_.unit;
        const std::byte* from = base + ((row * strides[last]) << shift);
        if (needs(i, from, n)) gather(i, registers_.slot(i), from, strides, shift, n / plan_.unit);
        registers_[i] = {registers_.slot(i), 1};
        return;
      }
    }
  }

  /// Copies `rows` turns of the last fused loop of input i.
  void gather(int i, std::byte* to, const std::byte* from, const int64_t* strides, int shift, int64_t rows) {
    const Gather& gather = gathers_[i];
    if (setup_.schedule.gathers_far && gather.has_short_steps()) return gather.load_far(to, from, rows);
    // Beside another operand that is gathered, the processor reads rows with gaps ahead sooner than pieces of a tile.
    const bool is_read_ahead = strides[0] == 1 && setup_.schedule.far_gathers > 1;
    if (is_read_ahead || setup_.schedule.far_gathers == 0) return gather.load(to, from, rows);
    if (gather.is_transposed()) {
      gather.prefetch_columns(from + bytes_to_later_tile(strides, shift, rows), rows << shift);
      return gather.load(to, from, rows);
    }
    const int64_t step = strides[plan_.fused - 1] << shift, bytes = plan_.unit << shift;
    const int64_t piece = std::max(kGatherPiece / bytes, int64_t{1});
    for (int64_t row = 0; row < rows; row += piece, from += piece * step, to += piece * bytes) {
      const int64_t count = std::min(piece, rows - row);
      prefetch(from, strides, shift, count);
      gather.load(to, from, count);
    }
  }
  /// From a transposed operand's tile of so many rows to one that is loaded soon.
  int64_t bytes_to_later_tile(const int64_t* strides, int shift, int64_t rows) const {
    const int64_t read = rows << shift;
    if (setup_.schedule.per_loop > 1 || plan_.fused == plan_.ndim()) return std::max(read, kStreamBytesAhead);
    const int64_t turn = strides[plan_.fused] * (int64_t{1} << shift);
    return turn > 0 && turn < kStreamBytesAhead ? (kStreamBytesAhead + turn - 1) / turn * turn : turn;
  }
  /// What comes after `from`, of one or two fused loops; more loops may leave memory out or come back to it.
  void prefetch(const std::byte* from, const int64_t* strides, int shift, int64_t rows) {
    if (plan_.fused > 2) return;
    const int64_t step = strides[plan_.fused - 1] << shift;
    const int64_t bytes = plan_.fused == 1 ? step : plan_.sizes[0] * strides[0] << shift;
    if (step <= bytes + kLine) return prefetch_rows(from + kGatherAhead, rows * step, 0, 1);
    const int64_t next = plan_.fused < plan_.ndim() ? strides[plan_.fused] << shift : 0;
    if (const int64_t later = bytes_to_later_turn(bytes, step, next); later > 0)
      return prefetch_rows(from + later, bytes, step, rows);
    const int64_t rows_ahead = (kGatherAhead + step - 1) / step;
    prefetch_rows(from + rows_ahead * step, bytes, step, rows);
  }

  /// `offset_of(output)`: the output's offset in the outer loops.
  template <class OffsetOf>
  void execute_and_store(const OffsetOf& offset_of, int64_t start, int64_t n) {
    first_.aim(registers_, offset_of(0), start, n);
    int64_t output = program_.results();
    for (TileResult& result : further_) result.aim(registers_, offset_of(--output), start, n);
    ahead_.empty() ? registers_.execute(n) : registers_.execute_ahead(n, ahead_);
    // The last result comes first: one with the register of an earlier one copies what that has not committed yet.
    for (TileResult& result : further_) result.store(registers_, n);
    first_.store(registers_, n);
  }
  void flush() {
    first_.flush();
    for (TileResult& result : further_) result.flush();
  }

  const Setup& setup_;
  const Plan& plan_;
  const Program& program_;
  Registers registers_;
  TileResult first_;
  std::forward_list<TileResult> further_;  // results, the last one first; usually none, which needs no memory
  /// What the slot of an input was loaded from.
  struct Built {
    const std::byte* from = nullptr;
    int64_t n = 0;
  };
  SmallVector<Built, 8> built_;
  Scratch lists_;                           // of gathered inputs
  SmallVector<Gather, 4> gathers_;          // of those that are not transposed
  SmallVector<const int64_t*, 4> columns_;  // of transposed inputs: where the columns of a block begin; null: evenly
  SmallVector<int64_t, 8> loops_;           // around tiles, or around blocks
  OuterCounter outer_;
  SmallVector<int64_t, 8> row_loops_;  // over the rows of blocks
  OuterCounter rows_;
  SmallVector<int, 8> loaded_;  // inputs that are loaded for each tile over the fused loops
  SmallVector<int, 4> ahead_;   // inputs that are prefetched
  bool one_kernel_;
  bool copies_;    // no kernel is needed
  bool is_dense_;  // the result, over all loops
};

// Hundreds of MB of cache are shared by as many cores, and are hardly faster than memory: on a Xeon with 480 MB
// streamed sums of 64 MB take two thirds of the time, those of 16 MB the same time.
constexpr int64_t kLeastThreshold = int64_t{1} << 20, kMostThreshold = int64_t{24} << 20;

/// TENON_CACHE_BYTES says it for tests: those of results beyond the caches then need a fraction of the memory and time.
int64_t last_cache_bytes() noexcept {
  if (const char* given = std::getenv("TENON_CACHE_BYTES")) return std::strtoll(given, nullptr, 10);
  const int64_t told = system::last_cache_bytes();
  return told > 0 ? told : int64_t{32} << 20;
}

/// Divides the tiles into equal parts and calls body(loop, begin, end) for each; `make` makes each thread's loop.
template <class Make, class Body>
void run_in_parts(const Schedule& schedule, const Make& make, const Body& body) {
  parallel_for(schedule.parts, make, [&](auto& loop, int64_t part) {
    body(loop, schedule.tiles * part / schedule.parts, schedule.tiles * (part + 1) / schedule.parts);
    hwy::FlushStream();  // makes streaming stores visible before the caller continues
  });
}

void note_run(const Setup& setup, Route route) {
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = route_name(route),
                 .stores = store_mode_name(setup.schedule.store),
                 .accesses = accesses_of(setup.plan),
                 .kernels = kernels_of(setup.program),
                 .plan = setup.plan});
}

void run_direct(const Setup& setup) {
  note_run(setup, Route::direct);
  run_in_parts(
      setup.schedule,
      [&] {
        return DirectRuns(setup.plan, setup.program, setup.schedule, static_cast<std::byte*>(setup.outs[0]),
                          setup.inputs);
      },
      [](DirectRuns& runs, int64_t begin, int64_t end) { runs.run(begin, end); });
}
/// All elements of an input as lanes.
Lanes load_all(const Setup& setup, Registers& registers, int input) {
  const int64_t number = setup.plan.input(input);
  const Plan::Operand& operand = setup.plan.operands[number];
  const auto* const from = static_cast<const std::byte*>(setup.inputs[input]);
  const int shift = shift_of(setup.program.dtype(input));
  if (operand.access == AccessPattern::direct) return {from, 1};
  if (operand.access == AccessPattern::splat) return {from, 0};
  std::byte* const slot = registers.slot(input);
  if (operand.access == AccessPattern::periodic)
    build_pattern(slot, from, setup.plan, setup.plan.strides_of(number), shift, operand.length, setup.plan.flat);
  else
    kernels().move[shift].repeat(slot, from, operand.length, setup.plan.flat / operand.length);
  return {slot, 1};
}

/// Without the loops and counters of TileLoop, which take longer than few elements. Bench: tenon_bench --filter
/// '^fuse/.*/(10|few)'.
void run_one_tile(const Setup& setup) {
  const Program& program = setup.program;
  Registers registers(program, setup.schedule.slots, setup.schedule.slot_bytes);
  for (int i = 0; i < program.inputs(); ++i) registers[i] = load_all(setup, registers, i);
  for (int result = program.results() - 1; result >= 0; --result)
    if (const int reg = program.result(result); reg >= program.inputs())
      registers.aim(reg, static_cast<std::byte*>(setup.outs[result]), nullptr);
  registers.execute(setup.plan.flat);
  for (int result = 0; result < program.results(); ++result) {
    const int reg = program.result(result), dtype = static_cast<int>(program.dtype(reg));
    const Lanes lanes = registers[reg];
    if (lanes.data != setup.outs[result]) kernels().cast[dtype][dtype](setup.outs[result], &lanes, setup.plan.flat);
  }
}

void run_tiles(const Setup& setup) {
  if (setup.schedule.is_one_tile && !CourseRecord::now()) return run_one_tile(setup);
  note_run(setup, Route::tiles);
  if (ChainRows::fit(setup.plan, setup.program, setup.schedule))
    return run_in_parts(
        setup.schedule,
        [&] {
          return ChainRows(setup.plan, setup.program, setup.schedule, static_cast<std::byte*>(setup.outs[0]),
                           setup.inputs);
        },
        [](ChainRows& rows, int64_t begin, int64_t end) { rows.run(begin, end); });
  if (setup.schedule.rows > 1)
    return run_in_parts(
        setup.schedule,
        [&] { return ProgramRows(setup.plan, setup.program, setup.schedule, setup.outs, setup.inputs); },
        [](ProgramRows& rows, int64_t begin, int64_t end) { rows.run(begin, end); });
  run_in_parts(
      setup.schedule, [&] { return TileLoop(setup); },
      [](TileLoop& loop, int64_t begin, int64_t end) { loop.run_fused(begin, end); });
}
void run_blocks(const Setup& setup) {
  note_run(setup, Route::blocks);
  run_in_parts(
      setup.schedule, [&] { return TileLoop(setup); },
      [](TileLoop& loop, int64_t begin, int64_t end) { loop.run_transposed(begin, end); });
}
void run_elements(const Setup& setup) {
  note_run(setup, Route::elements);
  run_in_parts(
      setup.schedule,
      [&] {
        return ElementRuns(setup.plan, setup.program, setup.schedule, static_cast<std::byte*>(setup.outs[0]),
                           setup.inputs);
      },
      [](ElementRuns& runs, int64_t begin, int64_t end) { runs.run(begin, end); });
}

}  // namespace

int64_t streaming_threshold() noexcept {
  static const int64_t threshold = std::clamp(last_cache_bytes() / 4, kLeastThreshold, kMostThreshold);
  return threshold;
}
static const AtLoad threshold_at_load(streaming_threshold);

// Bench: ./dev bench --sweep, both sides; tenon_bench --filter '^large/(outer|equal)/'.
bool outgrows_cache(int64_t written, int64_t read) noexcept {
  // exact: bytes of storages
  return written > streaming_threshold() && written + read > 3 * streaming_threshold();
}

void fail_without_memory() { throw NotImplementedError("Cannot copy out of meta tensor; no data!"); }

void run(const Plan& plan, const Program& program, void* const* outs, const void* const* inputs) {
  if (plan.numel == 0) return;
  Schedule schedule;
  make_schedule(plan, program, Memory::of(program, outs, inputs), schedule);
  run(plan, program, schedule, outs, inputs);
}

void run(const Plan& plan, const Program& program, const Schedule& schedule, void* const* outs,
         const void* const* inputs) {
  if (plan.numel == 0) return;
  if (!outs[0] && CourseRecord::plans_meta()) return note_course(course_of(plan, program, schedule));
  for (int result = 0; result < program.results(); ++result) check_memory(outs[result], inputs, program.inputs());
  const Setup setup{plan, program, schedule, outs, inputs};
  switch (schedule.route) {
    case Route::direct:
      return run_direct(setup);
    case Route::tiles:
      return run_tiles(setup);
    case Route::blocks:
      return run_blocks(setup);
    case Route::elements:
      return run_elements(setup);
  }
}

}  // namespace tenon
