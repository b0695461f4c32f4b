// kernel: the lane types that formulas are written in. `Lane<T>` is one element; the compiler vectorises loops over it,
// for the instruction set of the region that includes this file. `Vector<D>` is a Highway vector, for functions that
// compilers do not vectorise.
#if defined(TENON_KERNEL_LANE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LANE_INL_H
#undef TENON_KERNEL_LANE_INL_H
#else
#define TENON_KERNEL_LANE_INL_H
#endif

#include <cmath>
#include <complex>
#include <concepts>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/library-inl.h"
#include "kernel/logarithm-inl.h"
#include "kernel/normal-inl.h"
#include "kernel/special_vectors-inl.h"
#include "kernel/square_root-inl.h"
#include "ops/row.h"
#include "type/half.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// One element. Integers wrap; for bool, + is `or` and * is `and`.
template <class T>
struct Lane {
  T v;
  Lane() = default;
  template <class U>
  HWY_INLINE constexpr explicit Lane(U value) : v(static_cast<T>(value)) {}
};
/// A bool lane holds 0 or 1.
template <>
struct Lane<bool> {
  uint8_t v;
  Lane() = default;
  template <class U>
  HWY_INLINE constexpr explicit Lane(U value) : v(static_cast<uint8_t>(value != U{})) {}
};
using Truth = Lane<bool>;
/// What a comparison of lanes gives.
template <class T>
struct TruthOfLanes {
  using type = Truth;
};
template <class T>
using TruthOf = typename TruthOfLanes<T>::type;
template <class T>
concept Half = std::is_same_v<T, Float16> || std::is_same_v<T, BFloat16>;
/// A complex number by its parts.
template <class T>
concept ComplexLane = std::is_same_v<T, Complex64> || std::is_same_v<T, Complex128>;
template <ComplexLane Z>
struct Lane<Z> {
  using Part = typename Z::value_type;
  Z v;
  Lane() = default;
  HWY_INLINE constexpr explicit Lane(Z value) : v(value) {}
  HWY_INLINE constexpr Lane(Part re, Part im) : v{re, im} {}
  HWY_INLINE constexpr explicit Lane(int value) : v{static_cast<Part>(value), 0} {}
};
// 16-bit floats are converted through float32, as in C++ and PyTorch.
template <class T>
HWY_INLINE T widened(T value) {
  return value;
}
HWY_INLINE float widened(Float16 value) { return float16_value(value.bits); }
HWY_INLINE float widened(BFloat16 value) { return bfloat16_value(value.bits); }

/// An unsigned type that C++ integer promotion does not turn into a signed one.
template <class T>
using Wrapping = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;

#define TENON_LANE_OPERATOR(SYMBOL)                                                   \
  template <class T>                                                                  \
  HWY_INLINE Lane<T> operator SYMBOL(Lane<T> a, Lane<T> b) {                          \
    if constexpr (std::is_integral_v<T>) {                                            \
      using W = Wrapping<T>;                                                          \
      return Lane<T>(static_cast<T>(static_cast<W>(a.v) SYMBOL static_cast<W>(b.v))); \
    } else {                                                                          \
      return Lane<T>(a.v SYMBOL b.v);                                                 \
    }                                                                                 \
  }
