// kernel: exponential and logarithm over whole vectors, for every float32 and float64: subnormals,
// infinities and NaN included. exp: error below 0.66 ulp, because it adds back what the largest addition loses. log:
// after fdlibm (https://www.netlib.org/fdlibm), below 1 ulp. No branches: special values are selected at the end.
#if defined(TENON_KERNEL_EXP_LOG_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_EXP_LOG_INL_H
#undef TENON_KERNEL_EXP_LOG_INL_H
#else
#define TENON_KERNEL_EXP_LOG_INL_H
#endif

#include <limits>
#include <type_traits>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// fdlibm's numbers for one type. `ln2_high` has so many low zeros that its product with an exponent is exact.
template <class T>
struct ExpLog;
template <>
struct ExpLog<float> {
  using Bits = uint32_t;
  static constexpr int mantissa_bits = 23;
  static constexpr float ln2_high = 0x1.62e4p-1f, ln2_low = 0x1.7f7d1cp-20f;  // 0x3f317200, 0x35bfbe8e
  static constexpr float inverse_ln2 = 0x1.715476p+0f;
  static constexpr float ln2 = 0x1.62e430p-1f, ln2_rest = -1.904654300e-9f;
  static constexpr float lowest = -105, highest = 89;               // outside, exp is 0 or infinite
  static constexpr float lowest_power = -151, highest_power = 129;  // the same of exp2
  static constexpr float exp_terms[] = {0.5f,           0x1.555556p-3f,  0x1.5554e6p-5f,
                                        0x1.111094p-7f, 0x1.6d4f2ap-10f, 0x1.a19c76p-13f};
  static constexpr float log_terms[] = {0xaaaaaa.0p-24f, 0xccce13.0p-25f, 0x91e9ee.0p-25f, 0xf89e26.0p-26f};
  static constexpr Bits sqrt_half = 0x3f3504f3;
  static constexpr float normal_scale = 0x1p+25f;  // makes a subnormal normal
  static constexpr int normal_shift = 25;
};
template <>
struct ExpLog<double> {
  using Bits = uint64_t;
  static constexpr int mantissa_bits = 52;
  static constexpr double ln2_high = 6.93147180369123816490e-01, ln2_low = 1.90821492927058770002e-10;
  static constexpr double inverse_ln2 = 1.44269504088896338700e+00;
  static constexpr double ln2 = 0x1.62e42fefa39efp-1, ln2_rest = 0x1.abc9e3b39803fp-56;
  static constexpr double lowest = -746, highest = 710;
  static constexpr double lowest_power = -1076, highest_power = 1025;
  static constexpr double exp_terms[] = {0.5,
                                         0x1.5555555555558p-3,
                                         0x1.5555555555556p-5,
                                         0x1.111111110f81ep-7,
                                         0x1.6c16c16c15dbbp-10,
                                         0x1.a01a01b005925p-13,
                                         0x1.a01a01a93bcfdp-16,
                                         0x1.71ddf6bda8be2p-19,
                                         0x1.27e4d4c40d23fp-22,
                                         0x1.af6322fc31754p-26,
                                         0x1.1f7f45b3e0a0dp-29};
  static constexpr double log_terms[] = {6.666666666666735130e-01, 3.999999999940941908e-01, 2.857142874366239149e-01,
                                         2.222219843214978396e-01, 1.818357216161805012e-01, 1.531383769920937332e-01,
                                         1.479819860511658591e-01};
  static constexpr Bits sqrt_half = 0x3fe6a09e667f3bcd;
  static constexpr double normal_scale = 0x1p+54;
  static constexpr int normal_shift = 54;
};

/// terms[0] + x * (terms[1] + x * ...).
template <class D, class V, class T, int kCount>
HWY_INLINE V polynomial(D d, V x, const T (&terms)[kCount]) {
  V sum = hn::Set(d, terms[kCount - 1]);
  for (int i = kCount - 2; i >= 0; --i) sum = hn::MulAdd(sum, x, hn::Set(d, terms[i]));
  return sum;
}

/// Converts between small integers and floats by adding 1.5 * 2^mantissa_bits, whose lowest mantissa bit is worth 1.
template <class T>
constexpr T kCounter = static_cast<T>(3) * static_cast<T>(int64_t{1} << (ExpLog<T>::mantissa_bits - 1));

/// 2^k, if it is a normal number.
template <class D, class VI>
HWY_INLINE hn::Vec<D> power_of_two(D d, VI k) {
  using T = hn::TFromD<D>;
  constexpr int kBits = ExpLog<T>::mantissa_bits;
  const hn::RebindToSigned<D> di;
  const auto bias = hn::Set(di, std::numeric_limits<T>::max_exponent - 1);
  return hn::BitCast(d, hn::ShiftLeft<kBits>(hn::Add(k, bias)));
}

