// Activations that are composed of other ops. PyTorch: `prelu`, `glu`; the others as in torch.nn.functional.
#include "dispatch/algorithm.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

void check_slopes_of_channels(const Tensor& self, const Tensor& weight) {
  if (self.dtype() != weight.dtype())
    throw Error(std::string("prelu: Type promoting not supported. Got ") + scalar_type_name(self.dtype()) + " and " +
                scalar_type_name(weight.dtype()));
  if (weight.numel() != 1) {
    if (self.dim() == 0) throw Error("Not allow zero-dim input tensor.");
    const int64_t channels = self.dim() > 1 ? self.size(1) : 1;
    if (channels != weight.numel())
      throw Error("Mismatch of parameter numbers and input channel size. Found parameter numbers = " +
                  std::to_string(weight.numel()) + " and channel size = " + std::to_string(channels) + ".");
  }
  if (weight.dim() > 1)
    throw Error("prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = " +
                std::to_string(weight.dim()));
}

/// The slopes along dim 1 of a shape with as many dims as `self`.
Tensor along_channels(const Tensor& self, const Tensor& weight) {
  if (self.dim() == weight.dim()) return weight;
  Dims sizes;
  for (int64_t dim = 0; dim < self.dim(); ++dim) sizes.push_back(dim == 1 ? weight.numel() : 1);
  return weight.reshape(sizes);
}

}  // namespace

Tensor plain::prelu(const Tensor& self, const Tensor& weight) {
  check_slopes_of_channels(self, weight);
  if (!self.is_meta()) check_has_code(row_of(Op::prelu_kernel), self.dtype());
  const PolicyExemption exempt;
  const Tensor aligned = along_channels(self, weight);
  const Arg input(self), slopes(aligned);
  const Arg* const args[] = {&input, &slopes};
  Tensor result = elementwise(Op::prelu_kernel, args, 2);
  set_sizes_and_strides(result, self.sizes(), dense_strides_like(self.sizes(), self.strides()));
  return result;
}

Tensor plain::glu(const Tensor& self, int64_t dim) {
  if (self.dim() == 0) throw Error("glu does not support 0-dimensional tensors");
  const int64_t at = wrap_dim(dim, self.dim()), size = self.size(at), half = size / 2;
  if (size % 2 != 0)
    throw Error("Halving dimension must be even, but dimension " + std::to_string(at) + " is size " +
                std::to_string(size));
  if (!self.is_meta()) check_has_code(row_of(Op::glu_halves), self.dtype());
  const Tensor values = self.narrow(at, 0, half), gates = self.narrow(at, half, half);
  const Arg first(values), second(gates);
  const Arg* const args[] = {&first, &second};
  return elementwise(Op::glu_halves, args, 2);
}

Tensor plain::tanhshrink(const Tensor& self) { return tenon::sub(self, tenon::tanh(self)); }

Tensor plain::softsign(const Tensor& self) {
  Tensor divisor = tenon::abs(self);
  // Every step has the same layout and dtype, so the last two may write over the first.
  if (self.impl()->in_graph || self.is_meta() || !is_floating_point(self.dtype())) return tenon::div(self, divisor + 1);
  divisor.add_(1);
  div_out(divisor, self, divisor);
  forget_writes(divisor);
  return divisor;
}

}  // namespace tenon
