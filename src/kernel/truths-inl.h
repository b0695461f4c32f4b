// kernel: truths about lanes of 8 bytes, where vectors have no masks of bits (AVX2).
// Compilers narrow them lane by lane, which takes twice as long as to read the lanes from the second-level cache.
//
// Bench: tenon_bench --ops --dtype int64 --rows 8 --filter 'ops/(lt|logical_not)$'.
#if defined(TENON_KERNEL_TRUTHS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_TRUTHS_INL_H
#undef TENON_KERNEL_TRUTHS_INL_H
#else
#define TENON_KERNEL_TRUTHS_INL_H
#endif

#include <cstring>

#include "kernel/load_store-inl.h"

#undef TENON_NARROWS_TRUTHS
#if HWY_TARGET == HWY_AVX2
#define TENON_NARROWS_TRUTHS 1
#else
#define TENON_NARROWS_TRUTHS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_NARROWS_TRUTHS
/// Lanes of 8 bytes that become a vector of bytes, and those of a vector.
inline constexpr int64_t kTruthsTogether = 32, kWideLanes = 4;
template <class T>
using WideTag = hn::FixedTag<T, kWideLanes>;

/// The truths of eight vectors, `at(0)` to `at(28)`. Each step joins pairs of vectors within their halves; the last one
/// brings the pairs of lanes in order.
template <class At>
HWY_INLINE void store_truths(uint8_t* to, const At& at) {
  const auto eight = [&](int64_t i) TENON_UNROLLED {
    const hn::FixedTag<float, 8> d;
    return _mm256_castps_si256(
        _mm256_shuffle_ps(hn::BitCast(d, at(i)).raw, hn::BitCast(d, at(i + kWideLanes)).raw, _MM_SHUFFLE(2, 0, 2, 0)));
  };
  const auto sixteen = [&](int64_t i) TENON_UNROLLED { return _mm256_packs_epi32(eight(i), eight(i + 8)); };
  const __m256i all = _mm256_and_si256(_mm256_packs_epi16(sixteen(0), sixteen(16)), _mm256_set1_epi8(1));
  const __m128i low = _mm256_castsi256_si128(all), high = _mm256_extracti128_si256(all, 1);
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_unpacklo_epi16(low, high));
  _mm_storeu_si128(reinterpret_cast<__m128i*>(to + 16), _mm_unpackhi_epi16(low, high));
}
/// Those of one vector, as the bytes of a number: bit k of the mask is multiplied to bit 8 k.
template <class V>
HWY_INLINE uint32_t four_truths(V truths) {
  const hn::FixedTag<double, kWideLanes> d;
  return static_cast<uint32_t>(_mm256_movemask_pd(hn::BitCast(d, truths).raw)) * 0x204081U & 0x1010101U;
}
/// `at(i)` gives the truths of lanes i to i + 3 as a vector, `some(count)` those of the first lanes of fewer than four.
template <class At, class Some>
HWY_INLINE void truth_loop(void* out, int64_t n, const At& at, const Some& some) {
  auto* const to = static_cast<uint8_t*>(out);
  int64_t i = 0;
  for (; i + kTruthsTogether <= n; i += kTruthsTogether)
    store_truths(to + i, [&](int64_t k) TENON_UNROLLED { return at(i + k); });
  const auto store = [&](uint32_t truths, int64_t first, std::size_t count)
                         TENON_UNROLLED { std::memcpy(to + first, &truths, count); };
  for (; i + kWideLanes <= n; i += kWideLanes) store(four_truths(at(i)), i, kWideLanes);
  if (i == n) return;
  if (n > kWideLanes) return store(four_truths(at(n - kWideLanes)), n - kWideLanes, kWideLanes);
  store(four_truths(some(n)), 0, static_cast<std::size_t>(n));
}

template <class D>
HWY_INLINE VectorTruth<D> is_not_a_number(Vector<D> a) {
  return a != a;  // NOLINT(misc-redundant-expression): only a NaN differs from itself
}
template <class D>
HWY_INLINE VectorTruth<D> is_infinity(Vector<D> a) {
  return a == Vector<D>(kInfinity);
}
template <class D>
HWY_INLINE VectorTruth<D> is_below_infinity(Vector<D> a) {
  return a < Vector<D>(kInfinity);
}
template <class D>
HWY_INLINE VectorTruth<D> is_marked_negative(Vector<D> a) {
  return {hn::MaskFromVec(hn::BitCast(D(), hn::BroadcastSignBit(hn::BitCast(hn::RebindToSigned<D>(), a.v))))};
}

template <class F, class T, class... Sources>
HWY_INLINE void truths_of(void* out, int64_t n, const Sources&... in) {
  const auto vector = [](auto truth) TENON_UNROLLED { return hn::VecFromMask(WideTag<T>(), truth.v); };
  truth_loop(
      out, n, [&](int64_t i) TENON_UNROLLED { return vector(F::forward(in.at(i)...)); },
      [&](int64_t count) TENON_UNROLLED { return vector(F::forward(in.first(count)...)); });
}
template <class F, class T>
void unary_truths(void* out, const Lanes* in, int64_t n) {
  truths_of<F, T>(out, n, MovingSource<WideTag<T>>(in[0]));
}
template <class F, class T>
void binary_truths(void* out, const Lanes* in, int64_t n) {
  truths_of<F, T>(out, n, VectorSource<WideTag<T>>(in[0]), VectorSource<WideTag<T>>(in[1]));
}
template <class F, class T>
void rows_of_truths(void* out, int64_t out_step, const Lanes* in, const int64_t* steps, int64_t n, int64_t rows) {
  Lanes row[2] = {in[0], in[1]};
  for (; rows > 0; --rows) {
    binary_truths<F, T>(out, row, n);
    out = static_cast<std::byte*>(out) + out_step;
    for (int i = 0; i < 2; ++i) row[i].data = static_cast<const std::byte*>(row[i].data) + steps[i];
  }
}
#endif

/// Of real numbers.
template <class T>
inline constexpr bool kNarrowsTruths = TENON_NARROWS_TRUTHS && sizeof(T) == 8 && std::is_arithmetic_v<T>;

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
