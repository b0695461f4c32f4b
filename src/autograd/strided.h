// autograd: the linear map of as_strided. Takes two geometries of one storage; maps values from one to the other, in
// both directions.
#pragma once
#include "autograd/views.h"

namespace tenon::autograd {

struct StridedMap {
  Geometry input, output;

  bool is_identity() const;
  /// as_strided as a copy: the values that `output` reads from a tensor laid out as `input`. Elements of `input` that
  /// share an address count with their mean.
  Tensor forward(const Tensor& x) const;
  /// Its adjoint: adds every element of `output` to the element of `input` that it reads. Elements of `input` that
  /// share an address share the sum. PyTorch: as_strided_backward.
  Tensor backward(const Tensor& grad) const;
};

/// Either direction as a differentiable op.
Tensor apply_strided(const StridedMap& map, const Tensor& x, bool adjoint);

}  // namespace tenon::autograd
