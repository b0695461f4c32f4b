// dispatch: takes a reduction's row and dims; gives the reduced tensor. Sums of 16-bit floats stay in float32 to the
// end.
#pragma once
#include <optional>
#include <tuple>

#include "ops/row.h"
#include "tenon/list.h"
#include "tenon/tensor.h"
#include "tile/reduce.h"

namespace tenon {

/// How computed elements are folded: they are cast to `element`, then to `accumulated`.
struct FoldedElements {
  Dtype element, accumulated;
  Reduction reduction;
};
/// Of the fold of a tensor's dims in `mask`, at least one of which has several elements.
FoldedElements folded_elements(Op op, const Tensor& self, SizesView mask, std::optional<Dtype> dtype);

/// Of the result; `asked`: by the argument `dtype`.
Dtype reduced_dtype(Op op, Dtype input, std::optional<Dtype> asked);
Tensor reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
/// The same bytes as elements of another dtype of one byte. As bool they may have any value: all but 0 are true.
Tensor with_bytes_of(const Tensor& self, Dtype dtype);
/// Error for a mean in integers; `which` dtype is asked for.
[[noreturn]] void fail_mean(const char* name, const char* which, Dtype dtype);
/// An output's strides over the input's dims: 0 where reduced.
Dims spread_strides(SizesView strides, SizesView mask, bool keepdim);
Tensor& reduce_out(Op op, Tensor& out, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype);
/// The variance, not corrected, and the mean; of 16-bit floats in float32.
std::tuple<Tensor, Tensor> wide_var_mean(const Tensor& self, SizesView dims);
/// What a fold with a State gives by its row alone: `results` tensors.
List<Tensor> fold_states(Op op, int results, const Tensor& self, SizesView dims, bool keepdim,
                         std::optional<Dtype> dtype);

}  // namespace tenon
