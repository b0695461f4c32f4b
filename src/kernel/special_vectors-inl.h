// kernel: functions of special.h over whole vectors, where there is fused multiply-add: the same formulas in the same
// order, fused where GCC fuses them, so that only exponentials, logarithms and sines may differ in the last bit. Each
// function is compiled once for float and once for double in an instruction set.
#if defined(TENON_KERNEL_SPECIAL_VECTORS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_SPECIAL_VECTORS_INL_H
#undef TENON_KERNEL_SPECIAL_VECTORS_INL_H
#else
#define TENON_KERNEL_SPECIAL_VECTORS_INL_H
#endif

#include <cstddef>
#include <cstdint>
#include <limits>
#include <type_traits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/library-inl.h"
#include "kernel/logarithm-inl.h"
#include "kernel/special.h"
#include "kernel/special_tables.h"

#if HWY_NATIVE_FMA
HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE::vectors {

namespace hn = hwy::HWY_NAMESPACE;

// --- Orthogonal polynomials

/// Degrees up to this one are computed by the recurrence of all lanes together.
inline constexpr int kLongestRecurrence = 128;

/// Steps `next(k, last, before)` from degree 0 and 1 up to each lane's degree, which is below kLongestRecurrence.
template <class D, class V, class Next>
HWY_INLINE V recurrence(D d, V first, V degree, const Next& next) {
  const V one = hn::Set(d, 1);
  V before = one, last = hn::IfThenElse(hn::Lt(degree, one), one, first), k = one;
  for (auto goes_on = hn::Lt(k, degree); !hn::AllFalse(d, goes_on); goes_on = hn::Lt(k, degree)) {
    const V after = next(k, last, before);
    before = last;
    last = hn::IfThenElse(goes_on, after, last);
    k = hn::Add(k, one);
  }
  return last;
}
/// The lanes that are not `plain`, computed by the function of single numbers.
template <class D, class V>
HWY_NOINLINE V computed_singly(D d, hn::Mask<D> plain, V x, V degree, V result,
                               hn::TFromD<D> (*single)(hn::TFromD<D>, hn::TFromD<D>)) {
  constexpr std::size_t kLanes = hn::MaxLanes(D());
  hn::TFromD<D> at[kLanes], degrees[kLanes], results[kLanes], is_plain[kLanes];
  hn::StoreU(x, d, at);
  hn::StoreU(degree, d, degrees);
  hn::StoreU(result, d, results);
  hn::StoreU(hn::IfThenElseZero(plain, hn::Set(d, 1)), d, is_plain);
  for (std::size_t lane = 0; lane < kLanes; ++lane)
    if (is_plain[lane] == 0) results[lane] = single(at[lane], degrees[lane]);
  return hn::LoadU(d, results);
}
/// The degree rounded toward 0, and 0 in lanes that are not `plain`.
template <class D, class V>
HWY_INLINE V degrees_among(D, hn::Mask<D> plain, V degree) {
  return hn::IfThenElseZero(plain, hn::Trunc(degree));
}
template <class D, class V>
HWY_INLINE hn::Mask<D> is_short(D d, V degree) {
  return hn::And(hn::Lt(hn::Set(d, -1), degree), hn::Lt(degree, hn::Set(d, kLongestRecurrence)));
}

/// A Chebyshev polynomial of `at`, which is x or 2x - 1: that of degree 1 is factor * at + more. Inside (-1, 1),
/// degrees above `most` are computed by the angle.
struct Chebyshev {
  bool shifted;
  double factor, more;
  int most;
};
template <class D, class V>
HWY_NOINLINE V chebyshev(D d, V x, V degree, const Chebyshev& kind,
                         hn::TFromD<D> (*single)(hn::TFromD<D>, hn::TFromD<D>)) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, 1);
  const V at = kind.shifted ? hn::Sub(hn::Add(x, x), one) : x, size = hn::Abs(at);
  const auto inside = hn::And(hn::Lt(size, one), hn::Lt(degree, hn::Set(d, static_cast<T>(kind.most + 1))));
  const auto plain = hn::And(is_short(d, degree), hn::Or(inside, hn::Lt(one, size)));
  const V first = hn::MulAdd(at, hn::Set(d, static_cast<T>(kind.factor)), hn::Set(d, static_cast<T>(kind.more)));
  const V twice = hn::Add(at, at);
  const V result = recurrence(d, first, degrees_among(d, plain, degree),
                              [&](V, V last, V before) HWY_ATTR { return hn::MulSub(twice, last, before); });
  return hn::AllTrue(d, plain) ? result : computed_singly(d, plain, x, degree, result, single);
}

