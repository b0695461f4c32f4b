#include <algorithm>

#include "hwy/cache_control.h"
#include "kernel/kernel.h"
#include "kernel/product_tiles.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/product.cpp"
#include "hwy/foreach_target.h"
#include "kernel/some_lanes-inl.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

// A tile's sums stay in registers over the whole depth: kProductRows rows by kTileVectors vectors of columns take 24 of
// 32 registers, or 12 of 16; the others hold a row of b and a factor. Bench: tenon_bench --filter '^grad/tanh of mm'.
#if HWY_TARGET <= HWY_AVX3 || HWY_ARCH_ARM_A64
inline constexpr int kTileVectors = 4;
#else
inline constexpr int kTileVectors = 2;
#endif
// Few rows are tiles of twice as many vectors.
inline constexpr int kWideVectors = 2 * kTileVectors;

/// The most rows of a tile of so many vectors, where rows are not packed: more products than a processor begins until
/// the first is done, and b is read once for few rows. Bench: ./dev bench --sweep, products.
template <class T>
constexpr int rows_of_tile(int vectors) {
  if (vectors == kWideVectors) return kTileVectors == 4 ? 3 : 2;
  if (vectors == 1) return 8;
  if (kTileVectors < 4 || !std::is_floating_point_v<T>) return kProductRows;
  return vectors == 2 ? 14 : vectors == 3 ? 8 : kProductRows;
}

#undef TENON_HAS_PAIRS
#if HWY_TARGET == HWY_AVX3 && HWY_ARCH_X86_64
#define TENON_HAS_PAIRS 1
#else
#define TENON_HAS_PAIRS 0
#endif

/// sum + x y. In products of pairs a lane of x and of y is two bfloat16 numbers, and two products are added.
struct Single {
  static constexpr bool kHasShortDots = true, kArePairs = false;
  template <class V>
  static HWY_INLINE V mul_add(V x, V y, V sum) {
    if constexpr (std::is_floating_point_v<hn::TFromV<V>>)
      return hn::MulAdd(x, y, sum);
    else
      return hn::Add(hn::Mul(x, y), sum);
  }
};
#if TENON_HAS_PAIRS
struct Pairs {
  static constexpr bool kHasShortDots = false, kArePairs = true;
  // Not the intrinsic: the instruction is newer than the others of this region, and is used only where there is one.
  static HWY_INLINE hn::Vec<hn::ScalableTag<float>> mul_add(hn::Vec<hn::ScalableTag<float>> x,
                                                            hn::Vec<hn::ScalableTag<float>> y,
                                                            hn::Vec<hn::ScalableTag<float>> sum) {
    asm("vdpbf16ps %2, %1, %0" : "+v"(sum.raw) : "v"(x.raw), "v"(y.raw));
    return sum;
  }
};
#endif

/// The first `count` lanes, or all; the others are zeros.
template <class D>
HWY_INLINE hn::Vec<D> load_first(D d, const hn::TFromD<D>* from, int64_t count) {
#if HWY_TARGET == HWY_AVX2
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(count)), d, from);  // lanes have at least 4 bytes
#else
  return load_some(d, from, count);
#endif
}

/// The lanes of a mask of the first `count`, which is computed once.
template <class D, class M>
HWY_INLINE hn::Vec<D> load_present([[maybe_unused]] M present, D d, const hn::TFromD<D>* from,
                                   [[maybe_unused]] int64_t count) {
#if HWY_TARGET <= HWY_AVX2
  return hn::MaskedLoad(present, d, from);  // lanes have at least 4 bytes
#else
  return load_some(d, from, count);
#endif
}

#if HWY_TARGET == HWY_AVX2
/// Stores the first `count` lanes, fewer than all, in parts of a half, a quarter and an eighth of a vector: on Zen 3 a
/// store by a mask takes some ten cycles longer. Bench: ./dev bench --sweep, products.
template <class D, class T>
HWY_INLINE void store_parts(D d, hn::Vec<D> v, T* out, int64_t count) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  if constexpr (kLanes == 1) {
    if (count > 0) hn::StoreU(v, d, out);
  } else {
    const hn::Half<D> half;
    auto part = hn::LowerHalf(half, v);
    if (count >= kLanes / 2) {
      hn::StoreU(part, half, out);
      part = hn::UpperHalf(half, v);
      out += kLanes / 2;
      count -= kLanes / 2;
    }
    store_parts(half, part, out, count);
  }
}
#endif

/// Stores the first `count` lanes of a vector of sums, which are those of the mask.
template <class D, class M, class T>
HWY_INLINE void store_present([[maybe_unused]] M present, D d, hn::Vec<D> sums, T* out, int64_t count, bool adds) {
  if (adds) sums = hn::Add(load_present(present, d, out, count), sums);
#if HWY_TARGET <= HWY_AVX3
  hn::BlendedStore(sums, present, d, out);
#else
  if (count >= static_cast<int64_t>(hn::Lanes(d))) return hn::StoreU(sums, d, out);
#if HWY_TARGET == HWY_AVX2
  store_parts(d, sums, out, count);
#else
  store_some(d, sums, out, count);
#endif
#endif
}

