// kernel: the functions of the C++ library over vectors of float64. An intermediate result whose rounding would show is
// kept as a Pair, so that errors stay below 1 ulp. Polynomials are minimax with the errors given, rounded to
// float64. Needs fused multiply-add. The ideas are those of fdlibm (https://www.netlib.org/fdlibm) and of Dekker, "A
// floating-point technique for extending the available precision" (1971).
#if defined(TENON_KERNEL_FLOAT64_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_FLOAT64_FUNCTIONS_INL_H
#undef TENON_KERNEL_FLOAT64_FUNCTIONS_INL_H
#else
#define TENON_KERNEL_FLOAT64_FUNCTIONS_INL_H
#endif

#include <limits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/logarithm-inl.h"
#include "kernel/pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// --- Pairs

template <class D>
HWY_INLINE Pair<hn::Vec<D>> constant(D d, double high, double low) {
  return {hn::Set(d, high), hn::Set(d, low)};
}
/// a + b, exactly.
template <class V>
HWY_INLINE Pair<V> sum_of(V a, V b) {
  const V sum = hn::Add(a, b), of_b = hn::Sub(sum, a);
  return {sum, hn::Add(hn::Sub(a, hn::Sub(sum, of_b)), hn::Sub(b, of_b))};
}
/// a * b, exactly.
template <class V>
HWY_INLINE Pair<V> product_of(V a, V b) {
  const V product = hn::Mul(a, b);
  return {product, hn::MulSub(a, b, product)};
}
template <class V>
HWY_INLINE Pair<V> plus(Pair<V> a, V b) {
  const Pair<V> sum = sum_of(a.high, b);
  return {sum.high, hn::Add(sum.low, a.low)};
}
template <class V>
HWY_INLINE Pair<V> plus(Pair<V> a, Pair<V> b) {
  const Pair<V> sum = sum_of(a.high, b.high);
  return {sum.high, hn::Add(sum.low, hn::Add(a.low, b.low))};
}
template <class V>
HWY_INLINE Pair<V> negative(Pair<V> a) {
  return {hn::Neg(a.high), hn::Neg(a.low)};
}
template <class V>
HWY_INLINE Pair<V> times(Pair<V> a, V b) {
  const Pair<V> product = product_of(a.high, b);
  return {product.high, hn::MulAdd(a.low, b, product.low)};
}
template <class V>
HWY_INLINE Pair<V> times(Pair<V> a, Pair<V> b) {
  const Pair<V> product = product_of(a.high, b.high);
  return {product.high, hn::MulAdd(a.high, b.low, hn::MulAdd(a.low, b.high, product.low))};
}
/// By a power of two.
template <class V>
HWY_INLINE Pair<V> scaled(Pair<V> a, V scale) {
  return {hn::Mul(a.high, scale), hn::Mul(a.low, scale)};
}
template <class D, class V>
HWY_INLINE Pair<V> ratio(D d, Pair<V> a, Pair<V> b) {
  const V inverse = hn::Div(hn::Set(d, 1.0), b.high), high = hn::Mul(a.high, inverse);
  const V rest = hn::NegMulAdd(high, b.low, hn::Add(hn::NegMulAdd(high, b.high, a.high), a.low));
  return {high, hn::Mul(rest, inverse)};
}
/// The root of 0 is 0.
template <class D, class V>
HWY_INLINE Pair<V> root(D d, Pair<V> a) {
  const V high = hn::Sqrt(a.high), rest = hn::Add(hn::NegMulAdd(high, high, a.high), a.low);
  const V low = hn::Div(rest, hn::Add(high, high));
  return {high, hn::IfThenElseZero(hn::Lt(hn::Zero(d), high), low)};
}
template <class V>
HWY_INLINE V total(Pair<V> a) {
  return hn::Add(a.high, a.low);
}
template <class M, class V>
HWY_INLINE Pair<V> choose(M condition, Pair<V> a, Pair<V> b) {
  return {hn::IfThenElse(condition, a.high, b.high), hn::IfThenElse(condition, a.low, b.low)};
}

/// polynomial(d, x, terms), its even and odd terms apart, which the processor adds at once. The first two terms decide
/// the error and are added last.
template <class D, class V, int kCount>
HWY_INLINE V long_polynomial(D d, V x, const double (&terms)[kCount]) {
  const V square = hn::Mul(x, x);
  V next = hn::Set(d, terms[kCount - 1]), last = hn::Set(d, terms[kCount - 2]);
  for (int i = kCount - 3; i >= 2; --i) {
    const V sum = hn::MulAdd(next, square, hn::Set(d, terms[i]));
    next = last;
    last = sum;
  }
  const V rest = hn::MulAdd(next, x, last);
  return hn::MulAdd(hn::MulAdd(rest, x, hn::Set(d, terms[1])), x, hn::Set(d, terms[0]));
}

template <class D>
HWY_INLINE hn::Vec<D> infinity64(D d) {
  return hn::Set(d, std::numeric_limits<double>::infinity());
}
template <class D>
HWY_INLINE hn::Vec<D> nan64(D d) {
  return hn::Set(d, std::numeric_limits<double>::quiet_NaN());
}

// --- Exponentials

