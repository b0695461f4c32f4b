// kernel: folds of rows, along them and across.
#if defined(TENON_KERNEL_FOLDS_INL_H) == defined(HWY_TARGET_TOGGLE)
#ifdef TENON_KERNEL_FOLDS_INL_H
#undef TENON_KERNEL_FOLDS_INL_H
#else
#define TENON_KERNEL_FOLDS_INL_H
#endif

#include <algorithm>
#include <array>
#include <cstring>

#include "kernel/load_store-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

// Bytes of a fold's partial results: several vectors, so that no addition waits for the one before. Bench:
// tenon_bench --filter '^reduce/(sum|amax)/L1'.
inline constexpr int64_t kFoldBytes = 256;

/// Folds `n` >= kWidth lanes with independent partial results, one for each lane of a block, which are joined pairwise
/// at the end. As accurate as pairwise summation of that width.
template <class F, class T, int64_t kWidth>
HWY_INLINE Lane<T> fold_blocks(const Stored<T>* from, int64_t n) {
  Lane<T> partial[kWidth];
  for (int64_t lane = 0; lane < kWidth; ++lane) partial[lane] = Lane<T>(from[lane]);
  int64_t i = kWidth;
  for (; i + kWidth <= n; i += kWidth)
    for (int64_t lane = 0; lane < kWidth; ++lane) partial[lane] = F::forward(partial[lane], Lane<T>(from[i + lane]));
  for (int64_t lane = 0; i + lane < n; ++lane) partial[lane] = F::forward(partial[lane], Lane<T>(from[i + lane]));
  for (int64_t width = kWidth / 2; width > 0; width /= 2)
    for (int64_t lane = 0; lane < width; ++lane) partial[lane] = F::forward(partial[lane], partial[lane + width]);
  return partial[0];
}
template <class F, class T>
void fold(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool /*is_far*/) {
  constexpr int64_t kItemsize = static_cast<int64_t>(sizeof(T)), kWidth = kFoldBytes / kItemsize;
  const Stored<T>* from = static_cast<const Stored<T>*>(in);
  for (int64_t row = 0; row < rows; ++row, from += step) {
    Lane<T> result(from[0]);
    if (n >= kWidth)
      result = fold_blocks<F, T, kWidth>(from, n);
    else
      for (int64_t i = 1; i < n; ++i) result = F::forward(result, Lane<T>(from[i]));
    std::memcpy(static_cast<std::byte*>(out) + row * static_cast<int64_t>(sizeof(result.v)), &result.v,
                sizeof(result.v));
  }
}

/// Folds vectors: the first half with the second one, and so on.
template <class F, int64_t kCount, class V>
HWY_INLINE V fold_halves(V* vectors) {
  if constexpr (kCount > 1) {
    unrolled<kCount / 2>([&](int64_t k)
                             TENON_UNROLLED { vectors[k] = F::forward(vectors[k], vectors[k + kCount / 2]); });
    return fold_halves<F, kCount / 2>(vectors);
  }
  return vectors[0];
}

/// Folds a row of at least one vector to a vector. `kBlocks`: of many vectors.
template <class F, class Load, bool kBlocks, class D>
HWY_INLINE Vector<D> fold_row_to_vector(D d, const typename Load::From* from, int64_t n, bool is_far) {
  using T = typename Load::To;
  constexpr int64_t kLanes = hn::MaxLanes(d), kVectors = kFoldBytes / static_cast<int64_t>(sizeof(T)) / kLanes;
  constexpr int64_t kBlock = kVectors * kLanes;
  const auto load = [&](int64_t i) TENON_UNROLLED { return Vector<D>{Load::vector(d, from + i)}; };
  Vector<D> result = load(0);
  int64_t i = kLanes;
  if (kBlocks && n >= kBlock) {
    Vector<D> partial[kVectors];
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { partial[k] = load(k * kLanes); });
    for (i = kBlock; i + kBlock <= n; i += kBlock) {
      if (is_far) prefetch_ahead(from + i, kBlock);
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { partial[k] = F::forward(partial[k], load(i + k * kLanes)); });
    }
    result = fold_halves<F, kVectors>(partial);
  }
  for (; i + kLanes <= n; i += kLanes) result = F::forward(result, load(i));
  if (i < n) {  // the last whole vector, without the lanes that were folded before
    const auto counted = hn::FirstN(d, static_cast<std::size_t>(kLanes - (n - i)));
    result.v = hn::IfThenElse(counted, result.v, F::forward(result, load(n - kLanes)).v);
  }
  return result;
}

