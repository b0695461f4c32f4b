#include "tile/run.h"

#include <algorithm>
#include <cstddef>
#include <cstdio>
#include <cstring>
#include <forward_list>

#include "base/fork.h"
#include "hwy/cache_control.h"
#include "tenon/error.h"
#include "tile/blocks.h"
#include "tile/direct.h"
#include "tile/pool.h"
#include "tile/prefetch.h"
#include "tile/result.h"
#include "tile/schedule.h"
#include "tile/streamed.h"

namespace tenon {
namespace {

// Rows of a block that are prefetched ahead of the one that is read. Bench: tenon_bench --filter
// '^large/A\+B.T/memory'.
constexpr int64_t kRowsAhead = 4;

// While one operand is gathered the others' memory waits, so each is prefetched: so many bytes ahead, after each piece
// of so many bytes. Bench: ./dev bench --sweep, steps.
constexpr int64_t kBytesAhead = 16 << 10, kPieceBytes = 512;
// A transposed operand is read in as many streams as its rows have elements; the processor follows a few of them by
// itself. What the next tiles read is prefetched. Bench: ./dev bench --sweep, transposed.
constexpr int64_t kManyStreams = 8, kStreamBytesAhead = 256;

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
        loops_(loops_from(plan_, plan_.fused)),
        outer_(plan_, loops_),
        one_kernel_(is_one_kernel(setup)) {
    for (auto& base : built_) base = nullptr;
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
      for (int i = 0; i < program_.inputs(); ++i) load(i, outer_[plan_.input(i)], start, n);
      execute_and_store([this](int64_t output) { return outer_[output]; }, start, n);
      if (++index == per_flat) {
        index = 0;
        outer_.advance();
      }
    }
    flush();
  }

  /// Computes blocks over the innermost loop and the transposed operands' loop, for every index of the other loops.
  void run_transposed(int64_t begin, int64_t end) {
    const int64_t along = plan_.transposed, block_rows = setup_.schedule.rows;
    const int64_t blocks_along = setup_.schedule.per_loop;
    for (int64_t t = begin; t < end; ++t) {
      check_interrupt();
      const int64_t row = t % blocks_along * block_rows;
      const int64_t rows = std::min(block_rows, plan_.sizes[along] - row);
      const auto offsets = offsets_without(along, t / blocks_along, row);
      for (int64_t start = 0; start < plan_.sizes[0]; start += setup_.schedule.tile)
        run_block(offsets, start, std::min(setup_.schedule.tile, plan_.sizes[0] - start), rows);
    }
    flush();
  }

 private:
  using Offsets = SmallVector<int64_t, 8>;

  /// Offsets at index `index` of the outer loops without `along`, and at index `row` of `along`.
  Offsets offsets_without(int64_t along, int64_t index, int64_t row) const {
    Offsets offsets(plan_.operands.size());
    for (int64_t operand = 0; operand < offsets.size(); ++operand)
      offsets[operand] = row * plan_.strides_of(operand)[along];
    for (int64_t dim = 1; dim < plan_.ndim(); ++dim) {
      if (dim == along) continue;
      const int64_t i = index % plan_.sizes[dim];
      index /= plan_.sizes[dim];
      for (int64_t operand = 0; operand < offsets.size(); ++operand)
        offsets[operand] += i * plan_.strides_of(operand)[dim];
    }
    return offsets;
  }

  /// The memory of an input's row of a block.
  struct BlockRow {
    const std::byte* data;
    int64_t row_step;  // in bytes
    int64_t step;      // of its lanes: 0 or 1
    int64_t ahead;     // bytes to prefetch
    int64_t gathered;  // stride of the elements, if each row is gathered; 0: not gathered
    int shift;
  };

