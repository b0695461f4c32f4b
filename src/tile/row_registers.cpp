#include "tile/row_registers.h"

#include <algorithm>
#include <utility>

namespace tenon {

int64_t RowRegisters::value_bytes(const Program& program, const SmallVector<bool, 16>& have_lanes, int64_t rows) {
  const int64_t count = std::count(have_lanes.begin() + program.inputs(), have_lanes.end(), false);
  return count * rows * program.widest();  // exact: a part of a tile for each
}

RowRegisters::RowRegisters(const Program& program, const Slots& places, int64_t slot_bytes, std::byte* slots,
                           std::byte* values, const SmallVector<bool, 16>& have_lanes, int64_t n, int64_t most)
    : program_(program),
      places_(places),
      slot_bytes_(slot_bytes),
      slots_(slots),
      n_(n),
      lanes_(program.registers()),
      row_steps_(program.registers()),
      targets_(program.registers()),
      values_(program.registers()) {
  for (int64_t reg = 0; reg < program.registers(); ++reg) {
    const bool has_value = reg >= program.inputs() && !have_lanes[reg];
    targets_[reg] = nullptr;
    values_[reg] = has_value ? values : nullptr;
    if (has_value) values += most * program.widest();  // exact: see value_bytes
  }
}

void RowRegisters::execute(int64_t rows) {
  for (int64_t i = 0; i < program_.instructions().size();) {
    const int64_t end = i + program_.instructions()[i].chained;
    while (i < end && values_[program_.inputs() + i]) run_on_values(i++, rows);
    while (i < end) {
      if (i + 1 < end && run_chain(i, end, rows))
        i = end;
      else
        run_one(i++, rows);
    }
  }
}

std::byte* RowRegisters::begin_result(int64_t reg) {
  std::byte* const to = targets_[reg] ? targets_[reg] : slots_ + places_.of[reg] * slot_bytes_;
  lanes_[reg] = {to, 1};
  row_steps_[reg] = row_bytes(reg);
  return to;
}

/// An instruction whose operands have one value a row.
void RowRegisters::run_on_values(int64_t i, int64_t rows) {
  const Instruction& instruction = program_.instructions()[i];
  const int64_t reg = program_.inputs() + i, size = itemsize(program_.dtype(static_cast<int>(reg)));
  Lanes in[kMaxArgs];
  bool follow = true, is_one = true;
  for (int operand = 0; operand < instruction.arity; ++operand) {
    const int64_t from = instruction.in[operand], step = row_steps_[from];
    follow = follow && (step == 0 || step == itemsize(program_.dtype(static_cast<int>(from))));
    is_one = is_one && step == 0;
    in[operand] = {lanes_[from].data, step == 0 ? 0 : 1};
  }
  lanes_[reg] = {values_[reg], 0};
  row_steps_[reg] = is_one ? 0 : size;
  if (is_one) rows = 1;
  if (follow && !is_one) return instruction.kernel(values_[reg], in, rows);
  for (int64_t row = 0; row < rows; ++row) {
    for (int operand = 0; operand < instruction.arity; ++operand) {
      const int64_t from = instruction.in[operand];
      in[operand] = {static_cast<const std::byte*>(lanes_[from].data) + row * row_steps_[from], 1};
    }
    instruction.kernel(values_[reg] + row * size, in, 1);
  }
}

void RowRegisters::run_one(int64_t i, int64_t rows) {
  const Instruction& instruction = program_.instructions()[i];
  const int64_t reg = program_.inputs() + i;
  std::byte* to = begin_result(reg);
  Lanes in[kMaxArgs];
  int64_t steps[kMaxArgs];
  bool are_even = true;
  for (int operand = 0; operand < instruction.arity; ++operand) {
    const int64_t from = instruction.in[operand];
    in[operand] = lanes_[from];
    steps[operand] = row_steps_[from];
    are_even = are_even && is_even(from);
  }
  if (are_even) return instruction.kernel(to, in, rows * n_);
  if (instruction.rows) return instruction.rows(to, row_bytes(reg), in, steps, n_, rows);
  for (; rows > 0; --rows, to += row_bytes(reg)) {
    instruction.kernel(to, in, n_);
    for (int operand = 0; operand < instruction.arity; ++operand)
      in[operand].data = static_cast<const std::byte*>(in[operand].data) + steps[operand];
  }
}

/// False if the instructions are faster one by one, or begin with no lanes.
bool RowRegisters::run_chain(int64_t begin, int64_t end, int64_t rows) {
  LinkedLanes linked;
  if (!linked.link(program_, begin, end, lanes_)) return false;
  const bool are_even =
      std::all_of(linked.sources, linked.sources + linked.operands, [&](int16_t from) { return is_even(from); });
  int64_t n = n_;
  if (are_even) n *= std::exchange(rows, 1);
  if (n < kFewChained) return false;
  const int64_t reg = program_.inputs() + end - 1;
  const ChainKernel chain = kernels().chain[static_cast<int>(program_.dtype(static_cast<int>(reg)))];
  for (std::byte* to = begin_result(reg); rows > 0; --rows, to += row_bytes(reg)) {
    chain(to, linked.lanes, linked.links, linked.count, n, false);
    for (int operand = 0; operand < linked.operands; ++operand) {
      const void*& data = linked.lanes[operand].data;
      data = static_cast<const std::byte*>(data) + row_steps_[linked.sources[operand]];
    }
  }
  return true;
}

}  // namespace tenon
