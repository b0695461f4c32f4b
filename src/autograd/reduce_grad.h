// autograd: gradients of broadcast operands. Takes a gradient, or its formula; gives it summed to the operand's shape,
// in one pass over memory. A gradient with stride 0 along a dim is computed once along it; a sum along that dim is a
// multiplication, and a kept dim is expanded again.
#pragma once
#include "autograd/derivative.h"

namespace tenon::autograd {

/// Sums `grad` to `sizes`, which must broadcast to its sizes. Differentiable in grad mode.
Tensor reduce_grad(const Tensor& grad, SizesView sizes);
/// Casts a gradient. Differentiable in grad mode; otherwise strides of 0 are kept.
Tensor cast_grad(const Tensor& grad, Dtype dtype);

/// formula(given), summed to `sizes`, as `dtype`: derivative and sum are one Program. Not in grad mode.
Tensor fused_gradient(const Given& given, unsigned reads, const Derivative::OfArgument& derivative, SizesView sizes,
                      Dtype dtype);

}  // namespace tenon::autograd
