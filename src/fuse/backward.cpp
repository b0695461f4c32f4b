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
  note_forward(results);
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

Tensor without_data(const Tensor& tensor) {
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}
Tensor with_strides(const Tensor& tensor, SizesView strides) {
  if (tensor.strides() == strides) return tensor;
  Tensor copy = empty_strided(tensor.sizes(), strides, Options(tensor.dtype()));
  return copy.copy_(tensor);
}
bool is_constant(const Tensor& gradient) {
  const SizesView strides = gradient.strides();
  return std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride == 0; });
}

struct FusedNode : autograd::Function<FusedNode> {
  static constexpr const char* name = "FusedBackward";
  static List<Tensor> backward(autograd::Context& context, const List<Tensor>& grads) {
    return context.saved<std::shared_ptr<const Backward>>()->gradients(context.saved_tensors(), grads);
  }
};

}  // namespace

std::shared_ptr<const Backward> Backward::make(const Fused::Function& function, const List<Tensor>& inputs, Keep keep) {
  const std::shared_ptr<Backward> backward(new Backward(function, keep));
  for (const Tensor& input : inputs) {
    backward->wanted_.push_back(input.requires_grad());
    backward->arguments_.push_back(without_data(input));
  }
  const auto with_gradients = [&](const List<Tensor>& given) {
    const EnableGrad enabled;
    const List<Tensor> results = function(leaves_of(given, backward->wanted_));
    backward->is_recorded_.clear();
    backward->results_ = {};
    for (const Tensor& result : results) {
      backward->is_recorded_.push_back(result.requires_grad());
      backward->results_.push_back(without_data(result));
    }
    return results;
  };
  const NoGrad unrecorded;
  try {
    if (!can_be_one_node(trace_graph(with_gradients, inputs))) return nullptr;
    backward->make_forward(inputs);
    // What the function reads besides its arguments may have changed when gradients are asked for, so the usual ones
    // are traced now: of all results, and of each alone.
    const std::vector<bool>& all = backward->is_recorded_;
    backward->prepare(all);
    for (std::size_t i = 0; i < all.size() && std::count(all.begin(), all.end(), true) > 1; ++i) {
      std::vector<bool> alone(all.size(), false);
      alone[i] = true;
      if (all[i]) backward->prepare(alone);
    }
    return backward;
  } catch (const std::exception&) {
    return nullptr;  // the call as it is says what is wrong
  }
}

void Backward::make_forward(const List<Tensor>& inputs) {
  std::vector<Given> all;
  for (const bool is_recorded : is_recorded_) all.push_back(is_recorded ? Given::dense : Given::none);
  GraphTrace whole = trace(all);
  std::vector<int> arguments, computed = whole.forward_results;
  for (std::size_t i = 0; i < inputs.size(); ++i) arguments.push_back(static_cast<int>(i));
  auto given = static_cast<int>(inputs.size());
  for (const bool is_recorded : is_recorded_) given += is_recorded ? 1 : 0;
  for (const int id : kept_values(whole, keep_)) {
    computed.push_back(id);
    kept_.push_back(id - given);
    kept_layouts_.push_back(whole.values[static_cast<std::size_t>(id)].meta);
  }
  forward_steps_ = whole.forward_steps;
  forward_ = std::make_shared<const Graph>(part_of_trace(whole, arguments, computed));
  graphs_.emplace(all, derivative_in(std::move(whole), given));
}

void Backward::prepare(const std::vector<bool>& of_results) const {
  for (const Given layout : {Given::dense, Given::constant}) {
    std::vector<Given> given;
    given.reserve(of_results.size());
    for (const bool is_given : of_results) given.push_back(is_given ? layout : Given::none);
    graph_of(given);
  }
}

GraphTrace Backward::trace(const std::vector<Given>& given) const {
  List<Tensor> inputs = arguments_;
  std::vector<bool> of_results;
  for (std::size_t i = 0; i < given.size(); ++i) {
    of_results.push_back(given[i] != Given::none);
    if (given[i] == Given::dense) inputs.push_back(results_[i]);
    if (given[i] == Given::constant)
      inputs.push_back(zeros({}, Options(results_[i].dtype(), Device::meta)).expand(results_[i].sizes()));
  }
  const NoGrad unrecorded;
  return trace_graph([&](const List<Tensor>& all) { return gradients_of(function_, wanted_, of_results, all); },
                     inputs);
}