#if HWY_TARGET != HWY_SCALAR  // its vectors have one lane
/// Folds pairs of neighbouring lanes: those of `low`, then those of `high`.
template <class F, class D>
HWY_INLINE Vector<D> fold_pairs(D d, Vector<D> low, Vector<D> high) {
  return F::forward(Vector<D>{hn::ConcatEven(d, high.v, low.v)}, Vector<D>{hn::ConcatOdd(d, high.v, low.v)});
}
#if HWY_ARCH_X86 && HWY_TARGET <= HWY_AVX2
/// Whether vectors are two blocks of 16 bytes: pairs take half the instructions if they stay in their block.
template <class D>
inline constexpr bool kHasTwoBlocks = sizeof(hn::TFromD<D>) >= 4 && hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 32;
/// Folds pairs of neighbouring lanes: in each block those of `low`, then those of `high`. Of other vectors as
/// fold_pairs.
template <class F, class D>
HWY_INLINE Vector<D> fold_pairs_in_blocks(D d, Vector<D> low, Vector<D> high) {
  if constexpr (!kHasTwoBlocks<D>) {
    return fold_pairs<F>(d, low, high);
  } else if constexpr (sizeof(hn::TFromD<D>) == 8) {
    return F::forward(Vector<D>{hn::InterleaveLower(d, low.v, high.v)},
                      Vector<D>{hn::InterleaveUpper(d, low.v, high.v)});
  } else {
    const hn::Repartition<float, D> floats;
    const __m256 a = hn::BitCast(floats, low.v).raw, b = hn::BitCast(floats, high.v).raw;
    const hn::Vec256<float> even{_mm256_shuffle_ps(a, b, 0x88)}, odd{_mm256_shuffle_ps(a, b, 0xDD)};
    return F::forward(Vector<D>{hn::BitCast(d, even)}, Vector<D>{hn::BitCast(d, odd)});
  }
}
#else
template <class D>
inline constexpr bool kHasTwoBlocks = false;
template <class F, class D>
HWY_INLINE Vector<D> fold_pairs_in_blocks(D d, Vector<D> low, Vector<D> high) {
  return fold_pairs<F>(d, low, high);
}
#endif
/// How many lanes of D a block has, or all if that makes no difference.
template <class D>
inline constexpr int64_t kBlockLanes = static_cast<int64_t>(hn::MaxLanes(D())) / (kHasTwoBlocks<D> ? 2 : 1);
/// Where `kFolds` times folding pairs in blocks leaves what folding pairs of whole vectors leaves in lane `lane`.
template <class D, int kFolds>
constexpr int64_t place_of_lane(int64_t lane) {
  if constexpr (!kHasTwoBlocks<D> || kFolds == 0) return lane;
  const int64_t low = kBlockLanes<D> >> kFolds;  // lanes that lie together
  return lane / low % 2 * kBlockLanes<D> + lane / (2 * low) * low + lane % low;
}
/// The lanes of the whole vector again. `kFolds`: as in `place_of_lane`.
template <int kFolds, class D>
HWY_INLINE Vector<D> in_order_of_lanes(Vector<D> v) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  using Index = hwy::MakeSigned<hn::TFromD<D>>;
  alignas(64) static constexpr auto kPlaces = [] {
    std::array<Index, static_cast<std::size_t>(kLanes)> places{};
    for (std::size_t i = 0; i < places.size(); ++i)
      places[i] = static_cast<Index>(place_of_lane<D, kFolds>(static_cast<int64_t>(i)));
    return places;
  }();
  return {hn::TableLookupLanes(v.v, hn::SetTableIndices(D(), kPlaces.data()))};
}
/// Folds the halves of two vectors: one after the other.
template <class F, class D>
HWY_INLINE Vector<D> fold_whole_blocks(D d, Vector<D> low, Vector<D> high) {
  return F::forward(Vector<D>{hn::ConcatLowerLower(d, high.v, low.v)},
                    Vector<D>{hn::ConcatUpperUpper(d, high.v, low.v)});
}

/// The fold of a vector's lanes, in the order of `fold_across`. `kBytes`: of neighbours that are folded already.
template <class F, std::size_t kBytes, class D>
HWY_INLINE hn::TFromD<D> fold_lanes(D d, Vector<D> v) {
  constexpr std::size_t kVector = hn::MaxLanes(D()) * sizeof(hn::TFromD<D>);
  if constexpr (kBytes == kVector) {
    return hn::GetLane(v.v);
  } else if constexpr (kBytes < 16) {
    return fold_lanes<F, 2 * kBytes>(d, F::forward(v, Vector<D>{hn::CombineShiftRightBytes<kBytes>(d, v.v, v.v)}));
  } else {
    using H = hn::Half<D>;
    const H half;
    const auto low = Vector<H>{hn::LowerHalf(half, v.v)}, high = Vector<H>{hn::UpperHalf(half, v.v)};
    if constexpr (kVector == 32) {
      return hn::GetLane(F::forward(low, high).v);
    } else {
      using Q = hn::Half<H>;
      const Q quarter;
      const auto fold_half = [&](Vector<H> pair) HWY_ATTR {
        return F::forward(Vector<Q>{hn::LowerHalf(quarter, pair.v)}, Vector<Q>{hn::UpperHalf(quarter, pair.v)});
      };
      return hn::GetLane(F::forward(fold_half(low), fold_half(high)).v);
    }
  }
}
/// The same as `fold_across` for narrow integers, whose neighbours take several instructions to be brought together:
/// each vector is interleaved with the one half of all further. `vectors` has room for as many as one has lanes.
template <class F, class D>
HWY_INLINE Vector<D> fold_interleaved(D d, Vector<D>* vectors, int64_t count) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for (int64_t i = count; i < kLanes; ++i) vectors[i] = vectors[0];
  int64_t half = kLanes / 2;
  if constexpr (kLanes * sizeof(hn::TFromD<D>) > 16) {
    for (int64_t i = 0; i < half; ++i) {
      const auto first = vectors[i].v, second = vectors[i + half].v;
      vectors[i] = F::forward(Vector<D>{hn::ConcatLowerLower(d, second, first)},
                              Vector<D>{hn::ConcatUpperUpper(d, second, first)});
    }
    half /= 2;
  }
  for (; half > 0; half /= 2)
    for (int64_t i = 0; i < half; ++i) {
      const auto first = vectors[i].v, second = vectors[i + half].v;
      vectors[i] = F::forward(Vector<D>{hn::InterleaveLower(d, first, second)},
                              Vector<D>{hn::InterleaveUpper(d, first, second)});
    }
  return vectors[0];
}
/// Folds `count` vectors, at most as many as one has lanes, until lane i of the result is vector i.
template <class F, class D>
HWY_INLINE Vector<D> fold_across(D d, Vector<D>* vectors, int64_t count) {
  using T = hn::TFromD<D>;
  constexpr std::size_t kBytes = hn::MaxLanes(D()) * sizeof(T);
  if constexpr (sizeof(T) < 4 && (kBytes == 16 || kBytes == 32)) return fold_interleaved<F>(d, vectors, count);
  for (int64_t lanes = kBlockLanes<D>; lanes > 1; lanes /= 2) {
    const int64_t pairs = (count + 1) / 2;
    for (int64_t i = 0; i < pairs; ++i)
      vectors[i] = fold_pairs_in_blocks<F>(d, vectors[2 * i], vectors[std::min(2 * i + 1, count - 1)]);
    count = pairs;
  }
  return kHasTwoBlocks<D> ? fold_whole_blocks<F>(d, vectors[0], vectors[count - 1]) : vectors[0];
}
#else
template <class F, std::size_t kBytes, class D>
HWY_INLINE hn::TFromD<D> fold_lanes(D, Vector<D> v) {
  return hn::GetLane(v.v);
}
template <class F, class D>
HWY_INLINE Vector<D> fold_across(D, Vector<D>* vectors, int64_t) {
  return vectors[0];
}
#endif