  BlockRow block_row(int i, const Offsets& offsets, int64_t start, int64_t columns) {
    const int64_t operand = plan_.input(i);
    const int64_t* strides = plan_.strides_of(operand);
    const AccessPattern access = plan_.operands[operand].access;
    const int shift = shift_of(program_.dtype(i));
    const std::byte* from = at(setup_.inputs[i], offsets[operand] + start * strides[0], shift);
    const int64_t row_step = strides[plan_.transposed] * (int64_t{1} << shift);
    if (access == AccessPattern::transposed) return {registers_.slot(i), setup_.schedule.tile << shift, 1, 0, 0, shift};
    if (access == AccessPattern::gather) return {from, row_step, 1, 0, strides[0], shift};
    return {
        from, row_step, access == AccessPattern::direct ? 1 : 0, access == AccessPattern::direct ? columns << shift : 0,
        0,    shift};
  }

  void run_block(const Offsets& offsets, int64_t start, int64_t columns, int64_t rows) {
    SmallVector<BlockRow, 4> inputs;
    for (int i = 0; i < program_.inputs(); ++i) {
      inputs.push_back(block_row(i, offsets, start, columns));
      const int64_t operand = plan_.input(i);
      if (plan_.operands[operand].access != AccessPattern::transposed) continue;
      const int shift = inputs[i].shift;
      const int64_t stride = plan_.strides_of(operand)[0];
      kernels().move[shift].transpose(registers_.slot(i), setup_.schedule.tile,
                                      at(setup_.inputs[i], offsets[operand] + start * stride, shift), stride, rows,
                                      columns);
    }
    if (one_kernel_) return run_block_rows(inputs, offsets[0] + start, columns, rows);
    for (int64_t row = 0; row < rows; ++row) {
      for (int i = 0; i < program_.inputs(); ++i) load_row(i, inputs[i], columns);
      execute_and_store(
          [&](int64_t output) { return offsets[output] + row * plan_.strides_of(output)[plan_.transposed]; }, start,
          columns);
    }
  }

  /// The same for one kernel that writes to memory. Rows are short, so every branch counts.
  void run_block_rows(SmallVector<BlockRow, 4>& inputs, int64_t offset, int64_t columns, int64_t rows) {
    const int64_t row_step = plan_.strides_of(0)[plan_.transposed];
    const Kernel kernel = program_.instructions()[0].kernel;
    const int shift = shift_of(program_.dtype(program_.result()));
    std::byte* to = static_cast<std::byte*>(setup_.outs[0]) + (offset << shift);
    const bool streams = setup_.schedule.streams();
    for (int64_t row = 0; row < rows; ++row) {
      for (int i = 0; i < program_.inputs(); ++i) load_row(i, inputs[i], columns);
      if (streams)
        stream_row(to, columns);
      else
        kernel(to, &registers_[0], columns);
      to += row_step * (int64_t{1} << shift);
    }
  }

  void stream_row(std::byte* to, int64_t columns) {
    const Instruction& instruction = program_.instructions()[0];
    Lanes in[kMaxArgs];
    std::copy_n(&registers_[0], instruction.arity, in);
    run_streamed(instruction, to, program_, program_.result(), in, columns, first_.streamed());
  }