/// 2^k y, in two steps, so that only the last one can leave the normal range and round.
template <class D, class V, class VI>
HWY_INLINE V with_exponent(D d, V y, VI k) {
  const auto half = hn::ShiftRight<1>(k);
  return hn::Mul(hn::Mul(y, power_of_two(d, half)), power_of_two(d, hn::Sub(k, half)));
}

/// 2^k exp(r) for r = high - low and |r| <= ln 2 / 2; exp(r) = 1 + r + r^2 (1/2 + r/6 + ...), the polynomial by Remez.
/// What is lost when `high` is added to 1 goes to the term r^2 ..., which is below 0.08, so the total error is little
/// more than that of the last addition.
template <class D, class V, class VI>
HWY_INLINE V scaled_exp(D d, VI k, V high, V low) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T{1}), r = hn::Sub(high, low), line = hn::Add(one, high);
  const V lost = hn::Sub(hn::Sub(high, hn::Sub(line, one)), low);
  const V y = hn::Add(line, hn::MulAdd(hn::Mul(r, r), polynomial(d, r, ExpLog<T>::exp_terms), lost));
  return with_exponent(d, y, k);
}

#undef TENON_HAS_POWER_TABLE
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define TENON_HAS_POWER_TABLE 1
#else
#define TENON_HAS_POWER_TABLE 0
#endif
#if TENON_HAS_POWER_TABLE
// Whole vectors of float32 look up 2^(i/16), or with eight lanes 2^(i/8), as the sum of two numbers.
alignas(64) inline constexpr float kPowers16[] = {0x1p+0f,        0x1.0b5586p+0f, 0x1.172b84p+0f, 0x1.2387a6p+0f,
                                                  0x1.306fep+0f,  0x1.3dea64p+0f, 0x1.4bfdaep+0f, 0x1.5ab07ep+0f,
                                                  0x1.6a09e6p+0f, 0x1.7a1148p+0f, 0x1.8ace54p+0f, 0x1.9c4918p+0f,
                                                  0x1.ae89fap+0f, 0x1.c199bep+0f, 0x1.d5818ep+0f, 0x1.ea4afap+0f};
alignas(64) inline constexpr float kPowerRests16[] = {0,
                                                      0x1.9f3122p-25f,
                                                      -0x1.c15742p-27f,
                                                      0x1.ceac48p-25f,
                                                      0x1.4636e2p-25f,
                                                      0x1.824684p-25f,
                                                      -0x1.593abcp-25f,
                                                      -0x1.5bd5ecp-27f,
                                                      0x1.9fcef4p-26f,
                                                      -0x1.829fdp-25f,
                                                      0x1.15506ep-27f,
                                                      0x1.51f848p-27f,
                                                      -0x1.a94b14p-26f,
                                                      -0x1.3d56b2p-27f,
                                                      -0x1.822dbcp-27f,
                                                      0x1.52486cp-27f};
alignas(64) inline constexpr float kPowers8[] = {0x1p+0f,        0x1.172b84p+0f, 0x1.306fep+0f,  0x1.4bfdaep+0f,
                                                 0x1.6a09e6p+0f, 0x1.8ace54p+0f, 0x1.ae89fap+0f, 0x1.d5818ep+0f};
alignas(64) inline constexpr float kPowerRests8[] = {0,
                                                     -0x1.c15742p-27f,
                                                     0x1.4636e2p-25f,
                                                     -0x1.593abcp-25f,
                                                     0x1.9fcef4p-26f,
                                                     0x1.15506ep-27f,
                                                     -0x1.a94b14p-26f,
                                                     -0x1.822dbcp-27f};
/// entries[i] of the lowest bits of each lane. A macro names the instruction, which Highway wraps in checks.
HWY_INLINE hn::Vec256<float> looked_up(hn::Vec256<float> i, const float* entries) {
  return hn::Vec256<float>{_mm256_permutevar8x32_ps(_mm256_load_ps(entries), _mm256_castps_si256(i.raw))};
}
#if HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<float> looked_up(hn::Vec512<float> i, const float* entries) {
  return hn::Vec512<float>{_mm512_permutexvar_ps(_mm512_castps_si512(i.raw), _mm512_load_ps(entries))};
}
#endif
#endif
/// Whether exponentials of these vectors look up powers.
template <class D>
inline constexpr bool kLooksUpPowers = TENON_HAS_POWER_TABLE != 0 &&
                                       sizeof(hn::TFromD<D>) == sizeof(float) && hn::MaxLanes(D()) >= 8;