std::shared_ptr<const Graph> Backward::derivative_in(GraphTrace whole, int inputs) const {
  std::vector<int> known;
  known.reserve(static_cast<std::size_t>(inputs) + kept_.size());
  for (int id = 0; id < inputs; ++id) known.push_back(id);
  for (const int kept : kept_) known.push_back(inputs + kept);
  if (whole.forward_steps != forward_steps_) throw Error("tenon.fuse: the function has changed since it was called");
  whole = part_of_trace(whole, known, whole.results);  // nothing else holds what the derivative makes of numbers
  return std::make_shared<const Graph>(std::move(whole));
}

std::shared_ptr<const Graph> Backward::graph_of(const std::vector<Given>& given) const {
  {
    const std::lock_guard own(lock_);
    if (const auto known = graphs_.find(given); known != graphs_.end()) return known->second;
  }
  const auto gradients = given.size() - static_cast<std::size_t>(std::count(given.begin(), given.end(), Given::none));
  auto graph = derivative_in(trace(given), static_cast<int>(arguments_.size() + gradients));
  const std::lock_guard own(lock_);
  return graphs_.emplace(given, std::move(graph)).first->second;
}

const Fused& Backward::of(const std::vector<bool>& results) const {
  const std::lock_guard own(lock_);
  const auto known = functions_.find(results);
  if (known != functions_.end()) return known->second;
  // Copies: the fused function may be gone when gradients are asked for.
  Fused fused([function = function_, wanted = wanted_,
               results](const List<Tensor>& given) { return gradients_of(function, wanted, results, given); },
              keep_);
  return functions_.emplace(results, std::move(fused)).first->second;
}

bool Backward::can_run(const List<Tensor>& inputs) const { return forward_->can_run(inputs); }

List<Tensor> Backward::call(std::shared_ptr<const Backward> backward, const List<Tensor>& inputs) {
  const auto forward = [&](autograd::Context& context, const List<Tensor>& given) {
    List<Tensor> results, saved = given, constants;
    for (const Tensor& computed : backward->forward_->run(given)) {
      const std::size_t number = results.size();
      if (number < backward->results_.size())
        results.push_back(computed);
      else
        saved.push_back(with_strides(computed, backward->kept_layouts_[saved.size() - given.size()].strides()));
    }
    context.save_for_backward(std::move(saved));
    context.set_materialize_grads(false);
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!backward->is_recorded_[i]) constants.push_back(results[i]);
    context.mark_non_differentiable(constants);
    context.save(std::move(backward));
    return results;
  };
  return autograd::apply_function({FusedNode::name, forward, FusedNode::backward}, inputs);
}

List<Tensor> Backward::differentiable_gradients(const List<Tensor>& saved, const List<Tensor>& of_results) const {
  List<Tensor> inputs;
  std::vector<bool> is_given;
  for (std::size_t i = 0; i < wanted_.size(); ++i) inputs.push_back(saved[i]);
  for (const Tensor& gradient : of_results) {
    is_given.push_back(gradient.defined());
    if (gradient.defined()) inputs.push_back(gradient);
  }
  return of(is_given)(inputs);
}

List<Tensor> Backward::gradients(const List<Tensor>& saved, const List<Tensor>& of_results) const {
  List<Tensor> found;
  if (thread_modes.grad) {
    found = differentiable_gradients(saved, of_results);
  } else {
    List<Tensor> inputs;
    std::vector<Given> given;
    for (std::size_t i = 0; i < wanted_.size(); ++i) inputs.push_back(saved[i]);
    for (std::size_t i = 0; i < of_results.size(); ++i) {
      const Tensor& gradient = of_results[i];
      given.push_back(!gradient.defined() ? Given::none : is_constant(gradient) ? Given::constant : Given::dense);
      if (given[i] == Given::dense) inputs.push_back(with_strides(gradient, results_[i].strides()));
      if (given[i] == Given::constant) inputs.push_back(gradient);
    }
    for (std::size_t i = wanted_.size(); i < saved.size(); ++i) inputs.push_back(saved[i]);
    const auto graph = graph_of(given);
    found = graph->can_run(inputs) ? graph->run(inputs) : differentiable_gradients(saved, of_results);
  }
  List<Tensor> gradients(wanted_.size());
  for (std::size_t i = 0, next = 0; i < gradients.size(); ++i) {
    if (!wanted_[i]) continue;
    if (!is_no_gradient(found[next])) gradients[i] = found[next];
    ++next;
  }
  return gradients;
}

}  // namespace tenon::fusion