/// Whether rows of a few elements are folded in vectors.
template <class Load>
inline constexpr bool kFoldsShortRows = sizeof(typename Load::To) >= 4;

/// A lane that changes no fold of the row that begins at `row`: minima and maxima take a lane twice.
template <class F, class Load, class D>
HWY_INLINE Vector<D> neutral([[maybe_unused]] D d, [[maybe_unused]] const typename Load::From* row) {
  using T = typename Load::To;
  if constexpr (std::is_same_v<F, ops::sum>)
    return {hn::Set(d, static_cast<T>(-0.0))};
  else if constexpr (std::is_same_v<F, ops::prod>)
    return {hn::Set(d, T{1})};
  else
    return {hn::Set(d, Load::lane(row[0]))};
}
/// A row of less than a vector, and neutral lanes.
template <class F, class Load, class D>
HWY_INLINE Vector<D> short_row(D d, const typename Load::From* from, int64_t n) {
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(n));
  return {hn::IfThenElse(counted, Load::some(d, from, n), neutral<F, Load>(d, from).v)};
}

/// Folds a row of any length to a vector.
template <class F, class Load, bool kBlocks, class D>
HWY_INLINE Vector<D> fold_row(D d, const typename Load::From* from, int64_t n, bool is_far) {
  if constexpr (!kBlocks && kFoldsShortRows<Load>)
    if (n < static_cast<int64_t>(hn::MaxLanes(D()))) return short_row<F, Load>(d, from, n);
  return fold_row_to_vector<F, Load, kBlocks>(d, from, n, is_far);
}

#if HWY_TARGET != HWY_SCALAR
/// Folds pairs of neighbouring lanes of `kCount` vectors, which follow each other, until one vector is left. `kFolds`:
/// how often they were folded in blocks before.
template <class F, int64_t kCount, int kFolds = 0, class D>
HWY_INLINE Vector<D> fold_all_pairs(D d, Vector<D>* vectors) {
  constexpr bool kFillsBlocks = kBlockLanes<D> == (1 << kFolds);
  if constexpr (kCount == 1 && kHasTwoBlocks<D> && kFolds > 0) {
    return in_order_of_lanes<kFolds>(vectors[0]);
  } else if constexpr (kCount == 1) {
    return vectors[0];
  } else if constexpr (kHasTwoBlocks<D> && kFillsBlocks) {
    static_assert(kCount == 2, "as many vectors as lanes");
    return fold_whole_blocks<F>(d, vectors[0], vectors[1]);
  } else {
    unrolled<kCount / 2>(
        [&](int64_t k) TENON_UNROLLED { vectors[k] = fold_pairs_in_blocks<F>(d, vectors[2 * k], vectors[2 * k + 1]); });
    return fold_all_pairs<F, kCount / 2, kFolds + 1>(d, vectors);
  }
}
/// Folds as many rows as a vector has lanes. `counted`: lanes of a row of less than a vector; else those of a row's
/// last vector that were folded before.
template <class F, class Load, class D>
HWY_INLINE Vector<D> fold_group(D d, const typename Load::From* from, int64_t n, int64_t step, hn::Mask<D> counted) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  static_assert(kLanes <= 8);
  // Four rows a pointer: so many offsets fit registers.
  const typename Load::From* const fours[] = {from, from + 4 * step};
  const auto load = [&](int64_t row, int64_t i)
                        TENON_UNROLLED { return Vector<D>{Load::vector(d, fours[row / 4] + row % 4 * step + i)}; };
  Vector<D> rows[kLanes];
  unrolled<kLanes>([&](int64_t k) TENON_UNROLLED { rows[k] = load(k, 0); });
  if constexpr (kFoldsShortRows<Load>)
    if (n < kLanes) {
      unrolled<kLanes>([&](int64_t k) TENON_UNROLLED {
        rows[k].v = hn::IfThenElse(counted, rows[k].v, neutral<F, Load>(d, from + k * step).v);
      });
      return fold_all_pairs<F, kLanes>(d, rows);
    }
  int64_t i = kLanes;
  for (; i + kLanes <= n; i += kLanes)
    unrolled<kLanes>([&](int64_t k) TENON_UNROLLED { rows[k] = F::forward(rows[k], load(k, i)); });
  if (i < n)
    unrolled<kLanes>([&](int64_t k) TENON_UNROLLED {
      rows[k].v = hn::IfThenElse(counted, rows[k].v, F::forward(rows[k], load(k, n - kLanes)).v);
    });
  return fold_all_pairs<F, kLanes>(d, rows);
}
/// Folds rows of kRow lanes without gaps. Returns their number.
template <class F, class Load, int64_t kRow, class D>
HWY_INLINE int64_t fold_whole_rows(D d, typename Load::To* out, const typename Load::From* from, int64_t rows) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  int64_t row = 0;
  for (; row + kLanes <= rows; row += kLanes, from += kRow * kLanes) {
    Vector<D> vectors[kRow];
    unrolled<kRow>([&](int64_t k) TENON_UNROLLED { vectors[k].v = Load::vector(d, from + k * kLanes); });
    hn::StoreU(fold_all_pairs<F, kRow>(d, vectors).v, d, out + row);
  }
  return row;
}
/// Rows of an odd number of lanes, without gaps: lane l of the kRow vectors that hold kLanes of them belongs to another
/// row in each vector. As indices for vectors of D, whose lanes were folded `kFolds` times in blocks.
template <int64_t kRow, int kFolds, class D>
class OddRows {
 public:
  static constexpr int64_t kLanes = hn::MaxLanes(D()), kBits = kRow < 4 ? 2 : kRow < 8 ? 3 : 4;
  /// kLanes times this is 1 modulo kRow. Lane l of column c lies in vector (c * kInverse - turns) % kRow, where bit b
  /// of the lane's turns is set in turned(b).
  static constexpr int64_t kInverse = [] {
    int64_t inverse = 1;
    while (kLanes * inverse % kRow != 1) ++inverse;
    return inverse;
  }();
  using Index = hwy::MakeSigned<hn::TFromD<D>>;
  using Table = std::array<Index, static_cast<std::size_t>(kLanes)>;

