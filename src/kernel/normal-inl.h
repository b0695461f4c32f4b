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

/// The share of the standard normal distribution above `size` >= 0, for float32, times 2^32: exp(-size^2 / 2) times a
/// polynomial of (size - 3) / (size + 3), 2^-23. What the square loses is multiplied back.
template <class D, class V>
HWY_INLINE V float32_tail(D d, V size) {
  constexpr float terms[] = {0x1.f1b89cp-4f, -0x1.a6b66ap-3f, 0x1.f8bad2p-4f,   -0x1.7a943ep-5f, 0x1.91dceep-8f,
                             0x1.7caf16p-9f, -0x1.01c37p-10f, -0x1.637b76p-12f, 0x1.e26856p-14f, 0x1.bdf73ep-15f};
  const hn::RebindToSigned<D> di;
  const V a = hn::Min(size, hn::Set(d, 14.4f)), three = hn::Set(d, 3.0f);  // beyond, the result is below every float32
  const V square = hn::Mul(a, a), lost = hn::MulSub(a, a, square), half = hn::Set(d, -0.5f);
  const V ratio = polynomial(d, hn::Div(hn::Sub(a, three), hn::Add(a, three)), terms);
  const auto e = short_exponential(d, hn::Mul(square, half));
  const V power = hn::Add(e.high, hn::MulAdd(e.high, hn::Mul(lost, half), e.low));
  return hn::Mul(hn::Mul(power, power_of_two(d, hn::Add(e.k, hn::Set(di, 32)))), ratio);
}
/// The same for float64, erfc(size / sqrt(2)) / 2. What the quotient loses is multiplied back; the slope of
/// log(erfc(t)) is about -t - sqrt(t^2 + 4 / pi).
template <class D, class V>
HWY_INLINE V float64_tail(D d, V size) {
  constexpr double kRootHalf = 0.70710678118654752440, kRest = -4.833646656726457e-17;
  const V a = hn::Min(size, hn::Set(d, 40.0)), root = hn::Set(d, kRootHalf), t = hn::Mul(a, root);
  const V lost = hn::MulAdd(a, hn::Set(d, kRest), hn::MulSub(a, root, t));
  const V slope = hn::Add(t, hn::Sqrt(hn::MulAdd(t, t, hn::Set(d, 1.27323954473516268615))));
  const V rest = library<ErrorFunctionRest>(d, t);
  return hn::Mul(hn::Set(d, 0.5), hn::NegMulAdd(hn::Mul(rest, lost), slope, rest));
}
/// `tail` is that above |x|.
template <class D, class V>
HWY_INLINE V share_below(D d, V x, V tail) {
  return hn::IfThenElse(hn::Lt(x, hn::Zero(d)), tail, hn::Sub(hn::Set(d, hn::TFromD<D>{1}), tail));
}
template <class D, class V>
HWY_INLINE V normal_of_any(D d, V x) {
  V tail;
  if constexpr (sizeof(hn::TFromD<D>) == sizeof(float))
    tail = hn::Mul(float32_tail(d, hn::Abs(x)), hn::Set(d, 0x1p-32f));
  else
    tail = float64_tail(d, hn::Abs(x));
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
    return hn::IfThenElse(far, hn::Mul(x, normal_of_any(d, x)), near);
  }
#endif
  return hn::Mul(x, normal_of_any(d, x));
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
