#include "type/overflow.h"

#include <cmath>
#include <limits>
#include <type_traits>

#include "tenon/error.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// The largest finite value of a floating type.
template <class T>
constexpr double largest() {
  if constexpr (is_complex_v<T>)
    return largest<typename T::value_type>();
  else if constexpr (std::is_same_v<T, Float16>)
    return 65504;
  else if constexpr (std::is_same_v<T, BFloat16>)
    return 0x1.FEp+127;
  else
    return static_cast<double>(std::numeric_limits<T>::max());
}

template <class T>
bool integer_overflows(int64_t value) {
  if constexpr (std::is_same_v<T, uint64_t>) {
    return false;
  } else if constexpr (std::is_integral_v<T>) {
    constexpr int64_t max = std::numeric_limits<T>::max();
    constexpr int64_t min = std::is_signed_v<T> ? static_cast<int64_t>(std::numeric_limits<T>::min()) : -max;
    return value < min || value > max;
  } else {
    return std::abs(static_cast<double>(value)) > largest<T>();
  }
}

/// Whether an integer above the largest int64 overflows T.
template <class T>
bool wide_overflows(uint64_t value) {
  if constexpr (std::is_integral_v<T>) return !std::is_same_v<T, uint64_t>;
  return static_cast<double>(value) > largest<T>();
}

template <class T>
bool float_overflows(double value) {
  if constexpr (!std::is_integral_v<T>) return std::isfinite(value) && std::abs(value) > largest<T>();
  // The bounds are rounded to double, so that 2^63 passes for int64: it wraps, as in PyTorch.
  else
    return !(value >= static_cast<double>(std::numeric_limits<T>::min()) && value <= largest<T>());
}

/// The element type as PyTorch's source spells it.
const char* source_type_name(Dtype dtype) {
  return visit_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>) return detail::source_type_name<T>();
    return cpp_type_name(dtype);
  });
}

}  // namespace

bool overflows(Scalar value, Dtype dtype) noexcept {
  if (dtype == bool_) return false;
  if (value.is_complex()) {
    const Complex128 parts = value.as_complex();
    if (!is_complex(dtype)) return parts.im != 0 || overflows(parts.re, dtype);
    return overflows(parts.re, to_real(dtype)) || overflows(parts.im, to_real(dtype));
  }
  return visit_dtype(dtype, [&]<class T>() {
    if (value.is_wide()) return wide_overflows<T>(static_cast<uint64_t>(value.as_int64()));
    return value.is_floating() ? float_overflows<T>(value.as_double()) : integer_overflows<T>(value.as_int64());
  });
}

double largest_finite(Dtype dtype) noexcept {
  return visit_dtype(dtype, []<class T>() { return largest<T>(); });
}

void check_fits(Scalar value, Dtype dtype) {
  if (overflows(value, dtype)) detail::fail_conversion(source_type_name(dtype));
}

}  // namespace tenon
