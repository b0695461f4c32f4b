// kernel: finds where extremes lie. Those that are known are searched as unsigned numbers, so dtypes of one size share
// their code. Across rows of whole vectors, extremes and their rows are found in one pass.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/place.cpp"
#include "hwy/foreach_target.h"
#include "kernel/columns-inl.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
/// Lanes match if (lane & keep) - low <= span.
template <class D>
class Matcher {
 public:
  using U = hn::TFromD<D>;
  using V = hn::Vec<D>;
  /// `infinite`: see PlaceKernels.
  HWY_INLINE Matcher(D d, V extremes, U infinite) : keep_(hn::Set(d, kAll)), low_(extremes), span_(hn::Zero(d)) {
    if (infinite == 0) return;
    const auto size = hn::Set(d, kSize), sizes = hn::And(extremes, size),
               beyond = hn::Set(d, static_cast<U>(infinite + 1));
    const auto is_nan = hn::Eq(hn::Max(sizes, beyond), sizes), is_zero = hn::Eq(sizes, hn::Zero(d));
    keep_ = hn::IfThenElse(hn::Or(is_nan, is_zero), size, keep_);
    low_ = hn::IfThenElse(is_nan, beyond, hn::IfThenZeroElse(is_zero, extremes));
    span_ = hn::IfThenElseZero(is_nan, hn::Sub(size, beyond));
  }
  /// Whether each of these extremes matches itself only, bit by bit.
  static HWY_INLINE bool is_exact(D d, V extremes, U infinite) {
    const auto beyond = hn::Sub(hn::And(extremes, hn::Set(d, kSize)), hn::Set(d, U{1}));  // of zero the largest
    return hn::AllTrue(d, hn::Eq(hn::Min(beyond, hn::Set(d, static_cast<U>(infinite - 1))), beyond));
  }
  HWY_INLINE hn::Mask<D> operator()(V lanes) const {
    const auto above = hn::Sub(hn::And(lanes, keep_), low_);
    return hn::Eq(hn::Min(above, span_), above);
  }

 private:
  static constexpr U kAll = static_cast<U>(~U{0}), kSize = static_cast<U>(kAll >> 1);
  V keep_, low_, span_;
};
/// The lanes before `end`.
template <class U, class D>
HWY_INLINE hn::Vec<D> load_before(D d, const U* from, const U* end) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  if (end - from >= kLanes) [[likely]]
    return hn::LoadU(d, from);
  return load_some(d, from, end - from);
}

/// Whether lanes match if they are equal to the extreme, bit by bit: it is neither zero nor NaN, or an integer.
template <class U>
HWY_INLINE bool is_exact(U extreme, U infinite) {
  const U size = static_cast<U>(extreme & (static_cast<U>(~U{0}) >> 1));
  return infinite == 0 || (size != 0 && size <= infinite);
}
/// Matches lanes that are equal.
template <class D>
struct Equals {
  hn::Vec<D> extremes;
  HWY_INLINE hn::Mask<D> operator()(hn::Vec<D> lanes) const { return hn::Eq(lanes, extremes); }
};