/// Addresses of rows by groups of four: a register for the offset of each row would be too many. The compiler must not
/// see that groups have offsets, too.
template <int kRows, class T>
class RowGroups {
 public:
  HWY_INLINE RowGroups(const T* a, int64_t row) : row_(row) {
    for (int i = 0; i < kGroups; ++i) {
      groups_[i] = a + int64_t{4} * i * row;
      asm("" : "+r"(groups_[i]));
    }
  }
  HWY_INLINE T at(int row) const { return groups_[row / 4][row % 4 * row_]; }
  HWY_INLINE void advance(int64_t by) {
    for (int i = 0; i < kGroups; ++i) groups_[i] += by;
  }

 private:
  static constexpr int kGroups = (kRows + 3) / 4;
  const T* groups_[kGroups];
  int64_t row_;
};

/// A vector that several instructions use, loaded once: GCC would load it for each.
template <class V>
HWY_INLINE V kept([[maybe_unused]] V v) {
#if HWY_ARCH_X86_64 && HWY_TARGET <= HWY_AVX2
  asm("" : "+v"(v.raw));
#endif
  return v;
}

// Rows of b that are fetched ahead, where a tile is the only one that reads them. Bench: ./dev bench --sweep, products.
inline constexpr int64_t kFetchedAhead = 16;

/// `kRows` rows by `kVectors` vectors of columns. The last vector ends with the last column, and may overlap the one
/// before it. Of a lone vector only the first `columns` are written, and read, unless they are pairs: behind these is
/// memory for a vector.
template <class By, int kRows, int kVectors, class D, class T>
HWY_INLINE void multiply_tile(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  // Of few rows b is read in blocks of long rows, where the processor reads ahead by itself.
  constexpr bool kFetches = kVectors > 1 && kRows > kProductRows;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), last = kVectors == 1 ? 0 : columns - lanes;
  const auto present = hn::FirstN(d, static_cast<std::size_t>(std::min(columns, lanes)));
  const int64_t a_depth = block.a_depth, b_depth = block.b_depth;
  const auto place = [&](int i) HWY_ATTR { return i + 1 == kVectors ? last : i * lanes; };
  RowGroups<kRows, T> rows(a, block.a_row);
  const T* ahead = b + kFetchedAhead * b_depth;
  asm("" : "+r"(ahead));  // one register, not an offset for each vector
  hn::Vec<D> sums[kRows][kVectors];
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kVectors; ++i) sums[row][i] = hn::Zero(d);
  for (int64_t k = 0; k < block.depth; ++k, rows.advance(a_depth), b += b_depth, ahead += b_depth) {
    const auto load = [&](int i) HWY_ATTR {
      if (kFetches) hwy::Prefetch(ahead + i * lanes);
      if (kVectors == 1 && !By::kArePairs) return load_present(present, d, b, columns);
      return kept(hn::LoadU(d, b + place(i)));
    };
    // Those of which there are fewer wait in registers: for all of b's, there would be too few.
    if constexpr (kRows < kVectors) {
      hn::Vec<D> factors[kRows];
      for (int row = 0; row < kRows; ++row) factors[row] = kept(hn::Set(d, rows.at(row)));
      for (int i = 0; i < kVectors; ++i) {
        const auto other = load(i);
        for (int row = 0; row < kRows; ++row) sums[row][i] = By::mul_add(factors[row], other, sums[row][i]);
      }
    } else {
      hn::Vec<D> factors[kVectors];
      for (int i = 0; i < kVectors; ++i) factors[i] = load(i);
      for (int row = 0; row < kRows; ++row) {
        const auto other = hn::Set(d, rows.at(row));
        for (int i = 0; i < kVectors; ++i) sums[row][i] = By::mul_add(other, factors[i], sums[row][i]);
      }
    }
  }
#pragma GCC unroll 16
  for (int row = 0; row < kRows; ++row, out += block.out_stride) {
    if constexpr (kVectors == 1) {
      store_present(present, d, sums[row][0], out, columns, block.adds);
    } else {
      // Vectors that overlap have the same sums where they do: all are added before one is written.
      if (block.adds)
        for (int i = 0; i < kVectors; ++i) sums[row][i] = hn::Add(hn::LoadU(d, out + place(i)), sums[row][i]);
      for (int i = 0; i < kVectors; ++i) hn::StoreU(sums[row][i], d, out + place(i));
    }
  }
}

