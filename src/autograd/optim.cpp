// Steps of gradient descent, by the ops and in the order of torch/optim/sgd.py and adam.py, so that results have the
// same bits as in Python.
#include "tenon/optim.h"

#include <cmath>
#include <string>
#include <utility>

#include "dispatch/text.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::optim {
namespace {

void check_option(bool is_valid, const char* name, double number) {
  if (!is_valid) throw ValueError(std::string("Invalid ") + name + ": " + text_of(number));
}
// Errors of options come before those of parameters. As in PyTorch, SGD takes NaN, and Adam does not.
List<Tensor> checked(List<Tensor> parameters, const SGDOptions& options) {
  check_option(!(options.lr < 0), "learning rate", options.lr);
  check_option(!(options.momentum < 0), "momentum value", options.momentum);
  check_option(!(options.weight_decay < 0), "weight_decay value", options.weight_decay);
  if (options.nesterov && (options.momentum <= 0 || options.dampening != 0))
    throw ValueError("Nesterov momentum requires a momentum and zero dampening");
  return parameters;
}
List<Tensor> checked(List<Tensor> parameters, const AdamOptions& options) {
  check_option(options.lr >= 0, "learning rate", options.lr);
  check_option(options.eps >= 0, "epsilon value", options.eps);
  check_option(options.beta1 >= 0 && options.beta1 < 1, "beta parameter at index 0", options.beta1);
  check_option(options.beta2 >= 0 && options.beta2 < 1, "beta parameter at index 1", options.beta2);
  check_option(options.weight_decay >= 0, "weight_decay value", options.weight_decay);
  return parameters;
}
Tensor signed_gradient(const Tensor& parameter, bool maximize) {
  const Tensor gradient = parameter.grad();
  return maximize && gradient.defined() ? neg(gradient) : gradient;
}

}  // namespace

Parameters::Parameters(List<Tensor> tensors) : tensors_(std::move(tensors)) {
  if (tensors_.size() == 0) throw ValueError("optimizer got an empty parameter list");
  for (const Tensor& tensor : tensors_)
    if (!tensor.is_leaf() && !tensor.retains_grad()) throw ValueError("can't optimize a non-leaf Tensor");
}
void Parameters::zero_grad(bool set_to_none) const {
  const NoGrad unrecorded;
  for (Tensor parameter : tensors_) {
    if (Tensor gradient = parameter.grad(); !set_to_none && gradient.defined())
      parameter.set_grad(gradient.detach().zero_());
    else
      parameter.set_grad({});
  }
}

SGD::SGD(List<Tensor> tensors, const SGDOptions& given)
    : Parameters(checked(std::move(tensors), given)), options(given), sums_(parameters().size()) {}
Tensor SGD::with_momentum(Tensor& sum, const Tensor& gradient) const {
  if (sum.defined())
    sum.mul_(options.momentum).add_(gradient, 1 - options.dampening);
  else
    sum = gradient.detach().clone();
  return options.nesterov ? gradient.add(sum, options.momentum) : sum;
}
void SGD::step() {
  const NoGrad unrecorded;
  for (std::size_t i = 0; i < sums_.size(); ++i) {
    Tensor parameter = parameters()[i];
    Tensor gradient = signed_gradient(parameter, options.maximize);
    if (!gradient.defined()) continue;
    if (options.weight_decay != 0) gradient = gradient.add(parameter, options.weight_decay);
    if (options.momentum != 0) gradient = with_momentum(sums_[i], gradient);
    parameter.add_(gradient, -options.lr);
  }
}

Adam::Adam(List<Tensor> tensors, const AdamOptions& given)
    : Parameters(checked(std::move(tensors), given)), options(given), states_(parameters().size()) {}
void Adam::step() {
  const NoGrad unrecorded;
  for (std::size_t i = 0; i < states_.size(); ++i)
    if (parameters()[i].grad().defined()) step_of(parameters()[i], states_[i]);
}
void Adam::step_of(Tensor parameter, State& state) const {
  Tensor gradient = signed_gradient(parameter, options.maximize);
  if (!state.mean.defined()) {
    state.mean = zeros_like(parameter).detach();
    state.square = zeros_like(parameter).detach();
    if (options.amsgrad) state.largest = zeros_like(parameter).detach();
  }
  ++state.steps;
  if (options.weight_decay != 0 && options.decoupled_weight_decay)
    parameter.mul_(1 - options.lr * options.weight_decay);
  else if (options.weight_decay != 0)
    gradient = gradient.add(parameter, options.weight_decay);
  const auto real = [](const Tensor& part) { return is_complex(part.dtype()) ? view_as_real(part) : part; };
  parameter = real(parameter);
  gradient = real(gradient);
  Tensor mean = real(state.mean), square = real(state.square);
  mean.lerp_(gradient, 1 - options.beta1);
  square.mul_(options.beta2).addcmul_(gradient, gradient, 1 - options.beta2);
  if (state.largest.defined()) {
    Tensor largest = real(state.largest);
    square = maximum_out(largest, largest, square);
  }
  const double unbiased = std::sqrt(1 - std::pow(options.beta2, state.steps));
  const Tensor deviation = (square.sqrt() / unbiased).add_(options.eps);
  parameter.addcdiv_(mean, deviation, -options.lr / (1 - std::pow(options.beta1, state.steps)));
}

}  // namespace tenon::optim