/// A bit for each lane.
template <class D>
HWY_INLINE uint64_t bits_of(D d, hn::Mask<D> mask) {
  constexpr std::size_t kBytes = (hn::MaxLanes(D()) + 7) / 8;
  std::conditional_t<kBytes == 8, uint64_t,
                     std::conditional_t<kBytes == 4, uint32_t, std::conditional_t<kBytes == 2, uint16_t, uint8_t>>>
      bits = 0;
  hn::StoreMaskBits(d, mask, reinterpret_cast<uint8_t*>(&bits));
  return bits;
}
/// The first match in a run of at least one vector. In few vectors no branch depends on where it is.
template <class U, class D, class Matches>
HWY_INLINE int64_t place_in_run(D d, const Matches& matches, const U* from, int64_t n) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kMany = 4, kFew = 12;
  int64_t i = 0;
  if (n > kFew * kLanes)
    for (; i + kMany * kLanes <= n; i += kMany * kLanes) {
      const auto at = [&](int64_t k) HWY_ATTR { return matches(hn::LoadU(d, from + i + k * kLanes)); };
      if (!hn::AllFalse(d, hn::Or(hn::Or(at(0), at(1)), hn::Or(at(2), at(3))))) break;
    }
  const int64_t end = std::min(n, i + kFew * kLanes);
  constexpr int64_t kTogether = std::min<int64_t>(64 / kLanes, 4);  // vectors of a word of bits
  uint64_t bits = 0;
  int64_t place = 0;
  const auto bits_at = [&](int64_t start) TENON_UNROLLED { return bits_of(d, matches(hn::LoadU(d, from + start))); };
  const auto take = [&](int64_t start, uint64_t found) TENON_UNROLLED {
    const uint64_t none = uint64_t{0} - static_cast<uint64_t>(found == 0);
    bits = (bits & none) | found;
    place += (start - place) & static_cast<int64_t>(~none);
  };
  take(end - kLanes, bits_at(end - kLanes));
  const int64_t vectors = (end - i - 1) / kLanes, words = vectors / kTogether;
  if (vectors % kTogether != 0) {
    const int64_t start = i + words * kTogether * kLanes;
    uint64_t found = bits_at(start);
    unrolled<kTogether - 1>([&](int64_t k) TENON_UNROLLED {
      if (k + 1 < vectors % kTogether) found |= bits_at(start + (k + 1) * kLanes) << ((k + 1) * kLanes % 64);
    });
    take(start, found);
  }
  for (int64_t start = i + (words - 1) * kTogether * kLanes; start >= i; start -= kTogether * kLanes) {
    uint64_t found = 0;
    unrolled<kTogether>([&](int64_t k) TENON_UNROLLED { found |= bits_at(start + k * kLanes) << (k * kLanes); });
    take(start, found);
  }
  return place + static_cast<int64_t>(hwy::Num0BitsBelowLS1Bit_Nonzero64(bits | uint64_t{1} << 63));
}
template <class U, class D>
HWY_INLINE void places_of_runs(D d, int64_t* places, const U* from, const U* extremes, int64_t n, int64_t step,
                               int64_t count, U infinite) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const auto matcher = [&](int64_t run) HWY_ATTR { return Matcher<D>(d, hn::Set(d, extremes[run]), infinite); };
  if (n >= kLanes) {
    for (int64_t run = 0; run < count; ++run, from += step)
      places[run] = is_exact(extremes[run], infinite) ? place_in_run(d, Equals<D>{hn::Set(d, extremes[run])}, from, n)
                                                      : place_in_run(d, matcher(run), from, n);
    return;
  }
  const U* const end = from + (count - 1) * step + n;
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(n));
  for (int64_t run = 0; run < count; ++run, from += step) {
    const auto found = hn::And(counted, matcher(run)(load_before(d, from, end)));
    places[run] = std::max<int64_t>(hn::FindFirstTrue(d, found), 0);
  }
}

/// places[i] = base + rows[i].
template <class U>
TENON_ONCE void set_places(int64_t* places, const U* rows, int64_t n, int64_t base) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) places[i] = base + static_cast<int64_t>(rows[i]);
}
/// The same where rows[i] is not 0.
template <class U>
TENON_ONCE void take_places(int64_t* places, const U* rows, int64_t n, int64_t base) {
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) places[i] = rows[i] != 0 ? base + static_cast<int64_t>(rows[i]) : places[i];
}

/// The most rows that are numbered in lanes, and the number of none.
template <class U>
inline constexpr int64_t kTurn = sizeof(U) == 1 ? 255 : 1 << 14;
template <class U>
inline constexpr U kNone = hwy::LimitsMax<U>();
/// places[i] = base + rows[i] where there is one.
template <class U>
TENON_ONCE void set_found(int64_t* places, const U* rows, int64_t n, int64_t base) {
  for (int64_t i = 0; i < n; ++i)
    if (rows[i] != kNone<U>) places[i] = base + static_cast<int64_t>(rows[i]);
}
/// The row of each lane where rows of `n` lanes lie side by side.
template <class U>
TENON_ONCE void number_rows(U* rows, int64_t n, int64_t lanes) {
  for (int64_t i = 0, row = 0; i < lanes; row += ++i % n == 0) rows[i] = static_cast<U>(row);
}

