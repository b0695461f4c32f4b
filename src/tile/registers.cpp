#include "tile/registers.h"

namespace tenon {

Slots assign_slots(const Program& program, const SmallVector<bool, 8>& in_place) {
  const auto& instructions = program.instructions();
  const int64_t registers = program.registers();
  SmallVector<int16_t, 16> last_use(registers);
  for (auto& use : last_use) use = -1;
  for (int64_t i = 0; i < instructions.size(); ++i)
    for (int operand = 0; operand < instructions[i].arity; ++operand)
      last_use[instructions[i].in[operand]] = static_cast<int16_t>(i);
  Slots slots;
  slots.of.resize(registers);
  SmallVector<int16_t, 16> free;
  const auto take = [&] {
    if (free.empty()) return static_cast<int16_t>(slots.count++);
    const int16_t slot = free.back();
    free.resize(free.size() - 1);
    return slot;
  };
  // Inputs keep their slots: a pattern is reused by the next tiles.
  for (int64_t i = 0; i < program.inputs(); ++i) slots.of[i] = in_place[i] ? int16_t{-1} : take();
  for (int64_t i = 0; i < instructions.size(); ++i) {
    const Instruction& instruction = instructions[i];
    slots.of[program.inputs() + i] = take();
    for (int operand = 0; operand < instruction.arity; ++operand) {
      const int16_t reg = instruction.in[operand];
      bool seen = false;
      for (int before = 0; before < operand; ++before) seen = seen || instruction.in[before] == reg;
      if (reg >= program.inputs() && !program.is_result(reg) && last_use[reg] == i && !seen)
        free.push_back(slots.of[reg]);
    }
  }
  // A result that is an input needs a slot to be expanded from a splat.
  for (int i = 0; i < program.results(); ++i)
    if (slots.of[program.result(i)] < 0) slots.of[program.result(i)] = take();
  return slots;
}

}  // namespace tenon