  /// Takes `yes` in the lanes whose turns have this bit, else `no`.
  template <int64_t kBit>
  static HWY_INLINE hn::Vec<D> choose_turned(hn::Vec<D> yes, hn::Vec<D> no) {
    constexpr uint32_t kTurned = turned(kBit);
#if HWY_TARGET == HWY_AVX2
    // Zen 3 runs blends by a constant on four ports, and blends by a mask on two.
    const hn::Repartition<float, D> floats;
    const auto a = hn::BitCast(floats, no), b = hn::BitCast(floats, yes);
    return hn::BitCast(D(), hn::Vec256<float>{_mm256_blend_ps(a.raw, b.raw, kTurned)});
#else
    alignas(8) static constexpr uint8_t kBytes[8] = {kTurned & 255, kTurned >> 8};
    return hn::IfThenElse(hn::LoadMaskBits(D(), kBytes), yes, no);
#endif
  }
  /// Of the lanes that follow `by` lanes further.
  static HWY_INLINE auto shift(std::size_t by) { return hn::SetTableIndices(D(), kShifts[by % kLanes].data()); }
  /// Of column 0, from row to row. A column further, each row's element lies one lane further.
  static HWY_INLINE auto rows() { return hn::SetTableIndices(D(), kRows.data()); }

 private:
  template <std::size_t kCount, class Of>
  static constexpr std::array<Table, kCount> tables(const Of& of) {
    std::array<Table, kCount> made{};
    for (std::size_t i = 0; i < kCount; ++i)
      for (std::size_t lane = 0; lane < kLanes; ++lane)
        made[i][lane] = static_cast<Index>(of(static_cast<int64_t>(i), static_cast<int64_t>(lane)));
    return made;
  }
  static constexpr int64_t place_of(int64_t lane) { return place_of_lane<D, kFolds>(lane % kLanes); }
  static constexpr int64_t lane_at(int64_t place) {
    int64_t lane = 0;
    while (place_of(lane) != place) ++lane;
    return lane;
  }
  static constexpr uint32_t turned(int64_t bit) {
    uint32_t lanes = 0;
    for (int64_t place = 0; place < kLanes; ++place)
      lanes |= static_cast<uint32_t>(lane_at(place) * kInverse % kRow >> bit & 1) << place;
    return lanes;
  }
  alignas(64) static constexpr auto kShifts = tables<kLanes>([](int64_t by, int64_t place) {
    return place_of(lane_at(place) + by);
  });
  alignas(64) static constexpr Table kRows = tables<1>([](int64_t, int64_t row) { return place_of(kRow * row); })[0];
};

/// Folds rows of kRow lanes without gaps, as many together as a vector has lanes. Vectors that hold parts of several
/// rows become vectors of one column each by a few blends. The order of the folds is that of `fold_group`. Bench:
/// ./dev bench --sweep, inner reductions.
template <class F, class Load, int64_t kRow, class D>
class RowsAsColumns {
 public:
  using From = typename Load::From;
  using To = typename Load::To;

  static HWY_NOINLINE void run(To* out, const From* from, int64_t rows) {
    int64_t row = 0;
    for (; row + kLanes <= rows; row += kLanes, from += kRow * kLanes) hn::StoreU(fold(from).v, D(), out + row);
    if (row == rows) return;
    From last[kRow * kLanes] = {};
    std::memcpy(last, from, static_cast<std::size_t>((rows - row) * kRow) * sizeof(From));
    store_first(D(), fold(last).v, out + row, rows - row);
  }

 private:
  static constexpr int64_t kLanes = hn::MaxLanes(D()), kOdd = kRow / (kRow & -kRow);
  static constexpr int kFolds = kRow == kOdd ? 0 : kRow == 2 * kOdd ? 1 : 2;
  static_assert(kRow == kOdd << kFolds && (!kHasTwoBlocks<D> || kBlockLanes<D> >= (1 << kFolds)));
  using V = Vector<D>;
  using Odd = OddRows<kOdd, kFolds, D>;

