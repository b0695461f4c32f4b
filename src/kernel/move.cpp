#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <type_traits>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/move.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

#undef TENON_HAS_SHUFFLES
#if HWY_TARGET != HWY_EMU128 && HWY_TARGET != HWY_SCALAR
#define TENON_HAS_SHUFFLES 1
#else
#define TENON_HAS_SHUFFLES 0
#endif

#if HWY_TARGET == HWY_AVX3
/// Every kStride-th lane of kStride vectors that follow each other, from lane kFirst on.
template <int64_t kStride, class T, int64_t kFirst = 0>
class EveryLane {
 public:
  static constexpr int64_t kLanes = 64 / static_cast<int64_t>(sizeof(T));

  HWY_INLINE EveryLane() : lanes_(hn::Set(d_, static_cast<T>(kFirst))) {
    for (int64_t i = 0; i < kStride; ++i) lanes_ = hn::Add(lanes_, hn::Iota(d_, 0));
    is_later_ = hn::TestBit(lanes_, hn::Set(d_, static_cast<T>(2 * kLanes)));
  }
  HWY_INLINE auto load(const T* from) const {
    return pick([from, this](int64_t i) HWY_ATTR { return hn::LoadU(d_, from + i * kLanes); });
  }
  /// The first `n` of them. Reads nothing behind the last one.
  HWY_INLINE auto load_some(const T* from, int64_t n) const {
    const int64_t read = (n - 1) * kStride + 1;
    return pick([from, read, this](int64_t i) HWY_ATTR {
      const int64_t left = std::clamp(read - i * kLanes, int64_t{0}, kLanes);
      return hn::MaskedLoad(hn::FirstN(d_, static_cast<std::size_t>(left)), d_, from + i * kLanes);
    });
  }

 private:
  using D = hn::FixedTag<T, 64 / sizeof(T)>;
  using V = hn::Vec<D>;
  template <class At>
  HWY_INLINE V pick(const At& at) const {
    const V first = pick(at(0), at(1));
    if constexpr (kStride == 2) return first;
    const V third = at(2);
    return hn::IfThenElse(is_later_, pick(third, kStride == 3 ? third : at(kStride - 1)), first);
  }
  /// The lanes of a pair of vectors whose numbers are those of `lanes_`, modulo the number of both's lanes.
  HWY_INLINE V pick(V a, V b) const {
    if constexpr (sizeof(T) == 2)
      return V{_mm512_permutex2var_epi16(a.raw, lanes_.raw, b.raw)};
    else if constexpr (sizeof(T) == 4)
      return V{_mm512_permutex2var_epi32(a.raw, lanes_.raw, b.raw)};
    else
      return V{_mm512_permutex2var_epi64(a.raw, lanes_.raw, b.raw)};
  }

  D d_;
  V lanes_;
  hn::Mask<D> is_later_;
};
#elif TENON_HAS_SHUFFLES
/// Every third lane of three vectors that follow each other, from the first one, or to the last. These lanes have
/// different places in their vectors: blends bring them together, and one shuffle puts them in order.
template <bool kToLast, class D>
HWY_INLINE hn::Vec<D> load_every_third(D d, const hn::TFromD<D>* from) {
  using T = hn::TFromD<D>;
  constexpr int64_t kLanes = hn::MaxLanes(d), kFirst = kToLast ? 2 : 0;
  struct Lanes {
    alignas(32) T vectors[kLanes];  // where the lane with this place is
    alignas(32) hwy::MakeSigned<T> places[kLanes];
  };
  static constexpr Lanes kFound = [] {
    Lanes lanes{};
    for (int64_t i = 0; i < kLanes; ++i) {
      const int64_t lane = 3 * i + kFirst;
      lanes.places[i] = static_cast<hwy::MakeSigned<T>>(lane % kLanes);
      lanes.vectors[lane % kLanes] = static_cast<T>(lane / kLanes);
    }
    return lanes;
  }();
  const auto vectors = hn::Load(d, kFound.vectors);
  const auto second =
      hn::IfThenElse(hn::Eq(vectors, hn::Set(d, T{1})), hn::LoadU(d, from + kLanes), hn::LoadU(d, from));
  const auto all = hn::IfThenElse(hn::Eq(vectors, hn::Set(d, T{2})), hn::LoadU(d, from + 2 * kLanes), second);
  return hn::TableLookupLanes(all, hn::SetTableIndices(d, kFound.places));
}
/// Whether load_every has such a stride. One shuffle of AVX2 orders elements of 4 and 8 bytes only; with NEON the
/// compiler's loop reads every third element by an instruction.
template <int64_t kStride, class T>
inline constexpr bool kLoadsEvery = kStride == 3 ? HWY_TARGET == HWY_AVX2 && (sizeof(T) == 4 || sizeof(T) == 8)
                                                 : sizeof(T) <= 8;
/// Every kStride-th lane, three or a power of two, of kStride vectors that follow each other: from the first one, or to
/// the last.
template <int64_t kStride, bool kToLast, class D>
HWY_INLINE hn::Vec<D> load_every(D d, const hn::TFromD<D>* from) {
  if constexpr (kStride == 1) {
    return hn::LoadU(d, from);
  } else if constexpr (kStride == 3) {
    return load_every_third<kToLast>(d, from);
  } else {
    constexpr int64_t kHalf = kStride / 2;
    const auto lower = load_every<kHalf, kToLast>(d, from);
    const auto upper = load_every<kHalf, kToLast>(d, from + hn::MaxLanes(d) * kHalf);
    return kToLast ? hn::ConcatOdd(d, upper, lower) : hn::ConcatEven(d, upper, lower);
  }
}
#endif

/// Prefetches what is read soon after `count` vectors from `from` on. The processor does not read ahead of vectors
/// whose lanes are picked: from memory, rows of 128 took 6.7 ms instead of 2.3. In the first-level cache it costs a
/// quarter to a half. Bench: ./dev bench --sweep, steps.
template <int64_t count, class T>
HWY_INLINE void prefetch_vectors(const T* from, int64_t lanes) {
  constexpr int64_t kAhead = 4096;
  for (int64_t i = 0; i < count; ++i) __builtin_prefetch(reinterpret_cast<const char*>(from + i * lanes) + kAhead);
}

