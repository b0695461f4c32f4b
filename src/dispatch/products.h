// dispatch: the outputs of products that are composed of other ops. Takes a result that is recorded nowhere.
#pragma once
#include "tenon/tensor.h"

namespace tenon {

/// Copies a result. An `out` that is resized becomes row-major.
Tensor& copy_product(Tensor& out, const Tensor& result);
/// The same, with the errors of tensordot for a wrong `out`.
Tensor& copy_contraction(Tensor& out, const Tensor& result);

}  // namespace tenon
