#include "nested_others.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "hwy/contrib/math/math-inl.h"
#include "hwy/highway.h"
#include "nest.h"

namespace hn = hwy::HWY_NAMESPACE;

namespace bench {
namespace {

/// Rows of the parts, one after the other.
Work join(const Operands<Tenon>& x, int64_t dim) {
  return [x, dim](int64_t repeats) {
    const int64_t rows = dim == 0 ? 1 : x.out.sizes()[0];
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      auto* to = static_cast<std::byte*>(x.out.data_ptr());
      const std::byte* from[3];
      std::size_t sizes[3];
      int part = 0;
      for (const Tensor* tensor : {&x.a, &x.b, &x.c}) {
        from[part] = static_cast<const std::byte*>(tensor->data_ptr());
        sizes[part++] = static_cast<std::size_t>(tensor->nbytes() / rows);
      }
      for (int64_t row = 0; row < rows; ++row)
        for (int i = 0; i < 3; ++i) {
          std::memcpy(to, from[i], sizes[i]);
          to += sizes[i], from[i] += sizes[i];
        }
      benchmark::ClobberMemory();
    }
  };
}

/// Running sums down the columns: each row is added to the sums, which are written.
template <class T>
Work scan_columns(const Operands<Tenon>& x) {
  const int64_t rows = x.a.sizes()[0], columns = x.a.sizes()[1];
  return [=, sums = std::vector<Wide<T>>(static_cast<std::size_t>(columns))](int64_t repeats) mutable {
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      std::fill(sums.begin(), sums.end(), Wide<T>{0});
      const T* __restrict from = static_cast<const T*>(x.a.data_ptr());
      T* __restrict to = static_cast<T*>(x.out.data_ptr());
      Wide<T>* __restrict const sum = sums.data();
      for (int64_t row = 0; row < rows; ++row, from += columns, to += columns)
        for (int64_t i = 0; i < columns; ++i) to[i] = converted<T>(sum[i] += static_cast<Wide<T>>(from[i]));
      benchmark::ClobberMemory();
    }
  };
}

/// Exponentials by Highway's function.
template <class T>
Work exponentials(const Operands<Tenon>& x) {
  return [x, n = x.a.numel()](int64_t repeats) {
    const hn::ScalableTag<T> d;
    const auto lanes = static_cast<int64_t>(hn::Lanes(d));
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      const T* const from = static_cast<const T*>(x.a.data_ptr());
      T* const to = static_cast<T*>(x.out.data_ptr());
      int64_t i = 0;
      for (; i + lanes <= n; i += lanes) hn::StoreU(hn::Exp(d, hn::LoadU(d, from + i)), d, to + i);
      for (; i < n; ++i) to[i] = std::exp(from[i]);
      benchmark::ClobberMemory();
    }
  };
}

/// One matrix of a product. Rows are `from[0]` apart, columns `from[1]`; of the other operand the same.
template <class T>
void multiply_matrix(int64_t m, int64_t n, int64_t k, const T* __restrict left, std::array<int64_t, 2> from,
                     const T* __restrict right, std::array<int64_t, 2> by, T* __restrict to, Wide<T>* __restrict sums) {
  const bool sums_rows = by[1] != 1 || n == 1;
  for (int64_t i = 0; i < m; ++i, to += n, left += from[0]) {
    for (int64_t j = 0; sums_rows && j < n; ++j) {
      Wide<T> sum = 0;
      for (int64_t l = 0; l < k; ++l)
        sum += static_cast<Wide<T>>(left[l * from[1]]) * static_cast<Wide<T>>(right[l * by[0] + j * by[1]]);
      to[j] = converted<T>(sum);
    }
    if (sums_rows) continue;
    std::fill_n(sums, n, Wide<T>{0});
    for (int64_t l = 0; l < k; ++l) {
      const auto factor = static_cast<Wide<T>>(left[l * from[1]]);
      for (int64_t j = 0; j < n; ++j) sums[j] += factor * static_cast<Wide<T>>(right[l * by[0] + j]);
    }
    for (int64_t j = 0; j < n; ++j) to[j] = converted<T>(sums[j]);
  }
}

/// Three loops, the innermost over what is contiguous: columns of the result, or the dim that is summed.
template <class T>
Work multiply(const Operands<Tenon>& x) {
  const auto as_matrices = [](const Tensor& tensor, bool is_left) {
    if (tensor.dim() == 1) return tensor.unsqueeze(is_left ? 0 : 1).unsqueeze(0);
    return tensor.dim() == 2 ? tensor.unsqueeze(0) : tensor;
  };
  const Tensor a = as_matrices(x.a, true), b = as_matrices(x.b, false);
  const int64_t batches = a.sizes()[0], m = a.sizes()[1], k = a.sizes()[2], n = b.sizes()[2];
  const Tensor out = x.out.defined() ? x.out : tenon::empty({batches, m, n}, {a.dtype()});
  const tenon::Dims from = a.strides().copy(), by = b.strides().copy();
  return [=, sums = std::vector<Wide<T>>(static_cast<std::size_t>(n))](int64_t repeats) mutable {
    for (int64_t repeat = 0; repeat < repeats; ++repeat) {
      for (int64_t batch = 0; batch < batches; ++batch)
        multiply_matrix<T>(m, n, k, static_cast<const T*>(a.data_ptr()) + batch * from[0], {from[1], from[2]},
                           static_cast<const T*>(b.data_ptr()) + batch * by[0], {by[1], by[2]},
                           static_cast<T*>(out.data_ptr()) + batch * m * n, sums.data());
      benchmark::ClobberMemory();
    }
  };
}

}  // namespace

Work nested_loops_of(Call call, const Operands<Tenon>& x, int64_t dim) {
  const Dtype dtype = x.a.dtype();
  if (call == Call::cat) return join(x, dim);
  if (call == Call::exp)
    return dtype == Dtype::float32   ? exponentials<float>(x)
           : dtype == Dtype::float64 ? exponentials<double>(x)
                                     : Work{};
  if (call == Call::cumsum && dim == 0) return with_type(dtype, [&]<class T>(T) { return scan_columns<T>(x); });
  if (call != Call::matmul) return {};
  return with_type(dtype, [&]<class T>(T) {
    if constexpr (sizeof(Wide<T>) < 4)
      return Work{};
    else
      return multiply<T>(x);
  });
}

}  // namespace bench