/// Blocks of rows shorter than a vector. As many rows as fit lie side by side if there are no gaps between them.
template <class U, class D>
class PlacesOfRows {
 public:
  using V = hn::Vec<D>;
  static constexpr int64_t kLanes = hn::MaxLanes(D());
  HWY_INLINE PlacesOfRows(int64_t n, int64_t step, int64_t rows, const U* end, U infinite)
      : n_(n),
        step_(step),
        rows_(rows),
        together_(step == n ? std::min(kLanes / n, rows) : 1),
        end_(end),
        infinite_(infinite),
        repeated_(repeated(n)),
        row_(hn::Zero(D())),
        beyond_(hn::Zero(D())) {
    const D d;
    U lanes[kLanes];
    number_rows(lanes, n, kLanes);
    row_ = hn::LoadU(d, lanes);
    beyond_ = hn::IfThenZeroElse(hn::FirstN(d, static_cast<std::size_t>(together_ * n)), hn::Set(d, kNone<U>));
    for (int64_t left = together_; left > 1; left -= left / 2, ++halvings_) {
      const int64_t half = left / 2;
      shifts_[halvings_] = LaneShift<D>((left - half) * n);
      joined_[halvings_] = hn::FirstN(d, static_cast<std::size_t>(half * n));
    }
  }
  /// The places of a block. Rows beyond the largest lane are found in turns, the last ones first; `found` are the first
  /// lanes of the last turn, and all places if there is one turn.
  HWY_INLINE void find(U* found, int64_t* places, const U* block, const U* extremes) const {
    const D d;
    const V in_each_row = repeat(hn::LoadU(d, extremes));
    const Matcher<D> matches(d, in_each_row, infinite_);
    const bool exact = infinite_ == 0 || matches.is_exact(d, in_each_row, infinite_);
    for (int64_t first = rows_ <= kTurn<U> ? 0 : (rows_ - 1) / kTurn<U> * kTurn<U>; first >= 0; first -= kTurn<U>) {
      const U* const from = block + first * step_;
      const int64_t rows = std::min(rows_ - first, kTurn<U>);
      hn::StoreU(exact ? find_rows(from, rows, Equals<D>{in_each_row}) : find_rows(from, rows, matches), d, found);
      if (rows_ > kTurn<U>) set_found(places, found, n_, first);
    }
  }

 private:
  using Bytes = hn::Repartition<uint8_t, D>;
  static HWY_INLINE auto repeated(int64_t n) {
    if constexpr (sizeof(U) >= 4) {
      alignas(64) hwy::MakeSigned<U> of[kLanes];
      for (int64_t i = 0, lane = 0; i < kLanes; ++i, lane = lane + 1 < n ? lane + 1 : 0)
        of[i] = static_cast<hwy::MakeSigned<U>>(lane);
      return hn::SetTableIndices(D(), of);
    } else {
      constexpr auto kBytes = static_cast<int64_t>(hn::MaxLanes(Bytes())), kSize = static_cast<int64_t>(sizeof(U));
      alignas(16) uint8_t of[kBytes];
      for (int64_t i = 0, byte = 0; i < kBytes; ++i, byte = byte + 1 < n * kSize ? byte + 1 : 0)
        of[i] = static_cast<uint8_t>(byte);
      return hn::Load(Bytes(), of);
    }
  }
  HWY_INLINE V repeat(V v) const {
    if constexpr (sizeof(U) >= 4)
      return hn::TableLookupLanes(v, repeated_);
    else
      return hn::BitCast(D(), hn::TableLookupBytes(hn::BitCast(Bytes(), v), repeated_));
  }
  /// The first of `rows` rows where each lane matches, in the first lanes.
  template <class Matches>
  HWY_INLINE V find_rows(const U* block, int64_t rows, const Matches& matches) const {
    const D d;
    V found = hn::Set(d, kNone<U>);
    const auto look = [&](int64_t row, V lanes) TENON_UNROLLED {
      found = hn::IfThenElse(matches(lanes), hn::Add(hn::Set(d, static_cast<U>(row)), row_), found);
    };
    if (step_ != n_ || rows < together_) {  // one by one: there are gaps, or these are the last ones of many
      for (int64_t row = rows - 1; row >= 0; --row) look(row, load_before(d, block + row * step_, end_));
      return found;
    }
    int64_t row = rows - together_;
    look(row, load_before(d, block + row * n_, end_));
    while (row > 0) {  // a later row follows
      row = std::max<int64_t>(row - together_, 0);
      look(row, hn::LoadU(d, block + row * n_));
    }
    found = hn::Or(found, beyond_);
    for (int i = 0; i < halvings_; ++i)
      found = hn::IfThenElse(joined_[i], hn::Min(found, shifts_[i](Vector<D>{found}).v), found);
    return found;
  }

