// Order along rows: elements as integer keys, ranks of short rows, the first elements of long ones, and the first of
// each group of equal neighbours.
#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>
#include <type_traits>

#include "kernel/kernel.h"
#include "kernel/once.h"
#include "tenon/dtype.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/order.cpp"
#include "hwy/foreach_target.h"
#include "kernel/first_few-inl.h"
#include "kernel/half-inl.h"
#include "kernel/sorted_items-inl.h"

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

/// Any byte but 0 is true: in memory of other libraries, and after view(dtype), true is not always 1.
void truth_keys(void* keys, const void* in, int64_t n, bool descending) {
  const uint8_t* HWY_RESTRICT from = static_cast<const uint8_t*>(in);
  int32_t* HWY_RESTRICT to = static_cast<int32_t*>(keys);
  const int32_t flip = descending ? -1 : 0;
  for (int64_t i = 0; i < n; ++i) to[i] = (from[i] != 0) ^ flip;
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
#if HWY_TARGET <= HWY_AVX3
  const Key* const row = static_cast<const Key*>(keys);
  if (are_found_at_once<Key>(length, wanted) && write_first_few(places, row, length, wanted)) {
    while (wanted > 0 && row[places[wanted - 1]] == Blocks<Key>::kTaken) --wanted;
    return wanted;
  }
#endif
  Blocks<Key> blocks(static_cast<Key*>(keys), length);
  for (int64_t found = 0; found < wanted; ++found) {
    const auto key = blocks.smallest();
    if (hn::GetLane(key) == Blocks<Key>::kTaken) return found;
    places[found] = blocks.take(key);
  }
  return wanted;
}

// --- Keys up to one

#if HWY_TARGET <= HWY_AVX3  // other instruction sets have no instruction that compresses
/// Of 8-byte lanes without hn::Compress: GCC copies its table to the stack each time.
template <class D>
HWY_INLINE hn::Vec<D> compressed(D d, hn::Vec<D> v, hn::Mask<D> mask) {
  if constexpr (sizeof(hn::TFromD<D>) == 8) {
    const hn::RebindToUnsigned<D> du;
    return hn::BitCast(d, hn::Vec<decltype(du)>{_mm512_maskz_compress_epi64(mask.raw, hn::BitCast(du, v).raw)});
  } else {
    return hn::Compress(v, mask);
  }
}
#endif

template <class Key>
int64_t select(void* selected, void* places, const void* keys, int64_t n, int64_t place, int64_t most) {
  const Key* HWY_RESTRICT from = static_cast<const Key*>(keys);
  Key* HWY_RESTRICT to = static_cast<Key*>(selected);
  Key* HWY_RESTRICT at = static_cast<Key*>(places);
  int64_t count = 0, i = 0;
#if HWY_TARGET <= HWY_AVX3
  const hn::ScalableTag<Key> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto limit = hn::Set(d, static_cast<Key>(most)), step = hn::Set(d, static_cast<Key>(lanes));
  auto all = hn::Iota(d, static_cast<Key>(place));
  for (; i + lanes <= n; i += lanes, all = hn::Add(all, step)) {
    const auto own = hn::LoadU(d, from + i);
    const auto mask = hn::Not(hn::Gt(own, limit));
    hn::StoreU(compressed(d, own, mask), d, to + count);
    hn::StoreU(compressed(d, all, mask), d, at + count);
    count += static_cast<int64_t>(hn::CountTrue(d, mask));
  }
#endif
  for (; i < n; ++i) {
    to[count] = from[i];
    at[count] = static_cast<Key>(place + i);
    count += from[i] <= most;
  }
  return count;
}

// --- Ranges of keys, and items of keys and places. Loops for the compiler, as above.

template <class Key>
void range(void* ends, const void* keys, int64_t n) {
  const Key* HWY_RESTRICT from = static_cast<const Key*>(keys);
  Key least = from[0], most = from[0];
  for (int64_t i = 1; i < n; ++i) {
    least = from[i] < least ? from[i] : least;
    most = from[i] > most ? from[i] : most;
  }
  static_cast<Key*>(ends)[0] = least;
  static_cast<Key*>(ends)[1] = most;
}
template <class Key>
void pack(uint64_t* items, const void* keys, int64_t n, int64_t least, int low_bits) {
  const Key* HWY_RESTRICT from = static_cast<const Key*>(keys);
  uint64_t* HWY_RESTRICT to = items;
  for (int64_t i = 0; i < n; ++i) {
    const uint64_t distance = static_cast<uint64_t>(int64_t{from[i]}) - static_cast<uint64_t>(least);
    to[i] = distance >> low_bits << 32 | static_cast<uint64_t>(i);
  }
}
template <class Key>
constexpr KeyKernels key_kernels() {
  return {&range<Key>, &pack<Key>};
}