/// e^x = 2^k (high + low), or 2^x, high between 0.7 and 2, |low| <= 0.08.
template <class V, class VI>
struct ShortExponential {
  VI k;
  V exponent;  // rounded down it is k
  V high, low;
};
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
HWY_INLINE hn::Vec512<float> with_whole_exponent(hn::Vec512<float> y, hn::Vec512<float> exponent) {
  return hn::Vec512<float>{_mm512_scalef_ps(y.raw, exponent.raw)};
}
HWY_INLINE hn::Vec512<double> with_whole_exponent(hn::Vec512<double> y, hn::Vec512<double> exponent) {
  return hn::Vec512<double>{_mm512_scalef_pd(y.raw, exponent.raw)};
}
#endif
/// Whether an instruction multiplies these vectors by powers of two.
template <class D>
inline constexpr bool kScalesAtOnce = HWY_ARCH_X86&& HWY_TARGET <=
                                          HWY_AVX3&& hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) ==
                                      64;
/// 2^k y.
template <class D, class V, class E>
HWY_INLINE V scaled_by(D d, V y, const E& e) {
  if constexpr (kScalesAtOnce<D>)
    return with_whole_exponent(y, e.exponent);
  else
    return with_exponent(d, y, e.k);
}
/// The same of a result that is a normal number.
template <class D, class V, class E>
HWY_INLINE V scaled_to_normal(D d, V y, const E& e) {
  if constexpr (kScalesAtOnce<D>)
    return with_whole_exponent(y, e.exponent);
  else
    return hn::Mul(y, power_of_two(d, e.k));
}
#if TENON_HAS_POWER_TABLE
/// With n = 16 k + i, or 8 k + i, and x = (n + r) ln 2 / 16: 2^(i/16) (1 + p), p = e^r - 1: 2^-32.
template <class D, class V>
HWY_INLINE auto powers_looked_up(D d, V counted, V whole, V r) {
  constexpr bool kWide = hn::MaxLanes(D()) == 16;
  constexpr float terms16[] = {0x1p-1f, 0x1.55571ep-3f, 0x1.55577ap-5f};
  constexpr float terms8[] = {0x1p-1f, 0x1.555c7ap-3f, 0x1.555de6p-5f};
  const hn::RebindToSigned<D> di;
  const V high = looked_up(counted, kWide ? kPowers16 : kPowers8);
  const V rest = looked_up(counted, kWide ? kPowerRests16 : kPowerRests8), square = hn::Mul(r, r);
  const V p = hn::MulAdd(square, polynomial(d, r, kWide ? terms16 : terms8), r);
  const auto n = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, hn::Set(d, kCounter<float>)));
  const auto k = hn::ShiftRight < kWide ? 4 : 3 > (n);
  return ShortExponential<V, std::remove_const_t<decltype(k)>>{k, hn::Mul(whole, hn::Set(d, kWide ? 0x1p-4f : 0x1p-3f)),
                                                               high, hn::MulAdd(high, p, rest)};
}
#endif
/// e^x for x between ExpLog<T>::lowest and `highest`; NaN may give any number.
template <class D, class V>
HWY_INLINE auto short_exponential(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const V counter = hn::Set(d, kCounter<T>);
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) {
    constexpr float kEntries = static_cast<float>(hn::MaxLanes(D()));
    const V counted = hn::MulAdd(x, hn::Set(d, kEntries * C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
    const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high / kEntries), x);  // exact
    return powers_looked_up(d, counted, whole, hn::NegMulAdd(whole, hn::Set(d, C::ln2_low / kEntries), high));
  } else
