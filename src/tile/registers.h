// tile: the registers of a running Program, and the counters of outer loops. Takes loaded lanes; gives the lanes of the
// results. Used by elementwise runs and reductions.
#pragma once
#include <cstddef>
#include <cstring>

#include "plan/plan.h"
#include "tile/prefetch.h"
#include "tile/program.h"
#include "tile/streamed.h"

namespace tenon {

/// A counter over some loops of a plan, with every operand's offset (in elements) kept up to date.
class OuterCounter {
 public:
  /// Allocates all its memory. `loops` must outlive it. Call `go_to` first.
  OuterCounter(const Plan& plan, const SmallVector<int64_t, 8>& loops)
      : plan_(plan), loops_(loops), offsets_(plan.operands.size()), index_(loops.size()) {}
  void go_to(int64_t start) {
    for (auto& offset : offsets_) offset = 0;
    for (int64_t i = 0; i < loops_.size(); ++i) {
      index_[i] = start % plan_.sizes[loops_[i]];
      start /= plan_.sizes[loops_[i]];
      move(loops_[i], index_[i]);
    }
  }
  int64_t operator[](int64_t operand) const { return offsets_[operand]; }
  /// By one turn of the first loop, or by several that it has left.
  void advance(int64_t turns = 1) {
    for (int64_t i = 0; i < loops_.size(); ++i, turns = 1) {
      const int64_t size = plan_.sizes[loops_[i]];
      index_[i] += turns;
      const bool wraps = index_[i] == size;
      move(loops_[i], wraps ? turns - size : turns);
      if (!wraps) return;
      index_[i] = 0;
    }
  }
  /// Turns of the first loop from here to its end.
  int64_t left() const { return loops_.empty() ? 1 : plan_.sizes[loops_[0]] - index_[0]; }

 private:
  void move(int64_t dim, int64_t steps) {
    for (int64_t operand = 0; operand < offsets_.size(); ++operand)
      offsets_[operand] += steps * plan_.strides_of(operand)[dim];
  }

  const Plan& plan_;
  const SmallVector<int64_t, 8>& loops_;
  SmallVector<int64_t, 8> offsets_;
  SmallVector<int64_t, 8> index_;
};

/// The loops of a plan from `first` on.
inline SmallVector<int64_t, 8> loops_from(const Plan& plan, int64_t first) {
  SmallVector<int64_t, 8> loops;
  for (int64_t loop = first; loop < plan.ndim(); ++loop) loops.push_back(loop);
  return loops;
}

/// Which scratch slot each register writes to; -1: none.
struct Slots {
  SmallVector<int16_t, 16> of;
  int64_t count = 0;
};
/// Slots are reused after a register's last use. `in_place[i]`: input i is read from its own memory.
Slots assign_slots(const Program& program, const SmallVector<bool, 8>& in_place);

// Chains of fewer lanes are computed op by op. Bench: tenon_bench --filter '^fuse/chain/10'.
inline constexpr int64_t kFewChained = 64;

/// A chain, and the lanes that it reads.
struct LinkedLanes {
  /// The chain of instructions [begin, end). False if it does not begin with lanes.
  bool link(const Program& program, int64_t begin, int64_t end, const SmallVector<Lanes, 16>& registers) {
    const Instruction& first = program.instructions()[begin];
    const int8_t place = registers[first.in[0]].step == 0 && first.arity > 1 ? 1 : 0;
    const Link first_link = link_of(first, place);
    if (registers[first.in[place]].step == 0 || first_link == Link::none) return false;
    read(first.in[place], registers);
    add(first, place, first_link, registers);
    for (int64_t i = begin + 1; i < end; ++i) {
      const Instruction& instruction = program.instructions()[i];
      add(instruction, instruction.value, instruction.link, registers);
    }
    return true;
  }

  /// Copies the number that lies where the result goes: a slot is free after its last use, but a chain reads its
  /// numbers until it ends.
  void keep_number(const std::byte* to, int64_t size) {
    for (int operand = 0; operand < operands; ++operand)
      if (lanes[operand].step == 0 && lanes[operand].data == to)
        lanes[operand].data = std::memcpy(number, to, static_cast<std::size_t>(size));
  }

  Lanes lanes[kMostLinkOperands];
  int16_t sources[kMostLinkOperands];  // the registers that they lie in
  Link links[kMostLinks];
  int operands = 0, count = 0;
  alignas(double) std::byte number[sizeof(double)];

 private:
  void read(int16_t reg, const SmallVector<Lanes, 16>& registers) {
    sources[operands] = reg;
    lanes[operands++] = registers[reg];
  }
  /// `place`: the operand that the chain changes.
  void add(const Instruction& instruction, int place, Link link, const SmallVector<Lanes, 16>& registers) {
    links[count++] = link;
    for (int operand = 0; operand < instruction.arity; ++operand)
      if (operand != place && link != Link::square) read(instruction.in[operand], registers);
  }
};

class Registers {
 public:
  Registers(const Program& program, const Slots& slots, int64_t slot_bytes)
      : program_(program),
        slots_(slots),
        slot_bytes_(slot_bytes),
        scratch_(slots.count * slot_bytes),
        lanes_(program.registers()),
        targets_(program.registers()) {
    for (Target& target : targets_) target = {};
  }

