// dispatch: takes a reduction's row and dims; gives the reduced tensor. Sums of 16-bit floats stay in float32 to the
// end.
#pragma once
#include <optional>

#include "ops/row.h"
#include "tenon/tensor.h"

namespace tenon {

Tensor reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
Tensor& reduce_out(Op op, Tensor& out, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);

}  // namespace tenon