#endif
  {
    const hn::RebindToSigned<D> di;
    const V counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
    const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
    const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);  // exact
    const V less = hn::Mul(whole, hn::Set(d, C::ln2_low)), r = hn::Sub(high, less);
    const V line = hn::Add(hn::Set(d, T{1}), high);
    const V lost = hn::Sub(hn::Sub(high, hn::Sub(line, hn::Set(d, T{1}))), less);
    const V low = hn::MulAdd(hn::Mul(r, r), polynomial(d, r, C::exp_terms), lost);
    return ShortExponential<V, std::remove_const_t<decltype(k)>>{k, whole, line, low};
  }
}
/// x = k ln 2 + r.
template <class D, class V>
HWY_INLINE V exp_vector(D d, V x) {
  using T = hn::TFromD<D>;
  if constexpr (kLooksUpPowers<D>) {
    const V bounded = hn::Min(hn::Max(x, hn::Set(d, ExpLog<T>::lowest)), hn::Set(d, ExpLog<T>::highest));
    const auto e = short_exponential(d, bounded);
    return hn::IfThenElse(hn::IsNaN(x), x, scaled_by(d, hn::Add(e.high, e.low), e));
  }
  using C = ExpLog<T>;
  const hn::RebindToSigned<D> di;
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, C::lowest)), hn::Set(d, C::highest));
  const V counter = hn::Set(d, kCounter<T>);
  const V counted = hn::MulAdd(bounded, hn::Set(d, C::inverse_ln2), counter);
  const V whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), bounded), low = hn::Mul(whole, hn::Set(d, C::ln2_low));
  return hn::IfThenElse(hn::IsNaN(x), x, scaled_exp(d, k, high, low));
}
/// x = k + r / ln 2.
template <class D, class V>
HWY_INLINE V exp2_vector(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  const hn::RebindToSigned<D> di;
  const V bounded = hn::Min(hn::Max(x, hn::Set(d, C::lowest_power)), hn::Set(d, C::highest_power));
  const V counter = hn::Set(d, kCounter<T>);
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) {
    constexpr float kEntries = static_cast<float>(hn::MaxLanes(D()));
    const V in_steps = hn::MulAdd(bounded, hn::Set(d, kEntries), counter), whole = hn::Sub(in_steps, counter);
    const V r = hn::Mul(hn::NegMulAdd(whole, hn::Set(d, 1 / kEntries), bounded), hn::Set(d, C::ln2));
    const auto e = powers_looked_up(d, in_steps, whole, r);
    return hn::IfThenElse(hn::IsNaN(x), x, scaled_by(d, hn::Add(e.high, e.low), e));
  }
#endif
  const V counted = hn::Add(bounded, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V rest = hn::Sub(bounded, hn::Sub(counted, counter)), high = hn::Mul(rest, hn::Set(d, C::ln2));
  const V lost = hn::NegMulAdd(rest, hn::Set(d, C::ln2), high);  // 0 without fused multiply-add
  const V low = hn::NegMulAdd(rest, hn::Set(d, C::ln2_rest), lost);
  return hn::IfThenElse(hn::IsNaN(x), x, scaled_exp(d, k, high, low));
}

/// x = 2^k (1 + f) with 1 + f between sqrt(1/2) and sqrt(2); log(1 + f) = f - f^2 / 2 + s (f^2 / 2 + R(s^2)), s = f /
/// (2 + f).
template <class D, class V>
HWY_INLINE V log_vector(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  constexpr int kBits = C::mantissa_bits;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const V zero = hn::Zero(d), one = hn::Set(d, T{1});
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<T>::min()));
  const V normal = hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, C::normal_scale)), x);
  const auto sqrt_half = hn::Set(du, C::sqrt_half);
  const auto bits = hn::Add(hn::BitCast(du, normal), hn::Sub(hn::BitCast(du, one), sqrt_half));
  const V mantissa = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, (typename C::Bits{1} << kBits) - 1)), sqrt_half));
  const V counter = hn::Set(d, kCounter<T>);
  const auto biased = hn::BitCast(di, hn::ShiftRight<kBits>(bits));
  const V exponent = hn::Sub(hn::BitCast(d, hn::Add(biased, hn::BitCast(di, counter))), counter);
  const T bias = static_cast<T>(std::numeric_limits<T>::max_exponent - 1);
  const V k = hn::Sub(exponent,
                      hn::IfThenElse(subnormal, hn::Set(d, bias + static_cast<T>(C::normal_shift)), hn::Set(d, bias)));
  const V f = hn::Sub(mantissa, one);
  const V s = hn::Div(f, hn::Add(hn::Set(d, T{2}), f)), square = hn::Mul(s, s);
  const V half_square = hn::Mul(hn::Set(d, T{0.5}), hn::Mul(f, f));
  const V rest = hn::Mul(square, polynomial(d, square, C::log_terms));
  const V low = hn::MulAdd(k, hn::Set(d, C::ln2_low), hn::Mul(s, hn::Add(half_square, rest)));
  const V result = hn::MulAdd(k, hn::Set(d, C::ln2_high), hn::Sub(f, hn::Sub(half_square, low)));
  const V infinite = hn::Set(d, std::numeric_limits<T>::infinity());
  const V finite =
      hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinite),
                     hn::IfThenElse(hn::Lt(x, zero), hn::Set(d, std::numeric_limits<T>::quiet_NaN()), result));
  return hn::IfThenElse(hn::Or(hn::IsNaN(x), hn::Eq(x, infinite)), x, finite);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
