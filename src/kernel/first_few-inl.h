// The first up to 8 or 16 keys of a row in order, by networks of comparisons of vectors. An item is a key and its place
// in one 64-bit integer; a block of items lies in columns, one for each lane. Each block is sorted column by column and
// merged into the columns of the smallest items so far; at last these columns are merged with each other. Bench:
// tenon_bench --filter '^topk'.

#if defined(TENON_KERNEL_FIRST_FEW_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_FIRST_FEW_INL_H_
#undef TENON_KERNEL_FIRST_FEW_INL_H_
#else
#define TENON_KERNEL_FIRST_FEW_INL_H_
#endif

#include <algorithm>
#include <bit>
#include <cstdint>

#include "kernel/first_few.h"
#include "kernel/sorted_items-inl.h"

#if HWY_TARGET <= HWY_AVX3

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// How keys of 64 bits become items: what is subtracted, the low bits that don't fit, and the bits of a place.
struct ItemLayout {
  uint64_t least = 0;
  int low_bits = 0, place_bits = 32;
  bool exact = true;  // no key has other low bits than another
};
HWY_INLINE hn::Mask<ItemTag> in_row(int64_t at, int64_t n) {
  return hn::Lt(hn::Iota(ItemTag(), static_cast<uint64_t>(at)), hn::Set(ItemTag(), static_cast<uint64_t>(n)));
}
inline ItemLayout item_layout(const int64_t* keys, int64_t n) {
  const hn::RebindToSigned<ItemTag> d;
  const auto first = hn::Set(d, keys[0]);
  auto least = first, most = first, differing = hn::Zero(d);
  for (int64_t i = 0; i < n; i += 8) {
    auto some = hn::LoadU(d, keys + i);
    if (i + 8 > n) some = hn::IfThenElse(hn::RebindMask(d, in_row(i, n)), some, first);
    least = hn::Min(least, some);
    most = hn::Max(most, some);
    differing = hn::Or(differing, hn::Xor(some, first));
  }
  const auto start = static_cast<uint64_t>(_mm512_reduce_min_epi64(least.raw));
  const uint64_t range = static_cast<uint64_t>(_mm512_reduce_max_epi64(most.raw)) - start;
  const auto differing_bits = static_cast<uint64_t>(_mm512_reduce_or_epi64(differing.raw));
  const int place_bits = std::bit_width(static_cast<uint64_t>(n - 1));
  const int low_bits = std::max<int>(std::bit_width(range) + place_bits - 64, 0);
  return {start, low_bits, place_bits, std::countr_zero(differing_bits) >= low_bits};
}
/// Any key of 32 bits fits beside its place.
inline ItemLayout item_layout(const int32_t*, int64_t) { return {}; }

/// Keys without what is subtracted and their low bits.
HWY_INLINE ItemVector high_parts(const int64_t* keys, const ItemLayout& layout) {
  const ItemVector distance =
      hn::Sub(hn::LoadU(ItemTag(), reinterpret_cast<const uint64_t*>(keys)), hn::Set(ItemTag(), layout.least));
  return hn::ShiftRightSame(distance, layout.low_bits);
}
HWY_INLINE ItemVector items_of(const int64_t* keys, ItemVector place, const ItemLayout& layout) {
  return hn::Or(hn::ShiftLeftSame(high_parts(keys, layout), layout.place_bits), place);
}
HWY_INLINE ItemVector items_of(const int32_t* keys, ItemVector place, const ItemLayout&) {
  const hn::RebindToSigned<ItemTag> d;
  const auto key = hn::PromoteTo(d, hn::LoadU(hn::Rebind<int32_t, decltype(d)>(), keys));
  // The sum turns the sign bit round, so that items are unsigned.
  const ItemVector with_sign = hn::Add(place, hn::Set(ItemTag(), uint64_t{1} << 63));
  return hn::Add(hn::ShiftLeft<32>(hn::BitCast(ItemTag(), key)), with_sign);
}
/// Items of the places from `first` on. Behind the row they are larger than others. Whole vectors are read.
template <int kRows, class Key>
HWY_INLINE void load_items(ItemVector* v, const Key* keys, int64_t first, int64_t n, const ItemLayout& layout) {
  constexpr ItemTag d;
  ItemVector place = hn::Iota(d, static_cast<uint64_t>(first));
  if (first + 8 * kRows <= n) {
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row, place = hn::Add(place, hn::Set(d, 8)))
      v[row] = items_of(keys + first + 8 * row, place, layout);
    return;
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row, place = hn::Add(place, hn::Set(d, 8))) {
    v[row] = hn::Set(d, ~uint64_t{0});
    if (const int64_t at = first + 8 * row; at < n)
      v[row] = hn::IfThenElse(in_row(at, n), items_of(keys + at, place, layout), v[row]);
  }
}