/// Hermite polynomials: p(k + 1) = factor x p(k) - factor k p(k - 1).
template <class D, class V>
HWY_NOINLINE V hermite(D d, V x, V degree, int factor, hn::TFromD<D> (*single)(hn::TFromD<D>, hn::TFromD<D>)) {
  const auto plain = is_short(d, degree);
  const V scale = hn::Set(d, static_cast<hn::TFromD<D>>(factor)), first = hn::Mul(x, scale);
  const V result = recurrence(d, first, degrees_among(d, plain, degree), [&](V k, V last, V before) HWY_ATTR {
    return hn::MulSub(first, last, hn::Mul(hn::Mul(k, scale), before));
  });
  return hn::AllTrue(d, plain) ? result : computed_singly(d, plain, x, degree, result, single);
}

/// Laguerre's and Legendre's: p(k + 1) = (slope p(k) - k p(k - 1)) / (k + 1).
template <bool kLegendre, class D, class V>
HWY_NOINLINE V divided(D d, V x, V degree, hn::TFromD<D> (*single)(hn::TFromD<D>, hn::TFromD<D>)) {
  const V one = hn::Set(d, 1);
  const auto plain = is_short(d, degree);
  const V first = kLegendre ? x : hn::Sub(one, x);
  const V result = recurrence(d, first, degrees_among(d, plain, degree), [&](V k, V last, V before) HWY_ATTR {
    const V twice = hn::Add(k, k), slope = kLegendre ? hn::Mul(hn::Add(twice, one), x) : hn::Add(twice, first);
    return hn::Div(hn::MulSub(slope, last, hn::Mul(k, before)), hn::Add(k, one));
  });
  return hn::AllTrue(d, plain) ? result : computed_singly(d, plain, x, degree, result, single);
}

// The row of a table: shifted, factor, more, most. -0 changes nothing, not even the sign of 0.
#define TENON_CHEBYSHEV(NAME, ...)                              \
  template <class D, class V>                                   \
  HWY_INLINE V NAME(D d, V x, V degree) {                       \
    static constexpr Chebyshev kind = {__VA_ARGS__};            \
    return chebyshev(d, x, degree, kind, special::fused::NAME); \
  }
TENON_CHEBYSHEV(chebyshev_polynomial_t, false, 1, -0.0, 6)
TENON_CHEBYSHEV(chebyshev_polynomial_u, false, 2, -0.0, 8)
TENON_CHEBYSHEV(chebyshev_polynomial_v, false, 2, -1, 8)
TENON_CHEBYSHEV(chebyshev_polynomial_w, false, 2, 1, 8)
TENON_CHEBYSHEV(shifted_chebyshev_polynomial_t, true, 1, -0.0, 6)
TENON_CHEBYSHEV(shifted_chebyshev_polynomial_u, true, 2, -0.0, 6)
TENON_CHEBYSHEV(shifted_chebyshev_polynomial_v, true, 2, -1, 6)
TENON_CHEBYSHEV(shifted_chebyshev_polynomial_w, true, 2, 1, 4)
#undef TENON_CHEBYSHEV
template <class D, class V>
HWY_INLINE V hermite_polynomial_h(D d, V x, V degree) {
  return hermite(d, x, degree, 2, special::fused::hermite_polynomial_h);
}
template <class D, class V>
HWY_INLINE V hermite_polynomial_he(D d, V x, V degree) {
  return hermite(d, x, degree, 1, special::fused::hermite_polynomial_he);
}
template <class D, class V>
HWY_INLINE V laguerre_polynomial_l(D d, V x, V degree) {
  return divided<false>(d, x, degree, special::fused::laguerre_polynomial_l);
}
template <class D, class V>
HWY_INLINE V legendre_polynomial_p(D d, V x, V degree) {
  return divided<true>(d, x, degree, special::fused::legendre_polynomial_p);
}

// --- Modified Bessel functions