/// `rows` rows, at most kRows.
template <class By, int kRows, int kVectors, class D, class T>
HWY_INLINE void multiply_height(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t rows,
                                int64_t columns) {
  if constexpr (kRows > 1)
    if (rows < kRows) return multiply_height<By, kRows - 1, kVectors>(d, block, out, a, b, rows, columns);
  multiply_tile<By, kRows, kVectors>(d, block, out, a, b, columns);
}

/// Fetches rows that are written when their sums are done. Bench: ./dev bench --sweep, products.
template <int kVectors, class D, class T>
HWY_INLINE void fetch_rows(D d, const T* out, int64_t stride, int64_t rows) {
#pragma GCC unroll 1
  for (int64_t row = 0; row < rows; ++row, out += stride)
    for (int i = 0; i < kVectors; ++i) hwy::Prefetch(out + i * static_cast<int64_t>(hn::Lanes(d)));
}

/// All rows of up to `kVectors` vectors of columns.
template <class By, int kVectors, class D, class T>
void multiply_columns(D d, const ProductBlock& block, T* out, const T* b, int64_t columns) {
  constexpr int kRows = rows_of_tile<T>(kVectors);
  const T* const a = static_cast<const T*>(block.a);
  visit_tiles(block.rows, block.a_tile > 0 ? kProductRows : int64_t{kRows},
              [&](int64_t tile, int64_t row, int64_t rows) HWY_ATTR {
                fetch_rows<kVectors>(d, out + row * block.out_stride, block.out_stride, rows);
                multiply_height<By, kRows, kVectors>(d, block, out + row * block.out_stride,
                                                     a + (block.a_tile > 0 ? tile * block.a_tile : row * block.a_row),
                                                     b, rows, columns);
              });
}

/// How many of so many vectors of columns a tile takes, so that no tile is a lone vector if there are others.
inline int64_t taken_vectors(int64_t vectors, int64_t most) {
  if (most == kWideVectors && vectors >= most && vectors != most + 1) return most;
  most = std::min<int64_t>(most, kTileVectors);
  if (vectors <= most || vectors >= 2 * most) return std::min(vectors, most);
  return (vectors + 1) / 2;
}

/// A block in tiles of at most `most` vectors.
template <class By, class D, class T>
void multiply_shape(D d, const ProductBlock& block, int64_t most) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), panel = kTileVectors * lanes;
  for (int64_t column = 0, columns = 0; column < block.columns; column += columns) {
    const int64_t left = block.columns - column, vectors = taken_vectors(tiles_of(left, lanes), most);
    columns = std::min(vectors * lanes, left);
    T* const out = static_cast<T*>(block.out) + column;
    const T* const b = static_cast<const T*>(block.b) + column / panel * block.b_panel + column % panel;
    if (vectors == kWideVectors) {
      multiply_columns<By, kWideVectors>(d, block, out, b, columns);
    } else if (vectors == kTileVectors) {
      multiply_columns<By, kTileVectors>(d, block, out, b, columns);
    } else if (vectors == 1) {
      multiply_columns<By, 1>(d, block, out, b, columns);
    } else if constexpr (kTileVectors == 4) {
      if (vectors == 3)
        multiply_columns<By, 3>(d, block, out, b, columns);
      else
        multiply_columns<By, 2>(d, block, out, b, columns);
    }
  }
}

/// Vectors of a tile of a whole block.
template <class T>
int64_t most_vectors(const ProductBlock& block, int64_t panel) {
  // In packed panels wider tiles would meet a panel's end.
  if (!std::is_floating_point_v<T> || block.b_panel != panel || block.a_tile > 0) return kTileVectors;
  if (block.rows <= rows_of_tile<T>(kWideVectors)) return kWideVectors;
  for (int vectors = kTileVectors; vectors > 1; --vectors)
    if (block.rows <= rows_of_tile<T>(vectors)) return vectors;
  return kTileVectors;
}

/// Where `b` stays in the first-level cache, a tile's rows are written from end to end: short strips of many rows would
/// take twice as long to reach the second-level cache. A result of few bytes stays in the first-level cache until it is
/// whole.
constexpr int64_t kLastingBytes = 16 << 10, kWholeBytes = 8 << 10;

template <class T, class By>
void multiply_block(const ProductBlock& block) {
  const hn::ScalableTag<T> d;
  using D = std::remove_const_t<decltype(d)>;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t most = most_vectors<T>(block, kTileVectors * lanes);
  const int64_t row_bytes = block.columns * static_cast<int64_t>(sizeof(T));
  if (most != kTileVectors || block.columns <= kTileVectors * lanes || block.depth * row_bytes > kLastingBytes ||
      block.rows * row_bytes <= kWholeBytes)
    return multiply_shape<By, D, T>(d, block, most);
  visit_tiles(block.rows, kProductRows, [&](int64_t tile, int64_t row, int64_t rows) {
    ProductBlock own = block;
    own.rows = rows;
    own.a = static_cast<const T*>(block.a) + (block.a_tile > 0 ? tile * block.a_tile : row * block.a_row);
    own.out = static_cast<T*>(block.out) + row * block.out_stride;
    multiply_shape<By, D, T>(d, own, kTileVectors);
  });
}