TENON_LANE_OPERATOR(+)
TENON_LANE_OPERATOR(-)
TENON_LANE_OPERATOR(*)
#undef TENON_LANE_OPERATOR
template <ComplexLane Z>
HWY_INLINE Lane<Z> operator+(Lane<Z> a, Lane<Z> b) {
  return {a.v.re + b.v.re, a.v.im + b.v.im};
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> operator-(Lane<Z> a, Lane<Z> b) {
  return {a.v.re - b.v.re, a.v.im - b.v.im};
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> operator-(Lane<Z> a) {
  return {-a.v.re, -a.v.im};
}
/// A product that is rounded before it is added: GCC 12 fuses products in neighbouring sums and differences even with
/// -ffp-contract=off.
template <class T>
HWY_INLINE T unfused(T product) {
#if defined(__GNUC__) && !defined(__clang__)
  return __builtin_assoc_barrier(product);
#else
  return product;
#endif
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> operator*(Lane<Z> a, Lane<Z> b) {
  return {unfused(a.v.re * b.v.re) - unfused(a.v.im * b.v.im), unfused(a.v.re * b.v.im) + unfused(a.v.im * b.v.re)};
}
/// Divides as NumPy does: by the ratio of the divisor's parts, so that no intermediate result overflows.
template <ComplexLane Z>
HWY_INLINE Lane<Z> operator/(Lane<Z> a, Lane<Z> b) {
  using Part = typename Z::value_type;
  const auto [re, im] = b.v;
  if (re == 0 && im == 0) return {a.v.re / std::abs(re), a.v.im / std::abs(im)};
  // Selected, not branched: which part is larger is often not predictable.
  const bool turned = !(std::abs(re) >= std::abs(im));
  const Part large = turned ? im : re, small = turned ? re : im;
  const Part along = turned ? a.v.im : a.v.re, across = turned ? a.v.re : a.v.im;
  const Part ratio = small / large, scale = Part{1} / (large + unfused(small * ratio));
  const Part less = unfused(along * ratio), left = turned ? less : across, right = turned ? across : less;
  return {(along + unfused(across * ratio)) * scale, (left - right) * scale};
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> conjugated(Lane<Z> a) {
  return {a.v.re, -a.v.im};
}
HWY_INLINE Truth operator+(Truth a, Truth b) { return Truth(static_cast<uint8_t>(a.v | b.v)); }
HWY_INLINE Truth operator*(Truth a, Truth b) { return Truth(static_cast<uint8_t>(a.v & b.v)); }
HWY_INLINE Truth operator&(Truth a, Truth b) { return Truth(static_cast<uint8_t>(a.v & b.v)); }
HWY_INLINE Truth operator|(Truth a, Truth b) { return Truth(static_cast<uint8_t>(a.v | b.v)); }
HWY_INLINE Truth operator^(Truth a, Truth b) { return Truth(static_cast<uint8_t>(a.v ^ b.v)); }
#define TENON_LANE_BITS(SYMBOL)                              \
  template <std::integral T>                                 \
  HWY_INLINE Lane<T> operator SYMBOL(Lane<T> a, Lane<T> b) { \
    return Lane<T>(static_cast<T>(a.v SYMBOL b.v));          \
  }
TENON_LANE_BITS(&)
TENON_LANE_BITS(|)
TENON_LANE_BITS(^)
#undef TENON_LANE_BITS
template <std::integral T>
HWY_INLINE Lane<T> operator~(Lane<T> a) {
  return Lane<T>(static_cast<T>(~a.v));
}
HWY_INLINE Truth operator~(Truth a) { return Truth(static_cast<uint8_t>(a.v ^ 1)); }
/// a * 2^by for `by` up to 7, bit by bit: vectors of bytes have no shifts by lanes, and GCC would widen them to 32
/// bits. Bench: tenon_bench --ops --filter 'ops/bitwise_.*shift$'.
template <std::integral T>
HWY_INLINE T byte_shifted_left(T a, uint8_t by) {
  a = static_cast<T>((by & 1) != 0 ? a << 1 : a);
  a = static_cast<T>((by & 2) != 0 ? a << 2 : a);
  return static_cast<T>((by & 4) != 0 ? a << 4 : a);
}
/// A shift by the type's width or more, or by a negative number, gives 0.
template <std::integral T>
HWY_INLINE Lane<T> operator<<(Lane<T> a, Lane<T> b) {
  using Unsigned = std::make_unsigned_t<T>;
  constexpr Unsigned kBits = 8 * sizeof(T);
  const auto by = static_cast<Unsigned>(b.v);
  T shifted;
  if constexpr (sizeof(T) == 1)
    shifted = byte_shifted_left(a.v, by);
  else
    shifted = static_cast<T>(static_cast<Wrapping<T>>(a.v) << (by < kBits ? by : kBits - 1));
  return Lane<T>(by < kBits ? shifted : T{0});
}
/// The same to the right. The bits of negative numbers are inverted before and after, so that ones come in.
template <std::integral T>
HWY_INLINE T byte_shifted_right(T a, uint8_t by) {
  const auto sign = static_cast<uint8_t>(std::cmp_less(a, 0) ? 0xFF : 0);
  auto bits = static_cast<uint8_t>(static_cast<uint8_t>(a) ^ sign);
  bits = static_cast<uint8_t>((by & 1) != 0 ? bits >> 1 : bits);
  bits = static_cast<uint8_t>((by & 2) != 0 ? bits >> 2 : bits);
  bits = static_cast<uint8_t>((by & 4) != 0 ? bits >> 4 : bits);
  return static_cast<T>((by < 8 ? bits : uint8_t{0}) ^ sign);
}
/// The same of 16 bits, which AVX2 does not shift by lanes either.
HWY_INLINE int16_t word_shifted_right(int16_t a, uint16_t by) {
  by = by < 15 ? by : uint16_t{15};
  a = static_cast<int16_t>((by & 1) != 0 ? a >> 1 : a);
  a = static_cast<int16_t>((by & 2) != 0 ? a >> 2 : a);
  a = static_cast<int16_t>((by & 4) != 0 ? a >> 4 : a);
  return static_cast<int16_t>((by & 8) != 0 ? a >> 8 : a);
}
/// Such a shift gives 0 or -1, by the sign.
template <std::integral T>
HWY_INLINE Lane<T> operator>>(Lane<T> a, Lane<T> b) {
  // Bounded in its own type, so that GCC uses the processor's shifts by lanes.
  if constexpr (std::is_signed_v<T> && (HWY_TARGET <= HWY_AVX3 || (HWY_TARGET <= HWY_AVX2 && sizeof(T) == 4))) {
    using Unsigned = std::make_unsigned_t<T>;
    constexpr Unsigned kMost = 8 * sizeof(T) - 1;
    const auto by = static_cast<Unsigned>(b.v);
    return Lane<T>(static_cast<T>(a.v >> (by < kMost ? by : kMost)));
  }
  if constexpr (sizeof(T) == 1) return Lane<T>(byte_shifted_right(a.v, static_cast<uint8_t>(b.v)));
  if constexpr (std::is_same_v<T, int16_t>) return Lane<T>(word_shifted_right(a.v, static_cast<uint16_t>(b.v)));
  constexpr Wrapping<T> kBits = 8 * sizeof(T);
  const auto by = static_cast<Wrapping<T>>(b.v);
  const T sign = static_cast<T>(a.v < T{0} ? -1 : 0);
  return Lane<T>(by < kBits ? static_cast<T>(a.v >> (by % kBits)) : sign);
}
HWY_INLINE Truth operator!(Truth a) { return Truth(static_cast<uint8_t>(a.v ^ 1)); }

template <std::floating_point T>
HWY_INLINE Lane<T> operator/(Lane<T> a, Lane<T> b) {
  return Lane<T>(a.v / b.v);
}
template <class T>
HWY_INLINE Lane<T> operator-(Lane<T> a) {
  if constexpr (std::is_integral_v<T>)
    return Lane<T>(static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a.v)));
  else
    return Lane<T>(-a.v);
}
HWY_INLINE Truth operator-(Truth a) { return a; }  // alpha = -1 for bool is True

#define TENON_LANE_COMPARISON(SYMBOL)                      \
  template <class T>                                       \
  HWY_INLINE Truth operator SYMBOL(Lane<T> a, Lane<T> b) { \
    Truth result;                                          \
    result.v = static_cast<uint8_t>(a.v SYMBOL b.v);       \
    return result;                                         \
  }
TENON_LANE_COMPARISON(==)
TENON_LANE_COMPARISON(!=)
TENON_LANE_COMPARISON(<)
TENON_LANE_COMPARISON(<=)
#undef TENON_LANE_COMPARISON
template <ComplexLane Z>
HWY_INLINE Truth operator==(Lane<Z> a, Lane<Z> b) {
  Truth result;
  result.v = static_cast<uint8_t>((a.v.re == b.v.re) & (a.v.im == b.v.im));
  return result;
}
template <ComplexLane Z>
HWY_INLINE Truth operator!=(Lane<Z> a, Lane<Z> b) {
  return !(a == b);
}

// Works on plain values: for structs GCC emits branches, not vectors.
template <class T>
HWY_INLINE Lane<T> choose(Truth condition, Lane<T> a, Lane<T> b) {
  Lane<T> result;
  result.v = condition.v ? a.v : b.v;
  return result;
}
/// `result`, which is NaN if the first operand is, unless the second one is NaN.
template <std::floating_point T>
HWY_INLINE T unless_nan(T b, T result) {
#if HWY_TARGET <= HWY_AVX3
  // Gives NaN as b + b, not as b: GCC would select it by a mask around a maximum that reads memory, and masked reads
  // that miss the caches wait for each other (half the bandwidth on Zen 5). Asked whether the operands are unordered,
  // it reads one of them three times, which takes half the time again where vectors lie across lines.
  return b != b ? b + b : result;
#else
  return b != b ? b : result;
#endif
}
/// The larger value; NaN if one is NaN; the first of two equal values (-0 and 0).
template <class T>
HWY_INLINE Lane<T> larger(Lane<T> a, Lane<T> b) {
  Lane<T> result;
  result.v = b.v > a.v ? b.v : a.v;
  if constexpr (std::is_floating_point_v<T>) result.v = unless_nan(b.v, result.v);
  return result;
}
template <class T>
HWY_INLINE Lane<T> smaller(Lane<T> a, Lane<T> b) {
  Lane<T> result;
  result.v = b.v < a.v ? b.v : a.v;
  if constexpr (std::is_floating_point_v<T>) result.v = unless_nan(b.v, result.v);
  return result;
}
// The same for bounds that are one value for all lanes: the compiler moves the test for NaN out of the loop, and the
// NaN, or -0, which changes nothing, is added to each result.
template <class T, class... Bounds>
HWY_INLINE Lane<T> unless_nan_among(Lane<T> result, Bounds... bounds) {
  if constexpr (std::is_floating_point_v<T>) {
    T found{-0.0};
    ((found = bounds.v != bounds.v ? bounds.v : found), ...);
    result.v += found;
  }
  return result;
}
template <class T>
HWY_INLINE Lane<T> raised(Lane<T> a, Lane<T> low) {
  Lane<T> result;
  result.v = low.v > a.v ? low.v : a.v;
  return unless_nan_among(result, low);
}
template <class T>
HWY_INLINE Lane<T> lowered(Lane<T> a, Lane<T> high) {
  Lane<T> result;
  result.v = high.v < a.v ? high.v : a.v;
  return unless_nan_among(result, high);
}
template <class T>
HWY_INLINE Lane<T> bounded(Lane<T> a, Lane<T> low, Lane<T> high) {
  Lane<T> result;
  result.v = low.v > a.v ? low.v : a.v;
  result.v = high.v < result.v ? high.v : result.v;
  return unless_nan_among(result, low, high);
}
template <class T>
HWY_INLINE Lane<T> magnitude(Lane<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return Lane<T>(std::abs(a.v));
  else if constexpr (std::is_signed_v<T>)
    return a.v < 0 ? -a : a;
  else
    return a;
}
template <class T>
HWY_INLINE Truth is_not_a_number(Lane<T> a) {
  return a != a;  // NOLINT(misc-redundant-expression): only a NaN differs from itself
}
template <class T>
HWY_INLINE Truth is_infinity(Lane<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return a == Lane<T>(kInfinity);
  else
    return Truth(0);
}
template <class T>
HWY_INLINE Truth is_below_infinity(Lane<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    return a < Lane<T>(kInfinity);
  else
    return Truth(1);
}
// Rounding does not change integers.
#define TENON_LANE_ROUNDING(NAME, FUNCTION)    \
  template <class T>                           \
  HWY_INLINE Lane<T> NAME(Lane<T> a) {         \
    if constexpr (std::is_floating_point_v<T>) \
      return Lane<T>(FUNCTION(a.v));           \
    else                                       \
      return a;                                \
  }
TENON_LANE_ROUNDING(rounded_down, std::floor)
TENON_LANE_ROUNDING(rounded_up, std::ceil)
TENON_LANE_ROUNDING(rounded_to_zero, std::trunc)
TENON_LANE_ROUNDING(nearest, std::nearbyint)
#undef TENON_LANE_ROUNDING
/// 1, 0 or -1; 0 for NaN.
template <class T>
HWY_INLINE Lane<T> signum(Lane<T> a) {
  if constexpr (std::is_same_v<T, bool>)
    return a;
  else if constexpr (sizeof(T) == 8)  // not by 32 bits, which would have to be widened again
    return Lane<T>((T{0} < a.v ? T{1} : T{0}) - (a.v < T{0} ? T{1} : T{0}));
  else
    return Lane<T>(static_cast<int>(T{0} < a.v) - static_cast<int>(a.v < T{0}));
}
template <std::floating_point T>
using Bits = std::conditional_t<sizeof(T) == 4, int32_t, int64_t>;
template <class T>
HWY_INLINE Truth is_marked_negative(Lane<T> a) {
  if constexpr (std::is_floating_point_v<T>)
    // Not std::signbit: GCC 12 fails to compile it for AVX-512.
    return Lane<Bits<T>>(__builtin_bit_cast(Bits<T>, a.v)) < Lane<Bits<T>>(0);
  else
    return a < Lane<T>(0);
}
template <std::floating_point T>
HWY_INLINE Lane<T> with_sign(Lane<T> a, Lane<T> sign) {
  return Lane<T>(std::copysign(a.v, sign.v));
}
/// The parts of a float. Numbers below the smallest normal one are scaled first, which is exact.
template <std::floating_point T>
struct FloatParts {
  using B = Bits<T>;
  static constexpr int kMantissa = std::numeric_limits<T>::digits - 1, kBias = std::numeric_limits<T>::max_exponent - 1;
  static constexpr B kExponents = static_cast<B>(2 * kBias + 1) << kMantissa;
  static constexpr int kScale = kMantissa + 1;

  B given, bits;
  bool scaled, splits;  // 0, infinity and NaN do not split
  HWY_INLINE explicit FloatParts(T value) : given(__builtin_bit_cast(B, value)) {
    const B size = given & std::numeric_limits<B>::max();
    const B wide = __builtin_bit_cast(B, value * static_cast<T>(int64_t{1} << kScale));
    scaled = size < (B{1} << kMantissa);
    splits = (size != 0) & (size < kExponents);
    bits = scaled ? wide : given;
  }
};
/// a = mantissa * 2^exponent, the mantissa's magnitude in [0.5, 1). 0, infinity and NaN are mantissas with exponent 0.
template <std::floating_point T>
HWY_INLINE Lane<T> mantissa_of(Lane<T> a) {
  using F = FloatParts<T>;
  const F parts(a.v);
  constexpr Bits<T> kHalf = static_cast<Bits<T>>(F::kBias - 1) << F::kMantissa;
  const Bits<T> mantissa = (parts.bits & ~F::kExponents) | kHalf;
  return Lane<T>(__builtin_bit_cast(T, parts.splits ? mantissa : parts.given));
}
template <std::floating_point T>
HWY_INLINE Lane<T> exponent_of(Lane<T> a) {
  using F = FloatParts<T>;
  const F parts(a.v);
  const Bits<T> biased = (parts.bits & F::kExponents) >> F::kMantissa;
  const Bits<T> exponent = biased - (F::kBias - 1) - (parts.scaled ? F::kScale : 0);
  return Lane<T>(static_cast<int32_t>(parts.splits ? exponent : 0));
}
/// a * 2^b, rounded once. Beyond these exponents every result is 0 or infinite. In float64 all products of float32 are
/// exact, and compilers make vectors of them.
template <std::floating_point T>
HWY_INLINE Lane<T> times_power_of_2(Lane<T> a, Lane<T> b) {
  constexpr T kMost = std::is_same_v<T, float> ? 500 : 5000;
  const T power = b.v > -kMost ? std::min(b.v, kMost) : -kMost;  // a number even if b is NaN
  if constexpr (std::is_same_v<T, float>) {
    const int64_t bits = static_cast<int64_t>(static_cast<int32_t>(power) + 1023) << 52;
    return Lane<T>(static_cast<T>(static_cast<double>(a.v) * __builtin_bit_cast(double, bits)));
  } else {
    return Lane<T>(std::ldexp(a.v, static_cast<int>(power)));
  }
}
// Functions of complex numbers call the C library, as in PyTorch.
template <ComplexLane Z>
HWY_INLINE std::complex<typename Z::value_type> standard(Lane<Z> a) {
  return {a.v.re, a.v.im};
}
template <class T>
HWY_INLINE Lane<Complex<T>> lane_of(std::complex<T> value) {
  return {value.real(), value.imag()};
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> square_root(Lane<Z> a) {
  return lane_of(std::sqrt(standard(a)));
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> exponential(Lane<Z> a) {
  return lane_of(std::exp(standard(a)));
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> hyperbolic_tangent(Lane<Z> a) {
  return lane_of(std::tanh(standard(a)));
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> logarithm(Lane<Z> a) {
  return lane_of(std::log(standard(a)));
}
/// a * b + c, rounded once if the instruction set has fused multiply-add.
template <class T>
HWY_INLINE Lane<T> mul_add(Lane<T> a, Lane<T> b, Lane<T> c) {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64
  if constexpr (std::is_same_v<T, float>)
    return Lane<T>(__builtin_fmaf(a.v, b.v, c.v));
  else if constexpr (std::is_same_v<T, double>)
    return Lane<T>(__builtin_fma(a.v, b.v, c.v));
  else
#endif
    return a * b + c;
}
/// a + weight * (end - a), computed from the end that is nearer.
template <std::floating_point T>
HWY_INLINE Lane<T> between(Lane<T> a, Lane<T> end, Lane<T> weight) {
  const Lane<T> way = end - a;
  const bool near = std::abs(weight.v) < T{0.5};
  const T share = near ? weight.v : weight.v - 1, from = near ? a.v : end.v;
  return mul_add(Lane<T>(share), way, Lane<T>(from));
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> between(Lane<Z> a, Lane<Z> end, Lane<Z> weight) {
  using Part = typename Z::value_type;
  const bool near = weight.v.re * weight.v.re + weight.v.im * weight.v.im < Part{0.25};
  return near ? a + weight * (end - a) : end - (end - a) * (Lane<Z>(1) - weight);
}
template <std::floating_point T>
HWY_INLINE Lane<T> square_root(Lane<T> a) {
  return Lane<T>(std::sqrt(a.v));
}
/// sqrt(a * a + b * b), almost always correctly rounded, without intermediate overflow; infinity if one is infinite,
/// even beside NaN. float32 is computed in float64; float64 is scaled and corrected as in Borges, "An improved
/// algorithm for hypot(a, b)" (2019).
template <std::floating_point T>
HWY_INLINE Lane<T> hypotenuse(Lane<T> a, Lane<T> b) {
  const T x = std::abs(a.v), y = std::abs(b.v), infinity = static_cast<T>(__builtin_inf());
  T result;
  if constexpr (std::is_same_v<T, float>) {
    const double wide = static_cast<double>(x), high = static_cast<double>(y);
    result = static_cast<T>(std::sqrt(wide * wide + high * high));
  } else {
    const T larger = x > y ? x : y, smaller = x > y ? y : x;
    const bool is_large = larger > T(0x1p510), is_small = larger < T(0x1p-450);
    const T scale = is_large ? T(0x1p-600) : is_small ? T(0x1p600) : T(1);
    const T inverse = is_large ? T(0x1p600) : is_small ? T(0x1p-600) : T(1);
    const T p = larger * scale, q = smaller * scale;
    const T root = std::sqrt(__builtin_fma(p, p, q * q)), square = root * root, p_square = p * p;
    const T error =
        __builtin_fma(-q, q, square - p_square) + __builtin_fma(root, root, -square) - __builtin_fma(p, p, -p_square);
    // The correction of 0 would divide by 0.
    const T corrected = root > 0 ? root - error / (2 * root) : root;
    result = corrected * inverse;
    result = x != x || y != y ? x + y : result;
  }
  return Lane<T>(x == infinity || y == infinity ? infinity : result);
}
template <ComplexLane Z>
HWY_INLINE Lane<Z> magnitude(Lane<Z> a) {
  using Part = typename Z::value_type;
  return {hypotenuse(Lane<Part>(a.v.re), Lane<Part>(a.v.im)).v, 0};
}
/// A quotient of integers, rounded to zero, by a division of floats that hold both exactly, which compilers vectorise:
/// a quotient that is no whole number is far enough from the next one. The smallest value divided by -1 wraps. Divisors
/// are checked for 0 before the loop.
template <class T>
HWY_INLINE T integer_quotient(T a, T b) {
  if constexpr (sizeof(T) <= 4) {
    using Float = std::conditional_t<sizeof(T) <= 2, float, double>;
    using Wide = std::conditional_t<sizeof(T) <= 2, int32_t, std::conditional_t<std::is_signed_v<T>, int32_t, int64_t>>;
    const bool wraps = std::is_signed_v<T> && b == static_cast<T>(-1);
    const T divisor = b == 0 || wraps ? T{1} : b;
    const T quotient = static_cast<T>(static_cast<Wide>(static_cast<Float>(a) / static_cast<Float>(divisor)));
    return wraps ? static_cast<T>(Wrapping<T>{0} - static_cast<Wrapping<T>>(a)) : quotient;
  } else {
    if (b == 0) return 0;
    if (std::is_signed_v<T> && b == static_cast<T>(-1)) return static_cast<T>(uint64_t{0} - static_cast<uint64_t>(a));
    return a / b;
  }
}
template <class T>
HWY_INLINE Lane<T> quotient_trunc(Lane<T> a, Lane<T> b) {
  if constexpr (!std::is_integral_v<T>)
    return Lane<T>(std::trunc(a.v / b.v));
  else
    return Lane<T>(integer_quotient(a.v, b.v));
}
/// The remainders of floor and truncated division. Integer divisors are checked for 0 before the loop.
template <class T>
HWY_INLINE Lane<T> remainder_trunc(Lane<T> a, Lane<T> b) {
  if constexpr (!std::is_integral_v<T>)
    return Lane<T>(std::fmod(a.v, b.v));
  else if constexpr (sizeof(T) <= 4)
    return a - quotient_trunc(a, b) * b;
  else
    return Lane<T>(b.v == 0 || (std::is_signed_v<T> && b.v == static_cast<T>(-1)) ? T{0} : static_cast<T>(a.v % b.v));
}
template <class T>
HWY_INLINE Lane<T> remainder_floor(Lane<T> a, Lane<T> b) {
  const Lane<T> remainder = remainder_trunc(a, b);
  const bool shifts = (remainder.v != 0) & ((b.v < 0) != (remainder.v < 0));
  if constexpr (std::is_integral_v<T>) return remainder + Lane<T>(shifts) * b;  // a branch would be mispredicted
  return choose(Truth(shifts), remainder + b, remainder);
}
/// Python's floor division of integers.
template <std::integral T>
HWY_INLINE Lane<T> quotient_floor(Lane<T> a, Lane<T> b) {
  const Lane<T> quotient = quotient_trunc(a, b);
  const bool shifts = (b.v != 0) & ((quotient * b).v != a.v) & ((a.v < 0) != (b.v < 0));
  return quotient - Lane<T>(shifts);  // a branch would be mispredicted
}

/// A whole Highway vector. From a number, all of its lanes are that number.
template <class D>
struct Vector {
#if HWY_ARCH_ARM
  // Written out: GCC compiles a defaulted constructor outside this region, without its instruction set.
  HWY_INLINE Vector() {}
#else
  Vector() = default;
#endif
  HWY_INLINE Vector(hn::Vec<D> value) : v(value) {}
  template <class N>
  requires std::is_arithmetic_v<N> HWY_INLINE explicit Vector(N number)
      : v(hn::Set(D(), static_cast<hn::TFromD<D>>(number))) {}
  hn::Vec<D> v;
};
/// The values of 16-bit floats, as float32, for formulas that round after every step.
template <class D, Half T>
struct SteppedVector {
  HWY_INLINE SteppedVector(hn::Vec<D> value) : v(value) {}
  template <class N>
  requires std::is_arithmetic_v<N> HWY_INLINE explicit SteppedVector(N number)
      : v(hn::Set(D(), static_cast<float>(number))) {}
  hn::Vec<D> v;
};
/// Rounds to the 16-bit type.
template <class T, class D>
HWY_INLINE hn::Vec<D> stepped(D d, hn::Vec<D> value) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    const hn::RebindToUnsigned<D> d32;
    const auto bits = hn::BitCast(d32, value), odd = hn::And(hn::ShiftRight<16>(bits), hn::Set(d32, 1));
    const auto rounded = hn::And(hn::Add(hn::Add(bits, hn::Set(d32, 0x7FFF)), odd), hn::Set(d32, 0xFFFF0000));
    return hn::IfThenElse(hn::IsNaN(value), value, hn::BitCast(d, rounded));
  } else {
#if HWY_TARGET <= HWY_AVX2 || HWY_ARCH_ARM_A64
    const hn::Rebind<hwy::float16_t, D> d16;
    return hn::PromoteTo(d, hn::DemoteTo(d16, value));
#else
    float lanes[hn::MaxLanes(D())];
    hn::StoreU(value, d, lanes);
    for (float& lane : lanes) lane = float16_value(float16_bits(lane));
    return hn::LoadU(d, lanes);
#endif
  }
}
/// A mask of a vector's lanes.
template <class D>
struct VectorTruth {
  hn::Mask<D> v;
};
#define TENON_VECTOR_OPERATOR(SYMBOL, NAME)                        \
  template <class D>                                               \
  HWY_INLINE Vector<D> operator SYMBOL(Vector<D> a, Vector<D> b) { \
    return {hn::NAME(a.v, b.v)};                                   \
  }
TENON_VECTOR_OPERATOR(+, Add)
TENON_VECTOR_OPERATOR(-, Sub)
TENON_VECTOR_OPERATOR(/, Div)
TENON_VECTOR_OPERATOR(&, And)
TENON_VECTOR_OPERATOR(|, Or)
TENON_VECTOR_OPERATOR(^, Xor)
#undef TENON_VECTOR_OPERATOR
/// Processors multiply no bytes: even and odd ones are products of 16 bits.
template <class D>
HWY_INLINE hn::Vec<D> product_of_bytes(D d, hn::Vec<D> a, hn::Vec<D> b) {
  const hn::RepartitionToWide<hn::RebindToUnsigned<D>> wide;
  const auto a16 = hn::BitCast(wide, a), b16 = hn::BitCast(wide, b);
  const auto odd = hn::ShiftLeft<8>(hn::Mul(hn::ShiftRight<8>(a16), hn::ShiftRight<8>(b16)));
  return hn::BitCast(d, hn::Or(hn::And(hn::Mul(a16, b16), hn::Set(wide, 0xFF)), odd));
}
template <class D>
HWY_INLINE Vector<D> operator*(Vector<D> a, Vector<D> b) {
  if constexpr (sizeof(hn::TFromD<D>) == 1)
    return {product_of_bytes(D(), a.v, b.v)};
  else
    return {hn::Mul(a.v, b.v)};
}
#define TENON_STEPPED_OPERATOR(SYMBOL, NAME)                                                     \
  template <class D, Half T>                                                                     \
  HWY_INLINE SteppedVector<D, T> operator SYMBOL(SteppedVector<D, T> a, SteppedVector<D, T> b) { \
    return {stepped<T>(D(), hn::NAME(a.v, b.v))};                                                \
  }
TENON_STEPPED_OPERATOR(+, Add)
TENON_STEPPED_OPERATOR(-, Sub)
TENON_STEPPED_OPERATOR(/, Div)
#undef TENON_STEPPED_OPERATOR
template <class D>
HWY_INLINE Vector<D> operator-(Vector<D> a) {
  return {hn::Neg(a.v)};
}
template <class D>
struct TruthOfLanes<Vector<D>> {
  using type = VectorTruth<D>;
};
#define TENON_VECTOR_COMPARISON(SYMBOL, NAME)                           \
  template <class D>                                                    \
  HWY_INLINE VectorTruth<D> operator SYMBOL(Vector<D> a, Vector<D> b) { \
    return {hn::NAME(a.v, b.v)};                                        \
  }
TENON_VECTOR_COMPARISON(==, Eq)
TENON_VECTOR_COMPARISON(<, Lt)
#undef TENON_VECTOR_COMPARISON
// Not Ne: with AVX-512 that is false for NaN.
template <class D>
HWY_INLINE VectorTruth<D> operator!=(Vector<D> a, Vector<D> b) {
  return {hn::Not(hn::Eq(a.v, b.v))};
}
template <class D>
HWY_INLINE VectorTruth<D> operator<=(Vector<D> a, Vector<D> b) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
    return {hn::Le(a.v, b.v)};
  else
    return {hn::Not(hn::Lt(b.v, a.v))};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> operator<(SteppedVector<D, T> a, SteppedVector<D, T> b) {
  return {hn::Lt(a.v, b.v)};
}
template <class D, Half T>
HWY_INLINE VectorTruth<D> operator==(SteppedVector<D, T> a, SteppedVector<D, T> b) {
  return {hn::Eq(a.v, b.v)};
}
template <class D>
HWY_INLINE VectorTruth<D> operator^(VectorTruth<D> a, VectorTruth<D> b) {
  return {hn::Xor(a.v, b.v)};
}
template <class D, Half T>
HWY_INLINE SteppedVector<D, T> choose(VectorTruth<D> condition, SteppedVector<D, T> a, SteppedVector<D, T> b) {
  return {hn::IfThenElse(condition.v, a.v, b.v)};
}
/// The mask of NaN lanes of integers: always empty, at no cost.
struct NoLane {};
struct EveryLane {};
template <class D>
HWY_INLINE auto is_nan([[maybe_unused]] Vector<D> a) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
    return VectorTruth<D>{hn::IsNaN(a.v)};
  else
    return NoLane{};
}
HWY_INLINE EveryLane operator!(NoLane) { return {}; }
HWY_INLINE NoLane operator&(NoLane, EveryLane) { return {}; }
HWY_INLINE NoLane operator&(NoLane, NoLane) { return {}; }
template <class D>
HWY_INLINE VectorTruth<D> operator|(VectorTruth<D> a, NoLane) {
  return a;
}
template <class D>
HWY_INLINE VectorTruth<D> operator!(VectorTruth<D> a) {
  return {hn::Not(a.v)};
}
template <class D>
HWY_INLINE VectorTruth<D> operator&(VectorTruth<D> a, VectorTruth<D> b) {
  return {hn::And(a.v, b.v)};
}
template <class D>
HWY_INLINE VectorTruth<D> operator|(VectorTruth<D> a, VectorTruth<D> b) {
  return {hn::Or(a.v, b.v)};
}
template <class D>
HWY_INLINE Vector<D> choose(VectorTruth<D> condition, Vector<D> a, Vector<D> b) {
  return {hn::IfThenElse(condition.v, a.v, b.v)};
}
template <class D>
HWY_INLINE Vector<D> mul_add(Vector<D> a, Vector<D> b, Vector<D> c) {
  return {hn::MulAdd(a.v, b.v, c.v)};
}
template <class D>
HWY_INLINE Vector<D> magnitude(Vector<D> a) {
  return {hn::Abs(a.v)};
}
template <class D>
HWY_INLINE Vector<D> square_root(Vector<D> a) {
  return {square_root_vector(D(), a.v)};
}
/// `result`, unless `b` is NaN.
template <class D>
HWY_INLINE Vector<D> unless_nan([[maybe_unused]] Vector<D> b, hn::Vec<D> result) {
  if constexpr (std::is_floating_point_v<hn::TFromD<D>>)
    return {hn::IfThenElse(hn::IsNaN(b.v), b.v, result)};
  else
    return {result};
}
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
// For two equal values, and if one is NaN, Max and Min give the second operand. The compiler joins them with a choice
// by a mask, which saves an instruction; narrower vectors gain nothing. Bench: ./dev bench --sweep, inner reductions.
template <class D>
inline constexpr bool kChoosesByMask =
    HWY_TARGET == HWY_AVX3&& hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 64 && std::is_floating_point_v<hn::TFromD<D>>;
template <class D>
HWY_INLINE Vector<D> larger(Vector<D> a, Vector<D> b) {
  if constexpr (kChoosesByMask<D>) return {hn::IfThenElse(hn::Eq(b.v, b.v), hn::Max(b.v, a.v), b.v)};
  return unless_nan(b, hn::Max(b.v, a.v));
}
template <class D>
HWY_INLINE Vector<D> smaller(Vector<D> a, Vector<D> b) {
  if constexpr (kChoosesByMask<D>) return {hn::IfThenElse(hn::Eq(b.v, b.v), hn::Min(b.v, a.v), b.v)};
  return unless_nan(b, hn::Min(b.v, a.v));
}
#else
template <class D>
HWY_INLINE Vector<D> larger(Vector<D> a, Vector<D> b) {
  return unless_nan(b, hn::IfThenElse(hn::Gt(b.v, a.v), b.v, a.v));
}
template <class D>
HWY_INLINE Vector<D> smaller(Vector<D> a, Vector<D> b) {
  return unless_nan(b, hn::IfThenElse(hn::Lt(b.v, a.v), b.v, a.v));
}
#endif
template <class D>
HWY_INLINE Vector<D> raised(Vector<D> a, Vector<D> low) {
  return larger(a, low);
}
template <class D>
HWY_INLINE Vector<D> lowered(Vector<D> a, Vector<D> high) {
  return smaller(a, high);
}
template <class D>
HWY_INLINE Vector<D> bounded(Vector<D> a, Vector<D> low, Vector<D> high) {
  return smaller(larger(a, low), high);
}
#define TENON_VECTOR_ROUNDING(NAME, FUNCTION) \
  template <class D>                          \
  HWY_INLINE Vector<D> NAME(Vector<D> a) {    \
    return {hn::FUNCTION(a.v)};               \
  }
TENON_VECTOR_ROUNDING(rounded_down, Floor)
TENON_VECTOR_ROUNDING(rounded_up, Ceil)
TENON_VECTOR_ROUNDING(rounded_to_zero, Trunc)
TENON_VECTOR_ROUNDING(nearest, Round)
#undef TENON_VECTOR_ROUNDING
template <class D>
HWY_INLINE Vector<D> between(Vector<D> a, Vector<D> end, Vector<D> weight) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  // Else they would be read under the mask that selects them, and such reads wait for each other beyond the first
  // cache.
  asm("" : "+v"(a.v.raw), "+v"(end.v.raw), "+v"(weight.v.raw));
#endif
  const Vector<D> way = end - a, rest = weight - Vector<D>(1);
  const VectorTruth<D> near = magnitude(weight) < Vector<D>(0.5);
  return mul_add(choose(near, weight, rest), way, choose(near, a, end));
}

template <class D>
HWY_INLINE Vector<D> exponential(Vector<D> a) {
  return {exp_vector(D(), a.v)};
}
template <class D>
HWY_INLINE Vector<D> exponential_of_2(Vector<D> a) {
  return {exp2_vector(D(), a.v)};
}
template <class D>
HWY_INLINE Vector<D> logarithm(Vector<D> a) {
  return {log_vector(D(), a.v)};
}
/// log(1 + a) for a >= 0 in the vector's own format, faster than logarithm_of_1_more: adds what 1 + a loses.
template <class D>
HWY_INLINE Vector<D> logarithm_of_1_plus(Vector<D> a) {
  const Vector<D> sum = Vector<D>(1) + a, lost = a - (sum - Vector<D>(1));
  return logarithm(sum) + choose(a < Vector<D>(1), lost, Vector<D>(0));
}
/// log(1 + a) for a from 0 to 1.
template <class D>
HWY_INLINE Vector<D> logarithm_of_1_plus_share(Vector<D> a) {
#if HWY_NATIVE_FMA
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) return {log1p_up_to_1(D(), a.v)};
#endif
  return logarithm_of_1_plus(a);
}
/// The share of the standard normal distribution below `a`.
template <class D>
HWY_INLINE Vector<D> normal_distribution(Vector<D> a) {
  return {normal_vector(D(), a.v)};
}
/// `a` times that share.
template <class D>
HWY_INLINE Vector<D> times_normal_distribution(Vector<D> a) {
  return {normal_vector_times(D(), a.v)};
}
#define TENON_VECTOR_FUNCTION(NAME, FUNCTION) \
  template <class D>                          \
  HWY_INLINE Vector<D> NAME(Vector<D> a) {    \
    return {library<FUNCTION>(D(), a.v)};     \
  }
TENON_VECTOR_FUNCTION(sine, Sine)
TENON_VECTOR_FUNCTION(cosine, Cosine)
TENON_VECTOR_FUNCTION(tangent, Tangent)
TENON_VECTOR_FUNCTION(arc_sine, ArcSine)
TENON_VECTOR_FUNCTION(arc_cosine, ArcCosine)
TENON_VECTOR_FUNCTION(arc_tangent, ArcTangent)
TENON_VECTOR_FUNCTION(hyperbolic_sine, HyperbolicSine)
TENON_VECTOR_FUNCTION(hyperbolic_cosine, HyperbolicCosine)
TENON_VECTOR_FUNCTION(hyperbolic_tangent, HyperbolicTangent)
TENON_VECTOR_FUNCTION(inverse_hyperbolic_sine, InverseHyperbolicSine)
TENON_VECTOR_FUNCTION(inverse_hyperbolic_cosine, InverseHyperbolicCosine)
TENON_VECTOR_FUNCTION(inverse_hyperbolic_tangent, InverseHyperbolicTangent)
TENON_VECTOR_FUNCTION(exponential_less_1, ExponentialLess1)
TENON_VECTOR_FUNCTION(logarithm_of_1_more, LogarithmOf1More)
TENON_VECTOR_FUNCTION(logarithm_to_2, LogarithmTo2)
TENON_VECTOR_FUNCTION(logarithm_to_10, LogarithmTo10)
TENON_VECTOR_FUNCTION(error_function, ErrorFunction)
TENON_VECTOR_FUNCTION(error_function_rest, ErrorFunctionRest)
TENON_VECTOR_FUNCTION(inverse_error_function, InverseErrorFunction)
TENON_VECTOR_FUNCTION(log_gamma, LogGamma)
#undef TENON_VECTOR_FUNCTION
/// exponential_less_1 in the lanes of `condition`, any number in the others: vectors without such lanes cost a test.
template <class D>
HWY_INLINE Vector<D> exponential_less_1_where(VectorTruth<D> condition, Vector<D> a) {
  return hn::AllFalse(D(), condition.v) ? a : exponential_less_1(a);
}
// The same functions of single elements, for formulas of several operands or with numbers.
#define TENON_LANE_FUNCTION(NAME)                                      \
  template <std::floating_point T>                                     \
  HWY_INLINE Lane<T> NAME(Lane<T> a) {                                 \
    using D = hn::CappedTag<T, 1>;                                     \
    return Lane<T>(hn::GetLane(NAME(Vector<D>{hn::Set(D(), a.v)}).v)); \
  }
TENON_LANE_FUNCTION(exponential)
TENON_LANE_FUNCTION(logarithm)
TENON_LANE_FUNCTION(hyperbolic_tangent)
TENON_LANE_FUNCTION(sine)
TENON_LANE_FUNCTION(cosine)
TENON_LANE_FUNCTION(tangent)
TENON_LANE_FUNCTION(arc_sine)
TENON_LANE_FUNCTION(arc_cosine)
TENON_LANE_FUNCTION(arc_tangent)
TENON_LANE_FUNCTION(hyperbolic_sine)
TENON_LANE_FUNCTION(hyperbolic_cosine)
TENON_LANE_FUNCTION(inverse_hyperbolic_sine)
TENON_LANE_FUNCTION(inverse_hyperbolic_cosine)
TENON_LANE_FUNCTION(inverse_hyperbolic_tangent)
TENON_LANE_FUNCTION(exponential_of_2)
TENON_LANE_FUNCTION(exponential_less_1)
TENON_LANE_FUNCTION(logarithm_of_1_more)
TENON_LANE_FUNCTION(logarithm_to_2)
TENON_LANE_FUNCTION(logarithm_to_10)
TENON_LANE_FUNCTION(error_function)
TENON_LANE_FUNCTION(error_function_rest)
#undef TENON_LANE_FUNCTION
// Functions that are compiled once, not for each instruction set.
#define TENON_LANE_SPECIAL_UNARY(NAME)             \
  template <std::floating_point T>                 \
  HWY_INLINE Lane<T> NAME(Lane<T> a) {             \
    return Lane<T>(TENON_SPECIAL_CALL(NAME, a.v)); \
  }
#define TENON_LANE_SPECIAL_BINARY(NAME)                 \
  template <std::floating_point T>                      \
  HWY_INLINE Lane<T> NAME(Lane<T> a, Lane<T> b) {       \
    return Lane<T>(TENON_SPECIAL_CALL(NAME, a.v, b.v)); \
  }
TENON_SPECIAL_UNARY(TENON_LANE_SPECIAL_UNARY)
TENON_SPECIAL_BINARY(TENON_LANE_SPECIAL_BINARY)
#undef TENON_LANE_SPECIAL_UNARY
#undef TENON_LANE_SPECIAL_BINARY
#if HWY_NATIVE_FMA
#define TENON_VECTOR_SPECIAL_UNARY(NAME)   \
  template <class D>                       \
  HWY_INLINE Vector<D> NAME(Vector<D> a) { \
    return {vectors::NAME(D(), a.v)};      \
  }
#define TENON_VECTOR_SPECIAL_BINARY(NAME)               \
  template <class D>                                    \
  HWY_INLINE Vector<D> NAME(Vector<D> a, Vector<D> b) { \
    return {vectors::NAME(D(), a.v, b.v)};              \
  }
TENON_SPECIAL_VECTORS_UNARY(TENON_VECTOR_SPECIAL_UNARY)
TENON_SPECIAL_VECTORS_BINARY(TENON_VECTOR_SPECIAL_BINARY)
#undef TENON_VECTOR_SPECIAL_UNARY
#undef TENON_VECTOR_SPECIAL_BINARY
#endif
#undef TENON_SPECIAL_CALL
/// -a log(a); 0 for 0, and -infinity below.
template <class D>
HWY_INLINE Vector<D> entropy(Vector<D> a) {
  using T = hn::TFromD<D>;
  const D d;
  const Pair<hn::Vec<D>> log = log_pair(d, a.v);
  const hn::Vec<D> zero = hn::Zero(d), less = hn::Neg(a.v), high = hn::Mul(less, log.high);
#if HWY_NATIVE_FMA
  const hn::Vec<D> product = hn::Add(high, hn::MulAdd(less, log.low, hn::MulSub(less, log.high, high)));
#else
  const hn::Vec<D> product = hn::Add(high, hn::Mul(less, log.low));
#endif
  const hn::Vec<D> below = hn::IfThenElse(hn::Lt(a.v, zero), hn::Set(d, -std::numeric_limits<T>::infinity()), a.v);
  const hn::Vec<D> other = hn::IfThenElse(hn::Eq(a.v, zero), zero, below);
  const hn::Vec<D> least = hn::Set(d, -std::numeric_limits<T>::infinity());
  // Of 1 it is -0, as PyTorch's product is, and of infinity -infinity; their sums with the low part are not.
  const auto is_last = hn::Or(hn::Eq(high, zero), hn::Eq(high, least));
  return {hn::IfThenElse(hn::Lt(zero, a.v), hn::IfThenElse(is_last, high, product), other)};
}
/// a * log; 0 where a is 0, unless log is NaN because b is.
template <class D>
HWY_INLINE Vector<D> product_or_0(Vector<D> a, Vector<D> b, Vector<D> log) {
  const D d;
  const hn::Vec<D> product = hn::IfThenZeroElse(hn::Eq(a.v, hn::Zero(d)), hn::Mul(a.v, log.v));
  return {hn::IfThenElse(hn::IsNaN(b.v), b.v, product)};
}
template <class D>
HWY_INLINE Vector<D> angle(Vector<D> a, Vector<D> b) {
  return {library<Angle>(D(), a.v, b.v)};
}
template <class D>
HWY_INLINE Vector<D> remainder_trunc(Vector<D> a, Vector<D> b) {
  return {remainder_vector(D(), a.v, b.v)};
}
template <class D>
HWY_INLINE Vector<D> remainder_floor(Vector<D> a, Vector<D> b) {
  const hn::Vec<D> remainder = remainder_vector(D(), a.v, b.v), zero = hn::Zero(D());
  const auto has_other_sign = hn::Xor(hn::Lt(b.v, zero), hn::Lt(remainder, zero));
  const auto is_shifted = hn::And(hn::Ne(remainder, zero), has_other_sign);
  return {hn::IfThenElse(is_shifted, hn::Add(remainder, b.v), remainder)};
}
template <class D, Half T>
HWY_INLINE SteppedVector<D, T> remainder_trunc(SteppedVector<D, T> a, SteppedVector<D, T> b) {
  return {remainder_vector(D(), a.v, b.v)};
}
/// The quotient of floats rounded to zero.
template <class V>
HWY_INLINE auto quotient_trunc(V a, V b) -> decltype(V{hn::Trunc(a.v)}) {
  return V{hn::Trunc((a / b).v)};
}
/// Python's floor division of floats, computed from the remainder, as in PyTorch.
template <class V>
HWY_INLINE auto quotient_floor(V a, V b) -> decltype(V{hn::Floor(a.v)}) {
  const V zero(0), one(1), half(0.5), remainder = remainder_trunc(a, b), rough = (a - remainder) / b, exact = a / b;
  const auto shifts = (!(remainder == zero)) & ((b < zero) ^ (remainder < zero));
  const V quotient = choose(shifts, rough - one, rough), floor{hn::Floor(quotient.v)};
  const V whole = choose(half < quotient - floor, floor + one, floor);
  const V marked = choose(quotient == zero, V{hn::CopySign(zero.v, exact.v)}, whole);
  return choose(b == zero, exact, marked);
}
template <class D>
HWY_INLINE Vector<D> to_power(Vector<D> a, Vector<D> b) {
  return {library<ToPower>(D(), a.v, b.v)};
}
/// A step for each bit that an exponent may have, without branches: GCC makes vectors of the loop around it, which
/// takes a tenth of the time. Of wider integers it does not: see integer_powers.
template <std::integral T>
HWY_INLINE Lane<T> short_to_power(Lane<T> a, Lane<T> b) {
  using Bits = Wrapping<T>;
  auto result = static_cast<T>(1), power = a.v;
  auto rest = static_cast<std::make_unsigned_t<T>>(b.v);
  for (unsigned bit = 0; bit < 8 * sizeof(T); ++bit) {
    result = static_cast<T>(static_cast<Bits>(result) * static_cast<Bits>((rest & 1) != 0 ? power : static_cast<T>(1)));
    power = static_cast<T>(static_cast<Bits>(power) * static_cast<Bits>(power));
    rest = static_cast<decltype(rest)>(rest >> 1);
  }
  // Powers of -1 alternate with the lowest bit of an exponent below 0, too.
  const bool is_share = std::is_signed_v<T> && b.v < 0 && a.v != 1 && a.v != static_cast<T>(-1);
  return Lane<T>(is_share ? static_cast<T>(0) : result);
}
/// Wraps. A negative power is 0, unless a is 1 or -1.
template <std::integral T>
HWY_INLINE Lane<T> to_power(Lane<T> a, Lane<T> b) {
  if constexpr (sizeof(T) <= 2) return short_to_power(a, b);
  if (std::is_signed_v<T> && b.v < 0) {
    if (a.v == static_cast<T>(-1)) return Lane<T>(b.v % 2 == 0 ? 1 : -1);
    return Lane<T>(a.v == 1 ? 1 : 0);
  }
  Lane<T> result(1);
  for (auto rest = static_cast<uint64_t>(b.v); rest != 0; rest /= 2, a = a * a)
    if (rest % 2 != 0) result = result * a;
  return result;
}
template <class D>
HWY_INLINE Vector<D> logistic(Vector<D> a) {
#if HWY_NATIVE_FMA
  return {logistic_vector(D(), a.v)};
#else
  return {library<Logistic>(D(), a.v)};
#endif
}
/// a / (1 + e^-a).
template <class L>
HWY_INLINE L times_logistic(L a) {
  return a / (L(1) + exponential(-a));
}
#if HWY_NATIVE_FMA
template <class D>
HWY_INLINE Vector<D> times_logistic(Vector<D> a) {
  return {times_logistic_vector(D(), a.v)};
}
#endif
template <class D>
HWY_INLINE Vector<D> logarithm_of_sum(Vector<D> a, Vector<D> b) {
  return {library<LogarithmOfSum>(D(), a.v, b.v)};
}
template <class D>
HWY_INLINE Vector<D> logarithm_to_2_of_sum(Vector<D> a, Vector<D> b) {
  return {library<LogarithmTo2OfSum>(D(), a.v, b.v)};
}
/// above + log(1 + e^-|a|), rounded once; `above` >= 0, and infinite results are infinite there.
template <class D>
HWY_INLINE Vector<D> raised_by_share(Vector<D> above, Vector<D> a) {
#if HWY_NATIVE_FMA
  const D d;
  const Pair<hn::Vec<D>> power = exponential_pair(d, hn::Neg(hn::Abs(a.v)));
  const hn::Vec<D> finite = plus_log1p(d, above.v, power);
  const auto infinite = hn::Eq(above.v, hn::Set(d, static_cast<hn::TFromD<D>>(kInfinity)));
  return {hn::IfThenElse(hn::IsNaN(a.v), a.v, hn::IfThenElse(infinite, above.v, finite))};
#else
  return above + logarithm_of_1_plus_share(exponential(-magnitude(a)));
#endif
}
/// log(1 + e^a): infinite where e^a is.
template <class D>
HWY_INLINE Vector<D> softened(Vector<D> a) {
  constexpr double kLargestLog = sizeof(hn::TFromD<D>) == sizeof(float) ? 88.72283935546875 : 709.782712893384;
  const Vector<D> zero(0), above = choose(Vector<D>(kLargestLog) < a, Vector<D>(kInfinity), choose(zero < a, a, zero));
  return raised_by_share(above, a);
}
/// log(1 / (1 + e^-a)).
template <class D>
HWY_INLINE Vector<D> logistic_logarithm(Vector<D> a) {
  const Vector<D> zero(0);
  return zero - raised_by_share(choose(a < zero, -a, zero), a);
}
/// log(a / (1 - a)), a limited to the range from eps to 1 - eps first.
template <class V>
HWY_INLINE V logarithm_of_odds(V a, V eps) {
  const V one(1), high = one - eps;
  const V limited = choose(a < eps, eps, choose(high < a, high, a));
  return logarithm(limited / (one - limited));
}
/// a log b: 0 if a is 0, unless b is NaN.
template <class D>
HWY_INLINE Vector<D> times_logarithm(Vector<D> a, Vector<D> b) {
  return product_or_0(a, b, logarithm(b));
}
/// sin(pi a) / (pi a).
template <class D>
HWY_INLINE Vector<D> sine_by_angle(Vector<D> a) {
  const Vector<D> angle = a * Vector<D>(3.14159265358979323846);
  return choose(a == Vector<D>(0), Vector<D>(1), sine(angle) / angle);
}
/// Bench: tenon_bench --ops --filter 'ops/(gcd|lcm)': divisions without a sign are faster.
template <std::integral T>
HWY_INLINE Lane<T> common_divisor(Lane<T> a, Lane<T> b) {
  a = magnitude(a);
  b = magnitude(b);
  if (std::cmp_less(a.v | b.v, 0)) {  // the smallest integer, which has no magnitude: remainders are negative
    while (a.v != 0) {
      const Lane<T> rest = remainder_trunc(b, a);
      b = a;
      a = rest;
    }
    return b;
  }
  using Unsigned = std::conditional_t<(sizeof(T) < 8), uint32_t, uint64_t>;
  auto divisor = static_cast<Unsigned>(a.v), number = static_cast<Unsigned>(b.v);
  while (divisor != 0) {
    const Unsigned rest = number % divisor;
    number = divisor;
    divisor = rest;
  }
  return Lane<T>(static_cast<T>(number));
}
/// As in PyTorch, a product of small integers is made positive before it wraps.
template <std::integral T>
HWY_INLINE Lane<T> common_multiple(Lane<T> a, Lane<T> b) {
  using Wide = std::conditional_t<(sizeof(T) < 4), int, T>;
  const Lane<T> divisor = common_divisor(a, b);
  if (divisor.v == 0) return divisor;
  return Lane<T>(static_cast<T>(magnitude(Lane<Wide>(quotient_trunc(a, divisor).v) * Lane<Wide>(b.v)).v));
}
/// The neighbour of a towards b.
template <class T>
HWY_INLINE Lane<T> neighbour(Lane<T> a, Lane<T> b) {
  if (a.v != a.v || b.v != b.v) return Lane<T>(a.v + b.v);
  if (a.v == b.v) return b;
  const bool away = (a.v < b.v) == (a.v > 0);
  if (a.v == 0) return Lane<T>(std::copysign(std::numeric_limits<T>::denorm_min(), b.v));
  const auto bits = __builtin_bit_cast(Bits<T>, a.v);
  return Lane<T>(__builtin_bit_cast(T, bits + (away ? 1 : -1)));
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