/// special::chebyshev_sum.
template <class D, class V>
HWY_NOINLINE V sum_of_terms(D d, V x, const double* coefficients, std::size_t count) {
  using T = hn::TFromD<D>;
  V sum = hn::Set(d, static_cast<T>(coefficients[0])), before = hn::Zero(d), second_before = hn::Zero(d);
  for (std::size_t i = 1; i < count; ++i) {
    second_before = before;
    before = sum;
    sum = hn::Add(hn::MulSub(x, before, second_before), hn::Set(d, static_cast<T>(coefficients[i])));
  }
  return hn::Mul(hn::Set(d, T(0.5)), hn::Sub(sum, second_before));
}
template <class D, class V, std::size_t kCount>
HWY_INLINE V chebyshev_sum(D d, V x, const double (&coefficients)[kCount], std::size_t begin = 0) {
  return sum_of_terms(d, x, coefficients + begin, kCount - begin);
}
/// `near` in the lanes of a mask and `far` in the others; computes none for no lane.
template <class D, class Near, class Far>
HWY_INLINE hn::Vec<D> of_both(D d, hn::Mask<D> is_near, const Near& near, const Far& far) {
  hn::Vec<D> result = hn::Zero(d);
  if (!hn::AllFalse(d, is_near)) result = near();
  if (!hn::AllTrue(d, is_near)) result = hn::IfThenElse(is_near, result, far());
  return result;
}

/// The sums of order 0 and 1 for |x| = `size`, without the exponential: up to 8 of one series, beyond of another one.
template <class D, class V>
HWY_NOINLINE V modified_i0(D d, V size) {
  using T = hn::TFromD<D>;
  const V two = hn::Set(d, T(2));
  return of_both(
      d, hn::Le(size, hn::Set(d, T(8))),
      [&]() HWY_ATTR { return chebyshev_sum(d, hn::MulSub(size, hn::Set(d, T(0.5)), two), special::kI0Near); },
      [&]() HWY_ATTR { return chebyshev_sum(d, hn::Sub(hn::Div(hn::Set(d, T(32)), size), two), special::kI0Far); });
}
template <class D, class V>
HWY_NOINLINE V modified_i1(D d, V size, std::size_t near_begin, std::size_t far_begin) {
  using T = hn::TFromD<D>;
  const V two = hn::Set(d, T(2));
  return of_both(
      d, hn::Le(size, hn::Set(d, T(8))),
      [&]() HWY_ATTR {
        return chebyshev_sum(d, hn::MulSub(size, hn::Set(d, T(0.5)), two), special::kI1Near, near_begin);
      },
      [&]() HWY_ATTR {
        return chebyshev_sum(d, hn::Sub(hn::Div(hn::Set(d, T(32)), size), two), special::kI1Far, far_begin);
      });
}
/// `value`, beyond 8 divided by the root of `size`.
template <class D, class V>
HWY_INLINE V less_far(D d, V size, V value) {
  return hn::IfThenElse(hn::Le(size, hn::Set(d, 8)), value, hn::Div(value, hn::Sqrt(size)));
}
template <class D, class V>
HWY_INLINE V negative_below_0(D d, V x, V value) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Neg(value), value);
}
template <class D, class V>
HWY_INLINE V i0e(D d, V x) {
  const V size = hn::Abs(x);
  return less_far(d, size, modified_i0(d, size));
}
template <class D, class V>
HWY_NOINLINE V bessel_i0(D d, V x) {
  const V size = hn::Abs(x);
  return less_far(d, size, hn::Mul(exp_vector(d, size), modified_i0(d, size)));
}
template <class D, class V>
HWY_INLINE V modified_bessel_i0(D d, V x) {
  return bessel_i0(d, x);
}
// In float32 the first coefficients are too small to matter.
template <class D>
inline constexpr std::size_t kNearBegin = std::is_same_v<hn::TFromD<D>, float> ? 12 : 0;
template <class D>
inline constexpr std::size_t kFarBegin = std::is_same_v<hn::TFromD<D>, float> ? 18 : 0;
template <class D, class V>
HWY_INLINE V i1e(D d, V x) {
  const V size = hn::Abs(x), sum = modified_i1(d, size, kNearBegin<D>, kFarBegin<D>);
  const V near = hn::Mul(sum, size), far = hn::Div(sum, hn::Sqrt(size));
  return negative_below_0(d, x, hn::IfThenElse(hn::Le(size, hn::Set(d, 8)), near, far));
}
template <class D, class V>
HWY_INLINE V i1(D d, V x) {
  const V size = hn::Abs(x), e = exp_vector(d, size), sum = modified_i1(d, size, kNearBegin<D>, kFarBegin<D>);
  const V near = hn::Mul(hn::Mul(e, size), sum), far = hn::Div(hn::Mul(e, sum), hn::Sqrt(size));
  return negative_below_0(d, x, hn::IfThenElse(hn::Le(size, hn::Set(d, 8)), near, far));
}
template <class D, class V>
HWY_NOINLINE V modified_bessel_i1(D d, V x) {
  const V size = hn::Abs(x), e = exp_vector(d, size), sum = modified_i1(d, size, 0, 0);
  const V near = hn::Mul(hn::Mul(sum, size), e), far = hn::Div(hn::Mul(e, sum), hn::Sqrt(size));
  return negative_below_0(d, x, hn::IfThenElse(hn::Le(size, hn::Set(d, 8)), near, far));
}

