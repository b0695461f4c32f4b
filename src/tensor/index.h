// tensor: takes a list of indices; gives the view that integers, slices, None and Ellipsis make, and the tensors among
// them by the dim of that view they stand at. Never reads an element.
#pragma once
#include <vector>

#include "tenon/tensor.h"

namespace tenon {

struct Indexed {
  Tensor view;
  std::vector<Tensor> tensors;  // undefined where a dim has none
};
/// IndexError for too many indices and for integers out of range. A read of one slice alone gives a slice even of
/// everything; else such slices are no step of the chain.
Indexed index_view(const Tensor& self, const Index* indices, int64_t count, bool reads);

/// Whether an index marks places instead of naming them.
bool is_mask(const Tensor& index);

}  // namespace tenon