  int64_t n_, step_, rows_, together_;
  const U* end_;
  U infinite_;
  decltype(repeated(1)) repeated_;
  V row_;     // of each lane, of the rows that lie side by side
  V beyond_;  // all bits of the lanes behind them
  int halvings_ = 0;
  LaneShift<D> shifts_[4] = {LaneShift<D>(0), LaneShift<D>(0), LaneShift<D>(0), LaneShift<D>(0)};
  hn::Mask<D> joined_[4];
};

/// The rows of a vector of columns.
template <class U, class D>
HWY_INLINE void places_of_columns(D d, int64_t* places, const U* from, const U* extremes, int64_t step, int64_t rows,
                                  U infinite) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const Matcher<D> matches(d, hn::LoadU(d, extremes), infinite);
  for (int64_t first = (rows - 1) / kTurn<U> * kTurn<U>; first >= 0; first -= kTurn<U>) {
    auto found = hn::Set(d, kNone<U>);
    for (int64_t row = std::min(rows - first, kTurn<U>) - 1; row >= 0; --row)
      found =
          hn::IfThenElse(matches(hn::LoadU(d, from + (first + row) * step)), hn::Set(d, static_cast<U>(row)), found);
    U lanes[kLanes];
    hn::StoreU(found, d, lanes);
    set_found(places, lanes, kLanes, first);
  }
}
template <class U>
void find_in_blocks(int64_t* places, const void* in, const void* extremes, int64_t n, int64_t step, int64_t rows,
                    int64_t jump, int64_t count, uint64_t infinite) {
  const ShortRowLanes<U> d;
  constexpr int64_t kLanes = hn::MaxLanes(d), kMany = 512;
  const U *from = static_cast<const U*>(in), *of = static_cast<const U*>(extremes);
  const auto infinity = static_cast<U>(infinite);
  const bool is_direct = n >= kLanes || rows > kTurn<U>;
  if (is_direct) std::memset(places, 0, static_cast<std::size_t>(count * n) * sizeof(int64_t));
  if (n >= kLanes) {  // the last vector overlaps the one before
    for (; count > 0; --count, places += n, of += n, from += jump)
      for (int64_t i = 0; i < n; i += kLanes) {
        const int64_t start = std::min(i, n - kLanes);
        places_of_columns(d, places + start, from + start, of + start, step, rows, infinity);
      }
    return;
  }
  const PlacesOfRows<U, ShortRowLanes<U>> rows_of(n, step, rows, from + (count - 1) * jump + (rows - 1) * step + n,
                                                  infinity);
  U found[kMany + kLanes];
  for (int64_t blocks = 0; count > 0; count -= blocks, places += blocks * n) {
    blocks = std::min(count, kMany / n);
    for (int64_t i = 0; i < blocks * n; i += n, of += n, from += jump) rows_of.find(found + i, places + i, from, of);
    if (!is_direct) set_places(places, found, blocks * n, 0);
  }
}

