#include <algorithm>

#include "kernel/kernel.h"

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

/// Stores the first `columns` lanes of a vector of sums.
template <class D, class T>
HWY_INLINE void store(D d, hn::Vec<D> sums, T* out, int64_t columns, bool adds) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  if (columns >= lanes) {
    hn::StoreU(adds ? hn::Add(hn::LoadU(d, out), sums) : sums, d, out);
    return;
  }
  store_some(d, adds ? hn::Add(load_first(d, out, columns), sums) : sums, out, columns);
}

/// `kRows` rows, or two tiles of kProductRows, by `kVectors` vectors of columns. The last vector ends with the last
/// column, and may overlap the one before it. `kEnds`: a lone vector, of which only the first `columns` are written,
/// and read, unless they are pairs: behind these is memory for a vector.
template <class By, int kRows, int kVectors, bool kEnds, class D, class T>
HWY_INLINE void multiply_tile(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), last = kVectors == 1 ? 0 : columns - lanes;
  const int64_t a_row = block.a_row, a_depth = block.a_depth, b_depth = block.b_depth;
  const int64_t to_second = block.a_tile - kProductRows * a_row;
  const auto row_of = [&](int row) HWY_ATTR { return row * a_row + (row < kProductRows ? 0 : to_second); };
  const auto place = [&](int i) HWY_ATTR { return i + 1 == kVectors ? last : i * lanes; };
  hn::Vec<D> sums[kRows][kVectors];
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kVectors; ++i) sums[row][i] = hn::Zero(d);
  for (int64_t k = 0; k < block.depth; ++k, a += a_depth, b += b_depth) {
    hn::Vec<D> factors[kVectors];
    for (int i = 0; i < kVectors; ++i)
      factors[i] = kEnds && !By::kArePairs ? load_first(d, b, columns) : hn::LoadU(d, b + place(i));
    for (int row = 0; row < kRows; ++row) {
      const auto factor = hn::Set(d, a[row_of(row)]);
      for (int i = 0; i < kVectors; ++i) sums[row][i] = By::mul_add(factor, factors[i], sums[row][i]);
    }
  }
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kVectors; ++i)
      store(d, sums[row][i], out + row * block.out_stride + place(i), kEnds ? columns : lanes, block.adds);
}

/// All rows of a block that is up to `kVectors` vectors wide.
template <class By, int kVectors, bool kEnds = kVectors == 1, class D, class T>
void multiply_columns(D d, const ProductBlock& block, T* out, const T* b, int64_t columns) {
  const T* a = static_cast<const T*>(block.a);
  int64_t rows = block.rows;
  // With fewer sums each product of pairs would wait for the one before.
  if constexpr (By::kArePairs && kVectors == 1)
    for (; rows >= 2 * kProductRows;
         rows -= 2 * kProductRows, a += 2 * block.a_tile, out += 2 * kProductRows * block.out_stride)
      multiply_tile<By, 2 * kProductRows, kVectors, kEnds>(d, block, out, a, b, columns);
  for (; rows >= kProductRows; rows -= kProductRows, a += block.a_tile, out += kProductRows * block.out_stride)
    multiply_tile<By, kProductRows, kVectors, kEnds>(d, block, out, a, b, columns);
  if (rows & 4) {
    multiply_tile<By, 4, kVectors, kEnds>(d, block, out, a, b, columns);
    a += 4 * block.a_row;
    out += 4 * block.out_stride;
  }
  if (rows & 2) {
    multiply_tile<By, 2, kVectors, kEnds>(d, block, out, a, b, columns);
    a += 2 * block.a_row;
    out += 2 * block.out_stride;
  }
  if (rows & 1) multiply_tile<By, 1, kVectors, kEnds>(d, block, out, a, b, columns);
}

/// All columns of some rows. Bench: ./dev bench --sweep, products.
template <class By, class D, class T>
void multiply_rows(D d, const ProductBlock& block) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), panel = kTileVectors * lanes;
  T* out = static_cast<T*>(block.out);
  const T* b = static_cast<const T*>(block.b);
  int64_t column = 0;
  for (; column + panel <= block.columns; column += panel, b += block.b_panel)
    multiply_columns<By, kTileVectors>(d, block, out + column, b, panel);
  // Sums that are added to what is there must not overlap.
  const int64_t least = block.adds ? 2 * lanes : lanes + 1;
  for (; column + least <= block.columns; column += 2 * lanes, b += 2 * lanes)
    multiply_columns<By, 2>(d, block, out + column, b, std::min(2 * lanes, block.columns - column));
  if (!block.adds && column < block.columns && block.columns >= lanes) {
    // A lone vector of columns has a loop of its own where that can read without a mask.
    constexpr bool kReadsWhole = HWY_TARGET == HWY_AVX3;
    const int64_t back = column + lanes - block.columns;
    return multiply_columns<By, 1, !kReadsWhole>(d, block, out + column - back, b - back, lanes);
  }
  for (; column < block.columns; column += lanes, b += lanes)
    multiply_columns<By, 1>(d, block, out + column, b, std::min(lanes, block.columns - column));
}

