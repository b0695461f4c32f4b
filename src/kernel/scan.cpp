// kernel: running sums, of many columns or of several rows at once.
#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/scan.cpp"
#include "hwy/foreach_target.h"
#include "kernel/half-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

/// What elements are summed in. Sums of narrower integers have the bits of sums in 64 bits.
template <class T>
struct SumOf {
  using type = T;
};
template <>
struct SumOf<float> {
  using type = double;
};
template <Half T>
struct SumOf<T> {
  using type = float;
};

// --- Elements

template <class T>
HWY_INLINE typename SumOf<T>::type value_of(const T* from) {
  if constexpr (Half<T>)
    return widen_lane(from);
  else
    return *from;
}
template <class T>
HWY_INLINE void put(T* to, typename SumOf<T>::type sum) {
  if constexpr (Half<T>)
    narrow_lane(to, sum);
  else
    *to = static_cast<T>(sum);
}

// --- Columns

template <class T, class Sum>
void sum_columns(void* out, const void* in, int64_t length, int64_t inner, int64_t count, void* sums) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  Sum* const running = static_cast<Sum*>(sums);
  for (; count > 0; --count) {
    std::memset(running, 0, static_cast<std::size_t>(inner) * sizeof(Sum));
    for (int64_t row = 0; row < length; ++row, from += inner, to += inner) {
      TENON_INDEPENDENT
      for (int64_t i = 0; i < inner; ++i) to[i] = static_cast<T>(running[i] += static_cast<Sum>(from[i]));
    }
  }
}

// --- Vectors of 16-bit floats, as bits

#if TENON_HAS_VECTORS
template <Half T, class D>
HWY_INLINE hn::Vec<D> widened_bits(D d, hn::Vec<hn::Rebind<uint16_t, D>> bits) {
  const hn::RebindToUnsigned<D> d32;
  if constexpr (std::is_same_v<T, BFloat16>) {
    return hn::BitCast(d, hn::ShiftLeft<16>(hn::PromoteTo(d32, bits)));
  } else {
#if TENON_CONVERTS_FLOAT16
    return hn::PromoteTo(d, hn::BitCast(hn::Rebind<hwy::float16_t, D>(), bits));
#else
    return float16_values(d, hn::PromoteTo(d32, bits));
#endif
  }
}
template <Half T, class D>
HWY_INLINE hn::Vec<hn::Rebind<uint16_t, D>> narrowed_bits(D d, hn::Vec<D> value) {
  const hn::Rebind<uint16_t, D> d16;
  if constexpr (std::is_same_v<T, BFloat16>) {
    return hn::TruncateTo(d16, hn::ShiftRight<16>(rounded_to_bfloat16(d, value)));
  } else {
#if TENON_CONVERTS_FLOAT16
    return hn::BitCast(d16, hn::DemoteTo(hn::Rebind<hwy::float16_t, D>(), value));
#else
    return hn::TruncateTo(d16, rounded_to_float16(d, value));
#endif
  }
}

/// Lanes of memory as what they are summed in, and back.
template <class T, class DSum, class V>
HWY_INLINE hn::Vec<DSum> summand(DSum d, V v) {
  if constexpr (Half<T>)
    return widened_bits<T>(d, v);
  else if constexpr (std::is_same_v<T, hn::TFromD<DSum>>)
    return v;
  else
    return hn::PromoteTo(d, v);
}
template <class T, class D, class VSum>
HWY_INLINE hn::Vec<D> stored_sum(D d, VSum sum) {
  if constexpr (Half<T>)
    return narrowed_bits<T>(hn::Rebind<float, D>(), sum);
  else if constexpr (std::is_same_v<T, typename SumOf<T>::type>)
    return sum;
  else
    return hn::DemoteTo(d, sum);
}

