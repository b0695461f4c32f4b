// kernel: sums of bytes, bool, int16 and int32 in int64, of lanes as they lie in memory. Lanes are added as unsigned
// numbers, signed ones 2^(bits - 1) larger than they are; neighbours share a lane of twice the width. Dtypes of one
// size share their code. Bench: ./dev bench --sweep, reductions of integers.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/integer_sums.cpp"
#include "hwy/foreach_target.h"
#include "kernel/cells-inl.h"
#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
/// How lanes become unsigned numbers.
template <class U>
struct Numbers : UnsignedKeys<U> {
  template <class D>
  HWY_INLINE hn::Vec<D> load(D d, const U* from) const {
    return this->of(d, hn::LoadU(d, from));
  }
  /// What `count` numbers are too large by.
  int64_t excess(int64_t count) const { return static_cast<int64_t>(this->flip) * count; }
};

/// The lanes of half the number that hold two neighbours.
template <class D>
using Doubled = hn::Repartition<hwy::MakeWide<hn::TFromD<D>>, D>;
template <class D>
HWY_INLINE hn::Vec<Doubled<D>> evens(D, hn::Vec<D> v) {
  const Doubled<D> pairs;
  return hn::And(hn::BitCast(pairs, v), hn::Set(pairs, hwy::LimitsMax<hn::TFromD<D>>()));
}
template <class D>
HWY_INLINE hn::Vec<Doubled<D>> odds(D, hn::Vec<D> v) {
  return hn::ShiftRight<8 * sizeof(hn::TFromD<D>)>(hn::BitCast(Doubled<D>(), v));
}
template <class D>
using Sums = hn::Vec<hn::Repartition<uint64_t, D>>;
/// The sums of every eight bytes.
template <class D>
HWY_INLINE Sums<D> sums_of(D d, hn::Vec<D> v) {
  if constexpr (sizeof(hn::TFromD<D>) == 1) {
    return hn::SumsOf8(v);
  } else {
    const auto pairs = hn::Add(evens(d, v), odds(d, v));
    if constexpr (sizeof(hn::TFromD<D>) == 4)
      return pairs;
    else
      return sums_of(Doubled<D>(), pairs);
  }
}

/// The sum of a row of at least one vector.
template <class U, class D>
HWY_INLINE int64_t sum_long_row(D d, Numbers<U> numbers, const U* from, int64_t n, bool is_far) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kBlock = 4 * kLanes;
  const hn::Repartition<uint64_t, D> d64;
  const auto load = [&](int64_t i) TENON_UNROLLED { return sums_of(d, numbers.load(d, from + i)); };
  Sums<D> sums[4];
  unrolled<4>([&](int64_t k) TENON_UNROLLED { sums[k] = hn::Zero(d64); });
  int64_t i = 0;
  for (; i + kBlock <= n; i += kBlock) {
    if (is_far) prefetch_ahead(from + i, kBlock);
    unrolled<4>([&](int64_t k) TENON_UNROLLED { sums[k] = hn::Add(sums[k], load(i + k * kLanes)); });
  }
  for (; i + kLanes <= n; i += kLanes) sums[0] = hn::Add(sums[0], load(i));
  if (i < n)
    sums[1] = hn::Add(sums[1], sums_of(d, hn::IfThenZeroElse(hn::FirstN(d, static_cast<std::size_t>(kLanes - (n - i))),
                                                             numbers.load(d, from + n - kLanes))));
  const auto sum = hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3]));
  return static_cast<int64_t>(hn::GetLane(hn::SumOfLanes(d64, sum))) - numbers.excess(n);
}

/// Sums of narrow rows, each in two lanes of 64 bits.
template <class U>
struct CellSums {
  using From = U;
  using To = int64_t;
  static constexpr int64_t kParts = 2;
  static constexpr bool kPairs = true;
  Numbers<U> numbers;
  int64_t excess;
  HWY_INLINE CellVector keys(CellVector raw) const {
    const CellLanes<U> d;
    return hn::BitCast(CellTag(), numbers.of(d, hn::BitCast(d, raw)));
  }
  HWY_INLINE CellVector part(CellVector keys) const {
    const CellLanes<U> d;
    return hn::BitCast(CellTag(), sums_of(d, hn::BitCast(d, keys)));
  }
  HWY_INLINE CellVector join(CellVector a, CellVector b) const {
    const CellLanes<uint64_t> d;
    return hn::BitCast(CellTag(), hn::Add(hn::BitCast(d, a), hn::BitCast(d, b)));
  }
  HWY_INLINE void store(int64_t* to, CellVector sums) const {
    const CellLanes<int64_t> d;
    hn::StoreU(hn::Sub(hn::BitCast(d, sums), hn::Set(d, excess)), d, to);
  }
};

/// Sums rows: see FoldKernel.
template <class U>
TENON_ONCE void sum_rows(Numbers<U> numbers, int64_t* to, const U* from, int64_t n, int64_t step, int64_t rows,
                         bool is_far) {
  const hn::CappedTag<U, 64 / sizeof(U)> whole;
  if (n * static_cast<int64_t>(sizeof(U)) < (is_far ? kFarCellsBelow : kCellsBelow))
    return CellRows(CellSums<U>{numbers, numbers.excess(n)}, n, step)
        .run(to, from, rows, from + (rows - 1) * step + n, is_far);
  for (int64_t row = 0; row < rows; ++row) to[row] = sum_long_row(whole, numbers, from + row * step, n, is_far);
}

/// So many rows are added before a lane of twice the width overflows.
template <class U>
inline constexpr int64_t kRowsOfDoubled = int64_t{1} << std::min<std::size_t>(8 * sizeof(U), 30);