/// e^x = 2^k (1 + rest), rest between -0.3 and 0.42.
template <class V, class VI>
struct Exponential64 {
  VI k;
  Pair<V> rest;
};
/// For |x| up to 1100.
template <class D, class V>
HWY_INLINE auto split_exponential(D d, Pair<V> x) {
  using C = ExpLog<double>;
  const hn::RebindToSigned<D> di;
  const V counter = hn::Set(d, kCounter<double>);
  const V counted = hn::MulAdd(x.high, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x.high);  // exact
  const Pair<V> r = sum_of_ordered(high, hn::NegMulAdd(whole, hn::Set(d, C::ln2_low), x.low));
  const V curve = hn::Mul(hn::Mul(r.high, r.high), long_polynomial(d, r.high, C::exp_terms));
  const Pair<V> rest{r.high, hn::Add(curve, hn::MulAdd(r.low, r.high, r.low))};
  return Exponential64<V, std::remove_const_t<decltype(k)>>{k, rest};
}
/// (e^x - 1) / 4 for x up to 710.5: e^x itself would overflow.
template <class D, class V>
HWY_INLINE Pair<V> quarter_of_exponential_less_1(D d, Pair<V> x) {
  const hn::RebindToSigned<D> di;
  const auto e = split_exponential(d, x);
  const V scale = power_of_two(d, hn::Sub(e.k, hn::Set(di, 2)));
  const Pair<V> line = sum_of_ordered(hn::Set(d, 1.0), e.rest.high);
  const Pair<V> power = sum_of_ordered(line.high, hn::Add(line.low, e.rest.low));
  return plus(scaled(power, scale), hn::Set(d, -0.25));
}
template <class D, class V>
HWY_INLINE V expm1_of_float64(D d, V x) {
  const V bounded = hn::Max(hn::Min(x, hn::Set(d, 710.0)), hn::Set(d, -40.0));
  const V result = hn::Mul(hn::Set(d, 4.0), total(quarter_of_exponential_less_1(d, Pair<V>{bounded, hn::Zero(d)})));
  // The smallest numbers lose bits when they are divided by 4.
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-54));
  return hn::IfThenElse(hn::Or(tiny, hn::IsNaN(x)), x, result);
}
/// Of |x| = k ln 2 + r.
template <class V>
struct Hyperbolic {
  V up, down;  // 2^k / 4 and 2^-k / 4: 2^k may overflow where sinh and cosh do not
  Pair<V> r;
  V sine_bent, cosine_bent;  // sinh(r) - r.high, cosh(r) - 1
};
/// The terms of (sinh(r) - r) / r^3 and of (cosh(r) - 1) / r^2 for |r| up to ln 2 / 2, the largest |x| that differs
/// from infinity, from which |x| on 2^-k does not count, and up to which sinh(x) is x.
template <class T>
struct HyperbolicConstants {
  static constexpr double sine_terms[] = {0x1.5555555555559p-3, 0x1.111111110f67dp-7, 0x1.a01a01affb673p-13,
                                          0x1.71ddf815cd3a7p-19, 0x1.af5f340662p-26};
  static constexpr double cosine_terms[] = {0x1p-1,
                                            0x1.555555555555cp-5,
                                            0x1.6c16c16c13ec5p-10,
                                            0x1.a01a01b19abe3p-16,
                                            0x1.27e4c4c8f8db1p-22,
                                            0x1.1f959ba6e3ac7p-29};
  static constexpr double most = 710.48, far = 300, least = 0x1p-30;
};
template <>
struct HyperbolicConstants<float> {
  static constexpr float sine_terms[] = {0x1.555556p-3f, 0x1.1110ep-7f, 0x1.a1256cp-13f};  // 2^-30
  static constexpr float cosine_terms[] = {0x1p-1f, 0x1.5554e8p-5f, 0x1.6d43bp-10f};       // 2^-31
  static constexpr float most = 89.42f, far = 40, least = 0x1p-14f;
};
template <class D, class V>
HWY_INLINE Hyperbolic<V> split_hyperbolic(D d, V x) {
  using C = ExpLog<hn::TFromD<D>>;
  using H = HyperbolicConstants<hn::TFromD<D>>;
  const hn::RebindToSigned<D> di;
  const V size = hn::Min(hn::Abs(x), hn::Set(d, H::most)), counter = hn::Set(d, kCounter<hn::TFromD<D>>);
  const V counted = hn::MulAdd(size, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter)), two = hn::Set(di, 2);
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), size);  // exact
  const Pair<V> r = sum_of_ordered(high, hn::Mul(whole, hn::Set(d, -C::ln2_low)));
  const V square = hn::Mul(r.high, r.high), up = power_of_two(d, hn::Sub(k, two));
  const V down = hn::IfThenElseZero(hn::Lt(size, hn::Set(d, H::far)), power_of_two(d, hn::Neg(hn::Add(k, two))));
  const V bent = hn::MulAdd(hn::Mul(r.high, square), polynomial(d, square, H::sine_terms), r.low);
  return {up, down, r, bent, hn::Mul(square, polynomial(d, square, H::cosine_terms))};
}
/// sinh(k ln 2 + r) = (2^k - 2^-k) / 2 * cosh(r) + (2^k + 2^-k) / 2 * sinh(r): no division, and nothing cancels. Beyond
/// the largest |x| the last sum overflows.
template <class D, class V>
HWY_INLINE V sinh_vector(D d, V x) {
  const Hyperbolic<V> of = split_hyperbolic(d, x);
  const V of_cosh = hn::Sub(of.up, of.down), of_sinh = hn::Add(of.up, of.down), r = of.r.high;
  const V line = hn::MulAdd(of_sinh, r, of_cosh), lost = hn::MulAdd(of_sinh, r, hn::Sub(of_cosh, line));
  const V rest = hn::Add(hn::Sub(hn::Sub(of.up, of_cosh), of.down), hn::MulAdd(of_sinh, of.sine_bent, lost));
  const V curve = hn::MulAdd(of_cosh, of.cosine_bent, rest), half = hn::Add(line, curve);
  const V least = hn::Set(d, HyperbolicConstants<hn::TFromD<D>>::least);
  return hn::IfThenElse(hn::Le(least, hn::Abs(x)), hn::CopySign(hn::Add(half, half), x), x);
}
/// The same with sums and differences exchanged.
template <class D, class V>
HWY_INLINE V cosh_vector(D d, V x) {
  const Hyperbolic<V> of = split_hyperbolic(d, x);
  const V of_cosh = hn::Add(of.up, of.down), of_sinh = hn::Sub(of.up, of.down), r = of.r.high;
  const V line = hn::MulAdd(of_sinh, r, of_cosh), lost = hn::MulAdd(of_sinh, r, hn::Sub(of_cosh, line));
  const V rest = hn::Add(hn::Add(hn::Sub(of.up, of_cosh), of.down), hn::MulAdd(of_sinh, of.sine_bent, lost));
  const V curve = hn::MulAdd(of_cosh, of.cosine_bent, rest), half = hn::Add(line, curve);
  return hn::IfThenElse(hn::IsNaN(x), x, hn::Add(half, half));
}
template <class D, class V>
HWY_INLINE V sinh_of_float64(D d, V x) {
  return sinh_vector(d, x);
}
template <class D, class V>
HWY_INLINE V cosh_of_float64(D d, V x) {
  return cosh_vector(d, x);
}
template <class D, class V>
V wide_tanh_by_intervals(D d, V x);
template <class D, class V>
HWY_INLINE V tanh_of_float64(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) return wide_tanh_by_intervals(d, x);
#endif
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) return tanh_by_rows(d, x);
#endif
  const V size = hn::Min(hn::Abs(x), hn::Set(d, 20.0));
  const Pair<V> less = quarter_of_exponential_less_1(d, Pair<V>{hn::Add(size, size), hn::Zero(d)});
  const V result = total(ratio(d, less, plus(less, hn::Set(d, 0.5))));
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-30));
  return hn::IfThenElse(hn::Or(tiny, hn::IsNaN(x)), x, hn::CopySign(result, x));
}

// --- Logarithms

/// The logarithm of 1 + less, and of 2^`doublings` times that. `of` is 1 + less, too. Both are exact to some 100 bits;
/// only where `of` is near 1 `less` is used.
template <class V>
struct NearAndFar {
  Pair<V> less, of;
  V doublings;
};
/// x = 2^exponent m, m between sqrt(1/2) and sqrt(2), for x > 0 that is not subnormal. log(m) = 2 atanh(s).
template <class V>
struct Reduced64 {
  V exponent;
  Pair<V> s;  // (m - 1) / (m + 1)
};
template <class D, class V>
HWY_INLINE Reduced64<V> reduced_for_logarithm(D d, const NearAndFar<V>& x) {
  using C = ExpLog<double>;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0), counter = hn::Set(d, kCounter<double>);
  const auto sqrt_half = hn::Set(du, C::sqrt_half);
  const auto bits = hn::Add(hn::BitCast(du, x.of.high), hn::Sub(hn::BitCast(du, one), sqrt_half));
  const auto k = hn::Sub(hn::BitCast(di, hn::ShiftRight<C::mantissa_bits>(bits)),
                         hn::Set(di, std::numeric_limits<double>::max_exponent - 1));
  const V exponent = hn::Sub(hn::BitCast(d, hn::Add(k, hn::BitCast(di, counter))), counter);
  const V high = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, (uint64_t{1} << C::mantissa_bits) - 1)), sqrt_half));
  // A `low` beyond that bound is nothing beside the logarithm.
  const V low = hn::Mul(x.of.low, power_of_two(d, hn::Neg(hn::Min(k, hn::Set(di, 1000)))));
  const Pair<V> less = choose(hn::Eq(exponent, hn::Zero(d)), x.less, Pair<V>{hn::Sub(high, one), low});
  const V more = hn::Add(high, one);
  const Pair<V> s = ratio(d, less, Pair<V>{more, hn::Add(hn::Sub(high, hn::Sub(more, one)), low)});
  return {hn::Add(exponent, x.doublings), s};
}
// 2 atanh(s) = 2 s + 2/3 s^3 + s^5 M(s^2); M: 2^-54.
inline constexpr double kLogarithmTerms[] = {0x1.999999999999ap-2, 0x1.2492492491fa1p-2, 0x1.c71c71c8593d6p-3,
                                             0x1.745d165b3e6b9p-3, 0x1.3b14015912155p-3, 0x1.1104160098b3fp-3,
                                             0x1.e3716e3580468p-4, 0x1.ba1eb5a73606fp-4};
/// The logarithm as exponent * ln 2 + rest.
template <class V>
struct Logarithm64 {
  V exponent;
  Pair<V> rest;
};
template <class D, class V>
HWY_INLINE Logarithm64<V> split_logarithm_of_float64(D d, const NearAndFar<V>& x) {
  const Reduced64<V> reduced = reduced_for_logarithm(d, x);
  const Pair<V> s = reduced.s;
  const V square = hn::Mul(s.high, s.high), two = hn::Set(d, 2.0);
  const V tail = hn::MulAdd(square, polynomial(d, square, kLogarithmTerms), hn::Set(d, 0x1.5555555555555p-1));
  const V curve = hn::Mul(hn::Mul(s.high, square), tail);
  return {reduced.exponent, {hn::Mul(two, s.high), hn::MulAdd(two, s.low, curve)}};
}
#if TENON_HAS_LOGARITHM_TABLE
/// The logarithm, with an error below 2^-64 of itself. `kAlone`: of a number by itself.
template <bool kAlone, class D, class V>
HWY_INLINE Pair<V> tabled_logarithm(D d, const NearAndFar<V>& x) {
  using C = ExpLog<double>;
  using Table = LogarithmTable<double>;
  constexpr double terms[] = {0x1.5555555555555p-2, -0x1.fffffffffffap-3,  0x1.9999999999906p-3, -0x1.5555555695ef8p-3,
                              0x1.249249260440bp-3, -0x1.ffffdbf077707p-4, 0x1.c71c4cca0f7d6p-4, -0x1.9a59d81198d3ep-4,
                              0x1.7515f3a02e515p-4};  // of (log(1 + r) - r + r^2 / 2) / r^3: 2^-55
  const hn::RebindToSigned<D> di;
  const V one = hn::Set(d, 1.0), half = hn::Set(d, 0.5);
  const auto of = tabled_mantissa(d, x.of.high);
  const V interval = hn::BitCast(d, of.interval), inverse = looked_up(interval, Table::inverses);
  const Pair<V> product = product_of(of.m, inverse);
  V r = hn::Sub(product.high, one), r_low = product.low;
  if constexpr (!kAlone) {
    // A `low` beyond that bound is nothing beside the logarithm.
    const V scale = power_of_two(d, hn::Neg(hn::Min(of.exponent, hn::Set(di, 1000))));
    r_low = hn::MulAdd(hn::Mul(x.of.low, scale), inverse, r_low);
    const auto near = hn::RebindMask(d, hn::Eq(of.interval, hn::Set(di, Table::interval_of_1)));
    r = hn::IfThenElse(near, x.less.high, r), r_low = hn::IfThenElse(near, x.less.low, r_low);
  }
  const Pair<V> square = product_of(r, r);
  const V line = hn::NegMulAdd(half, square.high, r), lost = hn::NegMulAdd(half, square.high, hn::Sub(r, line));
  // Alone, the chain of a few elements decides; else there are enough other steps, and pairs take 4 % longer.
  const V bending = kAlone ? paired_polynomial(d, r, terms) : polynomial(d, r, terms);
  const V curve = hn::Mul(hn::Mul(square.high, r), bending);
  const V bend = hn::NegMulAdd(r, r, r);  // 1 - 1 / (1 + r), nearly
  const V bent = hn::Add(lost, hn::NegMulAdd(half, square.low, hn::NegMulAdd(r_low, bend, r_low)));
  const V exponent = hn::Add(converted(d, of.exponent), x.doublings);
  const V whole = hn::MulAdd(exponent, hn::Set(d, C::ln2_high), looked_up(interval, Table::logarithms));  // exact
  const V rest = hn::MulAdd(exponent, hn::Set(d, C::ln2_low), looked_up(interval, Table::logarithm_rests));
  const Pair<V> sum = sum_of_ordered(whole, line);
  return sum_of_ordered(sum.high, hn::Add(hn::Add(sum.low, rest), hn::Add(bent, curve)));
}
#endif
#if TENON_HAS_LANE_ROWS
template <class D, class V>
Pair<V> logarithm_by_rows(D d, V x, V doublings);
#endif
template <class D, class V>
HWY_INLINE Pair<V> natural_logarithm(D d, const NearAndFar<V>& x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D>) return tabled_logarithm<false>(d, x);
#endif
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) {
    const Pair<V> log = logarithm_by_rows(d, x.of.high, hn::Neg(x.doublings));
    return {log.high, hn::Add(log.low, hn::Div(x.of.low, x.of.high))};
  }