/// Where `b` stays in the first-level cache, a tile's rows are written from end to end: short strips of many rows would
/// take twice as long to reach the second-level cache.
constexpr int64_t kLastingBytes = 16 << 10;

template <class T, class By>
void multiply_block(const ProductBlock& block) {
  const hn::ScalableTag<T> d;
  const bool is_strip = By::kArePairs && block.columns <= static_cast<int64_t>(hn::Lanes(d));
  if (is_strip || block.depth * block.columns * static_cast<int64_t>(sizeof(T)) > kLastingBytes)
    return multiply_rows<By, decltype(d), T>(d, block);
  ProductBlock tile = block;
  for (int64_t rows = block.rows; rows > 0; rows -= kProductRows) {
    tile.rows = std::min(kProductRows, rows);
    multiply_rows<By, decltype(d), T>(d, tile);
    tile.a = static_cast<const T*>(tile.a) + block.a_tile;
    tile.out = static_cast<T*>(tile.out) + kProductRows * block.out_stride;
  }
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

#if TENON_HAS_PAIRS
/// Stores the sums of the lanes of `kRows` by `kColumns` vectors, eight at once where there are as many: each in the
/// same order.
template <int kRows, int kColumns, class D>
HWY_INLINE void store_pair_dots(D d, const ProductBlock& block, float* out, const hn::Vec<D>* sums) {
  const hn::Half<D> half;
  const auto halved = [&](int i)
                          HWY_ATTR { return hn::Add(hn::LowerHalf(half, sums[i]), hn::UpperHalf(half, sums[i])); };
  if constexpr (kColumns == 4 && kRows % 2 == 0) {
    const hn::Half<decltype(half)> quarter;
    for (int row = 0; row < kRows; row += 2) {
      hn::Vec<decltype(half)> own[8];
      for (int i = 0; i < 8; ++i) own[i] = halved(row * kColumns + i);
      const auto both = sum_each(half, own);
      hn::StoreU(hn::LowerHalf(quarter, both), quarter, out + row * block.out_stride);
      hn::StoreU(hn::UpperHalf(quarter, both), quarter, out + (row + 1) * block.out_stride);
    }
  } else {
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column)
        out[row * block.out_stride + column] = hn::GetLane(sum_one(half, halved(row * kColumns + column)));
  }
}
#endif

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
    for (int row = 0; row < kRows; ++row) factors[row] = hn::LoadU(d, a + row * block.a_row + k);
    for (int column = 0; column < kColumns; ++column) {
      const auto other = hn::LoadU(d, b + column * block.b_depth + k);
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
  if constexpr (By::kArePairs) {
    store_pair_dots<kRows, kColumns>(d, block, out, sums[0]);
  } else {
    for (int row = 0; row < kRows; ++row)
      for (int column = 0; column < kColumns; ++column)
        out[row * block.out_stride + column] = hn::GetLane(hn::SumOfLanes(d, sums[row][column]));
  }
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

/// The dot products of a contiguous row and contiguous columns, which are too short to sum the lanes of each alone.
template <class D, class T>
HWY_INLINE void multiply_short_dots(D d, T* out, const T* a, const T* b, int64_t step, int64_t columns, int64_t depth) {
  constexpr int64_t kLanes = hn::MaxLanes(D());
  for (; columns >= kLanes; columns -= kLanes, out += kLanes, b += kLanes * step) {
    hn::Vec<D> sums[kLanes];
    for (int64_t i = 0; i < kLanes; ++i) sums[i] = hn::Zero(d);
    int64_t k = 0;
    for (; k + kLanes <= depth; k += kLanes) {
      const auto factor = hn::LoadU(d, a + k);
      for (int64_t i = 0; i < kLanes; ++i) sums[i] = Single::mul_add(factor, hn::LoadU(d, b + i * step + k), sums[i]);
    }
    if (const int64_t rest = depth - k; rest > 0) {
      const auto factor = load_first(d, a + k, rest);
      for (int64_t i = 0; i < kLanes; ++i)
        sums[i] = Single::mul_add(factor, load_first(d, b + i * step + k, rest), sums[i]);
    }
    hn::StoreU(sum_each(d, sums), d, out);
  }
  for (int64_t i = 0; i < columns; ++i) out[i] = hn::GetLane(sum_one(d, multiply_run(d, a, b + i * step, depth)));
}

template <class T, class By>
void multiply_long_dots(const ProductBlock& block) {
  const hn::ScalableTag<T> d;
  T* out = static_cast<T*>(block.out);
  const T* a = static_cast<const T*>(block.a);
  int64_t row = 0;
  for (; row + 4 <= block.rows; row += 4)
    multiply_dot_rows<By, 4, kTileVectors>(d, block, out + row * block.out_stride, a + row * block.a_row);
  for (; row < block.rows; ++row)
    multiply_dot_rows<By, 1, 8>(d, block, out + row * block.out_stride, a + row * block.a_row);
}

template <class T, class By>
void multiply_transposed(const SmallProducts& products) {
  ProductBlock block = products.block;
  for (int64_t batch = 0; batch < products.batches; ++batch) {
    if (!By::kHasShortDots || block.depth > kShortDotDepth) {
      multiply_long_dots<T, By>(block);
    } else if constexpr (By::kHasShortDots) {
      const hn::CappedTag<T, 32 / sizeof(T)> d;  // short rows begin anywhere: 64 bytes lie in two cache lines
      for (int64_t row = 0; row < block.rows; ++row)
        multiply_short_dots(d, static_cast<T*>(block.out) + row * block.out_stride,
                            static_cast<const T*>(block.a) + row * block.a_row, static_cast<const T*>(block.b),
                            block.b_depth, block.columns, block.depth);
    }
    block.out = static_cast<T*>(block.out) + block.rows * block.out_stride;
    block.a = static_cast<const T*>(block.a) + products.a_batch;
    block.b = static_cast<const T*>(block.b) + products.b_batch;
  }
}

/// `kRows` rows of one vector of columns, of which the first `columns` are read and all are written.
template <int kRows, class D, class T>
HWY_INLINE void multiply_vectors(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  const int64_t a_row = block.a_row, a_depth = block.a_depth, b_depth = block.b_depth;
  hn::Vec<D> sums[kRows];
  for (int row = 0; row < kRows; ++row) sums[row] = hn::Zero(d);
  for (int64_t k = 0; k < block.depth; ++k, a += a_depth, b += b_depth) {
    const auto factors = load_first(d, b, columns);
    for (int row = 0; row < kRows; ++row) sums[row] = Single::mul_add(hn::Set(d, a[row * a_row]), factors, sums[row]);
  }
  for (int row = 0; row < kRows; ++row) hn::StoreU(sums[row], d, out + row * block.out_stride);
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

/// All rows of one vector of columns, in their order: what a row's vector has beyond its columns, the next rows
/// overwrite. The last rows may be computed twice, so that there are four together.
template <class D, class T>
HWY_INLINE void multiply_strip(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  if (block.rows == 1) return multiply_row(d, block, out, a, b, columns);
  if (block.rows == 2) return multiply_vectors<2>(d, block, out, a, b, columns);
  if (block.rows == 3) return multiply_vectors<3>(d, block, out, a, b, columns);
  for (int64_t i = 0; i < block.rows; i += 4) {
    const int64_t row = std::min(i, block.rows - 4);
    multiply_vectors<4>(d, block, out + row * block.out_stride, a + row * block.a_row, b, columns);
  }
}

/// Matrices from `first` to `last`, which follow each other in `out`. The last vector of columns ends with the last
/// column, if a row has as many.
template <class D, class T>
void multiply_strips(D d, const SmallProducts& products, T* out, int64_t first, int64_t last) {
  const ProductBlock& block = products.block;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), least = std::min(block.columns, lanes);
  const int64_t numel = block.rows * block.columns;
  for (int64_t batch = first; batch < last; ++batch, out += numel) {
    const T* a = static_cast<const T*>(block.a) + batch * products.a_batch;
    const T* b = static_cast<const T*>(block.b) + batch * products.b_batch;
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
  block.a_tile = kProductRows * block.a_row;
  block.b_panel = kTileVectors * static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  for (int64_t batch = 0; batch < products.batches; ++batch) {
    multiply_block<T, Single>(block);
    block.out = static_cast<T*>(block.out) + block.rows * block.out_stride;
    block.a = static_cast<const T*>(block.a) + products.a_batch;
    block.b = static_cast<const T*>(block.b) + products.b_batch;
  }
}

/// More multiplications are worth tiles of several vectors. Bench: ./dev bench --sweep, products.
constexpr int64_t kStripProducts = 512;

template <class T>
void multiply_small(const SmallProducts& products) {
  const ProductBlock& block = products.block;
  const hn::ScalableTag<T> d;
  const hn::Half<decltype(d)> half;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const bool is_vector = block.rows == 1 && block.columns <= lanes;
  if (!is_vector && block.columns >= lanes && block.rows * block.columns * block.depth > kStripProducts)
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
