// kernel: vectors of floats divided by one number, correctly rounded like the processor's instruction, which takes 10
// to 16 cycles for 64 bytes: a product with the inverse and two corrections take five. Bench: tenon_bench --filter
// '^fuse/(chain|softmax by hand|layer_norm by hand)/L'.
#if defined(TENON_KERNEL_QUOTIENT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_QUOTIENT_INL_H
#undef TENON_KERNEL_QUOTIENT_INL_H
#else
#define TENON_KERNEL_QUOTIENT_INL_H
#endif

#include <cmath>

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// Whether these vectors are divided so.
template <class D>
inline constexpr bool kMultipliesByInverse = HWY_ARCH_X86&& HWY_TARGET <=
                                                 HWY_AVX3&& hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) ==
                                             64;

/// Quotients by one number. A quotient that is less than one unit off becomes the nearest one by adding what it leaves
/// of the dividend, times the nearest number to the inverse (P. Markstein, "Computation of elementary functions on the
/// IBM RISC System/6000 processor", 1990). The product with the inverse may be 1.5 units off, so there are two such
/// steps; no number is known for which one would not do. What is left must be exact, and the quotient normal: dividend
/// and divisor are between 2^-kBits and 2^kBits; or the dividend is 0.
template <class D>
class QuotientsByOne {
 public:
  using T = hn::TFromD<D>;
  using V = hn::Vec<D>;

  HWY_INLINE explicit QuotientsByOne(T divisor)
      : divisor_(hn::Set(D(), divisor)), inverse_(hn::Set(D(), T{1} / divisor)) {}
  static HWY_INLINE bool takes(T divisor) {
    const T magnitude = std::abs(divisor);
    return magnitude >= kLeast && magnitude < kMost;
  }
  HWY_INLINE V operator()(V a) const {
    const D d;
    const V magnitude = hn::Abs(a);
    const auto is_usual = hn::And(hn::Ge(magnitude, hn::Set(d, kLeast)), hn::Lt(magnitude, hn::Set(d, kMost)));
    if (HWY_UNLIKELY(!hn::AllTrue(d, hn::Or(is_usual, hn::Eq(a, hn::Zero(d)))))) return hn::Div(a, divisor_);
    const V product = hn::Mul(a, inverse_), near = corrected(product, a);
    return hn::CopySign(corrected(near, a), product);  // what 0 leaves is 0, but not -0
  }

 private:
  static constexpr int kBits = sizeof(T) == sizeof(float) ? 62 : 500;
  static constexpr T two_to(int power) {
    T result = 1;
    for (; power > 0; --power) result *= 2;
    for (; power < 0; ++power) result /= 2;
    return result;
  }
  static constexpr T kLeast = two_to(-kBits), kMost = two_to(kBits);

  HWY_INLINE V corrected(V quotient, V a) const {
    return hn::MulAdd(hn::NegMulAdd(quotient, divisor_, a), inverse_, quotient);
  }

  V divisor_, inverse_;
};

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