#endif
  using C = ExpLog<double>;
  const Logarithm64<V> log = split_logarithm_of_float64(d, x);
  const Pair<V> sum = sum_of_ordered(hn::Mul(log.exponent, hn::Set(d, C::ln2_high)), log.rest.high);
  return {sum.high, hn::MulAdd(log.exponent, hn::Set(d, C::ln2_low), hn::Add(sum.low, log.rest.low))};
}
/// 1 + y.
template <class D, class V>
HWY_INLINE NearAndFar<V> one_and(D d, Pair<V> y) {
  return {y, plus(sum_of(hn::Set(d, 1.0), y.high), y.low), hn::Zero(d)};
}
/// The same for y from 0 to 1.
template <class D, class V>
HWY_INLINE NearAndFar<V> one_and_share(D d, Pair<V> y) {
  const Pair<V> sum = sum_of_ordered(hn::Set(d, 1.0), y.high);
  return {y, {sum.high, hn::Add(sum.low, y.low)}, hn::Zero(d)};
}
/// A number by itself; subnormal ones are scaled.
template <class D, class V>
HWY_INLINE NearAndFar<V> alone(D d, V x) {
  using C = ExpLog<double>;
  const V zero = hn::Zero(d);
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<double>::min()));
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, C::normal_scale)), x);
  return {{hn::Sub(normal, hn::Set(d, 1.0)), zero},
          {normal, zero},
          hn::IfThenElseZero(subnormal, hn::Set(d, -static_cast<double>(C::normal_shift)))};
}
/// `normal` where `is_normal`, else 2 x.
template <class D, class V, class M>
HWY_INLINE NearAndFar<V> or_doubled(D d, M is_normal, const NearAndFar<V>& normal, V x) {
  const V zero = hn::Zero(d);
  return {normal.less, choose(is_normal, normal.of, Pair<V>{x, zero}),
          hn::IfThenElse(is_normal, normal.doublings, hn::Set(d, 1.0))};
}
/// `result`, corrected for negative numbers, NaN, 0 and infinity.
template <class D, class V>
HWY_INLINE V logarithm_or_special(D d, V x, V result) {
  const V zero = hn::Zero(d), infinite = hn::Set(d, std::numeric_limits<double>::infinity());
  const V finite = hn::IfThenElse(hn::Lt(zero, x), result, hn::Set(d, std::numeric_limits<double>::quiet_NaN()));
  return hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinite), hn::IfThenElse(hn::Eq(x, infinite), x, finite));
}
/// Beyond this number, sqrt(x^2 + 1) and sqrt(x^2 - 1) are x.
inline constexpr double kFarFromRoots = 0x1p30;

template <class D, class V>
HWY_INLINE V log2_of_float64(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kHasShortLogarithms<D>) return tabled_logarithm_to<BinaryLogarithm>(d, x);
#endif
  const Logarithm64<V> log = split_logarithm_of_float64(d, alone(d, x));
  const Pair<V> rest = times(log.rest, constant(d, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56));
  return logarithm_or_special(d, x, total(plus(rest, log.exponent)));
}
template <class D, class V>
HWY_INLINE V log10_of_float64(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kHasShortLogarithms<D>) return tabled_logarithm_to<DecimalLogarithm>(d, x);
#endif
  const Logarithm64<V> log = split_logarithm_of_float64(d, alone(d, x));
  const Pair<V> rest = times(log.rest, constant(d, 0x1.bcb7b1526e50ep-2, 0x1.95355baaafad3p-57));
  const Pair<V> whole = times(constant(d, 0x1.34413509f79ffp-2, -0x1.9dc1da994fd21p-59), log.exponent);
  return logarithm_or_special(d, x, total(plus(whole, rest)));
}
/// log(1 + x) for x > -1 that is finite, after fdlibm: below 1 ulp.
template <class D, class V>
HWY_INLINE V finite_log1p_of_float64(D d, V x) {
  using C = ExpLog<double>;
  const hn::RebindToUnsigned<D> du;
  const V one = hn::Set(d, 1.0), zero = hn::Zero(d), counter = hn::Set(d, kCounter<double>);
  const Pair<V> sum = sum_of(one, x);
  const auto sqrt_half = hn::Set(du, C::sqrt_half);
  const auto bits = hn::Add(hn::BitCast(du, sum.high), hn::Sub(hn::BitCast(du, one), sqrt_half));
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, (uint64_t{1} << C::mantissa_bits) - 1)), sqrt_half));
  const auto biased = hn::ShiftRight<C::mantissa_bits>(bits);
  const V exponent = hn::Sub(hn::BitCast(d, hn::Add(biased, hn::BitCast(du, counter))),
                             hn::Set(d, kCounter<double> + std::numeric_limits<double>::max_exponent - 1));
  const auto near = hn::Eq(exponent, zero);
  const V line = hn::IfThenElse(near, x, hn::Sub(m, one)), lost = hn::IfThenZeroElse(near, hn::Div(sum.low, sum.high));
  const V s = hn::Div(line, hn::Add(hn::Set(d, 2.0), line)), s_square = hn::Mul(s, s);
  const V square = hn::Mul(hn::Mul(line, hn::Set(d, 0.5)), line);
  const V curve = hn::Mul(s, hn::MulAdd(s_square, polynomial(d, s_square, C::log_terms), square));
  const V low = hn::MulAdd(exponent, hn::Set(d, C::ln2_low), hn::Add(lost, curve));
  return hn::MulAdd(exponent, hn::Set(d, C::ln2_high), hn::Sub(line, hn::Sub(square, low)));
}
template <class D, class V>
HWY_INLINE V log1p_of_float64(D d, V x) {
  V result;
  if constexpr (kLooksUpPowers<D>)
    result = total(natural_logarithm(d, one_and(d, Pair<V>{x, hn::Zero(d)})));
  else
    result = finite_log1p_of_float64(d, x);
  const auto tiny = hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-54));
  return hn::IfThenElse(tiny, x, logarithm_or_special(d, hn::Add(x, hn::Set(d, 1.0)), result));
}
template <class D, class V>
HWY_INLINE V asinh_of_float64(D d, V x) {
  // log(1 + y), y = |x| + (sqrt(1 + x^2) - 1): of the difference, the low part is exact to some 2^-105.
  const V size = hn::Abs(x), one = hn::Set(d, 1.0);
  const Pair<V> square = product_of(size, size);
  const Pair<V> more = plus(root(d, plus(square, one)), hn::Neg(one));
  const auto normal = hn::Lt(size, hn::Set(d, kFarFromRoots));
  const V result = total(natural_logarithm(d, or_doubled(d, normal, one_and(d, plus(more, size)), size)));
  const auto special = hn::Or(hn::Lt(size, hn::Set(d, 0x1p-30)), hn::Not(hn::Lt(size, infinity64(d))));
  return hn::IfThenElse(special, x, hn::CopySign(result, x));
}
template <class D, class V>
HWY_INLINE V acosh_of_float64(D d, V x) {
  // log(1 + y), y = t + sqrt(t^2 + 2 t), t = x - 1.
  const V one = hn::Set(d, 1.0);
  const Pair<V> t = sum_of(x, hn::Neg(one)), square = times(t, t);
  const Pair<V> y = plus(t, root(d, plus(square, scaled(t, hn::Set(d, 2.0)))));
  const auto normal = hn::Lt(x, hn::Set(d, kFarFromRoots));
  const V result = total(natural_logarithm(d, or_doubled(d, normal, one_and(d, y), x)));
  const V inside = hn::IfThenElse(hn::Lt(x, infinity64(d)), result, x);
  return hn::IfThenElse(hn::Lt(x, one), nan64(d), inside);
}
template <class D, class V>
HWY_INLINE V atanh_of_float64(D d, V x) {
  // log(1 + y) / 2, y = 2 |x| / (1 - |x|).
  const V size = hn::Abs(x), one = hn::Set(d, 1.0);
  const Pair<V> y = ratio(d, Pair<V>{hn::Add(size, size), hn::Zero(d)}, sum_of(one, hn::Neg(size)));
  const V result = hn::Mul(hn::Set(d, 0.5), total(natural_logarithm(d, one_and(d, y))));
  const V end = hn::IfThenElse(hn::Eq(size, one), infinity64(d), nan64(d));
  const V inside = hn::IfThenElse(hn::Lt(size, one), result, end);
  return hn::IfThenElse(hn::Lt(size, hn::Set(d, 0x1p-30)), x, hn::CopySign(inside, x));
}

