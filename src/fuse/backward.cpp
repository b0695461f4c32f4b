#include "fuse/backward.h"

#include <algorithm>

#include "fuse/graph.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tensor/history.h"

namespace tenon::fusion {
namespace {

/// Stands for a gradient that is none.
Tensor no_gradient() { return zeros({0}, bool_); }
bool is_no_gradient(const Tensor& gradient) { return gradient.dtype() == bool_; }

/// The arguments as they are, or as leaves of a graph of their own.
List<Tensor> leaves_of(const List<Tensor>& inputs, const std::vector<bool>& wanted) {
  List<Tensor> leaves;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    leaves.push_back(inputs[i]);
    if (wanted[i] && !inputs[i].requires_grad()) leaves[i] = inputs[i].detach().requires_grad_();
  }
  return leaves;
}

/// The gradients of `wanted` arguments, of arguments and then the gradients of some results.
List<Tensor> gradients_of(const Fused::Function& function, const std::vector<bool>& wanted,
                          const std::vector<bool>& of_results, const List<Tensor>& given) {
  autograd::GradOptions options;
  options.create_graph = thread_modes.grad;
  options.allow_unused = true;
  const List<Tensor> leaves = leaves_of(given, wanted);
  List<Tensor> results, outputs, gradients, inputs;
  {
    const EnableGrad recorded;
    results = function(leaves);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!of_results[i]) continue;
    gradients.push_back(given[leaves.size() + outputs.size()]);
    outputs.push_back(results[i]);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) inputs.push_back(leaves[i]);
  List<Tensor> found = autograd::grad(outputs, inputs, gradients, options);
  for (Tensor& gradient : found)
    if (!gradient.defined()) gradient = no_gradient();
  return found;
}

/// A gradient of the two usual layouts: that of the result, and one element for all.
Tensor gradient_like(const Tensor& result, bool is_constant) {
  const Options options(result.dtype());
  return is_constant ? zeros({}, options).expand(result.sizes())
                     : empty_strided(result.sizes(), result.strides(), options);
}
/// Only for these the derivative was traced in the forward call.
Tensor in_usual_layout(const Tensor& gradient, SizesView strides) {
  const auto is_zero = [](int64_t stride) { return stride == 0; };
  if (thread_modes.grad || gradient.strides() == strides) return gradient;
  if (std::all_of(gradient.strides().begin(), gradient.strides().end(), is_zero)) return gradient;
  Tensor copy = empty_strided(gradient.sizes(), strides, Options(gradient.dtype()));
  return copy.copy_(gradient);
}

struct FusedNode : autograd::Function<FusedNode> {
  static constexpr const char* name = "FusedBackward";
  static List<Tensor> backward(autograd::Context& context, const List<Tensor>& grads) {
    return context.saved<std::shared_ptr<const Backward>>()->gradients(context.saved_tensors(), grads);
  }
};

}  // namespace

std::shared_ptr<const Backward> Backward::make(const Fused::Function& function, const List<Tensor>& inputs) {
  const std::shared_ptr<Backward> backward(new Backward(function));
  for (const Tensor& input : inputs) backward->wanted_.push_back(input.requires_grad());
  List<Tensor> results;
  const auto with_gradients = [&](const List<Tensor>& given) {
    const EnableGrad enabled;
    results = function(leaves_of(given, backward->wanted_));
    return results;
  };
  const NoGrad unrecorded;
  try {
    if (!is_cheap_to_repeat(trace_graph(with_gradients, inputs))) return nullptr;
    for (const Tensor& result : results) {
      backward->is_recorded_.push_back(result.requires_grad());
      backward->strides_.push_back(result.strides().copy());
    }
    // What the function reads besides its arguments may have changed when gradients are asked for, so the usual ones
    // are traced now: of all results, and of each alone.
    const std::vector<bool>& all = backward->is_recorded_;
    backward->prepare(all, inputs, results);
    for (std::size_t i = 0; i < all.size() && std::count(all.begin(), all.end(), true) > 1; ++i) {
      std::vector<bool> alone(all.size(), false);
      alone[i] = true;
      if (all[i]) backward->prepare(alone, inputs, results);
    }
    return backward;
  } catch (const std::exception&) {
    return nullptr;  // the call as it is says what is wrong
  }
}

void Backward::prepare(const std::vector<bool>& of_results, const List<Tensor>& inputs,
                       const List<Tensor>& results) const {
  for (const bool is_constant : {false, true}) {
    List<Tensor> given;
    for (const Tensor& input : inputs) given.push_back(input.detach());
    for (std::size_t i = 0; i < results.size(); ++i)
      if (of_results[i]) given.push_back(gradient_like(results[i], is_constant));
    of(of_results).prepare(given);
  }
}

const Fused& Backward::of(const std::vector<bool>& results) const {
  const std::lock_guard own(lock_);
  const auto known = functions_.find(results);
  if (known != functions_.end()) return known->second;
  // Copies: the fused function may be gone when gradients are asked for.
  Fused fused([function = function_, wanted = wanted_, results](const List<Tensor>& given) {
    return gradients_of(function, wanted, results, given);
  });
  return functions_.emplace(results, std::move(fused)).first->second;
}

List<Tensor> Backward::call(std::shared_ptr<const Backward> backward, const Fused& fused, const List<Tensor>& inputs) {
  const auto forward = [&](autograd::Context& context, const List<Tensor>& given) {
    context.save_for_backward(given);
    context.set_materialize_grads(false);
    List<Tensor> results = fused(given), constants;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!backward->is_recorded_[i]) constants.push_back(results[i]);
    context.mark_non_differentiable(constants);
    context.save(std::move(backward));
    return results;
  };
  return autograd::apply_function({FusedNode::name, forward, FusedNode::backward}, inputs);
}

List<Tensor> Backward::gradients(List<Tensor> arguments, const List<Tensor>& of_results) const {
  std::vector<bool> is_given;
  for (std::size_t i = 0; i < of_results.size(); ++i) {
    is_given.push_back(of_results[i].defined());
    if (is_given.back()) arguments.push_back(in_usual_layout(of_results[i], strides_[i]));
  }
  const List<Tensor> found = of(is_given)(arguments);
  List<Tensor> gradients(wanted_.size());
  for (std::size_t i = 0, next = 0; i < gradients.size(); ++i) {
    if (!wanted_[i]) continue;
    if (!is_no_gradient(found[next])) gradients[i] = found[next];
    ++next;
  }
  return gradients;
}

}  // namespace tenon::fusion
