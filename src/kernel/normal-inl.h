// kernel: the standard normal distribution over whole vectors, in the number format of the vector.
#if defined(TENON_KERNEL_NORMAL_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_NORMAL_INL_H
#undef TENON_KERNEL_NORMAL_INL_H
#else
#define TENON_KERNEL_NORMAL_INL_H
#endif

#include "hwy/highway.h"
#include "kernel/exp_log-inl.h"
#include "kernel/library-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// The tail above a larger number is 0.
template <class T>
constexpr T kNoTail = static_cast<T>(sizeof(T) == sizeof(float) ? 14.4 : 38.6);
/// The tail above a larger number does not count beside 1.
template <class T>
constexpr T kWhole = static_cast<T>(sizeof(T) == sizeof(float) ? 6 : 9);

/// The share of the standard normal distribution above `size` >= 0, for float32, times 2^32: exp(-size^2 / 2) times a
/// polynomial of (size - 3) / (size + 3), 2^-23. What the square loses is multiplied back.
template <class D, class V>
HWY_INLINE V float32_tail(D d, V size) {
  constexpr float terms[] = {0x1.f1b89cp-4f, -0x1.a6b66ap-3f, 0x1.f8bad2p-4f,   -0x1.7a943ep-5f, 0x1.91dceep-8f,
                             0x1.7caf16p-9f, -0x1.01c37p-10f, -0x1.637b76p-12f, 0x1.e26856p-14f, 0x1.bdf73ep-15f};
  const hn::RebindToSigned<D> di;
  const V a = hn::Min(size, hn::Set(d, kNoTail<float>)), three = hn::Set(d, 3.0f);
  const V square = hn::Mul(a, a), lost = hn::MulSub(a, a, square), half = hn::Set(d, -0.5f);
  const V ratio = polynomial(d, hn::Div(hn::Sub(a, three), hn::Add(a, three)), terms);
  const auto e = short_exponential(d, hn::Mul(square, half));
  const V power = hn::Add(e.high, hn::MulAdd(e.high, hn::Mul(lost, half), e.low));
  return hn::Mul(hn::Mul(power, power_of_two(d, hn::Add(e.k, hn::Set(di, 32)))), ratio);
}
/// The same for float64, but not times 2^32, and divided by size + 3: 2^-55. The exponential's error shows, as that of
/// the last product does.
template <class D, class V>
HWY_INLINE V float64_tail(D d, V size) {
  using C = ExpLog<double>;
  constexpr double terms[] = {
      0x1.754a751a56f4ap-1,   -0x1.04c7295a48f36p-1,  0x1.d71387c654ce6p-3,   -0x1.832dbf6990fc1p-5,
      -0x1.56d8e3d801b6bp-7,  0x1.c8f52c30c1d12p-8,   0x1.0d608c96b9656p-10,  -0x1.12285ea07603ap-10,
      -0x1.0d09eba06c515p-12, 0x1.43c9cfd58aad8p-13,  0x1.4a90773310b71p-14,  -0x1.bc6ec2fa23dbep-17,
      -0x1.5b1b314b05bbdp-16, -0x1.d899249ef79fp-19,  0x1.e89101b8fc6fdp-19,  0x1.30000ec0b79eep-19,
      0x1.05dc17dea410bp-27,  -0x1.45be6f09d9119p-21, -0x1.24747c5ed9bf7p-22, 0x1.e59860b060adp-25,
      0x1.9503d1f55995fp-24,  0x1.1c7cc61542d8p-26,   -0x1.be19b3e1dcd36p-27, -0x1.4626234f37146p-28};
  const hn::RebindToSigned<D> di;
  const V a = hn::Min(size, hn::Set(d, kNoTail<double>)), three = hn::Set(d, 3.0);
  const V square = hn::Mul(a, a), lost = hn::MulSub(a, a, square), half = hn::Set(d, -0.5);
  const V inverse = hn::Div(hn::Set(d, 1.0), hn::Add(a, three)), t = hn::Mul(hn::Sub(a, three), inverse);
  const V factor = hn::Mul(long_polynomial(d, t, terms), inverse);
  const V x = hn::Mul(square, half), counter = hn::Set(d, kCounter<double>);
  const V counted = hn::MulAdd(x, hn::Set(d, C::inverse_ln2), counter), whole = hn::Sub(counted, counter);
  const auto k = hn::Sub(hn::BitCast(di, counted), hn::BitCast(di, counter));
  const V high = hn::NegMulAdd(whole, hn::Set(d, C::ln2_high), x);  // exact
  const V r = hn::MulAdd(lost, half, hn::NegMulAdd(whole, hn::Set(d, C::ln2_low), high));
  const V curve = hn::MulAdd(hn::Mul(r, r), long_polynomial(d, r, C::exp_terms), r);
  // A factor of 0 takes no time; a product that underflows takes a hundred cycles.
  return with_exponent(
      d, hn::IfThenElseZero(hn::Lt(size, hn::Set(d, kNoTail<double>)), hn::MulAdd(factor, curve, factor)), k);
}
/// `tail` is that above |x|.
template <class D, class V>
HWY_INLINE V share_below(D d, V x, V tail) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, hn::TFromD<D>{1}), tail));
}
/// |x| for the tails above it.
template <class D, class V>
HWY_INLINE V size_for_tail(D d, V x) {
  const V whole = hn::Set(d, kWhole<hn::TFromD<D>>);
  return hn::IfThenElse(hn::Lt(whole, x), whole, hn::Abs(x));
}
template <class D, class V>
HWY_INLINE V normal_of_any(D d, V x) {
  using T = hn::TFromD<D>;
  const V size = size_for_tail(d, x);
  V tail;
  if constexpr (sizeof(T) == sizeof(float)) {
    const V scaled = hn::IfThenElseZero(hn::Lt(size, hn::Set(d, kNoTail<T>)), float32_tail(d, size));
    tail = hn::Mul(scaled, hn::Set(d, 0x1p-32f));
  } else {
    tail = float64_tail(d, size);
  }
  return hn::IfThenElse(hn::IsNaN(x), x, share_below(d, x, tail));
}
/// The share of the standard normal distribution below x, exact to a few ulp in both tails.
template <class D, class V>
HWY_INLINE V normal_vector(D d, V x) {
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) {
    const V size = hn::Min(hn::Set(d, TailPieces<hn::TFromD<D>, kPowersLookedUp<D>>::farthest), hn::Abs(x));
    const V near = share_below(d, x, tail_by_pieces(d, size));
    const auto far = hn::Lt(x, hn::Set(d, -TailPieces<hn::TFromD<D>, kPowersLookedUp<D>>::farthest));
    if (HWY_LIKELY(hn::AllFalse(d, far))) return near;
    return hn::IfThenElse(far, normal_of_any(d, x), near);
  }
