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

#include "kernel/columns-inl.h"

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

/// Of a run of several vectors.
template <class T>
HWY_INLINE Distances distances_of_run(const T* from, int64_t n, SpreadVector center) {
  constexpr int64_t kParts = 4, kLanes = kSpreadLanes;
  const SpreadTag d;
  Distances all;
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
struct RunSums {
  SpreadVector center;
  Distances distances;
};
/// In all lanes. `sample`: how many elements find the center, if one is found: whole vectors.
template <class T>
HWY_NOINLINE RunSums sums_of_run(const T* from, int64_t n, int64_t sample) {
  const SpreadTag d;
  SpreadVector center(static_cast<double>(*from));
  if constexpr (kFindsMean<T>) {
    SpreadVector sum(0);
    for (int64_t i = 0; i < sample; i += kSpreadLanes) sum = sum + (load_in_float64(from + i) - center);
    center = better_center(center, {hn::SumOfLanes(d, sum.v)}, sample);
  }
  RunSums sums{center, distances_of_run(from, n, center)};
  sums.distances.sum.v = hn::SumOfLanes(d, sums.distances.sum.v);
  sums.distances.squares.v = hn::SumOfLanes(d, sums.distances.squares.v);
  return sums;
}

/// Sums of neighbouring rows, in lanes of whole groups of rows.
struct SumsOfRows {
  static constexpr int64_t kRows = 64;
  alignas(64) double centers[kRows], sums[kRows], squares[kRows];

  HWY_INLINE void set(int64_t row, SpreadVector center, const Distances& distances) {
    const SpreadTag d;
    hn::StoreU(center.v, d, centers + row);
    hn::StoreU(distances.sum.v, d, sums + row);
    hn::StoreU(distances.squares.v, d, squares + row);
  }
  /// Of `n` elements each.
  HWY_INLINE Spread spread(int64_t row, int64_t n) const {
    const SpreadTag d;
    Distances distances;
    distances.sum.v = hn::LoadU(d, sums + row);
    distances.squares.v = hn::LoadU(d, squares + row);
    return {{hn::LoadU(d, centers + row)}, distances, n};
  }
};

/// Rows of at most kFinishedRow elements. Their sums are stored and made states or results later, many together: no row
/// waits for the end of the one before. Bench: ./dev bench --sweep, inner reductions.
template <class T>
class SpreadRows {
 public:
  SpreadRows(int64_t n, int64_t step) : n_(n), step_(step) {}

  /// Of `rows` rows, at most SumsOfRows::kRows. Before `end` may be read.
  HWY_NOINLINE void run(SumsOfRows& to, const T* from, const T* end, int64_t rows) const {
    if (n_ == 1) return take_centers(to, from, rows);
    if (n_ >= kRowsFrom) {
      int64_t row = 0;
      for (; row + kLanes <= rows; row += kLanes) by_rows(to, row, from + row * step_, step_);
      if (row < rows) to.set(row, SpreadVector(0), {});  // vectors of rows are read
      for (; row < rows; ++row) by_row(to, row, from + row * step_);
      return;
    }
    if constexpr (kFitsColumns) {
      int64_t row = 0;
      const int64_t reads = Of::reads(n_, step_);
      const bool is_pair = n_ == 2 && step_ == 2;
      for (; row + kLanes <= rows && end - from >= reads; row += kLanes, from += kLanes * step_)
        is_pair ? by_pairs(to, row, from) : by_columns(to, row, from, step_);
      for (; row < rows; row += kLanes, from += kLanes * step_)
        last_by_columns(to, row, from, std::min(rows - row, kLanes));
    }
  }

 private:
  static constexpr int64_t kLanes = kSpreadLanes;
  using Tag = hn::Rebind<T, SpreadTag>;
  using Column = hn::Vec<Tag>;
  using Of = Columns<Tag>;
  // Shorter rows are read as columns, longer ones are joined at their end.
  static constexpr bool kFitsColumns = kLanes >= Of::kCount;
  static constexpr int64_t kRowsFrom = !kFitsColumns ? 2 : sizeof(T) == 4 ? 32 : 20;
  static constexpr int64_t kSample =
      kFitsColumns ? 2 * kLanes : kLanes;  // elements of a longer row that find its center

  /// An infinite element has no distance.
  HWY_INLINE void take_centers(SumsOfRows& to, const T* from, int64_t rows) const {
    to = {};
    for (int64_t row = 0; row < rows; ++row) to.centers[row] = static_cast<double>(from[row * step_]);
  }
  static HWY_INLINE SpreadVector wide(Column column) {
    if constexpr (std::is_same_v<T, double>)
      return {column};
    else
      return {hn::PromoteTo(SpreadTag(), column)};
  }
  HWY_INLINE void by_columns(SumsOfRows& to, int64_t row, const T* from, int64_t step) const {
    SpreadVector center(0);
    Of::each(from, step, 1, [&](int64_t, Column column) TENON_UNROLLED { center = wide(column); });
    if constexpr (kFindsMean<T>) {
      SpreadVector sum(0);
      Of::each(from, step, n_, [&](int64_t, Column column) TENON_UNROLLED { sum = sum + (wide(column) - center); });
      center = better_center(center, sum, n_);
    }
    Distances even, odd;
    Of::each(from, step, n_,
             [&](int64_t k, Column column) TENON_UNROLLED { (k % 2 == 0 ? even : odd).add(wide(column), center); });
    even.add(odd);
    to.set(row, center, even);
  }
  /// Of rows of two elements without gaps.
  HWY_INLINE void by_pairs(SumsOfRows& to, int64_t row, const T* from) const {
    const Tag d;
    const Column a = hn::LoadU(d, from), b = hn::LoadU(d, from + kLanes);
    const SpreadVector first = wide(hn::ConcatEven(d, b, a)), second = wide(hn::ConcatOdd(d, b, a));
    const SpreadVector center = kFindsMean<T> ? better_center(first, second - first, 2) : first;
    Distances distances;
    distances.add(first, center);
    distances.add(second, center);
    to.set(row, center, distances);
  }
  /// Of `count` rows, behind which nothing may be read.
  HWY_INLINE void last_by_columns(SumsOfRows& to, int64_t row, const T* from, int64_t count) const {
    const typename Of::template LastRows<kRowsFrom> rows(from, n_, step_, count);
    by_columns(to, row, rows.data(), n_);
  }
  /// The distances of rows, one in each lane, from their centers.
  struct OfRows {
    SpreadVector centers;
    Distances distances;
  };
  /// Added up as in by_rows.
  HWY_NOINLINE void by_row(SumsOfRows& to, int64_t row, const T* from) const {
    const OfRows of = of_rows<1>(from, 0);
    to.centers[row] = hn::GetLane(of.centers.v);
    to.sums[row] = hn::GetLane(of.distances.sum.v);
    to.squares[row] = hn::GetLane(of.distances.squares.v);
  }
  /// Of as many rows as a vector has lanes.
  HWY_NOINLINE void by_rows(SumsOfRows& to, int64_t row, const T* from, int64_t step) const {
    if (n_ * static_cast<int64_t>(sizeof(T)) < kReadAhead)
      for (int64_t k = 0; k < kLanes; ++k) prefetch_elements(from + (kLanes + k) * step, n_);
    const OfRows of = of_rows<kLanes>(from, step);
    to.set(row, of.centers, of.distances);
  }
  template <int64_t kTaken>
  HWY_INLINE OfRows of_rows(const T* from, int64_t step) const {
    const SpreadTag d;
    const auto load = [&](int64_t k, int64_t i) TENON_UNROLLED { return load_in_float64(from + k * step + i); };
    double centers[kLanes] = {};
    for (int64_t k = 0; k < kTaken; ++k) centers[k] = static_cast<double>(from[k * step]);
    if constexpr (kFindsMean<T>) {
      SpreadVector sums[kLanes];
      unrolled<kLanes>([&](int64_t k) TENON_UNROLLED { sums[k] = SpreadVector(0); });
      unrolled<kTaken>([&](int64_t k) TENON_UNROLLED {
        const SpreadVector first(centers[k]);
        sums[k] = load(k, 0) - first;
        for (int64_t i = kLanes; i < kSample; i += kLanes) sums[k] = sums[k] + (load(k, i) - first);
      });
      const SpreadVector sum = fold_all_pairs<ops::sum, kLanes>(d, sums);
      hn::StoreU(better_center({hn::LoadU(d, centers)}, sum, kSample).v, d, centers);
    }
    Distances distances[kLanes];
    SpreadVector center[kTaken], sums[kLanes], squares[kLanes];
    unrolled<kTaken>([&](int64_t k) TENON_UNROLLED { center[k] = SpreadVector(centers[k]); });
    int64_t i = 0;
    for (; i + kLanes <= n_; i += kLanes)
      unrolled<kTaken>([&](int64_t k) TENON_UNROLLED { distances[k].add(load(k, i), center[k]); });
    if (i < n_) {  // the last vectors, without the lanes that were added before
      const auto known = hn::FirstN(d, static_cast<std::size_t>(kLanes - (n_ - i)));
      unrolled<kTaken>([&](int64_t k) TENON_UNROLLED {
        const SpreadVector value = load(k, n_ - kLanes);
        distances[k].add({hn::IfThenZeroElse(known, (value - center[k]).v)});
      });
    }
    unrolled<kLanes>([&](int64_t k) TENON_UNROLLED { sums[k] = distances[k].sum, squares[k] = distances[k].squares; });
    Distances all;
    all.sum = fold_all_pairs<ops::sum, kLanes>(d, sums);
    all.squares = fold_all_pairs<ops::sum, kLanes>(d, squares);
    return {{hn::LoadU(d, centers)}, all};
  }

  int64_t n_, step_;
};

/// Calls `turn(row, count, spread)` for vectors of rows.
template <class T, class Turn>
HWY_INLINE void each_spread(const T* from, int64_t n, int64_t step, int64_t rows, const Turn& turn) {
  const T* const end = from + (rows - 1) * step + n;
  const SpreadRows<T> spread_rows(n, step);
  for (int64_t first = 0; first < rows; first += SumsOfRows::kRows, from += SumsOfRows::kRows * step) {
    SumsOfRows sums;
    const int64_t together = std::min(rows - first, SumsOfRows::kRows);
    spread_rows.run(sums, from, end, together);
    for (int64_t row = 0; row < together; row += kSpreadLanes) {
      const int64_t count = std::min(together - row, kSpreadLanes);
      Spread spread = sums.spread(row, n);
      settle_overflow<T>(spread, count, n, [&](int64_t lane, int64_t i) { return from[(row + lane) * step + i]; });
      turn(first + row, count, spread);
    }
  }
}

template <class T>
HWY_INLINE Spread spread_of_run(const T* from, int64_t n) {
  const RunSums sums = sums_of_run(from, n, kSpreadLanes);
  Spread spread{sums.center, sums.distances, n};
  settle_overflow<T>(spread, 1, n, [&](int64_t, int64_t i) { return from[i]; });
  return spread;
}

template <class T>
void spread_along(void* states, int64_t stride, const void* in, int64_t step, int64_t count, int64_t n, const double*) {
  double* to = static_cast<double*>(states);
  const T* from = static_cast<const T*>(in);
  if (n == 0) {
    for (int field = 0; field < 3; ++field) std::memset(to + field * stride, 0, static_cast<std::size_t>(count) * 8);
    return;
  }
  if (n <= kFinishedRow)
    return each_spread(from, n, step, count, [&](int64_t run, int64_t, const Spread& spread) TENON_UNROLLED {
      spread.store(to + run, stride, n);
    });
  for (int64_t run = 0; run < count; ++run, from += step) spread_of_run(from, n).store(to + run, stride, n);
}

/// The first `count` lanes, in the dtype of results.
template <class T>
HWY_INLINE void store_results(SpreadVector results, T* to, int64_t count) {
  const hn::Rebind<T, SpreadTag> d;
  if constexpr (std::is_same_v<T, double>)
    store_first(d, results.v, to, count);
  else
    store_first(d, hn::DemoteTo(d, results.v), to, count);
}
/// The variance of each of `rows` rows of 2 to kFinishedRow elements, or its root, and the mean, unless that is
/// null.
template <class T>
TENON_ONCE void spread_rows(T* to, T* means, const T* from, int64_t n, int64_t step, int64_t rows, double correction,
                            bool takes_root) {
  const double freedom = std::max(static_cast<double>(n) - correction, 0.0), share = 1 / freedom;
  each_spread(from, n, step, rows, [&](int64_t row, int64_t count, const Spread& spread) TENON_UNROLLED {
    // float64 has bits to spare for float32.
    SpreadVector result =
        std::is_same_v<T, double> ? spread.squares / SpreadVector(freedom) : spread.squares * SpreadVector(share);
    if (takes_root) result = square_root(result);
    store_results(result, to + row, count);
    if (means) store_results(spread.mean, means + row, count);
  });
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
