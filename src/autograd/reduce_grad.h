// autograd: gradients that meet a broadcast. Takes a gradient, or the formula of one; gives it in the shape of what it
// belongs to, in one pass over memory. A gradient that is the same all along a dim (stride 0) stays a view: it is
// computed once there, multiplied where it would be summed, and expanded where it is kept.
#pragma once
#include "autograd/derivative.h"

namespace tenon::autograd {

/// Sums `grad` down to `sizes`, to which it is expandable: leading dims and dims of size 1. Under grad mode in
/// differentiable ops.
Tensor reduce_grad(const Tensor& grad, SizesView sizes);
/// Under grad mode differentiable, else a stride of 0 is kept.
Tensor cast_grad(const Tensor& grad, Dtype dtype);

/// formula(given), summed down to `sizes`, as `dtype`: derivative and sum are one Program. Without grad mode only.
Tensor fused_gradient(const Given& given, unsigned reads, const Derivative::OfArgument& derivative, SizesView sizes,
                      Dtype dtype);

}  // namespace tenon::autograd
