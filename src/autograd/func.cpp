// Derivatives of functions, as functions. PyTorch: torch/_functorch/eager_transforms.py.
#include "tenon/func.h"

#include <algorithm>
#include <string>

#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::func {
namespace {

using autograd::Tensors;

/// The same elements, to differentiate by: in the graph of `given` if it has one.
Tensor tracked(const Tensor& given) {
  if (!is_inexact(given.dtype())) throw Error("only Tensors of floating point dtype can require gradients");
  return given.requires_grad() ? given.view(given.sizes()) : given.detach().requires_grad_();
}

void check_value(const Tensor& value) {
  if (!value.defined()) throw Error("grad_and_value(f)(*args): Expected f(*args) to return a Tensor");
  if (value.dim() != 0)
    throw Error("grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with " +
                std::to_string(value.dim()) + " dims. Maybe you wanted to use the vjp or jacrev APIs instead?");
}

Tensors gradients_of(const Tensor& value, const Tensors& inputs) {
  if (value.requires_grad()) {
    autograd::GradOptions options;
    options.create_graph = options.allow_unused = options.materialize_grads = true;
    return autograd::grad({value}, inputs, {}, options);
  }
  Tensors zeros;
  for (const Tensor& input : inputs) zeros.push_back(zeros_like(input));
  return zeros;
}

}  // namespace

Differentiated differentiate(const Scalars& function, const Tensors& args, SizesView argnums) {
  const EnableGrad recorded;
  Tensors all = args, inputs;
  bool is_in_graph = false;
  for (const int64_t number : argnums) {
    is_in_graph = is_in_graph || args[number].requires_grad();
    inputs.push_back(all[number] = tracked(args[number]));
  }
  Differentiated found;
  found.value = function(all);
  check_value(found.value);
  found.gradients = gradients_of(found.value, inputs);
  if (is_in_graph) return found;
  found.value = found.value.detach();
  for (Tensor& gradient : found.gradients) gradient = gradient.detach();
  return found;
}

}  // namespace tenon::func
