// Order along rows: elements as integer keys, ranks of short rows, and the first elements of long ones.
#include <algorithm>
#include <bit>
#include <limits>
#include <type_traits>

#include "kernel/kernel.h"
#include "tenon/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/order.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// --- Keys. Each loop is simple enough for the compiler to make vectors of it.

/// `kLast`: what the last key is in the bits of the dtype: all NaN are equal and larger than numbers.
template <class Bits, class Key, Bits kInfinity>
void float_keys(void* keys, const void* in, int64_t n, bool descending) {
  constexpr Bits kMagnitude = std::numeric_limits<Bits>::max();
  constexpr int kSignShift = 8 * sizeof(Bits) - 1;
  const Bits* HWY_RESTRICT from = static_cast<const Bits*>(in);
  Key* HWY_RESTRICT to = static_cast<Key*>(keys);
  const Key flip = descending ? -1 : 0;
  for (int64_t i = 0; i < n; ++i) {
    const Bits bits = from[i], magnitude = static_cast<Bits>(bits & kMagnitude);
    // Of negative numbers, those of the largest magnitude come first. Both zeros have the key 0.
    const Bits number = static_cast<Bits>((bits ^ (bits >> kSignShift & kMagnitude)) + (bits < 0 && magnitude == 0));
    to[i] = (magnitude > kInfinity ? kMagnitude : number) ^ flip;
  }
}

template <class T, class Key>
void integer_keys(void* keys, const void* in, int64_t n, bool descending) {
  const T* HWY_RESTRICT from = static_cast<const T*>(in);
  Key* HWY_RESTRICT to = static_cast<Key*>(keys);
  const bool as_wide = std::is_unsigned_v<T> && sizeof(T) == sizeof(Key);
  const Key flip = static_cast<Key>((as_wide ? std::numeric_limits<Key>::min() : 0) ^ (descending ? -1 : 0));
  for (int64_t i = 0; i < n; ++i) to[i] = static_cast<Key>(from[i]) ^ flip;
}

// --- Ranks

#if HWY_TARGET == HWY_AVX3
/// One instruction with a mask register.
template <class D, class V, class M>
HWY_INLINE V add_where(D d, V count, M mask) {
  return hn::IfThenElse(mask, hn::Add(count, hn::Set(d, 1)), count);
}
template <class D, class V, class M>
HWY_INLINE V subtract_where(D d, V count, M mask) {
  return hn::IfThenElse(mask, hn::Sub(count, hn::Set(d, 1)), count);
}
#else
/// A true lane is -1.
template <class D, class V, class M>
HWY_INLINE V add_where(D d, V count, M mask) {
  return hn::Sub(count, hn::VecFromMask(d, mask));
}
template <class D, class V, class M>
HWY_INLINE V subtract_where(D d, V count, M mask) {
  return hn::Add(count, hn::VecFromMask(d, mask));
}
#endif

/// Ranks of the keys from `first` on, as many as `kVectors` vectors hold: how many keys of the row come before each.
/// Lanes behind the row get no meaning.
template <int kVectors, class Key>
HWY_INLINE void rank_vectors(Key* ranks, const Key* keys, int64_t first, int64_t length) {
  const hn::ScalableTag<Key> d;
  using V = hn::Vec<decltype(d)>;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d)), end = std::min(first + kVectors * lanes, length);
  V own[kVectors], index[kVectors], before[kVectors];
  for (int v = 0; v < kVectors; ++v) {
    own[v] = hn::LoadU(d, keys + first + v * lanes);
    index[v] = hn::Iota(d, static_cast<Key>(first + v * lanes));
    before[v] = hn::Set(d, static_cast<Key>(first));
  }
  for (int64_t place = 0; place < first; ++place) {  // of equal keys, these come before
    const V other = hn::Set(d, keys[place]);
    for (int v = 0; v < kVectors; ++v) before[v] = subtract_where(d, before[v], hn::Gt(other, own[v]));
  }
  for (int64_t place = first; place < end; ++place) {
    const V other = hn::Set(d, keys[place]), at = hn::Set(d, static_cast<Key>(place));
    for (int v = 0; v < kVectors; ++v) {
      const auto equal_before = hn::And(hn::Gt(index[v], at), hn::Eq(own[v], other));
      before[v] = add_where(d, before[v], hn::Or(hn::Gt(own[v], other), equal_before));
    }
  }
  for (int64_t place = end; place < length; ++place) {  // of equal keys, these come after
    const V other = hn::Set(d, keys[place]);
    for (int v = 0; v < kVectors; ++v) before[v] = add_where(d, before[v], hn::Gt(own[v], other));
  }
  for (int v = 0; v < kVectors; ++v) hn::StoreU(before[v], d, ranks + first + v * lanes);
}

/// Ranks of rows that are hardly longer than a vector, as one run of keys: each is compared with those at a distance,
/// if they are in its row. Bench: tenon_bench --filter '^(sort|kthvalue)/'.
template <class Key>
HWY_INLINE void rank_tiny_rows(Key* ranks, const Key* keys, int64_t length, int64_t rows) {
  const hn::ScalableTag<Key> d;
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Key columns[3 * hn::MaxLanes(hn::ScalableTag<Key>())];
  for (int64_t i = 0; i < lanes + length; ++i) columns[i] = static_cast<Key>(i % length);
  int64_t column = 0;  // of the vector's first key
  for (int64_t at = 0; at < rows * length; at += lanes, column = (column + lanes) % length) {
    const auto own = hn::LoadU(d, keys + at), own_column = hn::LoadU(d, columns + column);
    auto before = hn::Zero(d);
    for (int64_t distance = 1; distance < length; ++distance) {
      const auto left = hn::LoadU(d, keys + at - distance), right = hn::LoadU(d, keys + at + distance);
      const auto has_left = hn::Gt(own_column, hn::Set(d, static_cast<Key>(distance - 1)));
      const auto has_right = hn::Gt(hn::Set(d, static_cast<Key>(length - distance)), own_column);
      before = add_where(d, before, hn::AndNot(hn::Gt(left, own), has_left));  // an equal key at the left comes before
      before = add_where(d, before, hn::And(hn::Gt(own, right), has_right));
    }
    hn::StoreU(before, d, ranks + at);
  }
}

