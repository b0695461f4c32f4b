// kernel: functions of the C++ library over vectors of float32, computed in float32; the logistic one for float64, too.
// What roundings of intermediate results lose is added back where it would show: errors stay below 1 ulp. Polynomials
// are minimax with the errors given, rounded to float32. Needs fused multiply-add.
#if defined(TENON_KERNEL_FLOAT32_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_FLOAT32_FUNCTIONS_INL_H
#undef TENON_KERNEL_FLOAT32_FUNCTIONS_INL_H
#else
#define TENON_KERNEL_FLOAT32_FUNCTIONS_INL_H
#endif

#include <bit>
#include <limits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/float64_functions-inl.h"
#include "kernel/intervals-inl.h"
#include "kernel/logarithm-inl.h"
#include "kernel/pieces-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// --- Exponentials

/// e^-x = 2^-k (coarse + fine), coarse a multiple of 1/4 from 1/2 to 1, and k where an exponent has its bits.
template <class V, class VU>
struct InverseExponential {
  V coarse, fine;
  VU k;
};
/// For |x| up to 87, or 700.
template <class D, class V>
HWY_INLINE auto inverse_exponential(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  constexpr int kSteps = kLooksUpRows<D> ? 64 : kLooksUpPowers<D> ? kPowersLookedUp<D> : 1;
  constexpr int kStepBits = std::countr_zero(static_cast<unsigned>(kSteps));
  const hn::RebindToUnsigned<D> du;
  using Result = InverseExponential<V, hn::Vec<std::remove_const_t<decltype(du)>>>;
  const V counter = hn::Set(d, kCounter<T>), one = hn::Set(d, T{1});
  const V counted = hn::MulAdd(x, hn::Set(d, kSteps * C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const V high = hn::MulSub(whole, hn::Set(d, C::ln2_high / kSteps), x);  // exact
  const V r = hn::MulAdd(whole, hn::Set(d, C::ln2_low / kSteps), high);
  const auto k = hn::And(hn::ShiftLeft<C::mantissa_bits - kStepBits>(hn::BitCast(du, counted)),
                         hn::Set(du, ~((typename C::Bits{1} << C::mantissa_bits) - 1)));
#if TENON_HAS_LANE_ROWS
  if constexpr (kLooksUpRows<D>) {
    constexpr double terms[] = {0x1.ffffffffff57dp-2, 0x1.5555555555255p-3, 0x1.55556b342389bp-5,
                                0x1.11111d90623e3p-7};  // of (e^r - 1 - r) / r^2: 2^-57
    const Pair<V> power = LaneRows(kQuarters64, counted).numbers(0);
    const V less_1 = hn::MulAdd(hn::Mul(r, r), paired_polynomial(d, r, terms), r);
    return Result{power.high, hn::MulAdd(hn::Add(power.high, power.low), less_1, power.low), k};
  } else
#endif
#if TENON_HAS_POWER_TABLE
      if constexpr (kLooksUpPowers<D>) {
    V coarse, rest, slope;
#if HWY_TARGET <= HWY_AVX3
    if constexpr (sizeof(T) == 8) {
      constexpr double terms[] = {
          1, 0x1p-1, 0x1.55555554dd44dp-3, 0x1.55555555194d2p-5, 0x1.11120af701debp-7, 0x1.6c17bb51f236dp-10};  // 2^-55
      coarse = looked_up(counted, kWideQuarters16), rest = looked_up(counted, kWideQuarterRests16);
      slope = paired_polynomial(d, r, terms);
    } else
#endif
    {
      constexpr float terms16[] = {0x1p-1f, 0x1.555c54p-3f};                 // 2^-28
      constexpr float terms8[] = {0x1p-1f, 0x1.555c7ap-3f, 0x1.555de6p-5f};  // 2^-31
      coarse = looked_up(counted, kSteps == 16 ? kQuarters16 : kQuarters8);
      rest = looked_up(counted, kSteps == 16 ? kQuarterRests16 : kQuarterRests8);
      if constexpr (kSteps == 16)
        slope = hn::MulAdd(polynomial(d, r, terms16), r, one);
      else
        slope = hn::MulAdd(polynomial(d, r, terms8), r, one);
    }
    return Result{coarse, hn::MulAdd(hn::Mul(hn::Add(coarse, rest), r), slope, rest), k};
  } else
#endif
  {
    return Result{one, hn::MulAdd(hn::Mul(r, r), paired_polynomial(d, r, C::exp_terms), r), k};
  }
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// 1 / x: 2^-14.
HWY_INLINE hn::Vec512<float> rough_inverse(hn::Vec512<float> x) { return hn::Vec512<float>{_mm512_rcp14_ps(x.raw)}; }
HWY_INLINE hn::Vec512<double> rough_inverse(hn::Vec512<double> x) { return hn::Vec512<double>{_mm512_rcp14_pd(x.raw)}; }
#endif
/// 1 / (line + low), |low| up to half of `line`, with an error of little more than the last rounding.
template <class D, class V>
HWY_INLINE V inverse_of_sum(D d, V line, V low) {
  const V sum = hn::Add(line, low), one = hn::Set(d, hn::TFromD<D>{1});
  // Where `low` is not small beside `line`, their products with `inverse` would round.
  const auto lost = [&](V inverse) HWY_ATTR {
    if constexpr (kLooksUpPowers<D> || kLooksUpRows<D>)
      return hn::NegMulAdd(inverse, low, hn::NegMulAdd(inverse, line, one));
    const V rest = hn::Sub(low, hn::Sub(sum, line));
    return hn::NegMulAdd(inverse, rest, hn::NegMulAdd(inverse, sum, one));
  };
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    const V inverse = hn::ApproximateReciprocal(sum), e = lost(inverse);  // e: 2^-14, or 2^-11
    return hn::MulAdd(inverse, kScalesAtOnce<D> ? e : hn::MulAdd(e, e, e), inverse);
  }
#endif
  const V inverse = hn::Div(one, sum);
  return hn::MulAdd(inverse, lost(inverse), inverse);
}
/// e^x for x <= 0; NaN may give any number. What small powers lost is left out: it would be subnormal.
template <class D, class V>
HWY_INLINE Pair<V> exponential_pair(D d, V x) {
  using C = ExpLog<hn::TFromD<D>>;
  const auto e = short_exponential(d, from_lowest(d, x, C::lowest));
  const Pair<V> power = sum_of_ordered(e.high, e.low);
  const V low = hn::IfThenElseZero(hn::Le(hn::Set(d, C::least_share), x), power.low);
  return {scaled_by(d, power.high, e), scaled_by(d, low, e)};
}
/// 1 / (1 + e^-x) for |x| from 15 on. Not inlined: its constants would take the registers of the loop.
template <class D, class V>
HWY_NOINLINE V logistic_of_far(D d, V x) {
  // Of a larger number e^-x does not count beside 1.
  const V most = hn::Set(d, hn::TFromD<D>{40}),
          negative = hn::IfThenElse(hn::Lt(most, x), hn::Neg(most), hn::Neg(hn::Abs(x)));
  const Pair<V> small = exponential_pair(d, negative);
  // The square of a small power does not count, and would be subnormal.
  const V bent = hn::IfThenElseZero(hn::Le(hn::Set(d, ExpLog<hn::TFromD<D>>::least_share / 2), negative), small.high);
  const V below = hn::Add(small.high, hn::NegMulAdd(bent, bent, small.low));
  const V far = hn::IfThenElse(hn::Lt(x, hn::Zero(d)), below, hn::Sub(hn::Set(d, hn::TFromD<D>{1}), small.high));
  return hn::IfThenElse(hn::IsNaN(x), x, far);
}
/// 1 / (1 + e^-x) as 2^k / (2^k + 2^k e^-x).
template <class D, class V>
HWY_INLINE V logistic_vector(D d, V x) {
  using T = hn::TFromD<D>;
  const hn::RebindToUnsigned<D> du;
  const V one = hn::Set(d, T{1});
  const auto e = inverse_exponential(d, x);
  const V power = hn::BitCast(d, hn::Add(e.k, hn::BitCast(du, one)));
  const V inverse = inverse_of_sum(d, hn::Add(power, e.coarse), e.fine);  // that addition is exact
  const V result = hn::BitCast(d, hn::Add(hn::BitCast(du, inverse), e.k));
  const auto near = hn::Lt(hn::Abs(x), hn::Set(d, static_cast<T>(sizeof(T) == 4 ? 15.2 : 35)));
  if (HWY_LIKELY(hn::AllTrue(d, near))) return result;
  return hn::IfThenElse(near, result, logistic_of_far(d, x));
}
#if TENON_HAS_POWER_TABLE
/// e^-x in float32 for |x| up to 87, with an error of 1 ulp.
template <class D, class V>
HWY_INLINE V rough_inverse_exponential(D d, V x) {
  using C = ExpLog<float>;
  constexpr int kSteps = kPowersLookedUp<D>;
  constexpr float terms16[] = {0x1p-1f, 0x1.555c54p-3f};                 // 2^-28
  constexpr float terms8[] = {0x1p-1f, 0x1.555c7ap-3f, 0x1.555de6p-5f};  // 2^-31
  const V counter = hn::Set(d, kCounter<float>);
  const V counted = hn::NegMulAdd(x, hn::Set(d, kSteps * C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const V high = hn::NegMulSub(whole, hn::Set(d, C::ln2_high / kSteps), x);  // exact
  const V r = hn::NegMulAdd(whole, hn::Set(d, C::ln2_low / kSteps), high);
  const V power = looked_up(counted, kSteps == 16 ? kPowers16 : kPowers8);
  const V rest = looked_up(counted, kSteps == 16 ? kPowerRests16 : kPowerRests8);
  V curve;
  if constexpr (kSteps == 16)
    curve = polynomial(d, r, terms16);
  else
    curve = polynomial(d, r, terms8);
  const V result = hn::Add(power, hn::MulAdd(power, hn::MulAdd(hn::Mul(r, r), curve, r), rest));
  if constexpr (kScalesAtOnce<D>) return with_whole_exponent(result, hn::Mul(whole, hn::Set(d, 1.0f / kSteps)));
  const hn::RebindToUnsigned<D> du;
  const auto k = hn::And(hn::ShiftLeft<C::mantissa_bits - 3>(hn::BitCast(du, counted)), hn::Set(du, 0xFF800000u));
  return hn::BitCast(d, hn::Add(hn::BitCast(du, result), k));
}
/// x / (1 + e^-x) in float32 for |x| up to 87, with an error of 2.2 ulp.
template <class D, class V>
HWY_INLINE V rough_times_logistic(D d, V x) {
  return hn::Div(x, hn::Add(hn::Set(d, 1.0f), rough_inverse_exponential(d, x)));
}
#endif
/// x / (1 + e^-x).
template <class D, class V>
HWY_INLINE V times_logistic_vector(D d, V x) {
  using T = hn::TFromD<D>;
  // Less than e^least_share does not count beside 1. NaN is in the dividend.
  const auto of_any = [&]() HWY_ATTR {
    const V negative = hn::Max(hn::Set(d, ExpLog<T>::least_share), hn::Neg(x));
    return hn::Div(x, hn::Add(hn::Set(d, T{1}), exp_vector(d, negative)));
  };
#if TENON_HAS_POWER_TABLE
  if constexpr (sizeof(T) == sizeof(float) && kLooksUpPowers<D>) {
    const auto far = hn::Ge(hn::Abs(x), hn::Set(d, 87.0f));  // NaN is not
    if (HWY_LIKELY(hn::AllFalse(d, far))) return rough_times_logistic(d, x);
    return hn::IfThenElse(far, of_any(), rough_times_logistic(d, hn::IfThenZeroElse(far, x)));
  }
#endif
#if HWY_NATIVE_FMA
  if constexpr (sizeof(T) == sizeof(double)) {
    const hn::RebindToUnsigned<D> du;
    const auto e = inverse_exponential(d, x);
    const V power = hn::BitCast(d, hn::Add(e.k, hn::BitCast(du, hn::Set(d, T{1}))));
    const V ratio = hn::Div(x, hn::Add(hn::Add(power, e.coarse), e.fine));
    const V result = hn::BitCast(d, hn::Add(hn::BitCast(du, ratio), e.k));  // k is 0 where x is small
    const auto near = hn::Lt(hn::Abs(x), hn::Set(d, T{700}));
    if (HWY_LIKELY(hn::AllTrue(d, near))) return result;
    return hn::IfThenElse(near, result, of_any());
  }
#endif
  return of_any();
}

/// e^x = 2^k (1 + line + curve), |line| <= 0.35, exact to some bits more than e^x: for functions that subtract 1.
template <class V, class VI>
struct Exponential32 {
  VI k;
  V line, curve;
};
template <class D, class V>
HWY_INLINE auto exponential_of_float32(D d, V x) {
  using C = ExpLog<float>;
  const hn::RebindToSigned<D> di;
  const V counter = hn::Set(d, kCounter<float>);
  const V counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);  // exact
  const Pair<V> r = sum_of_ordered(high, hn::Mul(whole, hn::Set(d, -C::ln2_low)));
  const V curve = hn::MulAdd(hn::Mul(r.high, r.high), polynomial(d, r.high, C::exp_terms), r.low);
  return Exponential32<V, std::remove_const_t<decltype(k)>>{k, r.high, curve};
}
/// (e^x - 1) / 2 for x from -30 to 89: e^x itself could overflow.
template <class D, class V>
HWY_INLINE Pair<V> half_of_exponential_less_1(D d, V x) {
  const hn::RebindToSigned<D> di;
  const auto e = exponential_of_float32(d, x);
  const V scale = power_of_two(d, hn::Sub(e.k, hn::Set(di, 1))), half = hn::Set(d, 0.5f), less = hn::Sub(scale, half);
  const V lost = hn::Sub(hn::Sub(scale, less), half);  // of large scales
  const Pair<V> sum = sum_of_ordered(less, hn::Mul(scale, e.line));
  return {sum.high, hn::MulAdd(scale, e.curve, hn::Add(sum.low, lost))};
}
template <class D, class V>
HWY_INLINE V expm1_of_float32(D d, V x) {
  const V bounded = hn::Max(hn::Min(x, hn::Set(d, 89.0f)), hn::Set(d, -30.0f));
  const V half = total(half_of_exponential_less_1(d, bounded));
  // Tiny numbers are their results, and subnormal ones lose bits when they are divided by 2; NaN.
  return hn::IfThenElse(hn::Le(hn::Set(d, 0x1p-26f), hn::Abs(x)), hn::Add(half, half), x);
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// tanh(c + t) = v + t (a1 + t (a2 + ... t a6)) in 32 intervals: four for each power of two from 1/16 to 8, the first
// one down to 0. By rows: c, v, and a1 to a6. Each by interpolation at Chebyshev's nodes, around a c whose tanh is
// nearly a float32: 2^-29. Columns are in the order of the three lowest bits of the exponent and the two highest of the
// mantissa.
alignas(64) inline constexpr float kTanhIntervals[8][32] = {
    {0x1.1ff226p+1f,
     0x1.5ff05ep+1f,
     0x1.9feb98p+1f,
     0x1.e01726p+1f,
     0x1.1c6c6p+2f,
     0x1.586db8p+2f,
     0x1.a923d8p+2f,
     0x1.db005p+2f,
     0x1.154252p+3f,
     0x1.233334p+3f,
     0x1.233334p+3f,
     0x1.233334p+3f,
     0,
     0x1.5ff334p-4f,
     0x1.9ffde6p-4f,
     0x1.e00434p-4f,
     0x1.1ff20ep-3f,
     0x1.6006ap-3f,
     0x1.a01724p-3f,
     0x1.e01738p-3f,
     0x1.1ff652p-2f,
     0x1.600068p-2f,
     0x1.9fefaap-2f,
     0x1.e0167ep-2f,
     0x1.1ff3a2p-1f,
     0x1.5ffc7cp-1f,
     0x1.9fef8ap-1f,
     0x1.dff95ap-1f,
     0x1.20155cp+0f,
     0x1.5fef1ep+0f,
     0x1.a01248p+0f,
     0x1.dfe98p+0f},
    {0x1.f4bd6ep-1f,
     0x1.fbd406p-1f,
     0x1.fe75fcp-1f,
     0x1.ff6f4cp-1f,
     0x1.ffdbd4p-1f,
     0x1.fffa74p-1f,
     0x1.ffff8ep-1f,
     0x1.ffffe8p-1f,
     0x1.fffffep-1f,
     0x1p+0f,
     0x1p+0f,
     0x1p+0f,
     0,
     0x1.5f161ep-4f,
     0x1.9e9142p-4f,
     0x1.ddd4b8p-4f,
     0x1.1e1024p-3f,
     0x1.5c9976p-3f,
     0x1.9a7552p-3f,
     0x1.d77c5ap-3f,
     0x1.189aa6p-2f,
     0x1.52c322p-2f,
     0x1.8a79f8p-2f,
     0x1.bfc09cp-2f,
     0x1.04ff48p-1f,
     0x1.31559cp-1f,
     0x1.577ff2p-1f,
     0x1.77d528p-1f,
     0x1.9e6b72p-1f,
     0x1.c27104p-1f,
     0x1.d9cc3cp-1f,
     0x1.e87494p-1f},
    {0x1.645bfp-5f,
     0x1.09e80ap-6f,
     0x1.896c66p-8f,
     0x1.213f1cp-9f,
     0x1.21561cp-11f,
     0x1.62fe12p-14f,
     0x1.c8048p-18f,
     0x1.7ff1fp-20f,
     0x1.000cfap-23f,
     0,
     0,
     0,
     0x1p+0f,
     0x1.fc3d04p-1f,
     0x1.fac14cp-1f,
     0x1.f9083cp-1f,
     0x1.f602cp-1f,
     0x1.f12a74p-1f,
     0x1.eb6f2p-1f,
     0x1.e4dd2ap-1f,
     0x1.d98daap-1f,
     0x1.c7f704p-1f,
     0x1.b4048ap-1f,
     0x1.9e1bbap-1f,
     0x1.7af43cp-1f,
     0x1.49e972p-1f,
     0x1.198bf2p-1f,
     0x1.d83dd4p-2f,
     0x1.61204ep-2f,
     0x1.cedcf8p-3f,
     0x1.26374ep-3f,
     0x1.700d5ap-4f},
    {-0x1.5c85a2p-5f,
     -0x1.07bd6p-6f,
     -0x1.883da6p-8f,
     -0x1.20ed5ep-9f,
     -0x1.213e3ep-11f,
     -0x1.62f448p-14f,
     -0x1.c80e54p-18f,
     -0x1.7fbe38p-20f,
     -0x1.ffdaecp-24f,
     0,
     0,
     0,
     0,
     -0x1.5c818ep-4f,
     -0x1.9a51d2p-4f,
     -0x1.d753c8p-4f,
     -0x1.187b64p-3f,
     -0x1.527fdep-3f,
     -0x1.89f89p-3f,
     -0x1.be7f3cp-3f,
     -0x1.038884p-2f,
     -0x1.2dafd6p-2f,
     -0x1.4fef5ep-2f,
     -0x1.6a24fep-2f,
     -0x1.8259eep-2f,
     -0x1.897d76p-2f,
     -0x1.79c73ap-2f,
     -0x1.5aa5e4p-2f,
     -0x1.1dd33ap-2f,
     -0x1.973662p-3f,
     -0x1.104374p-3f,
     -0x1.5f2088p-4f},
    {0x1.bc253cp-6f,
     0x1.59e736p-7f,
     0x1.03e95ap-8f,
     0x1.805eccp-10f,
     0x1.814348p-12f,
     0x1.d936eep-15f,
     0x1.2f903cp-18f,
     0x1.010448p-20f,
     0x1.5329p-24f,
     0,
     0,
     0,
     -0x1.555544p-2f,
     -0x1.4b5b68p-2f,
     -0x1.477446p-2f,
     -0x1.42f134p-2f,
     -0x1.3b15ccp-2f,
     -0x1.2ea296p-2f,
     -0x1.2024a6p-2f,
     -0x1.0fd8c6p-2f,
     -0x1.e92a82p-3f,
     -0x1.9857f6p-3f,
     -0x1.42882cp-3f,
     -0x1.d6e2ep-4f,
     -0x1.bd84acp-5f,
     0x1.d70024p-7f,
     0x1.0702cap-4f,
     0x1.842b7p-4f,
     0x1.c691bep-4f,
     0x1.97eebcp-4f,
     0x1.33c164p-4f,
     0x1.a89804p-5f},
    {-0x1.940fb8p-7f,
     -0x1.4e8abcp-8f,
     -0x1.00c62ap-9f,
     -0x1.7eab8p-11f,
     -0x1.8206bep-13f,
     -0x1.db678cp-16f,
     -0x1.2e262p-19f,
     -0x1.06d158p-21f,
     -0x1.585eecp-25f,
     0,
     0,
     0,
     0,
     0x1.7b6a22p-5f,
     0x1.c706aep-5f,
     0x1.0ff634p-4f,
     0x1.6daaa6p-4f,
     0x1.afb6fcp-4f,
     0x1.eb2f7ap-4f,
     0x1.130eb8p-3f,
     0x1.331c72p-3f,
     0x1.500418p-3f,
     0x1.5c45e4p-3f,
     0x1.587faep-3f,
     0x1.3a4f92p-3f,
     0x1.e99228p-4f,
     0x1.474e54p-4f,
     0x1.629ba6p-5f,
     0x1.a5627ep-9f,
     -0x1.5da1ep-6f,
     -0x1.9d246ep-6f,
     -0x1.55f4b6p-6f},
    {0x1.04db68p-8f,
     0x1.f5ef74p-10f,
     0x1.93ed7cp-11f,
     0x1.3201cep-12f,
     0x1.3cbfcep-14f,
     0x1.80568ap-17f,
     0x1.fd2ef8p-21f,
     0x1.7d650ap-23f,
     0x1.375a4p-26f,
     0,
     0,
     0,
     0x1.1064bep-3f,
     0x1.e066aap-4f,
     0x1.edec3ep-4f,
     0x1.eddd4ap-4f,
     0x1.cbbdb8p-4f,
     0x1.a25d64p-4f,
     0x1.765c4ap-4f,
     0x1.40f056p-4f,
     0x1.e3f4bap-5f,
     0x1.05c1dp-5f,
     0x1.8665a2p-8f,
     -0x1.1a0b8ap-6f,
     -0x1.6440d8p-5f,
     -0x1.f8901ap-5f,
     -0x1.00c56ap-4f,
     -0x1.b2c13cp-5f,
     -0x1.0614d6p-5f,
     -0x1.37b382p-7f,
     0x1.727b4p-10f,
     0x1.2dc086p-8f},
    {-0x1.7b3d14p-11f,
     -0x1.1d2812p-11f,
     -0x1.ff7328p-13f,
     -0x1.90a874p-14f,
     -0x1.7cd9cap-16f,
     -0x1.a57654p-19f,
     -0x1.78d202p-22f,
     -0x1.38ed38p-26f,
     -0x1.11f88ep-28f,
     0,
     0,
     0,
     0,
     0x1.ab4d0cp+6f,
     0x1.be0c54p+6f,
     0x1.7e2834p+6f,
     -0x1.ce1eaep+0f,
     -0x1.baf9ap-5f,
     0x1.93b9b4p+0f,
     -0x1.7a36d4p+0f,
     -0x1.6214ep-4f,
     -0x1.7fc554p-8f,
     -0x1.6ad43cp-4f,
     -0x1.8a440cp-4f,
     -0x1.1a9f8cp-5f,
     -0x1.a2cc7ap-7f,
     0x1.43557p-8f,
     0x1.f3904p-7f,
     0x1.2f1186p-6f,
     0x1.673a8p-7f,
     0x1.0f0a4p-8f,
     0x1.449f8ap-11f},
};
/// A number of each lane's interval, by five bits of `i`.
HWY_INLINE hn::Vec512<float> number_of_interval(hn::Vec512<float> i, int row) {
  return hn::Vec512<float>{_mm512_permutex2var_ps(_mm512_load_ps(kTanhIntervals[row]), _mm512_castps_si512(i.raw),
                                                  _mm512_load_ps(kTanhIntervals[row] + 16))};
}
template <class D, class V>
HWY_INLINE V tanh_by_intervals(D d, V x) {
  const hn::RebindToUnsigned<D> du;
  const V size = hn::Min(hn::Set(d, 9.1f), hn::Abs(x));  // NaN, if x is
  const V at_least = hn::Max(hn::Set(d, 0x1p-4f), size);
  const V i = hn::BitCast(d, hn::ShiftRight<ExpLog<float>::mantissa_bits - 2>(hn::BitCast(du, at_least)));
  const V t = hn::Sub(size, number_of_interval(i, 0));
  V curve = number_of_interval(i, 7);
  for (int row = 6; row >= 3; --row) curve = hn::MulAdd(curve, t, number_of_interval(i, row));
  // Near 0 the sum is x plus something small, elsewhere small beside the value: one rounding shows.
  const V rise = hn::MulAdd(t, number_of_interval(i, 2), hn::Mul(hn::Mul(t, t), curve));
  return hn::CopySign(hn::Add(number_of_interval(i, 1), rise), x);
}
#endif
/// term(kFirst) + x * (term(kFirst + 1) + x * ...), neighbours at once: a chain of all would fill the processor's
/// queue.
template <int kFirst, int kEnd, class D, class V, class Term>
HWY_INLINE V polynomial_of_rows(D, V x, V square, const Term& term) {
  const auto pair = [&](int row) HWY_ATTR { return hn::MulAdd(term(row + 1), x, term(row)); };
  constexpr int kLast = kFirst + (kEnd - kFirst - 1) / 2 * 2;
  V sum = (kEnd - kFirst) % 2 == 1 ? term(kLast) : pair(kLast);
  for (int row = kLast - 2; row >= kFirst; row -= 2) sum = hn::MulAdd(sum, square, pair(row));
  return sum;
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
template <class D, class V>
HWY_INLINE V wide_tanh_by_intervals(D d, V x) {
  constexpr int kRows = sizeof(kWideTanhIntervals) / sizeof(kWideTanhIntervals[0]);
  const hn::RebindToUnsigned<D> du;
  const V size = hn::Min(hn::Set(d, 20.0), hn::Abs(x));  // NaN, if x is
  const auto bits = hn::BitCast(du, hn::MulAdd(size, hn::Set(d, 1.1), hn::Set(d, 1.5)));
  const V interval = hn::BitCast(d, hn::ShiftRight<ExpLog<double>::mantissa_bits - 2>(bits));
  const auto term = [&](int row) HWY_ATTR { return looked_up(interval, kWideTanhIntervals[row]); };
  const V t = hn::Sub(size, term(0));
  const V square = hn::Mul(t, t), curve = polynomial_of_rows<3, kRows>(d, t, square, term);
  const V rise = hn::MulAdd(t, term(2), hn::Mul(square, curve));
  return hn::CopySign(hn::Add(term(1), rise), x);
}
#endif
template <class D, class V>
HWY_INLINE V tanh_of_float32(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) == 16) return tanh_by_intervals(d, x);
#endif
  const V size = hn::Min(hn::Abs(x), hn::Set(d, 10.0f)), one = hn::Set(d, 1.0f);
  const Pair<V> less = half_of_exponential_less_1(d, hn::Add(size, size));
  const Pair<V> numerator = sum_of_ordered(less.high, less.low), sum = sum_of(one, numerator.high);
  const V result = total(ratio(d, numerator, Pair<V>{sum.high, hn::Add(sum.low, numerator.low)}));
  return hn::IfThenElse(hn::Le(hn::Set(d, 0x1p-13f), hn::Abs(x)), hn::CopySign(result, x), x);
}

// --- Logarithms

/// log(m 2^exponent), m between sqrt(1/2) and sqrt(2), as exponent * ln 2 + line - square + curve: line = m - 1, and
/// square line^2 / 2.
template <class V>
struct ShortLogarithm {
  V exponent, line, square, curve;
};
/// Splits x > 0 that is not subnormal into a number near 1 and a power of two.
template <class V>
struct Mantissa {
  V exponent, m;
};
template <class D, class V>
HWY_INLINE Mantissa<V> split_mantissa(D d, V x) {
  using C = ExpLog<float>;
  const hn::RebindToUnsigned<D> du;
  const hn::RebindToSigned<D> di;
  const auto sqrt_half = hn::Set(du, C::sqrt_half);
  const auto bits = hn::Add(hn::BitCast(du, x), hn::Sub(hn::BitCast(du, hn::Set(d, 1.0f)), sqrt_half));
  const V m = hn::BitCast(d, hn::Add(hn::And(bits, hn::Set(du, (uint32_t{1} << C::mantissa_bits) - 1)), sqrt_half));
  const auto biased = hn::BitCast(di, hn::ShiftRight<C::mantissa_bits>(bits));
  return {hn::ConvertTo(d, hn::Sub(biased, hn::Set(di, std::numeric_limits<float>::max_exponent - 1))), m};
}
template <class D, class V>
HWY_INLINE ShortLogarithm<V> short_logarithm(D d, V exponent, V line) {
  const V s = hn::Div(line, hn::Add(hn::Set(d, 2.0f), line)), s_square = hn::Mul(s, s);
  const V square = hn::Mul(hn::Mul(line, hn::Set(d, 0.5f)), line);
  const V curve = hn::Mul(s, hn::MulAdd(s_square, polynomial(d, s_square, ExpLog<float>::log_terms), square));
  return {exponent, line, square, curve};
}
/// Of any number; what is not above 0 is corrected by `logarithm_or_special`.
template <class D, class V>
HWY_INLINE ShortLogarithm<V> short_logarithm(D d, V x) {
  using C = ExpLog<float>;
  const auto subnormal = hn::Lt(x, hn::Set(d, std::numeric_limits<float>::min()));
  const Mantissa<V> of = split_mantissa(d, hn::IfThenElse(subnormal, hn::Mul(x, hn::Set(d, C::normal_scale)), x));
  const V shift = hn::IfThenElseZero(subnormal, hn::Set(d, static_cast<float>(C::normal_shift)));
  return short_logarithm(d, hn::Sub(of.exponent, shift), hn::Sub(of.m, hn::Set(d, 1.0f)));
}
/// log(1 + x) for x > -1 that is finite.
template <class D, class V>
HWY_INLINE V finite_log1p(D d, V x) {
  using C = ExpLog<float>;
  const V one = hn::Set(d, 1.0f), zero = hn::Zero(d);
  const Pair<V> sum = sum_of(one, x);
  const Mantissa<V> of = split_mantissa(d, sum.high);
  const auto near = hn::Eq(of.exponent, zero);
  const auto log = short_logarithm(d, of.exponent, hn::IfThenElse(near, x, hn::Sub(of.m, one)));
  const V inverse = hn::ApproximateReciprocal(sum.high);  // to some 2^-11 of it, and so of what is lost
  const V lost = hn::Mul(hn::IfThenZeroElse(near, sum.low), inverse);
  const V low = hn::MulAdd(log.exponent, hn::Set(d, C::ln2_low), hn::Add(lost, log.curve));
  return hn::MulAdd(log.exponent, hn::Set(d, C::ln2_high), hn::Sub(log.line, hn::Sub(log.square, low)));
}
template <class D, class V>
HWY_INLINE V float32_or_special(D d, V x, V result) {
  const V zero = hn::Zero(d), infinite = hn::Set(d, std::numeric_limits<float>::infinity());
  const auto normal = hn::And(hn::Lt(zero, x), hn::Lt(x, infinite));
  if (hn::AllTrue(d, normal)) return result;
  const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const V end = hn::IfThenElse(hn::Eq(x, zero), hn::Neg(infinite), hn::IfThenElse(hn::Eq(x, infinite), x, nan));
  return hn::IfThenElse(normal, result, end);
}
template <class D, class V>
HWY_INLINE V log1p_of_float32(D d, V x) {
  const V result = float32_or_special(d, hn::Add(x, hn::Set(d, 1.0f)), finite_log1p(d, x));
  return hn::IfThenElse(hn::Lt(hn::Abs(x), hn::Set(d, 0x1p-25f)), x, result);
}
/// exponent * `whole` + the rest * `factor`, with constants in two parts.
template <class D, class V>
HWY_INLINE V logarithm_to_base(D d, V x, Pair<V> whole, Pair<V> factor) {
  const ShortLogarithm<V> log = short_logarithm(d, x);
  const Pair<V> rest = sum_of_ordered(log.line, hn::Neg(log.square));
  const Pair<V> product = product_of(rest.high, factor.high);
  const V low = hn::MulAdd(hn::Add(rest.low, log.curve), factor.high, hn::MulAdd(rest.high, factor.low, product.low));
  const Pair<V> sum = sum_of_ordered(hn::Mul(log.exponent, whole.high), product.high);
  return float32_or_special(d, x, hn::Add(sum.high, hn::Add(sum.low, hn::MulAdd(log.exponent, whole.low, low))));
}
template <class D, class V>
HWY_INLINE V log2_of_float32(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kHasShortLogarithms<D>) return tabled_logarithm_to<BinaryLogarithm>(d, x);
#endif
  return logarithm_to_base(d, x, Pair<V>{hn::Set(d, 1.0f), hn::Zero(d)},
                           Pair<V>{hn::Set(d, 0x1.715476p+0f), hn::Set(d, 0x1.4ae0cp-26f)});
}
template <class D, class V>
HWY_INLINE V log10_of_float32(D d, V x) {
#if TENON_HAS_LOGARITHM_TABLE
  if constexpr (kHasShortLogarithms<D>) return tabled_logarithm_to<DecimalLogarithm>(d, x);
#endif
  return logarithm_to_base(d, x, Pair<V>{hn::Set(d, 0x1.3440p-2f), hn::Set(d, 0x1.3509f8p-18f)},
                           Pair<V>{hn::Set(d, 0x1.bcb7b2p-2f), hn::Set(d, -0x1.5b235ep-27f)});
}
/// (log(1 + x) - x) / x^2 for x from 0 to 1: 2^-26.
template <class D, class V>
HWY_INLINE V log1p_curve(D d, V x) {
  constexpr float terms[] = {-0x1.fffff8p-2f, 0x1.5553b6p-2f, -0x1.ffc59ep-3f, 0x1.978b52p-3f,  -0x1.4a72a2p-3f,
                             0x1.ff283cp-4f,  -0x1.54effp-4f, 0x1.58fb6cp-5f,  -0x1.c097e4p-7f, 0x1.112b8ep-9f};
  return polynomial(d, x, terms);
}
template <class D, class V>
HWY_INLINE V log1p_up_to_1(D d, V x) {
  return hn::MulAdd(hn::Mul(x, x), log1p_curve(d, x), x);
}
/// above + log(1 + x) for x from 0 to 1 and a finite number `above`: what the sum of both loses is added back.
template <class D, class V>
HWY_INLINE V plus_log1p(D d, V above, V x) {
  const Pair<V> sum = sum_of(above, x);
  return hn::Add(sum.high, hn::MulAdd(hn::Mul(x, x), log1p_curve(d, x), sum.low));
}
/// above + log(1 + x) for x from 0 to 1 and a finite number `above`, rounded little more than once. By the slope
/// 1 / (1 + x), to 1/50 of it, what is low adds to the result.
template <class D, class V>
HWY_INLINE V plus_log1p(D d, V above, Pair<V> x) {
  using T = hn::TFromD<D>;
  const V one = hn::Set(d, T{1});
  const V bend = hn::MulAdd(x.high, hn::Set(d, T(0.4)), hn::Set(d, T(-0.9))), slope = hn::MulAdd(x.high, bend, one);
  if constexpr (sizeof(T) == sizeof(float)) {
    constexpr float terms[] = {0x1.555312p-2f, -0x1.ff8ec4p-3f, 0x1.95612ap-3f, -0x1.4019f4p-3f,
                               0x1.c7ec32p-4f, -0x1.fbc50ep-5f, 0x1.6fbf0ep-6f, -0x1.f2a394p-9f};
    // Of (log(1 + x) - x + x^2 / 2) / x^3: 2^-26 of the logarithm. Powers of tiny numbers would be subnormal.
    const V near = hn::IfThenElseZero(hn::Lt(hn::Set(d, 0x1p-30f), x.high), x.high);
    const V half = hn::Mul(near, hn::Set(d, 0.5f)), line = hn::NegMulAdd(half, near, x.high);
    const V lost = hn::NegMulAdd(half, near, hn::Sub(x.high, line)), cube = hn::Mul(hn::Mul(near, near), near);
    const Pair<V> sum = sum_of(above, line);
    const V low = hn::MulAdd(x.low, slope, hn::Add(sum.low, lost));
    return hn::Add(sum.high, hn::MulAdd(cube, polynomial(d, x.high, terms), low));
  } else {
    const Pair<V> more = sum_of_ordered(one, x.high), log = log_pair(d, more.high), sum = sum_of(above, log.high);
    const V low = hn::MulAdd(hn::Add(more.low, x.low), slope, log.low);
    return hn::Add(sum.high, hn::Add(sum.low, low));
  }
}
/// log(e^a + e^b) as the larger one and log(1 + e^-|a - b|), for finite numbers.
template <class D, class V>
HWY_INLINE V logaddexp_of_float32(D d, V a, V b) {
  return plus_log1p(d, hn::Max(a, b), exp_vector(d, hn::Neg(hn::Abs(hn::Sub(a, b)))));
}
template <class D, class V>
HWY_INLINE V logaddexp2_of_float32(D d, V a, V b) {
  const V log = log1p_up_to_1(d, exp2_vector(d, hn::Neg(hn::Abs(hn::Sub(a, b)))));
  return hn::MulAdd(log, hn::Set(d, 0x1.715476p+0f), hn::Max(a, b));
}
/// (1 + |x|) / (1 - |x|) = 2^k (1 + s) / (1 - s) gives k ln 2 / 2 + atanh(s), s from -0.07 to 0.273: one division.
template <class D, class V>
HWY_INLINE V atanh_of_float32(D d, V x) {
  constexpr float terms[] = {0x1.555546p-2f, 0x1.99a95ap-3f, 0x1.22205ep-3f, 0x1.09369p-3f};  // 2^-30
  const hn::RebindToUnsigned<D> du;
  const V size = hn::Abs(x), one = hn::Set(d, 1.0f), less = hn::Sub(one, size), more = hn::Add(one, size);
  const V quotient = hn::Mul(hn::Mul(more, hn::Set(d, 1.15f)), hn::ApproximateReciprocal(less));
  const auto power = hn::And(hn::BitCast(du, quotient), hn::Set(du, 0x7F800000));  // of two; infinite where |x| is 1
  const V inverse = hn::BitCast(d, hn::Sub(hn::Set(du, 0x7F000000), power));
  // By 1 + |x| and 1 - |x|, which is exact from 1/2 on, or where k is at most 2 by 1 + 2^-k and 1 - 2^-k.
  const auto near = hn::Le(size, hn::Set(d, 0.57f));
  const V a = hn::IfThenElse(near, size, inverse), b = hn::Add(one, hn::IfThenElse(near, inverse, size));
  const V c = hn::IfThenElse(near, hn::Sub(one, inverse), less);
  const V over = hn::MulSub(a, b, c);
  const V under = hn::IfThenElse(near, hn::NegMulAdd(a, c, b), hn::MulAdd(a, b, c));
  const Pair<V> s = ratio(d, Pair<V>{over, hn::Zero(d)}, Pair<V>{under, hn::Zero(d)});
  const V square = hn::Mul(s.high, s.high);
  const V tail = hn::MulAdd(hn::Mul(s.high, square), paired_polynomial(d, square, terms), s.low);
  const hn::RebindToSigned<D> di;
  const V exponent = hn::ConvertTo(d, hn::Sub(hn::BitCast(di, hn::ShiftRight<23>(power)), hn::Set(di, 127)));
  const V line = hn::Mul(exponent, hn::Set(d, 0x1.62e4p-2f));  // exact
  const Pair<V> sum = sum_of_ordered(line, s.high);
  const V rest = hn::MulAdd(exponent, hn::Set(d, 0x1.7f7d1cp-21f), tail);
  const V result = hn::Add(sum.high, hn::Add(sum.low, rest));
  const V nan = hn::Set(d, std::numeric_limits<float>::quiet_NaN());
  const V end = hn::IfThenElse(hn::Eq(size, one), hn::Set(d, std::numeric_limits<float>::infinity()), nan);
  return hn::CopySign(hn::IfThenElse(hn::Lt(size, one), result, end), x);
}

// --- Angles

/// Up to this angle, x - k pi/2 is exact to some 2^-50.
inline constexpr float kFarthestAngle32 = 1e5f;
/// x = k pi/2 + r for the integer k in the lowest bits of `counted`, |r| up to pi/4 and a bit; r as a pair.
template <class V>
struct ReducedAngle {
  V counted;
  Pair<V> r;
};
template <class D, class V>
HWY_INLINE ReducedAngle<V> reduced_angle(D d, V x) {
  const V counter = hn::Set(d, kCounter<float>);
  const V counted = hn::MulAdd(x, hn::Set(d, 0x1.45f306p-1f), counter), k = hn::Sub(counted, counter);
  const V first = hn::NegMulAdd(k, hn::Set(d, 0x1.921fb6p+0f), x);  // exact
  // first - r is exact, because k * `second` is a multiple of a far smaller number than `first`.
  const V second = hn::Set(d, 0x1.777a5cp-25f), r = hn::Add(first, hn::Mul(k, second));
  const V low = hn::MulAdd(k, second, hn::Sub(first, r));
  return {counted, {r, hn::MulAdd(k, hn::Set(d, 0x1.ee59dap-50f), low)}};
}
/// sin(x + quarters_before * pi/2).
template <class D, class V>
HWY_INLINE V sine_of_float32(D d, V x, uint32_t quarters_before) {
  constexpr float sine_terms[] = {-0x1.555556p-3f, 0x1.111174p-7f, -0x1.a05954p-13f, 0x1.7c2b24p-19f};  // 2^-32
  constexpr float cosine_terms[] = {0x1.55554ap-5f, -0x1.6c0c28p-10f, 0x1.99e812p-16f};                 // 2^-33
  const hn::RebindToUnsigned<D> du;
  const V one = hn::Set(d, 1.0f), half = hn::Set(d, 0.5f);
  const auto [counted, angle] = reduced_angle(d, x);
  const V r = angle.high, low = angle.low, square = hn::Mul(r, r);
  const V line = hn::NegMulAdd(square, half, one), lost = hn::NegMulAdd(square, half, hn::Sub(one, line));
  const V bent = hn::MulAdd(hn::Mul(r, square), polynomial(d, square, sine_terms), hn::Mul(low, line));
  const V sine = hn::Add(r, bent);
  const V curve = hn::MulAdd(hn::Mul(square, square), polynomial(d, square, cosine_terms), hn::NegMulAdd(r, low, lost));
  const V cosine = hn::Add(line, curve);
  auto quarters = hn::BitCast(du, counted);
  if (quarters_before != 0) quarters = hn::Add(quarters, hn::Set(du, quarters_before));
  const auto odd = hn::RebindMask(d, hn::TestBit(quarters, hn::Set(du, 1)));
  const V turned = hn::IfThenElse(odd, cosine, sine);
  return times_sign(d, turned, hn::BitCast(d, hn::ShiftLeft<30>(quarters)));
}
/// By the size of x, so that -0 stays.
template <class D, class V>
HWY_INLINE V sin_of_float32(D d, V x) {
  return times_sign(d, sine_of_float32(d, hn::Abs(x), 0), x);
}
template <class D, class V>
HWY_INLINE V cos_of_float32(D d, V x) {
  return sine_of_float32(d, x, 1);
}
/// r + r^3 p(r^2), what r and its powers lose added back; or of odd k -1 over that.
template <class D, class V>
HWY_INLINE V tan_of_float32(D d, V x) {
  constexpr float terms[] = {0x1.55556p-2f,  0x1.110d9ap-3f,  0x1.badae6p-5f, 0x1.5cb1e4p-6f,
                             0x1.632546p-7f, 0x1.5c659ep-14f, 0x1.1f1a6p-8f};
  const hn::RebindToUnsigned<D> du;
  const auto [counted, angle] = reduced_angle(d, hn::Abs(x));
  const V r = angle.high, low = angle.low, square = hn::Mul(r, r);
  const V slope = hn::MulAdd(square, hn::Set(d, 1.4f), hn::Set(d, 1.0f));
  const Pair<V> cube = product_of(r, square);
  const V lost = hn::MulAdd(r, hn::MulSub(r, r, square), cube.low);
  const V tail = hn::MulAdd(lost, hn::Set(d, 0.4f), hn::Mul(low, slope));
  const V bent = hn::MulAdd(cube.high, polynomial(d, square, terms), tail);
  const auto odd = hn::RebindMask(d, hn::TestBit(hn::BitCast(du, counted), hn::Set(du, 1)));
  return times_sign(d, hn::IfThenElse(odd, hn::Neg(inverse_of_sum(d, r, bent)), hn::Add(r, bent)), x);
}

/// pi/2 as two numbers.
template <class T>
struct QuarterTurn;
template <>
struct QuarterTurn<float> {
  static constexpr float high = 0x1.921fb6p+0f, rest = -0x1.777a5cp-25f;
};
template <>
struct QuarterTurn<double> {
  static constexpr double high = 0x1.921fb54442d18p+0, rest = 0x1.1a62633145c07p-54;
};
inline constexpr float kQuarterTurn = QuarterTurn<float>::high, kQuarterTurnRest = QuarterTurn<float>::rest;
/// The angle of (across, up), both >= 0 and not both 0 or infinite, in [0, pi/2]. Far from the axis, the point is
/// rotated by an eighth or a quarter of a turn first.
template <class D, class V>
HWY_INLINE Pair<V> short_angle(D d, V up, V across) {
  constexpr float terms[] = {-0x1.55554ap-2f, 0x1.9991e2p-3f, -0x1.23b99ep-3f, 0x1.b223dap-4f, -0x1.f2e1dap-5f};
  const V zero = hn::Zero(d);
  const auto steep = hn::Lt(hn::Mul(across, hn::Set(d, 2.41421356f)), up);
  const auto tilted = hn::Lt(hn::Mul(across, hn::Set(d, 0.414213562f)), up);
  const V left = hn::Neg(across);
  const Pair<V> halfway{hn::IfThenElse(steep, left, up), zero};
  const Pair<V> numerator = choose(hn::AndNot(steep, tilted), sum_of(up, left), halfway);
  const Pair<V> straight{hn::IfThenElse(steep, up, across), zero};
  const Pair<V> denominator = choose(hn::AndNot(steep, tilted), sum_of(up, across), straight);
  const V eighths = hn::IfThenElse(steep, hn::Set(d, 1.0f), hn::IfThenElseZero(tilted, hn::Set(d, 0.5f)));
  const Pair<V> t = ratio(d, numerator, denominator);
  const V square = hn::Mul(t.high, t.high);
  const V curve = hn::MulAdd(hn::Mul(t.high, square), polynomial(d, square, terms), t.low);
  const Pair<V> sum = sum_of_ordered(hn::Mul(eighths, hn::Set(d, kQuarterTurn)), t.high);
  return {sum.high, hn::Add(sum.low, hn::MulAdd(eighths, hn::Set(d, kQuarterTurnRest), curve))};
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// By the interval of |x|, or of 1 / |x|.
template <class D, class V>
HWY_INLINE V atan_by_intervals(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ArcTangentIntervals<T>;
  constexpr int kRows = sizeof(C::rows) / sizeof(C::rows[0]);
  const V size = hn::Min(hn::Set(d, T(0x1p60)), hn::Abs(x)), one = hn::Set(d, T{1});  // NaN, the second operand, stays
  const auto steep = hn::Lt(one, size);
  V inverse = rough_inverse(size);
  for (int step = 0; step < (sizeof(T) == 4 ? 1 : 2); ++step)
    inverse = hn::MulAdd(inverse, hn::NegMulAdd(inverse, size, one), inverse);
  const V t = hn::IfThenElse(steep, inverse, size);
  const V interval = hn::MulAdd(t, hn::Set(d, C::last), hn::Set(d, kCounter<T>));
  const V beyond = hn::Sub(t, looked_up_short(interval, C::rows[0])), value = looked_up_short(interval, C::rows[1]);
  // Pairs of terms at once: a chain of all would fill the processor's queue.
  const auto term = [&](int row) HWY_ATTR { return looked_up_short(interval, C::rows[row]); };
  const auto pair = [&](int row) HWY_ATTR { return hn::MulAdd(term(row + 1), beyond, term(row)); };
  const V square = hn::Mul(beyond, beyond);
  V slope = pair(kRows - 2);  // less 1
  for (int row = kRows - 4; row > 2; row -= 2) slope = hn::MulAdd(slope, square, pair(row));
  const V flat = hn::Add(t, hn::MulAdd(slope, beyond, looked_up_short(interval, C::rows[2])));
  const V bent = hn::MulAdd(slope, beyond, hn::Sub(beyond, hn::Set(d, QuarterTurn<T>::rest)));
  const V upright = hn::Sub(hn::Sub(hn::Set(d, QuarterTurn<T>::high), value), bent);  // the inner difference is exact
  return hn::CopySign(hn::IfThenElse(steep, upright, flat), x);
}
#endif
template <class D, class V>
HWY_INLINE V atan_of_float32(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) return atan_by_intervals(d, x);
#endif
  const V size = hn::Min(hn::Abs(x), hn::Set(d, 0x1p60f));
  const V result = hn::CopySign(total(short_angle(d, size, hn::Set(d, 1.0f))), x);
  return hn::IfThenElse(hn::Le(hn::Set(d, 0x1p-13f), hn::Abs(x)), result, x);
}
/// Up to this number, and from its inverse, coordinates are far enough from the ends of float32.
inline constexpr float kFarthestPoint = 0x1p60f;
template <class D, class V>
HWY_INLINE V atan2_of_float32(D d, V y, V x) {
  const Pair<V> angle = short_angle(d, hn::Abs(y), hn::Abs(x));
  const Pair<V> whole = sum_of_ordered(hn::Set(d, 2 * kQuarterTurn), hn::Neg(angle.high));
  const V beyond = hn::Add(whole.high, hn::Add(whole.low, hn::Sub(hn::Set(d, 2 * kQuarterTurnRest), angle.low)));
  return hn::CopySign(hn::IfNegativeThenElse(x, beyond, total(angle)), y);
}
// asin(x) for |x| <= 1/2 is x + x^3 p(x^2). `terms` of p: 2^-31, or 2^-59.
template <class T>
struct ArcSineTerms;
template <>
struct ArcSineTerms<float> {
  static constexpr float terms[] = {0x1.55554cp-3f, 0x1.3338acp-4f, 0x1.6ca742p-5f,
                                    0x1.04d474p-5f, 0x1.d4f852p-7f, 0x1.34dc5cp-5f};
};
template <>
struct ArcSineTerms<double> {
  static constexpr double terms[] = {
      0x1.5555555555577p-3, 0x1.333333332e10fp-4,  0x1.6db6db7215022p-5, 0x1.f1c71a93b11eap-6, 0x1.6e8bdf09fe48bp-6,
      0x1.1c49ed0fd3f5p-6,  0x1.ca1fe44e3986ep-7,  0x1.75828ac48d65ap-7, 0x1.614e739a746afp-7, 0x1.e4d7976199ac8p-9,
      0x1.63f7c80383dfap-6, -0x1.58848cdccc64ep-6, 0x1.0b72b1e790847p-5};
};
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
/// The inverse of the root, 2^-14; of 0, 0.
HWY_INLINE hn::Vec512<float> inverse_root_or_0(hn::Vec512<float> x) {
  return hn::Vec512<float>{_mm512_maskz_rsqrt14_ps(_mm512_cmp_ps_mask(x.raw, _mm512_setzero_ps(), _CMP_NEQ_UQ), x.raw)};
}
HWY_INLINE hn::Vec512<double> inverse_root_or_0(hn::Vec512<double> x) {
  return hn::Vec512<double>{
      _mm512_maskz_rsqrt14_pd(_mm512_cmp_pd_mask(x.raw, _mm512_setzero_pd(), _CMP_NEQ_UQ), x.raw)};
}
#endif
/// The root of a number from 0 to 1/4 as a pair; NaN of a negative one.
template <class D, class V>
HWY_INLINE Pair<V> root_as_pair(D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (kScalesAtOnce<D>) {
    // By multiplications: the instruction for a root, and the division, take longer than the whole function. Bench:
    // tenon_bench --ops --filter 'ops/(asin|acos)$'.
    const V half = hn::Set(d, hn::TFromD<D>{0.5}), rough = inverse_root_or_0(x);
    V root = hn::Mul(x, rough), half_inverse = hn::Mul(half, rough);
    if constexpr (sizeof(hn::TFromD<D>) == sizeof(double)) {
      const V off = hn::NegMulAdd(root, half_inverse, half);
      root = hn::MulAdd(root, off, root), half_inverse = hn::MulAdd(half_inverse, off, half_inverse);
    }
    const V high = hn::MulAdd(hn::NegMulAdd(root, root, x), half_inverse, root);
    return {high, hn::Mul(hn::NegMulAdd(high, high, x), half_inverse)};
  }
#endif
  const V root = hn::Sqrt(x), lost = hn::Div(hn::NegMulAdd(root, root, x), hn::Add(root, root));
  return {root, hn::IfThenElseZero(hn::Lt(hn::Zero(d), x), lost)};
}
/// asin(x) for |x| <= 1/2 or half the arc cosine of |x| beyond, as line + curve. NaN beyond 1.
template <class V, class M>
struct ShortArc {
  V line, curve;
  M far;
};
template <class D, class V>
HWY_INLINE auto short_arc(D d, V x) {
  using T = hn::TFromD<D>;
  const V size = hn::Abs(x), half = hn::Set(d, T{0.5});
  const auto far = hn::Lt(half, size);
  const V square = hn::IfThenElse(far, hn::NegMulAdd(half, size, half), hn::Mul(x, x));
  const Pair<V> root = root_as_pair(d, square);
  const V line = hn::IfThenElse(far, root.high, size), low = hn::IfThenElseZero(far, root.low);
  V slope;
  if constexpr (sizeof(T) == sizeof(float))
    slope = polynomial(d, square, ArcSineTerms<T>::terms);
  else
    slope = paired_polynomial(d, square, ArcSineTerms<T>::terms);
  const V curve = hn::MulAdd(hn::Mul(line, square), slope, low);
  return ShortArc<V, std::remove_const_t<decltype(far)>>{line, curve, far};
}
template <class D, class V>
HWY_INLINE V asin_vector(D d, V x) {
  using T = hn::TFromD<D>;
  using C = QuarterTurn<T>;
  const auto arc = short_arc(d, x);
  const V twice = hn::Add(arc.line, arc.line);
  const Pair<V> beyond = sum_of_ordered(hn::Set(d, C::high), hn::Neg(twice));
  const V low = hn::Add(beyond.low, hn::NegMulAdd(hn::Set(d, T{2}), arc.curve, hn::Set(d, C::rest)));
  return hn::CopySign(hn::IfThenElse(arc.far, hn::Add(beyond.high, low), hn::Add(arc.line, arc.curve)), x);
}
// pi/2 - asin(x); beyond 1/2 twice the arc, or pi less that.
template <class D, class V>
HWY_INLINE V acos_vector(D d, V x) {
  using T = hn::TFromD<D>;
  using C = QuarterTurn<T>;
  const auto arc = short_arc(d, x);
  const V behind = hn::IfThenElseZero(hn::Lt(x, hn::Zero(d)), hn::Set(d, 2 * C::high));
  const V base = hn::IfThenElse(arc.far, behind, hn::Set(d, C::high));
  const V times =
      hn::Xor(hn::IfThenElse(arc.far, hn::Set(d, T{2}), hn::Set(d, T{-1})), hn::And(x, hn::Set(d, T(-0.0))));
  const Pair<V> sum = sum_of_ordered(base, hn::Mul(arc.line, times));
  const V low = hn::MulAdd(arc.curve, times, hn::Mul(base, hn::Set(d, C::rest / C::high)));
  return hn::Add(sum.high, hn::Add(sum.low, low));
}

// --- Error functions

/// erf(x) as x plus x times a polynomial of x^2, 2^-29, or as 1 - e^(p |x| - |x|) with a polynomial p of |x|, 2^-28.
template <class D, class V>
HWY_INLINE V erf_of_float32(D d, V x) {
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) return error_by_pieces(d, x);
#endif
  constexpr float near_terms[] = {0x1.06eba8p-3f, -0x1.81274p-2f,   0x1.ce2d64p-4f, -0x1.b8011ep-6f,
                                  0x1.544a84p-8f, -0x1.a61004p-11f, 0x1.4f81f8p-14f};
  constexpr float far_terms[] = {-0x1.07309ep-3f, -0x1.457e8ep-1f, -0x1.af14bp-4f,
                                 0x1.76d6e6p-6f,  -0x1.a4e75ap-9f, 0x1.bfca16p-13f};
  const V size = hn::Abs(x), square = hn::Mul(x, x);
  const V near = hn::MulAdd(polynomial(d, square, near_terms), x, x);
  const V t = hn::Min(size, hn::Set(d, 3.93f));  // where float32 rounds the result to 1
  const V p = polynomial(d, t, far_terms), power = hn::MulSub(p, t, t), lost = hn::MulSub(p, t, hn::Add(t, power));
  const auto e = short_exponential(d, power);
  const V low = scaled_to_normal(d, hn::MulAdd(e.high, lost, e.low), e);
  const Pair<V> line = sum_of_ordered(hn::Set(d, 1.0f), hn::Neg(scaled_to_normal(d, e.high, e)));
  const V far = hn::Add(line.high, hn::Sub(line.low, low));
  const V result = hn::IfThenElse(hn::Lt(hn::Set(d, 0.92f), size), hn::CopySign(far, x), near);
  return hn::IfThenElse(hn::IsNaN(x), x, result);
}
#if TENON_HAS_POWER_TABLE
/// How many intervals of these vectors a lane's number is looked up of.
template <class D>
inline constexpr int kIntervals = sizeof(hn::TFromD<D>) == sizeof(double) ? 16
                                  : kScalesAtOnce<D>                      ? 32
                                                                          : 8;
/// erfc(x) as e^-x^2 times the rest by the interval of |x|.
template <class D, class V>
HWY_INLINE V error_rest_by_intervals(D d, V x) {
  using T = hn::TFromD<D>;
  using C = ExpLog<T>;
  using Rest = ErrorRestIntervals<T, kIntervals<D>>;
  constexpr int kRows = sizeof(Rest::rows) / sizeof(Rest::rows[0]);
  const V size = hn::Min(hn::Set(d, Rest::farthest), hn::Abs(x));  // NaN, the second operand, stays
  const V moved = hn::MulAdd(size, hn::Set(d, Rest::scale), hn::Set(d, Rest::start));
  const auto bits = hn::BitCast(hn::RebindToUnsigned<D>(), moved);
  const V interval = hn::BitCast(d, hn::ShiftRight<C::mantissa_bits - Rest::mantissa_bits>(bits));
  const auto term = [&](int row) HWY_ATTR { return looked_up_short(interval, Rest::rows[row]); };
  const V beyond = hn::Sub(size, term(0)), value = term(1);
  const V high = hn::Mul(beyond, beyond), curve = polynomial_of_rows<3, kRows>(d, beyond, high, term);
  const V bent = hn::MulAdd(beyond, term(2), hn::Mul(high, curve));  // the largest part rounds once
  // e^-size^2: what the square loses goes to the rest of the reduced exponent.
  const Pair<V> square = product_of(size, size);
  const V counter = hn::Set(d, kPowerCounter<D>);
  const V counted = hn::NegMulAdd(square.high, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const V line = hn::NegMulSub(whole, hn::Set(d, C::ln2_high), square.high);  // exact
  auto e = powers_looked_up(d, counted, whole, hn::Sub(line, hn::MulAdd(whole, hn::Set(d, C::ln2_low), square.low)));
  const auto vanishes = hn::Ge(size, hn::Set(d, Rest::farthest));
  if constexpr (kScalesAtOnce<D>) {
    e.exponent = hn::IfThenElse(vanishes, hn::Set(d, vanishing_exponent<D>()), e.exponent);
  } else {
    const hn::RebindToSigned<D> di;
    using TI = hn::TFromD<decltype(di)>;
    e.k = hn::IfThenElse(hn::RebindMask(di, vanishes), hn::Set(di, static_cast<TI>(vanishing_exponent<D>())), e.k);
  }
  // In eight intervals `bent` is up to a third of `value`, and rounding its product would show.
  const V both = hn::Add(value, bent);
  const Pair<V> rest = kScalesAtOnce<D> ? Pair<V>{value, bent} : sum_of_ordered(value, bent);
  const Pair<V> product = product_of(e.high, rest.high);
  const V low = hn::MulAdd(e.high, rest.low, hn::MulAdd(e.low, both, product.low));
  const V sum = hn::Add(product.high, low);
  V result;
  if (kAddsExponents<D> && HWY_LIKELY(hn::AllTrue(d, hn::Lt(size, hn::Set(d, T{9})))))
    result = with_added_exponent(d, sum, e.k);  // which is a normal number
  else
    result = scaled_by(d, sum, e);
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), hn::Sub(hn::Set(d, T{2}), result), result);
}
#endif
}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