/// Sorts columns whose rows are bitonic.
template <int kRows>
HWY_INLINE void merge_columns(ItemVector* v) {
#pragma GCC unroll 4
  for (int distance = kRows / 2; distance > 0; distance /= 2)
#pragma GCC unroll 16
    for (int row = 0; row < kRows; ++row)
      if ((row & distance) == 0) order_pair(v[row], v[row + distance]);
}
template <int kRows>
HWY_INLINE void sort_columns(ItemVector* v) {
  if constexpr (kRows == 8) {
    constexpr int kPairs[][2] = {{0, 2}, {1, 3}, {4, 6}, {5, 7}, {0, 4}, {1, 5}, {2, 6}, {3, 7}, {0, 1}, {2, 3},
                                 {4, 5}, {6, 7}, {2, 4}, {3, 5}, {1, 4}, {3, 6}, {1, 2}, {3, 4}, {5, 6}};
#pragma GCC unroll 19
    for (int i = 0; i < 19; ++i) order_pair(v[kPairs[i][0]], v[kPairs[i][1]]);
  } else {
    sort_columns<kRows / 2>(v);
    sort_columns<kRows / 2>(v + kRows / 2);
#pragma GCC unroll 8
    for (int row = 0; row < kRows / 2; ++row) order_pair(v[row], v[kRows - 1 - row]);
    merge_columns<kRows / 2>(v);
    merge_columns<kRows / 2>(v + kRows / 2);
  }
}
/// Of each two sorted columns the smaller half.
template <int kRows>
HWY_INLINE void keep_smaller(ItemVector* v, const ItemVector* others) {
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) v[row] = hn::Min(v[row], others[kRows - 1 - row]);
  merge_columns<kRows>(v);
}
/// The same with the columns of the same vectors at a distance, a power of two.
template <int kRows, int kDistance>
HWY_INLINE void keep_smaller_half(ItemVector* v) {
  ItemVector others[kRows];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) {
    if constexpr (kDistance == 4) others[row] = ItemVector{_mm512_shuffle_i64x2(v[row].raw, v[row].raw, 0x4E)};
    if constexpr (kDistance == 2) others[row] = ItemVector{_mm512_shuffle_i64x2(v[row].raw, v[row].raw, 0xB1)};
    if constexpr (kDistance == 1) others[row] = ItemVector{_mm512_permutex_epi64(v[row].raw, 0xB1)};
  }
  keep_smaller<kRows>(v, others);
}

/// How many keys are not larger than one whose high part is given.
inline int64_t count_up_to(const int64_t* keys, int64_t n, uint64_t high, const ItemLayout& layout) {
  constexpr ItemTag d;
  ItemVector counts = hn::Zero(d);
  for (int64_t i = 0; i < n; i += 8) {
    auto counted = hn::Not(hn::Gt(high_parts(keys + i, layout), hn::Set(d, high)));
    if (i + 8 > n) counted = hn::And(counted, in_row(i, n));
    counts = hn::IfThenElse(counted, hn::Add(counts, hn::Set(d, 1)), counts);
  }
  return _mm512_reduce_add_epi64(counts.raw);
}

/// Whether the first items tell the order, though low bits of keys are missing in them.
inline bool tell_order(const uint64_t* items, const int64_t* keys, int64_t n, int64_t wanted,
                       const ItemLayout& layout) {
  if (layout.exact) return true;
  for (int64_t i = 1; i < wanted; ++i)
    if (items[i - 1] >> layout.place_bits == items[i] >> layout.place_bits) return false;
  return count_up_to(keys, n, items[wanted - 1] >> layout.place_bits, layout) == wanted;
}
inline bool tell_order(const uint64_t*, const int32_t*, int64_t, int64_t, const ItemLayout&) { return true; }

/// False if keys of 64 bits differ in too few high bits.
template <int kRows, class Key>
bool write_first(int64_t* places, const Key* keys, int64_t n, int64_t wanted) {
  const ItemLayout layout = item_layout(keys, n);
  ItemVector v[kRows], next[kRows];
  load_items<kRows>(v, keys, 0, n, layout);
  sort_columns<kRows>(v);
  for (int64_t first = 8 * kRows; first < n; first += 8 * kRows) {
    load_items<kRows>(next, keys, first, n, layout);
    sort_columns<kRows>(next);
    keep_smaller<kRows>(v, next);
  }
  keep_smaller_half<kRows, 4>(v);
  keep_smaller_half<kRows, 2>(v);
  keep_smaller_half<kRows, 1>(v);
  uint64_t items[kRows];
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row) items[row] = hn::GetLane(v[row]);
  const uint64_t place = (uint64_t{1} << layout.place_bits) - 1;
  for (int64_t i = 0; i < wanted; ++i) places[i] = static_cast<int64_t>(items[i] & place);
  return tell_order(items, keys, n, wanted, layout);
}
template <class Key>
bool write_first_few(int64_t* places, const Key* keys, int64_t n, int64_t wanted) {
  return wanted <= kMostFew / 2 ? write_first<kMostFew / 2>(places, keys, n, wanted)
                                : write_first<kMostFew>(places, keys, n, wanted);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#endif
#endif
