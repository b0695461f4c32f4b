// autograd: views in the graph. Takes a view; gives its node, which is made again if the base was written to since.
#pragma once
#include "autograd/meta.h"

namespace tenon::autograd {

/// Sizes, strides and offset of a tensor.
struct Geometry {
  Dims sizes, strides;
  int64_t offset = 0;

  Geometry() = default;
  explicit Geometry(const Tensor& tensor)
      : sizes(tensor.sizes().copy()), strides(tensor.strides().copy()), offset(tensor.storage_offset()) {}
};

NodeImpl* view_grad_fn(const Tensor& view);
Tensor base_of(const Tensor& view);
/// The base's new node after a write through a view, whose derivative is `node`. It passes the written part of the
/// base's gradient to `node` and puts the result back in its place (PyTorch's CopySlices).
Node copy_slices(const Tensor& base, const Tensor& view, Node node);
/// The node of the view, as if it were now made from its base, whose node is `base_node`.
Node taken_from(const Node& base_node, const Tensor& base, const Tensor& view);

}  // namespace tenon::autograd
