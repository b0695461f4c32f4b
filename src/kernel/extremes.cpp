// kernel: amax and amin of 8-bit and 16-bit elements, as the largest of unsigned numbers of the same order. Dtypes of
// one size share their code. Bench: ./dev bench --sweep, reductions.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/extremes.cpp"
#include "hwy/foreach_target.h"
#include "kernel/cells-inl.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// 16-bit floats from -infinity on to infinity and NaN. For minima the sign is flipped.
struct HalfKeys {
  using U = uint16_t;
  uint16_t flip, nans;  // so many NaN have the same sign
  template <class D>
  HWY_INLINE hn::Vec<D> of(D d, hn::Vec<D> lanes) const {
    const auto bits = hn::Xor(lanes, hn::Set(d, flip));
    // NaN with a sign would be below -infinity: they wrap around.
    return hn::Sub(hn::Xor(bits, hn::Or(sign_of(d, bits), hn::Set(d, 0x8000))), hn::Set(d, nans));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> back(D d, hn::Vec<D> keys) const {
    const auto order = hn::Add(keys, hn::Set(d, nans));
    const auto bits = hn::Xor(order, hn::Or(hn::Not(sign_of(d, order)), hn::Set(d, 0x8000)));
    return hn::Xor(bits, hn::Set(d, flip));
  }

 private:
  /// The sign in all bits.
  template <class D>
  static HWY_INLINE hn::Vec<D> sign_of(D d, hn::Vec<D> bits) {
    const hn::RebindToSigned<D> number;
    return hn::BitCast(d, hn::ShiftRight<15>(hn::BitCast(number, bits)));
  }
};

/// The largest keys of rows of `n` lanes, one lane after the other.
template <class Keys, class U = typename Keys::U>
HWY_INLINE void fold_lane_by_lane(const Keys& keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows,
                                  bool joins) {
  const hn::CappedTag<U, 1> d;
  for (int64_t i = 0; i < n; ++i, ++from, ++to) {
    auto top = keys.of(d, hn::Set(d, joins ? *to : *from));
    for (int64_t row = joins ? 0 : 1; row < rows; ++row) top = hn::Max(top, keys.of(d, hn::Set(d, from[row * step])));
    *to = hn::GetLane(keys.back(d, top));
  }
}

#if TENON_HAS_VECTORS
template <class Keys>
struct CellExtremes {
  using From = typename Keys::U;
  using To = From;
  static constexpr int64_t kParts = 2;
  static constexpr bool kPairs = false;
  Keys order;
  HWY_INLINE CellVector keys(CellVector raw) const {
    const CellLanes<From> d;
    return hn::BitCast(CellTag(), order.of(d, hn::BitCast(d, raw)));
  }
  HWY_INLINE CellVector part(CellVector keys) const { return keys; }
  HWY_INLINE CellVector join(CellVector a, CellVector b) const {
    const CellLanes<From> d;
    return hn::BitCast(CellTag(), hn::Max(hn::BitCast(d, a), hn::BitCast(d, b)));
  }
  HWY_INLINE void store(To* to, CellVector tops) const { store_cells<uint64_t>(to, tops); }
  /// Of cells that hold a row each.
  template <class Cell>
  HWY_INLINE void store_cells(To* to, CellVector tops) const {
    tops = join_shifted<Cell, sizeof(Cell) / 2>(tops);
    const CellLanes<Cell> d;
    const CellLanes<From> lanes;
    const auto results = hn::BitCast(d, order.back(lanes, hn::BitCast(lanes, tops)));
    const hn::Rebind<To, CellLanes<Cell>> narrow;
    hn::StoreU(hn::TruncateTo(narrow, results), narrow, to);
  }