template <class U>
using WholeLanes = hn::CappedTag<U, 64 / sizeof(U)>;
template <class U>
void find_along(int64_t* places, const void* in, const void* extremes, int64_t n, int64_t step, int64_t count,
                uint64_t infinite) {
  places_of_runs(WholeLanes<U>(), places, static_cast<const U*>(in), static_cast<const U*>(extremes), n, step, count,
                 static_cast<U>(infinite));
}

/// Numbers of which the largest is searched: see PlaceOrder.
template <class T>
struct Numbers {
  using Lane = T;
  PlaceOrder order;
  template <class D>
  HWY_INLINE hn::Vec<D> of(D d, hn::Vec<D> elements) const {
    const hn::RebindToUnsigned<D> bits;
    const auto flip = hn::Set(bits, static_cast<hn::TFromD<decltype(bits)>>(order.flip));
    auto lanes = hn::BitCast(bits, elements);
    if constexpr (sizeof(T) == 1) lanes = hn::Min(lanes, hn::Set(bits, order.most));
    return hn::BitCast(d, hn::Xor(lanes, flip));
  }
  template <class D>
  HWY_INLINE hn::Mask<D> beyond(D, hn::Vec<D> v, hn::Vec<D> best) const {
    if constexpr (std::is_floating_point_v<T>)
      return hn::AndNot(hn::Le(v, best), hn::Eq(best, best));
    else
      return hn::Gt(v, best);
  }
};
/// 16-bit floats as integers of the same order: zeros are equal, NaN is the largest.
struct HalfNumbers {
  using Lane = int16_t;
  PlaceOrder order;
  template <class D>
  HWY_INLINE hn::Vec<D> of(D d, hn::Vec<D> elements) const {
    const auto bits = hn::Xor(elements, hn::Set(d, static_cast<int16_t>(order.flip)));
    const auto sign = hn::ShiftRight<15>(bits), size = hn::And(bits, hn::Set(d, INT16_MAX));
    const auto is_nan = hn::Gt(size, hn::Set(d, static_cast<int16_t>(order.infinite)));
    return hn::IfThenElse(is_nan, hn::Set(d, INT16_MAX), hn::Sub(hn::Xor(size, sign), sign));
  }
  template <class D>
  HWY_INLINE hn::Mask<D> beyond(D, hn::Vec<D> v, hn::Vec<D> best) const {
    return hn::Gt(v, best);
  }
};