/// The sums of as many vectors as a vector has lanes, each in a lane.
template <class D>
HWY_INLINE hn::Vec<D> sum_each([[maybe_unused]] D d, hn::Vec<D>* v) {
#if HWY_TARGET != HWY_SCALAR
  using T = hn::TFromD<D>;
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for (int64_t i = 0; i < kLanes / 2; ++i)
    v[i] = hn::Add(hn::InterleaveLower(d, v[2 * i], v[2 * i + 1]), hn::InterleaveUpper(d, v[2 * i], v[2 * i + 1]));
  if constexpr (sizeof(T) == 4) {
    const hn::RepartitionToWide<D> pairs;
    for (int64_t i = 0; i < kLanes / 4; ++i) {
      const auto even = hn::BitCast(pairs, v[2 * i]), odd = hn::BitCast(pairs, v[2 * i + 1]);
      v[i] = hn::Add(hn::BitCast(d, hn::InterleaveLower(pairs, even, odd)),
                     hn::BitCast(d, hn::InterleaveUpper(pairs, even, odd)));
    }
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  if constexpr (kLanes * sizeof(T) == 32)
    v[0] = hn::Add(hn::ConcatLowerLower(d, v[1], v[0]), hn::ConcatUpperUpper(d, v[1], v[0]));
#endif
  return v[0];
}

/// The sum of a vector in its first lane, added in the order of sum_each: an element's bits do not depend on its
/// column.
template <class D>
HWY_INLINE hn::Vec<D> sum_one([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (sizeof(hn::TFromD<D>) == 4) {
    v = hn::Add(v, hn::Shuffle1032(v));
    v = hn::Add(v, hn::Shuffle2301(v));
  } else {
    v = hn::Add(v, hn::Shuffle01(v));
  }
#endif
#if HWY_TARGET <= HWY_AVX2
  if constexpr (hn::MaxLanes(D()) * sizeof(hn::TFromD<D>) == 32) v = hn::Add(v, hn::ConcatLowerUpper(d, v, v));
#endif
  return v;
}

/// Vectors whose lanes are summed together.
template <class D>
inline constexpr int kTogether = std::min<int>(4, hn::MaxLanes(D()));
/// A vector of so many lanes: its halves are added.
template <class T, int kLanes, class D>
HWY_INLINE hn::Vec<hn::FixedTag<T, kLanes>> folded([[maybe_unused]] D d, hn::Vec<D> v) {
#if HWY_TARGET != HWY_SCALAR
  if constexpr (hn::MaxLanes(D()) > kLanes) {
    const hn::Half<D> half;
    return folded<T, kLanes>(half, hn::Add(hn::LowerHalf(half, v), hn::UpperHalf(half, v)));
  } else
#endif
    return v;
}
/// Stores the sums of the lanes of `kRows` by `kColumns` vectors, four at once where there are as many: each in the
/// same order.
template <int kRows, int kColumns, class T, class D>
HWY_INLINE void store_dots(D d, const ProductBlock& block, T* out, const hn::Vec<D> (&sums)[kRows][kColumns]) {
  constexpr int kLanes = kTogether<D>;
  const hn::FixedTag<T, kLanes> some;
  for (int row = 0; row < kRows; ++row, out += block.out_stride)
    for (int column = 0; column < kColumns; column += kColumns % kLanes == 0 ? kLanes : 1) {
      if constexpr (kColumns % kLanes == 0) {
        hn::Vec<decltype(some)> own[kLanes];
        for (int i = 0; i < kLanes; ++i) own[i] = folded<T, kLanes>(d, sums[row][column + i]);
        hn::StoreU(sum_each(some, own), some, out + column);
      } else {
        out[column] = hn::GetLane(sum_one(some, folded<T, kLanes>(d, sums[row][column])));
      }
    }
}

/// The dot products of contiguous rows of `a` and contiguous columns of `b`. The order of summation does not depend on
/// the other elements.
template <class By, int kRows, int kColumns, class D, class T>
HWY_INLINE void multiply_dots(D d, const ProductBlock& block, T* out, const T* a, const T* b) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> sums[kRows][kColumns];
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) sums[row][column] = hn::Zero(d);
  int64_t k = 0;
  for (; k + lanes <= block.depth; k += lanes) {
    hn::Vec<D> factors[kRows];
    for (int row = 0; row < kRows; ++row) factors[row] = kept(hn::LoadU(d, a + row * block.a_row + k));
    for (int column = 0; column < kColumns; ++column) {
      const auto other = kept(hn::LoadU(d, b + column * block.b_depth + k));
      for (int row = 0; row < kRows; ++row) sums[row][column] = By::mul_add(factors[row], other, sums[row][column]);
    }
  }
  if (const int64_t rest = block.depth - k; rest > 0) {
    hn::Vec<D> factors[kRows];
    for (int row = 0; row < kRows; ++row) factors[row] = load_first(d, a + row * block.a_row + k, rest);
    for (int column = 0; column < kColumns; ++column) {
      const auto other = load_first(d, b + column * block.b_depth + k, rest);
      for (int row = 0; row < kRows; ++row) sums[row][column] = By::mul_add(factors[row], other, sums[row][column]);
    }
  }
  store_dots(d, block, out, sums);
}

