// base: numbers from decimal text, and to it.
#pragma once
#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

namespace tenon {

/// Tells whether a number outside float64's range is too small, not too large. Looks at the position of the first
/// nonzero digit and at the exponent.
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

/// Like std::from_chars, but a number too small for a float64 gives 0.
inline std::from_chars_result from_decimal(const char* begin, const char* end, double& value) noexcept {
  const std::from_chars_result result = std::from_chars(begin, end, value);
  if (result.ec != std::errc::result_out_of_range || !is_tiny({begin, static_cast<std::size_t>(result.ptr - begin)}))
    return result;
  value = *begin == '-' ? -0.0 : 0.0;
  return {result.ptr, std::errc()};
}

/// Appends the shortest digits that give the number back.
template <class T>
void append_decimal(std::string& text, T number) {
  char digits[40];
  text.append(digits, std::to_chars(digits, digits + sizeof digits, number).ptr);
}

}  // namespace tenon