/// With a constant stride the compiler permutes whole vectors, but moves the last elements one by one, for which a load
/// of the whole vector waits. `behind`: elements that may be read behind the last one. Loads under a mask wait for each
/// other if they miss the caches: rows of 64 and 262 took 1.2 times as long as with a last vector that overlaps the one
/// before. Bench: ./dev bench --sweep, steps.
template <int64_t kStride, class T>
HWY_INLINE void gather_every(T* HWY_RESTRICT to, const T* HWY_RESTRICT from, int64_t n,
                             [[maybe_unused]] int64_t behind = 0, [[maybe_unused]] bool is_far = false) {
#if HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) > 1 && sizeof(T) <= 8) {
    constexpr int64_t kLanes = EveryLane<kStride, T>::kLanes;
    const hn::FixedTag<T, 64 / sizeof(T)> d;
    const EveryLane<kStride, T> every;
    const bool is_long = n > kLanes;
    for (; n > kLanes; n -= kLanes, to += kLanes, from += kLanes * kStride) {
      if (is_far) prefetch_vectors<kStride>(from, kLanes);
      hn::StoreU(every.load(from), d, to);
    }
    if (is_far) prefetch_vectors<kStride>(from, kLanes);
    const bool is_whole = kLanes * kStride <= (n - 1) * kStride + 1 + behind;
    if (!is_whole && is_long) {
      const EveryLane<kStride, T, kStride - 1> to_last;
      return hn::StoreU(to_last.load(from - (kLanes - n) * kStride - (kStride - 1)), d, to - (kLanes - n));
    }
    const auto last = is_whole ? every.load(from) : every.load_some(from, n);
    if (n == kLanes) return hn::StoreU(last, d, to);
    return hn::BlendedStore(last, hn::FirstN(d, static_cast<std::size_t>(n)), d, to);
  }
#elif TENON_HAS_SHUFFLES
  if constexpr (kLoadsEvery<kStride, T>) {
    const hn::ScalableTag<T> d;
    constexpr int64_t kLanes = hn::MaxLanes(d);
    if (n > kLanes) {  // the last vector overlaps the one before
      const int64_t rest = n - kLanes;
      for (int64_t i = 0; i < rest; i += kLanes) {
        if (is_far) prefetch_vectors<kStride>(from + i * kStride, kLanes);
        hn::StoreU(load_every<kStride, false>(d, from + i * kStride), d, to + i);
      }
      return hn::StoreU(load_every<kStride, true>(d, from + rest * kStride - (kStride - 1)), d, to + rest);
    }
  }
#endif
  for (int64_t i = 0; i < n; ++i) to[i] = from[i * kStride];
}
template <class T>
HWY_INLINE void gather_run(T* HWY_RESTRICT to, const T* HWY_RESTRICT from, int64_t stride, int64_t n,
                           int64_t behind = 0, bool is_far = false) {
  if (stride == 1) {
    for (int64_t i = 0; i < n; ++i) to[i] = from[i];
  } else if (stride == 0) {
    const T value = from[0];
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (stride == 2) {
    gather_every<2>(to, from, n, behind, is_far);
  } else if (stride == 3) {
    gather_every<3>(to, from, n, behind, is_far);
  } else if (stride == 4) {
    gather_every<4>(to, from, n, behind, is_far);
  } else {
#pragma GCC unroll 4
    for (int64_t i = 0; i < n; ++i) to[i] = from[i * stride];
  }
}

/// Rows of a few elements.
template <int64_t kCount, class T>
HWY_INLINE void gather_few(T* HWY_RESTRICT to, const T* HWY_RESTRICT from, int64_t stride, int64_t row_stride,
                           int64_t rows) {
#pragma GCC unroll 2
  for (int64_t row = 0; row < rows; ++row, to += kCount, from += row_stride)
#pragma GCC unroll 4
    for (int64_t i = 0; i < kCount; ++i) to[i] = from[i * stride];
}

/// Rows of memory; steps in bytes.
struct ByteRows {
  uint8_t* to;
  int64_t to_step;
  const uint8_t* from;
  int64_t from_step;
  int64_t bytes;
  int64_t rows;
};
/// Rows that begin where a list says, in bytes, and are copied one after the other.
struct ListedRows {
  uint8_t* to;
  const uint8_t* from;
  const int64_t* offsets;
  int shift;  // of the offsets
  int64_t bytes;
  int64_t rows;
};
/// Calls move(to, from) for each row.
template <class Move>
HWY_INLINE void for_each_row(const ByteRows& all, const Move& move) {
  uint8_t* HWY_RESTRICT to = all.to;
  const uint8_t* HWY_RESTRICT from = all.from;
  const int64_t to_step = all.to_step, from_step = all.from_step;  // copies: bytes that are written might be these
  for (int64_t rows = all.rows; rows > 0; --rows, to += to_step, from += from_step) move(to, from);
}
template <class Move>
HWY_INLINE void for_each_row(const ListedRows& all, const Move& move) {
  uint8_t* HWY_RESTRICT to = all.to;
  const uint8_t* const from = all.from;
  const int64_t* offset = all.offsets;
  const int64_t bytes = all.bytes, scale = int64_t{1} << all.shift;
  for (int64_t rows = all.rows; rows > 0; --rows, to += bytes) move(to, from + *offset++ * scale);
}
/// Rows of `Word` to 2 `Word`: the second word overlaps the first.
template <class Word, class Rows>
HWY_INLINE void copy_words(const Rows& all) {
  const int64_t last = all.bytes - static_cast<int64_t>(sizeof(Word));
  if (last == 0) {
    for_each_row(all, [](uint8_t* to, const uint8_t* from) HWY_ATTR { std::memcpy(to, from, sizeof(Word)); });
    return;
  }
  for_each_row(all, [&](uint8_t* to, const uint8_t* from) HWY_ATTR {
    Word first, second;
    std::memcpy(&first, from, sizeof(Word));
    std::memcpy(&second, from + last, sizeof(Word));
    std::memcpy(to, &first, sizeof(Word));
    std::memcpy(to + last, &second, sizeof(Word));
  });
}
#if TENON_HAS_SHUFFLES
/// Rows of at least one vector of `d`: the last vector overlaps the one before.
template <class D, class Rows>
HWY_INLINE void copy_vectors(D d, const Rows& all) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const int64_t last = all.bytes - kLanes;
  if (last <= kLanes) {
    for_each_row(all, [&](uint8_t* to, const uint8_t* from) HWY_ATTR {
      const auto first = hn::LoadU(d, from), end = hn::LoadU(d, from + last);
      hn::StoreU(first, d, to);
      hn::StoreU(end, d, to + last);
    });
    return;
  }
  for_each_row(all, [&](uint8_t* to, const uint8_t* from) HWY_ATTR {
    const auto end = hn::LoadU(d, from + last);
    for (int64_t at = 0; at < last; at += kLanes) hn::StoreU(hn::LoadU(d, from + at), d, to + at);
    hn::StoreU(end, d, to + last);
  });
}
/// Rows of at least two vectors of `d`: the first vector goes up to a boundary, so that no later one lies across two.
template <class D, class Rows>
HWY_INLINE void copy_vectors_aligned(D d, const Rows& all) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for_each_row(all, [&](uint8_t* to, const uint8_t* from) HWY_ATTR {
    const int64_t last = all.bytes - kLanes;
    const auto end = hn::LoadU(d, from + last);
    hn::StoreU(hn::LoadU(d, from), d, to);
    int64_t at = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(to)) & (kLanes - 1);
    for (; at + 4 * kLanes <= last; at += 4 * kLanes) {
      const auto v0 = hn::LoadU(d, from + at), v1 = hn::LoadU(d, from + at + kLanes);
      const auto v2 = hn::LoadU(d, from + at + 2 * kLanes), v3 = hn::LoadU(d, from + at + 3 * kLanes);
      hn::Store(v0, d, to + at);
      hn::Store(v1, d, to + at + kLanes);
      hn::Store(v2, d, to + at + 2 * kLanes);
      hn::Store(v3, d, to + at + 3 * kLanes);
    }
    for (; at < last; at += kLanes) hn::Store(hn::LoadU(d, from + at), d, to + at);
    hn::StoreU(end, d, to + last);
  });
}
// Rows of so many bytes are copied by vectors of 32 bytes, whose stores lie in one cache line: from the last cache they
// take 0.92 of the time of vectors of 64 bytes across lines. One row that is repeated comes from the first-level cache:
// there they take 1.3 of the time. Bench: ./dev bench --sweep, permuted and copies.
constexpr int64_t kAlignedRow = 256;
HWY_INLINE bool repeats_one_row(const ByteRows& all) { return all.from_step == 0; }
HWY_INLINE bool repeats_one_row(const ListedRows&) { return false; }
template <class Rows>
void copy_long_rows(const Rows& all) {
  const hn::CappedTag<uint8_t, 64> widest;
  const hn::CappedTag<uint8_t, 32> wide;
  if (all.bytes >= kAlignedRow && !repeats_one_row(all)) return copy_vectors_aligned(wide, all);
  if (all.bytes >= static_cast<int64_t>(hn::MaxLanes(widest))) return copy_vectors(widest, all);
  if (all.bytes >= static_cast<int64_t>(hn::MaxLanes(wide))) return copy_vectors(wide, all);
  copy_vectors(hn::FixedTag<uint8_t, 16>(), all);
}
#else
template <class Rows>
void copy_long_rows(const Rows& all) {
  for_each_row(all,
               [&](uint8_t* to, const uint8_t* from) { std::memcpy(to, from, static_cast<std::size_t>(all.bytes)); });
}
#endif
#if TENON_HAS_SHUFFLES
/// Rows of at most 16 bytes, which begin `step` bytes apart: as many of them as 16 bytes hold are one shuffle. Gives
/// how many rows it wrote. From the end if `backward`, so that the rows change places. `source(row, byte)`: which byte
/// of the 16 becomes that byte of a row.
template <bool backward, class Source>
HWY_INLINE int64_t shuffle_rows(uint8_t* to, const uint8_t* from, int64_t step, int64_t bytes, int64_t rows,
                                const Source& source) {
  const hn::FixedTag<uint8_t, 16> d;
  const int64_t together = 16 / step, read = together * step, written = together * bytes;
  const int64_t all_read = (rows - 1) * step + bytes, all_written = rows * bytes;
  alignas(16) uint8_t indices[16] = {};
  for (int64_t row = 0; row < together; ++row)
    for (int64_t byte = 0; byte < bytes; ++byte) indices[row * bytes + byte] = static_cast<uint8_t>(source(row, byte));
  const auto shuffle = hn::Load(d, indices);
  int64_t row = 0;
  for (int64_t in = 0, out = 0; in + 16 <= all_read && out + 16 <= all_written;
       in += read, out += written, row += together)
    hn::StoreU(hn::TableLookupBytes(hn::LoadU(d, from + (backward ? all_read - 16 - in : in)), shuffle), d, to + out);
  return row;
}
#endif

