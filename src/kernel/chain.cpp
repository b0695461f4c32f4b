#include "kernel/chain.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/chain.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"
#include "kernel/some_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
namespace hn = hwy::HWY_NAMESPACE;

/// kCount vectors of the value that a chain changes. A choice of the next link is a jump, which so many vectors share;
/// with more there would be no registers left for the numbers. Bench: tenon_bench --filter '^fuse/chain, traced'.
template <class T, int kCount>
struct ChainValue {
  using D = hn::ScalableTag<T>;
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());

  V v[kCount];

  /// `left`: the lanes that there are, of a single vector that is the last one.
  static HWY_INLINE V load(const T* from, [[maybe_unused]] int64_t left) {
    if constexpr (kCount == 1)
      return load_some(D(), from, left);
    else
      return hn::LoadU(D(), from);
  }
  // Each step is a call of `turn` for a constant: GCC keeps an array in registers only where no loop indexes it.
  template <class Turn>
  static HWY_INLINE void each(const Turn& turn) {
    [&]<int... k>(std::integer_sequence<int, k...>) HWY_ATTR { (turn(std::integral_constant<int, k>()), ...); }
    (std::make_integer_sequence<int, kCount>());
  }
  HWY_INLINE void read(const Lanes& from, int64_t at, int64_t left) {
    const T* const data = static_cast<const T*>(from.data) + at;
    each([&](auto k) HWY_ATTR { v[k] = load(data + k * kLanes, left); });
  }
  template <class F>
  HWY_INLINE void change(const F& formula) {
    each([&](auto k) HWY_ATTR { v[k] = formula(v[k]); });
  }
  template <class F>
  HWY_INLINE void change_by(const Lanes& other, int64_t at, int64_t left, const F& formula) {
    const T* const data = static_cast<const T*>(other.data);
    if (other.step == 0) {
      const V number = hn::Set(D(), *data);
      each([&](auto k) HWY_ATTR { v[k] = formula(v[k], number); });
    } else {
      each([&](auto k) HWY_ATTR { v[k] = formula(v[k], load(data + at + k * kLanes, left)); });
    }
  }
  HWY_INLINE void write(T* to, int64_t left, bool streams) const {
    if constexpr (kCount == 1)
      store_some(D(), v[0], to, left);
    else if (streams)
      each([&](auto k) HWY_ATTR { hn::Stream(v[k], D(), to + k * kLanes); });
    else
      each([&](auto k) HWY_ATTR { hn::StoreU(v[k], D(), to + k * kLanes); });
  }
};

/// `b` where it is larger; else `a`, which may be NaN or an equal zero.
template <class D, class V = hn::Vec<D>>
HWY_INLINE V raised(D, V a, V b) {
#if HWY_ARCH_X86
  return hn::Max(b, a);  // gives the second operand if one is NaN, or both are zeros
#else
  return hn::IfThenElse(hn::Lt(a, b), b, a);
#endif
}
template <class D, class V = hn::Vec<D>>
HWY_INLINE V lowered(D, V a, V b) {
#if HWY_ARCH_X86
  return hn::Min(b, a);
#else
  return hn::IfThenElse(hn::Lt(b, a), b, a);
#endif
}
/// A bound that is NaN makes every element NaN: it is added. -0 changes nothing.
template <class T>
HWY_INLINE T nan_or_nothing(T bound) {
  return std::isnan(bound) ? bound : T{-0.0};
}

