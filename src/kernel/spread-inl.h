// kernel: the states of var and its like, in float64, of float32 and float64 as they lie in memory. The elements of a
// block are counted from a center, and blocks are joined as in ops::var. With the mean of k of b elements as the
// center, cancellation costs at most a factor of 1 + b / k. One element is enough for float32, which has 29 bits to
// spare; for float64 a first pass over some rows finds the center, over all of them in blocks. Bench: ./dev bench
// --sweep, reductions.
#if defined(TENON_KERNEL_SPREAD_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_SPREAD_INL_H
#undef TENON_KERNEL_SPREAD_INL_H
#else
#define TENON_KERNEL_SPREAD_INL_H
#endif

#include "kernel/loops-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

#if TENON_HAS_VECTORS
using SpreadTag = std::remove_const_t<decltype(hn::CappedTag<double, 16>())>;
using SpreadVector = Vector<SpreadTag>;
inline constexpr int64_t kSpreadLanes = hn::MaxLanes(SpreadTag());

template <class T>
HWY_INLINE SpreadVector load_in_float64(const T* from) {
  const SpreadTag d;
  if constexpr (std::is_same_v<T, double>)
    return {hn::LoadU(d, from)};
  else
    return {hn::PromoteTo(d, hn::LoadU(hn::Rebind<float, SpreadTag>(), from))};
}
/// The lanes before `end`; the others are zeros.
template <class T>
HWY_INLINE SpreadVector load_in_float64(const T* from, const T* end) {
  if (end - from >= kSpreadLanes) [[likely]]
    return load_in_float64(from);
  T lanes[kSpreadLanes] = {};
  std::memcpy(lanes, from, static_cast<std::size_t>(end - from) * sizeof(T));
  return load_in_float64(lanes);
}

/// Distances from a center: their sum, and the sum of their squares.
struct Distances {
  SpreadVector sum, squares;
  HWY_INLINE Distances() : sum(0), squares(0) {}
  /// A product with 1 leaves the units that add to the sum, which are busiest.
  HWY_INLINE void add(SpreadVector value, SpreadVector center) {
    add(SpreadVector{hn::MulSub(value.v, hn::Set(SpreadTag(), 1.0), center.v)});
  }
  HWY_INLINE void add(SpreadVector distance) {
    sum = sum + distance;
    squares = mul_add(distance, distance, squares);
  }
  HWY_INLINE void add(const Distances& other) {
    sum = sum + other.sum;
    squares = squares + other.squares;
  }
};
/// Whether a first pass finds the center.
template <class T>
inline constexpr bool kFindsMean = std::is_same_v<T, double>;
/// `first`, corrected by the sum of distances from it; itself if that is not finite.
HWY_INLINE SpreadVector better_center(SpreadVector first, SpreadVector sum, int64_t count) {
  const SpreadVector mean = mul_add(sum, SpreadVector(1 / static_cast<double>(count)), first);
  return choose(mean - mean == SpreadVector(0), mean, first);
}

struct Spread {
  SpreadVector mean, squares;
  HWY_INLINE Spread() {}
  /// Of `count` elements.
  HWY_INLINE Spread(SpreadVector center, const Distances& distances, int64_t count) {
    const SpreadVector off = distances.sum * SpreadVector(1 / static_cast<double>(count));
    const SpreadVector left = distances.squares - distances.sum * off, zero(0);
    mean = center + off;
    // Rounding leaves nothing negative. Squares that overflow stay infinite, an infinite mean leaves NaN.
    const auto overflows = distances.squares == SpreadVector(std::numeric_limits<double>::infinity());
    squares = choose(overflows, distances.squares, choose(left < zero, zero, left)) + (mean - mean);
  }
  /// Joins the state of `taken` elements at `to`.
  HWY_INLINE void join(const double* to, int64_t stride, int64_t taken, int64_t count) {
    const SpreadTag d;
    const auto before = static_cast<double>(taken),
               share = static_cast<double>(count) / (before + static_cast<double>(count));
    const SpreadVector other{hn::LoadU(d, to + stride)}, between = mean - other;
    const auto is_finite = between - between == SpreadVector(0);
    mean = choose(is_finite, mul_add(between, SpreadVector(share), other),
                  mean * SpreadVector(share) + other * SpreadVector(1 - share));
    squares =
        SpreadVector{hn::LoadU(d, to + 2 * stride)} + squares + between * (between * SpreadVector(before * share));
  }
  HWY_INLINE void store(double* to, int64_t stride, int64_t count) const {
    const SpreadTag d;
    hn::StoreU(hn::Set(d, static_cast<double>(count)), d, to);
    hn::StoreU(mean.v, d, to + stride);
    hn::StoreU(squares.v, d, to + 2 * stride);
  }
};