/// Running sums of several rows of a few columns in each vector. What is summed inside a vector does not wait for the
/// vector before. Sums of float32 in float64 and of 16-bit floats in float32 have bits to spare, so the order of
/// additions does not matter, unless a sum of bfloat16 overflows. Bench: ./dev bench --sweep, scans.
template <class T>
class SumsInVectors {
  using Lane = std::conditional_t<Half<T>, uint16_t, T>;
  using Sum = typename SumOf<T>::type;
  using D = hn::CappedTag<Sum, Half<T> ? 16 : 8>;
  using DLane = hn::Rebind<Lane, D>;
  using V = hn::Vec<D>;
  using Places = decltype(hn::SetTableIndices(D(), static_cast<const hwy::MakeSigned<Sum>*>(nullptr)));
  static constexpr int64_t kLanes = hn::MaxLanes(D());

 public:
  /// Whether so many columns are summed here.
  static bool takes(int64_t columns, int64_t rows) { return 2 * columns <= kLanes && rows * columns >= kFewest; }

  HWY_INLINE explicit SumsInVectors(int64_t columns) : columns_(columns), width_(kLanes / columns * columns) {
    const hn::RebindToSigned<D> d;
    const auto lanes = hn::Iota(d, Index{0});
    for (int64_t shift = columns; shift < width_; shift *= 2, ++steps_) {
      const auto before = hn::Sub(lanes, hn::Set(d, static_cast<Index>(shift)));
      before_[steps_] = hn::IndicesFromVec(D(), hn::Max(before, hn::Zero(d)));
      has_none_[steps_] = hn::FirstN(D(), static_cast<std::size_t>(shift));
    }
    alignas(64) Index last[kLanes];
    const auto end = static_cast<Index>(width_);
    auto place = static_cast<Index>(width_ - columns);
#pragma GCC unroll 1
    for (Index& lane : last) {
      lane = place;
      if (++place == end) place -= static_cast<Index>(columns);
    }
    last_row_ = hn::SetTableIndices(D(), last);
  }
  /// `to` may be `from` if there is one column and nothing overflows. False if something did: then the order matters.
  HWY_INLINE bool run(Lane* to, const Lane* from, int64_t rows) const {
    const DLane d;
    V before = hn::Zero(D()), not_finite = before;
    int64_t left = rows * columns_;  // exact: inside the storage
    for (; left >= kLanes; left -= width_, from += width_, to += width_)
      hn::StoreU(next(hn::LoadU(d, from), before, not_finite), d, to);
    for (int64_t count = 0; left > 0; left -= count, from += count, to += count) {
      count = std::min(left, width_);
      store_some(d, next(load_some(d, from, count), before, not_finite), to, count);
    }
    return !kMayOverflow || hn::AllTrue(D(), hn::Eq(not_finite, hn::Zero(D())));
  }
  static constexpr bool kMayOverflow = std::is_same_v<T, BFloat16>;

 private:
  using Index = hwy::MakeSigned<Sum>;
  static constexpr int64_t kFewest = 48;
  static constexpr int kMostSteps = 4;

  /// `not_finite` becomes NaN where a sum is not finite.
  HWY_INLINE hn::Vec<DLane> next(hn::Vec<DLane> lanes, V& before, V& not_finite) const {
    const D d;
    V sums = summand<T>(d, lanes);
    for (int i = 0; i < steps_; ++i)
      sums = hn::Add(sums, hn::IfThenZeroElse(has_none_[i], hn::TableLookupLanes(sums, before_[i])));
    const V result = hn::Add(before, sums);
    before = hn::Add(before, hn::TableLookupLanes(sums, last_row_));
    if constexpr (kMayOverflow) not_finite = hn::MulAdd(result, hn::Zero(d), not_finite);
    return stored_sum<T>(DLane(), result);
  }

  int64_t columns_, width_;  // of a row, and of all rows in a vector
  int steps_ = 0;
  Places before_[kMostSteps];
  hn::Mask<D> has_none_[kMostSteps];
  Places last_row_;
};
/// Blocks of rows that SumsInVectors takes.
template <class T>
HWY_NOINLINE void sum_in_vectors(T* to, const T* from, int64_t rows, int64_t columns, int64_t count) {
  using Lane = std::conditional_t<Half<T>, uint16_t, T>;
  const SumsInVectors<T> sums(columns);
  const int64_t block = rows * columns;  // exact: inside the storage
  for (; count > 0; --count, from += block, to += block) {
    if (sums.run(reinterpret_cast<Lane*>(to), reinterpret_cast<const Lane*>(from), rows)) continue;
    typename SumOf<T>::type before[hn::MaxLanes(hn::CappedTag<float, 16>())] = {};
    for (int64_t i = 0, column = 0; i < block; ++i, column = column + 1 < columns ? column + 1 : 0)
      put(to + i, before[column] += value_of(from + i));
  }
}

