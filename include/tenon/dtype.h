// type: dtypes, numbers and promotion. Takes dtypes; gives the common and the result dtype. Never touches memory.
#pragma once
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "tenon/export.h"

namespace tenon {

// clang-format off
enum class Dtype : uint8_t {
  bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64,
};
// clang-format on
inline constexpr int kDtypeCount = 13;

inline constexpr Dtype bool_ = Dtype::bool_;
inline constexpr Dtype uint8 = Dtype::uint8;
inline constexpr Dtype int8 = Dtype::int8;
inline constexpr Dtype int16 = Dtype::int16;
inline constexpr Dtype int32 = Dtype::int32;
inline constexpr Dtype int64 = Dtype::int64;
inline constexpr Dtype uint16 = Dtype::uint16;
inline constexpr Dtype uint32 = Dtype::uint32;
inline constexpr Dtype uint64 = Dtype::uint64;
inline constexpr Dtype float16 = Dtype::float16;
inline constexpr Dtype bfloat16 = Dtype::bfloat16;
inline constexpr Dtype float32 = Dtype::float32;
inline constexpr Dtype float64 = Dtype::float64;

/// IEEE binary16: 1 sign, 5 exponent, 10 mantissa bits. Arithmetic is done in float32.
struct Float16 {
  uint16_t bits;
};
/// The upper half of a float32. Arithmetic is done in float32.
struct BFloat16 {
  uint16_t bits;
};

/// Round to nearest even; NaN stays NaN.
TENON_API Float16 to_float16(float value) noexcept;
TENON_API float to_float(Float16 value) noexcept;
TENON_API BFloat16 to_bfloat16(float value) noexcept;
TENON_API float to_float(BFloat16 value) noexcept;

/// The dtype that holds a C++ type.
template <class T>
struct dtype_of;
template <>
struct dtype_of<bool> {
  static constexpr Dtype value = Dtype::bool_;
};
template <>
struct dtype_of<uint8_t> {
  static constexpr Dtype value = Dtype::uint8;
};
template <>
struct dtype_of<int8_t> {
  static constexpr Dtype value = Dtype::int8;
};
template <>
struct dtype_of<int16_t> {
  static constexpr Dtype value = Dtype::int16;
};
template <>
struct dtype_of<int32_t> {
  static constexpr Dtype value = Dtype::int32;
};
template <>
struct dtype_of<int64_t> {
  static constexpr Dtype value = Dtype::int64;
};
template <>
struct dtype_of<uint16_t> {
  static constexpr Dtype value = Dtype::uint16;
};
template <>
struct dtype_of<uint32_t> {
  static constexpr Dtype value = Dtype::uint32;
};
template <>
struct dtype_of<uint64_t> {
  static constexpr Dtype value = Dtype::uint64;
};
template <>
struct dtype_of<Float16> {
  static constexpr Dtype value = Dtype::float16;
};
template <>
struct dtype_of<BFloat16> {
  static constexpr Dtype value = Dtype::bfloat16;
};
template <>
struct dtype_of<float> {
  static constexpr Dtype value = Dtype::float32;
};
template <>
struct dtype_of<double> {
  static constexpr Dtype value = Dtype::float64;
};
template <class T>
inline constexpr Dtype dtype_of_v = dtype_of<T>::value;

inline constexpr int8_t kItemsizes[kDtypeCount] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8};
/// Bytes of one element.
constexpr int64_t itemsize(Dtype dtype) noexcept { return kItemsizes[static_cast<int>(dtype)]; }
constexpr bool is_floating_point(Dtype dtype) noexcept { return dtype >= Dtype::float16; }
constexpr bool is_integral(Dtype dtype) noexcept { return dtype >= Dtype::uint8 && dtype <= Dtype::uint64; }
/// uint16, uint32 and uint64: stored, moved and cast like any other, but they promote to floating dtypes alone.
constexpr bool is_wide_unsigned(Dtype dtype) noexcept { return dtype >= Dtype::uint16 && dtype <= Dtype::uint64; }

constexpr bool is_signed(Dtype dtype) noexcept { return dtype > Dtype::uint8 && !is_wide_unsigned(dtype); }

/// "float32": the name in Python.
TENON_API const char* dtype_name(Dtype dtype) noexcept;
/// "Float": the name PyTorch's error texts use.
TENON_API const char* scalar_type_name(Dtype dtype) noexcept;
/// "long int": the name some of those texts use instead, the compiler's.
TENON_API const char* cpp_type_name(Dtype dtype) noexcept;
/// The dtype of a name such as "float32", "f32", "half" or "bool". ValueError for an unknown name.
TENON_API Dtype dtype_from_name(const char* name);

