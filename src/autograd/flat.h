// autograd: gradients that change in steps, or not at all, with the operand. Takes a gradient that was computed to be
// differentiated again; gives it with a history by the operand, whose derivative is 0, as PyTorch's has one.
#pragma once
#include "autograd/node.h"
#include "ops/row.h"
#include "tenon/tensor.h"

namespace tenon::autograd {

/// Gives `gradient`, of an op by its operand at `edge`, a node whose gradient by the operand is zeros, if the op
/// declares `flat_gradient`. A history that it has already stays behind that node.
Tensor with_flat_history(Op op, Tensor gradient, const Edge& edge);

}  // namespace tenon::autograd
