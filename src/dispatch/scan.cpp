// cumsum: running sums along one dim, in an accumulator of their own.
#include <algorithm>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// What PyTorch sums in: float64 for float32, float32 for 16-bit floats; integers wrap.
template <class T>
using Accumulator =
    std::conditional_t<is_half_v<T>, float, std::conditional_t<std::is_integral_v<T>, uint64_t, double>>;

template <class T>
Accumulator<T> widened_element(T value) {
  if constexpr (is_half_v<T>)
    return to_float(value);
  else
    return static_cast<Accumulator<T>>(value);
}
template <class T>
T narrowed(Accumulator<T> value) {
  if constexpr (std::is_same_v<T, Float16>)
    return to_float16(value);
  else if constexpr (std::is_same_v<T, BFloat16>)
    return to_bfloat16(value);
  else
    return static_cast<T>(value);
}

template <class T>
void add_to(Accumulator<T>& sum, T& element) {
  sum += widened_element(element);
  element = narrowed<T>(sum);
}

/// In place over [length, inner] elements: each row becomes the sum of the rows up to it.
template <class T>
void scan_rows(T* data, int64_t length, int64_t inner) {
  if (inner == 1) {
    Accumulator<T> sum = 0;
    for (int64_t i = 0; i < length; ++i) add_to(sum, data[i]);
    return;
  }
  std::vector<Accumulator<T>> sums(static_cast<std::size_t>(inner));
  for (int64_t row = 0; row < length; ++row, data += inner)
    for (int64_t i = 0; i < inner; ++i) add_to(sums[static_cast<std::size_t>(i)], data[i]);
}

// Elements of a part: enough that short rows don't wait for the threads.
constexpr int64_t kPartElements = 1 << 15;

/// In place along `dim` of a row-major tensor with elements.
void scan(const Tensor& sums, int64_t dim) {
  int64_t outer = 1, inner = 1;
  // exact: parts of the number of elements
  for (int64_t i = 0; i < dim; ++i) outer *= sums.sizes()[i];
  for (int64_t i = dim + 1; i < sums.dim(); ++i) inner *= sums.sizes()[i];
  const int64_t length = sums.sizes()[dim];
  visit_dtype(sums.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      T* data = reinterpret_cast<T*>(sums.impl()->data());
      // exact: inside the storage
      const int64_t block = length * inner, rows = std::max<int64_t>(kPartElements / block, 1);
      parallel_for((outer + rows - 1) / rows, [&](int64_t part) {
        check_interrupt();
        const int64_t end = std::min(outer, (part + 1) * rows);
        for (int64_t row = part * rows; row < end; ++row) scan_rows(data + row * block, length, inner);
      });
    }
  });
}

}  // namespace

Tensor plain::cumsum(const Tensor& input, int64_t dim, std::optional<Dtype> dtype) {
  const int64_t along = wrap_dim(dim, input.dim());
  const Dtype result = dtype ? *dtype : is_floating_point(input.dtype()) ? input.dtype() : int64;
  Tensor sums = new_tensor(input.sizes(), result, input.device());
  if (input.numel() == 0 || input.is_meta()) return sums;
  if (input.dim() > 0) check_has_code(row_of(Op::cumsum), result);
  run_copy(sums, input);
  sums.impl()->storage->version.store(0, std::memory_order_relaxed);
  if (input.dim() > 0) scan(sums, along);
  return sums;
}

Tensor& plain::cumsum_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  const Arg operand(self);
  const Arg* const args[] = {&operand};
  if (out.impl()->in_graph || in_graph(args, 1)) check_out_unrecorded(Op::cumsum, out, args, 1);
  wrap_dim(dim, self.dim());
  if (dtype) check_strict_out(out, *dtype);
  return write_result(Op::cumsum, out, plain::cumsum(self, dim, out.dtype()));
}

}  // namespace tenon
