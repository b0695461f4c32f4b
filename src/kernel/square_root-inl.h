// kernel: square roots of whole vectors, correctly rounded like the processor's instruction. On Intel's processors that
// takes 24 cycles for eight float64; an approximation and Goldschmidt's iteration take a third.
#if defined(TENON_KERNEL_SQUARE_ROOT_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_SQUARE_ROOT_INL_H
#undef TENON_KERNEL_SQUARE_ROOT_INL_H
#else
#define TENON_KERNEL_SQUARE_ROOT_INL_H
#endif

#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
// What vfixupimm gives for a class of numbers, four bits each, from the lowest: for quiet and signaling NaN the NaN,
// quiet; for zeros and infinity themselves; for what is below 0 the NaN that the instruction makes; else the result.
inline constexpr int kRootsOfSpecial = 0x03530122;

/// 1 / sqrt(x): 2^-14.
HWY_INLINE hn::Vec512<float> rough_inverse_root(hn::Vec512<float> x) {
  return hn::Vec512<float>{_mm512_rsqrt14_ps(x.raw)};
}
HWY_INLINE hn::Vec512<double> rough_inverse_root(hn::Vec512<double> x) {
  return hn::Vec512<double>{_mm512_rsqrt14_pd(x.raw)};
}
/// Whether a number is so small, but not 0, that the square of its root loses bits.
HWY_INLINE bool has_tiny(hn::Vec512<float> x) {
  const __m512i less_1 = _mm512_sub_epi32(_mm512_castps_si512(x.raw), _mm512_set1_epi32(1));
  return _mm512_cmplt_epu32_mask(less_1, _mm512_set1_epi32(0x10000000)) != 0;
}
HWY_INLINE bool has_tiny(hn::Vec512<double> x) {
  const __m512i less_1 = _mm512_sub_epi64(_mm512_castpd_si512(x.raw), _mm512_set1_epi64(1));
  return _mm512_cmplt_epu64_mask(less_1, _mm512_set1_epi64(0x1000000000000000)) != 0;
}
HWY_INLINE hn::Vec512<float> with_special_roots(hn::Vec512<float> root, hn::Vec512<float> x) {
  return hn::Vec512<float>{_mm512_fixupimm_ps(root.raw, x.raw, _mm512_set1_epi32(kRootsOfSpecial), 0)};
}
HWY_INLINE hn::Vec512<double> with_special_roots(hn::Vec512<double> root, hn::Vec512<double> x) {
  return hn::Vec512<double>{_mm512_fixupimm_pd(root.raw, x.raw, _mm512_set1_epi64(kRootsOfSpecial), 0)};
}

/// The last step adds to a root that is at most two units off what its exact square lacks. Correctly rounded: tests
/// take all mantissas of float32, and those of float64 whose roots are nearest to the middle of two numbers.
template <class D, class V>
HWY_INLINE V root_by_steps(D d, V x) {
  const V half = hn::Set(d, hn::TFromD<D>(0.5)), rough = rough_inverse_root(x);
  V root = hn::Mul(x, rough), half_inverse = hn::Mul(rough, half);
  constexpr int kSteps = sizeof(hn::TFromD<D>) == sizeof(double) ? 2 : 1;
  for (int step = 0; step < kSteps; ++step) {
    const V missing = hn::NegMulAdd(root, half_inverse, half);
    root = hn::MulAdd(root, missing, root);
    half_inverse = hn::MulAdd(half_inverse, missing, half_inverse);
  }
  return hn::MulAdd(half_inverse, hn::NegMulAdd(root, root, x), root);
}
#endif

template <class D, class V>
HWY_INLINE V square_root_vector([[maybe_unused]] D d, V x) {
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX3
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 64) {
    if (HWY_UNLIKELY(has_tiny(x))) return hn::Sqrt(x);
    return with_special_roots(root_by_steps(d, x), x);
  }
#endif
  return hn::Sqrt(x);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
