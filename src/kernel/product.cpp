#include "kernel/kernel.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernel/product.cpp"
#include "hwy/foreach_target.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace tenon::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

/// `kRows` rows by two vectors of columns, which stay in registers over the whole depth.
template <int kRows, class D, class T>
HWY_INLINE void add_tile(D d, T* out, int64_t out_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                         int64_t depth) {
  const int64_t lanes = static_cast<int64_t>(hn::Lanes(d));
  hn::Vec<D> left[kRows], right[kRows];
  for (int row = 0; row < kRows; ++row) {
    left[row] = hn::LoadU(d, out + row * out_stride);
    right[row] = hn::LoadU(d, out + row * out_stride + lanes);
  }
  for (int64_t k = 0; k < depth; ++k) {
    const auto b_left = hn::LoadU(d, b + k * b_stride), b_right = hn::LoadU(d, b + k * b_stride + lanes);
    for (int row = 0; row < kRows; ++row) {
      const auto factor = hn::Set(d, a[row * a_stride + k]);
      left[row] = hn::MulAdd(factor, b_left, left[row]);
      right[row] = hn::MulAdd(factor, b_right, right[row]);
    }
  }
  for (int row = 0; row < kRows; ++row) {
    hn::StoreU(left[row], d, out + row * out_stride);
    hn::StoreU(right[row], d, out + row * out_stride + lanes);
  }
}

template <int kRows, class D, class T>
HWY_INLINE void add_rows(D d, T* out, int64_t out_stride, const T* a, int64_t a_stride, const T* b, int64_t b_stride,
                         int64_t columns, int64_t depth) {
  const int64_t width = 2 * static_cast<int64_t>(hn::Lanes(d));
  int64_t column = 0;
  for (; column + width <= columns; column += width)
    add_tile<kRows>(d, out + column, out_stride, a, a_stride, b + column, b_stride, depth);
  // What is left of a row goes through one vector at a time, then lane by lane, with the same roundings.
  const hn::CappedTag<T, 1> one;
  for (; column < columns; ++column)
    for (int row = 0; row < kRows; ++row) {
      auto sum = hn::LoadU(one, out + row * out_stride + column);
      for (int64_t k = 0; k < depth; ++k)
        sum = hn::MulAdd(hn::LoadU(one, a + row * a_stride + k), hn::LoadU(one, b + k * b_stride + column), sum);
      hn::StoreU(sum, one, out + row * out_stride + column);
    }
}

template <class T>
void product(void* out, int64_t out_stride, const void* a, int64_t a_stride, const void* b, int64_t b_stride,
             int64_t rows, int64_t columns, int64_t depth) {
  const hn::ScalableTag<T> d;
  T* to = static_cast<T*>(out);
  const T* left = static_cast<const T*>(a);
  const T* right = static_cast<const T*>(b);
  int64_t row = 0;
  for (; row + 4 <= rows; row += 4)
    add_rows<4>(d, to + row * out_stride, out_stride, left + row * a_stride, a_stride, right, b_stride, columns, depth);
  for (; row < rows; ++row)
    add_rows<1>(d, to + row * out_stride, out_stride, left + row * a_stride, a_stride, right, b_stride, columns, depth);
}

void fill_products(KernelTable& table) {
  table.product[static_cast<int>(Dtype::float32)] = &product<float>;
  table.product[static_cast<int>(Dtype::float64)] = &product<double>;
}

}  // namespace tenon::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();
