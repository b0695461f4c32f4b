// type: takes a dtype; gives its C++ type. The only switch over dtypes: all code that touches elements uses it.
#pragma once
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tenon/dtype.h"
#include "type/half.h"

namespace tenon {

/// Calls `visitor.template operator()<T>()` with the C++ type of `dtype`:
/// `visit_dtype(x.dtype(), [&]<class T>() { ... });`
template <class Visitor>
decltype(auto) visit_dtype(Dtype dtype, Visitor&& visitor) {
  switch (dtype) {
    case Dtype::bool_:
      return std::forward<Visitor>(visitor).template operator()<bool>();
    case Dtype::uint8:
      return std::forward<Visitor>(visitor).template operator()<uint8_t>();
    case Dtype::int8:
      return std::forward<Visitor>(visitor).template operator()<int8_t>();
    case Dtype::int16:
      return std::forward<Visitor>(visitor).template operator()<int16_t>();
    case Dtype::int32:
      return std::forward<Visitor>(visitor).template operator()<int32_t>();
    case Dtype::int64:
      return std::forward<Visitor>(visitor).template operator()<int64_t>();
    case Dtype::uint16:
      return std::forward<Visitor>(visitor).template operator()<uint16_t>();
    case Dtype::uint32:
      return std::forward<Visitor>(visitor).template operator()<uint32_t>();
    case Dtype::uint64:
      return std::forward<Visitor>(visitor).template operator()<uint64_t>();
    case Dtype::float16:
      return std::forward<Visitor>(visitor).template operator()<Float16>();
    case Dtype::bfloat16:
      return std::forward<Visitor>(visitor).template operator()<BFloat16>();
    case Dtype::float32:
      return std::forward<Visitor>(visitor).template operator()<float>();
    case Dtype::float64:
      return std::forward<Visitor>(visitor).template operator()<double>();
    case Dtype::complex64:
      return std::forward<Visitor>(visitor).template operator()<Complex64>();
    case Dtype::complex128:
      return std::forward<Visitor>(visitor).template operator()<Complex128>();
  }
  __builtin_unreachable();
}

template <class T>
inline constexpr bool is_complex_v = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
template <class T>
inline constexpr bool is_half_v = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
template <class T>
inline constexpr bool is_floating_v = std::is_floating_point_v<T> || is_half_v<T>;

/// A floating number truncated to an integer as x86 does it: out of range, and for NaN, the smallest `Int`.
template <class Int>
constexpr Int truncate(double value) noexcept {
  constexpr double bound = -static_cast<double>(std::is_same_v<Int, int64_t> ? INT64_MIN : INT32_MIN);
  // Truncation drops a fraction, so the range starts just above -bound - 1. Near 2^63 doubles have no fractions.
  constexpr double below = std::is_same_v<Int, int64_t> ? 0 : 1;
  const bool fits =
      std::is_same_v<Int, int64_t> ? value >= -bound && value < bound : value > -bound - below && value < bound;
  return fits                           ? static_cast<Int>(value)
         : std::is_same_v<Int, int64_t> ? static_cast<Int>(INT64_MIN)
                                        : static_cast<Int>(INT32_MIN);
}

/// Converts one element, as `Tensor.to` does. Floats are truncated toward 0; integers wrap; a complex number gives its
/// real part. A float out of range gives what PyTorch gives on x86: uint8 and uint32 are the low bits of an int64, the
/// other small integers those of an int32; for uint64, 2^63 is subtracted first from numbers that are not below it.
template <class To, class From>
constexpr To element_cast(From value) noexcept {
  if constexpr (std::is_same_v<To, From>)
    return value;
  else if constexpr (is_complex_v<To> && is_complex_v<From>)
    return {static_cast<typename To::value_type>(value.re), static_cast<typename To::value_type>(value.im)};
  else if constexpr (is_complex_v<To>)
    return {element_cast<typename To::value_type>(value), 0};
  else if constexpr (is_complex_v<From> && std::is_same_v<To, bool>)
    return value.re != 0 || value.im != 0;
  else if constexpr (is_complex_v<From>)
    return element_cast<To>(value.re);
  else if constexpr (std::is_same_v<From, Float16>)
    return element_cast<To>(float16_value(value.bits));
  else if constexpr (std::is_same_v<From, BFloat16>)
    return element_cast<To>(bfloat16_value(value.bits));
  else if constexpr (std::is_same_v<To, Float16>)
    return Float16{float16_bits(static_cast<float>(value))};
  else if constexpr (std::is_same_v<To, BFloat16>)
    return BFloat16{bfloat16_bits(static_cast<float>(value))};
  else if constexpr (std::is_same_v<To, bool>)
    return value != From{0};
  else if constexpr (std::is_same_v<To, uint64_t> && std::is_floating_point_v<From>) {
    constexpr From half = From{9223372036854775808.0};
    return value >= half
               ? static_cast<uint64_t>(truncate<int64_t>(static_cast<double>(value - half))) ^ (uint64_t{1} << 63)
               : static_cast<uint64_t>(truncate<int64_t>(static_cast<double>(value)));
  } else if constexpr (std::is_integral_v<To> && std::is_floating_point_v<From>) {
    constexpr bool is_wide = std::is_same_v<To, uint8_t> || std::is_same_v<To, uint32_t> || std::is_same_v<To, int64_t>;
    using Through = std::conditional_t<is_wide, int64_t, int32_t>;
    return static_cast<To>(truncate<Through>(static_cast<double>(value)));
  } else {
    return static_cast<To>(value);
  }
}

/// The dtype that holds a number exactly.
constexpr Dtype dtype_of_number(Scalar number) noexcept {
  constexpr Dtype kByKind[] = {int64, int64, uint64, float64, complex128};
  return kByKind[static_cast<int>(number.kind())];
}

/// A number as an element of type T.
template <class T>
constexpr T scalar_to(Scalar value) noexcept {
  if (value.is_complex()) return element_cast<T>(value.as_complex());
  if (value.is_wide()) return element_cast<T>(static_cast<uint64_t>(value.as_int64()));
  return value.is_floating() ? element_cast<T>(value.as_double()) : element_cast<T>(value.as_int64());
}

/// An element as a number, without loss.
template <class T>
constexpr Scalar to_scalar(T value) noexcept {
  if constexpr (is_half_v<T>)
    return Scalar(element_cast<float>(value));
  else
    return Scalar(value);
}

}  // namespace tenon
