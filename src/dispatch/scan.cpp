// Scans: what every element and those before it along one dim give. Running sums in an accumulator of their own.
#include <algorithm>
#include <string>
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

// Elements of a part: enough that short rows don't wait for the threads.
constexpr int64_t kPartElements = 1 << 15;

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

/// A row-major tensor with elements as [outer, length, inner], scanned along `length`.
struct Blocks {
  int64_t outer = 1, length, inner = 1;

  Blocks(SizesView sizes, int64_t dim) : length(sizes[dim]) {
    // exact: parts of the number of elements
    for (int64_t i = 0; i < dim; ++i) outer *= sizes[i];
    for (int64_t i = dim + 1; i < sizes.size(); ++i) inner *= sizes[i];
  }
  /// Calls body(place of the first element) for each of `outer`.
  template <class Body>
  void for_each(const Body& body) const {
    // exact: inside the storage
    const int64_t block = length * inner, together = std::max<int64_t>(kPartElements / block, 1);
    parallel_for((outer + together - 1) / together, [&](int64_t part) {
      check_interrupt();
      const int64_t end = std::min(outer, (part + 1) * together);
      for (int64_t at = part * together; at < end; ++at) body(at * block);
    });
  }
};

/// In place along `dim` of a row-major tensor with elements.
void scan(const Tensor& sums, int64_t dim) {
  const Blocks blocks(sums.sizes(), dim);
  visit_dtype(sums.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      T* data = reinterpret_cast<T*>(sums.impl()->data());
      blocks.for_each([&](int64_t first) { scan_rows(data + first, blocks.length, blocks.inner); });
    }
  });
}

// --- cummax and cummin

template <class T>
auto comparable(T value) {
  if constexpr (is_half_v<T>)
    return to_float(value);
  else
    return value;
}
template <class T>
bool is_nan(T value) {
  return comparable(value) != comparable(value);
}

/// In place over [length, inner] elements: each becomes the most extreme so far, and `indices` says where that is.
template <class T, bool largest>
void scan_extremes(T* data, int64_t* indices, int64_t length, int64_t inner) {
  std::fill(indices, indices + inner, 0);
  for (int64_t row = 1; row < length; ++row)
    for (int64_t i = 0; i < inner; ++i) {
      // exact: inside the storage
      T& element = data[row * inner + i];
      const T before = data[(row - 1) * inner + i];
      const bool reaches =
          largest ? comparable(element) >= comparable(before) : comparable(element) <= comparable(before);
      const bool wins = is_nan(element) || (reaches && !is_nan(before));
      indices[row * inner + i] = wins ? row : indices[(row - 1) * inner + i];
      element = wins ? element : before;
    }
}

template <bool largest>
std::tuple<Tensor, Tensor> extremes(Op op, const Tensor& self, int64_t dim) {
  if (self.dim() == 0 && dim != 0 && dim != -1)
    throw IndexError(std::string(row_of(op).name) + "(): Expected reduction dim -1 or 0 for scalar but got " +
                     std::to_string(dim));
  // PyTorch looks at no dim where there are no elements.
  const int64_t along = self.numel() > 0 ? wrap_dim(dim, self.dim()) : 0;
  if (self.dim() > 0 && self.numel() > 0 && !self.is_meta()) check_has_code(row_of(op), self.dtype());
  Tensor values = run_clone(self, MemoryFormat::contiguous), indices = new_tensor(self.sizes(), int64, self.device());
  if (self.numel() == 0 || self.is_meta()) return {std::move(values), std::move(indices)};
  const Blocks blocks(self.dim() > 0 ? self.sizes() : SizesView({1}), self.dim() > 0 ? along : 0);
  visit_dtype(self.dtype(), [&]<class T>() {
    T* data = reinterpret_cast<T*>(values.impl()->data());
    auto* places = reinterpret_cast<int64_t*>(indices.impl()->data());
    blocks.for_each(
        [&](int64_t first) { scan_extremes<T, largest>(data + first, places + first, blocks.length, blocks.inner); });
  });
  return {std::move(values), std::move(indices)};
}

void check_scalar_type(const Tensor& out, Dtype wanted) {
  if (out.dtype() != wanted)
    throw Error(std::string("expected scalar_type ") + scalar_type_name(wanted) + " but found " +
                scalar_type_name(out.dtype()));
}
std::tuple<Tensor&, Tensor&> write_extremes(Op op, Tensor& values, Tensor& indices, const Tensor& self,
                                            std::tuple<Tensor, Tensor> (*run)(const Tensor&, int64_t), int64_t dim) {
  check_unrecorded(op, values, self);
  check_unrecorded(op, indices, self);
  check_scalar_type(values, self.dtype());
  check_scalar_type(indices, int64);
  Tensor* const outs[] = {&values, &indices};
  write_results(op, outs, as_list(run(self, dim)));
  return {values, indices};
}

}  // namespace

Tensor plain::cumsum(const Tensor& input, int64_t dim, std::optional<Dtype> dtype) {
  const int64_t along = wrap_dim(dim, input.dim());
  const Dtype result = dtype ? *dtype : is_floating_point(input.dtype()) ? input.dtype() : int64;
  const bool scans = input.dim() > 0 && input.numel() > 0 && !input.is_meta();
  if (scans) check_has_code(row_of(Op::cumsum), result);
  Tensor sums = run_to(input, result, MemoryFormat::contiguous);
  if (scans) scan(sums, along);
  return sums;
}

Tensor& plain::cumsum_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  check_unrecorded(Op::cumsum, out, self);
  wrap_dim(dim, self.dim());
  if (dtype) check_strict_out(out, *dtype);
  return write_result(Op::cumsum, out, plain::cumsum(self, dim, out.dtype()));
}

std::tuple<Tensor, Tensor> plain::cummax(const Tensor& self, int64_t dim) {
  return extremes<true>(Op::cummax, self, dim);
}
std::tuple<Tensor, Tensor> plain::cummin(const Tensor& self, int64_t dim) {
  return extremes<false>(Op::cummin, self, dim);
}
std::tuple<Tensor&, Tensor&> plain::cummax_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  return write_extremes(Op::cummax, values, indices, self, &plain::cummax, dim);
}
std::tuple<Tensor&, Tensor&> plain::cummin_out(Tensor& values, Tensor& indices, const Tensor& self, int64_t dim) {
  return write_extremes(Op::cummin, values, indices, self, &plain::cummin, dim);
}

}  // namespace tenon