/// Distances and squares of finite float64 elements may overflow. Then their squares are infinite; with an element that
/// is not finite they are NaN. `at(lane, i)` gives element i of the `count` elements of a lane.
template <class T, class At>
HWY_INLINE void settle_overflow(Spread& spread, int64_t lanes, int64_t count, const At& at) {
  if constexpr (std::is_same_v<T, double>) {
    const SpreadTag d;
    if (hn::AllTrue(d, hn::IsFinite(spread.squares.v))) [[likely]]
      return;
    double means[kSpreadLanes], squares[kSpreadLanes];
    hn::StoreU(spread.mean.v, d, means);
    hn::StoreU(spread.squares.v, d, squares);
    for (int64_t lane = 0; lane < lanes; ++lane) {
      if (std::isfinite(squares[lane])) continue;
      double mean = 0;
      for (int64_t i = 0; i < count; ++i) mean += at(lane, i) / static_cast<double>(count);
      if (!std::isfinite(mean)) continue;
      means[lane] = mean;
      squares[lane] = std::numeric_limits<double>::infinity();
    }
    spread.mean.v = hn::LoadU(d, means);
    spread.squares.v = hn::LoadU(d, squares);
  }
}

/// Of a run.
template <class T>
HWY_INLINE Distances distances_of_run(const T* from, const T* end, int64_t n, SpreadVector center) {
  constexpr int64_t kParts = 4, kLanes = kSpreadLanes;
  const SpreadTag d;
  Distances all;
  if (n < kLanes) {
    const auto counted = hn::FirstN(d, static_cast<std::size_t>(n));
    all.add({hn::IfThenElseZero(counted, (load_in_float64(from, end) - center).v)});
    return all;
  }
  int64_t i = 0;
  if (n >= kParts * kLanes) {
    Distances parts[kParts];
    for (; i + kParts * kLanes <= n; i += kParts * kLanes) {
      prefetch<static_cast<std::size_t>(kParts * kLanes) * sizeof(T)>(from + i);
      unrolled<kParts>([&](int64_t k) TENON_UNROLLED { parts[k].add(load_in_float64(from + i + k * kLanes), center); });
    }
    parts[0].add(parts[2]);
    parts[1].add(parts[3]);
    all = parts[0];
    all.add(parts[1]);
  }
  for (; i + kLanes <= n; i += kLanes) all.add(load_in_float64(from + i), center);
  if (i < n) {  // the last vector, without the lanes that were added before
    const auto known = hn::FirstN(d, static_cast<std::size_t>(kLanes - (n - i)));
    all.add({hn::IfThenZeroElse(known, (load_in_float64(from + n - kLanes) - center).v)});
  }
  return all;
}
template <class T>
HWY_INLINE void prefetch_elements(const T* from, int64_t n) {
  for (int64_t i = 0; i < n; i += 64 / static_cast<int64_t>(sizeof(T))) __builtin_prefetch(from + i);
}
// Bytes of runs that are prefetched while the group before is folded.
inline constexpr int64_t kReadAhead = 512;
/// Of `runs` runs, at most as many as a vector has lanes: lane i for run i.
template <class T>
HWY_INLINE Spread spread_of_runs(const T* from, const T* end, int64_t step, int64_t runs, int64_t n) {
  const SpreadTag d;
  SpreadVector sums[kSpreadLanes], squares[kSpreadLanes];
  double centers[kSpreadLanes] = {};
  for (int64_t run = 0; run < runs; ++run) centers[run] = static_cast<double>(from[run * step]);
  if (n == 1) return {{hn::LoadU(d, centers)}, {}, 1};
  if constexpr (kFindsMean<T>) {
    const int64_t sample = std::min(n, kSpreadLanes);
    const auto counted = hn::FirstN(d, static_cast<std::size_t>(sample));
    for (int64_t run = 0; run < runs; ++run) {
      const SpreadVector distance = load_in_float64(from + run * step, end) - SpreadVector(centers[run]);
      sums[run].v = hn::IfThenElseZero(counted, distance.v);
    }
    const SpreadVector sum = fold_across<ops::sum>(d, sums, runs);
    hn::StoreU(better_center({hn::LoadU(d, centers)}, sum, sample).v, d, centers);
  }
  // The first vectors of a group are read out of order: the processor reads nothing ahead. Prefetching longer runs, a
  // group of which takes much of the first cache, costs more from the second one than it saves from memory.
  const bool prefetches = n > kSpreadLanes && n * static_cast<int64_t>(sizeof(T)) < kReadAhead;
  for (int64_t run = 0; run < runs; ++run) {
    if (prefetches) prefetch_elements(from + (run + kSpreadLanes) * step, n);
    const Distances of = distances_of_run(from + run * step, end, n, SpreadVector(centers[run]));
    sums[run] = of.sum;
    squares[run] = of.squares;
  }
  Distances all;
  all.sum = fold_across<ops::sum>(d, sums, runs);
  all.squares = fold_across<ops::sum>(d, squares, runs);
  Spread spread{{hn::LoadU(d, centers)}, all, n};
  settle_overflow<T>(spread, runs, n, [&](int64_t run, int64_t i) { return from[run * step + i]; });
  return spread;
}