// --- Powers

#if TENON_HAS_LANE_ROWS
/// log(x) - doublings * ln 2 for a normal x > 0, with an error below 2^-64 of itself.
template <class D, class V>
HWY_INLINE Pair<V> logarithm_by_rows(D d, V x, V doublings) {
  using C = ExpLog<double>;
  constexpr double terms[] = {0x1.5555555555558p-2,  -0x1.0000000000002p-2, 0x1.99999997180a9p-3,
                              -0x1.5555555313ee1p-3, 0x1.249545532cce9p-3,  -0x1.0002afc3a5509p-3};
  // Of (log(1 + r) - r + r^2 / 2) / r^3: 2^-52.
  const hn::RebindToUnsigned<D> du;
  constexpr uint64_t kMantissa = (uint64_t{1} << C::mantissa_bits) - 1, kStart = LogarithmRows::start & kMantissa;
  // The exponent is counted from -1022 on, so that it has no sign.
  const auto above = hn::Sub(hn::BitCast(du, x), hn::Set(du, kStart));
  const auto exponent_bits = hn::ShiftRight<C::mantissa_bits>(above);
  const auto number = hn::ShiftRight<C::mantissa_bits - LogarithmRows::bits>(above);
  const V m = hn::BitCast(d, hn::Add(hn::And(above, hn::Set(du, kMantissa)), hn::Set(du, LogarithmRows::start)));
  const LaneRows lanes(LogarithmRows::rows, hn::BitCast(d, number));
  const Pair<V> of_row = lanes.numbers(0);
  const V inverse = of_row.high, line = hn::MulSub(m, inverse, hn::Set(d, 1.0));  // exact
  const V bias = hn::Set(d, kCounter<double> + std::numeric_limits<double>::max_exponent - 2);
  const V counted = hn::BitCast(d, hn::Or(exponent_bits, hn::BitCast(du, hn::Set(d, kCounter<double>))));
  const V exponent = hn::Sub(counted, hn::Add(bias, doublings));
  const V half = hn::Mul(line, hn::Set(d, 0.5)), r = hn::NegMulAdd(half, line, line);
  const V lost = hn::NegMulAdd(half, line, hn::Sub(line, r));
  const V curve = hn::Mul(hn::Mul(hn::Mul(line, line), line), paired_polynomial(d, line, terms));
  const V whole = hn::MulAdd(exponent, hn::Set(d, C::ln2_high), of_row.low);  // exact
  const V rest = hn::MulAdd(exponent, hn::Set(d, C::ln2_low), lanes.numbers(1).high);
  const Pair<V> sum = sum_of_ordered(whole, r);
  return sum_of_ordered(sum.high, hn::Add(hn::Add(sum.low, rest), hn::Add(lost, curve)));
}
/// e^x = 2^k (high + low), k from bit 6 of `counted` on.
template <class V>
struct RowsExponential {
  V counted, high, low;
};
template <class D, class V>
HWY_INLINE RowsExponential<V> exponential_by_rows(D d, Pair<V> x) {
  using C = ExpLog<double>;
  constexpr double terms[] = {0x1p-1, 0x1.5555555554dd4p-3, 0x1.5555555555194p-5, 0x1.111120b03696dp-7,
                              0x1.6c16d10b3c31dp-10};  // of (e^r - 1 - r) / r^2: 2^-68
  constexpr double kSteps = 64;
  const V counter = hn::Set(d, kCounter<double>);
  const V counted = hn::MulAdd(x.high, hn::Set(d, kSteps * C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high / kSteps), x.high);  // exact
  const V r = hn::Add(high, hn::NegMulAdd(whole, hn::Set(d, C::ln2_low / kSteps), x.low));
  const Pair<V> power = LaneRows(kPowers64, counted).numbers(0);
  const V less_1 = hn::MulAdd(hn::Mul(r, r), paired_polynomial(d, r, terms), r);
  return {counted, power.high, hn::MulAdd(power.high, less_1, power.low)};
}
#endif
/// log(x) with an error below 2^-64 of itself.
template <class D, class V>
HWY_INLINE Pair<V> precise_logarithm(D d, V x) {
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) {
    const NearAndFar<V> of = alone(d, x);
    return logarithm_by_rows(d, of.of.high, hn::Neg(of.doublings));
  }
#endif
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D>) return tabled_logarithm<true>(d, alone(d, x));
#endif
  using C = ExpLog<double>;
  const Reduced64<V> reduced = reduced_for_logarithm(d, alone(d, x));
  const Pair<V> s = sum_of_ordered(reduced.s.high, reduced.s.low), square = times(s, s), cube = times(square, s);
  const Pair<V> third = times(cube, constant(d, 0x1.5555555555555p-1, 0x1.5555555555555p-55));
  const V tail = hn::Mul(hn::Mul(cube.high, square.high), polynomial(d, square.high, kLogarithmTerms));
  const Pair<V> line = sum_of_ordered(hn::Add(s.high, s.high), third.high);
  const V low = hn::Add(hn::Add(line.low, hn::Add(s.low, s.low)), hn::Add(third.low, tail));
  const Pair<V> sum = sum_of_ordered(hn::Mul(reduced.exponent, hn::Set(d, C::ln2_high)), line.high);
  return sum_of_ordered(sum.high, hn::Add(hn::MulAdd(reduced.exponent, hn::Set(d, C::ln2_low), sum.low), low));
}
#if TENON_HAS_LOGARITHM_TABLE
/// e^x by looked up powers.
template <class D, class V>
HWY_INLINE auto tabled_exponential(D d, Pair<V> x) {
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) {
    const hn::RebindToSigned<D> di;
    const auto e = exponential_by_rows(d, x);
    const auto n = hn::Sub(hn::BitCast(di, e.counted), hn::BitCast(di, hn::Set(d, kCounter<double>)));
    const auto k = hn::ShiftRight<6>(n);
    return ShortExponential<V, std::remove_const_t<decltype(k)>>{k, e.counted, e.high, e.low};
  } else
#endif
  {
    using C = ExpLog<double>;
    const V counter = hn::Set(d, kPowerCounter<D>);
    const V counted = hn::MulAdd(x.high, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
    const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x.high);  // exact
    return powers_looked_up(d, counted, whole, hn::Add(high, hn::NegMulAdd(whole, hn::Set(d, C::ln2_low), x.low)));
  }
}
#endif
/// e^x, for any x.
template <class D, class V>
HWY_INLINE V exponential_of_pair(D d, Pair<V> x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D> || kLooksUpRows<D>) {
    const V limit = hn::Set(d, 1000.0), bounded = hn::Max(hn::Min(x.high, limit), hn::Neg(limit));
    const auto e = tabled_exponential(d, Pair<V>{bounded, hn::IfThenElseZero(hn::Eq(bounded, x.high), x.low)});
    return scaled_by(d, hn::Add(e.high, e.low), e);
  }
