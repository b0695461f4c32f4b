#include "tile/program_rows.h"

#include <algorithm>

#include "tile/blocks.h"
#include "tile/pool.h"

namespace tenon {
namespace {

bool is_splat(const Plan& plan, int input) { return plan.operands[plan.input(input)].access == AccessPattern::splat; }
SmallVector<bool, 16> have_lanes(const Plan& plan, const Program& program) {
  return registers_with_lanes(program, [&](int input) { return is_splat(plan, input); });
}

bool reads_in_place(const Plan& plan, const Program& program) {
  for (int input = 0; input < program.inputs(); ++input) {
    const AccessPattern access = plan.operands[plan.input(input)].access;
    if (access != AccessPattern::direct && access != AccessPattern::splat) return false;
  }
  return true;
}

/// Whether rows are so short that one by one they would be put together to lines anyway.
bool are_short(const Plan& plan) { return plan.flat < kShortStream; }

/// Whether an instruction writes each result, to memory or to the lines that are streamed, and rows follow each other
/// without gaps.
bool writes_whole_rows(const Plan& plan, const Program& program, const Schedule& schedule) {
  const SmallVector<bool, 16> have = have_lanes(plan, program);
  for (int result = 0; result < program.results(); ++result) {
    const int reg = program.result(result);
    if (schedule.store_of(result) == StoreMode::scattered || reg < program.inputs() || !have[reg]) return false;
    if (plan.strides_of(result)[plan.fused] != plan.flat) return false;
    for (int before = 0; before < result; ++before)
      if (program.result(before) == reg) return false;
  }
  return true;
}

}  // namespace

int64_t ProgramRows::rows_of(const Plan& plan, const Program& program, const Schedule& schedule, int64_t most) {
  // One chain of longer rows is called for each row.
  const bool is_call_a_row = program.steps() < 2 && (program.instructions().size() < 2 || plan.flat >= kFewChained);
  if (is_call_a_row || plan.fused == plan.ndim() || schedule.tile != plan.flat) return 1;
  if (schedule.is_far && !are_short(plan)) return 1;
  const int64_t rows = std::min(most / plan.flat, plan.sizes[plan.fused]);
  return rows > 1 && reads_in_place(plan, program) && writes_whole_rows(plan, program, schedule) ? rows : 1;
}

int64_t ProgramRows::value_bytes(const Plan& plan, const Program& program, int64_t rows) {
  return rows > 1 ? RowRegisters::value_bytes(program, have_lanes(plan, program), rows) : 0;
}

ProgramRows::ProgramRows(const Plan& plan, const Program& program, const Schedule& schedule, void* const* outs,
                         const void* const* inputs)
    : plan_(plan),
      program_(program),
      schedule_(schedule),
      outs_(outs),
      inputs_(inputs),
      scratch_(schedule.slots.count * schedule.slot_bytes + value_bytes(plan, program, schedule.rows)),
      loops_(loops_from(plan, plan.fused)),
      outer_(plan, loops_),
      registers_(program, schedule.slots, schedule.slot_bytes, scratch_.data(),
                 scratch_.data() + schedule.slots.count * schedule.slot_bytes, have_lanes(plan, program), plan.flat,
                 schedule.rows) {
  for (int result = 0; result < program.results() && schedule.staging_bytes > 0; ++result)
    streamed_.push_back(std::make_unique<StreamedOutput>(schedule.staging_bytes_of(program, result)));
}

void ProgramRows::run(int64_t begin, int64_t end) {
  for (int64_t row = begin; row < end;) {
    outer_.go_to(row);
    const int64_t turns = std::min(outer_.left(), end - row);
    for (int64_t turn = 0; turn < turns; turn += schedule_.rows) {
      check_interrupt();
      run_tile(turn, std::min(schedule_.rows, turns - turn));
    }
    row += turns;
  }
  for (const auto& output : streamed_) output->flush();
}

void ProgramRows::run_tile(int64_t row, int64_t rows) {
  // exact: inside the operand
  const auto offset_of = [&](int64_t operand) {
    return outer_[operand] + row * plan_.strides_of(operand)[plan_.fused];
  };
  for (int input = 0; input < program_.inputs(); ++input) {
    const int64_t operand = plan_.input(input);
    const int shift = shift_of(program_.dtype(input));
    registers_.read(input, at(inputs_[input], offset_of(operand), shift), is_splat(plan_, input) ? 0 : 1,
                    plan_.strides_of(operand)[plan_.fused] * (int64_t{1} << shift));
  }
  for (int result = 0; result < program_.results(); ++result) {
    const int reg = program_.result(result);
    std::byte* to = static_cast<std::byte*>(outs_[result]) + (offset_of(result) << shift_of(program_.dtype(reg)));
    if (schedule_.streams(result)) to = streamed_[static_cast<std::size_t>(result)]->staging(to);
    registers_.aim(reg, to);
  }
  registers_.execute(rows);
  for (int result = 0; result < program_.results(); ++result)
    if (schedule_.streams(result))
      streamed_[static_cast<std::size_t>(result)]->commit(rows * registers_.row_bytes(program_.result(result)));
}

}  // namespace tenon
