#include "tile/elements.h"

#include <algorithm>
#include <cstdlib>

#include "tile/pool.h"

namespace tenon {
namespace {

// Shorter loops are gathered: each costs a call. Bench: ./dev bench --sweep, steps.
constexpr int64_t kFewestElements = 16;
// So many turns of short loops run between two looks for an interrupt.
constexpr int64_t kMostTurns = 1024;
// Vectors gather elements as fast as they are read with shorter steps. Bench: ./dev bench --sweep, steps.
constexpr int64_t kLeastStep = 3;

bool takes_single_elements(const Program& program) {
  if (!program.is_one_kernel()) return false;
  const Instruction& instruction = program.instructions()[0];
  if (!instruction.rows || instruction.is_cast || !instruction.in_order() || instruction.in[0] != 0) return false;
  for (int input = 0; input < program.inputs(); ++input)  // the condition of `where` is narrower
    if (itemsize(program.dtype(input)) != kSingleElementBytes) return false;
  return true;
}

/// Whether an operand's lines are read again after a whole turn of the innermost loop.
bool comes_back_to_lines(const Plan& plan, const int64_t* strides) {
  if (std::abs(strides[0]) * kSingleElementBytes < kLine) return false;
  return std::any_of(strides + 1, strides + plan.ndim(),
                     [](int64_t stride) { return stride != 0 && std::abs(stride) * kSingleElementBytes < kLine; });
}

}  // namespace

bool runs_by_elements(const Plan& plan, const Program& program) {
  if (plan.ndim() == 0 || plan.sizes[0] < kFewestElements || !takes_single_elements(program)) return false;
  bool steps = false;
  for (int64_t operand = 0; operand < plan.operands.size(); ++operand) {
    const int64_t* const strides = plan.strides_of(operand);
    if (comes_back_to_lines(plan, strides)) return false;
    steps = steps || std::abs(strides[0]) >= kLeastStep;
  }
  return steps;
}

ElementRuns::ElementRuns(const Plan& plan, const Program& program, const Schedule& schedule, std::byte* out,
                         const void* const* inputs)
    : plan_(plan),
      instruction_(program.instructions()[0]),
      schedule_(schedule),
      out_(out),
      inputs_(inputs),
      out_size_(itemsize(program.dtype(program.result()))),
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
    in[i] = {static_cast<const std::byte*>(inputs_[i]) + offset(operand) * kSingleElementBytes, 1};
    steps[i] = strides[0] * kSingleElementBytes;
    turn_steps[i] = strides[next] * kSingleElementBytes;
  }
  std::byte* to = out_ + offset(0) * out_size_;
  const int64_t* const strides = plan_.strides_of(0);
  for (; turns > 0; --turns, to += strides[next] * out_size_) {
    instruction_.rows(to, strides[0] * out_size_, in, steps, 1, n);
    for (int i = 0; i < instruction_.arity; ++i) in[i].data = static_cast<const std::byte*>(in[i].data) + turn_steps[i];
  }
}

}  // namespace tenon