/// `result` of x > 0; infinite at 0, NaN below.
template <class D, class V>
HWY_INLINE V above_0(D d, V x, V result, double at_0) {
  using T = hn::TFromD<D>;
  const V zero = hn::Zero(d), nan = hn::Set(d, std::numeric_limits<T>::quiet_NaN());
  const V other = hn::IfThenElse(hn::Eq(x, zero), hn::Set(d, static_cast<T>(at_0)), nan);
  return hn::IfThenElse(hn::Le(x, zero), other, result);
}
template <class D, class V>
HWY_INLINE V half_logarithm(D d, V x) {
  return log_vector(d, hn::Mul(x, hn::Set(d, 0.5)));
}
/// sum - log(x / 2) * i0, of float32 in float64.
template <class D, class V>
HWY_INLINE V less_logarithm(D d, V x, V sum, V i0) {
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
    return hn::NegMulAdd(half_logarithm(d, x), i0, sum);
  } else {
    const hn::Half<D> half;
    const hn::Rebind<double, decltype(half)> wide;
    const auto of_half = [&](auto of_x, auto of_sum, auto of_i0) HWY_ATTR {
      return hn::DemoteTo(half, less_logarithm(wide, hn::PromoteTo(wide, of_x), hn::PromoteTo(wide, of_sum),
                                               hn::PromoteTo(wide, of_i0)));
    };
    return hn::Combine(d, of_half(hn::UpperHalf(half, x), hn::UpperHalf(half, sum), hn::UpperHalf(half, i0)),
                       of_half(hn::LowerHalf(half, x), hn::LowerHalf(half, sum), hn::LowerHalf(half, i0)));
  }
}
template <class D, class V>
HWY_NOINLINE V k0_far(D d, V x) {
  using T = hn::TFromD<D>;
  return chebyshev_sum(d, hn::Sub(hn::Div(hn::Set(d, T(8)), x), hn::Set(d, T(2))), special::kK0Far);
}
template <class D, class V>
HWY_NOINLINE V k1_far(D d, V x) {
  using T = hn::TFromD<D>;
  return chebyshev_sum(d, hn::Sub(hn::Div(hn::Set(d, T(8)), x), hn::Set(d, T(2))), special::kK1Far);
}
template <class D, class V>
HWY_INLINE V square_less_2(D d, V x) {
  return hn::MulSub(x, x, hn::Set(d, 2));
}
template <class D, class V>
HWY_NOINLINE V k1_near(D d, V x) {
  const V ratio = hn::Div(chebyshev_sum(d, square_less_2(d, x), special::kK1Near), x);
  return hn::MulAdd(half_logarithm(d, x), modified_bessel_i1(d, x), ratio);
}
template <class D, class V>
HWY_INLINE V modified_bessel_k0(D d, V x) {
  const V result = of_both(
      d, hn::Le(x, hn::Set(d, 2)),
      [&]() HWY_ATTR {
        return less_logarithm(d, x, chebyshev_sum(d, square_less_2(d, x), special::kK0Near), bessel_i0(d, x));
      },
      [&]() HWY_ATTR { return hn::Div(hn::Mul(exp_vector(d, hn::Neg(x)), k0_far(d, x)), hn::Sqrt(x)); });
  return above_0(d, x, result, kInfinity);
}
template <class D, class V>
HWY_INLINE V scaled_modified_bessel_k0(D d, V x) {
  const V result = of_both(
      d, hn::Le(x, hn::Set(d, 2)),
      [&]() HWY_ATTR {
        const V sum = chebyshev_sum(d, square_less_2(d, x), special::kK0Near);
        return hn::Mul(hn::NegMulAdd(half_logarithm(d, x), bessel_i0(d, x), sum), exp_vector(d, x));
      },
      [&]() HWY_ATTR { return hn::Div(k0_far(d, x), hn::Sqrt(x)); });
  return above_0(d, x, result, kInfinity);
}
template <class D, class V>
HWY_INLINE V modified_bessel_k1(D d, V x) {
  const V result = of_both(
      d, hn::Le(x, hn::Set(d, 2)), [&]() HWY_ATTR { return k1_near(d, x); },
      [&]() HWY_ATTR { return hn::Div(hn::Mul(exp_vector(d, hn::Neg(x)), k1_far(d, x)), hn::Sqrt(x)); });
  return above_0(d, x, result, kInfinity);
}
template <class D, class V>
HWY_INLINE V scaled_modified_bessel_k1(D d, V x) {
  const V result = of_both(
      d, hn::Le(x, hn::Set(d, 2)), [&]() HWY_ATTR { return hn::Mul(k1_near(d, x), exp_vector(d, x)); },
      [&]() HWY_ATTR { return hn::Div(k1_far(d, x), hn::Sqrt(x)); });
  return above_0(d, x, result, kInfinity);
}