/// Of columns that kVectors vectors cover, of which the last one ends at `n`.
template <int64_t kVectors, class Keys, class D>
HWY_INLINE void search_columns(D d, const Keys& keys, int64_t* places, hn::TFromD<D>* best, const hn::TFromD<D>* from,
                               int64_t n, int64_t step, int64_t rows, int64_t first, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const hn::RebindToUnsigned<D> du;
  using U = hn::TFromD<decltype(du)>;
  const auto place = [&](int64_t k) TENON_UNROLLED { return k < kVectors - 1 ? k * kLanes : n - kLanes; };
  hn::Vec<D> top[kVectors];
  hn::Vec<decltype(du)> at[kVectors];  // rows are counted from 1; 0: none of these
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
    top[k] = joins ? hn::LoadU(d, best + place(k)) : keys.of(d, hn::LoadU(d, from + place(k)));
    at[k] = hn::Set(du, joins ? 0 : 1);
  });
  for (int64_t row = joins ? 0 : 1; row < rows; ++row) {
    const auto number = hn::Set(du, static_cast<U>(row + 1));
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
      const auto v = keys.of(d, hn::LoadU(d, from + row * step + place(k)));
      const auto wins = keys.beyond(d, v, top[k]);
      top[k] = hn::IfThenElse(wins, v, top[k]);
      at[k] = hn::IfThenElse(hn::RebindMask(du, wins), number, at[k]);
    });
  }
  alignas(64) U lanes[kVectors * kLanes];
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
    hn::StoreU(top[k], d, best + place(k));
    hn::StoreU(at[k], du, lanes + place(k));
  });
  joins ? take_places(places, lanes, n, first - 1) : set_places(places, lanes, n, first - 1);
}
/// Of at least one vector of columns. A vector overlaps only others that are read before it is stored.
template <class Keys, class D>
HWY_INLINE void search_all_columns(D d, const Keys& keys, int64_t* places, hn::TFromD<D>* best,
                                   const hn::TFromD<D>* from, int64_t n, int64_t step, int64_t rows, int64_t first,
                                   bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  int64_t i = 0;
  const auto search = [&]<int64_t kVectors>(int64_t width) TENON_UNROLLED {
    search_columns<kVectors>(d, keys, places + i, best + i, from + i, width, step, rows, first, joins);
    i += width;
  };
  while (n - i > 4 * kLanes)  // NOLINT(bugprone-infinite-loop): `search` adds to i
    n - i >= 5 * kLanes ? search.template operator()<4>(4 * kLanes) : search.template operator()<3>(3 * kLanes);
  if (n - i > 3 * kLanes) return search.template operator()<4>(n - i);
  if (n - i > 2 * kLanes) return search.template operator()<3>(n - i);
  if (n - i > kLanes) return search.template operator()<2>(n - i);
  search.template operator()<1>(n - i);
}
template <class Keys>
void search_across(int64_t* places, void* best, const void* in, int64_t n, int64_t step, int64_t rows, int64_t first,
                   bool joins, PlaceOrder order) {
  using T = typename Keys::Lane;
  const WholeLanes<T> whole;
  const Keys keys{order};
  T* const to = static_cast<T*>(best);
  const T* const from = static_cast<const T*>(in);
  if constexpr (hn::MaxLanes(whole) > 16) {
    const hn::CappedTag<T, 16> narrow;
    if (n < static_cast<int64_t>(hn::MaxLanes(whole)))
      return search_all_columns(narrow, keys, places, to, from, n, step, rows, first, joins);
  }
  search_all_columns(whole, keys, places, to, from, n, step, rows, first, joins);
}

/// Rows of a few elements, as many together as a vector has lanes.
template <class Keys>
class ShortRowPlaces {
 public:
  using T = typename Keys::Lane;
  ShortRowPlaces(const Keys& keys, int64_t n, int64_t step) : keys_(keys), n_(n), step_(step) {}

  /// See PlaceKernels::rows.
  void run(int64_t* places, T* best, const T* from, int64_t rows) const {
    const T* const end = from + (rows - 1) * step_ + n_;
    const int64_t reads = Of::reads(n_, step_);
    for (; rows >= kRows && end - from >= reads; rows -= kRows, places += kRows, from += kRows * step_) {
      find(places, best, from, step_);
      if (best) best += kRows;
    }
    for (int64_t count = 0; rows > 0; rows -= count, places += count, from += count * step_) {
      count = std::min(rows, kRows);
      find_last(places, best, from, count);
      if (best) best += count;
    }
  }

 private:
  using D = std::remove_const_t<decltype(WholeLanes<T>())>;
  using Of = Columns<D>;
  using V = typename Of::V;
  static constexpr int64_t kRows = Of::kRows, kColumns = Of::kBlock;

