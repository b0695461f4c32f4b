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

/// Whether an index tensor is a mask.
bool is_mask(const Tensor& index);

}  // namespace tenon
