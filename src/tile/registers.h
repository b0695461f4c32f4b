// tile: the registers of a Program while it runs, and the counters that walk an operand through memory. Takes loaded
// lanes; gives the lanes of the result. Shared by elementwise runs and reductions.
#pragma once
#include <bit>
#include <cstddef>

#include "plan/plan.h"
#include "tensor/recycle.h"
#include "tile/program.h"

namespace tenon {

inline int shift_of(Dtype dtype) { return std::countr_zero(static_cast<unsigned>(itemsize(dtype))); }

/// A counter over some loops of a plan, with every operand's offset (in elements) kept up to date.
class OuterCounter {
 public:
  OuterCounter(const Plan& plan, const SmallVector<int64_t, 8>& dims, int64_t start)
      : plan_(plan), dims_(dims), offsets_(plan.operands.size()), index_(dims.size()) {
    for (auto& offset : offsets_) offset = 0;
    for (int64_t i = 0; i < dims_.size(); ++i) {
      index_[i] = start % plan.sizes[dims_[i]];
      start /= plan.sizes[dims_[i]];
      move(dims_[i], index_[i]);
    }
  }
  int64_t operator[](int64_t operand) const { return offsets_[operand]; }
  void advance() {
    for (int64_t i = 0; i < dims_.size(); ++i) {
      const int64_t size = plan_.sizes[dims_[i]];
      const bool wraps = ++index_[i] == size;
      move(dims_[i], wraps ? 1 - size : 1);
      if (!wraps) return;
      index_[i] = 0;
    }
  }

 private:
  void move(int64_t dim, int64_t steps) {
    for (int64_t operand = 0; operand < offsets_.size(); ++operand)
      offsets_[operand] += steps * plan_.strides_of(operand)[dim];
  }

  const Plan& plan_;
  SmallVector<int64_t, 8> dims_;
  SmallVector<int64_t, 8> offsets_;
  SmallVector<int64_t, 8> index_;
};

/// Scratch memory of one thread: from the stack while small.
class Scratch {
 public:
  explicit Scratch(int64_t nbytes) : nbytes_(nbytes) {
    data_ =
        nbytes <= static_cast<int64_t>(sizeof(stack_)) ? stack_ : static_cast<std::byte*>(recycle::allocate(nbytes));
  }
  ~Scratch() {
    if (data_ != stack_) recycle::deallocate(data_, nbytes_);
  }
  Scratch(const Scratch&) = delete;
  Scratch& operator=(const Scratch&) = delete;
  std::byte* data() { return data_; }

 private:
  int64_t nbytes_;
  std::byte* data_;
  alignas(64) std::byte stack_[2048];
};

/// Which scratch slot each register writes to; -1: none.
struct Slots {
  SmallVector<int16_t, 16> of;
  int64_t count = 0;
};
/// An instruction's slot is free again after its last use; `in_place[i]`: input i is read where it lies.
Slots assign_slots(const Program& program, const SmallVector<bool, 8>& in_place);

class Registers {
 public:
  Registers(const Program& program, const Slots& slots, int64_t slot_bytes)
      : program_(program),
        slots_(slots),
        slot_bytes_(slot_bytes),
        scratch_(slots.count * slot_bytes),
        lanes_(program.registers()) {}

  Lanes& operator[](int64_t reg) { return lanes_[reg]; }
  std::byte* slot(int64_t reg) { return scratch_.data() + slots_.of[reg] * slot_bytes_; }

  /// Runs the instructions on the loaded lanes; the one that gives the result writes to `direct` when that is given and
  /// the result is no splat. What depends on splats alone stays one value.
  Lanes execute(std::byte* direct, int64_t n) {
    const auto& instructions = program_.instructions();
    for (int64_t i = 0; i < instructions.size(); ++i) {
      const Instruction& instruction = instructions[i];
      const int64_t reg = program_.inputs() + i;
      int64_t steps = 0;
      for (int operand = 0; operand < instruction.arity; ++operand) steps |= lanes_[instruction.in[operand]].step;
      const bool last = reg == program_.result();
      std::byte* to = last && direct && steps ? direct : slot(reg);
      Lanes copies[3];
      const Lanes* in = &lanes_[instruction.in[0]];
      if (!steps || !instruction.in_order()) in = copy(instruction, copies, !steps);
      instruction.kernel(to, in, steps ? n : 1);
      lanes_[reg] = {to, steps};
    }
    return lanes_[program_.result()];
  }

 private:
  const Lanes* copy(const Instruction& instruction, Lanes* to, bool splats) const {
    for (int operand = 0; operand < instruction.arity; ++operand) {
      to[operand] = lanes_[instruction.in[operand]];
      if (splats) to[operand].step = 1;
    }
    return to;
  }

  const Program& program_;
  const Slots& slots_;
  int64_t slot_bytes_;
  Scratch scratch_;
  SmallVector<Lanes, 16> lanes_;
};

}  // namespace tenon