/// Rows may be short: the loop over them is chosen by their length. Bench: ./dev bench --sweep, gaps.
template <class Rows>
void copy_rows(const Rows& all) {
  if (all.bytes >= 16) return copy_long_rows(all);
  if (all.bytes >= 8) return copy_words<uint64_t>(all);
  if (all.bytes >= 4) return copy_words<uint32_t>(all);
  if (all.bytes >= 2) return copy_words<uint16_t>(all);
  copy_words<uint8_t>(all);
}

/// Rows that follow each other in the output and have gaps in the input.
HWY_INLINE void close_gaps(ByteRows all) {
#if TENON_HAS_SHUFFLES
  if (all.from_step > 0 && all.from_step <= 8 && all.bytes < all.from_step) {
    const int64_t row = shuffle_rows<false>(all.to, all.from, all.from_step, all.bytes, all.rows,
                                            [&](int64_t group, int64_t byte) { return group * all.from_step + byte; });
    all.to += row * all.bytes;
    all.from += row * all.from_step;
    all.rows -= row;
  }
#endif
  copy_rows(all);
}

template <class T>
void transpose(void* out, int64_t out_stride, const void* in, int64_t stride, int64_t rows, int64_t columns);

template <class T>
HWY_NOINLINE void gather_block(void* out, const void* in, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1,
                               bool is_far) {
  // Sequential reads matter more than sequential writes: the output is a tile in the cache.
  const int64_t fewest_rows = n0 <= 4 ? 64 : 8;
  if (stride1 == 1 && stride0 != 1 && (n1 >= fewest_rows || (n1 > 1 && n0 >= 8 && stride0 > 4)))
    return transpose<T>(out, n0, in, stride0, n1, n0);
  constexpr int64_t kItemsize = sizeof(T);
  if (stride0 == 1 && n1 > 1)
    return close_gaps({static_cast<uint8_t*>(out), n0 * kItemsize, static_cast<const uint8_t*>(in), stride1 * kItemsize,
                       n0 * kItemsize, n1});
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  if (n0 == 2) return gather_few<2>(to, from, stride0, stride1, n1);
  if (n0 == 3) return gather_few<3>(to, from, stride0, stride1, n1);
  if (n0 == 4) return gather_few<4>(to, from, stride0, stride1, n1);
  if (stride1 == n0 * stride0) {
    n0 *= n1;  // exact: at most the number of elements
    n1 = 1;
  }
  for (int64_t row = 0; row < n1; ++row) {
    const int64_t behind = std::max<int64_t>((n1 - 1 - row) * stride1, 0);
    gather_run(to + row * n0, from + row * stride1, stride0, n0, behind, is_far);
  }
}
template <class T>
void gather(void* out, const void* in, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1) {
  gather_block<T>(out, in, stride0, n0, stride1, n1, false);
}
template <class T>
void gather_far(void* out, const void* in, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1) {
  gather_block<T>(out, in, stride0, n0, stride1, n1, true);
}

template <class T>
void copy_listed(void* out, const void* in, const int64_t* offsets, int64_t n, int64_t runs) {
  copy_rows(ListedRows{static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in), offsets,
                       std::countr_zero(sizeof(T)), n * static_cast<int64_t>(sizeof(T)), runs});
}

template <class T>
void scatter(void* out, int64_t stride0, int64_t n0, int64_t stride1, int64_t n1, const void* in) {
  constexpr int64_t kItemsize = sizeof(T);
  if (stride0 == 1)
    return copy_rows(ByteRows{static_cast<uint8_t*>(out), stride1 * kItemsize, static_cast<const uint8_t*>(in),
                              n0 * kItemsize, n0 * kItemsize, n1});
  const T* HWY_RESTRICT from = static_cast<const T*>(in);
  T* HWY_RESTRICT to = static_cast<T*>(out);
  for (int64_t row = 0; row < n1; ++row)
    for (int64_t i = 0; i < n0; ++i) to[row * stride1 + i * stride0] = from[row * n0 + i];
}

