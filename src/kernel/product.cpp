#include <algorithm>

#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/product.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

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

template <class V>
HWY_INLINE V mul_add(V x, V y, V sum) {
  if constexpr (std::is_floating_point_v<hn::TFromV<V>>)
    return hn::MulAdd(x, y, sum);
  else
    return hn::Add(hn::Mul(x, y), sum);
}

/// The first `columns` lanes; nothing after them is read.
template <class D, class T>
HWY_INLINE hn::Vec<D> load_first(D d, const T* from, int64_t columns) {
#if HWY_MEM_OPS_MIGHT_FAULT
  HWY_ALIGN T values[hn::MaxLanes(d)] = {};
  std::copy_n(from, columns, values);
  return hn::Load(d, values);
#else
  return hn::MaskedLoad(hn::FirstN(d, static_cast<std::size_t>(columns)), d, from);
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
  HWY_ALIGN T values[hn::MaxLanes(d)];
  hn::Store(sums, d, values);
  for (int64_t i = 0; i < columns; ++i) out[i] = adds ? out[i] + values[i] : values[i];
}

/// `kRows` rows by `kVectors` vectors of columns, of which the first `columns` are written. `kEnds`: only these are
/// read.
template <int kRows, int kVectors, bool kEnds, class D, class T>
HWY_INLINE void multiply_tile(D d, const ProductBlock& block, T* out, const T* a, const T* b, int64_t columns) {
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  const int64_t a_row = block.a_row, a_depth = block.a_depth, b_depth = block.b_depth;
  hn::Vec<D> sums[kRows][kVectors];
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kVectors; ++i) sums[row][i] = hn::Zero(d);
  for (int64_t k = 0; k < block.depth; ++k, a += a_depth, b += b_depth) {
    hn::Vec<D> factors[kVectors];
    for (int i = 0; i < kVectors; ++i) factors[i] = kEnds ? load_first(d, b, columns) : hn::LoadU(d, b + i * lanes);
    for (int row = 0; row < kRows; ++row) {
      const auto factor = hn::Set(d, a[row * a_row]);
      for (int i = 0; i < kVectors; ++i) sums[row][i] = mul_add(factor, factors[i], sums[row][i]);
    }
  }
  for (int row = 0; row < kRows; ++row)
    for (int i = 0; i < kVectors; ++i)
      store(d, sums[row][i], out + row * block.out_stride + i * lanes, columns - i * lanes, block.adds);
}

/// All rows of a block that is `kVectors` vectors wide.
template <int kVectors, bool kEnds = false, class D, class T>
void multiply_columns(D d, const ProductBlock& block, T* out, const T* b, int64_t columns) {
  const T* a = static_cast<const T*>(block.a);
  int64_t rows = block.rows;
  for (; rows >= kProductRows; rows -= kProductRows, a += block.a_tile, out += kProductRows * block.out_stride)
    multiply_tile<kProductRows, kVectors, kEnds>(d, block, out, a, b, columns);
  if (rows & 4) {
    multiply_tile<4, kVectors, kEnds>(d, block, out, a, b, columns);
    a += 4 * block.a_row;
    out += 4 * block.out_stride;
  }
  if (rows & 2) {
    multiply_tile<2, kVectors, kEnds>(d, block, out, a, b, columns);
    a += 2 * block.a_row;
    out += 2 * block.out_stride;
  }
  if (rows & 1) multiply_tile<1, kVectors, kEnds>(d, block, out, a, b, columns);
}

template <class T>
void multiply_block(const ProductBlock& block) {
  const hn::ScalableTag<T> d;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d)), panel = kTileVectors * lanes;
  T* out = static_cast<T*>(block.out);
  const T* b = static_cast<const T*>(block.b);
  int64_t column = 0;
  for (; column + panel <= block.columns; column += panel, b += block.b_panel)
    multiply_columns<kTileVectors>(d, block, out + column, b, panel);
  for (; column + lanes <= block.columns; column += lanes, b += lanes)
    multiply_columns<1>(d, block, out + column, b, lanes);
  if (column == block.columns) return;
  if (block.ends_with_b)
    multiply_columns<1, true>(d, block, out + column, b, block.columns - column);
  else
    multiply_columns<1>(d, block, out + column, b, block.columns - column);
}