struct FirstOfPair {
  static HWY_INLINE SpreadVector forward(SpreadVector first, SpreadVector) { return first; }
};
/// Of the rows of kCount vectors, which hold one or several each: lane i for row i.
template <int64_t kCount>
HWY_INLINE Spread spread_of_vectors(const Distances (&rows)[kCount], SpreadVector (&centers)[kCount], int64_t n) {
  const SpreadTag d;
  SpreadVector sums[kCount], squares[kCount];
  unrolled<kCount>([&](int64_t k) TENON_UNROLLED { sums[k] = rows[k].sum, squares[k] = rows[k].squares; });
  Distances all;
  all.sum = fold_all_pairs<ops::sum, kCount>(d, sums);
  all.squares = fold_all_pairs<ops::sum, kCount>(d, squares);
  return {fold_all_pairs<FirstOfPair, kCount>(d, centers), all, n};
}

/// Runs of float32, as many together as a vector has lanes.
class SpreadGroups {
  static constexpr int64_t kLanes = kSpreadLanes, kColumns = 4;

 public:
  /// Whether a vector has as many lanes as the transposition of columns expects: not so for NEON.
  static constexpr bool kFitsVectors = kLanes == kColumns || kLanes == 2 * kColumns;

  SpreadGroups(double* to, int64_t stride, int64_t step, int64_t n) : to_(to), stride_(stride), step_(step), n_(n) {}

  /// Groups of the `count` runs from `from` on; before `end` may be read. Returns the number of runs; the last ones of
  /// long runs are left.
  HWY_INLINE int64_t run(const float* from, const float* end, int64_t count) const {
    if (n_ >= kShortest) {
      int64_t run = 0;
      for (; run + kLanes <= count; run += kLanes, from += kLanes * step_) by_rows(from).store(to_ + run, stride_, n_);
      return run;
    }
    // Vectors of very short runs read a little behind them.
    const int64_t behind = std::max<int64_t>(kColumns - n_, 0), whole = count / kLanes;
    const bool reads_behind = end - from < (whole * kLanes - 1) * step_ + n_ + behind;
    const bool reads_next = behind == 0 || step_ > 0;
    const int64_t groups = reads_next ? std::max<int64_t>(whole - (reads_behind ? 1 : 0), 0) : 0;
    by_columns(to_, from, step_, groups);
    for (int64_t run = groups * kLanes; run < count; run += kLanes)
      last_by_columns(to_ + run, from + run * step_, std::min(count - run, kLanes));
    return count;
  }

 private:
  static constexpr hn::Rebind<float, SpreadTag> kNarrow{};
  using Columns = hn::Vec<hn::Rebind<float, SpreadTag>>;
  // Shorter runs are transposed, longer ones are joined at their end. Bench: ./dev bench --sweep, inner reductions.
  static constexpr int64_t kShortest = 4 * kLanes;

