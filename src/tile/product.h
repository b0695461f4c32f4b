// tile: matrix products. Takes strided matrices of one dtype; gives row-major ones. Decides which blocks stay in which
// cache, and what each thread does.
#pragma once
#include <cstddef>
#include <cstdint>

#include "tenon/dtype.h"

namespace tenon {

/// A batch of matrices in memory. Strides in elements.
struct Matrices {
  const std::byte* data;
  int64_t batch_stride, row_stride, column_stride;
};

/// out = a b for each matrix of a batch; `out` is row-major. Dtypes: float32, float64, int32 or int64 (integers wrap).
/// All sizes are at least 1.
struct Product {
  Dtype dtype;
  int64_t batches, rows, columns, depth;
  Matrices a, b;
  std::byte* out;
};

/// The order of additions depends on shapes and strides only: the bits are the same for any number of threads.
void multiply(const Product& product);
/// Whether `multiply` takes no memory, and so cannot fail.
bool takes_no_memory(const Product& product);

}  // namespace tenon