// --- Groups of equal neighbours

#if HWY_TARGET <= HWY_AVX3
/// Elements of fewer than four bytes are widened: vectors of these are compressed slowly.
template <class T>
using GroupLane = std::conditional_t<sizeof(T) < 4, int32_t, T>;

template <class T, class D>
HWY_INLINE hn::Vec<D> load_lanes(D d, const T* from) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    return hn::LoadU(d, from);
  } else {
    using Bits = hwy::SignedFromSize<sizeof(T)>;
    return hn::PromoteTo(d, hn::LoadU(hn::Rebind<Bits, D>(), reinterpret_cast<const Bits*>(from)));
  }
}
/// Writes as many elements as there are lanes.
template <class T, class D>
HWY_INLINE void store_lanes(D d, hn::Vec<D> v, T* to) {
  if constexpr (sizeof(T) == sizeof(hn::TFromD<D>)) {
    hn::StoreU(v, d, to);
  } else {
    using Bits = hwy::UnsignedFromSize<sizeof(T)>;
    const hn::Rebind<Bits, D> narrow;
    hn::StoreU(hn::TruncateTo(narrow, hn::BitCast(hn::RebindToUnsigned<D>(), v)), narrow, reinterpret_cast<Bits*>(to));
  }
}
template <class T>
HWY_INLINE bool differs(const T* from) {
  if constexpr (Half<T>)
    return !(widen_lane(from) == widen_lane(from - 1));
  else
    return !(*from == *(from - 1));
}
/// The last lane of `before`, then all but the last of `lanes`.
template <class D>
HWY_INLINE hn::Vec<D> shifted_in(D d, hn::Vec<D> lanes, hn::Vec<D> before) {
  const hn::RebindToUnsigned<D> du;
  const auto high = hn::BitCast(du, lanes), low = hn::BitCast(du, before);
  if constexpr (sizeof(hn::TFromD<D>) == 8)
    return hn::BitCast(d, hn::Vec<decltype(du)>{_mm512_alignr_epi64(high.raw, low.raw, 7)});
  else
    return hn::BitCast(d, hn::Vec<decltype(du)>{_mm512_alignr_epi32(high.raw, low.raw, 15)});
}
/// Whether the elements from `from` on, which are `lanes`, differ from those before them: the first from the last of
/// `before`. Not Ne: with AVX-512 that is false for NaN.
template <class T, class D>
HWY_INLINE hn::Mask<D> differ(D d, const T* from, hn::Vec<D> lanes, hn::Vec<D> before) {
  if constexpr (Half<T>) {
    const hn::RebindToFloat<D> df;
    return hn::RebindMask(d, hn::Not(hn::Eq(load_widened(df, from), load_widened(df, from - 1))));
  } else {
    return hn::Not(hn::Eq(lanes, shifted_in(d, lanes, before)));
  }
}

/// Writes to `bits` which of `n` elements differ from those before them, and these elements to `firsts`. Gives how many
/// they are. There is room for `n`.
template <class T>
int64_t begin_groups(void* firsts, uint8_t* bits, const void* in, int64_t n) {
  const hn::ScalableTag<GroupLane<T>> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  const T* HWY_RESTRICT from = static_cast<const T*>(in);
  T* HWY_RESTRICT to = static_cast<T*>(firsts);
  T* const begin = to;
  int64_t i = 0;
  // Vectors are written where fewer elements were written than read, so they end where the input's do.
  // Each element is read once: a read beside what was just written, at a distance of pages, would wait for it.
  auto before = hn::Zero(d);
  if constexpr (!Half<T>) before = hn::Set(d, static_cast<GroupLane<T>>(from[-1]));
  for (; i + kLanes <= n; i += kLanes) {
    const auto lanes = load_lanes(d, from + i);
    const auto mask = differ(d, from + i, lanes, before);
    before = lanes;
    store_lanes(d, compressed(d, lanes, mask), to);
    hn::StoreMaskBits(d, mask, bits + i / 8);
    to += hn::CountTrue(d, mask);
  }
  for (; i < n; ++i) {
    const bool begins = differs(from + i);
    *to = from[i];
    to += begins;
    bits[i / 8] = static_cast<uint8_t>(begins << i % 8 | (i % 8 == 0 ? 0 : bits[i / 8]));
  }
  return to - begin;
}