template <class T>
void fill(void* out, const void* value, int64_t n) {
  T* to = static_cast<T*>(out);
  T one;
  std::memcpy(&one, value, sizeof(T));
  if constexpr (sizeof(T) > 8) {
    int64_t i = 0;
#if TENON_HAS_SHUFFLES
    const hn::CappedTag<double, 8> d;
    constexpr auto kElements = static_cast<int64_t>(hn::MaxLanes(d)) / 2;
    const auto vector = hn::LoadDup128(d, reinterpret_cast<const double*>(&one));
    for (; i + kElements <= n; i += kElements) hn::StoreU(vector, d, reinterpret_cast<double*>(to + i));
#endif
    for (; i < n; ++i) to[i] = one;
  } else {
    const hn::ScalableTag<T> d;
    const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
    if (n < lanes) {
      for (int64_t i = 0; i < n; ++i) to[i] = one;
      return;
    }
    const auto vector = hn::Set(d, one);
    for (int64_t i = 0; i + lanes <= n; i += lanes) hn::StoreU(vector, d, to + i);
    hn::StoreU(vector, d, to + n - lanes);  // the last vector overlaps the one before
  }
}

#if TENON_HAS_SHUFFLES
inline constexpr int64_t kMaxRepeats = 32;

/// Repeats each of a block's 16 / sizeof(T) elements `times` times, by `times` byte shuffles of the block. Byte b of
/// shuffle j belongs to element (j * lanes + b / sizeof(T)) / times.
template <class T>
struct RepeatIndices {
  static constexpr int64_t kMaxTimes = 16, kWidth = static_cast<int64_t>(sizeof(T)), kLanes = 16 / kWidth;
  alignas(64) uint8_t bytes[kMaxTimes * 16];
  explicit RepeatIndices(int64_t times) {
    uint8_t* at = bytes;
    for (int64_t element = 0; element < kLanes; ++element)
      for (int64_t time = 0; time < times; ++time)
        for (int64_t byte = 0; byte < kWidth; ++byte) *at++ = static_cast<uint8_t>(element * kWidth + byte);
  }
};

/// Whole vectors for each element; what they write beyond it, the next elements overwrite.
template <class T>
void repeat_overlapping(T* to, const T* from, int64_t times, int64_t n) {
  const hn::FixedTag<T, 16 / sizeof(T)> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  int64_t i = 0;
  for (int64_t rest = n * times; rest >= kLanes; ++i, rest -= times) {
    const auto vector = hn::Set(d, from[i]);
    for (int64_t j = 0; j < times; j += kLanes) hn::StoreU(vector, d, to + i * times + std::min(j, rest - kLanes));
  }
  for (; i < n; ++i)
    for (int64_t j = 0; j < times; ++j) to[i * times + j] = from[i];
}

template <class T>
void repeat_shuffled(T* to, const T* from, int64_t times, int64_t n) {
  constexpr int64_t kLanes = RepeatIndices<T>::kLanes;
  const hn::FixedTag<uint8_t, 16> d;
  const RepeatIndices<T> indices(times);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto block = hn::LoadU(d, reinterpret_cast<const uint8_t*>(from + i));
    uint8_t* at = reinterpret_cast<uint8_t*>(to + i * times);
    for (int64_t j = 0; j < times; ++j)
      hn::StoreU(hn::TableLookupBytes(block, hn::Load(d, indices.bytes + j * 16)), d, at + j * 16);
  }
  for (; i < n; ++i)
    for (int64_t j = 0; j < times; ++j) to[i * times + j] = from[i];
}

/// The same for few repetitions, the usual case: indices stay in registers, and wide vectors do two shuffles in one.
/// Two blocks at a time, so that the number of shuffles is even.
template <int64_t kTimes, class T>
void repeat_few(T* to, const T* from, int64_t n) {
  constexpr int64_t kLanes = RepeatIndices<T>::kLanes;
  const hn::CappedTag<uint8_t, 32> d;
  constexpr int64_t kBytes = static_cast<int64_t>(hn::MaxLanes(d));
  constexpr int64_t kShuffles = 2 * kTimes * 16 / kBytes;
  const RepeatIndices<T> indices(kTimes);
  alignas(64) uint8_t doubled[2 * kTimes * 16];
  std::memcpy(doubled, indices.bytes, kTimes * 16);
  std::memcpy(doubled + kTimes * 16, indices.bytes, kTimes * 16);
  hn::Vec<decltype(d)> shuffles[kShuffles];
  for (int64_t j = 0; j < kShuffles; ++j) shuffles[j] = hn::Load(d, doubled + j * kBytes);
  int64_t i = 0;
  for (; i + 2 * kLanes <= n; i += 2 * kLanes) {
    const uint8_t* blocks = reinterpret_cast<const uint8_t*>(from + i);
    const auto first = hn::LoadDup128(d, blocks), second = hn::LoadDup128(d, blocks + 16);
    uint8_t* at = reinterpret_cast<uint8_t*>(to + i * kTimes);
    for (int64_t j = 0; j < kShuffles; ++j) {
      auto block = (j + 1) * kBytes <= kTimes * 16 ? first : second;
      if constexpr (kBytes == 32)
        if (j * kBytes < kTimes * 16 && (j + 1) * kBytes > kTimes * 16) block = hn::ConcatUpperLower(d, second, first);
      hn::StoreU(hn::TableLookupBytes(block, shuffles[j]), d, at + j * kBytes);
    }
  }
  for (; i < n; ++i)
    for (int64_t j = 0; j < kTimes; ++j) to[i * kTimes + j] = from[i];
}

/// A block of as many elements as a vector has lanes becomes `times` vectors, each by a shuffle of the block.
/// Bench: ./dev bench --sweep, columns.
template <class T>
void repeat_lanes(T* to, const T* from, int64_t times, int64_t n) {
  const hn::CappedTag<T, 64 / sizeof(T)> d;
  const hn::RebindToSigned<decltype(d)> di;
  using I = hn::TFromD<decltype(di)>;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  alignas(64) I indices[kMaxRepeats * hn::MaxLanes(d)];
  const auto share = static_cast<int32_t>(65536 / times + 1);  // lane / times is exact below 2^16 / times
  for (int32_t lane = 0; lane < static_cast<int32_t>(times * kLanes); ++lane)
    indices[lane] = static_cast<I>((lane * share) >> 16);
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    const auto block = hn::LoadU(d, from + i);
    T* const at = to + i * times;
    for (int64_t j = 0; j < times; ++j)
      hn::StoreU(hn::TableLookupLanes(block, hn::SetTableIndices(d, indices + j * kLanes)), d, at + j * kLanes);
  }
  repeat_overlapping(to + i * times, from + i, times, n - i);
}

#endif  // TENON_HAS_SHUFFLES

