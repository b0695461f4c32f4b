// The gradients of losses that are one node.
#include <cmath>
#include <cstring>
#include <limits>

#include "autograd/derivative.h"
#include "autograd/reduce_grad.h"
#include "dispatch/broadcast_check.h"
#include "tenon/factories.h"
#include "tenon/shape.h"
#include "tensor/history.h"

namespace tenon::autograd {
namespace {

bool is_mean(const CallGiven& given) { return std::strcmp(given.word("reduction", "mean"), "mean") == 0; }
bool is_each(const CallGiven& given) { return std::strcmp(given.word("reduction", "mean"), "none") == 0; }

/// The gradient of every one of `count` elements that were reduced.
Tensor of_elements(const CallGiven& given, int64_t count) {
  return is_mean(given) ? given.grad() / static_cast<double>(count) : given.grad();
}

/// What a number becomes as float32, unless the operands are float64.
Scalar as_float32(Scalar number, const Tensor& self, const Tensor& target) {
  const double value = number.as_double();
  if (self.dtype() == float64 || target.dtype() == float64) return number;
  return std::abs(value) > std::numeric_limits<float>::max() ? Scalar(std::copysign(kInfinity, value)) : number;
}

}  // namespace

Tensor of_loss(const CallGiven& given, Op element, int argument, const Tensor& self, const Tensor& target,
               Scalar number, const Tensor& weight) {
  const Dims shape = infer_size(self.sizes(), target.sizes());
  const Tensor gradient = of_elements(given, checked_numel(shape)).expand(shape);
  Given elements;
  elements.gradient = weight.defined() ? gradient * weight : gradient;
  elements.values[0] = self;
  elements.values[1] = target;
  elements.values[2] = as_float32(number, self, target);
  const Derivative::OfArgument& derivative = derivative_of(element).arguments[argument];
  const Tensor& wanted = argument == 0 ? self : target;
  if (thread_modes.grad || gradient.is_meta() || gradient.numel() == 0) return derivative(elements);
  return fused_gradient(elements, derivative.reads, derivative, wanted.sizes(), wanted.dtype());
}

Tensor of_nll_loss(const CallGiven& given, const Tensor& self, const Tensor& target, const Tensor& weight) {
  const int64_t rows = self.dim() == 1 ? 1 : self.size(0), classes = self.size(-1);
  const Tensor wide = target.to(int64).reshape({rows}), is_ignored = wide == given.integer("ignore_index", -100);
  const Tensor place = where(is_ignored, 0, wide);
  const Tensor shares =
      weight.defined() ? weight.detach().index_select(0, place) : ones({rows}, Options(self.dtype(), self.device()));
  const Tensor counted = where(is_ignored, 0, shares);
  const Tensor gradient = is_each(given) ? given.grad().reshape({rows}) : given.grad();
  Tensor each = -(gradient * counted);
  if (is_mean(given)) each = where(is_ignored, 0, each / sum(counted));
  const Tensor all = zeros({rows, classes}, Options(each.dtype(), each.device()));
  const Tensor result = all.scatter(1, place.unsqueeze(1), each.unsqueeze(1));
  return self.dim() == 1 ? result.reshape(self.sizes()) : result;
}

Tensor of_soft_margin_loss(const CallGiven& given, const Tensor& self, const Tensor& target) {
  const Tensor opposite = -target, slope = opposite * sigmoid(opposite * self);
  const Tensor gradient = of_elements(given, slope.numel());
  return gradient * slope;
}

}  // namespace tenon::autograd