 private:
  template <class Cell, std::size_t kBytes>
  HWY_INLINE CellVector join_shifted(CellVector tops) const {
    const CellLanes<Cell> d;
    tops = join(tops, hn::BitCast(CellTag(), hn::ShiftRight<8 * kBytes>(hn::BitCast(d, tops))));
    if constexpr (kBytes > sizeof(From))
      return join_shifted<Cell, kBytes / 2>(tops);
    else
      return tops;
  }
};

/// Folds rows without gaps that fit in a Cell. Returns their number; the last ones are left.
template <class Cell, class Keys, class U = typename Keys::U>
HWY_INLINE int64_t fold_cells(const Keys& keys, U* to, const U* from, int64_t n, int64_t rows) {
  constexpr int64_t kInBlock = kCellBlock / static_cast<int64_t>(sizeof(Cell)), kTogether = kInBlock * kCellBlocks;
  constexpr auto kSize = static_cast<int64_t>(sizeof(U));
  const int64_t bytes = n * kSize;
  alignas(kCellBlock) uint8_t places[kCellBlock];
  for (int64_t i = 0; i < kCellBlock; ++i) {
    const auto row = i / static_cast<int64_t>(sizeof(Cell)), place = i % static_cast<int64_t>(sizeof(Cell));
    places[i] = static_cast<uint8_t>(place < bytes ? row * bytes + place : 0x80);
  }
  const auto in_cells = hn::LoadDup128(CellTag(), places);
  const CellExtremes<Keys> fold{keys};
  const int64_t reads = kTogether - kInBlock + (kCellBlock + bytes - 1) / bytes;
  int64_t row = 0;
  for (; row + reads <= rows; row += kTogether) {
    const auto* const block = reinterpret_cast<const uint8_t*>(from + row * n);
    const auto lanes = fold.keys(load_blocks<kCellBlock>(CellTag(), block, kInBlock * bytes));
    fold.template store_cells<Cell>(to + row, hn::TableLookupBytesOr0(lanes, in_cells));
  }
  return row;
}

template <class U>
using WholeLanes = hn::CappedTag<U, 64 / sizeof(U)>;

/// The extreme of a row of at least one vector.
template <class Keys, class U = typename Keys::U>
HWY_INLINE U extreme_of_row(const Keys& keys, const U* from, int64_t n, bool is_far) {
  const WholeLanes<U> d;
  using D = std::remove_const_t<decltype(d)>;
  constexpr int64_t kLanes = hn::MaxLanes(D()), kVectors = 4, kBlock = kVectors * kLanes;
  const auto load = [&](int64_t i) TENON_UNROLLED { return keys.of(d, hn::LoadU(d, from + i)); };
  Vector<D> tops[kVectors];
  tops[0].v = load(n - kLanes);
  unrolled<kVectors - 1>([&](int64_t k) TENON_UNROLLED { tops[k + 1] = tops[0]; });
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    if (is_far) prefetch_ahead(from + i, kBlock);
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { tops[k].v = hn::Max(tops[k].v, load(i + k * kLanes)); });
  }
  for (; i + kLanes <= n; i += kLanes) tops[0].v = hn::Max(tops[0].v, load(i));
  const Vector<D> top = fold_halves<ops::amax, kVectors>(tops);
  const hn::CappedTag<U, 1> one;
  return hn::GetLane(keys.back(one, hn::Set(one, fold_lanes<ops::amax, sizeof(U)>(d, top))));
}
template <class Keys, class U = typename Keys::U>
TENON_ONCE void fold_along(Keys keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows, bool is_far) {
  const int64_t bytes = n * static_cast<int64_t>(sizeof(U));
  if (bytes < (is_far ? kFarCellsBelow : kCellsBelow)) {
    int64_t row = 0;
    if constexpr (sizeof(U) == 1)
      if (step == n && bytes == 2) row = fold_cells<uint16_t>(keys, to, from, n, rows);
    if (step == n && bytes > 2 && bytes <= 8)
      row = bytes <= 4 ? fold_cells<uint32_t>(keys, to, from, n, rows) : fold_cells<uint64_t>(keys, to, from, n, rows);
    const U* const end = from + (rows - 1) * step + n;
    return CellRows(CellExtremes<Keys>{keys}, n, step).run(to + row, from + row * step, rows - row, end, is_far);
  }
  for (int64_t row = 0; row < rows; ++row) to[row] = extreme_of_row(keys, from + row * step, n, is_far);
}

using WholeBytes = hn::CappedTag<uint8_t, 64>;
inline constexpr int64_t kWholeBytes = hn::MaxLanes(WholeBytes());

/// Asks the counted bytes of a vector.
template <bool kAll>
HWY_INLINE bool truth_of_vector(hn::Vec<WholeBytes> bytes, hn::Mask<WholeBytes> counted) {
  const WholeBytes d;
  if constexpr (kAll)
    return hn::AllFalse(d, hn::And(counted, hn::Eq(bytes, hn::Zero(d))));
  else
    return !hn::AllFalse(d, hn::And(counted, hn::Ne(bytes, hn::Zero(d))));
}
/// Folds the vectors of a row of at least one.
template <bool kAll>
HWY_INLINE hn::Vec<WholeBytes> vectors_of_row(const uint8_t* from, int64_t n) {
  const WholeBytes d;
  const auto join = [](auto a, auto b) TENON_UNROLLED { return kAll ? hn::Min(a, b) : hn::Or(a, b); };
  auto bytes = hn::LoadU(d, from);
  for (int64_t i = kWholeBytes; i + kWholeBytes <= n; i += kWholeBytes) bytes = join(bytes, hn::LoadU(d, from + i));
  return join(bytes, hn::LoadU(d, from + n - kWholeBytes));
}