template <class T>
void repeat(void* out, const void* in, int64_t times, int64_t n) {
  const T* HWY_RESTRICT from = static_cast<const T*>(in);
  T* HWY_RESTRICT to = static_cast<T*>(out);
#if TENON_HAS_SHUFFLES
  if constexpr (sizeof(T) <= 8) {
    if (times == 2) return repeat_few<2>(to, from, n);
    if (times == 3) return repeat_few<3>(to, from, n);
    if (times == 4) return repeat_few<4>(to, from, n);
    if constexpr (sizeof(T) >= 4) {
      if (times <= kMaxRepeats && n >= 32) return repeat_lanes(to, from, times, n);
    } else if (times <= RepeatIndices<T>::kMaxTimes && n >= 64) {
      return repeat_shuffled(to, from, times, n);
    }
    if (times * static_cast<int64_t>(sizeof(T)) < 64) return repeat_overlapping(to, from, times, n);
  }
#endif
  for (int64_t i = 0; i < n; ++i) fill<T>(to + i * times, from + i, times);
}

// --- Transposing

/// Columns that begin `stride` elements apart.
template <class T>
struct EvenColumns {
  const T* from;
  int64_t stride;
  const T* operator[](int64_t column) const { return from + column * stride; }
  template <int64_t kCount>
  EvenColumns block(int64_t column) const {
    return {(*this)[column], stride};
  }
  /// The last in memory of columns [begin, end).
  const T* last(int64_t begin, int64_t end) const { return std::max((*this)[begin], (*this)[end - 1]); }
};
/// Columns that begin where a list says.
template <class T>
struct ListedColumns {
  const T* from;
  const int64_t* offsets;
  const T* operator[](int64_t column) const { return from + offsets[column]; }
  /// Of some columns, which are not asked of the list again for each row.
  template <int64_t kCount>
  std::array<const T*, kCount> block(int64_t column) const {
    std::array<const T*, kCount> columns;
    for (int64_t i = 0; i < kCount; ++i) columns[static_cast<std::size_t>(i)] = (*this)[column + i];
    return columns;
  }
  const T* last(int64_t begin, int64_t end) const { return from + *std::max_element(offsets + begin, offsets + end); }
};

/// A transposition: to[row * out_stride + column] = columns[column][row]. Passed by value: vectors that are stored
/// might overwrite what a reference names, so that it would be read again and again.
template <class T, class Columns>
struct Transposition {
  T* to;
  int64_t out_stride;
  Columns columns;
};

template <class T, class Columns>
HWY_INLINE void transpose_plain(Transposition<T, Columns> all, int64_t row_begin, int64_t rows, int64_t column_begin,
                                int64_t columns) {
  // Eight columns at a time: their cache lines stay in the cache until all rows of them are read.
  for (int64_t first = column_begin; first < columns; first += 8) {
    const int64_t last = first + 8 < columns ? first + 8 : columns;
    for (int64_t row = row_begin; row < rows; ++row)
      for (int64_t column = first; column < last; ++column)
        all.to[row * all.out_stride + column] = all.columns[column][row];
  }
}

#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
/// Blocks of 4 x 4 eight-byte elements in 256-bit registers.
template <class Column>
HWY_INLINE void transpose_4x4(uint64_t* to, int64_t out_stride, const Column& column) {
  const hn::FixedTag<uint64_t, 4> d;
  const auto c0 = hn::LoadU(d, column(0)), c1 = hn::LoadU(d, column(1));
  const auto c2 = hn::LoadU(d, column(2)), c3 = hn::LoadU(d, column(3));
  const auto even01 = hn::InterleaveLower(d, c0, c1), odd01 = hn::InterleaveUpper(d, c0, c1);
  const auto even23 = hn::InterleaveLower(d, c2, c3), odd23 = hn::InterleaveUpper(d, c2, c3);
  hn::StoreU(hn::ConcatLowerLower(d, even23, even01), d, to);
  hn::StoreU(hn::ConcatLowerLower(d, odd23, odd01), d, to + out_stride);
  hn::StoreU(hn::ConcatUpperUpper(d, even23, even01), d, to + 2 * out_stride);
  hn::StoreU(hn::ConcatUpperUpper(d, odd23, odd01), d, to + 3 * out_stride);
}
#endif

#if HWY_TARGET == HWY_AVX2
/// Blocks of 2 x 2 elements of 16 bytes.
template <class Column>
HWY_INLINE void transpose_large(Complex128* to, int64_t out_stride, const Column& column) {
  const hn::FixedTag<double, 4> d;
  const auto a = hn::LoadU(d, reinterpret_cast<const double*>(column(0)));
  const auto b = hn::LoadU(d, reinterpret_cast<const double*>(column(1)));
  hn::StoreU(hn::ConcatLowerLower(d, b, a), d, reinterpret_cast<double*>(to));
  hn::StoreU(hn::ConcatUpperUpper(d, b, a), d, reinterpret_cast<double*>(to + out_stride));
}
#endif

#if HWY_TARGET == HWY_AVX3
/// Four vectors of four blocks of 128 bits: block i of vector k becomes block k of vector i.
template <class V>
HWY_INLINE void transpose_four_blocks(V& a, V& b, V& c, V& e) {
  const hn::DFromV<V> d;
  const V even_ab = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(b), a);
  const V odd_ab = hn::OddEvenBlocks(b, hn::SwapAdjacentBlocks(a));
  const V even_ce = hn::OddEvenBlocks(hn::SwapAdjacentBlocks(e), c);
  const V odd_ce = hn::OddEvenBlocks(e, hn::SwapAdjacentBlocks(c));
  a = hn::ConcatLowerLower(d, even_ce, even_ab);
  b = hn::ConcatLowerLower(d, odd_ce, odd_ab);
  c = hn::ConcatUpperUpper(d, even_ce, even_ab);
  e = hn::ConcatUpperUpper(d, odd_ce, odd_ab);
}
/// Blocks of 4 x 4 elements of 16 bytes.
template <class Column>
HWY_INLINE void transpose_large(Complex128* to, int64_t out_stride, const Column& column) {
  const hn::FixedTag<double, 8> d;
  const auto load = [&](int64_t i) HWY_ATTR { return hn::LoadU(d, reinterpret_cast<const double*>(column(i))); };
  const auto store = [&](auto row, int64_t i)
                         HWY_ATTR { hn::StoreU(row, d, reinterpret_cast<double*>(to + i * out_stride)); };
  auto a = load(0), b = load(1), c = load(2), e = load(3);
  transpose_four_blocks(a, b, c, e);
  store(a, 0);
  store(b, 1);
  store(c, 2);
  store(e, 3);
}
#endif