template <class By, int kRows, int kColumns, class D, class T>
void multiply_dot_rows(D d, const ProductBlock& block, T* out, const T* a) {
  const T* b = static_cast<const T*>(block.b);
  int64_t column = 0;
  for (; column + kColumns <= block.columns; column += kColumns)
    multiply_dots<By, kRows, kColumns>(d, block, out + column, a, b + column * block.b_depth);
  for (; column < block.columns; ++column)
    multiply_dots<By, kRows, 1>(d, block, out + column, a, b + column * block.b_depth);
}

/// The products of a row's elements and those of a column, of which the lanes are to be summed.
template <class D, class T>
HWY_INLINE hn::Vec<D> multiply_run(D d, const T* a, const T* b, int64_t depth) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  auto sum = hn::Zero(d);
  int64_t k = 0;
  for (; k + lanes <= depth; k += lanes) sum = Single::mul_add(hn::LoadU(d, a + k), hn::LoadU(d, b + k), sum);
  if (k == depth) return sum;
  return Single::mul_add(load_first(d, a + k, depth - k), load_first(d, b + k, depth - k), sum);
}

// Rows whose short dots are computed together: each vector of b is loaded once for both. Bench: ./dev bench --sweep,
// products.
inline constexpr int64_t kShortDotRows = HWY_TARGET <= HWY_AVX3 ? 2 : 1;

/// The dot products of contiguous rows and contiguous columns, which are too short to sum the lanes of each alone.
template <int64_t kRows, class D, class T>
HWY_INLINE void multiply_short_dots(D d, const ProductBlock& block, T* out, const T* a, const T* b) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const int64_t step = block.b_depth, a_row = block.a_row, depth = block.depth;
  int64_t column = 0;
  for (; column + kLanes <= block.columns; column += kLanes, b += kLanes * step) {
    hn::Vec<D> sums[kRows][kLanes];
    for (int64_t row = 0; row < kRows; ++row)
      for (int64_t i = 0; i < kLanes; ++i) sums[row][i] = hn::Zero(d);
    const auto add = [&](const auto& load) HWY_ATTR {
      hn::Vec<D> factors[kRows];
      for (int64_t row = 0; row < kRows; ++row) factors[row] = load(a + row * a_row);
      for (int64_t i = 0; i < kLanes; ++i) {
        const auto other = load(b + i * step);
        for (int64_t row = 0; row < kRows; ++row) sums[row][i] = Single::mul_add(factors[row], other, sums[row][i]);
      }
    };
    int64_t k = 0;
    for (; k + kLanes <= depth; k += kLanes) add([&](const T* from) HWY_ATTR { return hn::LoadU(d, from + k); });
    if (k < depth) add([&](const T* from) HWY_ATTR { return load_first(d, from + k, depth - k); });
    for (int64_t row = 0; row < kRows; ++row)
      hn::StoreU(sum_each(d, sums[row]), d, out + row * block.out_stride + column);
  }
  for (; column < block.columns; ++column, b += step)
    for (int64_t row = 0; row < kRows; ++row)
      out[row * block.out_stride + column] = hn::GetLane(sum_one(d, multiply_run(d, a + row * a_row, b, depth)));
}

// Rows of a tile of dot products. Bench: ./dev bench --sweep, products.
inline constexpr int kDotRows = kTileVectors == 4 ? 6 : 4;

template <class T, class By>
void multiply_long_dots(const ProductBlock& block) {
  const hn::ScalableTag<T> d;
  visit_tiles(block.rows, kDotRows, [&](int64_t, int64_t row, int64_t rows) {
    T* const out = static_cast<T*>(block.out) + row * block.out_stride;
    const T* const a = static_cast<const T*>(block.a) + row * block.a_row;
    if constexpr (kDotRows == 6) {
      if (rows == 6) return multiply_dot_rows<By, 6, kTileVectors>(d, block, out, a);
      if (rows == 5) return multiply_dot_rows<By, 5, kTileVectors>(d, block, out, a);
    }
    if (rows == 4) return multiply_dot_rows<By, 4, kTileVectors>(d, block, out, a);
    if (rows == 3) return multiply_dot_rows<By, 3, kTileVectors>(d, block, out, a);
    if (rows == 2) return multiply_dot_rows<By, 2, kTileVectors>(d, block, out, a);
    multiply_dot_rows<By, 1, 8>(d, block, out, a);
  });
}
template <class T, class By>
HWY_NOINLINE void multiply_long_batches(const SmallProducts& products) {
  ProductBlock block = products.block;
  for (int64_t batch = 0; batch < products.batches; ++batch) {
    multiply_long_dots<T, By>(block);
    block.out = static_cast<T*>(block.out) + block.rows * block.out_stride;
    block.a = static_cast<const T*>(block.a) + products.a_batch;
    block.b = static_cast<const T*>(block.b) + products.b_batch;
  }
}