  /// Of `count` runs, behind which nothing may be read.
  void last_by_columns(double* to, const float* from, int64_t count) const {
    float runs[kLanes * kShortest] = {};
    for (int64_t i = 0; i < count; ++i)
      std::memcpy(runs + i * kShortest, from + i * step_, static_cast<std::size_t>(n_) * sizeof(float));
    by_columns(to, runs, kShortest, 1);
  }
  /// kColumns columns of all runs.
  static HWY_INLINE void load_columns(const float* from, int64_t step, Columns (&columns)[kColumns]) {
    const auto load = [&](int64_t k) TENON_UNROLLED {
      if constexpr (kLanes == 2 * kColumns) {
        const hn::Half<hn::Rebind<float, SpreadTag>> half;
        return hn::Combine(kNarrow, hn::LoadU(half, from + (k + kColumns) * step), hn::LoadU(half, from + k * step));
      } else {
        return hn::LoadU(kNarrow, from + k * step);
      }
    };
    const Columns a = load(0), b = load(1), c = load(2), d = load(3);
    const Columns ac = hn::InterleaveLower(kNarrow, a, c), bd = hn::InterleaveLower(kNarrow, b, d),
                  ac_end = hn::InterleaveUpper(kNarrow, a, c), bd_end = hn::InterleaveUpper(kNarrow, b, d);
    columns[0] = hn::InterleaveLower(kNarrow, ac, bd);
    columns[1] = hn::InterleaveUpper(kNarrow, ac, bd);
    columns[2] = hn::InterleaveLower(kNarrow, ac_end, bd_end);
    columns[3] = hn::InterleaveUpper(kNarrow, ac_end, bd_end);
  }
  HWY_NOINLINE void by_columns(double* to, const float* from, int64_t step, int64_t groups) const {
    for (; groups > 0; --groups, to += kLanes, from += kLanes * step)
      group_by_columns(from, step).store(to, stride_, n_);
  }
  HWY_INLINE Spread group_by_columns(const float* from, int64_t step) const {
    const SpreadTag d;
    Columns columns[kColumns];
    load_columns(from, step, columns);
    const SpreadVector center{hn::PromoteTo(d, columns[0])};
    Distances all, other;
    const auto add = [&](int64_t first, int64_t last) TENON_UNROLLED {
      unrolled<kColumns>([&](int64_t k) TENON_UNROLLED {
        if (k >= first && k < last) (k % 2 == 0 ? all : other).add({hn::PromoteTo(d, columns[k])}, center);
      });
    };
    add(1, n_);
    int64_t column = kColumns;
    for (; column + kColumns <= n_; column += kColumns) {
      load_columns(from + column, step, columns);
      add(0, kColumns);
    }
    if (column < n_) {
      load_columns(from + n_ - kColumns, step, columns);
      add(kColumns - (n_ - column), kColumns);
    }
    all.add(other);
    return {center, all, n_};
  }
  HWY_INLINE Spread by_rows(const float* from) const {
    const SpreadTag d;
    if (n_ * int64_t{sizeof(float)} < kReadAhead)
      for (int64_t run = 0; run < kLanes; ++run) prefetch_elements(from + (run + kLanes) * step_, n_);
    Distances rows[kLanes];
    SpreadVector centers[kLanes];
    unrolled<kLanes>([&](int64_t k)
                         TENON_UNROLLED { centers[k].v = hn::PromoteTo(d, hn::Set(kNarrow, from[k * step_])); });
    int64_t i = 0;
    for (; i + kLanes <= n_; i += kLanes)
      unrolled<kLanes>([&](int64_t k)
                           TENON_UNROLLED { rows[k].add(load_in_float64(from + k * step_ + i), centers[k]); });
    if (i < n_) {  // the last vectors, without the lanes that were added before
      const auto known = hn::FirstN(d, static_cast<std::size_t>(kLanes - (n_ - i)));
      unrolled<kLanes>([&](int64_t k) TENON_UNROLLED {
        const SpreadVector value = load_in_float64(from + k * step_ + n_ - kLanes);
        rows[k].add({hn::IfThenZeroElse(known, (value - centers[k]).v)});
      });
    }
    return spread_of_vectors(rows, centers, n_);
  }

  double* to_;
  int64_t stride_, step_, n_;
};

template <class T>
void spread_along(void* states, int64_t stride, const void* in, int64_t step, int64_t count, int64_t n, const double*) {
  constexpr int64_t kShort = 512;  // a group of longer runs would leave the first cache
  double* to = static_cast<double*>(states);
  const T* from = static_cast<const T*>(in);
  if (n == 0) {
    for (int field = 0; field < 3; ++field) std::memset(to + field * stride, 0, static_cast<std::size_t>(count) * 8);
    return;
  }
  const T* const end = from + (count - 1) * step + n;
  const int64_t group = n <= kShort ? kSpreadLanes : 1;
  int64_t run = 0;
  if constexpr (!kFindsMean<T> && SpreadGroups::kFitsVectors)
    if (n <= kShort) run = SpreadGroups(to, stride, step, n).run(from, end, count);
  for (from += run * step; run < count; run += group, from += group * step)
    spread_of_runs(from, end, step, std::min(group, count - run), n).store(to + run, stride, n);
}