#if TENON_HAS_SHUFFLES
/// The first elements of column `i`, of column `i` + kSide, and so on, as many as a vector has 128 bits for.
template <int64_t kSide, class D, class Column>
HWY_INLINE hn::Vec<D> load_columns(D d, const Column& column, int64_t i) {
  if constexpr (hn::MaxLanes(D()) == kSide) {
    return hn::LoadU(d, column(i));
  } else {
    const hn::Half<D> half;
    constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(half));
    return hn::Combine(d, load_columns<kSide>(half, column, i + kLanes), load_columns<kSide>(half, column, i));
  }
}
/// Transposes square blocks of as many elements as 128 bits hold, side by side in vectors of `d`. Interleaving each
/// vector with the one half a block further does it, if it is done once for each power of two.
template <class D, int64_t kSide = 16 / static_cast<int64_t>(sizeof(hn::TFromD<D>))>
HWY_INLINE void interleave_squares(D d, hn::Vec<D>* v) {
  hn::Vec<D> next[kSide];
#pragma GCC unroll 4
  for (int64_t turn = 1; turn < kSide; turn *= 2) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < kSide / 2; ++i) {
      next[2 * i] = hn::InterleaveLower(d, v[i], v[i + kSide / 2]);
      next[2 * i + 1] = hn::InterleaveUpper(d, v[i], v[i + kSide / 2]);
    }
#pragma GCC unroll 16
    for (int64_t i = 0; i < kSide; ++i) v[i] = next[i];
  }
}
/// Square blocks side by side. `column(i)` is the first element of column i.
template <class D, class Column, class T = hn::TFromD<D>>
HWY_INLINE void transpose_squares(D d, T* to, int64_t out_stride, const Column& column) {
  constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T));
  hn::Vec<D> v[kSide];
#pragma GCC unroll 16
  for (int64_t i = 0; i < kSide; ++i) v[i] = load_columns<kSide>(d, column, i);
  interleave_squares(d, v);
#pragma GCC unroll 16
  for (int64_t i = 0; i < kSide; ++i) hn::StoreU(v[i], d, to + i * out_stride);
}

/// Of elements of 16 bytes, that a vector holds; 1: there are no blocks of them.
inline constexpr int64_t kLargeSide = HWY_TARGET == HWY_AVX3 ? 4 : HWY_TARGET == HWY_AVX2 ? 2 : 1;
template <class T>
inline constexpr int64_t kBlockRows = sizeof(T) == 1    ? 16
                                      : sizeof(T) == 2  ? 8
                                      : sizeof(T) == 16 ? kLargeSide
                                                        : 4;
template <class T>
inline constexpr int64_t kBlockColumns = sizeof(T) == 1    ? 16
                                         : sizeof(T) == 8  ? 4
                                         : sizeof(T) == 16 ? kLargeSide
                                                           : 8;
/// Wider blocks fill whole vectors. Bench: ./dev bench --sweep, transposed and copies.
template <class T>
inline constexpr int64_t kWideColumns =
    sizeof(T) == 8 ? 4
                   : std::max(kBlockColumns<T>, static_cast<int64_t>(hn::MaxLanes(hn::CappedTag<T, 64 / sizeof(T)>())));

/// kBlockRows rows of kColumns elements.
template <int64_t kColumns, class T, class Column>
HWY_INLINE void transpose_block(T* to, int64_t out_stride, const Column& column) {
#if HWY_TARGET == HWY_AVX2 || HWY_TARGET == HWY_AVX3
  if constexpr (sizeof(T) == 8) return transpose_4x4(to, out_stride, column);
  if constexpr (sizeof(T) == 16) return transpose_large(to, out_stride, column);
#endif
  if constexpr (sizeof(T) <= 8) {
    const hn::CappedTag<T, static_cast<std::size_t>(kColumns)> d;
    constexpr int64_t kSide = 16 / static_cast<int64_t>(sizeof(T)), kLanes = hn::MaxLanes(d);
    for (int64_t row = 0; row < kBlockRows<T>; row += kSide)
      for (int64_t first = 0; first < kColumns; first += kLanes)
        transpose_squares(d, to + row * out_stride + first, out_stride,
                          [&](int64_t i) HWY_ATTR { return column(first + i) + row; });
  }
}

/// Two, three or four columns whose rows follow each other. Gives how many rows it wrote.
template <class T, class Columns>
HWY_INLINE int64_t interleave_columns(Transposition<T, Columns> all, int64_t rows, int64_t columns) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const T *a = all.columns[0], *b = all.columns[1], *c = all.columns[columns > 2 ? 2 : 0],
          *e = all.columns[columns > 3 ? 3 : 0];
  int64_t row = 0;
  if (columns == 2)
    for (; row + lanes <= rows; row += lanes)
      hn::StoreInterleaved2(hn::LoadU(d, a + row), hn::LoadU(d, b + row), d, all.to + 2 * row);
  else if (columns == 3)
    for (; row + lanes <= rows; row += lanes)
      hn::StoreInterleaved3(hn::LoadU(d, a + row), hn::LoadU(d, b + row), hn::LoadU(d, c + row), d, all.to + 3 * row);
  else
    for (; row + lanes <= rows; row += lanes)
      hn::StoreInterleaved4(hn::LoadU(d, a + row), hn::LoadU(d, b + row), hn::LoadU(d, c + row), hn::LoadU(d, e + row),
                            d, all.to + 4 * row);
  return row;
}
/// Fewer columns than a block has, whose rows follow each other: what whole rows of blocks write beyond a row, the next
/// one overwrites. Gives how many rows it wrote.
template <class T, class Columns>
HWY_INLINE int64_t overlap_columns(Transposition<T, Columns> all, int64_t rows, int64_t columns) {
  constexpr int64_t kRows = kBlockRows<T>, kColumns = kBlockColumns<T>;
  alignas(64) T block[kRows * kColumns];
  int64_t row = 0;
  for (; (row + kRows - 1) * columns + kColumns <= rows * columns; row += kRows) {
    transpose_block<kColumns>(block, kColumns,
                              [&](int64_t i) HWY_ATTR { return all.columns[std::min(i, columns - 1)] + row; });
    for (int64_t i = 0; i < kRows; ++i)
      std::memcpy(all.to + (row + i) * columns, block + i * kColumns, kColumns * sizeof(T));
  }
  return row;
}
template <class T, class Columns>
HWY_INLINE void transpose_few_columns(Transposition<T, Columns> all, int64_t rows, int64_t columns) {
  int64_t row = 0;
  if (all.out_stride == columns && columns > 1 && rows >= kBlockRows<T>)
    row = columns <= 4 ? interleave_columns(all, rows, columns) : overlap_columns(all, rows, columns);
  transpose_plain(all, row, rows, 0, columns);
}

// Columns of so many bytes come from beyond the caches: each is read before its turn. Nearer ones would take longer for
// it. Bench: ./dev bench --sweep, transposed.
constexpr int64_t kFarRows = 512;
template <class T, class Columns>
HWY_INLINE void prefetch_columns(Transposition<T, Columns> all, int64_t first, int64_t count, int64_t rows) {
  for (int64_t column = first; column < first + count; ++column)
    for (int64_t row = 0; row < rows; row += 64 / static_cast<int64_t>(sizeof(T)))
      __builtin_prefetch(all.columns[column] + row);
}

