// tensor: takes a list of indices; gives the view that integers, slices, None and Ellipsis make, and the index tensors
// by dim of that view. Never reads an element.
#pragma once
#include <vector>

#include "tenon/tensor.h"

namespace tenon {

struct Indexed {
  Tensor view;
  std::vector<Tensor> tensors;  // for each dim; undefined: none
};
/// Throws IndexError for too many indices and for integers out of range. A slice of a whole dim makes no view of its
/// own, except when it is the only index of a read.
Indexed index_view(const Tensor& self, const Index* indices, int64_t count, bool reads);

/// IndexError "index 3 is out of bounds for dimension 0 with size 3".
[[noreturn]] void fail_out_of_bounds(int64_t index, int64_t dim, int64_t size);
/// IndexError "too many indices for tensor of dimension 1".
[[noreturn]] void fail_too_many_indices(const Tensor& tensor);

/// Whether an index tensor is a mask.
bool is_mask(const Tensor& index);

}  // namespace tenon
