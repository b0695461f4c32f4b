// kernel: chains of elementwise ops. What one op gives the next one reads from vector registers, a few vectors at a
// time: no value between them is in memory.
#pragma once
#include <cstdint>

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

/// The most links of a chain, and the most operands that they read.
inline constexpr int kMostLinks = 16, kMostLinkOperands = 1 + 2 * kMostLinks;

}  // namespace tenon