/// Whether rows of a result lie beyond the first cache.
template <class T, class Columns>
HWY_INLINE bool has_far_rows(const Transposition<T, Columns>& all, int64_t rows) {
  return rows * all.out_stride * static_cast<int64_t>(sizeof(T)) >= 32 << 10;  // exact: within the result
}
/// Prefetches the lines that follow those of a block of rows. Rows lie far from each other, so the processor does not
/// do it by itself, and stores that cross lines wait for one line after the other: transposed copies of odd sizes took
/// 1.2 to 11 times as long. Bench: ./dev bench --sweep, copies.
template <int64_t kRows, class T>
HWY_INLINE void prefetch_next_lines(const T* end, int64_t out_stride) {
#pragma GCC unroll 16
  for (int64_t row = 0; row < kRows; ++row)
    __builtin_prefetch(end + row * out_stride + 64 / static_cast<int64_t>(sizeof(T)) - 1, 1);
}

/// Columns of two to four elements that follow each other.
template <class T>
HWY_INLINE bool gather_rows(Transposition<T, EvenColumns<T>> all, int64_t rows, int64_t columns) {
  const int64_t stride = all.columns.stride;
  if (stride < 2 || stride > 4 || rows > stride) return false;
  for (int64_t row = 0; row < rows; ++row) {
    T* const to = all.to + row * all.out_stride;
    const T* const from = all.columns.from + row;
    if (stride == 2)
      gather_every<2>(to, from, columns);
    else if (stride == 3)
      gather_every<3>(to, from, columns);
    else
      gather_every<4>(to, from, columns);
  }
  return true;
}
template <class T>
HWY_INLINE bool gather_rows(Transposition<T, ListedColumns<T>>, int64_t, int64_t) {
  return false;
}

/// Fewer rows than a block has: whole blocks are read while that passes no column's end that is the last in memory.
template <class T, class Columns>
HWY_INLINE void transpose_few_rows(Transposition<T, Columns> all, int64_t rows, int64_t columns) {
  constexpr int64_t kRows = kBlockRows<T>, kColumns = kBlockColumns<T>;
  const T* const last = all.columns.last(0, columns) + rows - kRows;
  alignas(64) T block[kRows * kColumns];
  for (int64_t column = 0; column < columns; column += kColumns) {
    const int64_t end = std::min(column + kColumns, columns);
    if (end < column + kColumns || all.columns.last(column, end) > last) {
      transpose_plain(all, 0, rows, column, end);  // NOLINT(readability-suspicious-call-argument): `end` is a column
      continue;
    }
    transpose_block<kColumns>(block, kColumns, [&](int64_t i) HWY_ATTR { return all.columns[column + i]; });
    for (int64_t row = 0; row < rows; ++row)
      std::memcpy(all.to + row * all.out_stride + column, block + row * kColumns, kColumns * sizeof(T));
  }
}
#endif

#if TENON_HAS_SHUFFLES
/// Columns [begin, end). The last blocks overlap those before them.
template <int64_t kColumns, class T, class Columns>
HWY_INLINE void transpose_blocks(Transposition<T, Columns> all, int64_t rows, int64_t begin, int64_t end) {
  constexpr int64_t kRows = kBlockRows<T>;
  const bool is_far = has_far_rows(all, rows);
  for (int64_t i = begin; i < end; i += kColumns) {
    const int64_t column = std::min(i, end - kColumns);
    const auto block = all.columns.template block<kColumns>(column);
    if (rows * static_cast<int64_t>(sizeof(T)) >= kFarRows)
      prefetch_columns(all, std::min(i + 2 * kBlockColumns<T>, end - kColumns), kColumns, rows);
    for (int64_t j = 0; j < rows; j += kRows) {
      const int64_t row = std::min(j, rows - kRows);
      T* const to = all.to + row * all.out_stride + column;
      if (is_far) prefetch_next_lines<kRows>(to + kColumns, all.out_stride);
      transpose_block<kColumns>(to, all.out_stride,
                                [&](int64_t at) HWY_ATTR { return block[static_cast<std::size_t>(at)] + row; });
    }
  }
}
#endif

#if HWY_TARGET == HWY_AVX3
/// Elements of a cache line.
template <class T>
inline constexpr int64_t kLine = 64 / static_cast<int64_t>(sizeof(T));
/// A block as wide and as high as a line: whole lines are read, and whole lines written where rows begin on them.
template <class T, class Column>
HWY_INLINE void transpose_line_block(T* to, int64_t out_stride, const Column& column) {
  constexpr int64_t kSide = kLine<T> / 4;
  const hn::FixedTag<T, kLine<T>> d;
  hn::Vec<decltype(d)> v[4][kSide];
#pragma GCC unroll 4
  for (int64_t square = 0; square < 4; ++square) {
#pragma GCC unroll 8
    for (int64_t i = 0; i < kSide; ++i) v[square][i] = hn::LoadU(d, column(square * kSide + i));
    interleave_squares(d, v[square]);
  }
#pragma GCC unroll 8
  for (int64_t i = 0; i < kSide; ++i) transpose_four_blocks(v[0][i], v[1][i], v[2][i], v[3][i]);
#pragma GCC unroll 4
  for (int64_t square = 0; square < 4; ++square)
#pragma GCC unroll 8
    for (int64_t i = 0; i < kSide; ++i) hn::StoreU(v[square][i], d, to + (square * kSide + i) * out_stride);
}
// Results of fewer columns took a fifth longer than with smaller blocks beyond the caches. Bench: ./dev bench --sweep,
// transposed.
constexpr int64_t kLinesColumns = 128;
/// Blocks of lines: at least kLine rows, a multiple of kLine columns. The last blocks overlap those before them.
template <class T, class Columns>
HWY_INLINE void transpose_lines(Transposition<T, Columns> all, int64_t rows, int64_t columns) {
  const bool is_far = has_far_rows(all, rows);
  for (int64_t column = 0; column < columns; column += kLine<T>) {
    const auto block = all.columns.template block<kLine<T>>(column);
    if (rows * static_cast<int64_t>(sizeof(T)) >= kFarRows && column + 2 * kLine<T> <= columns)
      prefetch_columns(all, column + kLine<T>, kLine<T>, rows);
    for (int64_t j = 0; j < rows; j += kLine<T>) {
      const int64_t row = std::min(j, rows - kLine<T>);
      T* const to = all.to + row * all.out_stride + column;
      if (is_far) prefetch_next_lines<kLine<T>>(to + kLine<T>, all.out_stride);
      transpose_line_block(to, all.out_stride,
                           [&](int64_t at) HWY_ATTR { return block[static_cast<std::size_t>(at)] + row; });
    }
  }
}
#endif

