// kernel: how lanes are loaded, stored and prefetched, and turns that are unrolled.
#if defined(TENON_KERNEL_LOAD_STORE_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_LOAD_STORE_INL_H
#undef TENON_KERNEL_LOAD_STORE_INL_H
#else
#define TENON_KERNEL_LOAD_STORE_INL_H
#endif

#include <algorithm>
#include <utility>

#include "kernel/formulas-inl.h"
#include "kernel/some_lanes-inl.h"
#include "kernel/vector_loop-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// The C++ type that lanes of `T` have in memory: a bool is a byte that may hold any value.
template <class T>
using Stored = std::conditional_t<std::is_same_v<T, bool>, uint8_t, T>;
/// What is only moved is an integer of its width, so that dtypes share the code. Not bool, which becomes 0 or 1.
template <class T>
using BitsOfWidth =
    std::conditional_t<std::is_same_v<T, bool>, bool,
                       std::conditional_t<sizeof(T) == 1, uint8_t,
                                          std::conditional_t<sizeof(T) == 2, uint16_t,
                                                             std::conditional_t<sizeof(T) == 4, uint32_t, uint64_t>>>>;

template <class T>
HWY_INLINE Lane<T> load(const Stored<T>* from, int64_t i) {
  return Lane<T>(from[i]);
}

/// Prefetches what is read a little later. The more work a loop does per cache line, the fewer lines the processor
/// prefetches by itself. Beyond the caches, loops over three inputs gain a fifth.
template <std::size_t kBytes>
HWY_INLINE void prefetch(const void* from) {
  constexpr std::size_t kAhead = 1536;
  for (std::size_t i = 0; i < kBytes; i += 64) __builtin_prefetch(static_cast<const char*>(from) + kAhead + i);
}
/// The same for folds, further ahead, into the second-level cache, which takes more requests: on Zen 4, rows of 300 and
/// more floats gain a third over `prefetch`, which is slower there than none. Bench: tenon_bench --filter
/// '^reduce/(i32 sum|amax|sum)/(L3|memory)'.
template <class T>
HWY_INLINE void prefetch_ahead(const T* from, int64_t n) {
  constexpr int64_t kAhead = sizeof(T) <= 2 ? 1536 : 4096, kHint = sizeof(T) <= 2 ? 3 : 2;
  const char* at = reinterpret_cast<const char*>(from) + kAhead;
  for (const char* const end = at + n * static_cast<int64_t>(sizeof(T)); at < end; at += 64)
    __builtin_prefetch(at, 0, kHint);
}

/// Runs `turn(0)` to `turn(kCount - 1)`, which are TENON_UNROLLED. GCC unrolls a loop only after it has decided which
/// arrays lie in registers; those that a loop indexes lie in memory, where each use waits for a store.
template <int64_t kCount, class Turn>
HWY_INLINE void unrolled(const Turn& turn) {
  [&]<int64_t... k>(std::integer_sequence<int64_t, k...>) TENON_UNROLLED { (turn(k), ...); }
  (std::make_integer_sequence<int64_t, kCount>());
}

/// Loads lanes that need no conversion.
template <class T>
struct PlainLoad {
  using From = T;
  using To = T;
  template <class D>
  static HWY_INLINE hn::Vec<D> vector(D d, const T* from) {
    return hn::LoadU(d, from);
  }
  /// The first `n` lanes.
  template <class D>
  static HWY_INLINE hn::Vec<D> some(D d, const T* from, int64_t n) {
    return load_some(d, from, n);
  }
  static HWY_INLINE T lane(T value) { return value; }
};
/// Stores the first `count` lanes. Masked stores are slow on some processors.
template <class D>
HWY_INLINE void store_first(D d, hn::Vec<D> v, hn::TFromD<D>* to, int64_t count) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  if (count == kLanes) return hn::StoreU(v, d, to);
  hn::TFromD<D> lanes[kLanes];
  hn::StoreU(v, d, lanes);
  for (int64_t i = 0; i < count; ++i) to[i] = lanes[i];
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