  static HWY_INLINE V fold(const From* from) {
    V v[kRow];
    unrolled<kRow>([&](int64_t k) TENON_UNROLLED { v[k].v = Load::vector(D(), from + k * kLanes); });
    fold_even<kRow>(v);
    turn<0>(v);
    V columns[kOdd];
    unrolled<kOdd>([&](int64_t k) TENON_UNROLLED { columns[k] = v[k * Odd::kInverse % kOdd]; });
    return {hn::TableLookupLanes(fold_columns<0, kOdd>(columns).v, Odd::rows())};
  }
  /// Neighbours are folded while rows have an even number of lanes.
  template <int64_t kCount>
  static HWY_INLINE void fold_even(V* v) {
    if constexpr (kCount > kOdd) {
      unrolled<kCount / 2>([&](int64_t k)
                               TENON_UNROLLED { v[k] = fold_pairs_in_blocks<F>(D(), v[2 * k], v[2 * k + 1]); });
      fold_even<kCount / 2>(v);
    }
  }
  /// Lanes whose turns have this bit move on by as many vectors.
  template <int64_t kBit>
  static HWY_INLINE void turn(V* v) {
    if constexpr (kBit < Odd::kBits) {
      constexpr int64_t kBy = (int64_t{1} << kBit) % kOdd;
      V turned[kOdd];
      unrolled<kOdd>([&](int64_t k) TENON_UNROLLED {
        turned[k].v = Odd::template choose_turned<kBit>(v[(k + kOdd - kBy) % kOdd].v, v[k].v);
      });
      unrolled<kOdd>([&](int64_t k) TENON_UNROLLED { v[k] = turned[k]; });
      turn<kBit + 1>(v);
    }
  }
  static HWY_INLINE V join(V low, V high, int64_t between) {
    return F::forward(low, V{hn::TableLookupLanes(high.v, Odd::shift(static_cast<std::size_t>(between)))});
  }
  template <int64_t kFrom, int64_t kCount>
  static HWY_INLINE V fold_columns(const V* columns) {
    if constexpr (kCount == 1) {
      return columns[kFrom];
    } else {
      constexpr int64_t kLow = kCount > 8 ? 8 : kCount > 4 ? 4 : kCount > 2 ? 2 : 1;
      return join(fold_columns<kFrom, kLow>(columns), fold_columns<kFrom + kLow, kCount - kLow>(columns), kLow);
    }
  }
};

/// Folds rows of 3, 5 or 6 lanes without gaps, in vectors of 16 also of 7, and extremes of 9, 10 and 12. Returns false
/// for others: longer ones gain nothing, and vectors hold few rows of 8-byte elements.
template <class F, class Load>
HWY_INLINE bool fold_as_columns(typename Load::To* out, const typename Load::From* from, int64_t n, int64_t rows) {
  using T = typename Load::To;
  using D = std::remove_const_t<decltype(hn::CappedTag<T, 64 / sizeof(T)>())>;
  if constexpr (sizeof(T) == 4) {
    if (n == 3) return RowsAsColumns<F, Load, 3, D>::run(out, from, rows), true;
    if (n == 5) return RowsAsColumns<F, Load, 5, D>::run(out, from, rows), true;
    if (n == 6) return RowsAsColumns<F, Load, 6, D>::run(out, from, rows), true;
    if constexpr (hn::MaxLanes(D()) == 16) {
      if (n == 7) return RowsAsColumns<F, Load, 7, D>::run(out, from, rows), true;
      if constexpr (std::is_same_v<F, ops::amax> || std::is_same_v<F, ops::amin>) {
        if (n == 9) return RowsAsColumns<F, Load, 9, D>::run(out, from, rows), true;
        if (n == 10) return RowsAsColumns<F, Load, 10, D>::run(out, from, rows), true;
        if (n == 12) return RowsAsColumns<F, Load, 12, D>::run(out, from, rows), true;
      }
    }
  }
  return false;
}
/// Folds rows of a few vectors at most, as many together as a vector has lanes. Returns the number of rows; the last
/// ones are left. Bench: ./dev bench --sweep, inner reductions.
template <class F, class Load, class D>
HWY_INLINE int64_t fold_groups(D d, typename Load::To* out, const typename Load::From* from, int64_t n, int64_t step,
                               int64_t rows) {
  constexpr int64_t kLanes = hn::MaxLanes(D()), kHalf = kLanes / 2;
  if constexpr (kFoldsShortRows<Load> && kHalf > 1) {
    if (step == n && n == kHalf) return fold_whole_rows<F, Load, kHalf>(d, out, from, rows);
    if (step == n && n == 2 && kHalf > 2) return fold_whole_rows<F, Load, 2>(d, out, from, rows);
    if constexpr (kLanes == 8)
      if (step == n && fold_as_columns<F, Load>(out, from, n, rows)) return rows;
  }
  const auto counted = hn::FirstN(d, static_cast<std::size_t>(n < kLanes ? n : kLanes - n % kLanes));
  const int64_t end = (rows - 1) * step + n;  // of what may be read
  int64_t row = 0;
  for (; row + kLanes <= rows && (row + kLanes - 1) * step + kLanes <= end; row += kLanes)
    hn::StoreU(fold_group<F, Load>(d, from + row * step, n, step, counted).v, d, out + row);
  return row;
}
#else
template <class F, class Load, class D>
HWY_INLINE int64_t fold_groups(D, typename Load::To*, const typename Load::From*, int64_t, int64_t, int64_t) {
  return 0;
}
#endif

// Memory is read best in order, without prefetching: there longer rows are folded one by one. The order of the folds is
// the same.
inline constexpr int64_t kFarGroupBytes = 160;