/// amax and amin of rows of bool, which are any and all: a row of a vector or so is two loads and one question.
template <class F, UnsignedKeys<uint8_t> kKeys>
void fold_truth(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  constexpr int64_t kLongBytes = 2048, kShortBytes = 32;
  constexpr bool kAll = std::is_same_v<F, ops::amin>;
  if (n >= kLongBytes) return fold<F, bool>(out, in, n, step, rows, is_far);
  const WholeBytes d;
  auto* to = static_cast<uint8_t*>(out);
  const auto* from = static_cast<const uint8_t*>(in);
  if (n <= kShortBytes) return fold_along(kKeys, to, from, n, step, rows, is_far);
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(std::min(n, kWholeBytes)));
  int64_t row = 0;
  if (n < kWholeBytes) {
    const int64_t room = (rows - 1) * step + n - kWholeBytes;  // behind the first vector
    const int64_t whole = room < 0 ? 0 : step == 0 ? rows : std::min(rows, room / step + 1);
    for (; row < whole; ++row) to[row] = truth_of_vector<kAll>(hn::LoadU(d, from + row * step), counted);
    for (; row < rows; ++row) to[row] = truth_of_vector<kAll>(load_some(d, from + row * step, n), counted);
    return;
  }
  for (; row < rows; ++row) to[row] = truth_of_vector<kAll>(vectors_of_row<kAll>(from + row * step, n), counted);
}

/// Columns that kVectors vectors cover: the last ones end at `n`.
template <int64_t kVectors, class D, class Keys, class U = typename Keys::U>
HWY_INLINE void fold_columns(D d, const Keys& keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows,
                             bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kAtEnd = kVectors > 4 ? 2 : 1;
  const auto place = [&](int64_t k)
                         TENON_UNROLLED { return k < kVectors - kAtEnd ? k * kLanes : n - (kVectors - k) * kLanes; };
  const auto load = [&](const U* row, int64_t k) TENON_UNROLLED { return keys.of(d, hn::LoadU(d, row + place(k))); };
  hn::Vec<D> tops[kVectors];
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { tops[k] = load(joins ? to : from, k); });
  if (!joins) --rows, from += step;
  for (; rows > 0; --rows, from += step)
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { tops[k] = hn::Max(tops[k], load(from, k)); });
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { hn::StoreU(keys.back(d, tops[k]), d, to + place(k)); });
}
/// At least one vector of `d`. A vector overlaps only others that are read before it is stored.
template <class D, class Keys, class U = typename Keys::U>
HWY_INLINE void fold_all_columns(D d, const Keys& keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows,
                                 bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kBlock = 4 * kLanes;
  for (; n > 2 * kBlock; n -= kBlock, to += kBlock, from += kBlock)
    fold_columns<4>(d, keys, to, from, kBlock, step, rows, joins);
  if (n <= kLanes) return fold_columns<1>(d, keys, to, from, n, step, rows, joins);
  if (n <= 2 * kLanes) return fold_columns<2>(d, keys, to, from, n, step, rows, joins);
  if (n <= 3 * kLanes) return fold_columns<3>(d, keys, to, from, n, step, rows, joins);
  if (n <= 4 * kLanes) return fold_columns<4>(d, keys, to, from, n, step, rows, joins);
  if (n <= 6 * kLanes) return fold_columns<6>(d, keys, to, from, n, step, rows, joins);
  fold_columns<8>(d, keys, to, from, n, step, rows, joins);
}
template <class Keys, class U = typename Keys::U>
TENON_ONCE void fold_across(Keys keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows, bool joins) {
  const hn::CappedTag<U, 16 / sizeof(U)> narrow;
  const WholeLanes<U> whole;
  if (n >= static_cast<int64_t>(hn::MaxLanes(whole)))
    return fold_all_columns(whole, keys, to, from, n, step, rows, joins);
  if (n >= static_cast<int64_t>(hn::MaxLanes(narrow)))
    return fold_all_columns(narrow, keys, to, from, n, step, rows, joins);
  fold_lane_by_lane(keys, to, from, n, step, rows, joins);
}