/// Columns of float32 and 16-bit floats. The sums of up to kMost vectors stay in registers. Bench: ./dev bench --sweep,
/// scans.
template <class T>
class ColumnSums {
  using Lane = std::conditional_t<Half<T>, uint16_t, T>;
  using Sum = typename SumOf<T>::type;
  using DSum = hn::CappedTag<Sum, Half<T> ? 16 : 8>;
  using D = hn::Rebind<Lane, DSum>;
  static constexpr int64_t kLanes = hn::MaxLanes(DSum()), kNarrow = 8, kMost = 4;
  static_assert(kLanes <= kFewSummed);

 public:
  static void run(void* out, const void* in, int64_t length, int64_t inner, int64_t count, void* sums) {
    const auto* from = static_cast<const Lane*>(in);
    auto* to = static_cast<Lane*>(out);
    if (SumsInVectors<T>::takes(inner, length))
      return sum_in_vectors(static_cast<T*>(out), static_cast<const T*>(in), length, inner, count);
    if constexpr (kLanes > kNarrow)
      if (inner <= kNarrow) return sum_narrow(hn::CappedTag<Sum, kNarrow>(), to, from, length, inner, count);
    if (inner < kLanes) return sum_narrow(DSum(), to, from, length, inner, count);
    if (inner == kLanes) return sum_few<1>(to, from, length, inner, count);
    if (inner <= 2 * kLanes) return sum_few<2>(to, from, length, inner, count);
    if (inner <= 3 * kLanes) return sum_few<3>(to, from, length, inner, count);
    if (inner <= kMost * kLanes) return sum_few<4>(to, from, length, inner, count);
    if constexpr (Half<T>)
      sum_many(to, from, length, inner, count, static_cast<float*>(sums));
    else
      sum_columns<T, Sum>(out, in, length, inner, count, sums);
  }

 private:
  static HWY_INLINE hn::Vec<DSum> summand_at(const Lane* from) { return summand<T>(DSum(), hn::LoadU(D(), from)); }
  static HWY_INLINE void store(hn::Vec<DSum> sum, Lane* to) { hn::StoreU(stored_sum<T>(D(), sum), D(), to); }