/// Folds rows, as many together as a vector has lanes. `kBlocks`: rows of at least a vector, which may be long.
template <class F, class Load, bool kBlocks, class D>
HWY_NOINLINE void fold_rows(D d, typename Load::To* out, const typename Load::From* from, int64_t n, int64_t step,
                            int64_t rows, bool is_far) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  int64_t row = 0;
  if constexpr (!kBlocks)
    if (!is_far || n * static_cast<int64_t>(sizeof(typename Load::To)) < kFarGroupBytes)
      row = fold_groups<F, Load>(d, out, from, n, step, rows);
  for (from += row * step; row < rows; row += kLanes) {
    Vector<D> vectors[kLanes];
    const int64_t count = std::min(rows - row, kLanes);
    for (int64_t i = 0; i < count; ++i, from += step) vectors[i] = fold_row<F, Load, kBlocks>(d, from, n, is_far);
    if (count == 1)
      out[row] = fold_lanes<F, sizeof(typename Load::To)>(d, vectors[0]);
    else
      store_first(d, fold_across<F>(d, vectors, count).v, out + row, count);
  }
}

/// The same as `fold`, with vectors. Short rows are folded in half vectors, which Zen 4 rearranges twice as fast.
template <class F, class Load>
void fold_vectors(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  using T = typename Load::To;
  constexpr int64_t kItemsize = static_cast<int64_t>(sizeof(T));
  const hn::CappedTag<T, 16> wide;
  constexpr bool kShort = kFoldsShortRows<Load>;
  const hn::CappedTag<T, kShort ? 32 / sizeof(T) : 4> narrow;
  constexpr auto kWide = static_cast<int64_t>(hn::MaxLanes(wide)), kNarrow = static_cast<int64_t>(hn::MaxLanes(narrow));
  T* const to = static_cast<T*>(out);
  const auto* from = static_cast<const typename Load::From*>(in);
  if (n >= (kShort ? kFoldBytes * 3 / 2 / kItemsize : kWide))
    return fold_rows<F, Load, true>(wide, to, from, n, step, rows, is_far);
  // A few rows of up to three lanes are folded faster lane by lane, in the same order. Bench: tenon_bench --filter
  // '^tiny/sum'.
  const int64_t least = !kShort ? kNarrow : rows < 4 ? 4 : 2;
  if constexpr (kNarrow > 1 && (kShort || kNarrow < kWide))
    if (n >= least) return fold_rows<F, Load, false>(narrow, to, from, n, step, rows, is_far);
  for (int64_t row = 0; row < rows; ++row, from += step) {
    Lane<T> result(Load::lane(from[0]));
    for (int64_t i = 1; i < n; ++i) result = F::forward(result, Lane<T>(Load::lane(from[i])));
    to[row] = result.v;
  }
}

// Rows are read in the order of memory: a row's vectors are folded side by side, as many as registers hold. Several
// columns of one row after the other, each over all rows, would read memory at a third of the speed. Bench: ./dev bench
// --sweep, outer and middle reductions.
inline constexpr int64_t kMostColumns = HWY_TARGET <= HWY_AVX3 ? 16 : 8;
// So many rows are folded one after the other before they join the rows before them; rows of one or two vectors are
// folded pairwise, so that no addition waits for the one before, and more of them.
inline constexpr int64_t kRowsInOrder = 16, kPairedRows = 64;