template <class U>
inline constexpr int64_t kJoined = 4 * hn::MaxLanes(WholeLanes<U>());
/// Loads keys.
template <class Keys>
struct KeyLoad {
  using From = typename Keys::U;
  using To = From;
  Keys keys;
  template <class D>
  HWY_INLINE hn::Vec<D> vector(D d, const From* from) const {
    return keys.of(d, hn::LoadU(d, from));
  }
};
/// Folds many short rows without gaps as longer ones, of as many of them as four vectors hold, which are left in
/// `joined`. Returns their number.
template <class Keys, class U = typename Keys::U>
HWY_INLINE int64_t fold_together(const Keys& keys, U* joined, const U* from, int64_t n, int64_t rows) {
  const int64_t together = kJoined<U> / n, width = together * n, whole = rows / together, rest = rows % together;
  fold_across(keys, joined, from, width, width, whole, false);
  if (rest > 0) fold_across(keys, joined, from + whole * width, rest * n, 0, 1, true);
  return together;
}
template <class Keys, class U = typename Keys::U>
TENON_ONCE void fold_blocks(Keys keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows, int64_t jump,
                            int64_t count) {
  const ShortRowLanes<U> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (step == n && n < kJoined<U> / 8 && rows * n >= 4 * kJoined<U>) {
    for (; count > 0; --count, to += n, from += jump) {
      U joined[kJoined<U>];
      fold_blocks(keys, to, joined, n, n, fold_together(keys, joined, from, n, rows), 0, 1);
    }
    return;
  }
  if (n >= kLanes) {
    for (; count > 0; --count, to += n, from += jump) fold_across(keys, to, from, n, step, rows, false);
    return;
  }
  const ShortRows<ops::amax, KeyLoad<Keys>, ShortRowLanes<U>> block(
      n, step, rows, from + (count - 1) * jump + (rows - 1) * step + n, {keys});
  for (U* const last = to + count * n; to != last; to += n, from += jump)
    store_first(d, keys.back(d, block.fold(from).v), to, last - to >= kLanes ? kLanes : n);
}
#else
template <class Keys, class U = typename Keys::U>
void fold_along(Keys keys, U* to, const U* from, int64_t n, int64_t step, int64_t rows, bool) {
  for (int64_t row = 0; row < rows; ++row) fold_lane_by_lane(keys, to + row, from + row * step, 1, 1, n, false);
}
#endif

template <class Keys, Keys kKeys>
struct ExtremeKernels {
  using U = typename Keys::U;
  static void along(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
    fold_along(kKeys, static_cast<U*>(out), static_cast<const U*>(in), n, step, rows, is_far);
  }
#if TENON_HAS_VECTORS
  static void across(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool joins) {
    fold_across(kKeys, static_cast<U*>(out), static_cast<const U*>(in), n, step, rows, joins);
  }
  static void blocks(void* out, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump, int64_t count) {
    fold_blocks(kKeys, static_cast<U*>(out), static_cast<const U*>(in), n, step, rows, jump, count);
  }
#endif
};
template <class Keys, Keys kLargest, Keys kSmallest>
void set_extremes(KernelTable& table, Dtype dtype) {
  const auto set = [&]<class Kernels>(Op op, Kernels) {
    const auto row = static_cast<int>(op), column = static_cast<int>(dtype);
    table.fold[row][column] = &Kernels::along;
#if TENON_HAS_VECTORS
    table.fold_across[row][column] = &Kernels::across;
    table.fold_blocks[row][column] = &Kernels::blocks;
#endif
  };
  set(Op::amax, ExtremeKernels<Keys, kLargest>());
  set(Op::amin, ExtremeKernels<Keys, kSmallest>());
}

void fill_extremes(KernelTable& table) {
#if TENON_HAS_VECTORS
  using Bytes = UnsignedKeys<uint8_t>;
  using Words = UnsignedKeys<uint16_t>;
  set_extremes<Bytes, Bytes{0xFF, 0}, Bytes{0xFF, 0xFF}>(table, uint8);
  set_extremes<Bytes, Bytes{0xFF, 0x80}, Bytes{0xFF, 0x7F}>(table, int8);
  constexpr Bytes kAny{1, 0}, kAll{1, 0xFF};
  set_extremes<Bytes, kAny, kAll>(table, bool_);
  table.fold[static_cast<int>(Op::amax)][static_cast<int>(bool_)] = &fold_truth<ops::amax, kAny>;
  table.fold[static_cast<int>(Op::amin)][static_cast<int>(bool_)] = &fold_truth<ops::amin, kAll>;
  set_extremes<Words, Words{0xFFFF, 0x8000}, Words{0xFFFF, 0x7FFF}>(table, int16);
#endif
  set_extremes<HalfKeys, HalfKeys{0, 0x3FF}, HalfKeys{0x8000, 0x3FF}>(table, float16);
  set_extremes<HalfKeys, HalfKeys{0, 0x7F}, HalfKeys{0x8000, 0x7F}>(table, bfloat16);
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