namespace detail {
/// Error "value cannot be converted to type uint8_t without overflow". `type` is spelt as in PyTorch's source.
[[noreturn]] TENON_API void fail_conversion(const char* type);
template <class T>
constexpr const char* source_type_name() {
  if constexpr (std::is_floating_point_v<T>) return sizeof(T) == sizeof(float) ? "float" : "double";
  constexpr const char* kSigned[] = {"int8_t", "int16_t", "int", "int64_t"};
  constexpr const char* kUnsigned[] = {"uint8_t", "uint16_t", "uint32_t", "uint64_t"};
  constexpr int kWidth = sizeof(T) == 1 ? 0 : sizeof(T) == 2 ? 1 : sizeof(T) == 4 ? 2 : 3;
  return std::is_signed_v<T> ? kSigned[kWidth] : kUnsigned[kWidth];
}
}  // namespace detail

/// A C++ or Python number: it takes part in promotion by its kind alone.
class Scalar {
 public:
  /// `wide`: an integer above the largest int64.
  enum class Kind : uint8_t { boolean, integer, wide, floating };

  constexpr Scalar() noexcept : integer_(0), kind_(Kind::integer) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) noexcept : integer_(0), kind_(Kind::integer) {
    if constexpr (std::is_same_v<T, bool>) {
      integer_ = value ? 1 : 0;
      kind_ = Kind::boolean;
    } else if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<int64_t>(value);
      if (std::is_unsigned_v<T> && integer_ < 0) kind_ = Kind::wide;
    } else {
      floating_ = static_cast<double>(value);
      kind_ = Kind::floating;
    }
  }

  constexpr Kind kind() const noexcept { return kind_; }
  constexpr bool is_floating() const noexcept { return kind_ == Kind::floating; }
  constexpr bool is_boolean() const noexcept { return kind_ == Kind::boolean; }
  constexpr bool is_wide() const noexcept { return kind_ == Kind::wide; }
  constexpr double as_double() const noexcept {
    return is_floating() ? floating_
           : is_wide()   ? static_cast<double>(static_cast<uint64_t>(integer_))
                         : static_cast<double>(integer_);
  }
  /// The integer it holds, whose 64 bits stand for a negative one where it is wide; a floating number is truncated as
  /// the processor does (out of range: the smallest int64).
  constexpr int64_t as_int64() const noexcept {
    if (!is_floating()) return integer_;
    if (!(floating_ >= -9223372036854775808.0 && floating_ < 9223372036854775808.0)) return INT64_MIN;
    return static_cast<int64_t>(floating_);
  }
  constexpr bool as_bool() const noexcept { return is_floating() ? floating_ != 0 : integer_ != 0; }
  /// As a C++ number; a fraction is cut off. Error "value cannot be converted to type int without overflow".
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr T to() const {
    using Limits = std::numeric_limits<T>;
    if constexpr (std::is_same_v<T, bool>) {
      return as_bool();
    } else if constexpr (std::is_floating_point_v<T>) {
      const double value = as_double();
      const bool is_finite = value - value == 0;
      if (is_finite && (value > Limits::max() || value < Limits::lowest()))
        detail::fail_conversion(detail::source_type_name<T>());
      return static_cast<T>(value);
    } else {
      // A double holds the power of two behind the largest integer, if not that integer.
      constexpr T half = Limits::max() / 2 + 1;
      const bool fits =
          is_floating() ? floating_ >= static_cast<double>(Limits::min()) && floating_ < static_cast<double>(half) * 2
          : is_wide()
              ? std::is_unsigned_v<T> && sizeof(T) == sizeof(uint64_t)
              : static_cast<int64_t>(static_cast<T>(integer_)) == integer_ && (std::is_signed_v<T> || integer_ >= 0);
      if (!fits) detail::fail_conversion(detail::source_type_name<T>());
      return is_floating() ? static_cast<T>(floating_) : static_cast<T>(integer_);
    }
  }

 private:
  union {
    int64_t integer_;  // of a wide one: its bits
    double floating_;
  };
  Kind kind_;
};

/// The smallest dtype both can be promoted to. Error "Promotion for uint16, uint32, uint64 types is not supported...".
/// https://docs.pytorch.org/docs/stable/generated/torch.promote_types.html
TENON_API Dtype promote_types(Dtype a, Dtype b);
/// Whether a result of dtype `from` may be stored in a tensor of dtype `to`: the kind (bool, integer, float) must not
/// fall.
TENON_API bool can_cast(Dtype from, Dtype to) noexcept;

/// What of an operand counts for promotion: tensors with dims outrank 0-dim tensors, which outrank numbers.
enum class Category : uint8_t { dimensioned, zero_dim, number };
struct TypedOperand {
  Dtype dtype;  // a number's: bool_, int64, uint64 (of a wide one) or the default dtype
  Category category;
};
/// The dtype an operation over these operands computes in.
/// https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
TENON_API Dtype result_type(const TypedOperand* operands, int64_t count);
inline Dtype result_type(std::initializer_list<TypedOperand> operands) {
  return result_type(operands.begin(), static_cast<int64_t>(operands.size()));
}
/// How a number takes part in promotion.
TENON_API TypedOperand typed(Scalar number) noexcept;

/// The floating dtype that numbers and int-to-float ops give: float32 unless set. Per process.
TENON_API Dtype get_default_dtype() noexcept;
/// TypeError unless `dtype` is floating point.
TENON_API void set_default_dtype(Dtype dtype);

}  // namespace tenon
