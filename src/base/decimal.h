// base: float64 numbers from text.
#pragma once
#include <charconv>
#include <cmath>

namespace tenon {

/// As std::from_chars, but what is too small for a float64 is 0, as everywhere else.
inline std::from_chars_result from_decimal(const char* begin, const char* end, double& value) noexcept {
  const std::from_chars_result result = std::from_chars(begin, end, value);
  long double wide = 0;
  if (result.ec != std::errc::result_out_of_range || std::from_chars(begin, end, wide).ec != std::errc()) return result;
  if (std::fabs(wide) >= 1) return result;
  value = static_cast<double>(wide);
  return {result.ptr, std::errc()};
}

}  // namespace tenon
