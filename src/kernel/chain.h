// kernel: chains of elementwise ops. What one op gives the next one reads from vector registers, a few vectors at a
// time: no value between them is in memory.
#pragma once
#include <cstdint>

#include "ops/row.h"

namespace tenon {

/// One op of a chain. It changes a value; what else it reads is `other`, or two numbers.
enum class Link : uint8_t {
  none,
  add,         // value + other
  sub,         // value - other
  sub_from,    // other - value
  mul,         // value * other
  square,      // value * value
  div,         // value / other
  div_into,    // other / value
  neg,         // -value
  clamp,       // clamp(value, number, number)
  clamp_low,   // clamp(value, min=number)
  clamp_high,  // clamp(value, max=number)
};

/// How an op of floats is a link whose value is operand `place`; none: it is not.
constexpr Link link_of(Op op, int place) {
  switch (op) {
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

/// The most links of a chain, and the most operands that they read.
inline constexpr int kMostLinks = 16, kMostLinkOperands = 1 + 2 * kMostLinks;

}  // namespace tenon