// Shorter dot products are summed together, by narrower vectors. Bench: ./dev bench --sweep, products.
inline constexpr int64_t kShortDotBytes = 200;

template <class T, class By>
void multiply_transposed(const SmallProducts& products) {
  const ProductBlock& block = products.block;
  const int64_t row_bytes = block.depth * static_cast<int64_t>(sizeof(T));  // exact: inside a storage
  if (!By::kHasShortDots || row_bytes > kShortDotBytes) return multiply_long_batches<T, By>(products);
  if constexpr (By::kHasShortDots) {
    const hn::CappedTag<T, 32 / sizeof(T)> d;  // short rows begin anywhere: 64 bytes lie in two cache lines
    T* out = static_cast<T*>(block.out);
    for (int64_t batch = 0; batch < products.batches; ++batch) {
      const T* const a = static_cast<const T*>(block.a) + batch * products.a_batch;
      const T* const b = static_cast<const T*>(block.b) + batch * products.b_batch;
      int64_t row = 0;
      // Fewer columns than lanes are summed one by one, in which rows have nothing in common.
      const int64_t together = block.columns < static_cast<int64_t>(hn::MaxLanes(d)) ? 0 : block.rows;
      for (; row + kShortDotRows <= together; row += kShortDotRows)
        multiply_short_dots<kShortDotRows>(d, block, out + row * block.out_stride, a + row * block.a_row, b);
      for (; row < block.rows; ++row)
        multiply_short_dots<1>(d, block, out + row * block.out_stride, a + row * block.a_row, b);
      out += block.rows * block.out_stride;
    }
  }
}

/// `kRows` rows of one vector of columns, of which the first `columns` are read and all are written.
template <int kRows, class D, class T>
HWY_INLINE void multiply_vectors(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  const int64_t a_depth = block.a_depth, b_depth = block.b_depth, depth = block.depth, stride = block.out_stride;
  const auto present = hn::FirstN(d, static_cast<std::size_t>(columns));
  RowGroups<kRows, T> rows(a, block.a_row);
  hn::Vec<D> sums[kRows];
  for (int row = 0; row < kRows; ++row) sums[row] = hn::Zero(d);
  for (int64_t k = 0; k < depth; ++k, rows.advance(a_depth), b += b_depth) {
    const auto factors = load_present(present, d, b, columns);
    for (int row = 0; row < kRows; ++row) sums[row] = Single::mul_add(hn::Set(d, rows.at(row)), factors, sums[row]);
  }
  for (int row = 0; row < kRows; ++row, out += stride) hn::StoreU(sums[row], d, out);
}

/// One row, whose products are summed in four sums: one would wait for itself.
template <class D, class T>
HWY_INLINE void multiply_row(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  const int64_t a_depth = block.a_depth, b_depth = block.b_depth;
  hn::Vec<D> sums[4] = {hn::Zero(d), hn::Zero(d), hn::Zero(d), hn::Zero(d)};
  int64_t depth = block.depth;
  for (; depth >= 4; depth -= 4, a += 4 * a_depth, b += 4 * b_depth)
    for (int i = 0; i < 4; ++i)
      sums[i] = Single::mul_add(hn::Set(d, a[i * a_depth]), load_first(d, b + i * b_depth, columns), sums[i]);
  for (; depth > 0; --depth, a += a_depth, b += b_depth)
    sums[0] = Single::mul_add(hn::Set(d, *a), load_first(d, b, columns), sums[0]);
  hn::StoreU(hn::Add(hn::Add(sums[0], sums[1]), hn::Add(sums[2], sums[3])), d, out);
}