#endif
  const V limit = hn::Set(d, 1000.0);
  const auto beyond = hn::Lt(limit, hn::Abs(x.high));
  const auto e = split_exponential(d, choose(beyond, Pair<V>{hn::CopySign(limit, x.high), hn::Zero(d)}, x));
  const Pair<V> line = sum_of_ordered(hn::Set(d, 1.0), e.rest.high);
  const V power = hn::Add(line.high, hn::Add(line.low, e.rest.low));
  const auto half = halved(d, e.k);
  return hn::Mul(hn::Mul(power, power_of_two(d, half)), power_of_two(d, hn::Sub(e.k, half)));
}
/// x to the power of y from that of |x|.
template <class D, class V>
HWY_INLINE V power_of_sign(D d, V x, V y, V power) {
  const V zero = hn::Zero(d), half = hn::Set(d, 0.5);
  const auto is_whole = hn::Eq(hn::Floor(y), y);
  const V halved = hn::Mul(y, half);
  const V sign = hn::IfThenElse(hn::Eq(hn::Floor(halved), halved), zero, hn::Set(d, -0.0));
  const V of_negative = hn::IfThenElse(is_whole, hn::Xor(power, sign), nan64(d));
  const auto is_negative = hn::Lt(hn::CopySign(hn::Set(d, 1.0), x), zero);
  const V negative_zero = hn::IfThenElse(hn::Eq(x, zero), power, of_negative);  // -0 to a power that is not whole
  const V signed_power = hn::IfThenElse(is_negative, hn::IfThenElse(is_whole, of_negative, negative_zero), power);
  return hn::IfThenElse(hn::Eq(y, zero), hn::Set(d, 1.0), signed_power);
}
/// x to the power of y, for finite numbers.
template <class D, class V>
HWY_INLINE V power_of_any(D d, V x, V y) {
  const V zero = hn::Zero(d), most = hn::Set(d, 0x1p70);  // such powers are 0 or infinite
  const V exponent = hn::Max(hn::Min(y, most), hn::Neg(most));
  const V of_zero = hn::IfThenElse(hn::Lt(y, zero), infinity64(d), zero);
  const V of_size = exponential_of_pair(d, times(precise_logarithm(d, hn::Abs(x)), exponent));
  return power_of_sign(d, x, y, hn::IfThenElse(hn::Eq(x, zero), of_zero, of_size));
}
#if TENON_HAS_LOGARITHM_TABLE
template <class D, class V>
HWY_NOINLINE V power_of_rare(D d, V x, V y) {
  return power_of_any(d, x, y);
}
#endif
template <class D, class V>
HWY_INLINE V pow_of_float64(D d, V x, V y) {
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) {
    const hn::RebindToUnsigned<D> du;
    const V size = hn::Abs(x);
    const Pair<V> log = times(logarithm_by_rows(d, size, hn::Zero(d)), y);
    // Else the number or its power may not be normal.
    const auto is_normal = hn::Le(hn::Set(d, std::numeric_limits<double>::min()), size);
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::And(is_normal, hn::Lt(hn::Abs(log.high), hn::Set(d, 700.0))))))
      return power_of_rare(d, x, y);
    const auto e = exponential_by_rows(d, log);
    const auto k = hn::And(hn::ShiftLeft<ExpLog<double>::mantissa_bits - 6>(hn::BitCast(du, e.counted)),
                           hn::Set(du, uint64_t{0xFFF} << ExpLog<double>::mantissa_bits));
    const V power = hn::BitCast(d, hn::Add(hn::BitCast(du, hn::Add(e.high, e.low)), k));
    if (HWY_LIKELY(hn::AllTrue(d, hn::Lt(hn::Zero(d), x)))) return power;
    return power_of_sign(d, x, y, power);
  }
#endif
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) {
    const V zero = hn::Zero(d);
    const Pair<V> log = times(tabled_logarithm<true>(d, NearAndFar<V>{{x, zero}, {x, zero}, zero}), y);
    const auto near = hn::Lt(hn::Abs(log.high), hn::Set(d, 1000.0));  // else NaN or what `power_of_any` bounds
    if (HWY_UNLIKELY(any_unusual(x) || !hn::AllTrue(d, near))) return power_of_rare(d, x, y);
    const auto e = tabled_exponential(d, log);
    return scaled_by(d, hn::Add(e.high, e.low), e);
  }
#endif
  return power_of_any(d, x, y);
}
/// e^x for x <= 0, as a pair. What small powers lost is left out: it would be subnormal.
template <class D, class V>
HWY_INLINE Pair<V> small_exponential(D d, Pair<V> x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kLooksUpPowers<D> || kLooksUpRows<D>) {
    const auto e = tabled_exponential(d, x);
    const Pair<V> power = sum_of_ordered(e.high, e.low);
    const V low = hn::IfThenElseZero(hn::Le(hn::Set(d, ExpLog<double>::least_share), x.high), power.low);
    return {scaled_by(d, power.high, e), scaled_by(d, low, e)};
  }
#endif
  const auto e = split_exponential(d, x);
  const Pair<V> line = sum_of_ordered(hn::Set(d, 1.0), e.rest.high);
  const Pair<V> power = sum_of_ordered(line.high, hn::Add(line.low, e.rest.low));
  // Two factors, so that only the last product can be subnormal.
  const auto half = halved(d, e.k);
  return scaled(scaled(power, power_of_two(d, half)), power_of_two(d, hn::Sub(e.k, half)));
}
/// log(e^a + e^b) as the larger one and log(1 + e^-|a - b|), for finite numbers.
template <class D, class V>
HWY_INLINE V logaddexp_of_float64(D d, V a, V b) {
  const V less = from_lowest(d, hn::Neg(hn::Abs(hn::Sub(a, b))), ExpLog<double>::lowest), larger = hn::Max(a, b);
  const Pair<V> power = small_exponential(d, Pair<V>{less, hn::Zero(d)});
  return total(plus(natural_logarithm(d, one_and_share(d, power)), larger));
}
template <class D, class V>
HWY_INLINE V logaddexp2_of_float64(D d, V a, V b) {
  const V less = from_lowest(d, hn::Neg(hn::Abs(hn::Sub(a, b))), ExpLog<double>::lowest_power, true);
  const V larger = hn::Max(a, b);
  const Pair<V> power = small_exponential(d, times(constant(d, 0x1.62e42fefa39efp-1, 0x1.abc9e3b39803fp-56), less));
  const Pair<V> log = natural_logarithm(d, one_and_share(d, power));
  return total(plus(times(log, constant(d, 0x1.71547652b82fep+0, 0x1.777d0ffda0d24p-56)), larger));
}

