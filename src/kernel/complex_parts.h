// kernel: matrices of complex numbers as matrices of real ones, so that a complex product is one real product.
#pragma once
#include <cstdint>

#include "tenon/dtype.h"

namespace tenon {

/// Rows of complex numbers in memory. Strides in numbers.
struct ComplexRows {
  const void* data;
  int64_t rows, columns, row_stride, column_stride;
};

/// Below each row of `from` the same times i, row-major: a row of real parts and imaginary parts in turn, multiplied by
/// these as real numbers, is the complex product. `real`: float32 or float64.
void write_with_rotations(Dtype real, void* to, const ComplexRows& from);
/// All real parts, then all imaginary parts, row-major.
void write_parts(Dtype real, void* to, const ComplexRows& from);
/// The first half of `from`, `count` complex numbers, plus i times the second half.
void write_sum_with_rotated(Dtype real, void* to, const void* from, int64_t count);

}  // namespace tenon