template <class T, class Columns>
void transpose_columns(Transposition<T, Columns> all, int64_t rows, int64_t columns) {
#if TENON_HAS_SHUFFLES
  if constexpr (sizeof(T) <= 8) {
    constexpr int64_t kColumns = kBlockColumns<T>, kWide = kWideColumns<T>;
    if (columns < kColumns) return transpose_few_columns(all, rows, columns);
    if (gather_rows(all, rows, columns)) return;
    if (rows < kBlockRows<T> && rows > 1) return transpose_few_rows(all, rows, columns);
    if (rows > 1) {
      int64_t whole = kWide > kColumns ? columns / kWide * kWide : 0;
#if HWY_TARGET == HWY_AVX3
      if constexpr (sizeof(T) >= 2)
        if (rows >= kLine<T> && columns >= kLinesColumns) {
          transpose_lines(all, rows, whole = columns / kLine<T> * kLine<T>);
          return transpose_blocks<kColumns>(all, rows, whole, columns);
        }
#endif
      if constexpr (kWide > kColumns) transpose_blocks<kWide>(all, rows, 0, whole);
      return transpose_blocks<kColumns>(all, rows, whole, columns);
    }
  } else if constexpr (kLargeSide > 1) {
    if (rows >= kLargeSide && columns >= kLargeSide) return transpose_blocks<kLargeSide>(all, rows, 0, columns);
  }
#endif
  transpose_plain(all, 0, rows, 0, columns);
}

template <class T>
void transpose(void* out, int64_t out_stride, const void* in, int64_t stride, int64_t rows, int64_t columns) {
  transpose_columns(
      Transposition<T, EvenColumns<T>>{static_cast<T*>(out), out_stride, {static_cast<const T*>(in), stride}}, rows,
      columns);
}
template <class T>
void transpose_listed(void* out, int64_t out_stride, const void* in, const int64_t* offsets, int64_t rows,
                      int64_t columns) {
  transpose_columns(
      Transposition<T, ListedColumns<T>>{static_cast<T*>(out), out_stride, {static_cast<const T*>(in), offsets}}, rows,
      columns);
}

template <class T>
void pick(void* out, const void* in, const int32_t* offsets, int64_t n) {
  T* HWY_RESTRICT to = static_cast<T*>(out);
  const T* HWY_RESTRICT from = static_cast<const T*>(in);
#pragma GCC unroll 8
  for (int64_t i = 0; i < n; ++i) to[i] = from[offsets[i]];
}

// --- Reversing

#if TENON_HAS_SHUFFLES
/// At least one vector of `d`. The last vector overlaps the one before.
template <class D, class T>
HWY_INLINE void reverse_vectors(D d, T* HWY_RESTRICT to, const T* HWY_RESTRICT from, int64_t n) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  const auto move = [&](int64_t i) {
    const auto vector = hn::LoadU(d, from + n - lanes - i);
    if constexpr (sizeof(T) == 1) {
      const hn::Repartition<uint16_t, D> pairs;
      const auto reversed = hn::Reverse(pairs, hn::BitCast(pairs, vector));
      const auto swapped = hn::Or(hn::ShiftLeft<8>(reversed), hn::ShiftRight<8>(reversed));
      hn::StoreU(hn::BitCast(d, swapped), d, to + i);
    } else {
      hn::StoreU(hn::Reverse(d, vector), d, to + i);
    }
  };
  for (int64_t i = 0; i + lanes <= n; i += lanes) move(i);
  move(n - lanes);
}
#endif

template <class T>
HWY_INLINE void reverse_row(T* HWY_RESTRICT to, const T* HWY_RESTRICT from, int64_t n) {
#if TENON_HAS_SHUFFLES
  if constexpr (sizeof(T) <= 8) {
    const hn::ScalableTag<T> d;
    const hn::CappedTag<T, 16 / sizeof(T)> small;
    if (n >= static_cast<int64_t>(hn::Lanes(d))) return reverse_vectors(d, to, from, n);
    if (n >= static_cast<int64_t>(hn::Lanes(small))) return reverse_vectors(small, to, from, n);
  }
#endif
  for (int64_t i = 0; i < n; ++i) to[i] = from[n - 1 - i];
}

template <class T>
void reverse(void* out, const void* in, int64_t n, int64_t rows) {
  T* to = static_cast<T*>(out);
  const T* from = static_cast<const T*>(in);
  int64_t row = 0;
#if TENON_HAS_SHUFFLES
  const int64_t width = static_cast<int64_t>(sizeof(T)), bytes = n * width;
  if (sizeof(T) <= 8 && bytes <= 16 && rows > 1)
    row = shuffle_rows<false>(static_cast<uint8_t*>(out), static_cast<const uint8_t*>(in), bytes, bytes, rows,
                              [&](int64_t group, int64_t byte) {
                                const int64_t place = byte % width;
                                return group * bytes + (bytes - width) - (byte - place) + place;
                              });
#endif
  for (; row < rows; ++row) reverse_row(to + row * n, from + row * n, n);
}

void reverse_rows(void* out, const void* in, int64_t bytes, int64_t rows) {
  uint8_t* to = static_cast<uint8_t*>(out);
  const uint8_t* from = static_cast<const uint8_t*>(in) + (rows - 1) * bytes;
  int64_t row = 0;
#if TENON_HAS_SHUFFLES
  if (bytes <= 16)
    row = shuffle_rows<true>(to, static_cast<const uint8_t*>(in), bytes, bytes, rows,
                             [&](int64_t group, int64_t byte) { return 16 - (group + 1) * bytes + byte; });
#endif
  copy_rows(ByteRows{to + row * bytes, bytes, from - row * bytes, -bytes, bytes, rows - row});
}

template <class T>
void interleave(void* out, const void* even, const void* odd, int64_t n) {
  T* HWY_RESTRICT to = static_cast<T*>(out);
  const T* HWY_RESTRICT a = static_cast<const T*>(even);
  const T* HWY_RESTRICT b = static_cast<const T*>(odd);
  int64_t i = 0;
#if TENON_HAS_SHUFFLES
  const hn::CappedTag<T, 32 / sizeof(T)> d;
  constexpr auto kLanes = static_cast<int64_t>(hn::MaxLanes(d));
  for (; i + kLanes <= n; i += kLanes) hn::StoreInterleaved2(hn::LoadU(d, a + i), hn::LoadU(d, b + i), d, to + 2 * i);
#endif
  for (; i < n; ++i) to[2 * i] = a[i], to[2 * i + 1] = b[i];
}

template <class T>
constexpr MoveKernels move_kernels() {
  MoveKernels all{&gather<T>,           &gather_far<T>,  &scatter<T>, &repeat<T>,  &fill<T>, &transpose<T>,
                  &transpose_listed<T>, &copy_listed<T>, &pick<T>,    &reverse<T>, nullptr};
  if constexpr (std::is_integral_v<T>) all.interleave = &interleave<T>;
  return all;
}

void fill_moves(KernelTable& table) {
  table.move[0] = move_kernels<uint8_t>();
  table.move[1] = move_kernels<uint16_t>();
  table.move[2] = move_kernels<uint32_t>();
  table.move[3] = move_kernels<uint64_t>();
  table.move[4] = move_kernels<Complex128>();
  table.reverse_rows = &reverse_rows;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
