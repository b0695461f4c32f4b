// tile: the registers of a Program that runs on several rows at once. Where operands stay along a row, or have gaps
// between rows, an instruction is called row by row; all others are called once for all rows, also those of one value a
// row. Takes where the rows of the inputs lie; gives those of the results, which follow each other. Bench:
// tenon_bench --filter '^fuse/(softmax|layer_norm) (by hand|both ways)/L'.
#pragma once
#include "tile/registers.h"

namespace tenon {

/// Whether each register of a Program has lanes in a row, or else one value. `is_splat(input)`.
template <class IsSplat>
SmallVector<bool, 16> registers_with_lanes(const Program& program, const IsSplat& is_splat) {
  SmallVector<bool, 16> have(program.registers());
  for (int input = 0; input < program.inputs(); ++input) have[input] = !is_splat(input);
  for (int64_t i = 0; i < program.instructions().size(); ++i) {
    const Instruction& instruction = program.instructions()[i];
    bool& has = have[program.inputs() + i] = false;
    for (int operand = 0; operand < instruction.arity; ++operand) has |= have[instruction.in[operand]];
  }
  return have;
}

class RowRegisters {
 public:
  /// Bytes for the values of registers without lanes, of so many rows.
  static int64_t value_bytes(const Program& program, const SmallVector<bool, 16>& have_lanes, int64_t rows);
  /// For up to `most` rows of `n` lanes. `slots` and `values` are its memory.
  RowRegisters(const Program& program, const Slots& places, int64_t slot_bytes, std::byte* slots, std::byte* values,
               const SmallVector<bool, 16>& have_lanes, int64_t n, int64_t most);

  /// The first row of an input, and the bytes from row to row. `step`: 0 or 1.
  void read(int64_t input, const std::byte* from, int64_t step, int64_t row_step) {
    lanes_[input] = {from, step};
    row_steps_[input] = row_step;
  }
  /// A register is written there from now on; null: to its slot. It has lanes.
  void aim(int64_t reg, std::byte* to) { targets_[reg] = to; }
  void execute(int64_t rows);
  const Lanes& operator[](int64_t reg) const { return lanes_[reg]; }
  int64_t row_bytes(int64_t reg) const { return n_ << shift_of(program_.dtype(static_cast<int>(reg))); }

 private:
  /// Run an instruction, or the chain of instructions [begin, end).
  void run_one(int64_t i, int64_t rows);
  void run_on_values(int64_t i, int64_t rows);
  bool run_chain(int64_t begin, int64_t end, int64_t rows);
  /// Where the instruction of a register writes its rows.
  std::byte* begin_result(int64_t reg);
  /// Whether the rows of a register are one run, or one value.
  bool is_even(int64_t reg) const { return row_steps_[reg] == (lanes_[reg].step == 0 ? 0 : row_bytes(reg)); }

  const Program& program_;
  const Slots& places_;
  const int64_t slot_bytes_;
  std::byte* const slots_;
  const int64_t n_;
  SmallVector<Lanes, 16> lanes_;         // of each register in the first row
  SmallVector<int64_t, 16> row_steps_;   // in bytes
  SmallVector<std::byte*, 16> targets_;  // where results go; null: to the register's slot
  SmallVector<std::byte*, 16> values_;   // of each row, of registers that have no lanes; null: of others
};

}  // namespace tenon
