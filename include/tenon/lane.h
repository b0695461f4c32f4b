// kernel: one lane of a loop that the user's compiler turns into SIMD vectors (tenon/lane_loop.h). Operators and
// functions have the names of the ops on tensors, and give the same bits, so that one generic lambda takes both.
#pragma once
#include <type_traits>

namespace tenon::simd {

template <class N>
concept Number = std::is_arithmetic_v<N>;

#if defined(__clang__)
// Clang makes vectors of calls only if they do not set errno.
extern "C" __attribute__((const)) float tenon_sqrtf(float) __asm__("sqrtf");
extern "C" __attribute__((const)) double tenon_sqrt(double) __asm__("sqrt");
#else
inline float tenon_sqrtf(float x) { return __builtin_sqrtf(x); }
inline double tenon_sqrt(double x) { return __builtin_sqrt(x); }
#endif

/// The result of a comparison.
struct Truth {
  bool value;
  friend constexpr Truth operator&(Truth a, Truth b) { return {static_cast<bool>(a.value & b.value)}; }
  friend constexpr Truth operator|(Truth a, Truth b) { return {static_cast<bool>(a.value | b.value)}; }
  friend constexpr Truth operator^(Truth a, Truth b) { return {a.value != b.value}; }
  friend constexpr Truth operator~(Truth a) { return {!a.value}; }
};

/// An element of float32 or float64. Numbers beside it are rounded to `T` first, as the ops do.
template <class T>
struct Lane {
  T value;

  template <Number N>
  static constexpr Lane of(N number) {
    return {static_cast<T>(number)};
  }
  static constexpr Lane of(Lane lane) { return lane; }

  // clang-format off
#define TENON_LANE_OPERATOR(RESULT, OPERATOR, EXPRESSION)                                                          \
  friend constexpr RESULT operator OPERATOR(Lane a, Lane b) { return {EXPRESSION}; }                               \
  template <Number N> friend constexpr RESULT operator OPERATOR(Lane a, N b) { return a OPERATOR of(b); }          \
  template <Number N> friend constexpr RESULT operator OPERATOR(N a, Lane b) { return of(a) OPERATOR b; }
  TENON_LANE_OPERATOR(Lane, +, a.value + b.value)
  TENON_LANE_OPERATOR(Lane, -, a.value - b.value)
  // GCC would make a fused multiply-add, which rounds once, of a product and a sum.
#if defined(__GNUC__) && !defined(__clang__) && __has_builtin(__builtin_assoc_barrier)
  TENON_LANE_OPERATOR(Lane, *, __builtin_assoc_barrier(a.value * b.value))
#else
  TENON_LANE_OPERATOR(Lane, *, a.value * b.value)
#endif
  TENON_LANE_OPERATOR(Lane, /, a.value / b.value)
  TENON_LANE_OPERATOR(Truth, <, a.value < b.value)
  TENON_LANE_OPERATOR(Truth, <=, a.value <= b.value)
  TENON_LANE_OPERATOR(Truth, >, a.value > b.value)
  TENON_LANE_OPERATOR(Truth, >=, a.value >= b.value)
  TENON_LANE_OPERATOR(Truth, ==, a.value == b.value)
  TENON_LANE_OPERATOR(Truth, !=, a.value != b.value)
#undef TENON_LANE_OPERATOR
  // clang-format on
  friend constexpr Lane operator-(Lane a) { return {-a.value}; }

  constexpr Lane neg() const { return -*this; }
  constexpr Lane square() const { return *this * *this; }
  constexpr Lane reciprocal() const { return 1 / *this; }
  Lane rsqrt() const { return 1 / sqrt(); }
  Lane abs() const {
    if constexpr (sizeof(T) == 4)
      return {__builtin_fabsf(value)};
    else
      return {__builtin_fabs(value)};
  }
  Lane sqrt() const {
    if constexpr (sizeof(T) == 4)
      return {tenon_sqrtf(value)};
    else
      return {tenon_sqrt(value)};
  }
  /// The greater one; NaN if one is NaN.
  template <class Other>
  constexpr Lane maximum(Other other) const {
    const T x = value, y = of(other).value, greater = y > x ? y : x;
    return {__builtin_isnan(y) ? y : greater};
  }
  template <class Other>
  constexpr Lane minimum(Other other) const {
    const T x = value, y = of(other).value, less = y < x ? y : x;
    return {__builtin_isnan(y) ? y : less};
  }
  template <class Least>
  constexpr Lane clamp_min(Least least) const {
    return maximum(least);
  }
  template <class Most>
  constexpr Lane clamp_max(Most most) const {
    return minimum(most);
  }
  template <class Least, class Most>
  constexpr Lane clamp(Least least, Most most) const {
    return maximum(least).minimum(most);
  }
  constexpr Lane relu() const { return maximum(0); }

  /// `a` where the condition is true, otherwise `b`.
  friend constexpr Lane where(Truth condition, Lane a, Lane b) { return {condition.value ? a.value : b.value}; }
  template <Number N>
  friend constexpr Lane where(Truth condition, Lane a, N b) {
    return where(condition, a, of(b));
  }
  template <Number N>
  friend constexpr Lane where(Truth condition, N a, Lane b) {
    return where(condition, of(a), b);
  }

  friend constexpr Lane neg(Lane a) { return a.neg(); }
  friend constexpr Lane square(Lane a) { return a.square(); }
  friend constexpr Lane reciprocal(Lane a) { return a.reciprocal(); }
  friend Lane sqrt(Lane a) { return a.sqrt(); }
  friend Lane rsqrt(Lane a) { return a.rsqrt(); }
  friend Lane abs(Lane a) { return a.abs(); }
  friend constexpr Lane relu(Lane a) { return a.relu(); }
  template <class Other>
  friend constexpr Lane maximum(Lane a, Other b) {
    return a.maximum(b);
  }
  template <class Other>
  friend constexpr Lane minimum(Lane a, Other b) {
    return a.minimum(b);
  }
  template <class Least>
  friend constexpr Lane clamp_min(Lane a, Least least) {
    return a.clamp_min(least);
  }
  template <class Most>
  friend constexpr Lane clamp_max(Lane a, Most most) {
    return a.clamp_max(most);
  }
  template <class Least, class Most>
  friend constexpr Lane clamp(Lane a, Least least, Most most) {
    return a.clamp(least, most);
  }
};

}  // namespace tenon::simd
