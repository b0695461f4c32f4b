#include "tile/elements.h"

#include <algorithm>
#include <cstdlib>

#include "kernel/kernel.h"
#include "tile/pool.h"

namespace tenon {
namespace {

// Shorter loops are gathered: each costs a call; of one operand with steps, and of two. Bench: ./dev bench --sweep,
// steps.
constexpr int64_t kFewestElements = 16, kFewestOfTwo = 8;
// Elements of 4 bytes that lie closer together are gathered by shuffles, which is faster. Bench: the same.
constexpr int64_t kSkippedElements = 4;
// Rows that are a tile each take as long as so many elements one by one. Bench: the same.
constexpr int64_t kShortTile = 512;
// Tiles of longer rows are faster where they stream the result. Bench: the same.
constexpr int64_t kStreamedRow = 128;
// So many turns of short loops run between two looks for an interrupt.
constexpr int64_t kMostTurns = 1024;

/// Whether the Program is a kernel for rows of its two inputs.
bool takes_rows(const Program& program) {
  if (!program.is_one_kernel()) return false;
  const Instruction& instruction = program.instructions()[0];
  return instruction.rows && instruction.arity == 2 && instruction.in_order() && instruction.in[0] == 0;
}

/// Whether an operand's lines are read again after a whole turn of the innermost loop.
bool comes_back_to_lines(const Plan& plan, const int64_t* strides, int64_t bytes) {
  if (std::abs(strides[0]) * bytes < kLine) return false;
  return std::any_of(strides + 1, strides + plan.ndim(),
                     [bytes](int64_t stride) { return stride != 0 && std::abs(stride) * bytes < kLine; });
}

/// Whether tiles are short rows, because rows lie apart, or are copied to their places. With AVX-512 only steps of the
/// result count: masks store what is left of a row. Bench: ./dev bench --sweep, steps.
bool has_short_tiles(const Plan& plan, bool streams) {
  const int64_t* const strides = plan.strides_of(0);
  if (std::abs(strides[0]) > 1) return true;
  if (kernels().vector_bytes >= kLine) return false;
  if (plan.fused == plan.ndim()) return plan.operands[0].access != AccessPattern::direct;
  return plan.flat < kShortTile && (!streams || strides[plan.fused] != plan.flat);
}

/// Whether vectors pick the elements that have steps, and others lie in rows, which tiles would copy.
bool gathers_rows(const Plan& plan, int64_t bytes) {
  constexpr int64_t kLongestStep = 4, kVectorBytes = 32;
  if (plan.ndim() < 2 || plan.sizes[0] * bytes <= kVectorBytes || plan.sizes[0] >= kShortTile) return false;
  bool steps = false, copies = false;
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
    const int64_t *const strides = plan.strides_of(operand), step = strides[0];
    if (step < 0 || step > (operand < plan.outputs ? 1 : kLongestStep)) return false;
    steps |= step > 1;
    copies |= step == 0 || (step == 1 && strides[1] != plan.sizes[0]);
  }
  return steps && copies;
}

}  // namespace

bool runs_by_elements(const Plan& plan, const Program& program, bool streams) {
  if (plan.ndim() == 0 || !takes_rows(program)) return false;
  const int64_t bytes = itemsize(program.instructions()[0].dtype);
  const bool is_short = plan.sizes[0] < kStreamedRow;
  if ((!streams || is_short) && gathers_rows(plan, bytes)) return true;
  if (plan.sizes[0] < kFewestOfTwo || bytes < kSingleElementBytes) return false;
  int64_t longest = 1, skipped = 0, stepped = 0;  // steps, elements that these leave out, and operands that have them
  bool has_column = false;
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
    const int64_t* const strides = plan.strides_of(operand);
    if (comes_back_to_lines(plan, strides, bytes)) return false;
    const int64_t step = std::max(std::abs(strides[0]), int64_t{1});
    has_column |= strides[0] == 0;
    longest = std::max(longest, step);
    skipped += step - 1;
    stepped += step > 1;
  }
  // Beyond the caches tiles that stream their result are faster beside a column and for one step of two; with vectors
  // of whole lines for two of them, too. Bench: ./dev bench --sweep, steps.
  if (streams && kernels().vector_bytes < kLine && !has_column && skipped > 1) return true;
  if (streams && longest == 2 && stepped > 1) return false;
  if (has_short_tiles(plan, streams)) return skipped > 0;
  if (plan.sizes[0] < kFewestElements && stepped == 1) return false;
  return skipped >= (bytes == kSingleElementBytes ? kSkippedElements : 1);
}