/// Of rows, for the columns that kVectors vectors cover, of which the last one ends at `n`.
template <int64_t kVectors, class T>
HWY_INLINE void spread_columns(Spread* spreads, const T* from, int64_t n, int64_t step, int64_t rows) {
  SpreadVector center[kVectors];
  const auto place = [&](int64_t k) TENON_UNROLLED { return k < kVectors - 1 ? k * kSpreadLanes : n - kSpreadLanes; };
  const auto load = [&](int64_t row, int64_t k)
                        TENON_UNROLLED { return load_in_float64(from + row * step + place(k)); };
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { center[k] = load(0, k); });
  int64_t row = 1;  // the distance of a center's row is 0
  if constexpr (kFindsMean<T>)
    if (rows > 1) {
      SpreadVector sum[kVectors];
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sum[k] = SpreadVector(0); });
      const int64_t sample = std::min<int64_t>(rows, 4);
      for (; row < sample; ++row)
        unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sum[k] = sum[k] + (load(row, k) - center[k]); });
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { center[k] = better_center(center[k], sum[k], sample); });
      row = 0;
    }
  Distances all[kVectors];
  if constexpr (kVectors <= 2) {  // no addition waits for the one before
    Distances other[kVectors];
    for (; row + 2 <= rows; row += 2)
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
        all[k].add(load(row, k), center[k]);
        other[k].add(load(row + 1, k), center[k]);
      });
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { all[k].add(other[k]); });
  }
  for (; row < rows; ++row) unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { all[k].add(load(row, k), center[k]); });
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { spreads[k] = Spread(center[k], all[k], rows); });
  for (int64_t k = 0; k < kVectors; ++k)
    settle_overflow<T>(spreads[k], kSpreadLanes, rows,
                       [&](int64_t lane, int64_t at) { return from[at * step + place(k) + lane]; });
}
/// The same, joined with the states at `to` and stored there.
template <int64_t kVectors, class T>
HWY_INLINE void join_columns(double* to, int64_t stride, const T* from, int64_t n, int64_t step, int64_t rows,
                             int64_t taken) {
  const auto place = [&](int64_t k) TENON_UNROLLED { return k < kVectors - 1 ? k * kSpreadLanes : n - kSpreadLanes; };
  Spread spreads[kVectors];
  spread_columns<kVectors>(spreads, from, n, step, rows);
  if (taken > 0)
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { spreads[k].join(to + place(k), stride, taken, rows); });
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { spreads[k].store(to + place(k), stride, taken + rows); });
}
/// Of at least one vector of columns. A vector overlaps only others that are joined before it is stored.
template <class T>
void spread_across(void* states, int64_t stride, const void* in, int64_t step, int64_t rows, int64_t n, int64_t taken,
                   const double*) {
  constexpr int64_t kLanes = kSpreadLanes;
  double* to = static_cast<double*>(states);
  const T* from = static_cast<const T*>(in);
  for (int64_t width = 0; n > 4 * kLanes; n -= width, to += width, from += width) {
    width = n >= 5 * kLanes ? 4 * kLanes : 2 * kLanes;
    if (width == 4 * kLanes)
      join_columns<4>(to, stride, from, width, step, rows, taken);
    else
      join_columns<2>(to, stride, from, width, step, rows, taken);
  }
  if (n > 3 * kLanes) return join_columns<4>(to, stride, from, n, step, rows, taken);
  if (n > 2 * kLanes) return join_columns<3>(to, stride, from, n, step, rows, taken);
  if (n > kLanes) return join_columns<2>(to, stride, from, n, step, rows, taken);
  join_columns<1>(to, stride, from, std::max(n, kLanes), step, rows, taken);
}