/// Folds `rows` rows of `n` lanes, which kVectors vectors cover: the last ones end at `n`.
template <class F, class Load, int64_t kVectors, class D>
HWY_INLINE void fold_columns(D d, typename Load::To* to, const typename Load::From* from, int64_t n, int64_t step,
                             int64_t rows, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(d), kAtEnd = kVectors > 8 ? 4 : kVectors > 4 ? 2 : 1;
  const auto place = [&](int64_t k)
                         TENON_UNROLLED { return k < kVectors - kAtEnd ? k * kLanes : n - (kVectors - k) * kLanes; };
  const auto load = [&](int64_t row, int64_t k)
                        TENON_UNROLLED { return Vector<D>{Load::vector(d, from + row * step + place(k))}; };
  Vector<D> sums[kVectors];
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sums[k] = load(0, k); });
  int64_t row = 1;
  if constexpr (kVectors <= 2)
    for (; row + 4 <= rows; row += 4)
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED {
        sums[k] = F::forward(sums[k], F::forward(F::forward(load(row, k), load(row + 1, k)),
                                                 F::forward(load(row + 2, k), load(row + 3, k))));
      });
  for (; row < rows; ++row)
    unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sums[k] = F::forward(sums[k], load(row, k)); });
  if (joins)
    unrolled<kVectors>([&](int64_t k)
                           TENON_UNROLLED { sums[k] = F::forward(Vector<D>{hn::LoadU(d, to + place(k))}, sums[k]); });
  unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { hn::StoreU(sums[k].v, d, to + place(k)); });
}
/// Rows of at least one vector and at most kMost.
template <class F, class Load, int64_t kMost, class D>
HWY_INLINE void fold_all_columns(D d, typename Load::To* to, const typename Load::From* from, int64_t n, int64_t step,
                                 int64_t rows, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(d);
  if (n <= kLanes) return fold_columns<F, Load, 1>(d, to, from, n, step, rows, joins);
  if (n <= 2 * kLanes) return fold_columns<F, Load, 2>(d, to, from, n, step, rows, joins);
  if (n <= 3 * kLanes) return fold_columns<F, Load, 3>(d, to, from, n, step, rows, joins);
  if (kMost == 4 || n <= 4 * kLanes) return fold_columns<F, Load, 4>(d, to, from, n, step, rows, joins);
  if constexpr (kMost >= 8) {
    if (n <= 6 * kLanes) return fold_columns<F, Load, 6>(d, to, from, n, step, rows, joins);
    if (kMost == 8 || n <= 8 * kLanes) return fold_columns<F, Load, 8>(d, to, from, n, step, rows, joins);
  }
  if constexpr (kMost >= 16) {
    if (n <= 12 * kLanes) return fold_columns<F, Load, 12>(d, to, from, n, step, rows, joins);
    fold_columns<F, Load, 16>(d, to, from, n, step, rows, joins);
  }
}
/// Rows of at least one vector, at most kMost unless that is kMostColumns.
template <class F, class Load, int64_t kMost, class D>
HWY_NOINLINE void fold_vectors_across(D d, typename Load::To* to, const typename Load::From* from, int64_t n,
                                      int64_t step, int64_t rows, bool joins) {
  constexpr int64_t kLanes = hn::MaxLanes(d), kBlock = 4 * kLanes;
  const int64_t together = n <= 2 * kLanes ? kPairedRows : kRowsInOrder;
  for (int64_t count = 0; rows > 0; rows -= count, from += count * step, joins = true) {
    count = std::min(rows, together);
    int64_t i = 0;
    if constexpr (kMost == kMostColumns)
      for (; n - i > kMost * kLanes; i += kBlock)
        fold_columns<F, Load, 4>(d, to + i, from + i, kBlock, step, count, joins);
    fold_all_columns<F, Load, kMost>(d, to + i, from + i, n - i, step, count, joins);
  }
}
/// Folds rows lane by lane. Bench: tenon_bench --filter '^reduce/(sum|amax) dim 0'.
template <class F, class Load>
void fold_across(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool joins) {
  using T = typename Load::To;
  const hn::CappedTag<T, 16> wide;
  const hn::CappedTag<T, 4> narrow;
  constexpr auto kWide = static_cast<int64_t>(hn::MaxLanes(wide)), kNarrow = static_cast<int64_t>(hn::MaxLanes(narrow));
  T* const to = static_cast<T*>(out);
  const auto* from = static_cast<const typename Load::From*>(in);
  if constexpr (sizeof(T) < 4) {  // vectors of so many lanes are shorter than the machine's
    const hn::CappedTag<T, 64 / sizeof(T)> whole;
    if (n >= static_cast<int64_t>(hn::MaxLanes(whole)) && hn::MaxLanes(whole) > hn::MaxLanes(wide))
      return fold_vectors_across<F, Load, kMostColumns>(whole, to, from, n, step, rows, joins);
  }
  if (n >= kWide) return fold_vectors_across<F, Load, kMostColumns>(wide, to, from, n, step, rows, joins);
  if constexpr (kNarrow < kWide)
    if (n >= kNarrow) return fold_vectors_across<F, Load, 4>(narrow, to, from, n, step, rows, joins);
  for (int64_t i = 0; i < n; ++i) {
    Lane<T> result(joins ? to[i] : Load::lane(from[i]));
    for (int64_t row = joins ? 0 : 1; row < rows; ++row)
      result = F::forward(result, Lane<T>(Load::lane(from[row * step + i])));
    to[i] = result.v;
  }
}

#if TENON_HAS_VECTORS
/// Vectors that rows shorter than one are folded in. Their lanes can be shifted: of narrow types within 16 bytes.
template <class T>
using ShortRowLanes = hn::CappedTag<T, sizeof(T) >= 4 ? 16 : 16 / sizeof(T)>;
/// Lane i takes lane i + shift.
template <class D>
class LaneShift {
 public:
  HWY_INLINE explicit LaneShift(int64_t shift) : from_(indices(shift)) {}
  HWY_INLINE Vector<D> operator()(Vector<D> v) const {
    if constexpr (sizeof(T) >= 4)
      return {hn::TableLookupLanes(v.v, from_)};
    else
      return {hn::BitCast(D(), hn::TableLookupBytes(hn::BitCast(Bytes(), v.v), from_))};
  }

 private:
  using T = hn::TFromD<D>;
  using Bytes = hn::Repartition<uint8_t, D>;
  static HWY_INLINE auto indices(int64_t shift) {
    if constexpr (sizeof(T) >= 4) {
      using Index = hwy::MakeSigned<T>;
      constexpr int64_t kLanes = hn::MaxLanes(D());
      alignas(64) Index of[kLanes];
      for (int64_t i = 0; i < kLanes; ++i) of[i] = static_cast<Index>(std::min(i + shift, kLanes - 1));
      return hn::SetTableIndices(D(), of);
    } else {
      constexpr int64_t kBytes = hn::MaxLanes(Bytes());
      alignas(16) uint8_t of[kBytes];
      for (int64_t i = 0; i < kBytes; ++i)
        of[i] = static_cast<uint8_t>(std::min(i + shift * static_cast<int64_t>(sizeof(T)), kBytes - 1));
      return hn::Load(Bytes(), of);
    }
  }
  decltype(indices(0)) from_;
};

