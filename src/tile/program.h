// tile: a straight line of instructions over tile registers. An eager op is a Program of one op and the casts it needs;
// a fused expression is a longer one; an op with several results is an instruction for each, over the same registers.
// Takes ops and dtypes; gives what run() executes. Never knows shapes.
#pragma once
#include <algorithm>
#include <bit>

#include "base/small_vector.h"
#include "kernel/chain.h"
#include "kernel/kernel.h"

namespace tenon {

inline int shift_of(Dtype dtype) { return std::countr_zero(static_cast<unsigned>(itemsize(dtype))); }

/// A register holds one tile of one dtype. Registers [0, inputs) are loaded; each instruction writes the next one.
struct Instruction {
  Kernel kernel;
  Kernel streamed;  // the kernel with streaming stores; null: none
  int8_t arity;
  int16_t in[kMaxArgs];
  Op op = {};        // of no cast
  Dtype dtype = {};  // that the op computes in, or the cast gives
  bool is_cast = false;
  RowsKernel rows = nullptr;  // the kernel for rows; null: none
  int8_t chained = 1;         // instructions of the chain that begins here; 1: itself
  // In a chain, but for its first instruction: the operand that the one before gives, and what it is then.
  int8_t value = 0;
  Link link = Link::none;

  /// Whether its inputs are neighbouring registers: then their Lanes need no copy, which would wait for the stores
  /// before it.
  bool in_order() const noexcept {
    for (int operand = 1; operand < arity; ++operand)
      if (in[operand] != in[0] + operand) return false;
    return true;
  }
};

/// How an instruction is a link of a chain whose value is operand `place`; none: it is not. Functions that take longer
/// than a load and a store gain nothing.
Link link_of(const Instruction& instruction, int place);

class Program {
 public:
  /// Adds an input; all inputs come before the first instruction.
  int input(Dtype dtype) {
    dtypes_.push_back(dtype);
    result_ = inputs_;
    return inputs_++;
  }
  /// Adds a conversion, unless `from` already has that dtype.
  [[gnu::always_inline]] int cast(int from, Dtype dtype) {
    if (dtypes_[from] == dtype) return from;
    return append_cast(from, dtype);
  }
  /// Adds a copy of a register.
  int copy(int from) { return append_cast(from, dtypes_[from]); }
  /// Adds an op over registers of its compute dtype. Throws Error if the op has no kernel for it.
  int op(Op op, Dtype compute, Dtype result, int arity, const int* in) {
    const int reg = append(kernel_of(op, compute), streamed_kernel_of(op, compute), result, arity, in);
    instructions_.back().rows = rows_kernel_of(op, compute);
    instructions_.back().op = op;
    instructions_.back().dtype = compute;
    return reg;
  }

  /// Adds an op over 16-bit floats and numbers in float32 (kernel/kernel.h: beside_numbers).
  int op_beside_numbers(Op op, Dtype half, int arity, const int* in) {
    const auto row = static_cast<std::size_t>(op), column = half_column(half);
    const int reg =
        append(kernels().beside_numbers[row][column], kernels().beside_numbers_streamed[row][column], half, arity, in);
    instructions_.back().op = op;
    instructions_.back().dtype = half;
    return reg;
  }

  /// Notes which instructions are chains: each reads what the one before gives, and nothing else does. Call it when the
  /// Program is finished.
  void join_chains();

  /// Names the register that holds the first result; without a call it is the last one.
  void finish(int reg) noexcept { result_ = reg; }
  /// Names the register of one more result, which may hold another one, too.
  void add_result(int reg) { further_.push_back(reg); }

  int inputs() const noexcept { return inputs_; }
  int registers() const noexcept { return static_cast<int>(dtypes_.size()); }
  int results() const noexcept { return 1 + static_cast<int>(further_.size()); }
  int result(int i = 0) const noexcept { return i == 0 ? result_ : further_[i - 1]; }
  bool is_result(int reg) const noexcept {
    return reg == result_ || std::find(further_.begin(), further_.end(), reg) != further_.end();
  }
  Dtype dtype(int reg) const noexcept { return dtypes_[reg]; }
  /// Whether it is one instruction that gives the one result.
  bool is_one_kernel() const noexcept { return instructions_.size() == 1 && further_.empty() && result_ == inputs_; }
  /// Whether it only copies its input.
  bool copies() const noexcept {
    return is_one_kernel() && inputs_ == 1 && instructions_[0].is_cast && dtypes_[0] == dtypes_[1];
  }
  /// Whether a register's instruction has streaming stores and no other instruction reads what it wrote.
  bool streams_last(int reg) const noexcept {
    const auto reads = [reg](const Instruction& instruction) {
      return std::find(instruction.in, instruction.in + instruction.arity, reg) != instruction.in + instruction.arity;
    };
    return instructions_[reg - inputs_].streamed && std::none_of(instructions_.begin(), instructions_.end(), reads);
  }
  /// Bytes of an element of the widest register.
  int64_t widest() const noexcept {
    int64_t bytes = 1;
    for (Dtype dtype : dtypes_) bytes = itemsize(dtype) > bytes ? itemsize(dtype) : bytes;
    return bytes;
  }
  const SmallVector<Instruction, 8>& instructions() const noexcept { return instructions_; }
  /// The number of instructions and chains that run one after the other.
  int64_t steps() const noexcept {
    int64_t count = 0;
    for (int64_t i = 0; i < instructions_.size(); i += instructions_[i].chained) ++count;
    return count;
  }

 private:
  [[gnu::noinline]] int append_cast(int from, Dtype dtype) {
    const int source = static_cast<int>(dtypes_[from]), target = static_cast<int>(dtype);
    const int reg = append(kernels().cast[source][target], kernels().cast_streamed[source][target], dtype, 1, &from);
    instructions_.back().dtype = dtype;
    instructions_.back().is_cast = true;
    return reg;
  }
  int append(Kernel kernel, Kernel streamed, Dtype dtype, int arity, const int* in) {
    Instruction& instruction = instructions_.add();
    instruction.kernel = kernel;
    instruction.streamed = streamed;
    instruction.rows = nullptr;
    instruction.arity = static_cast<int8_t>(arity);
    for (int operand = 0; operand < arity; ++operand) instruction.in[operand] = static_cast<int16_t>(in[operand]);
    instruction.op = {};
    instruction.is_cast = false;
    instruction.chained = 1;
    dtypes_.push_back(dtype);
    return result_ = registers() - 1;
  }

  int inputs_ = 0;
  int result_ = -1;
  SmallVector<int, 4> further_;    // the registers of all results but the first
  SmallVector<Dtype, 16> dtypes_;  // of each register
  SmallVector<Instruction, 8> instructions_;
};

}  // namespace tenon
