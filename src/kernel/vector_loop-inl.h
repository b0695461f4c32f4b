// kernel: a formula over whole vectors of lanes.
#if defined(TENON_KERNEL_VECTOR_LOOP_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_VECTOR_LOOP_INL_H
#undef TENON_KERNEL_VECTOR_LOOP_INL_H
#else
#define TENON_KERNEL_VECTOR_LOOP_INL_H
#endif

#include "kernel/kernel.h"
#include "kernel/lane-inl.h"
#include "kernel/some_lanes-inl.h"

#undef TENON_HAS_VECTORS
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#define TENON_HAS_VECTORS 1
#else
#define TENON_HAS_VECTORS 0
#endif

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// Lanes of one input, a vector at a time. A splat is expanded and read again and again, so that loops have no branch.
template <class D>
class VectorSource {
 public:
  HWY_INLINE explicit VectorSource(const Lanes& lanes)
      : data_(static_cast<const T*>(lanes.data)), mask_(lanes.step == 0 ? 0 : -1) {
    if (mask_ != 0) return;
    hn::Store(hn::Set(D(), *data_), D(), block_);
    data_ = block_;
  }
  VectorSource(const VectorSource&) = delete;
  VectorSource& operator=(const VectorSource&) = delete;
  HWY_INLINE Vector<D> at(int64_t i) const { return {hn::LoadU(D(), data_ + (i & mask_))}; }
  /// The first of `n` lanes, as many as a vector holds; if there are fewer, all, and the first one again.
  HWY_INLINE Vector<D> first(int64_t n) const {
    constexpr int64_t kLanes = hn::MaxLanes(D());
    if (mask_ == 0 || n >= kLanes) return at(0);
    return {load_repeated(D(), data_, n)};
  }

 private:
  using T = hn::TFromD<D>;
  const T* data_;
  int64_t mask_;
  alignas(64) T block_[hn::MaxLanes(D())];
};
/// Lanes of the only input that moves.
template <class D>
class MovingSource {
 public:
  HWY_INLINE explicit MovingSource(const Lanes& lanes) : data_(static_cast<const T*>(lanes.data)) {}
  HWY_INLINE Vector<D> at(int64_t i) const { return {hn::LoadU(D(), data_ + i)}; }
  HWY_INLINE Vector<D> first(int64_t n) const {
    constexpr int64_t kLanes = hn::MaxLanes(D());
    return n >= kLanes ? at(0) : Vector<D>{load_repeated(D(), data_, n)};
  }

 private:
  using T = hn::TFromD<D>;
  const T* data_;
};
/// An argument that is one number for all lanes, whatever its step.
template <class D>
class NumberSource {
 public:
  HWY_INLINE explicit NumberSource(const Lanes& lanes)
      : value_(hn::Set(D(), *static_cast<const hn::TFromD<D>*>(lanes.data))) {}
  HWY_INLINE Vector<D> at(int64_t) const { return {value_}; }
  HWY_INLINE Vector<D> first(int64_t) const { return {value_}; }

 private:
  hn::Vec<D> value_;
};
/// Whether a formula over 16 float32 is computed in float64, eight by eight. Of up to eight elements, the second half
/// would be computed for nothing. Bench: tenon_bench --filter '^tiny/(pow|sinh)'.
template <class F>
inline constexpr bool kByHalves = false;
template <class D>
HWY_INLINE Vector<hn::Half<D>> first_half(Vector<D> of) {
  return {hn::LowerHalf(hn::Half<D>(), of.v)};
}
/// A formula over whole vectors.
template <class F, class D, class... Sources>
HWY_INLINE void vector_loop(D d, void* out, int64_t n, const Sources&... in) {
  using T = hn::TFromD<D>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  T* to = static_cast<T*>(out);
  if (__builtin_constant_p(n) && n % kLanes == 0) {
    for (int64_t i = 0; i < n; i += kLanes) hn::StoreU(F::forward(in.at(i)...).v, d, to + i);
    return;
  }
  if constexpr (kByHalves<F> && sizeof(T) == sizeof(float) && kLanes == 16) {
    const hn::Half<D> half;
    if (n <= kLanes / 2) return store_some(half, F::forward(first_half(in.first(n))...).v, to, n);
  }
  const auto first = F::forward(in.first(n)...).v;
  if (n < kLanes) return store_some(d, first, to, n);
  store_overlapping<kLanes>(
      n, first, [&](int64_t i) TENON_UNROLLED { return F::forward(in.at(i)...).v; },
      [&](int64_t i, hn::Vec<D> v) TENON_UNROLLED { hn::StoreU(v, d, to + i); });
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
