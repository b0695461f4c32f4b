// kernel: loads and stores of fewer lanes than a vector has, and of last vectors. No memory beside them is touched.
#if defined(TENON_KERNEL_SOME_LANES_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_SOME_LANES_INL_H
#undef TENON_KERNEL_SOME_LANES_INL_H
#else
#define TENON_KERNEL_SOME_LANES_INL_H
#endif

#include <cstdint>

#include "hwy/highway.h"

// A lambda that is inlined before anything else is done with the function around it.
#undef TENON_UNROLLED
#define TENON_UNROLLED HWY_ATTR __attribute__((always_inline))

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

/// The first `count` lanes; the others are zeros. All lanes, if `count` is as many.
template <class D>
HWY_INLINE hn::Vec<D> load_some(D d, const hn::TFromD<D>* from, int64_t count) {
#if HWY_TARGET <= HWY_AVX3
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);
#else
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::LoadU(d, from);
  hn::TFromD<D> lanes[hn::MaxLanes(D())] = {};
  for (int64_t i = 0; i < count; ++i) lanes[i] = from[i];
  return hn::LoadU(d, lanes);
#endif
}
/// The same, but the others repeat the first lane: functions of them take no longer than of these. At least one.
template <class D>
HWY_INLINE hn::Vec<D> load_repeated(D d, const hn::TFromD<D>* from, int64_t count) {
#if HWY_TARGET <= HWY_AVX3
  const auto first = hn::FirstN(d, static_cast<std::size_t>(count));
  return hn::IfThenElse(first, hn::MaskedLoad(first, d, from), hn::Set(d, *from));
#else
  hn::TFromD<D> lanes[hn::MaxLanes(D())];
  for (int64_t i = 0; i < static_cast<int64_t>(hn::MaxLanes(D())); ++i) lanes[i] = from[i < count ? i : 0];
  return hn::LoadU(d, lanes);
#endif
}
template <class D>
HWY_INLINE void store_some(D d, hn::Vec<D> v, hn::TFromD<D>* to, int64_t count) {
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(v, hn::FirstN(d, static_cast<std::size_t>(count)), d, to);
#else
  hn::TFromD<D> lanes[hn::MaxLanes(D())];
  hn::StoreU(v, d, lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
#endif
}

/// Stores vectors of n >= kLanes lanes, the last of which overlaps the one before: `v`, which begins at 0, and those
/// that `compute(i)` gives, by `store(i, v)`. Each is computed before the one before is stored, because the result may
/// lie where an input does. In the order of memory: of rows that begin with their last vector, the processor reads no
/// further ones ahead. Bench: ./dev bench --sweep, gaps.
template <int64_t kLanes, class V, class Compute, class Store>
HWY_INLINE void store_overlapping(int64_t n, V v, const Compute& compute, const Store& store) {
  const int64_t last = n - kLanes;
  for (int64_t next = kLanes; next < n; next += kLanes) {
    const V of_next = compute(next < last ? next : last);
    store(next - kLanes, v);
    v = of_next;
  }
  store(last, v);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