/// Adds sums that are `excess` too large.
template <class Wide>
TENON_ONCE void add_sums(int64_t* to, const Wide* sums, int64_t n, int64_t excess, bool joins) {
  if (!joins) std::memset(to, 0, static_cast<std::size_t>(n) * sizeof(int64_t));
  TENON_INDEPENDENT
  for (int64_t i = 0; i < n; ++i) to[i] += static_cast<int64_t>(sums[i]) - excess;
}

/// Adds `rows` rows of kVectors vectors, at most kRowsOfDoubled, to columns [skip, kVectors * lanes). From the row
/// `whole` on only the first `n` lanes may be read.
template <int64_t kVectors, class U, class D>
HWY_INLINE void sum_columns_of(D d, Numbers<U> numbers, int64_t* to, const U* from, int64_t step, int64_t rows,
                               bool joins, int64_t skip, int64_t n, int64_t whole) {
  using Wide = hwy::MakeWide<U>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const Doubled<D> pairs;
  hn::Vec<Doubled<D>> even[kVectors], odd[kVectors];
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { even[k] = odd[k] = hn::Zero(pairs); });
  const auto add = [&](const U* row) TENON_UNROLLED {
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
      const auto lanes = numbers.load(d, row + k * kLanes);
      even[k] = hn::Add(even[k], evens(d, lanes));
      odd[k] = hn::Add(odd[k], odds(d, lanes));
    });
  };
  int64_t row = 0;
  for (; row < whole; ++row) add(from + row * step);
  for (; row < rows; ++row) {
    U lanes[kVectors * kLanes] = {};
    std::memcpy(lanes, from + row * step, static_cast<std::size_t>(n) * sizeof(U));
    add(lanes);
  }
  alignas(64) Wide sums[kVectors * kLanes];
  unrolled<kVectors>([&](int64_t k)
                         TENON_UNROLLED { hn::StoreInterleaved2(even[k], odd[k], pairs, sums + k * kLanes); });
  add_sums(to + skip, sums + skip, std::min(n, kVectors * kLanes) - skip, numbers.excess(rows), joins);
}
/// Columns [first, n), a vector at a time. From the row `whole` on only `n` lanes may be read.
template <class U, class D>
HWY_INLINE void sum_columns_from(int64_t first, D d, Numbers<U> numbers, int64_t* to, const U* from, int64_t n,
                                 int64_t step, int64_t rows, bool joins, int64_t whole) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for (int64_t i = first; i < n; i += kLanes) {
    // The last vector overlaps the one before.
    const int64_t start = n < kLanes ? 0 : std::min(i, n - kLanes);
    sum_columns_of<1>(d, numbers, to + start, from + start, step, rows, joins, i - start, n, whole);
  }
}
/// Sums rows lane by lane: see FoldAcrossKernel. `end`: of what may be read.
template <class U>
TENON_ONCE void sum_across(Numbers<U> numbers, int64_t* to, const U* from, int64_t n, int64_t step, int64_t rows,
                           bool joins, const U* end) {
  const hn::CappedTag<U, 64 / sizeof(U)> whole;
  const hn::FixedTag<U, 16 / sizeof(U)> d;
  constexpr int64_t kWhole = hn::MaxLanes(whole), kLanes = hn::MaxLanes(d), kMany = 4;
  for (int64_t count = 0; rows > 0; rows -= count, from += count * step, joins = true) {
    count = std::min(rows, kRowsOfDoubled<U>);
    if (n >= kWhole) {
      int64_t i = 0;
      for (; i + kMany * kWhole <= n; i += kMany * kWhole)
        sum_columns_of<kMany>(whole, numbers, to + i, from + i, step, count, joins, 0, n, count);
      sum_columns_from(i, whole, numbers, to, from, n, step, count, joins, count);
      continue;
    }
    const int64_t room = end - from - kLanes;  // behind the first vector
    const int64_t readable = room < 0 ? 0 : step == 0 ? count : std::min(count, room / step + 1);
    sum_columns_from(0, d, numbers, to, from, n, step, count, joins, n < kLanes ? readable : count);
  }
}

template <class U, U kMost, U kFlip>
void sums_along(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  sum_rows<U>({kMost, kFlip}, static_cast<int64_t*>(out), static_cast<const U*>(in), n, step, rows, is_far);
}
template <class U, U kMost, U kFlip>
void sums_across(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool joins) {
  const U* const from = static_cast<const U*>(in);
  sum_across<U>({kMost, kFlip}, static_cast<int64_t*>(out), from, n, step, rows, joins, from + (rows - 1) * step + n);
}
template <class U, U kMost, U kFlip>
void sums_of_blocks(void* out, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump, int64_t count) {
  const U* from = static_cast<const U*>(in);
  const U* const end = from + (count - 1) * jump + (rows - 1) * step + n;
  auto* to = static_cast<int64_t*>(out);
  for (; count > 0; --count, to += n, from += jump) sum_across<U>({kMost, kFlip}, to, from, n, step, rows, false, end);
}

template <class U, U kMost, U kFlip>
void set_sums(KernelTable& table, Dtype dtype) {
  table.sum_in_int64[static_cast<int>(dtype)] = {&sums_along<U, kMost, kFlip>, &sums_across<U, kMost, kFlip>,
                                                 &sums_of_blocks<U, kMost, kFlip>};
}
void fill_integer_sums(KernelTable& table) {
  set_sums<uint8_t, 0xFF, 0>(table, uint8);
  set_sums<uint8_t, 0xFF, 0x80>(table, int8);
  set_sums<uint8_t, 1, 0>(table, bool_);
  set_sums<uint16_t, 0xFFFF, 0x8000>(table, int16);
  set_sums<uint32_t, 0xFFFFFFFF, 0x80000000>(table, int32);
}
#else
void fill_integer_sums(KernelTable&) {}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