/// Writes the places of elements whose bit is set, of which the first has `place`. There is room for `n`.
void write_places(const uint8_t* bits, int64_t place, int64_t* places, int64_t n) {
  const hn::ScalableTag<int64_t> d;
  const auto step = hn::Set(d, 8);
  auto all = hn::Iota(d, place);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8, all = hn::Add(all, step)) {
    const hn::Mask<decltype(d)> mask{bits[i / 8]};
    hn::StoreU(compressed(d, all, mask), d, places);
    places += std::popcount(bits[i / 8]);
  }
  for (; i < n; ++i) {
    if ((bits[i / 8] >> i % 8 & 1) == 0) continue;
    *places++ = place + i;
  }
}
/// Writes for each element how many bits are set up to it, plus `before`.
void write_numbers(const uint8_t* bits, int64_t before, int64_t* numbers, int64_t n) {
  const hn::ScalableTag<uint64_t> d;
  const hn::Rebind<uint32_t, decltype(d)> half;
  const hn::Rebind<uint8_t, decltype(d)> narrow;
  constexpr uint64_t kOnes = 0x0101'0101'0101'0101;
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) {
    // Each bit to a byte of its own, then the sums of all bytes up to each.
    const uint64_t apart = (bits[i / 8] * kOnes) & 0x8040'2010'0804'0201;
    const uint64_t sums = ((apart + 0x7F7F'7F7F'7F7F'7F7F) >> 7 & kOnes) * kOnes;
    uint8_t bytes[8];
    std::memcpy(bytes, &sums, sizeof sums);
    const auto some = hn::PromoteTo(d, hn::PromoteTo(half, hn::LoadU(narrow, bytes)));
    hn::StoreU(hn::Add(some, hn::Set(d, static_cast<uint64_t>(before))), d, reinterpret_cast<uint64_t*>(numbers + i));
    before += static_cast<int64_t>(sums >> 56);
  }
  for (; i < n; ++i) numbers[i] = before += bits[i / 8] >> i % 8 & 1;
}

struct GroupedElements {
  int64_t (*begin)(void* firsts, uint8_t* bits, const void* in, int64_t n);
  std::size_t width;
};
/// One for all dtypes: their loops differ only in `begin`.
TENON_ONCE int64_t groups_of(const GroupedElements& elements, void* firsts, int64_t* counts, int64_t* inverse,
                             const void* in, int64_t n) {
  constexpr int64_t kBlock = 512;
  const auto [begin, width] = elements;
  const auto at = [width = width](auto* data, int64_t i) { return data + static_cast<std::size_t>(i) * width; };
  auto* const to = static_cast<std::byte*>(firsts);
  auto* const from = static_cast<const std::byte*>(in);
  uint8_t bits[kBlock / 8];
  int64_t groups = 1;
  std::memcpy(to, from, width);
  if (counts) counts[0] = 0;
  if (inverse) inverse[0] = 0;
  // The first block is shorter: the others begin at a cache line, if the row does.
  for (int64_t i = 1, count; i < n; i += count) {
    count = std::min(i == 1 ? 63 : kBlock, n - i);
    const int64_t more = begin(at(to, groups), bits, at(from, i), count);
    if (counts) write_places(bits, i, counts + groups, count);
    if (inverse) write_numbers(bits, groups - 1, inverse + i, count);
    groups += more;
  }
  if (!counts) return groups;
  for (int64_t i = 1; i < groups; ++i) counts[i - 1] = counts[i] - counts[i - 1];
  counts[groups - 1] = n - counts[groups - 1];
  return groups;
}
template <class T>
int64_t groups(void* firsts, int64_t* counts, int64_t* inverse, const void* in, int64_t n) {
  static constexpr GroupedElements kElements{&begin_groups<T>, sizeof(T)};
  return groups_of(kElements, firsts, counts, inverse, in, n);
}
template <class T>
void set_groups(KernelTable& table, Dtype dtype) {
  table.order[static_cast<std::size_t>(dtype)].groups = &groups<T>;
}
void fill_groups(KernelTable& table) {
  set_groups<Float16>(table, float16);
  set_groups<BFloat16>(table, bfloat16);
  set_groups<float>(table, float32);
  set_groups<double>(table, float64);
  for (Dtype dtype : {uint8, int8}) set_groups<int8_t>(table, dtype);
  for (Dtype dtype : {uint16, int16}) set_groups<int16_t>(table, dtype);
  for (Dtype dtype : {uint32, int32}) set_groups<int32_t>(table, dtype);
  for (Dtype dtype : {uint64, int64}) set_groups<int64_t>(table, dtype);
}
#else
void fill_groups(KernelTable&) {}
#endif

template <class Key>
void set_order(KernelTable& table, Dtype dtype, void (*keys)(void*, const void*, int64_t, bool)) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<Key>()));
  table.order[static_cast<std::size_t>(dtype)] = {keys, &rank<Key>, &take_first<Key>, &select<Key>, lanes, nullptr};
}

void fill_orders(KernelTable& table) {
  set_order<int32_t>(table, bool_, &truth_keys);
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
  table.keys32 = key_kernels<int32_t>();
  table.keys64 = key_kernels<int64_t>();
#if HWY_TARGET <= HWY_AVX3
  table.sort_items = &sort_items;
#endif
  fill_groups(table);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