  void load_row(int i, BlockRow& input, int64_t columns) {
    // Rows of a block are too short for the hardware prefetcher.
    for (int64_t line = 0; line < input.ahead; line += 64)
      __builtin_prefetch(input.data + kRowsAhead * input.row_step + line);
    if (input.gathered != 0) {
      kernels().move[input.shift].gather(registers_.slot(i), input.data, input.gathered, columns, 0, 1);
      registers_[i] = {registers_.slot(i), 1};
    } else {
      registers_[i] = {input.data, input.step};
    }
    input.data += input.row_step;
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
        if (built_[i] != base)
          build_pattern(registers_.slot(i), base, plan_, strides, shift, operand.length,
                        std::min(setup_.schedule.tile, plan_.flat));
        built_[i] = base;
        registers_[i] = {registers_.slot(i), 1};
        return;
      case AccessPattern::repeated:
        kernels().move[shift].repeat(registers_.slot(i), base + ((start / operand.length) << shift), operand.length,
                                     n / operand.length);
        registers_[i] = {registers_.slot(i), 1};
        return;
      case AccessPattern::transposed:
      case AccessPattern::gather: {
        const int64_t last = plan_.fused - 1;
        const int64_t row = start / plan_.unit;
        const std::byte* from = base + ((row * strides[last]) << shift);
        gather(i, from, strides, shift, n / plan_.unit);
        registers_[i] = {registers_.slot(i), 1};
        return;
      }
    }
  }

  /// Copies `rows` turns of the last fused loop to the slot of input i.
  void gather(int i, const std::byte* from, const int64_t* strides, int shift, int64_t rows) {
    std::byte* to = registers_.slot(i);
    if (setup_.schedule.far_gathers == 0) return load_block(to, from, plan_, strides, shift, plan_.fused, rows);
    if (plan_.fused == 2 && strides[1] == 1 && plan_.sizes[0] >= kManyStreams) {
      const int64_t read = rows << shift;
      prefetch_rows(from + std::max(read, kStreamBytesAhead), read, strides[0] << shift, plan_.sizes[0]);
      return load_block(to, from, plan_, strides, shift, plan_.fused, rows);
    }
    const int64_t step = strides[plan_.fused - 1] << shift, bytes = plan_.unit << shift;
    const int64_t piece = std::max(kPieceBytes / bytes, int64_t{1});
    for (int64_t row = 0; row < rows; row += piece, from += piece * step, to += piece * bytes) {
      const int64_t count = std::min(piece, rows - row);
      prefetch(from, strides, shift, count);
      load_block(to, from, plan_, strides, shift, plan_.fused, count);
    }
  }
  /// What comes after `from`, of one or two fused loops; more loops may leave memory out or come back to it.
  void prefetch(const std::byte* from, const int64_t* strides, int shift, int64_t rows) {
    if (plan_.fused > 2) return;
    const int64_t step = strides[plan_.fused - 1] << shift;
    const int64_t bytes = plan_.fused == 1 ? step : plan_.sizes[0] * strides[0] << shift;
    if (step <= bytes + kLine) return prefetch_rows(from + kBytesAhead, rows * step, 0, 1);
    const int64_t next = plan_.fused < plan_.ndim() ? strides[plan_.fused] << shift : 0;
    if (const int64_t later = bytes_to_later_turn(bytes, step, next); later > 0)
      return prefetch_rows(from + later, bytes, step, rows);
    const int64_t rows_ahead = (kBytesAhead + step - 1) / step;
    prefetch_rows(from + rows_ahead * step, bytes, step, rows);
  }

  /// `offset_of(output)`: the output's offset in the outer loops.
  template <class OffsetOf>
  void execute_and_store(const OffsetOf& offset_of, int64_t start, int64_t n) {
    first_.aim(registers_, offset_of(0), start, n);
    int64_t output = program_.results();
    for (TileResult& result : further_) result.aim(registers_, offset_of(--output), start, n);
    registers_.execute(n);
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
  std::forward_list<TileResult> further_;   // results, the last one first; usually none, which needs no memory
  SmallVector<const std::byte*, 8> built_;  // the data from which each periodic input's pattern was built
  SmallVector<int64_t, 8> loops_;           // that are not fused
  OuterCounter outer_;
  bool one_kernel_;
};

/// Bytes of the last-level cache that this core uses. Not sysconf: on some processors it adds up several caches.
int64_t last_cache_bytes() noexcept {
  for (const char* path :
       {"/sys/devices/system/cpu/cpu0/cache/index3/size", "/sys/devices/system/cpu/cpu0/cache/index2/size"}) {
    std::FILE* file = std::fopen(path, "r");
    if (!file) continue;
    long size = 0;
    char unit = 0;
    const bool read = std::fscanf(file, "%ld%c", &size, &unit) == 2;
    std::fclose(file);
    if (read && size > 0) return static_cast<int64_t>(size) << (unit == 'M' ? 20 : 10);
  }
  return int64_t{32} << 20;
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
void run_tiles(const Setup& setup) {
  note_run(setup, Route::tiles);
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

}  // namespace

int64_t streaming_threshold() noexcept {
  static const int64_t threshold = std::max<int64_t>(last_cache_bytes() / 4, int64_t{1} << 20);
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
  }
}

}  // namespace tenon