  /// At most a vector. Rows are stored as whole vectors; the next row is written over what lies behind.
  template <class DWide>
  static void sum_narrow(DWide d_sum, Lane* to, const Lane* from, int64_t length, int64_t inner, int64_t count) {
    const hn::Rebind<Lane, DWide> d;
    constexpr int64_t kWidth = hn::MaxLanes(d_sum);
    const int64_t numel = count * length * inner;
    const int64_t whole = numel < kWidth ? 0 : (numel - kWidth) / inner + 1;  // rows
    for (int64_t row = 0; count > 0; --count) {
      auto sum = hn::Zero(d_sum);
      const int64_t end = row + length;
      for (const int64_t last = std::min(end, whole); row < last; ++row, from += inner, to += inner) {
        sum = hn::Add(sum, summand<T>(d_sum, hn::LoadU(d, from)));
        hn::StoreU(stored_sum<T>(d, sum), d, to);
      }
      for (; row < end; ++row, from += inner, to += inner) {
        sum = hn::Add(sum, summand<T>(d_sum, load_some(d, from, inner)));
        store_some(d, stored_sum<T>(d, sum), to, inner);
      }
    }
  }
  /// Columns that kVectors vectors cover: the last one ends with the row. A row is read before it is written.
  template <int64_t kVectors>
  static void sum_few(Lane* to, const Lane* from, int64_t length, int64_t inner, int64_t count) {
    const auto place = [&](int64_t k) TENON_UNROLLED { return k < kVectors - 1 ? k * kLanes : inner - kLanes; };
    for (; count > 0; --count) {
      hn::Vec<DSum> sums[kVectors];
      unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sums[k] = hn::Zero(DSum()); });
      for (int64_t row = 0; row < length; ++row, from += inner, to += inner) {
        unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { sums[k] = hn::Add(sums[k], summand_at(from + place(k))); });
        unrolled<kVectors>([&](int64_t k) TENON_UNROLLED { store(sums[k], to + place(k)); });
      }
    }
  }
  static void sum_many(Lane* to, const Lane* from, int64_t length, int64_t inner, int64_t count, float* running) {
    const DSum d;
    const int64_t last_place = inner - kLanes;
    for (; count > 0; --count) {
      std::memset(running, 0, static_cast<std::size_t>(inner) * sizeof(float));
      auto last = hn::Zero(d);
      for (int64_t row = 0; row < length; ++row, from += inner, to += inner) {
        last = hn::Add(last, summand_at(from + last_place));
        for (int64_t i = 0; i < last_place; i += kLanes) {
          const auto sum = hn::Add(hn::LoadU(d, running + i), summand_at(from + i));
          hn::StoreU(sum, d, running + i);
          store(sum, to + i);
        }
        store(last, to + last_place);
      }
    }
  }
};
template <class T>
constexpr ScanKernel columns_kernel() {
  return &ColumnSums<T>::run;
}
#else
template <int64_t kInner>
void sum_rows_in_place(float* row, int64_t rows, float* running) {
  float sums[kInner];
  std::copy_n(running, kInner, sums);
  for (; rows > 0; --rows, row += kInner)
#pragma GCC unroll 4
    for (int64_t i = 0; i < kInner; ++i) row[i] = sums[i] += row[i];
  std::copy_n(sums, kInner, running);
}
/// Up to four columns. Rows are cast by kernels, some at a time: one by one, casts take longer than sums.
template <Half T>
void sum_few_half_columns(T* to, const T* from, int64_t length, int64_t inner) {
  constexpr int64_t kPiece = 960;
  constexpr auto kHalf = static_cast<std::size_t>(dtype_of_v<T>), kWhole = static_cast<std::size_t>(float32);
  constexpr void (*kSums[])(float*, int64_t, float*) = {&sum_rows_in_place<1>, &sum_rows_in_place<2>,
                                                        &sum_rows_in_place<3>, &sum_rows_in_place<4>};
  float piece[kPiece], running[4] = {};
  const Lanes wide{piece, 1};
  for (int64_t left = length * inner, n = 0; left > 0; left -= n, from += n, to += n) {
    n = std::min(kPiece, left);
    const Lanes narrow{from, 1};
    kernels().cast[kHalf][kWhole](piece, &narrow, n);
    kSums[inner - 1](piece, n / inner, running);
    kernels().cast[kWhole][kHalf](to, &wide, n);
  }
}
template <Half T>
void sum_half_columns(void* out, const void* in, int64_t length, int64_t inner, int64_t count, void* sums) {
  const T* from = static_cast<const T*>(in);
  T* to = static_cast<T*>(out);
  float* const running = static_cast<float*>(sums);
  for (; count > 0; --count) {
    if (inner <= 4) {
      sum_few_half_columns(to, from, length, inner);
      from += length * inner;
      to += length * inner;
      continue;
    }
    std::memset(running, 0, static_cast<std::size_t>(inner) * sizeof(float));
    for (int64_t row = 0; row < length; ++row, from += inner, to += inner)
      for (int64_t i = 0; i < inner; ++i) narrow_lane(to + i, running[i] += widen_lane(from + i));
  }
}
template <class T>
constexpr ScanKernel columns_kernel() {
  if constexpr (Half<T>)
    return &sum_half_columns<T>;
  else
    return &sum_columns<T, typename SumOf<T>::type>;
}
#endif

// --- Rows

