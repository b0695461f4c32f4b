// dispatch: what products that are composed of other ops share. Nothing here is recorded.
#pragma once
#include "tenon/tensor.h"

namespace tenon {

/// Copies a result. An `out` that is resized becomes row-major.
Tensor& copy_product(Tensor& out, const Tensor& result);
/// The same, with the errors of tensordot for a wrong `out`.
Tensor& copy_contraction(Tensor& out, const Tensor& result);

/// A vector times a matrix of its dtype with as many rows: their mm without the vector's other dim.
Tensor multiply_row(const Tensor& row, const Tensor& matrix);
/// Writes zeros of the sizes and strides of `result` by a fill, which is allowed for overlapping elements.
Tensor& write_zeros(Tensor& out, const Tensor& result);

}  // namespace tenon