  /// Leaves the most extreme of `kCount` in the first lanes.
  template <int64_t kCount, class Places>
  HWY_INLINE void take_winners(V (&columns)[kColumns], Places (&places)[kColumns]) const {
    if constexpr (kCount > 1) {
      const D d;
      const hn::RebindToUnsigned<D> du;
      unrolled<kCount / 2>([&](int64_t k) TENON_UNROLLED {
        const auto wins = keys_.beyond(d, columns[2 * k + 1], columns[2 * k]);
        places[k] = hn::IfThenElse(hn::RebindMask(du, wins), places[2 * k + 1], places[2 * k]);
        columns[k] = hn::IfThenElse(wins, columns[2 * k + 1], columns[2 * k]);
      });
      take_winners<kCount / 2>(columns, places);
    }
  }
  HWY_NOINLINE void find(int64_t* places, T* best, const T* from, int64_t step) const {
    const D d;
    const hn::RebindToUnsigned<D> du;
    using U = hn::TFromD<decltype(du)>;
    V top = hn::Zero(d);
    auto at = hn::Zero(du);
    // Neighbours are compared first, then winners: few comparisons wait for the one before. Of equal ones the first
    // wins, so columns may come twice.
    Of::each_block(from, step, n_, [&](int64_t first, V(&columns)[kColumns]) TENON_UNROLLED {
      unrolled<kColumns>([&](int64_t k) TENON_UNROLLED {
        columns[k] = Of::place_in_block(k, n_) < n_ ? keys_.of(d, columns[k]) : columns[0];
      });
      hn::Vec<decltype(du)> places_of[kColumns];
      unrolled<kColumns>([&](int64_t k)
                             TENON_UNROLLED { places_of[k] = hn::Set(du, static_cast<U>(Of::place_in_block(k, n_))); });
      take_winners<kColumns>(columns, places_of);
      const auto place = hn::Add(places_of[0], hn::Set(du, static_cast<U>(first)));
      const auto wins = first == 0 ? hn::FirstN(d, kRows) : keys_.beyond(d, columns[0], top);
      top = hn::IfThenElse(wins, columns[0], top);
      at = hn::IfThenElse(hn::RebindMask(du, wins), place, at);
    });
    store_wide(du, at, places);
    if (best) hn::StoreU(top, d, best);
  }
  /// Of `count` rows, behind which nothing may be read.
  HWY_NOINLINE void find_last(int64_t* places, T* best, const T* from, int64_t count) const {
    const typename Of::template LastRows<kSearchedRows> copied(from, n_, step_, count);
    T tops[kRows];
    int64_t found[kRows];
    find(found, tops, copied.data(), n_);
    std::memcpy(places, found, static_cast<std::size_t>(count) * sizeof(int64_t));
    if (best) std::memcpy(best, tops, static_cast<std::size_t>(count) * sizeof(T));
  }
  template <class Lanes>
  static HWY_INLINE void store_wide(Lanes d, hn::Vec<Lanes> v, int64_t* to) {
    if constexpr (sizeof(hn::TFromD<Lanes>) == sizeof(int64_t)) {
      hn::StoreU(v, d, reinterpret_cast<uint64_t*>(to));
    } else {
      const hn::Half<Lanes> half;
      const hn::Rebind<hwy::MakeWide<hn::TFromD<Lanes>>, decltype(half)> wide;
      store_wide(wide, hn::PromoteTo(wide, hn::LowerHalf(half, v)), to);
      store_wide(wide, hn::PromoteTo(wide, hn::UpperHalf(half, v)), to + hn::MaxLanes(wide));
    }
  }

  Keys keys_;
  int64_t n_, step_;
};
template <class Keys>
void find_in_rows(int64_t* places, void* best, const void* in, int64_t n, int64_t step, int64_t rows,
                  PlaceOrder order) {
  using T = typename Keys::Lane;
  ShortRowPlaces<Keys>({order}, n, step).run(places, static_cast<T*>(best), static_cast<const T*>(in), rows);
}

template <class Keys>
void set_places_of(KernelTable& table, Dtype dtype) {
  using U = hwy::MakeUnsigned<typename Keys::Lane>;
  table.place[static_cast<int>(dtype)] = {&find_along<U>, &find_in_blocks<U>, &search_across<Keys>,
                                          &find_in_rows<Keys>};
}
void fill_places(KernelTable& table) {
  for (const Dtype dtype : {uint8, int8, bool_}) set_places_of<Numbers<int8_t>>(table, dtype);
  for (const Dtype dtype : {float16, bfloat16}) set_places_of<HalfNumbers>(table, dtype);
  set_places_of<Numbers<int16_t>>(table, int16);
  set_places_of<Numbers<int32_t>>(table, int32);
  set_places_of<Numbers<int64_t>>(table, int64);
  set_places_of<Numbers<float>>(table, float32);
  set_places_of<Numbers<double>>(table, float64);
}
#else
void fill_places(KernelTable&) {}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
