// tile: products of bfloat16 by the processor's matrix unit.
#pragma once
#include "tile/product.h"

namespace tenon {

/// Whether there is a matrix unit, and it is faster than vectors for matrices of these sizes.
bool has_matrix_product(int64_t rows, int64_t columns, int64_t depth);
/// Scratch memory that multiply_by_matrix_unit takes on one thread.
int64_t matrix_product_bytes(const Product& product);
/// The same as `multiply`, of bfloat16 with an `out` of float32 or bfloat16: each number is rounded once. The bits are
/// the same for any number of threads.
void multiply_by_matrix_unit(const Product& product, Dtype out_dtype);

}  // namespace tenon
