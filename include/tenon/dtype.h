// type: dtypes, numbers and promotion. Takes dtypes; gives the common and the result dtype. Never touches memory.
#pragma once
#include <bit>
#include <cstdint>
#include <initializer_list>
#include <limits>
#include <type_traits>

#include "tenon/export.h"

namespace tenon {
/// The type of an element. Its numbers are those of tenon_dtype (tenon/c.h).
// clang-format off
enum class Dtype : uint8_t {
  bool_, uint8, int8, int16, int32, int64, uint16, uint32, uint64, float16, bfloat16, float32, float64,
  complex64, complex128,
};
// clang-format on
inline constexpr int kDtypeCount = 15;  // how many there are
/// Short names: `tenon::float32`.
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
inline constexpr Dtype complex64 = Dtype::complex64;
inline constexpr Dtype complex128 = Dtype::complex128;

/// IEEE binary16: 1 sign, 5 exponent, 10 mantissa bits. Arithmetic is done in float32.
struct Float16 {
  uint16_t bits;
};
/// The upper half of a float32. Arithmetic is done in float32.
struct BFloat16 {
  uint16_t bits;
};

/// A complex number with the layout of std::complex. Functions that take one also take a std::complex.
template <class T>
struct Complex {
  using value_type = T;
  T re, im;
  constexpr T real() const noexcept { return re; }
  constexpr T imag() const noexcept { return im; }
  constexpr Complex& operator+=(const Complex& other) noexcept {
    re += other.re;
    im += other.im;
    return *this;
  }
  friend constexpr Complex operator+(Complex a, const Complex& b) noexcept { return a += b; }
  friend constexpr Complex operator*(const Complex& a, const Complex& b) noexcept {
    return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
  }
  friend constexpr bool operator==(const Complex&, const Complex&) = default;
};
using Complex64 = Complex<float>;    // the element of complex64
using Complex128 = Complex<double>;  // and of complex128
/// Complex and std::complex, of float or double.
template <class Z>
concept ComplexNumber = requires(const Z& z) {
  typename Z::value_type;
  requires std::is_floating_point_v<typename Z::value_type> && sizeof(Z) == 2 * sizeof(typename Z::value_type);
  z.real();
  z.imag();
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
template <ComplexNumber Z>
struct dtype_of<Z> {
  static constexpr Dtype value = sizeof(Z) == 8 ? Dtype::complex64 : Dtype::complex128;
};
template <class T>
inline constexpr Dtype dtype_of_v = dtype_of<T>::value;  // the same, short

inline constexpr int8_t kItemsizes[kDtypeCount] = {1, 1, 1, 2, 4, 8, 2, 4, 8, 2, 2, 4, 8, 8, 16};  // by dtype
/// Bytes of the widest dtype's element.
inline constexpr int64_t kMaxItemsize = 16;
/// Bytes of one element.
constexpr int64_t itemsize(Dtype dtype) noexcept { return kItemsizes[static_cast<int>(dtype)]; }
constexpr bool is_floating_point(Dtype dtype) noexcept { return dtype >= Dtype::float16 && dtype <= Dtype::float64; }
constexpr bool is_complex(Dtype dtype) noexcept { return dtype >= Dtype::complex64; }
/// True for floating and complex dtypes: those that can have gradients.
constexpr bool is_inexact(Dtype dtype) noexcept { return dtype >= Dtype::float16; }
/// The dtype of a complex dtype's parts. Any other dtype is returned unchanged.
constexpr Dtype to_real(Dtype dtype) noexcept {
  return dtype == Dtype::complex64 ? Dtype::float32 : dtype == Dtype::complex128 ? Dtype::float64 : dtype;
}
/// The complex dtype whose parts have this dtype. Throws Error "Unknown Complex ScalarType for Int", also for float16,
/// which has no complex dtype.
TENON_API Dtype to_complex(Dtype dtype);
constexpr bool is_integral(Dtype dtype) noexcept { return dtype >= Dtype::uint8 && dtype <= Dtype::uint64; }
/// True for uint16, uint32 and uint64, which promote only to floating dtypes.
constexpr bool is_wide_unsigned(Dtype dtype) noexcept { return dtype >= Dtype::uint16 && dtype <= Dtype::uint64; }
/// Whether a dtype has negative numbers: bool and unsigned integers have none.
constexpr bool is_signed(Dtype dtype) noexcept { return dtype > Dtype::uint8 && !is_wide_unsigned(dtype); }

/// "float32": the name in Python.
TENON_API const char* dtype_name(Dtype dtype) noexcept;
/// "Float": the name PyTorch's error texts use.
TENON_API const char* scalar_type_name(Dtype dtype) noexcept;
/// "long int": the compiler's name, which some of PyTorch's error texts use.
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

/// A C++ or Python number. Type promotion looks at its kind only.
class Scalar {
 public:
  /// `wide`: an integer above the largest int64.
  enum class Kind : uint8_t { boolean, integer, wide, floating, complex };

  constexpr Scalar() noexcept : Scalar(Kind::integer) {}
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr Scalar(T value) noexcept : Scalar(Kind::integer) {
    if constexpr (std::is_same_v<T, bool>) {
      integer_ = value ? 1 : 0;
      tag_ = tag_of(Kind::boolean);
    } else if constexpr (std::is_integral_v<T>) {
      integer_ = static_cast<int64_t>(value);
      if (std::is_unsigned_v<T> && integer_ < 0) tag_ = tag_of(Kind::wide);
    } else {
      floating_ = static_cast<double>(value);
      tag_ = tag_of(Kind::floating);
    }
  }

  template <ComplexNumber Z>
  constexpr Scalar(const Z& value) noexcept
      : floating_(static_cast<double>(value.real())), tag_(tag_of(static_cast<double>(value.imag()))) {}
  /// Which kind of number it holds.
  constexpr Kind kind() const noexcept { return is_complex() ? Kind::complex : static_cast<Kind>(tag_); }
  constexpr bool is_complex() const noexcept { return tag_ >= tag_of(Kind::complex); }
  constexpr bool is_floating() const noexcept { return tag_ == tag_of(Kind::floating); }
  constexpr bool is_boolean() const noexcept { return tag_ == tag_of(Kind::boolean); }
  constexpr bool is_wide() const noexcept { return tag_ == tag_of(Kind::wide); }
  /// The number as a double; of a complex number the real part.
  constexpr double as_double() const noexcept {
    return holds_double() ? floating_
           : is_wide()    ? static_cast<double>(static_cast<uint64_t>(integer_))
                          : static_cast<double>(integer_);
  }
  /// The address of its int64, uint64 or double (see `kind`); of a complex number that of the real part.
  const void* data() const noexcept { return &integer_; }
  constexpr Complex128 as_complex() const noexcept { return {as_double(), imaginary()}; }
  /// The integer it holds; a wide one is reinterpreted as int64. A floating number, or the real part of a complex one,
  /// is truncated; out of range it becomes the smallest int64, as the processor's instruction gives.
  constexpr int64_t as_int64() const noexcept {
    if (!holds_double()) return integer_;
    if (!(floating_ >= -9223372036854775808.0 && floating_ < 9223372036854775808.0)) return INT64_MIN;
    return static_cast<int64_t>(floating_);
  }
  constexpr bool as_bool() const noexcept {
    return holds_double() ? floating_ != 0 || imaginary() != 0 : integer_ != 0;
  }
  /// As a C++ number. A fraction is cut off; an imaginary part must be 0. Throws Error "value cannot be converted to
  /// type int without overflow".
  template <class T>
  requires std::is_arithmetic_v<T>
  constexpr T to() const {
    using Limits = std::numeric_limits<T>;
    if (!std::is_same_v<T, bool> && imaginary() != 0) detail::fail_conversion(detail::source_type_name<T>());
    if constexpr (std::is_same_v<T, bool>) {
      return as_bool();
    } else if constexpr (std::is_floating_point_v<T>) {
      const double value = as_double();
      const bool is_finite = value - value == 0;
      if (is_finite && (value > Limits::max() || value < Limits::lowest()))
        detail::fail_conversion(detail::source_type_name<T>());
      return static_cast<T>(value);
    } else {
      // A double cannot hold the largest int64, but it holds the next number, 2^63.
      constexpr T half = Limits::max() / 2 + 1;
      const bool fits =
          holds_double() ? floating_ >= static_cast<double>(Limits::min()) && floating_ < static_cast<double>(half) * 2
          : is_wide()
              ? std::is_unsigned_v<T> && sizeof(T) == sizeof(uint64_t)
              : static_cast<int64_t>(static_cast<T>(integer_)) == integer_ && (std::is_signed_v<T> || integer_ >= 0);
      if (!fits) detail::fail_conversion(detail::source_type_name<T>());
      return holds_double() ? static_cast<T>(floating_) : static_cast<T>(integer_);
    }
  }

 private:
  // A Scalar fits in two registers, because it is passed to every call. The second one holds the kind, or the imaginary
  // part of a complex number with its bits inverted. The values 0 to 3 stand for kinds; inverted, they would be NaNs.
  constexpr explicit Scalar(Kind kind) noexcept : integer_(0), tag_(tag_of(kind)) {}
  static constexpr uint64_t tag_of(Kind kind) noexcept { return static_cast<uint64_t>(kind); }
  static constexpr uint64_t tag_of(double imaginary) noexcept {
    const uint64_t inverted = ~std::bit_cast<uint64_t>(imaginary);
    return inverted >= tag_of(Kind::complex) ? inverted : inverted + 4;  // another NaN
  }
  constexpr double imaginary() const noexcept { return is_complex() ? std::bit_cast<double>(~tag_) : 0; }
  constexpr bool holds_double() const noexcept { return tag_ >= tag_of(Kind::floating); }

  union {
    int64_t integer_;  // the bits of a wide integer
    double floating_;  // or the real part of a complex number
  };
  uint64_t tag_;
};

/// The smallest dtype both can be promoted to. Error "Promotion for uint16, uint32, uint64 types is not supported...".
/// https://docs.pytorch.org/docs/stable/generated/torch.promote_types.html
TENON_API Dtype promote_types(Dtype a, Dtype b);
/// Whether a result of dtype `from` may be stored in a tensor of dtype `to`: its kind (bool < integer < float <
/// complex) must not be higher.
TENON_API bool can_cast(Dtype from, Dtype to) noexcept;

/// An operand's rank in type promotion: tensors with dims outrank 0-dim tensors, which outrank numbers.
enum class Category : uint8_t { dimensioned, zero_dim, number };
struct TypedOperand {  // what type promotion sees of an operand
  Dtype dtype;         // of a number: bool_, int64, uint64 (wide), the default dtype or its complex dtype
  Category category;
};
/// The dtype an operation over these operands computes in.
/// https://docs.pytorch.org/docs/stable/tensor_attributes.html#type-promotion-doc
TENON_API Dtype result_type(const TypedOperand* operands, int64_t count);
inline Dtype result_type(std::initializer_list<TypedOperand> operands) {
  return result_type(operands.begin(), static_cast<int64_t>(operands.size()));
}
/// A number as an operand of type promotion.
TENON_API TypedOperand typed(Scalar number);

/// The floating dtype that numbers and int-to-float ops give: float32 unless set. Per process.
TENON_API Dtype get_default_dtype() noexcept;
/// TypeError unless `dtype` is floating point.
TENON_API void set_default_dtype(Dtype dtype);

}  // namespace tenon