/// Lanes [at, at + kCount vectors) of a chain.
template <class T, int kCount>
HWY_INLINE void compute_links(T* to, const Lanes* in, const Link* links, int count, int64_t at, int64_t left,
                              bool streams) {
  using Value = ChainValue<T, kCount>;
  using V = typename Value::V;
  const typename Value::D d;
  Value value;
  value.read(*in++, at, left);
  const auto change = [&](const auto& formula) __attribute__((always_inline)) HWY_ATTR {
    value.change_by(*in++, at, left, formula);
  };
  const auto number = [&] { return *static_cast<const T*>((in++)->data); };
  for (const Link* const end = links + count; links != end; ++links) {
    switch (*links) {
      case Link::none:
        break;
      case Link::add:
        change([](V a, V b) HWY_ATTR { return hn::Add(a, b); });
        break;
      case Link::sub:
        change([](V a, V b) HWY_ATTR { return hn::Sub(a, b); });
        break;
      case Link::sub_from:
        change([](V a, V b) HWY_ATTR { return hn::Sub(b, a); });
        break;
      case Link::mul:
        change([](V a, V b) HWY_ATTR { return hn::Mul(a, b); });
        break;
      case Link::square:
        value.change([](V a) HWY_ATTR { return hn::Mul(a, a); });
        break;
      case Link::div:
        change([](V a, V b) HWY_ATTR { return hn::Div(a, b); });
        break;
      case Link::div_into:
        change([](V a, V b) HWY_ATTR { return hn::Div(b, a); });
        break;
      case Link::neg:
        value.change([](V a) HWY_ATTR { return hn::Neg(a); });
        break;
      case Link::clamp: {
        const T low = number(), high = number();
        const V lowest = hn::Set(d, low), highest = hn::Set(d, high);
        const V added = hn::Set(d, std::isnan(high) ? high : nan_or_nothing(low));
        value.change([&](V a) HWY_ATTR { return hn::Add(lowered(d, raised(d, a, lowest), highest), added); });
        break;
      }
      case Link::clamp_low: {
        const T low = number();
        const V lowest = hn::Set(d, low), added = hn::Set(d, nan_or_nothing(low));
        value.change([&](V a) HWY_ATTR { return hn::Add(raised(d, a, lowest), added); });
        break;
      }
      case Link::clamp_high: {
        const T high = number();
        const V highest = hn::Set(d, high), added = hn::Set(d, nan_or_nothing(high));
        value.change([&](V a) HWY_ATTR { return hn::Add(lowered(d, a, highest), added); });
        break;
      }
    }
  }
  value.write(to + at, left, streams);
}

/// Whether the result takes the place of lanes that the chain reads: they cannot be computed twice.
inline bool overwrites(const void* out, const Lanes* in, const Link* links, int count) {
  int operands = 1;
  for (const Link* link = links; link != links + count; ++link)
    operands += *link == Link::square || *link == Link::neg ? 0 : *link == Link::clamp ? 2 : 1;
  return std::any_of(in, in + operands, [&](const Lanes& lanes) { return lanes.data == out; });
}

// A result that is streamed is computed of what comes from memory, too. A block's loads and stores are bursts, between
// which memory waits, so that the first operand is prefetched into the second-level cache, so many bytes ahead: 0.82 of
// the speed of the loop by hand became 1. Pieces with a rest wait less: odd rows took 1.07 times as long. Other
// operands may be rows that stay in the cache, behind which lies something else. Bench: tenon_bench --filter
// '^fuse/chain, traced.*/memory'.
constexpr int64_t kBytesAhead = 8 << 10;
/// Prefetches for the block that begins at `from`.
[[gnu::always_inline]] inline void prefetch_block(const void* from, int64_t bytes) {
  for (int64_t line = 0; line < bytes; line += 64)
    __builtin_prefetch(static_cast<const std::byte*>(from) + line + kBytesAhead, 0, 2);
}

template <class T>
void compute_chain(void* out, const Lanes* in, const Link* links, int count, int64_t n, bool streams) {
  constexpr int64_t kLanes = hn::MaxLanes(hn::ScalableTag<T>()), kBlock = 8 * kLanes, kHalf = kBlock / 2;
  constexpr int64_t kBlockBytes = kBlock * sizeof(T);
  T* const to = static_cast<T*>(out);
  int64_t at = 0;
  const bool prefetches = streams && n % kBlock == 0;
  for (; at + kBlock <= n; at += kBlock) {
    if (prefetches) prefetch_block(static_cast<const T*>(in[0].data) + at, kBlockBytes);
    compute_links<T, 8>(to, in, links, count, at, kLanes, streams);
  }
  // What is left is computed with some lanes before it: single vectors share no jump.
  const bool goes_back = n - at > kLanes && (n - at) % kHalf != 0 && n >= kHalf && !overwrites(out, in, links, count);
  for (; at + kHalf <= n || (goes_back && at < n); at += kHalf) {
    if (at + kHalf > n) at = n - kHalf;
    compute_links<T, 4>(to, in, links, count, at, kLanes, streams);
  }
  for (; at < n; at += kLanes) compute_links<T, 1>(to, in, links, count, at, n - at < kLanes ? n - at : kLanes, false);
}
#endif

void fill_chains([[maybe_unused]] KernelTable& table) {
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
  table.chain[static_cast<int>(float32)] = &compute_chain<float>;
  table.chain[static_cast<int>(float64)] = &compute_chain<double>;
#endif
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