template <class V>
struct LogGamma64 {
  Pair<V> value;
  V slope;  // of the logarithm, within 0.1: for what the argument lost when it was rounded
};
/// log(gamma(x)) for normal x > 0 up to 1e300. From 6.5 on, Stirling's series. Below, x = n + 2 + t, |t| <= 1/2:
/// log(gamma(2 + t)) plus the logarithm of the numbers in between.
template <class D, class V>
HWY_INLINE LogGamma64<V> log_gamma_above_0(D d, V x) {
  constexpr double near_terms[] = {
      0x1.4a34cc4a60fa6p-2,   -0x1.13e001a557606p-4,  0x1.51322ac7d849bp-6,
      -0x1.e404fc218f61fp-8,  0x1.7add6eadb2c11p-9,   -0x1.38ac5c2bf50a2p-10,
      0x1.0b36af88b2884p-11,  -0x1.d3fd4c7b8f6a9p-13, 0x1.a127af44aaf71p-14,
      -0x1.78de5a3d2d4d3p-15, 0x1.580e260121a51p-16,  -0x1.3cbce9a3c4ad1p-17,
      0x1.258c9651dbedcp-18,  -0x1.11a85684e8499p-19, 0x1.01462b5944f7dp-20,
      -0x1.e40f95a8192dep-22, 0x1.b1a8c8bf04f15p-23,  -0x1.9a854795e5fe9p-24,
      0x1.15fea8732cd9fp-24,  -0x1.091589d02d1a3p-25};  // of (log(gamma(2 + t)) / t - first) / t: 2^-55
  constexpr double first = 0x1.b0ee6072093cep-2, first_rest = 0x1.6cb90701fbfabp-58;
  constexpr double far_terms[] = {0x1.5555555555555p-4,   -0x1.6c16c16c005efp-9, 0x1.a01a00b2129c7p-11,
                                  -0x1.3812925627a6fp-11, 0x1.b8de887ab6961p-11, -0x1.e816004a67016p-10,
                                  0x1.295464e1be693p-8};  // of the rest of Stirling's formula, times x: 2^-58
  const V one = hn::Set(d, 1.0), whole = hn::Round(x), t = hn::Sub(x, whole);
  const auto is_far = hn::Le(hn::Set(d, 6.5), x);
  V product = one;
  for (const double less : {1.0, 2.0, 3.0, 4.0})
    product =
        hn::IfThenElse(hn::Le(hn::Set(d, less + 2), whole), hn::Mul(product, hn::Sub(x, hn::Set(d, less))), product);
  const auto is_below_half = hn::Eq(whole, hn::Zero(d));
  const V doubled = hn::MulAdd(x, x, x), doubled_low = hn::MulAdd(x, x, hn::Sub(x, doubled));  // x (x + 1)
  const V between = hn::IfThenElse(is_below_half, doubled, hn::IfThenElse(hn::Eq(whole, one), x, product));
  const V of = hn::IfThenElse(is_far, x, between), low = hn::IfThenElseZero(is_below_half, doubled_low);
  const Pair<V> log = precise_logarithm(d, of);
  const V inverse = hn::Div(one, of), square = hn::Mul(inverse, inverse);
  const V sign = hn::IfThenElse(hn::Le(whole, one), hn::Set(d, -1.0), one);
  const V series = hn::MulAdd(inverse, polynomial(d, square, far_terms), hn::Set(d, 0x1.d67f1c864beb5p-1));
  // Between 1.2 and 1.5 the logarithm all but cancels it.
  const Pair<V> near = product_of(t, hn::Set(d, first));
  const V slope = hn::MulAdd(t, long_polynomial(d, t, near_terms), hn::Set(d, first_rest));
  const V near_low = hn::MulAdd(t, slope, near.low);
  const Pair<V> scaled_log = times(log, hn::IfThenElse(is_far, hn::Sub(x, hn::Set(d, 0.5)), sign));
  const Pair<V> sum = sum_of(scaled_log.high, hn::IfThenElse(is_far, hn::Neg(x), near.high));
  const V rest = hn::IfThenElse(is_far, series, hn::NegMulAdd(low, inverse, near_low));
  constexpr double slope_terms[] = {-0x1.c35f51p+0, 0x1.81f57ap+0, -0x1.ff6634p-3, 0x1.01de4ep-6};  // from 1 to 6.5
  const V derivative = hn::IfThenElse(is_far, log.high, polynomial(d, x, slope_terms));
  return {{sum.high, hn::Add(hn::Add(sum.low, scaled_log.low), rest)}, derivative};
}
template <class D, class V>
HWY_INLINE V log_gamma_of_float64(D d, V x) {
  return total(log_gamma_above_0(d, x).value);
}
/// The same for x < 0, too: log(pi / |sin(pi x)|) less that of 1 - x; sin(pi x) by the rest r of x. Where both cancel,
/// |result| < 1/2, digits are lost.
template <class D, class V>
HWY_INLINE V log_gamma_with_negative(D d, V x) {
  constexpr double terms[] =
      {0x1.a51a6625307d3p+0,  -0x1.9f9cb402bc45dp-1, 0x1.86a8e4720c749p-3,
       -0x1.ac6805cdf308ap-6, 0x1.33816a0620ac5p-9,  -0x1.3746c57917ca7p-13,
       0x1.d3f28cd7ed53p-18,  -0x1.080d6f89e0a7bp-22};  // of (1 - sin(pi r) / (pi r)) / r^2: 2^-56
  const V one = hn::Set(d, 1.0);
  const auto below = hn::Lt(x, hn::Zero(d));
  const V mirrored = hn::Sub(one, x), more = hn::Sub(one, mirrored), lost = hn::Sub(more, x);  // for x < -1 or near 0
  const LogGamma64<V> other = log_gamma_above_0(d, hn::IfThenElse(below, mirrored, x));
  const V r = hn::Abs(hn::Sub(x, hn::Round(x))), square = hn::Mul(r, r),
          bend = hn::Mul(square, polynomial(d, square, terms));
  const V line = hn::Sub(one, bend), sine = hn::Mul(r, line);  // sine: over pi
  const V low = hn::MulAdd(r, hn::Sub(hn::Sub(one, line), bend), hn::MulSub(r, line, sine));
  const V safe = hn::IfThenElse(below, sine, one);
  const Pair<V> log = precise_logarithm(d, safe), sum = sum_of(log.high, other.value.high);
  const V rest =
      hn::Add(hn::Add(sum.low, log.low), hn::MulAdd(lost, other.slope, hn::Add(other.value.low, hn::Div(low, safe))));
  const V reflected = hn::IfThenElse(hn::Eq(r, hn::Zero(d)), infinity64(d), hn::Neg(hn::Add(sum.high, rest)));
  return hn::IfThenElse(below, reflected, total(other.value));
}

// --- Angles

/// The largest |x| for which the multiple of pi/2 is below 2^31.
inline constexpr double kFarthestAngle64 = 0x1p30;
template <class V, class VI>
struct Turn64 {
  Pair<V> sine, cosine;  // of r, where x = k pi/2 + r; the low parts are up to a tenth of the high ones
  VI quarters;           // k in the low bits
};
template <class V>
struct ReducedAngle64 {
  V counted;  // k in the low bits
  Pair<V> r;
};
/// x = k pi/2 + r.
template <class D, class V>
HWY_INLINE ReducedAngle64<V> reduced_angle_of_float64(D d, V x) {
  const V counter = hn::Set(d, kCounter<double>);
  const V counted = hn::MulAdd(x, hn::Set(d, 0x1.45f306dc9c883p-1), counter), k = hn::Sub(counted, counter);
  // pi/2 in three parts. Two differences are exact: `first`, as a multiple of the last bit of pi/2 that is below 1, and
  // first - high, because `less` is a multiple of a far smaller number than `first`.
  const V second = hn::Set(d, 0x1.1a62633145c07p-54);
  const V first = hn::NegMulAdd(k, hn::Set(d, 0x1.921fb54442d18p+0), x), less = hn::Mul(k, second);
  const V r = hn::Sub(first, less);
  const V low = hn::NegMulAdd(k, hn::Set(d, -0x1.f1976b7ed8fbcp-110), hn::NegMulAdd(k, second, hn::Sub(first, r)));
  return {counted, {r, low}};
}
template <class D, class V>
HWY_INLINE auto turned_float64(D d, V x) {
  constexpr double sine_terms[] = {-0x1.5555555555549p-3, 0x1.111111110f89dp-7,   -0x1.a01a019c141a3p-13,
                                   0x1.71de3578c73a1p-19, -0x1.ae5e66696f9b5p-26, 0x1.5d92e84308be1p-33};  // 2^-58
  constexpr double cosine_terms[] = {0x1.555555555554cp-5,   -0x1.6c16c16c15218p-10, 0x1.a01a019cbe312p-16,
                                     -0x1.27e4f8118e31cp-22, 0x1.1ee9f05dd1d01p-29,  -0x1.8fb09e9c2df1fp-37};  // 2^-64
  const hn::RebindToUnsigned<D> du;
  const auto [counted, angle] = reduced_angle_of_float64(d, x);
  const V r = angle.high, low = angle.low;
  const V one = hn::Set(d, 1.0), square = hn::Mul(r, r), half = hn::Mul(r, hn::Set(d, 0.5));
  const V line = hn::NegMulAdd(half, r, one), lost = hn::NegMulAdd(half, r, hn::Sub(one, line));
  const V bent = hn::MulAdd(hn::Mul(r, square), paired_polynomial(d, square, sine_terms), hn::Mul(low, line));
  const V curve =
      hn::MulAdd(hn::Mul(square, square), paired_polynomial(d, square, cosine_terms), hn::NegMulAdd(r, low, lost));
  const Pair<V> sine{r, bent}, cosine{line, curve};
  const auto quarters = hn::BitCast(du, counted);
  return Turn64<V, std::remove_const_t<decltype(quarters)>>{sine, cosine, quarters};
}
/// y with the sign of the product of y and of `signs`, whose other bits don't count.
template <class D, class V>
HWY_INLINE V times_sign(D d, V y, V signs) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) {
    // (a & b) ^ c at once, which GCC 12 does not find.
    const hn::RebindToUnsigned<D> du;
    const auto a = hn::BitCast(du, signs), b = hn::BitCast(du, hn::Set(d, hn::TFromD<D>(-0.0))), c = hn::BitCast(du, y);
    return hn::BitCast(d, hn::VFromD<decltype(du)>{_mm512_ternarylogic_epi64(a.raw, b.raw, c.raw, 0x6A)});
  }
