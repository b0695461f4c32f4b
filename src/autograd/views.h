// autograd: views in the graph. Takes a view; gives its node, anew where its base was written to since.
#pragma once
#include "autograd/meta.h"

namespace tenon::autograd {

/// Where a tensor's elements lie in its storage.
struct Geometry {
  Dims sizes, strides;
  int64_t offset = 0;

  Geometry() = default;
  explicit Geometry(const Tensor& tensor)
      : sizes(tensor.sizes().copy()), strides(tensor.strides().copy()), offset(tensor.storage_offset()) {}
};

NodeImpl* view_grad_fn(const Tensor& view);
/// A write through a view: the base comes from a node that takes the written part out of its gradient, hands it to
/// `node`, and puts back what that gives for the part.
void rebase_view(const Tensor& view, NodeImpl* node);

}  // namespace tenon::autograd
