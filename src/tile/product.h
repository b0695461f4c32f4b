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

/// out = a b for each matrix of a batch; `out` is row-major. Dtypes: float32, float64, int32 or int64 (integers wrap),
/// or bfloat16 with a float32 `out`, if `multiplies_pairs`. All sizes are at least 1.
struct Product {
  Dtype dtype;
  int64_t batches, rows, columns, depth;
  Matrices a, b;
  std::byte* out;
};

/// The order of additions depends on shapes and strides only: the bits are the same for any number of threads.
void multiply(const Product& product);
/// Whether a product is so small that multiply_at_once computes it.
bool multiplies_at_once(const Product& product);
/// The same as `multiply`, without memory or threads.
void multiply_at_once(const Product& product);
/// Whether it is worth multiplying bfloat16 as it is, by the processor's instruction for pairs of numbers.
bool multiplies_pairs(int64_t rows, int64_t columns, int64_t depth);
/// Whether `multiply` takes no memory after it has begun to write: it fails without effects.
bool fails_before_it_writes(const Product& product);

}  // namespace tenon
