// tile: products of matrices. Takes strided matrices of one dtype; gives row-major ones. Decides which blocks stay in
// which cache, and what each thread does.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tenon/dtype.h"

namespace tenon {

/// Matrices among the elements of a storage. Strides in elements.
struct Matrices {
  const std::byte* data;
  int64_t batch_stride, row_stride, column_stride;
};

/// out = a b for each of `batches`; `out` is row-major, one matrix behind the other. float32, float64, int32 (which
/// wraps) or int64. All sizes are at least 1.
struct Product {
  Dtype dtype;
  int64_t batches, rows, columns, depth;
  Matrices a, b;
  std::byte* out;
};

/// The order of the sums depends on shapes and strides alone: the bits are the same for any number of threads.
void multiply(const Product& product);

}  // namespace tenon