/// The dot products of contiguous rows of `a` and contiguous columns of `b`. The order of summation does not depend on
/// the other elements.
template <int kRows, int kColumns, class D, class T>
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
      for (int row = 0; row < kRows; ++row) sums[row][column] = mul_add(factors[row], other, sums[row][column]);
    }
  }
  if (!HWY_MEM_OPS_MIGHT_FAULT && k < block.depth) {
    const auto rest = hn::FirstN(d, static_cast<std::size_t>(block.depth - k));
    hn::Vec<D> factors[kRows];
    for (int row = 0; row < kRows; ++row) factors[row] = hn::MaskedLoad(rest, d, a + row * block.a_row + k);
    for (int column = 0; column < kColumns; ++column) {
      const auto other = hn::MaskedLoad(rest, d, b + column * block.b_depth + k);
      for (int row = 0; row < kRows; ++row) sums[row][column] = mul_add(factors[row], other, sums[row][column]);
    }
    k = block.depth;
  }
  for (int row = 0; row < kRows; ++row)
    for (int column = 0; column < kColumns; ++column) {
      T sum = hn::GetLane(hn::SumOfLanes(d, sums[row][column]));
      for (int64_t rest = k; rest < block.depth; ++rest)
        sum += a[row * block.a_row + rest] * b[column * block.b_depth + rest];
      out[row * block.out_stride + column] = sum;
    }
}

template <int kRows, int kColumns, class D, class T>
void multiply_dot_rows(D d, const ProductBlock& block, T* out, const T* a) {
  const T* b = static_cast<const T*>(block.b);
  int64_t column = 0;
  for (; column + kColumns <= block.columns; column += kColumns)
    multiply_dots<kRows, kColumns>(d, block, out + column, a, b + column * block.b_depth);
  for (; column < block.columns; ++column)
    multiply_dots<kRows, 1>(d, block, out + column, a, b + column * block.b_depth);
}

template <class T>
void multiply_transposed(const ProductBlock& block) {
  const hn::ScalableTag<T> d;
  T* out = static_cast<T*>(block.out);
  const T* a = static_cast<const T*>(block.a);
  int64_t row = 0;
  for (; row + 4 <= block.rows; row += 4)
    multiply_dot_rows<4, kTileVectors>(d, block, out + row * block.out_stride, a + row * block.a_row);
  for (; row < block.rows; ++row)
    multiply_dot_rows<1, 8>(d, block, out + row * block.out_stride, a + row * block.a_row);
}

/// One vector of columns of one row.
template <class D, class T>
HWY_INLINE void multiply_row(D d, const ProductBlock& block, T* out, const T* a, const T* b) {
  auto sum = hn::Zero(d);
  for (int64_t k = 0; k < block.depth; ++k)
    sum = mul_add(hn::Set(d, a[k * block.a_depth]), hn::LoadU(d, b + k * block.b_depth), sum);
  hn::StoreU(sum, d, out);
}

template <class T>
void multiply_small(const SmallProducts& products) {
  const ProductBlock& block = products.block;
  const hn::CappedTag<T, 4> d;
  const hn::CappedTag<T, 1> one;
  const auto lanes = static_cast<int64_t>(hn::Lanes(d));
  T* out = static_cast<T*>(block.out);
  for (int64_t batch = 0; batch < products.batches; ++batch) {
    const T* a = static_cast<const T*>(block.a) + batch * products.a_batch;
    const T* b = static_cast<const T*>(block.b) + batch * products.b_batch;
    for (int64_t row = 0; row < block.rows; ++row, a += block.a_row, out += block.columns) {
      int64_t column = 0;
      for (; column + lanes <= block.columns; column += lanes) multiply_row(d, block, out + column, a, b + column);
      for (; column < block.columns; ++column) multiply_row(one, block, out + column, a, b + column);
    }
  }
}

template <class T>
ProductKernels product_kernels() {
  const auto lanes = static_cast<int64_t>(hn::Lanes(hn::ScalableTag<T>()));
  return {&multiply_block<T>, &multiply_transposed<T>, &multiply_small<T>, kTileVectors * lanes, lanes};
}

void fill_products(KernelTable& table) {
  table.product[static_cast<int>(Dtype::float32)] = product_kernels<float>();
  table.product[static_cast<int>(Dtype::float64)] = product_kernels<double>();
  // Products wrap: signed and unsigned results have the same bits.
  table.product[static_cast<int>(Dtype::int32)] = product_kernels<uint32_t>();
  table.product[static_cast<int>(Dtype::int64)] = product_kernels<uint64_t>();
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