template <class T>
HWY_INLINE void sum_row(T* to, const T* from, int64_t length) {
  typename SumOf<T>::type sum = 0;
  for (int64_t i = 0; i < length; ++i) put(to + i, sum += value_of(from + i));
}

#if TENON_HAS_VECTORS
// Rows that are summed together, because each sum of a row waits for the one before. Each is a lane of a vector of
// sums.
constexpr int64_t kRows = 8;

// Bytes that are prefetched before they are read, if rows are longer, and bytes of short rows. Bench: ./dev bench
// --sweep, scans.
constexpr int64_t kAheadBytes = 512, kShortRowBytes = 1024;

template <class T>
inline constexpr bool kSumsRunsInVectors = std::is_same_v<T, float> || Half<T>;

/// Square blocks of rows and columns, which are transposed in registers, summed column by column and transposed again.
template <class T>
class RowSums {
  using Lane = std::conditional_t<Half<T>, uint16_t, T>;
  using Sum = typename SumOf<T>::type;
  using DSum = hn::CappedTag<Sum, sizeof(T) == 8 ? 4 : 8>;
  static constexpr int64_t kSide = hn::MaxLanes(DSum());
  static constexpr int64_t kChains = kRows / kSide, kBytes = static_cast<int64_t>(sizeof(T));
  using D = hn::Rebind<Lane, DSum>;
  using V = hn::Vec<D>;

 public:
  static void run(void* out, const void* in, int64_t rows, int64_t length, bool fetches_out) {
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    for (; rows > kFewRows; rows -= kRows, from += kRows * length, to += kRows * length)
      RowSums(to, from, rows < kRows ? rows : kRows, length).sum(fetches_out);
    if (rows > 0) sum_few(to, from, rows, length);
  }

 private:
  // So many rows are summed one after the other.
  static constexpr int64_t kFewRows = kSumsRunsInVectors<T> || std::is_integral_v<T> ? 3 : 1;

  static HWY_NOINLINE void sum_few(T* to, const T* from, int64_t rows, int64_t length) {
    if constexpr (kSumsRunsInVectors<T>) {
      const bool keeps_from = from != to || !SumsInVectors<T>::kMayOverflow;
      // NOLINTNEXTLINE(readability-suspicious-call-argument): sums of rows are those of as many blocks of one column
      if (keeps_from && SumsInVectors<T>::takes(1, length)) return sum_in_vectors(to, from, length, 1, rows);
    }
    for (; rows > 0; --rows, from += length, to += length) sum_row(to, from, length);
  }

  HWY_INLINE RowSums(T* to, const T* from, int64_t rows, int64_t length)
      : to_(reinterpret_cast<Lane*>(to)), from_(reinterpret_cast<const Lane*>(from)), length_(length) {
    // The last row stands for the missing ones: it is read before it is written, and written with the same values.
    for (int64_t row = 0; row < kRows; ++row) starts_[row] = (row < rows ? row : rows - 1) * length;
  }

  HWY_INLINE void sum(bool fetches_out) {
    hn::Vec<DSum> sums[kChains];
#pragma GCC unroll 4
    for (int64_t chain = 0; chain < kChains; ++chain) sums[chain] = hn::Zero(DSum());
    int64_t column = 0;
    for (; column + kSide <= length_; column += kSide) {
      if (column * kBytes % 64 < kSide * kBytes) prefetch(column, fetches_out);
      sum_block<true>(column, kSide, sums);
    }
    const int64_t rest = length_ - column;
    if constexpr (kFewest < kSide)
      if (rest >= kFewest) return sum_block<false>(column, rest, sums);
    if (rest > 0) sum_rest(column, sums);
  }