// Rows of sums that are computed together: more products than a processor begins until the first is done take more
// registers. Bench: ./dev bench --sweep, products.
inline constexpr int64_t kStripRows = kTileVectors == 4 ? 6 : 4;
/// `rows` rows, from 2 to kRows.
template <int kRows, class D, class T>
HWY_INLINE void multiply_some_vectors(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t rows,
                                      int64_t columns) {
  if constexpr (kRows > 2)
    if (rows < kRows) return multiply_some_vectors<kRows - 1>(d, block, out, a, b, rows, columns);
  multiply_vectors<kRows>(d, block, out, a, b, columns);
}
/// All rows of one vector of columns, in their order: what a row's vector has beyond its columns, the next rows
/// overwrite.
template <class D, class T>
HWY_NOINLINE void multiply_tall_strip(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  if (block.rows <= kStripRows) return multiply_some_vectors<kStripRows>(d, block, out, a, b, block.rows, columns);
  const int64_t turns = (block.rows + kStripRows - 1) / kStripRows;
  for (int64_t turn = 0, row = 0, end; turn < turns; ++turn, row = end) {
    end = block.rows * (turn + 1) / turns;  // exact: `turn` is below the rows
    multiply_some_vectors<kStripRows>(d, block, out + row * block.out_stride, a + row * block.a_row, b, end - row,
                                      columns);
  }
}
template <class D, class T>
HWY_INLINE void multiply_strip(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  if (block.rows == 1) return multiply_row(d, block, out, a, b, columns);
  if (block.rows == 2) return multiply_vectors<2>(d, block, out, a, b, columns);
  if (block.rows == 3) return multiply_vectors<3>(d, block, out, a, b, columns);
  if (block.rows == 4) return multiply_vectors<4>(d, block, out, a, b, columns);
  multiply_tall_strip(d, block, out, a, b, columns);
}

#if HWY_TARGET <= HWY_AVX2
/// Row i of the result has lane i of each vector.
template <class D>
HWY_INLINE void turn_square(D d, hn::Vec<D>* v) {
  constexpr int kSide = hn::MaxLanes(D());
  hn::Vec<D> pairs[kSide], quads[kSide];
  for (int i = 0; i < kSide; i += 2) {
    pairs[i] = hn::InterleaveLower(d, v[i], v[i + 1]);
    pairs[i + 1] = hn::InterleaveUpper(d, v[i], v[i + 1]);
  }
  if constexpr (kSide == 8) {
    const hn::RepartitionToWide<D> wide;
    for (int i = 0; i < kSide; i += 4)
      for (int j = 0; j < 2; ++j) {
        const auto low = hn::BitCast(wide, pairs[i + j]), high = hn::BitCast(wide, pairs[i + j + 2]);
        quads[i + 2 * j] = hn::BitCast(d, hn::InterleaveLower(wide, low, high));
        quads[i + 2 * j + 1] = hn::BitCast(d, hn::InterleaveUpper(wide, low, high));
      }
  } else {
    for (int i = 0; i < kSide; ++i) quads[i] = pairs[i];
  }
  for (int i = 0; i < kSide / 2; ++i) {
    v[i] = hn::ConcatLowerLower(d, quads[i + kSide / 2], quads[i]);
    v[i + kSide / 2] = hn::ConcatUpperUpper(d, quads[i + kSide / 2], quads[i]);
  }
}
#endif

// Columns of a turned matrix are rounded up to this, and so is its depth.
template <class T>
inline constexpr int64_t kTurnedSide = 32 / sizeof(T);
template <class T>
constexpr int64_t turned_width(int64_t columns) {
  return (columns + kTurnedSide<T> - 1) / kTurnedSide<T> * kTurnedSide<T>;
}

/// A matrix by rows, from one whose columns lie `apart`. Behind the last column, rows have any values.
template <class T>
HWY_INLINE void turn(T* to, const T* from, int64_t apart, int64_t depth, int64_t columns) {
  const int64_t width = turned_width<T>(columns);
#if HWY_TARGET <= HWY_AVX2
  constexpr int64_t kSide = kTurnedSide<T>;
  const hn::FixedTag<T, kSide> d;
  for (int64_t k = 0; k < depth; k += kSide) {
    const auto present = hn::FirstN(d, static_cast<std::size_t>(std::min(depth - k, kSide)));
    for (int64_t column = 0; column < columns; column += kSide) {
      hn::Vec<decltype(d)> v[kSide];
      for (int64_t i = 0; i < kSide; ++i)
        v[i] = hn::MaskedLoad(present, d, from + std::min(column + i, columns - 1) * apart + k);
      turn_square(d, v);
      for (int64_t i = 0; i < kSide; ++i) hn::StoreU(v[i], d, to + (k + i) * width + column);
    }
  }
#else
  for (int64_t column = 0; column < columns; ++column)
    for (int64_t k = 0; k < depth; ++k) to[k * width + column] = from[column * apart + k];
#endif
}

/// The matrices of `b` by rows: one at a time is turned if their columns lie along memory.
template <class T>
class RowsOfB {
 public:
  explicit RowsOfB(const SmallProducts& products) : products_(products) {}
  /// As a block by rows.
  static SmallProducts turned(SmallProducts products) {
    products.block.b_depth = turned_width<T>(products.block.columns);
    return products;
  }
  HWY_INLINE const T* of(int64_t batch) {
    const ProductBlock& block = products_.block;
    const T* const b = static_cast<const T*>(block.b) + batch * products_.b_batch;
    if (block.b_panel == 0) return b;
    turn(rows_, b, block.b_panel, block.depth, block.columns);
    return rows_;
  }

