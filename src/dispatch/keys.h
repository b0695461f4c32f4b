// dispatch: elements of any real dtype as integers in the same order. NaN is the largest; both zeros are equal.
#pragma once
#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/impl.h"

namespace tenon {

/// Throws Error for complex numbers, which have no order.
void check_sortable(const Tensor& self);

/// Bools as 0 and 1, in a new row-major tensor: in memory of other libraries, and after view(dtype), any other byte is
/// true, too. A tensor of another dtype is returned as it is.
Tensor with_plain_truths(const Tensor& self);

/// A tensor's elements one after the other in that dtype, without history.
Tensor row_major(const Tensor& self, Dtype dtype);
/// Rows of a tensor's elements: a row-major tensor without history, with `dim` as the last dim.
Tensor dense_rows_along(const Tensor& self, int64_t dim);

/// The keys of `n` elements of a row-major real tensor, the first of them `start`.
void write_keys(int64_t* keys, const Tensor& self, int64_t start, int64_t n);
std::vector<int64_t> keys_of(const Tensor& self, int64_t start, int64_t n);

/// The key of NaN, if the dtype has it.
constexpr std::optional<int64_t> nan_key(Dtype dtype) noexcept {
  if (!is_floating_point(dtype)) return std::nullopt;
  return static_cast<int64_t>((uint64_t{1} << (8 * itemsize(dtype) - 1)) - 1);  // exact: at most 64 bits
}

}  // namespace tenon