#endif
  return normal_of_any(d, x);
}
#if TENON_HAS_POWER_TABLE
/// The same times x, for x <= 0.
template <class D, class V>
HWY_INLINE V below_0_times(D d, V x) {
  const V size = hn::Neg(x);
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float)) {
    const auto counts = hn::Lt(size, hn::Set(d, kNoTail<float>));
    return hn::Mul(hn::Mul(x, hn::IfThenElseZero(counts, float32_tail(d, size))), hn::Set(d, 0x1p-32f));
  } else {
    return hn::Mul(x, float64_tail(d, size));
  }
}
#endif
/// x times that share.
template <class D, class V>
HWY_INLINE V normal_vector_times(D d, V x) {
#if TENON_HAS_POWER_TABLE
  if constexpr (kLooksUpPowers<D>) {
    const V size = hn::Min(hn::Set(d, TailPieces<hn::TFromD<D>, kPowersLookedUp<D>>::farthest),
                           hn::Abs(x));  // an infinite one would be multiplied by its tail
    const V near = hn::NegMulAdd(size, tail_by_pieces(d, size), hn::Max(hn::Zero(d), x));  // NaN stays
    const auto far = hn::Lt(x, hn::Set(d, -TailPieces<hn::TFromD<D>, kPowersLookedUp<D>>::farthest));
    if (HWY_LIKELY(hn::AllFalse(d, far))) return near;
    return hn::IfThenElse(far, below_0_times(d, hn::IfThenElseZero(far, x)), near);
  }
#endif
  return hn::Mul(x, normal_of_any(d, x));
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
