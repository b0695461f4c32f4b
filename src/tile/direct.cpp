#include "tile/direct.h"

#include <algorithm>

#include "kernel/copy_run.h"
#include "tile/pool.h"
#include "tile/prefetch.h"

namespace tenon {
namespace {

// In rows longer than this, a short first call brings the output to a cache line: vectors that cross lines would cost
// more. Bench: tenon_bench --filter '^large/(row|equal)/(odd|offset)'.
constexpr int64_t kLongRow = 1024;
// Elements between two checks for an interrupt: less than a millisecond of work.
constexpr int64_t kUninterrupted = 1 << 20;

bool is_periodic(const Plan& plan, int64_t operand) { return plan.operands[operand].access == AccessPattern::periodic; }

// Short rows are prefetched together, about so many bytes of them: a kernel call for each would cost more than they do.
// Bench: ./dev bench --sweep, permuted.
constexpr int64_t kAheadBytes = 1024;

// The processor does not see where the next row begins if there are so many bytes between them.
constexpr int64_t kJumpGapBytes = 256;
// So far ahead such rows are prefetched; longer ones are left to the processor, and shorter ones but of copies. Bench:
// ./dev bench --sweep, permuted, copies and gaps.
constexpr int64_t kAheadOfJumpBytes = 6144, kShortJumpBytes = 128;

// So many rows the processor reads ahead at a time, if the next turn continues each. Bench: the same.
constexpr int64_t kContinuedRows = 8;

/// Whether such rows are far apart.
bool is_jump(int64_t bytes, int64_t row_step) { return std::abs(row_step) - bytes >= kJumpGapBytes; }

/// Whether a turn reads a few rows, of `bytes` bytes, which the next turn continues.
bool continues_rows(const Plan& plan, int64_t operand, int64_t bytes, int shift) {
  const int64_t next = plan.fused + 1;
  if (next >= plan.ndim() || plan.sizes[plan.fused] > kContinuedRows) return false;
  return !is_jump(bytes, plan.strides_of(operand)[next] * (int64_t{1} << shift));
}

/// The length of a repeated pattern, so that a piece may begin anywhere in it.
int64_t pattern_elements(const Plan& plan, int64_t operand, int64_t piece) {
  return piece + plan.operands[operand].length;
}

/// Whether lanes may be computed whose result nobody wants: not where that may raise an error.
bool may_run_over(const Instruction& instruction) {
  if (instruction.is_cast) return true;
  if (is_custom(instruction.op)) return false;
  const Row& row = row_of(instruction.op);
  return !row.may_throw && !row.divides_integers;
}

/// Rows may be short: with the number of operands known, few instructions are left beside the kernel. Bench:
/// tenon_bench --filter '^large/column/L1'.
template <int kOperands>
void call_for_rows(Kernel kernel, Rows out, Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  for (; rows > 0; --rows) {
    kernel(out.to, in, n);
    out.to += out.step;
    for (int operand = 0; operand < kOperands; ++operand)
      in[operand].data = static_cast<const std::byte*>(in[operand].data) + steps[operand];
  }
}
static_assert(kMaxArgs == 4);

/// The same with two calls for each row. `lane_steps`: bytes from one lane of an input to the next.
void call_twice_for_rows(Kernel kernel, Rows out, const Instruction& instruction, Lanes* in, const int64_t* steps,
                         const int64_t* lane_steps, int shift, int64_t n, RowCalls calls, int64_t rows) {
  const int64_t start = n - calls.last;
  for (; rows > 0; --rows, out.to += out.step) {
    Lanes last[kMaxArgs];
    kernel(out.to, in, calls.first);
    for (int operand = 0; operand < instruction.arity; ++operand) {
      const auto* const data = static_cast<const std::byte*>(in[operand].data);
      last[operand] = {data + start * lane_steps[operand], in[operand].step};
      in[operand].data = data + steps[operand];
    }
    kernel(out.to + (start << shift), last, calls.last);
  }
}

/// Bytes from an operand's first element to the end of its last one.
int64_t bytes_of_operand(const Plan& plan, int64_t operand, int shift) {
  int64_t last = plan.flat - 1;
  for (int64_t dim = plan.fused; dim < plan.ndim(); ++dim)
    last += (plan.sizes[dim] - 1) * std::max<int64_t>(plan.strides_of(operand)[dim], 0);  // exact: inside the storage
  return (last + 1) << shift;
}

/// Whether long runs are copied as they are to a result that leaves the first-level cache. One run that is repeated
/// comes from there. Bench: ./dev bench --sweep, copies.
bool copies_far(const Plan& plan, const Program& program, const Schedule& schedule) {
  constexpr int64_t kRepeatedRun = 24 << 10;
  if (!program.copies() || schedule.store != StoreMode::in_place || schedule.pattern > 0) return false;
  const int64_t size = itemsize(program.dtype(program.result()));
  const bool repeats = plan.fused < plan.ndim() && plan.strides_of(1)[plan.fused] == 0;
  return std::min(plan.flat, schedule.tile) * size >= (repeats ? kRepeatedRun : kFarCopyRun) &&
         plan.numel * size >= kFarCopyBytes;
}

}  // namespace

bool has_patterns(const Plan& plan) {
  for (int64_t operand = 1; operand < plan.operands.size(); ++operand)
    if (is_periodic(plan, operand)) return true;
  return false;
}

int64_t pattern_bytes(const Plan& plan, const Program& program, int64_t piece) {
  if (piece == 0) return 0;
  int64_t bytes = 0;
  const Instruction& instruction = program.instructions()[0];
  for (int operand = 0; operand < instruction.arity; ++operand) {
    const int i = instruction.in[operand];
    if (!is_periodic(plan, i + 1)) continue;
    bytes += (pattern_elements(plan, i + 1, piece) * itemsize(program.dtype(i)) + kLine - 1) / kLine * kLine;
  }
  return bytes;
}

bool runs_directly(const Plan& plan, const Program& program) {
  if (!program.is_one_kernel() || plan.operands[0].access != AccessPattern::direct) return false;
  bool moves = program.copies();  // results that are one value are computed once, but for copies
  for (int64_t operand = 1; operand < plan.operands.size(); ++operand) {
    const AccessPattern access = plan.operands[operand].access;
    if (access != AccessPattern::direct && access != AccessPattern::splat && access != AccessPattern::periodic)
      return false;
    moves = moves || access != AccessPattern::splat;
  }
  return moves;
}

bool has_short_jumps(const Plan& plan, const Program& program) {
  if (plan.fused >= plan.ndim() || program.instructions()[0].is_cast) return false;
  for (int input = 0; input < program.inputs(); ++input) {
    const int64_t operand = plan.input(input), size = itemsize(program.dtype(input)), bytes = plan.flat * size;
    if (plan.operands[operand].access == AccessPattern::direct && bytes < kShortJumpBytes &&
        is_jump(bytes, plan.strides_of(operand)[plan.fused] * size))
      return true;
  }
  return false;
}

DirectRuns::DirectRuns(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
                       const void* const* inputs)
    : plan_(plan),
      instruction_(program.instructions()[0]),
      schedule_(schedule),
      rows_(plan.fused < plan.ndim() ? plan.sizes[plan.fused] : 1),
      patterns_(schedule.scratch_bytes - schedule.staging_bytes),
      streamed_(schedule.staging_bytes),
      loops_(loops_from(plan, plan.fused + (schedule.per_loop > 1 ? 0 : 1))),
      outer_(plan, loops_) {
  const auto row_step = [&](int64_t operand) {
    return plan.fused < plan.ndim() ? plan.strides_of(operand)[plan.fused] : 0;
  };
  out_.base = out;
  out_.shift = shift_of(program.dtype(program.result()));
  out_.row_step = row_step(0) * (int64_t{1} << out_.shift);
  narrowest_ = int64_t{1} << out_.shift;
  follows_ = out_.row_step == plan.flat << out_.shift;
  runs_over_ = may_run_over(instruction_) && follows_;
  int64_t pattern = 0;
  for (int operand = 0; operand < instruction_.arity; ++operand) {
    const int i = instruction_.in[operand];
    Operand& in = in_[operand];
    narrowest_ = std::min<int64_t>(narrowest_, itemsize(program.dtype(i)));
    overlaps_itself_ = overlaps_itself_ || program.dtype(i) == float16 || program.dtype(i) == bfloat16;
    in.base = static_cast<const std::byte*>(inputs[i]);
    in.shift = shift_of(program.dtype(i));
    in.row_step = row_step(i + 1) * (int64_t{1} << in.shift);
    in.length = plan.operands[i + 1].length;
    if (plan.operands[i + 1].access == AccessPattern::direct && schedule.is_far && schedule.per_loop == 1) {
      const int64_t bytes = plan.flat << in.shift;
      in.row_bytes = bytes_before_gap(bytes, in.row_step);
      in.jumps = in.row_bytes == 0 && bytes <= kAheadOfJumpBytes && is_jump(bytes, in.row_step) &&
                 (bytes >= kShortJumpBytes || instruction_.is_cast) && !continues_rows(plan, i + 1, bytes, in.shift);
      reads_ahead_ = reads_ahead_ || in.row_bytes > 0 || in.jumps;
      if (in.jumps && turns_ahead_ == 0) look_ahead(bytes);
    }
    const bool is_splat = plan.operands[i + 1].access == AccessPattern::splat;
    lanes_[operand].step = is_splat ? 0 : 1;
    runs_over_ = runs_over_ && (is_splat || in.row_step == plan.flat << in.shift);
    steps_[operand] = lanes_[operand].step << in.shift;
    if (!is_periodic(plan, i + 1)) continue;
    in.pattern = pattern;
    pattern += ((pattern_elements(plan, i + 1, schedule_.pattern) << in.shift) + kLine - 1) / kLine * kLine;
  }
  moves_ = program.copies() && follows_ && lanes_[0].step == 1;
  copies_far_ = copies_far(plan, program, schedule) && lanes_[0].step == 1 && !reads_ahead_;
  if (schedule.streams() && instruction_.is_cast) [[unlikely]]
    stream_copies(program);
}

/// Decides whether rows are streamed from where they lie.
[[gnu::noinline]] void DirectRuns::stream_copies(const Program& program) {
  const int input = instruction_.in[0];
  if (program.dtype(input) != instruction_.dtype || !follows_ || plan_.flat << out_.shift > kAheadOfJumpBytes) return;
  if (schedule_.per_loop > 1 || schedule_.pattern > 0 || lanes_[0].step == 0) return;
  copied_.emplace();
  copied_end_ = in_[0].base + bytes_of_operand(plan_, input + 1, in_[0].shift);
}

bool DirectRuns::fills_blocks(const std::byte* to, int64_t n) {
  return place_in_line(to) == 0 && n % kStreamedLanes == 0;
}

void DirectRuns::run(int64_t begin, int64_t end) {
  const bool cut = schedule_.per_loop > 1;
  const int64_t per_turn = cut ? schedule_.per_loop : rows_;
  const int64_t most = std::max(kUninterrupted / (cut ? schedule_.tile : plan_.flat), int64_t{1});
  outer_.go_to(begin / per_turn);
  if (turns_ahead_ > 0) [[unlikely]]
    later_->go_to(begin / per_turn + turns_ahead_);
  for (int64_t t = begin, first = begin % per_turn, count; t < end; t += count) {
    check_interrupt();
    count = std::min({per_turn - first, end - t, most});
    if (cut)
      run_rows(first * schedule_.tile, 0, std::min(count * schedule_.tile, plan_.flat - first * schedule_.tile), 1);
    else
      run_rows(0, first, plan_.flat, count);
    first += count;
    if (first < per_turn) continue;
    first = 0;
    outer_.advance();
    if (turns_ahead_ > 0) [[unlikely]]
      later_->advance();
  }
  streamed_.flush();
  if (copied_) [[unlikely]]
    copied_->flush();
}

/// Runs `rows` rows of `n` elements from element `start` of row `row`, at the outer loops' current index.
void DirectRuns::run_rows(int64_t start, int64_t row, int64_t n, int64_t rows) {
  std::byte* to = const_cast<std::byte*>(at(out_.base, outer_[0] + start, out_.shift)) + row * out_.row_step;
  const std::byte* from[kMaxArgs] = {};
  for (int operand = 0; operand < instruction_.arity; ++operand) {
    const Operand& in = in_[operand];
    const int64_t along = in.pattern < 0 ? start * steps_[operand] : 0;  // pieces begin at whole patterns
    from[operand] = at(in.base, outer_[instruction_.in[operand] + 1], in.shift) + along + row * in.row_step;
  }
  first_row_ = row;
  if (copied_) [[unlikely]]
    return run_copies(to, from[0], rows);
  if (copies_far_) [[unlikely]] {
    for (; rows > 0; --rows, to += out_.row_step, from[0] += in_[0].row_step) copy_far(to, from[0], n << out_.shift);
    return;
  }
  if (schedule_.pattern == 0) {
    const bool on_lines = place_in_line(to) == 0 && out_.row_step % kLine == 0;
    if (schedule_.store == StoreMode::in_place && (on_lines || n < kLongRow))
      return run_whole_rows(instruction_.kernel, to, from, n, rows);
    if (schedule_.store == StoreMode::joined) return run_joined(to, from, n, rows);
    if (fills_blocks(to, n) && out_.row_step % kLine == 0)
      return run_whole_rows(instruction_.streamed, to, from, n, rows);
  }
  for (; rows > 0; --rows) {
    run_pieces(to, from, n);
    if (reads_ahead_) read_ahead(from, first_row_++, 1, rows == 1);
    to += out_.row_step;
    for (int operand = 0; operand < instruction_.arity; ++operand) from[operand] += in_[operand].row_step;
  }
}

/// Decides how far ahead rows of so many bytes are prefetched: in their turn, or if it is short, in a later one.
[[gnu::noinline]] void DirectRuns::look_ahead(int64_t bytes) {
  const int64_t ahead = (kAheadOfJumpBytes + bytes - 1) / bytes;
  turns_ahead_ = (ahead + rows_ - 1) / rows_;
  rows_ahead_ = ahead < rows_ ? ahead : rows_;
  later_.emplace(plan_, loops_);
}
/// Prefetches what follows `count` rows of an input, of which `from` is row `first` of its turn.
[[gnu::always_inline]] inline void DirectRuns::prefetch_jumps(int operand, const std::byte* from, int64_t first,
                                                              int64_t count) const {
  const Operand& in = in_[operand];
  const int64_t bytes = plan_.flat << in.shift;
  const auto prefetch_from = [&](const std::byte* row, int64_t rows) __attribute__((always_inline)) {
    for (; rows > 0; --rows, row += in.row_step)
      for (int64_t line = 0; line < bytes; line += kLine) __builtin_prefetch(row + line);
  };
  const int64_t row = first + rows_ahead_, inside = std::clamp(rows_ - row, int64_t{0}, count);
  prefetch_from(from + rows_ahead_ * in.row_step, inside);
  if (inside == count) return;
  const std::byte* const later = at(in.base, (*later_)[instruction_.in[operand] + 1], in.shift);
  prefetch_from(later + (row + inside - rows_) * in.row_step, count - inside);
}

/// What should be in the caches before it is read, beside `rows` rows.
void DirectRuns::read_ahead(const std::byte* const* from, int64_t first, int64_t rows, bool are_last) const {
  for (int operand = 0; operand < instruction_.arity; ++operand) {
    const Operand& in = in_[operand];
    if (in.row_bytes > 0 && !are_last) read_gap(from[operand], in.row_bytes, in.row_step);
    if (in.jumps) prefetch_jumps(operand, from[operand], first, rows);
  }
}

/// Two calls, unless `to` is an input, whose lanes must not be computed twice.
RowCalls DirectRuns::row_calls(const std::byte* to, int64_t n) const {
  if (overlaps_itself_) return {n, 0};
  for (int operand = 0; operand < instruction_.arity; ++operand)
    if (lanes_[operand].data == to) return {n, 0};
  return RowCalls::of(n, narrowest_);
}

/// Calls the kernel for each row, and advances `from` beyond the rows.
void DirectRuns::run_whole_rows(Kernel kernel, std::byte* to, const std::byte** from, int64_t n, int64_t rows) {
  if (!reads_ahead_) return call_for_whole_rows(kernel, to, from, n, rows);
  const int64_t together = std::max<int64_t>(1, kAheadBytes / (n << out_.shift));
  for (int64_t count = 0; rows > 0; rows -= count, to += count * out_.row_step) {
    count = std::min(together, rows);
    const std::byte* row[kMaxArgs] = {};
    std::copy_n(from, instruction_.arity, row);
    call_for_whole_rows(kernel, to, from, n, count);
    read_ahead(row, first_row_, count, rows == count);
    first_row_ += count;
  }
}
void DirectRuns::call_for_whole_rows(Kernel kernel, std::byte* to, const std::byte** from, int64_t n, int64_t rows) {
  int64_t steps[kMaxArgs];
  for (int operand = 0; operand < instruction_.arity; ++operand) {
    lanes_[operand].data = from[operand];
    steps[operand] = in_[operand].row_step;
    from[operand] += rows * steps[operand];
  }
  if (moves_ && kernel == instruction_.kernel)
    return kernels().move[0].gather(to, lanes_[0].data, 1, n << out_.shift, steps[0], rows);
  if (instruction_.rows && rows > 1 && kernel == instruction_.kernel)
    return instruction_.rows(to, out_.row_step, lanes_, steps, n, rows);
  const RowCalls calls = row_calls(to, n);
  if (calls.last > 0 && rows > 1 && runs_over_) {
    // Not where one call is enough: a store just before what the next row loads, in memory a multiple of 4096 bytes
    // away, delays that load.
    if (const int64_t whole = whole_lanes(n); whole <= n + n / 4) {
      call(kernel, {to, out_.row_step}, steps, whole, rows - 1);
      to += (rows - 1) * out_.row_step;
      for (int operand = 0; operand < instruction_.arity; ++operand)
        lanes_[operand].data = from[operand] - steps[operand];
      rows = 1;
    }
  }
  if (calls.last > 0)
    return call_twice_for_rows(kernel, {to, out_.row_step}, instruction_, lanes_, steps, steps_, out_.shift, n, calls,
                               rows);
  call(kernel, {to, out_.row_step}, steps, n, rows);
}
void DirectRuns::call(Kernel kernel, Rows out, const int64_t* steps, int64_t n, int64_t rows) {
  const auto run = instruction_.arity == 1   ? call_for_rows<1>
                   : instruction_.arity == 2 ? call_for_rows<2>
                   : instruction_.arity == 3 ? call_for_rows<3>
                                             : call_for_rows<4>;
  run(kernel, out, lanes_, steps, n, rows);
}
/// The lanes of a row and of the beginning of the next one that fill half vectors.
int64_t DirectRuns::whole_lanes(int64_t n) const {
  const int64_t block = kernels().vector_bytes / 2 / narrowest_;
  return (n + block - 1) / block * block;
}

/// Copies rows with streaming stores: long ones from where they lie, short ones by one call for some of them.
[[gnu::noinline]] void DirectRuns::run_copies(std::byte* to, const std::byte* from, int64_t rows) {
  const Operand& in = in_[0];
  const int64_t bytes = plan_.flat << in.shift;
  const bool are_long = bytes >= StreamedRuns::kLong;
  const int64_t together = are_long ? 1 : kJoinedBytes / bytes;
  for (int64_t count = 0; rows > 0; rows -= count, first_row_ += count, from += count * in.row_step) {
    count = std::min(together, rows);
    if (reads_ahead_) read_ahead(&from, first_row_, count, rows == count);
    if (are_long) {
      copied_->go_to(to);
      copied_->append(from, bytes, copied_end_ - from);
    } else {
      kernels().move[0].gather(streamed_.staging(to), from, 1, bytes, in.row_step, count);
      streamed_.commit(count * bytes);
    }
    to += count * bytes;
  }
}

/// Gathers short rows to whole cache lines and stores those.
void DirectRuns::run_joined(std::byte* to, const std::byte** from, int64_t n, int64_t rows) {
  const int64_t longest = kJoinedBytes >> out_.shift, most = follows_ ? std::max(longest / n, int64_t{1}) : 1;
  for (int64_t count; rows > 0; rows -= count) {
    count = std::min(most, rows);
    if (n > longest) {
      run_pieces(to, from, n);
      for (int operand = 0; operand < instruction_.arity; ++operand) from[operand] += in_[operand].row_step;
    } else {
      run_whole_rows(instruction_.kernel, streamed_.staging(to), from, n, count);
      streamed_.commit((count * n) << out_.shift);
    }
    to += count * out_.row_step;
  }
}

/// One row in pieces. Each piece begins on a cache line of the output, at any element of a pattern.
void DirectRuns::run_pieces(std::byte* to, const std::byte* const* from, int64_t n) {
  const int64_t longest = schedule_.pattern > 0                  ? schedule_.pattern
                          : schedule_.store == StoreMode::joined ? kJoinedBytes >> out_.shift
                                                                 : n;
  for (int64_t start = 0; start < n;) {
    const int64_t before = start == 0 && longest < n ? place_in_line(to) >> out_.shift : 0;
    const int64_t m = std::min(longest - before, n - start);
    for (int operand = 0; operand < instruction_.arity; ++operand) {
      const Operand& in = in_[operand];
      lanes_[operand].data = in.pattern < 0 ? from[operand] + start * steps_[operand]
                                            : pattern_of(operand, from[operand]) + (start % in.length << in.shift);
    }
    run_piece(to, m);
    to += m << out_.shift;
    start += m;
  }
}

void DirectRuns::run_piece(std::byte* to, int64_t n) {
  if (schedule_.store == StoreMode::streamed)
    return run_streamed(instruction_, to, out_.shift, lanes_, steps_, n, streamed_);
  if (schedule_.store == StoreMode::in_place) return run_on_lines(instruction_, to, out_.shift, lanes_, steps_, n);
  instruction_.kernel(streamed_.staging(to), lanes_, n);
  streamed_.commit(n << out_.shift);
}

const std::byte* DirectRuns::pattern_of(int operand, const std::byte* from) {
  Operand& in = in_[operand];
  std::byte* pattern = patterns_.data() + in.pattern;
  if (in.built == from) return pattern;
  const int64_t i = instruction_.in[operand] + 1;
  build_pattern(pattern, from, plan_, plan_.strides_of(i), in.shift, in.length,
                pattern_elements(plan_, i, schedule_.pattern));
  in.built = from;
  return pattern;
}

}  // namespace tenon