  Lanes& operator[](int64_t reg) { return lanes_[reg]; }
  std::byte* memory() { return scratch_.data(); }
  std::byte* slot(int64_t reg) { return scratch_.data() + slots_.of[reg] * slot_bytes_; }

  /// The instruction of register `reg` writes to `to` from now on, unless its result is one value. Null: to its slot.
  /// `streamed`: for streaming stores; null: ordinary ones.
  void aim(int64_t reg, std::byte* to, StreamedOutput* streamed) { targets_[reg] = {to, streamed}; }
  /// Runs the instructions on the loaded lanes. Results of splats only stay one value.
  void execute(int64_t n) {
    for (int64_t i = 0; i < program_.instructions().size();) i = execute_step(i, n);
  }
  /// The same, while what follows the lanes of some inputs in memory is prefetched, a part before each step. There are
  /// at least two steps.
  void execute_ahead(int64_t n, const SmallVector<int, 4>& inputs) {
    const int64_t turns = program_.steps() - 1;
    int64_t next = execute_step(0, n);
    for (int64_t turn = 0; turn < turns; ++turn) {
      for (const int input : inputs) {
        const int64_t bytes = n * itemsize(program_.dtype(input));  // exact: of a tile
        const int64_t begin = bytes * turn / turns, end = bytes * (turn + 1) / turns;
        prefetch_rows(static_cast<const std::byte*>(lanes_[input].data) + bytes + begin, end - begin, 0, 1);
      }
      next = execute_step(next, n);
    }
  }

 private:
  struct Target {
    std::byte* to;
    StreamedOutput* streamed;
  };

  /// Runs instruction i, or the chain that begins there. Returns the one after it.
  int64_t execute_step(int64_t i, int64_t n) {
    const int64_t end = i + program_.instructions()[i].chained;
    if (end > i + 1 && n >= kFewChained) {
      // What is computed of single values comes first.
      while (i < end && steps_of(program_.instructions()[i]) == 0) execute_one(i++, n);
      if (i + 1 < end && execute_chain(i, end, n)) return end;
    }
    while (i < end) execute_one(i++, n);
    return end;
  }
  /// False if the chain does not begin with lanes.
  bool execute_chain(int64_t begin, int64_t end, int64_t n) {
    LinkedLanes linked;
    if (!linked.link(program_, begin, end, lanes_)) return false;
    const int64_t reg = program_.inputs() + end - 1;
    const Dtype dtype = program_.dtype(static_cast<int>(reg));
    const ChainKernel chain = kernels().chain[static_cast<int>(dtype)];
    const auto run = [&](bool streams) {
      return [&linked, chain, streams](std::byte* to, const Lanes* in, int64_t lanes) {
        chain(to, in, linked.links, linked.count, lanes, streams);
      };
    };
    const Target target = targets_[reg];
    std::byte* const to = target.to ? target.to : slot(reg);
    lanes_[reg] = {to, 1};
    linked.keep_number(to, itemsize(dtype));
    if (to != target.to || !target.streamed) {
      run(false)(to, linked.lanes, n);
      return true;
    }
    int64_t steps[kMostLinkOperands];
    for (int operand = 0; operand < linked.operands; ++operand)
      steps[operand] = linked.lanes[operand].step << shift_of(dtype);
    run_streamed(run(false), run(true), to, shift_of(dtype), linked.lanes, linked.operands, steps, n, *target.streamed);
    return true;
  }

  void execute_one(int64_t i, int64_t n) {
    const Instruction& instruction = program_.instructions()[i];
    const int64_t reg = program_.inputs() + i, steps = steps_of(instruction);
    const Target target = targets_[reg];
    std::byte* to = target.to && steps ? target.to : slot(reg);
    Lanes copies[kMaxArgs];
    const Lanes* in = &lanes_[instruction.in[0]];
    lanes_[reg] = {to, steps};
    if (to == target.to && target.streamed)
      return run_streamed(instruction, to, program_, static_cast<int>(reg), copy(instruction, copies, false), n,
                          *target.streamed);
    if (!steps || !instruction.in_order()) in = copy(instruction, copies, !steps);
    instruction.kernel(to, in, steps ? n : 1);
  }
  int64_t steps_of(const Instruction& instruction) const {
    int64_t steps = 0;
    for (int operand = 0; operand < instruction.arity; ++operand) steps |= lanes_[instruction.in[operand]].step;
    return steps;
  }
  Lanes* copy(const Instruction& instruction, Lanes* to, bool splats) const {
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
  SmallVector<Target, 16> targets_;
};

}  // namespace tenon