#endif
  return hn::Xor(y, hn::And(signs, hn::SignBit(d)));
}
template <class D, class V>
HWY_INLINE V sine_of_float64(D d, V x, uint64_t quarters_before) {
  const hn::RebindToUnsigned<D> du;
  const auto turn = turned_float64(d, x);
  auto quarters = turn.quarters;
  if (quarters_before != 0) quarters = hn::Add(quarters, hn::Set(du, quarters_before));
  const auto odd = hn::RebindMask(d, hn::TestBit(quarters, hn::Set(du, 1)));
  const V size = hn::IfThenElse(odd, total(turn.cosine), total(turn.sine));
  return times_sign(d, size, hn::BitCast(d, hn::ShiftLeft<62>(quarters)));
}
/// By the size of x, so that -0 stays.
template <class D, class V>
HWY_INLINE V sin_of_float64(D d, V x) {
  return times_sign(d, sine_of_float64(d, hn::Abs(x), 0), x);
}
template <class D, class V>
HWY_INLINE V cos_of_float64(D d, V x) {
  return sine_of_float64(d, x, 1);
}
template <class D, class V>
V inverse_of_sum(D d, V line, V low);
/// r + r^3 p(r^2), or of odd k -1 over that; what r, r^2 and r^3 lose is added back.
template <class D, class V>
HWY_INLINE V tan_of_float64(D d, V x) {
  constexpr double terms[] = {0x1.555555555555dp-2,  0x1.11111111106dap-3,   0x1.ba1ba1bab26dfp-5,
                              0x1.664f485fb97fdp-6,  0x1.226e3a310ad7ep-7,   0x1.d6d2f476e1647p-9,
                              0x1.7db0dc7f6840bp-10, 0x1.34c2fa21c557fp-11,  0x1.fecd5a194797bp-13,
                              0x1.60676a4cfe255p-14, 0x1.1673f6c589648p-14,  -0x1.9c767936833f9p-16,
                              0x1.90ab2417b211ap-15, -0x1.9004b8864e008p-16, 0x1.45970385abd49p-17};  // 2^-60
  const hn::RebindToUnsigned<D> du;
  const auto [counted, angle] = reduced_angle_of_float64(d, hn::Abs(x));
  const V r = angle.high, low = angle.low, square = hn::Mul(r, r);
  const Pair<V> cube = product_of(r, square);
  const V slope = hn::MulAdd(square, hn::Set(d, 1.4), hn::Set(d, 1.0));
  const V lost = hn::MulAdd(r, hn::MulSub(r, r, square), cube.low);
  const V tail = hn::MulAdd(lost, hn::Set(d, 0.4), hn::Mul(low, slope));
  const V bent = hn::MulAdd(cube.high, long_polynomial(d, square, terms), tail);
  const auto odd = hn::RebindMask(d, hn::TestBit(hn::BitCast(du, counted), hn::Set(du, 1)));
  return times_sign(d, hn::IfThenElse(odd, hn::Neg(inverse_of_sum(d, r, bent)), hn::Add(r, bent)), x);
}

/// The angle of (across, up), both >= 0, in [0, pi/2]. Far from the axis, the point is rotated by an eighth or a
/// quarter of a turn first.
template <class D, class V>
HWY_INLINE Pair<V> angle_of_pairs(D d, Pair<V> up, Pair<V> across) {
  constexpr double terms[] = {-0x1.5555555555555p-2, 0x1.9999999999888p-3, -0x1.2492492488b5cp-3, 0x1.c71c71c1b770ap-4,
                              -0x1.745d1660ccafep-4, 0x1.3b1398e25ddf7p-4, -0x1.110f52bde0ef8p-4, 0x1.e1b59989ad342p-5,
                              -0x1.ad9dea9830936p-5, 0x1.7c7858776540fp-5, -0x1.3a9643fa78764p-5, 0x1.9d3bdfee34c18p-6,
                              -0x1.27871383e86c4p-7};  // 2^-66
  const auto steep = hn::Lt(hn::Mul(hn::Set(d, 2.41421356237309504880), across.high), up.high);
  const auto halfway = hn::Lt(hn::Mul(hn::Set(d, 0.41421356237309504880), across.high), up.high);
  const Pair<V> left = negative(across);
  const Pair<V> numerator = choose(steep, left, choose(halfway, plus(up, left), up));
  const Pair<V> denominator = choose(steep, up, choose(halfway, plus(up, across), across));
  const Pair<V> zero{hn::Zero(d), hn::Zero(d)};
  const Pair<V> quarter = constant(d, 0x1.921fb54442d18p+0, 0x1.1a62633145c07p-54);
  const Pair<V> eighth = constant(d, 0x1.921fb54442d18p-1, 0x1.1a62633145c07p-55);
  const Pair<V> before = choose(steep, quarter, choose(halfway, eighth, zero));
  const Pair<V> t = ratio(d, numerator, denominator);
  const V square = hn::Mul(t.high, t.high);
  const V curve = hn::Mul(hn::Mul(t.high, square), polynomial(d, square, terms));
  const V low = hn::Add(curve, hn::NegMulAdd(t.low, square, t.low));
  const Pair<V> sum = sum_of_ordered(before.high, t.high);
  return {sum.high, hn::Add(sum.low, hn::Add(before.low, low))};
}
template <class D, class V>
V atan_by_intervals(D d, V x);
template <class D, class V>
HWY_INLINE V atan_of_float64(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) return atan_by_intervals(d, x);
#endif
  const V zero = hn::Zero(d), size = hn::Min(hn::Abs(x), hn::Set(d, 0x1p100));
  const V result = total(angle_of_pairs(d, Pair<V>{size, zero}, Pair<V>{hn::Set(d, 1.0), zero}));
  const auto special = hn::Or(hn::Lt(size, hn::Set(d, 0x1p-30)), hn::IsNaN(x));
  return hn::IfThenElse(special, x, hn::CopySign(result, x));
}
template <class D, class V>
V asin_vector(D d, V x);
template <class D, class V>
V acos_vector(D d, V x);
template <class D, class V>
HWY_INLINE V asin_of_float64(D d, V x) {
  return asin_vector(d, x);
}
template <class D, class V>
HWY_INLINE V acos_of_float64(D d, V x) {
  return acos_vector(d, x);
}
/// For coordinates up to 2^900.
template <class D, class V>
HWY_INLINE V atan2_of_float64(D d, V y, V x) {
  const V zero = hn::Zero(d), up = hn::Abs(y), across = hn::Abs(x), tiny = hn::Set(d, 0x1p-900);
  // Tiny points lie as if they were larger, and the origin as if it were on the axis.
  const auto is_tiny = hn::Lt(hn::Max(up, across), tiny);
  const V scale = hn::IfThenElse(is_tiny, hn::Set(d, 0x1p200), hn::Set(d, 1.0));
  const V origin = hn::IfThenElseZero(hn::Eq(hn::Max(up, across), zero), hn::Set(d, 1.0));
  const Pair<V> angle =
      angle_of_pairs(d, Pair<V>{hn::Mul(up, scale), zero}, Pair<V>{hn::MulAdd(across, scale, origin), zero});
  const Pair<V> behind = plus(constant(d, 0x1.921fb54442d18p+1, 0x1.1a62633145c07p-53), negative(angle));
  const auto is_behind = hn::Lt(hn::CopySign(hn::Set(d, 1.0), x), zero);
  return hn::CopySign(total(choose(is_behind, behind, angle)), y);
}

// --- Error functions

