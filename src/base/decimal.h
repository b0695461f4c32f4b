// base: float64 numbers from text.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>

namespace tenon {

/// Whether a number that float64 does not hold is too small for it, not too large: by the place of its first digit that
/// is no zero, and the exponent.
inline bool is_tiny(std::string_view number) noexcept {
  const std::string_view digits = number.substr(0, number.find_first_of("eE"));
  const auto first = static_cast<int64_t>(digits.find_first_of("123456789"));
  const auto point = static_cast<int64_t>(std::min(digits.find('.'), digits.size()));
  const int64_t places = first < point ? point - first : point - first + 1;
  std::string_view power = number.substr(std::min(digits.size() + 1, number.size()));
  if (!power.empty() && power[0] == '+') power.remove_prefix(1);
  int64_t exponent = 0;
  const std::errc failed = std::from_chars(power.data(), power.data() + power.size(), exponent).ec;
  if (failed == std::errc::result_out_of_range) return power[0] == '-';
  return exponent < -places;
}

/// As std::from_chars, but what is too small for a float64 is 0, as everywhere else.
inline std::from_chars_result from_decimal(const char* begin, const char* end, double& value) noexcept {
  const std::from_chars_result result = std::from_chars(begin, end, value);
  if (result.ec != std::errc::result_out_of_range || !is_tiny({begin, static_cast<std::size_t>(result.ptr - begin)}))
    return result;
  value = *begin == '-' ? -0.0 : 0.0;
  return {result.ptr, std::errc()};
}

}  // namespace tenon