  /// What is read next: of rows that are short, all memory of the kRows rows after these, line after line; of others,
  /// what follows in each row, or in the row kRows further.
  HWY_INLINE void prefetch(int64_t column, bool fetches_out) const {
    const int64_t row_bytes = length_ * kBytes, read = column * kBytes;
    const int64_t in_row = read + (row_bytes < kAheadBytes ? row_bytes : kAheadBytes);
    const int64_t in_rows = in_row < row_bytes ? in_row : in_row + (kRows - 1) * row_bytes;
    const bool in_line = row_bytes <= kShortRowBytes;
#pragma GCC unroll 8
    for (int64_t row = 0; row < kRows; ++row) {
      const int64_t ahead = in_line ? kRows * (row_bytes + read) + row * 64 : starts_[row] * kBytes + in_rows;
      __builtin_prefetch(reinterpret_cast<const std::byte*>(from_) + ahead, 0, 3);
      if (fetches_out) __builtin_prefetch(reinterpret_cast<const std::byte*>(to_) + ahead, 1, 3);
    }
  }

  template <bool kWhole>
  HWY_INLINE void sum_block(int64_t column, [[maybe_unused]] int64_t columns, hn::Vec<DSum> (&sums)[kChains]) const {
    V v[kRows];
#pragma GCC unroll 8
    for (int64_t i = 0; i < kRows; ++i) v[i] = kWhole ? load(i, column) : load_columns(i, column, columns);
    transpose(v);
#pragma GCC unroll 8
    for (int64_t lane = 0; lane < kRows; ++lane) {
      const int64_t chain = lane / kSide;
      sums[chain] = hn::Add(sums[chain], summand<T>(DSum(), v[lane]));
      v[lane] = stored_sum<T>(D(), sums[chain]);
    }
    transpose(v);
#pragma GCC unroll 8
    for (int64_t i = 0; i < kRows; ++i)
      if constexpr (kWhole)
        store(v[i], i, column);
      else
        store_columns(v[i], i, column, columns);
  }

  /// The last columns, if they are few.
  HWY_INLINE void sum_rest(int64_t column, const hn::Vec<DSum> (&vectors)[kChains]) const {
    Sum sums[kRows];
#pragma GCC unroll 4
    for (int64_t chain = 0; chain < kChains; ++chain) hn::StoreU(vectors[chain], DSum(), sums + chain * kSide);
    for (; column < length_; ++column) {
#pragma GCC unroll 8
      for (int64_t row = 0; row < kRows; ++row)
        sums[row] += value_of(reinterpret_cast<const T*>(from_ + starts_[row]) + column);
#pragma GCC unroll 8
      for (int64_t row = 0; row < kRows; ++row) put(reinterpret_cast<T*>(to_ + starts_[row]) + column, sums[row]);
    }
  }

  // Vectors longer than 128 bits are loaded and stored by halves: vector i holds the same columns of a row and of the
  // one kBlock rows further, so that it is enough to transpose within 128 bits.
  static constexpr int64_t kBlock = kSide * kBytes > 16 ? 16 / kBytes : kSide;
  static int64_t row_of_vector(int64_t i) { return i / kSide * kSide + i % kBlock; }
  static int64_t column_of_vector(int64_t i) { return i % kSide / kBlock * kBlock; }

  // So many last columns are a block of which a part is loaded and stored, where the processor can do that. 16-bit
  // floats are slower one by one. Bench: ./dev bench --sweep, scans.
  static constexpr int64_t kFewest = HWY_TARGET > HWY_AVX3 || kSide < 8 ? kSide : Half<T> ? 2 : 5;

  HWY_INLINE V load_columns(int64_t i, int64_t column, int64_t columns) const {
    const D d;
    if constexpr (kBlock == kSide) {
      return load_some(d, from_ + starts_[i] + column, columns);
    } else {
      const hn::Half<D> half;
      const int64_t first = column_of_vector(i), row = row_of_vector(i), count = part(first, columns);
      const Lane* const from = from_ + column + first;
      return hn::Combine(d, load_some(half, from + starts_[row + kBlock], count),
                         load_some(half, from + starts_[row], count));
    }
  }
  HWY_INLINE void store_columns(V v, int64_t i, int64_t column, int64_t columns) const {
    const D d;
    if constexpr (kBlock == kSide) {
      store_some(d, v, to_ + starts_[i] + column, columns);
    } else {
      // Masked stores of halves would become vextractf32x4, which faults on memory that its mask leaves out.
      const int64_t first = column_of_vector(i);
      if (first == 0) return store(v, i, column);
      Lane* const to = to_ + column + first;
      const int64_t row = row_of_vector(i), count = columns - first;
      store_some(d, v, to + starts_[row], count);
      store_some(d, hn::ConcatUpperUpper(d, v, v), to + starts_[row + kBlock], count);
    }
  }
  /// How many of `columns` are in a vector whose first one is `first`; there are more than half as many as lanes.
  static int64_t part(int64_t first, int64_t columns) { return first > 0 ? columns - first : kBlock; }

