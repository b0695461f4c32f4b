// Gradients of several parameters, limited together. PyTorch: torch/csrc/api/include/torch/nn/utils/clip_grad.h.
#include <cmath>
#include <utility>

#include "dispatch/text.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::autograd {
namespace {

Tensors gradients_of(const Tensors& parameters) {
  Tensors gradients;
  for (const Tensor& parameter : parameters)
    if (Tensor gradient = parameter.grad(); gradient.defined()) gradients.push_back(std::move(gradient));
  return gradients;
}

}  // namespace

Tensor get_total_norm(const Tensors& tensors, double norm_type) {
  const NoGrad unrecorded;
  if (tensors.size() == 0) return scalar_tensor(0.0);
  Tensors norms;
  for (const Tensor& tensor : tensors) norms.push_back(linalg_vector_norm(tensor, norm_type));
  return linalg_vector_norm(stack(norms), norm_type);
}

void clip_grads_with_norm_(const Tensors& parameters, double max_norm, const Tensor& total_norm) {
  const NoGrad unrecorded;
  const Tensor factor = clamp_max(max_norm / (total_norm + 1e-6), 1.0);
  for (Tensor& gradient : gradients_of(parameters)) gradient.mul_(factor);
}

double clip_grad_norm_(const Tensors& parameters, double max_norm, double norm_type, bool error_if_nonfinite) {
  const Tensor total = get_total_norm(gradients_of(parameters), norm_type);
  const auto norm = total.item<double>();
  if (error_if_nonfinite && !std::isfinite(norm))
    throw Error("The total norm of order " + text_of(norm_type) +
                " for gradients from `parameters` is non-finite, so it cannot be clipped. To disable this error and "
                "scale the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
  clip_grads_with_norm_(parameters, max_norm, total);
  return norm;
}

void clip_grad_value_(const Tensors& parameters, double clip_value) {
  const NoGrad unrecorded;
  for (Tensor& gradient : gradients_of(parameters)) gradient.clamp_(-clip_value, clip_value);
}

}  // namespace tenon::autograd
