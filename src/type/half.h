// type: the two 16-bit floats, bit by bit. Branch-free, so that a compiler turns a loop over them into vectors.
#pragma once
#include <bit>
#include <cstdint>

namespace tenon {

/// Rounds to nearest even; every NaN becomes the quiet NaN.
constexpr uint16_t bfloat16_bits(float value) noexcept {
  const uint32_t bits = std::bit_cast<uint32_t>(value);
  const uint32_t rounded = (bits + 0x7FFFu + ((bits >> 16) & 1u)) >> 16;
  return static_cast<uint16_t>(value != value ? 0x7FC0u : rounded);
}
constexpr float bfloat16_value(uint16_t bits) noexcept {
  return std::bit_cast<float>(static_cast<uint32_t>(bits) << 16);
}

/// Multiplies by powers of two so that the float unit does the rounding; after M. Dukhan,
/// https://github.com/Maratyszcza/FP16.
constexpr uint16_t float16_bits(float value) noexcept {
  const float magnitude = std::bit_cast<float>(std::bit_cast<uint32_t>(value) & 0x7FFFFFFFu);
  const uint32_t twice = std::bit_cast<uint32_t>(value) << 1;
  const uint32_t sign = std::bit_cast<uint32_t>(value) & 0x80000000u;
  const float scaled = (magnitude * 0x1.0p+112f) * 0x1.0p-110f;
  const uint32_t bias = (twice & 0xFF000000u) < 0x71000000u ? 0x71000000u : (twice & 0xFF000000u);
  const uint32_t bits = std::bit_cast<uint32_t>(std::bit_cast<float>((bias >> 1) + 0x07800000u) + scaled);
  const uint32_t magnitude_bits = ((bits >> 13) & 0x00007C00u) + (bits & 0x00000FFFu);
  return static_cast<uint16_t>((sign >> 16) | (twice > 0xFF000000u ? 0x7E00u : magnitude_bits));
}
constexpr float float16_value(uint16_t half) noexcept {
  const uint32_t word = static_cast<uint32_t>(half) << 16;
  const uint32_t sign = word & 0x80000000u;
  const uint32_t twice = word + word;
  const float normal = std::bit_cast<float>((twice >> 4) + (0xE0u << 23)) * 0x1.0p-112f;
  const float subnormal = std::bit_cast<float>((twice >> 17) | (126u << 23)) - 0.5f;
  const uint32_t bits = twice < (1u << 27) ? std::bit_cast<uint32_t>(subnormal) : std::bit_cast<uint32_t>(normal);
  return std::bit_cast<float>(sign | bits);
}

}  // namespace tenon
