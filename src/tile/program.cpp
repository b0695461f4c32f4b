#include "tile/program.h"

#include <algorithm>

namespace tenon {

Link link_of(const Instruction& instruction, int place) {
  if (instruction.is_cast) return Link::none;
  if (instruction.op == Op::mul && instruction.in[0] == instruction.in[1]) return Link::square;
  switch (instruction.op) {
    case Op::add:
      return Link::add;
    case Op::sub:
      return place == 0 ? Link::sub : Link::sub_from;
    case Op::mul:
      return Link::mul;
    case Op::div:
      return place == 0 ? Link::div : Link::div_into;
    case Op::neg:
      return Link::neg;
    case Op::clamp_scalar:
      return place == 0 ? Link::clamp : Link::none;
    case Op::clamp_low_scalar:
    case Op::clamp_min_scalar:
      return place == 0 ? Link::clamp_low : Link::none;
    case Op::clamp_high_scalar:
    case Op::clamp_max_scalar:
      return place == 0 ? Link::clamp_high : Link::none;
    default:
      return Link::none;
  }
}

void Program::join_chains() {
  SmallVector<int, 16> uses(registers());
  for (int& count : uses) count = 0;
  for (const Instruction& instruction : instructions_)
    for (int operand = 0; operand < instruction.arity; ++operand) ++uses[instruction.in[operand]];
  /// The operand of instruction i that the one before gives to it alone; -1: none.
  const auto place_of_value = [&](int64_t i) {
    const Instruction& instruction = instructions_[i];
    const int before = inputs_ + static_cast<int>(i) - 1;
    if (is_result(before) || dtypes_[before] != dtypes_[before + 1]) return -1;
    const int16_t* const found = std::find(instruction.in, instruction.in + instruction.arity, before);
    if (found == instruction.in + instruction.arity) return -1;
    const int place = static_cast<int>(found - instruction.in);
    const Link link = link_of(instruction, place);
    return link != Link::none && uses[before] == (link == Link::square ? 2 : 1) ? place : -1;
  };
  for (int64_t i = 0; i + 1 < instructions_.size();) {
    Instruction& first = instructions_[i];
    const bool begins = kernels().chain[static_cast<int>(dtypes_[inputs_ + i])] && link_of(first, 0) != Link::none;
    int count = 1;
    for (; begins && count < kMostLinks && i + count < instructions_.size(); ++count) {
      const int place = place_of_value(i + count);
      if (place < 0) break;
      instructions_[i + count].value = static_cast<int8_t>(place);
      instructions_[i + count].link = link_of(instructions_[i + count], place);
    }
    first.chained = static_cast<int8_t>(count);
    i += count;
  }
}

}  // namespace tenon