template <class Key>
void rank(void* ranks, const void* keys, int64_t length, int64_t rows) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Key>()));
  Key* to = static_cast<Key*>(ranks);
  const Key* from = static_cast<const Key*>(keys);
  if (length <= lanes + lanes / 4) return rank_tiny_rows(to, from, length, rows);
  for (int64_t row = 0; row < rows; ++row, from += length, to += length)
    for (int64_t first = 0; first < length;) {
      const int64_t rest = length - first;
      if (rest <= lanes) {
        rank_vectors<1>(to, from, first, length);
        first += lanes;
      } else if (rest <= 2 * lanes) {
        rank_vectors<2>(to, from, first, length);
        first += 2 * lanes;
      } else {
        rank_vectors<4>(to, from, first, length);
        first += 4 * lanes;
      }
    }
}

// --- The first elements

/// A row as blocks of `rows` vectors, with the smallest key of each lane of each block. An element that was taken
/// becomes the largest key, and only the minima of its block are computed again.
template <class Key>
struct Blocks {
  static constexpr Key kTaken = std::numeric_limits<Key>::max();

  const hn::ScalableTag<Key> d{};
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  Key* keys;
  Key* minima;
  int64_t rows = 4, count;

  Blocks(Key* row, int64_t length) : keys(row) {
    while (rows * rows * lanes < length) ++rows;  // as many vectors in a block as there are blocks
    const int64_t block = rows * lanes;
    count = (length + block - 1) / block;
    std::fill(keys + length, keys + count * block, kTaken);
    minima = keys + count * block;
    for (int64_t i = 0; i < count; ++i) update(i);
  }

  HWY_INLINE void update(int64_t block) {
    const Key* at = keys + block * rows * lanes;
    auto least = hn::LoadU(d, at);
    for (int64_t row = 1; row < rows; ++row) least = hn::Min(least, hn::LoadU(d, at + row * lanes));
    hn::StoreU(least, d, minima + block * lanes);
  }
  HWY_INLINE hn::Vec<hn::ScalableTag<Key>> smallest() const {
    auto least = hn::LoadU(d, minima);
    for (int64_t block = 1; block < count; ++block) least = hn::Min(least, hn::LoadU(d, minima + block * lanes));
    return hn::MinOfLanes(d, least);
  }
  /// The first vector with that key, in one that has it.
  template <class V>
  HWY_INLINE int64_t find(const Key* vectors, V key) const {
    int64_t at = 0;
    while (hn::AllFalse(d, hn::Eq(hn::LoadU(d, vectors + at), key))) at += lanes;
    return at / lanes;
  }
  /// Takes the first element with that key, the smallest.
  template <class V>
  HWY_INLINE int64_t take(V key) {
    const int64_t block = find(minima, key);
    Key* in_block = keys + block * rows * lanes;
    Key* at = in_block + find(in_block, key) * lanes;
    at += hn::FindKnownFirstTrue(d, hn::Eq(hn::LoadU(d, at), key));
    *at = kTaken;
    update(block);
    return at - keys;
  }
};

template <class Key>
int64_t take_first(int64_t* places, void* keys, int64_t length, int64_t wanted) {
  Blocks<Key> blocks(static_cast<Key*>(keys), length);
  for (int64_t found = 0; found < wanted; ++found) {
    const auto key = blocks.smallest();
    if (hn::GetLane(key) == Blocks<Key>::kTaken) return found;
    places[found] = blocks.take(key);
  }
  return wanted;
}

template <class Key>
void set_order(KernelTable& table, Dtype dtype, void (*keys)(void*, const void*, int64_t, bool)) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Key>()));
  table.order[static_cast<std::size_t>(dtype)] = {keys, &rank<Key>, &take_first<Key>, lanes};
}

void fill_orders(KernelTable& table) {
  set_order<int32_t>(table, bool_, &integer_keys<uint8_t, int32_t>);
  set_order<int32_t>(table, uint8, &integer_keys<uint8_t, int32_t>);
  set_order<int32_t>(table, int8, &integer_keys<int8_t, int32_t>);
  set_order<int32_t>(table, uint16, &integer_keys<uint16_t, int32_t>);
  set_order<int32_t>(table, int16, &integer_keys<int16_t, int32_t>);
  set_order<int32_t>(table, uint32, &integer_keys<uint32_t, int32_t>);
  set_order<int32_t>(table, int32, &integer_keys<int32_t, int32_t>);
  set_order<int64_t>(table, uint64, &integer_keys<uint64_t, int64_t>);
  set_order<int64_t>(table, int64, &integer_keys<int64_t, int64_t>);
  set_order<int32_t>(table, float16, &float_keys<int16_t, int32_t, 0x7C00>);
  set_order<int32_t>(table, bfloat16, &float_keys<int16_t, int32_t, 0x7F80>);
  set_order<int32_t>(table, float32, &float_keys<int32_t, int32_t, 0x7F80'0000>);
  set_order<int64_t>(table, float64, &float_keys<int64_t, int64_t, 0x7FF0'0000'0000'0000>);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