/// The rows of a block, which are shorter than a vector: as many as fit are folded side by side if there are no gaps
/// between them, and joined at the block's end.
template <class F, class Load, class D>
class ShortRows {
 public:
  using From = typename Load::From;
  using To = typename Load::To;
  using V = Vector<D>;
  /// `end`: of the memory that may be read.
  HWY_INLINE ShortRows(int64_t n, int64_t step, int64_t rows, const From* end, const Load& as = {})
      : as_(as),
        together_(step == n ? std::min(kLanes / n, rows) : 1),
        turns_(rows / together_),
        stride_(together_ * step),
        has_rest_(rows % together_ != 0),
        rest_(hn::FirstN(D(), static_cast<std::size_t>(rows % together_ * n))),
        end_(end) {
    for (int64_t left = together_; left > 1; left -= left / 2, ++halvings_) {
      const int64_t half = left / 2;
      shifts_[halvings_] = LaneShift<D>((left - half) * n);
      joined_[halvings_] = hn::FirstN(D(), static_cast<std::size_t>(half * n));
    }
  }
  /// The fold of a block's rows in the first lanes.
  HWY_INLINE V fold(const From* block) const {
    V sum = load(block);
    int64_t turn = 1;
    if (turns_ >= 2 * kSums) {
      // A level's sums are joined before they are large, as pairwise summation does.
      const int64_t whole = turns_ / kSums * kSums;
      for (turn = 0; turn < whole;) {
        const int64_t first = turn, end = std::min(turn + kLevel, whole);
        V sums[kSums];
        unrolled<kSums>([&](int64_t k) TENON_UNROLLED { sums[k] = load(block + (first + k) * stride_); });
        while ((turn += kSums) < end)
          unrolled<kSums>([&](int64_t k)
                              TENON_UNROLLED { sums[k] = F::forward(sums[k], load(block + (turn + k) * stride_)); });
        const V level = fold_halves<F, kSums>(sums);
        sum = first == 0 ? level : F::forward(sum, level);
      }
    }
    for (; turn < turns_; ++turn) sum = F::forward(sum, load(block + turn * stride_));
    if (has_rest_) sum.v = hn::IfThenElse(rest_, F::forward(sum, load(block + turns_ * stride_)).v, sum.v);
    for (int i = 0; i < halvings_; ++i) sum.v = hn::IfThenElse(joined_[i], F::forward(sum, shifts_[i](sum)).v, sum.v);
    return sum;
  }

 private:
  static constexpr int64_t kLanes = hn::MaxLanes(D()), kSums = 4, kLevel = 16 * kSums;
  HWY_INLINE V load(const From* from) const {
    if (end_ - from >= kLanes) [[likely]]
      return {as_.vector(D(), from)};
    From last[kLanes] = {};
    std::memcpy(last, from, static_cast<std::size_t>(end_ - from) * sizeof(From));
    return {as_.vector(D(), last)};
  }
  [[no_unique_address]] Load as_;
  int64_t together_, turns_, stride_;
  bool has_rest_;
  hn::Mask<D> rest_;
  const From* end_;
  int halvings_ = 0;
  LaneShift<D> shifts_[4] = {LaneShift<D>(0), LaneShift<D>(0), LaneShift<D>(0), LaneShift<D>(0)};
  hn::Mask<D> joined_[4];
};

/// Folds blocks of rows. Bench: ./dev bench --sweep, middle reductions.
template <class F, class Load>
void fold_blocks(void* out, const void* in, int64_t n, int64_t step, int64_t rows, int64_t jump, int64_t count) {
  using T = typename Load::To;
  const ShortRowLanes<T> d;
  constexpr int64_t kLanes = hn::MaxLanes(d);
  const auto* from = static_cast<const typename Load::From*>(in);
  T* to = static_cast<T*>(out);
  if (n >= kLanes) {
    for (; count > 0; --count, to += n, from += jump) fold_across<F, Load>(to, from, n, step, rows, false);
    return;
  }
  const ShortRows<F, Load, ShortRowLanes<T>> block(n, step, rows, from + (count - 1) * jump + (rows - 1) * step + n);
  // Ends are compared, because a counter may be kept in memory: the next turn would wait until it is stored.
  for (T* const last = to + count * n; to != last; to += n, from += jump)
    store_first(d, block.fold(from).v, to, last - to >= kLanes ? kLanes : n);
}
#endif

/// The same for integers, whose long rows are folded as wide as the machine's vectors where memory does not
/// limit them.
template <class F, class T>
void fold_integers(void* out, const void* in, int64_t n, int64_t step, int64_t rows, bool is_far) {
  constexpr int64_t kLongBytes = 2048;
  if (n >= kLongBytes / static_cast<int64_t>(sizeof(T)) && !is_far) return fold<F, T>(out, in, n, step, rows, is_far);
  fold_vectors<F, PlainLoad<T>>(out, in, n, step, rows, is_far);
}

/// Extremes of narrow integers have vectors, and of 16-bit floats all kernels, from fill_extremes.
template <class F>
inline constexpr bool kIsExtreme = std::is_same_v<F, ops::amax> || std::is_same_v<F, ops::amin>;

template <class F, class T>
constexpr FoldKernel fold_kernel() {
#if TENON_HAS_VECTORS
  if constexpr (kIsExtreme<F> && sizeof(T) <= 2) return nullptr;
  if constexpr (std::is_floating_point_v<T>) return &fold_vectors<F, PlainLoad<T>>;
  if constexpr (std::is_integral_v<T> && sizeof(T) >= 4) return &fold_integers<F, T>;
#endif
  return &fold<F, T>;
}

template <class F, class T>
constexpr FoldAcrossKernel fold_across_kernel() {
#if TENON_HAS_VECTORS
  // Sums and products of narrower integers are folds of int64; see kIsExtreme for their extremes.
  if constexpr (std::is_floating_point_v<T> || (std::is_integral_v<T> && sizeof(T) >= 4))
    return &fold_across<F, PlainLoad<T>>;
#endif
  return nullptr;
}

/// Where rows are folded where they lie, blocks of them are, too.
template <class F, class T>
constexpr FoldBlocksKernel fold_blocks_kernel() {
#if TENON_HAS_VECTORS
  if constexpr (fold_across_kernel<F, T>() != nullptr) return &fold_blocks<F, PlainLoad<T>>;
#endif
  return nullptr;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
#endif