  HWY_INLINE V load(int64_t i, int64_t column) const {
    const D d;
    if constexpr (kBlock == kSide) {
      return hn::LoadU(d, from_ + starts_[i] + column);
    } else {
      const hn::Half<D> half;
      const Lane* const from = from_ + column + column_of_vector(i);
      const int64_t row = row_of_vector(i);
      return hn::Combine(d, hn::LoadU(half, from + starts_[row + kBlock]), hn::LoadU(half, from + starts_[row]));
    }
  }
  HWY_INLINE void store(V v, int64_t i, int64_t column) const {
    const D d;
    if constexpr (kBlock == kSide) {
      hn::StoreU(v, d, to_ + starts_[i] + column);
    } else {
      const hn::Half<D> half;
      Lane* const to = to_ + column + column_of_vector(i);
      const int64_t row = row_of_vector(i);
      hn::StoreU(hn::LowerHalf(half, v), half, to + starts_[row]);
      hn::StoreU(hn::UpperHalf(half, v), half, to + starts_[row + kBlock]);
    }
  }

  /// Squares of kBlock vectors. Interleaving each vector with the one half a square further transposes the square, if
  /// it is done once for each power of two.
  static HWY_INLINE void transpose(V (&v)[kRows]) {
    const D d;
    V next[kRows];
#pragma GCC unroll 4
    for (int64_t turn = 1; turn < kBlock; turn *= 2) {
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows / 2; ++i) {
        const int64_t first = i / (kBlock / 2) * kBlock, lane = i % (kBlock / 2);
        next[first + 2 * lane] = hn::InterleaveLower(d, v[first + lane], v[first + lane + kBlock / 2]);
        next[first + 2 * lane + 1] = hn::InterleaveUpper(d, v[first + lane], v[first + lane + kBlock / 2]);
      }
#pragma GCC unroll 8
      for (int64_t i = 0; i < kRows; ++i) v[i] = next[i];
    }
  }

  Lane* to_;
  const Lane* from_;
  int64_t length_;
  int64_t starts_[kRows];
};
#else
template <class T>
struct RowSums {
  static void run(void* out, const void* in, int64_t rows, int64_t length, bool) {
    const T* from = static_cast<const T*>(in);
    T* to = static_cast<T*>(out);
    for (; rows > 0; --rows, from += length, to += length) sum_row(to, from, length);
  }
};
#endif

// --- The table

template <class... T>
void fill_integers(KernelTable& table) {
  ((table.sum_columns[static_cast<int>(dtype_of_v<T>)] = &sum_columns<T, uint64_t>), ...);
}
template <class... T>
void fill_columns(KernelTable& table) {
  ((table.sum_columns[static_cast<int>(dtype_of_v<T>)] = columns_kernel<T>()), ...);
}
template <class... T>
void fill_rows(KernelTable& table) {
  ((table.sum_rows[static_cast<int>(dtype_of_v<T>)] = &RowSums<T>::run), ...);
}
void fill_scans(KernelTable& table) {
  fill_integers<uint8_t, int8_t, int16_t, int32_t, int64_t>(table);
  table.sum_columns[static_cast<int>(float64)] = &sum_columns<double, double>;
  fill_columns<float, Float16, BFloat16>(table);
  fill_rows<float, double, Float16, BFloat16>(table);
  table.sum_rows[static_cast<int>(int32)] = &RowSums<uint32_t>::run;
  table.sum_rows[static_cast<int>(int64)] = &RowSums<uint64_t>::run;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
