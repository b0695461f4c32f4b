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
Tensor base_of(const Tensor& view);
/// Of a write through a view that `node` knows the derivative of: what the base comes from now. It takes the written
/// part out of the base's gradient, hands it to `node`, and puts back what that gives for the part.
Node copy_slices(const Tensor& base, const Tensor& view, Node node);
/// The node of the view as it would be taken of its base, which comes from `base_node`.
Node taken_from(const Node& base_node, const Tensor& base, const Tensor& view);

}  // namespace tenon::autograd
