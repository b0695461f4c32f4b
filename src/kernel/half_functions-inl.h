// kernel: functions of 16-bit floats over vectors of float32 with AVX-512; all but logarithms with AVX2, too. A number
// of 11 or 8 bits times a constant of 13 bits is exact in float32, so that angles and powers are reduced without pairs;
// 16 intervals look up what they need; and nothing is added back that a 16-bit result does not show. Of the 65,536
// float16 numbers, at most two have another result than the exact one rounded, a neighbour of it (of sigmoid seven); of
// bfloat16, none (half_functions_test.cpp).
#if defined(TENON_KERNEL_HALF_FUNCTIONS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_HALF_FUNCTIONS_INL_H
#undef TENON_KERNEL_HALF_FUNCTIONS_INL_H
#else
#define TENON_KERNEL_HALF_FUNCTIONS_INL_H
#endif

#include <bit>
#include <cstdint>
#include <type_traits>

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/float32_functions-inl.h"
#include "tenon/dtype.h"

#undef TENON_HAS_HALF_FUNCTIONS
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
#define TENON_HAS_HALF_FUNCTIONS 1
#else
#define TENON_HAS_HALF_FUNCTIONS 0
#endif

#if TENON_HAS_HALF_FUNCTIONS
HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE::half {

namespace hn = hwy::HWY_NAMESPACE;
using D32 = hn::CappedTag<float, 16>;
using V32 = hn::Vec<D32>;

/// sin(pi t) for |t| <= 1/2. -0 stays.
template <class T>
HWY_INLINE V32 sine_of_half_turns(V32 t) {
  const D32 d;
  const V32 square = hn::Mul(t, t);
  if constexpr (std::is_same_v<T, BFloat16>) {
    constexpr float terms[] = {0x1.921fa2p+1f, -0x1.4ab6c6p+2f, 0x1.45a1ccp+1f, -0x1.1e6e44p-1f};  // 2^-19
    return hn::Mul(t, polynomial(d, square, terms));
  } else {
    // Less 2, so that the last step rounds little: 2^-27. The last bits are those that round most results correctly.
    constexpr float terms[] = {0x1.243f6ap+0f, -0x1.4abbc8p+2f, 0x1.466918p+1f, -0x1.32555ap-1f, 0x1.3e2938p-4f};
    return hn::MulAdd(t, polynomial(d, square, terms), hn::Add(t, t));
  }
}
/// The same for Cos, whose most correct results another last step gives; 0 has no sign.
template <class T>
HWY_INLINE V32 cosine_of_half_turns(V32 t) {
  if constexpr (std::is_same_v<T, BFloat16>) {
    return sine_of_half_turns<T>(t);
  } else {
    const D32 d;
    constexpr float terms[] = {-0x1.4abbc6p+2f, 0x1.466918p+1f, -0x1.32557p-1f, 0x1.3e2934p-4f};
    const V32 square = hn::Mul(t, t), line = hn::Mul(t, hn::Set(d, 0x1.921fb6p+1f));
    return hn::MulAdd(hn::Mul(t, square), polynomial(d, square, terms), line);
  }
}
/// The lowest bit of `turns` counts half turns.
HWY_INLINE V32 with_sign_of_turns(V32 sine, V32 turns) {
  const D32 d;
  const hn::RebindToUnsigned<D32> du;
  return hn::Xor(sine, hn::BitCast(d, hn::ShiftLeft<31>(hn::BitCast(du, turns))));
}
/// 1/pi, its first part of 13 bits.
inline constexpr float kWholeTurn = 0x1.45f306p-2f, kTurn = 0x1.45fp-2f, kTurnRest = 0x1.836e4ep-17f,
                       kTurnLast = 0x1.1054a8p-43f;
/// Up to this number, x / pi is exact to some 2^-45.
inline constexpr float kFarthestTurn = 65536;

/// x - counted pi, as a share of pi; of bfloat16 the first two parts of 1/pi are enough.
template <class T>
HWY_INLINE V32 rest_of_turns(V32 x, V32 whole) {
  const D32 d;
  const V32 t =
      hn::MulAdd(x, hn::Set(d, kTurnRest), hn::MulSub(x, hn::Set(d, kTurn), whole));  // the difference is exact
  if constexpr (std::is_same_v<T, BFloat16>) return t;
  return hn::MulAdd(x, hn::Set(d, kTurnLast), t);
}
struct Sin {
  static constexpr float farthest = kFarthestTurn;
  template <class T>
  static HWY_INLINE V32 of(V32 x) {
    const D32 d;
    const V32 counter = hn::Set(d, kCounter<float>);
    const V32 counted = hn::MulAdd(x, hn::Set(d, kWholeTurn), counter);
    const V32 t = rest_of_turns<T>(x, hn::Sub(counted, counter));
    return with_sign_of_turns(sine_of_half_turns<T>(t), counted);
  }
};
struct Cos {
  static constexpr float farthest = kFarthestTurn;
  /// (-1)^k sin(pi (x / pi + 1/2 - k)).
  template <class T>
  static HWY_INLINE V32 of(V32 x) {
    const D32 d;
    const V32 counter = hn::Set(d, kCounter<float>), half = hn::Set(d, 0.5f);
    const V32 counted = hn::Add(hn::MulAdd(x, hn::Set(d, kWholeTurn), half), counter);
    const V32 t = rest_of_turns<T>(x, hn::Sub(hn::Sub(counted, counter), half));
    return with_sign_of_turns(cosine_of_half_turns<T>(t), counted);
  }
};
/// 2^(k + i/16) (1 + p), or 2^(k + i/8) (1 + p); i looks up a power.
struct Exp {
#if HWY_TARGET > HWY_AVX3
  static constexpr float farthest = 87;  // of bfloat16: beyond, results may be subnormal or infinite
#endif
  template <class T>
  static HWY_INLINE V32 of(V32 x) {
    constexpr bool kWide = std::is_same_v<T, BFloat16>, kScales = kScalesAtOnce<D32>;
    constexpr int kSteps = kPowersLookedUp<D32>;
    constexpr float counter = kCounter<float> / kSteps;
    constexpr float terms16[] = {0x1.62e43p-1f, 0x1.ebfff4p-3f, 0x1.c6b46ap-5f};  // of (2^r - 1) / r: 2^-29
    constexpr float terms8[] = {0x1.62e43p-1f, 0x1.ebfbep-3f, 0x1.c6bb7ap-5f, 0x1.3b2fc4p-7f};
    const D32 d;
    // Beyond, the result is 0 or infinite. Max gives its second operand if one is NaN.
    V32 bounded = x;
    if constexpr (kScales || !kWide) bounded = hn::Max(hn::Set(d, kWide ? -110.0f : -20.0f), bounded);
    if constexpr (kScales == kWide) bounded = hn::Min(hn::Set(d, kWide ? 90.0f : 12.0f), bounded);
    const V32 product = hn::Mul(bounded, hn::Set(d, 0x1.715p+0f));  // exact
    const V32 counted = hn::MulAdd(bounded, hn::Set(d, ExpLog<float>::inverse_ln2), hn::Set(d, counter));
    const V32 exponent = hn::Sub(counted, hn::Set(d, counter));
    const V32 r = hn::MulAdd(bounded, hn::Set(d, 0x1.1d94aep-14f), hn::Sub(product, exponent));
    V32 high, slope;
    if constexpr (kSteps == 16)
      high = looked_up(counted, kPowers16), slope = polynomial(d, r, terms16);
    else
      high = looked_up(counted, kPowers8), slope = polynomial(d, r, terms8);
    const V32 power = hn::MulAdd(hn::Mul(high, r), slope, high);
#if HWY_TARGET <= HWY_AVX3
    return with_whole_exponent(power, exponent);
#else
    const hn::RebindToSigned<D32> di;
    const auto k = hn::ShiftRight<3>(hn::Sub(hn::BitCast(di, counted), hn::Set(di, std::bit_cast<int32_t>(counter))));
    return hn::Mul(power, power_of_two(d, k));
#endif
  }
};
/// 1 / (1 + e^-x).
struct Logistic {
  static constexpr float farthest = 87;  // of bfloat16: beyond, results may be subnormal
  template <class T>
  static HWY_INLINE V32 of(V32 x) {
    const D32 d;
    const V32 one = hn::Set(d, 1.0f);
    V32 bounded = x;
    // Beyond, the result is 0 or 1. Max and Min give their second operand if one is NaN.
    if constexpr (std::is_same_v<T, Float16>) bounded = hn::Min(hn::Set(d, 20.0f), hn::Max(hn::Set(d, -20.0f), x));
    return hn::Div(one, hn::Add(one, rough_inverse_exponential(d, bounded)));
  }
};
#if HWY_TARGET <= HWY_AVX3
/// One step of `root_by_steps`: 2^-23. The roots of 16-bit floats are farther from the middle of two of them.
struct SquareRoot {
  template <class T>
  static HWY_INLINE V32 of(V32 x) {
    const D32 d;
    const V32 half = hn::Set(d, 0.5f), rough = rough_inverse_root(x), root = hn::Mul(x, rough);
    const V32 missing = hn::NegMulAdd(root, hn::Mul(rough, half), half);
    return with_special_roots(hn::MulAdd(root, missing, root), x);
  }
};
/// By the first bits of m between 3/4 and 3/2: its inverse to some 1/32, and the inverse's logarithm. Logarithms of m
/// below 1 have ln 2 added, because getexp counts them one power of two lower.
struct Log {
  alignas(64) static constexpr float inverses[] = {
      0x1.0p+0f,   0x1.d42p-1f, 0x1.bacp-1f, 0x1.a42p-1f, 0x1.8fap-1f, 0x1.7dp-1f,  0x1.6c2p-1f, 0x1.5cap-1f,
      0x1.4e6p+0f, 0x1.414p+0f, 0x1.352p+0f, 0x1.29ep+0f, 0x1.1f8p+0f, 0x1.15cp+0f, 0x1.0cap+0f, 0x1.0p+0f};
  alignas(64) static constexpr float logarithms[] = {
      0x0.0p+0f,    0x1.6efp-4f,  0x1.29ap-3f,  0x1.9508p-3f, 0x1.fb8p-3f,  0x1.2eap-2f,  0x1.5dp-2f,   0x1.898cp-2f,
      0x1.b448p-2f, 0x1.dd4cp-2f, 0x1.0258p-1f, 0x1.1554p-1f, 0x1.277ap-1f, 0x1.3924p-1f, 0x1.4a3ep-1f, 0x1.62e4p-1f};
  alignas(64) static constexpr float rests[] = {0,
                                                0x1.4a3016p-18f,
                                                -0x1.679cfcp-18f,
                                                0x1.aa0044p-19f,
                                                -0x1.3c888ep-18f,
                                                -0x1.d431eep-18f,
                                                0x1.dc49ffp-18f,
                                                0x1.38a894p-18f,
                                                0x1.77c148p-18f,
                                                -0x1.5fb1e4p-18f,
                                                0x1.52e4e8p-20f,
                                                -0x1.8588e6p-18f,
                                                -0x1.e136c4p-21f,
                                                0x1.bbcb9ap-22f,
                                                0x1.0c4684p-18f,
                                                0x1.7f7d1cp-20f};
  alignas(64) static constexpr float short_logarithms[] = {0,
                                                           0x1.6ef528p-4f,
                                                           0x1.299d3p-3f,
                                                           0x1.9509aap-3f,
                                                           0x1.fb7d86p-3f,
                                                           0x1.2e9e2cp-2f,
                                                           0x1.5d01dcp-2f,
                                                           0x1.898d38p-2f,
                                                           0x1.b44978p-2f,
                                                           0x1.dd4aap-2f,
                                                           0x1.02582ap-1f,
                                                           0x1.15533ep-1f,
                                                           0x1.2779e2p-1f,
                                                           0x1.39240ep-1f,
                                                           0x1.4a3e86p-1f,
                                                           0x1.62e43p-1f};
  /// 0, infinite, negative numbers and NaN need no special code: their exponent or mantissa is infinite or NaN.
  template <class T>
  static HWY_INLINE V32 of(V32 x) {
    using C = ExpLog<float>;
    const D32 d;
    const hn::RebindToUnsigned<D32> du;
    const V32 exponent{_mm512_getexp_ps(x.raw)};
    const V32 m{_mm512_getmant_ps(x.raw, _MM_MANT_NORM_p75_1p5, _MM_MANT_SIGN_nan)};
    const V32 interval = hn::BitCast(d, hn::ShiftRight<C::mantissa_bits - 4>(hn::BitCast(du, m)));
    const V32 r = hn::MulSub(m, looked_up(interval, inverses), hn::Set(d, 1.0f)), square = hn::Mul(r, r);
    if constexpr (std::is_same_v<T, BFloat16>) {
      constexpr float terms[] = {-0x1.000142p-1f, 0x1.5577cep-2f, -0x1.e7f0a6p-3f};  // 2^-23
      const V32 whole = hn::MulAdd(exponent, hn::Set(d, C::ln2), looked_up(interval, short_logarithms));
      return hn::Add(whole, hn::MulAdd(square, polynomial(d, r, terms), r));
    } else {
      constexpr float terms[] = {-0x1p-1f, 0x1.555848p-2f, -0x1.000fa2p-2f, 0x1.81e3bcp-3f};             // 2^-28
      const V32 whole = hn::MulAdd(exponent, hn::Set(d, C::ln2_high), looked_up(interval, logarithms));  // exact
      const V32 low = hn::MulAdd(exponent, hn::Set(d, C::ln2_low), looked_up(interval, rests));
      return hn::Add(whole, hn::Add(r, hn::MulAdd(square, polynomial(d, r, terms), low)));
    }
  }
};
#endif

}  // namespace tenon::HWY_NAMESPACE::half
HWY_AFTER_NAMESPACE();
#endif
#endif