 private:
  const SmallProducts& products_;
  // Sizes are rounded up to 8: at most from 9 by 56 to 16 by 56.
  alignas(64) T rows_[2 * kTurnedNumel];
};

/// Matrices from `first` to `last`, which follow each other in `out`. The last vector of columns ends with the last
/// column, if a row has as many.
template <class D, class T>
void multiply_strips(D d, const SmallProducts& products, T* out, int64_t first, int64_t last) {
  const ProductBlock& block = products.block;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), least = std::min(block.columns, lanes);
  const int64_t numel = block.rows * block.columns;
  RowsOfB<T> rows(products);
  for (int64_t batch = first; batch < last; ++batch, out += numel) {
    const T* a = static_cast<const T*>(block.a) + batch * products.a_batch;
    const T* b = rows.of(batch);
    for (int64_t i = 0; i < block.columns; i += lanes) {
      const int64_t column = std::min(i, block.columns - least);
      multiply_strip(d, block, out + column, a, b + column, least);
    }
  }
}

/// The last rows of `out`, whose vectors would pass its end, are computed elsewhere.
template <class D, class T>
void multiply_narrow(D d, const SmallProducts& products, T* out) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  const int64_t rows = products.block.rows, columns = products.block.columns, numel = rows * columns,
                excess = std::max(kLanes - columns, int64_t{0}),
                whole = std::max(products.batches - (excess + numel - 1) / numel, int64_t{0});
  multiply_strips(d, products, out, 0, whole);
  if (whole == products.batches) return;
  out += whole * numel;
  SmallProducts rest = products;
  if (rows > kLanes + 1) {  // of the last matrix. A row alone would be summed in another order than among others.
    rest.block.rows = rows - kLanes;
    multiply_strips(d, rest, out, whole, products.batches);
    out += rest.block.rows * columns;
    rest.block.a = static_cast<const T*>(rest.block.a) + rest.block.rows * rest.block.a_row;
    rest.block.rows = kLanes;
  }
  T last[(kLanes + 1) * kLanes];
  multiply_strips(d, rest, last, whole, products.batches);
  std::copy_n(last, (products.batches - whole) * rest.block.rows * columns, out);
}

template <class T>
void multiply_blocks(const SmallProducts& products) {
  ProductBlock block = products.block;
  block.b_panel = kTileVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  RowsOfB<T> rows(products);
  for (int64_t batch = 0; batch < products.batches; ++batch) {
    block.b = rows.of(batch);
    multiply_block<T, Single>(block);
    block.out = static_cast<T*>(block.out) + block.rows * block.out_stride;
    block.a = static_cast<const T*>(block.a) + products.a_batch;
  }
}

/// More multiplications are worth tiles of several vectors. Bench: ./dev bench --sweep, products.
constexpr int64_t kStripProducts = 512;

template <class T>
void multiply_small(const SmallProducts& given) {
  const SmallProducts products = given.block.b_panel > 0 ? RowsOfB<T>::turned(given) : given;
  const ProductBlock& block = products.block;
  const hn::ScalableTag<T> d;
  const hn::Half<decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool is_vector = block.rows == 1 && block.columns <= lanes;
  const bool has_tiles = block.columns > lanes || (block.columns == lanes && block.rows <= kStripRows);
  if (!is_vector && has_tiles && block.rows * block.columns * block.depth > kStripProducts)
    return multiply_blocks<T>(products);
  T* out = static_cast<T*>(block.out);
  if (block.columns <= static_cast<int64_t>(hn::Lanes(half))) return multiply_narrow(half, products, out);
  multiply_narrow(d, products, out);
}

template <class T>
ProductKernels product_kernels() {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  return {&multiply_block<T, Single>, &multiply_transposed<T, Single>, &multiply_small<T>, kTileVectors * lanes, lanes};
}

void fill_products(KernelTable& table) {
  table.product[static_cast<int>(Dtype::float32)] = product_kernels<float>();
  table.product[static_cast<int>(Dtype::float64)] = product_kernels<double>();
#if TENON_HAS_PAIRS
  if (__builtin_cpu_supports("avx512bf16")) {
    const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<float>()));
    table.product[static_cast<int>(Dtype::bfloat16)] = {
        &multiply_block<float, Pairs>, &multiply_transposed<float, Pairs>, nullptr, kTileVectors * lanes, lanes};
  }
#endif
  // Products wrap: signed and unsigned results have the same bits.
  table.product[static_cast<int>(Dtype::int32)] = product_kernels<uint32_t>();
  table.product[static_cast<int>(Dtype::int64)] = product_kernels<uint64_t>();
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