ElementRuns::ElementRuns(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
                         const void* const* inputs)
    : plan_(plan),
      instruction_(program.instructions()[0]),
      schedule_(schedule),
      out_(out),
      inputs_(inputs),
      in_size_(itemsize(instruction_.dtype)),
      out_size_(itemsize(program.dtype(program.result()))),
      gathers_(gathers_rows(plan, in_size_)),
      loops_(loops_from(plan, 1)),
      outer_(plan, loops_) {}

void ElementRuns::run(int64_t begin, int64_t end) {
  const int64_t per_loop = schedule_.per_loop, size = plan_.sizes[0];
  outer_.go_to(begin / per_loop);
  int64_t piece = begin % per_loop;
  for (int64_t tile = begin, turns = 1; tile < end; tile += turns) {
    check_interrupt();
    const int64_t start = piece * schedule_.tile;
    if (per_loop == 1) turns = std::min({end - tile, outer_.left(), kMostTurns});
    run_turns(start, std::min(schedule_.tile, size - start), turns);
    if (++piece < per_loop) continue;
    piece = 0;
    outer_.advance(turns);
  }
}

/// Elements [start, start + n) of the innermost loop, in some turns of the next one.
void ElementRuns::run_turns(int64_t start, int64_t n, int64_t turns) {
  const int64_t next = plan_.ndim() > 1 ? 1 : 0;
  // exact: within the operands' memory
  const auto offset = [&](int64_t operand) { return outer_[operand] + start * plan_.strides_of(operand)[0]; };
  Lanes in[kMaxArgs];
  int64_t steps[kMaxArgs], turn_steps[kMaxArgs];
  for (int i = 0; i < instruction_.arity; ++i) {
    const int64_t operand = plan_.input(i), *const strides = plan_.strides_of(operand);
    in[i] = {static_cast<const std::byte*>(inputs_[i]) + offset(operand) * in_size_, 1};
    steps[i] = strides[0] * in_size_;
    turn_steps[i] = strides[next] * in_size_;
  }
  std::byte* to = out_ + offset(0) * out_size_;
  if (gathers_) return run_rows(to, in, turn_steps, n, turns);
  const int64_t* const strides = plan_.strides_of(0);
  for (; turns > 0; --turns, to += strides[next] * out_size_) {
    instruction_.rows(to, strides[0] * out_size_, in, steps, 1, n);
    for (int i = 0; i < instruction_.arity; ++i) in[i].data = static_cast<const std::byte*>(in[i].data) + turn_steps[i];
  }
}

/// Whole rows, some at a time. `in`: operands at their first element.
void ElementRuns::run_rows(std::byte* to, Lanes* in, const int64_t* turn_steps, int64_t n, int64_t turns) {
  // From beyond the caches few rows at a time, so that the processor reads the operands' streams ahead. Bench: ./dev
  // bench --sweep, steps.
  constexpr int64_t kNearBytes = 4096, kFarBytes = 512, kRowBytes = kShortTile * kMaxItemsize;
  const int64_t together = schedule_.is_far ? kFarBytes : kNearBytes;
  alignas(kLine) std::byte gathered[2][kRowBytes];
  const MoveKernels& move = kernels().move[shift_of(instruction_.dtype)];
  const auto gather = schedule_.gathers_far ? move.gather_far : move.gather;
  const int64_t most = std::max(together / in_size_ / n, int64_t{1}), out_step = plan_.strides_of(0)[1] * out_size_;
  for (int64_t rows; turns > 0; turns -= rows, to += rows * out_step) {
    rows = std::min(turns, most);
    Lanes lanes[2];
    int64_t steps[2];
    for (int i = 0; i < 2; ++i) {
      const int64_t operand = plan_.input(i), *const strides = plan_.strides_of(operand);
      lanes[i] = {in[i].data, strides[0]};
      steps[i] = turn_steps[i];
      if (strides[0] > 1) {
        gather(gathered[i], in[i].data, strides[0], n, strides[1], rows);
        lanes[i] = {gathered[i], 1};
        steps[i] = n * in_size_;
      }
      in[i].data = static_cast<const std::byte*>(in[i].data) + rows * turn_steps[i];
    }
    instruction_.rows(to, out_step, lanes, steps, n, rows);
  }
}

}  // namespace tenon