// --- Bessel functions

/// special::polynomial: the coefficients begin with the highest power.
template <class D, class V, std::size_t kCount>
HWY_INLINE V falling(D d, V x, const double (&coefficients)[kCount]) {
  using T = hn::TFromD<D>;
  V result = hn::Set(d, static_cast<T>(coefficients[0]));
  for (std::size_t i = 1; i < kCount; ++i) result = hn::MulAdd(result, x, hn::Set(d, static_cast<T>(coefficients[i])));
  return result;
}
template <class D, class V, std::size_t kOver, std::size_t kUnder>
HWY_INLINE V ratio(D d, V x, const double (&over)[kOver], const double (&under)[kUnder]) {
  return hn::Div(falling(d, x, over), falling(d, x, under));
}
/// For x > 5: (even cos(phase) - odd sin(phase)) sqrt(2 / pi) / sqrt(x), or of Y with sine and cosine.
template <bool kSecondKind, class D, class V>
HWY_NOINLINE V waves(D d, V x, V even, V odd, V phase) {
  const V sin = library<Sine>(d, phase), cos = library<Cosine>(d, phase);
  const V sum = kSecondKind ? hn::MulAdd(even, sin, hn::Mul(odd, cos)) : hn::MulSub(even, cos, hn::Mul(odd, sin));
  constexpr auto kRoot2ByPi = static_cast<hn::TFromD<D>>(0.797884560802865355879892119868763737);
  return hn::Div(hn::Mul(sum, hn::Set(d, kRoot2ByPi)), hn::Sqrt(x));
}
template <bool kSecondKind, class D, class V>
HWY_NOINLINE V waves_of_order_0(D d, V x) {
  using T = hn::TFromD<D>;
  const V z = hn::Div(hn::Set(d, T(25)), hn::Mul(x, x)), inverse = hn::Div(hn::Set(d, T(5)), x);
  const V even = ratio(d, z, special::kJ0PP, special::kJ0PQ);
  const V odd = hn::Mul(inverse, ratio(d, z, special::kJ0QP, special::kJ0QQ));
  constexpr auto kPhase = static_cast<T>(0.785398163397448309615660845819875721);  // pi / 4
  return waves<kSecondKind>(d, x, even, odd, hn::Sub(x, hn::Set(d, kPhase)));
}
template <bool kSecondKind, class D, class V>
HWY_NOINLINE V waves_of_order_1(D d, V x) {
  using T = hn::TFromD<D>;
  const V inverse = hn::Div(hn::Set(d, T(5)), x), z = hn::Mul(inverse, inverse);
  const V even = ratio(d, z, special::kJ1PP, special::kJ1PQ);
  const V odd = hn::Mul(inverse, ratio(d, z, special::kJ1QP, special::kJ1QQ));
  constexpr auto kPhase = static_cast<T>(2.356194490192344928846982537459627163);  // 3 pi / 4
  return waves<kSecondKind>(d, x, even, odd, hn::Sub(x, hn::Set(d, kPhase)));
}
/// J for 0 <= x <= 5.
template <class D, class V>
HWY_NOINLINE V j0_near(D d, V x) {
  using T = hn::TFromD<D>;
  const V square = hn::Mul(x, x);
  const V roots = hn::Mul(hn::Sub(square, hn::Set(d, static_cast<T>(5.78318596294678452118))),
                          hn::Sub(square, hn::Set(d, static_cast<T>(30.4712623436620863991))));
  const V result = hn::Div(hn::Mul(roots, falling(d, square, special::kJ0RP)), falling(d, square, special::kJ0RQ));
  const V tiny = hn::NegMulAdd(square, hn::Set(d, T(0.25)), hn::Set(d, T(1)));
  return hn::IfThenElse(hn::Lt(x, hn::Set(d, static_cast<T>(0.00001))), tiny, result);
}
template <class D, class V>
HWY_NOINLINE V j1_near(D d, V x) {
  using T = hn::TFromD<D>;
  const V square = hn::Mul(x, x), slope = hn::Mul(ratio(d, square, special::kJ1RP, special::kJ1RQ), x);
  return hn::Mul(hn::Mul(slope, hn::Sub(square, hn::Set(d, static_cast<T>(14.6819706421238932572)))),
                 hn::Sub(square, hn::Set(d, static_cast<T>(49.2184563216946036703))));
}
template <class D, class V>
HWY_INLINE hn::Mask<D> is_up_to_5(D d, V x) {
  return hn::Le(x, hn::Set(d, 5));
}
template <class D, class V>
HWY_INLINE V bessel_j0(D d, V x) {
  const V size = hn::Abs(x);
  return of_both(
      d, is_up_to_5(d, size), [&]() HWY_ATTR { return j0_near(d, size); },
      [&]() HWY_ATTR { return waves_of_order_0<false>(d, size); });
}
template <class D, class V>
HWY_INLINE V bessel_j1(D d, V x) {
  const V below = hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), hn::SignBit(d)), size = hn::Xor(x, below);
  const V result = of_both(
      d, is_up_to_5(d, size), [&]() HWY_ATTR { return j1_near(d, size); },
      [&]() HWY_ATTR { return waves_of_order_1<false>(d, size); });
  return hn::Xor(result, below);
}
template <class D, class V>
HWY_INLINE V bessel_y0(D d, V x) {
  constexpr auto k2ByPi = static_cast<hn::TFromD<D>>(0.636619772367581343075535053490057448);
  const V result = of_both(
      d, is_up_to_5(d, x),
      [&]() HWY_ATTR {
        const V scaled = hn::Mul(hn::Set(d, k2ByPi), log_vector(d, x));
        return hn::MulAdd(scaled, j0_near(d, x), ratio(d, hn::Mul(x, x), special::kY0P, special::kY0Q));
      },
      [&]() HWY_ATTR { return waves_of_order_0<true>(d, x); });
  return above_0(d, x, result, -kInfinity);
}
template <class D, class V>
HWY_INLINE V bessel_y1(D d, V x) {
  using T = hn::TFromD<D>;
  constexpr auto k2ByPi = static_cast<T>(0.636619772367581343075535053490057448);
  const V result = of_both(
      d, is_up_to_5(d, x),
      [&]() HWY_ATTR {
        const V poles = hn::MulSub(j1_near(d, x), log_vector(d, x), hn::Div(hn::Set(d, T(1)), x));
        return hn::MulAdd(x, ratio(d, hn::Mul(x, x), special::kY1P, special::kY1Q), hn::Mul(hn::Set(d, k2ByPi), poles));
      },
      [&]() HWY_ATTR { return waves_of_order_1<true>(d, x); });
  return above_0(d, x, result, -kInfinity);
}
template <class D, class V>
HWY_INLINE V spherical_bessel_j0(D d, V x) {
  using T = hn::TFromD<D>;
  static constexpr double terms[] = {
      1 / 6227020800.0, -1 / 39916800.0, 1 / 362880.0, -1 / 5040.0, 1 / 120.0, -1 / 6.0, 1};
  const V size = hn::Abs(x), infinite = hn::Set(d, static_cast<T>(kInfinity));
  const V result = of_both(
      d, hn::Lt(size, hn::Set(d, T(0.5))), [&]() HWY_ATTR { return falling(d, hn::Mul(x, x), terms); },
      [&]() HWY_ATTR { return hn::Div(library<Sine>(d, x), x); });
  return hn::IfThenZeroElse(hn::Eq(size, infinite), result);
}

}  // namespace tenon::HWY_NAMESPACE::vectors
HWY_AFTER_NAMESPACE();
#endif
#endif
