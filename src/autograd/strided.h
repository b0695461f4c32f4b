// autograd: the linear map behind as_strided. Takes two geometries of one storage; carries values from one to the
// other, in both directions.
#pragma once
#include "autograd/views.h"

namespace tenon::autograd {

struct StridedMap {
  Geometry input, output;

  /// as_strided by value: what `output` reads of a tensor laid out as `input`. A place that elements of `input` share
  /// has their mean.
  Tensor forward(const Tensor& x) const;
  /// Its adjoint: every element of `output` added to the one of `input` it comes from. Elements of `input` that share a
  /// place share the sum. PyTorch: as_strided_backward.
  Tensor backward(const Tensor& grad) const;
};

/// Either direction as a differentiable op.
Tensor apply_strided(const StridedMap& map, const Tensor& x, bool adjoint);

}  // namespace tenon::autograd