/// erfc(size) for size >= 1/2: exp(-size^2) / (1 + 2 size) times a polynomial of (size - 4) / (size + 4).
template <class D, class V>
HWY_INLINE V error_rest_of_float64(D d, V size) {
  constexpr double first = 0x1.3ba5916e9fd7fp+0, first_rest = -0x1.aa9c415679e6fp-55;
  constexpr double terms[] = {-0x1.1df1ad154a28ep-3,  0x1.f7f5df66fd573p-7,   0x1.16ecefcfa5347p-4,
                              -0x1.9ddb23c3e7cd5p-4,  0x1.7fee004e13309p-4,   -0x1.0fb06dfe6b6c0p-4,
                              0x1.3079edf65cfffp-5,   -0x1.0962387d9cc2cp-6,  0x1.49c672951411bp-8,
                              -0x1.8d4aa17f134c7p-11, -0x1.a1df342a8011ep-13, 0x1.3be0d71410896p-13,
                              -0x1.9956e891dba76p-16, -0x1.78a3de44a3589p-17, 0x1.7f090d73853b6p-18,
                              0x1.41acd36d716afp-22,  -0x1.b8eb1d202c52ap-21, 0x1.1fc95c41e5c3ep-24,
                              0x1.c1d08eefbf55dp-24,  -0x1.a3d2724da6bbfp-27, -0x1.5dab469e687f4p-27};  // 2^-58
  const V a = hn::Min(size, hn::Set(d, 27.3)), four = hn::Set(d, 4.0),
          one = hn::Set(d, 1.0);  // beyond, the result is 0
  const V t = hn::Div(hn::Sub(a, four), hn::Add(a, four));
  const Pair<V> square = product_of(a, a);
  const auto e = split_exponential(d, Pair<V>{hn::Neg(square.high), hn::Neg(square.low)});
  const Pair<V> line = sum_of_ordered(one, e.rest.high), power{line.high, hn::Add(line.low, e.rest.low)};
  const Pair<V> part = ratio(d, power, sum_of(hn::Add(a, a), one));
  const V curve = hn::Mul(t, long_polynomial(d, t, terms));
  const Pair<V> sum = sum_of_ordered(hn::Set(d, first), curve);
  const V low = hn::MulAdd(hn::Add(sum.low, hn::Set(d, first_rest)), part.high, hn::Mul(sum.high, part.low));
  const V result = hn::MulAdd(sum.high, part.high, low);
  // Two factors, so that only the last product can be subnormal.
  const auto half = halved(d, e.k);
  return hn::Mul(hn::Mul(result, power_of_two(d, half)), power_of_two(d, hn::Sub(e.k, half)));
}
/// erf(x) for |x| <= 1 as x plus x times a polynomial of x^2.
template <class D, class V>
HWY_INLINE Pair<V> near_error_function(D d, V x) {
  constexpr double terms[] = {0x1.06eba8214db69p-3,   -0x1.812746b0379e6p-2,  0x1.ce2f21a042b19p-4,
                              -0x1.b82ce312842f7p-6,  0x1.565bcd0d98ee6p-8,   -0x1.c02db3d3d20bcp-11,
                              0x1.f9a320f71036bp-14,  -0x1.f4d1d12ee5d47p-17, 0x1.b9de30185388ap-20,
                              -0x1.5f16701e900aep-23, 0x1.f757e6fef2296p-27,  -0x1.3776edb076f31p-30,
                              0x1.02d357388b57cp-34};  // 2^-62
  return {x, hn::Mul(x, long_polynomial(d, hn::Mul(x, x), terms))};
}
/// erfc(size) for size from `kFarError` on, with an error of some 2^-54 beside 1: erfc(kFarError) times e to the power
/// of a polynomial.
inline constexpr double kFarError = 0x1.a3d70a3d70a3dp-1;  // 0.82
template <class D, class V>
HWY_INLINE V rough_error_rest(D d, V size) {
  using C = ExpLog<double>;
  constexpr double terms[] = {-0x1.2b7c61ebb894cp+1,  -0x1.a31ed942fc494p-1,  -0x1.951dd0817641ap-5,
                              0x1.86a649bbfc8edp-7,   -0x1.2128c9b9134a1p-9,  0x1.6ddca9fe5f4dp-13,
                              0x1.46ff3f1c5c5bap-14,  -0x1.7edff6dd27eacp-15, 0x1.bb87dca49b416p-17,
                              -0x1.f5c2848ba339dp-20, -0x1.7147ea0527f29p-22, 0x1.5fb1ceed700f9p-22,
                              -0x1.06d136de482dcp-23, 0x1.0592c84c8172ap-25,  -0x1.6f44a3cf8d985p-28,
                              0x1.60239c4554843p-31,  -0x1.9f1c78339fbd5p-35, 0x1.c5c3c2ee99918p-40};  // 2^-57
  const hn::RebindToSigned<D> di;
  const V beyond = hn::Min(hn::Set(d, 5.12), hn::Sub(size, hn::Set(d, kFarError)));  // then erf is 1
  const V x = hn::Mul(beyond, long_polynomial(d, beyond, terms)), counter = hn::Set(d, kCounter<double>);
  const V counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V r = hn::NegMulAdd(whole, hn::Set(d, C::ln2_low), hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x));
  const V curve = hn::MulAdd(hn::Mul(r, r), long_polynomial(d, r, C::exp_terms), r);
  const V scale = hn::Mul(power_of_two(d, k), hn::Set(d, 0x1.f83211acf35eap-3));
  return hn::MulAdd(scale, curve, scale);
}
template <class D, class V>
HWY_INLINE V erf_of_float64(D d, V x) {
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) return error_by_pieces(d, x);
#endif
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) return error_by_rows(d, x);
#endif
  // Where erfc is below 1/4 its error is the smaller one.
  const V size = hn::Abs(x), one = hn::Set(d, 1.0), limit = hn::Set(d, kFarError);
  const V far = hn::Sub(one, rough_error_rest(d, hn::Max(limit, size)));  // NaN, the second operand, stays
  const V near = total(near_error_function(d, hn::Min(limit, size)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, limit), near, far), x);
}
template <class D, class V>
V error_rest_by_intervals(D d, V x);
template <class D, class V>
HWY_INLINE V erfc_of_float64(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) return error_rest_by_intervals(d, x);
#endif
  const V size = hn::Abs(x), one = hn::Set(d, 1.0), limit = hn::Set(d, 0.6), zero = hn::Zero(d);
  const V far = error_rest_of_float64(d, hn::Max(size, limit));
  const V behind = hn::IfThenElse(hn::Lt(x, zero), hn::Sub(hn::Set(d, 2.0), far), far);
  const Pair<V> near = near_error_function(d, hn::Min(hn::Max(x, hn::Neg(limit)), limit));
  const V rest = total(plus(negative(near), one));
  return hn::IfThenElse(hn::IsNaN(x), x, hn::IfThenElse(hn::Lt(size, limit), rest, behind));
}

/// The numbers `high + low` and then `rest`, each times one more power of t.
template <class D, class V, int kCount>
HWY_INLINE Pair<V> polynomial_of_pair(D d, Pair<V> t, V rest, const double (&high)[kCount],
                                      const double (&low)[kCount]) {
  Pair<V> sum{rest, hn::Zero(d)};
  for (int i = kCount - 1; i >= 0; --i) sum = plus(times(t, sum), constant(d, high[i], low[i]));
  return sum;
}
/// erf(x) - x for |x| <= 1, where near_error_function is not exact enough: 2^-68 x.
template <class D, class V>
HWY_INLINE Pair<V> precise_error_less_line(D d, V x) {
  constexpr double high[] = {0x1.06eba8214db69p-3, -0x1.812746b0379e7p-2, 0x1.ce2f21a042bddp-4, -0x1.b82ce3128895cp-6,
                             0x1.565bcd0e63e6bp-8};
  constexpr double low[] = {-0x1.ca5356c71e01ep-57, 0x1.0b0d30200d14ap-56, -0x1.1a7bbe413abc0p-58,
                            0x1.ff0bd44296c55p-60, 0x1.8a03ffb12ce81p-62};
  constexpr double rest[] = {-0x1.c02db3feac280p-11, 0x1.f9a326b93518bp-14,  -0x1.f4d255400a89fp-17,
                             0x1.b9e64266f7283p-20,  -0x1.5f6cf0b89af54p-23, 0x1.fc39a8dec0861p-27,
                             -0x1.4e30bc5865e37p-30, 0x1.7df546a3f7059p-34,  -0x1.27043df37bbd3p-38};
  const Pair<V> square = product_of(x, x);
  return times(polynomial_of_pair(d, square, long_polynomial(d, square.high, rest), high, low), x);
}
/// erfc(x) for x from 0.98 to 3.75: `power`, e^-x^2, over 1 + 2 x, times a polynomial of (x - 2) / (x + 2), 2^-66.
template <class D, class V>
HWY_INLINE Pair<V> precise_error_rest(D d, V x, Pair<V> power) {
  constexpr double high[] = {0x1.46e80e2277953p+0, -0x1.7bf5ec1700631p-4, -0x1.5407bebf32445p-3};
  constexpr double low[] = {0x1.9d6317254d443p-54, -0x1.8b6ebf97d589ep-59, -0x1.23930ca5ec863p-58};
  constexpr double rest[] = {0x1.4ffa1e14e277ep-3,   -0x1.bc2b9561988e0p-5,  -0x1.074234047bc9bp-7,
                             0x1.1dd2ec90a6fb7p-7,   0x1.4d461d27c9450p-10,  -0x1.7de52115996c5p-10,
                             -0x1.dc69302524555p-12, 0x1.b0c8a95fcc4f2p-13,  0x1.3cc04cf7a8ec6p-13,
                             -0x1.968535fde5a3cp-20, -0x1.317ea012b457ep-15, -0x1.c2fe0f2a943a1p-17,
                             0x1.f00eac8e6c5c3p-19,  0x1.4a0c03f959573p-18,  0x1.6c296efe4909bp-20};
  const Pair<V> t = ratio(d, sum_of(x, hn::Set(d, -2.0)), sum_of(x, hn::Set(d, 2.0)));
  const Pair<V> factor = polynomial_of_pair(d, t, long_polynomial(d, t.high, rest), high, low);
  return ratio(d, times(power, factor), sum_of(hn::Add(x, x), hn::Set(d, 1.0)));
}

/// Nearer to 1, the value for float32 is not near enough.
inline constexpr double kFarthestInverseError = 1 - 0x1p-22;
/// erfinv(y) from a value with an error below 2^-30, by a step of Halley's method. What erf leaves is exact to some
/// bits more than a number has, so that only the last subtraction rounds.
template <class D, class V>
HWY_INLINE V refined_erfinv(D d, V y, V value) {
  const V size = hn::Abs(y), x = hn::Abs(value), one = hn::Set(d, 1.0), limit = hn::Set(d, 0.84);
  const Pair<V> square = product_of(x, x), power = small_exponential(d, negative(square));
  // Both differences of large numbers are exact.
  const Pair<V> near = precise_error_less_line(d, hn::Min(x, one)), far = precise_error_rest(d, x, power);
  const V near_rest = hn::Add(hn::Add(hn::Sub(x, size), near.high), near.low);
  const V far_rest = hn::Sub(hn::Sub(hn::Sub(one, size), far.high), far.low);
  const V rest = hn::IfThenElse(hn::Lt(size, limit), near_rest, far_rest);
  const V slope = hn::Mul(power.high, hn::Set(d, 0x1.20dd750429b6dp+0)), step = hn::Div(rest, slope);
  const V result = hn::Sub(x, hn::NegMulAdd(hn::Mul(x, step), step, step));
  // Low parts of tiny numbers would be subnormal.
  const V line = hn::MulAdd(size, hn::Set(d, 0x1.c5bf891b4ef6bp-1), hn::Mul(size, hn::Set(d, -0x1.618f13eb7ca89p-55)));
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, hn::Set(d, 0x1p-30)), line, result), y);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