/// Blocks of rows that are shorter than a vector, as in ShortRows: as many rows as fit lie side by side if there are no
/// gaps between them.
template <class T>
class SpreadBlocks {
 public:
  /// `end`: of the memory that may be read.
  HWY_INLINE SpreadBlocks(int64_t n, int64_t step, int64_t rows, const T* end)
      : n_(n),
        step_(step),
        rows_(rows),
        together_(step == n ? std::min(kSpreadLanes / n, rows) : 1),
        turns_(rows / together_),
        stride_(together_ * step),
        has_rest_(rows % together_ != 0),
        rest_(hn::FirstN(SpreadTag(), static_cast<std::size_t>(rows % together_ * n))),
        repeated_(repeated(n)),
        end_(end) {
    for (int64_t left = together_; left > 1; left -= left / 2, ++halvings_) {
      const int64_t half = left / 2;
      shifts_[halvings_] = LaneShift<SpreadTag>((left - half) * n);
      joined_[halvings_] = hn::FirstN(SpreadTag(), static_cast<std::size_t>(half * n));
    }
  }
  /// In the first lanes.
  HWY_INLINE Spread of(const T* block) const {
    SpreadVector center = in_each_row(load_in_float64(block, end_));
    if (rows_ == 1) return {center, {}, 1};
    Distances all;
    for (int passes = kFindsMean<T> ? 2 : 1; passes > 0; --passes) {
      all = distances(block, center);
      all.sum = joined(all.sum);
      if (passes == 2) center = in_each_row(better_center(center, all.sum, rows_));
    }
    all.squares = joined(all.squares);
    Spread spread{center, all, rows_};
    settle_overflow<T>(spread, n_, rows_, [&](int64_t lane, int64_t row) { return block[row * step_ + lane]; });
    return spread;
  }

 private:
  static HWY_INLINE auto repeated(int64_t n) {
    alignas(64) int64_t lanes[kSpreadLanes];
    for (int64_t i = 0; i < kSpreadLanes; ++i) lanes[i] = i % n;
    return hn::SetTableIndices(SpreadTag(), lanes);
  }
  /// The first row's lanes in all rows.
  HWY_INLINE SpreadVector in_each_row(SpreadVector v) const { return {hn::TableLookupLanes(v.v, repeated_)}; }
  HWY_INLINE SpreadVector joined(SpreadVector sum) const {
    for (int i = 0; i < halvings_; ++i) sum.v = hn::IfThenElse(joined_[i], (sum + shifts_[i](sum)).v, sum.v);
    return sum;
  }
  HWY_INLINE Distances distances(const T* block, SpreadVector center) const {
    constexpr int64_t kParts = 4;
    const auto at = [&](int64_t turn) TENON_UNROLLED { return load_in_float64(block + turn * stride_, end_); };
    Distances all, other;
    int64_t turn = 0;
    if (turns_ > kParts) {
      Distances parts[kParts];
      for (; turn + kParts < turns_; turn += kParts) {
        const T* const from = block + turn * stride_;
        if (end_ - from < (kParts - 1) * stride_ + kSpreadLanes) break;  // the last vector would be read beyond the end
        unrolled<kParts>([&](int64_t k) TENON_UNROLLED { parts[k].add(load_in_float64(from + k * stride_), center); });
      }
      parts[0].add(parts[2]);
      parts[1].add(parts[3]);
      all = parts[0];
      other = parts[1];
    }
    for (; turn + 2 <= turns_; turn += 2) {
      all.add(at(turn), center);
      other.add(at(turn + 1), center);
    }
    if (turn < turns_) all.add(at(turn), center);
    all.add(other);
    if (has_rest_) all.add({hn::IfThenElseZero(rest_, (at(turns_) - center).v)});
    return all;
  }

  int64_t n_, step_, rows_, together_, turns_, stride_;
  bool has_rest_;
  hn::Mask<SpreadTag> rest_;
  decltype(repeated(1)) repeated_;
  const T* end_;
  int halvings_ = 0;
  LaneShift<SpreadTag> shifts_[3] = {LaneShift<SpreadTag>(0), LaneShift<SpreadTag>(0), LaneShift<SpreadTag>(0)};
  hn::Mask<SpreadTag> joined_[3];
};

template <class T>
void spread_blocks(void* states, int64_t stride, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump,
                   int64_t count, const double* numbers) {
  double* to = static_cast<double*>(states);
  const T* from = static_cast<const T*>(in);
  if (n >= kSpreadLanes) {
    for (; count > 0; --count, to += n, from += jump) spread_across<T>(to, stride, from, step, rows, n, 0, numbers);
    return;
  }
  const SpreadBlocks<T> blocks(n, step, rows, from + (count - 1) * jump + (rows - 1) * step + n);
  for (double* const last = to + count * n; to != last; to += n, from += jump) blocks.of(from).store(to, stride, rows);
}
#endif

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
