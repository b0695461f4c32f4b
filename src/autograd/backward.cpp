// backward() and grad(), with PyTorch's checks of their arguments.
#include <algorithm>

#include "autograd/engine.h"
#include "autograd/reduce_grad.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "type/visit.h"

namespace tenon::autograd {
namespace {

/// Roots with their gradients. They keep the nodes alive during the run.
struct Roots {
  EdgeList edges;
  GradList gradients;

  explicit Roots(std::size_t count) : edges(static_cast<int64_t>(count)), gradients(static_cast<int64_t>(count)) {}
};

/// A gradient of ones for a tensor of one element.
Tensor implicit_gradient(const Tensor& output) {
  if (output.numel() != 1) throw Error("grad can be implicitly created only for scalar outputs");
  if (is_complex(output.dtype()))
    throw Error(std::string("grad can be implicitly created only for real scalar outputs but got torch.") +
                dtype_name(output.dtype()));
  const Tensor one = new_tensor(output.sizes(), output.dtype(), output.device());
  if (!one.is_meta()) visit_dtype(one.dtype(), [&]<class T>() { *one.data<T>() = scalar_to<T>(1); });
  return one;
}

void check_gradient(const Tensor& gradient, const Tensor& output, std::size_t i) {
  const std::string index = std::to_string(i);
  if (is_complex(gradient.dtype()) != is_complex(output.dtype()))
    throw Error(
        "For complex Tensors, both grad_output and output are required to have the same dtype. Mismatch in dtype: "
        "grad_output[" +
        index + "] has a dtype of torch." + dtype_name(gradient.dtype()) + " and output[" + index +
        "] has a dtype of torch." + dtype_name(output.dtype()) + ".");
  if (gradient.sizes() == output.sizes()) return;
  throw Error("Mismatch in shape: grad_output[" + index + "] has a shape of torch.Size(" + to_string(gradient.sizes()) +
              ") and output[" + index + "] has a shape of torch.Size(" + to_string(output.sizes()) + ").");
}

[[noreturn]] void fail_no_history(std::size_t i) {
  throw Error("element " + std::to_string(i) + " of tensors does not require grad and does not have a grad_fn");
}

/// `gradients` has `given` entries, of which some may be undefined.
void add_roots(Roots& roots, const Tensor* outputs, std::size_t count, const Tensor* gradients, std::size_t given) {
  for (std::size_t i = 0; i < count; ++i) {
    const Tensor& output = outputs[i];
    Tensor gradient = i < given ? gradients[i] : Tensor();
    if (gradient.defined())
      check_gradient(gradient, output, i);
    else if (output.requires_grad())
      gradient = implicit_gradient(output);
    if (!output.requires_grad()) fail_no_history(i);
    Edge edge = gradient_edge(output);
    if (!edge.node) fail_no_history(i);
    roots.edges.data()[i] = std::move(edge);
    if (gradient.dtype() != output.dtype()) gradient = cast_grad(gradient, output.dtype());
    roots.gradients.data()[i] = std::move(gradient);
  }
}
void add_roots(Roots& roots, const Tensors& outputs, const Tensors& gradients) {
  add_roots(roots, outputs.data(), outputs.size(), gradients.data(), gradients.size());
}

void run(const Roots& roots, std::size_t count, GraphTask& task) {
  task.run(roots.edges.data(), roots.gradients.data(), static_cast<int64_t>(count));
}

void warn_of_cycle() {
  warn("UserWarning",
       "Using backward() with create_graph=True will create a reference cycle between the parameter and its gradient "
       "which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid this. If you "
       "have to use this function, make sure to reset the .grad fields of your parameters to None after use to break "
       "the cycle and avoid the leak.");
}

/// A leaf's accumulator, or a computed tensor's node; null if the tensor is in no graph.
Edge known_edge(const Tensor& input) {
  if (NodeImpl* node = grad_fn_of(input)) {
    retain(node);
    return {node, static_cast<int32_t>(input.output_nr())};
  }
  return {accumulator_of(input, false), 0};
}

/// A gradient as `grad` returns it. The gradient of a sum may be the tensor given as grad_outputs, as in PyTorch.
Tensor given_away(const Tensor& gradient, const Roots& roots, std::size_t count) {
  if (!gradient.defined() || gradient.is_meta()) return gradient;
  for (std::size_t i = 0; i < count; ++i)
    if (roots.gradients.data()[i].impl()->storage == gradient.impl()->storage) return gradient;
  const bool is_one_that_repeats = gradient.numel() == 1 && gradient.is_view();
  return is_one_that_repeats ? gradient.clone() : with_own_elements(gradient);
}

}  // namespace

void backward(const Tensors& tensors, const Tensors& gradients, const BackwardOptions& options) {
  Roots roots(tensors.size());
  add_roots(roots, tensors, gradients);
  if (options.create_graph) warn_of_cycle();
  GraphTask task(options.retain_graph.value_or(options.create_graph), options.create_graph);
  run(roots, tensors.size(), task);
}

void backward(const Tensors& tensors, const Tensors& gradients, const BackwardOptions& options, const Tensors& inputs) {
  if (inputs.empty()) throw Error("`inputs` argument to `backward()` cannot be empty.");
  Roots roots(tensors.size());
  std::vector<Edge> leaves;
  add_roots(roots, tensors, gradients);
  std::vector<NodeImpl*> accumulators;
  std::vector<Capture> captures;
  for (const Tensor& input : inputs) {
    input.retain_grad();  // PyTorch also sets the grad of computed inputs
    if (!input.is_leaf()) {
      captures.push_back({grad_fn_of(input), static_cast<int32_t>(input.output_nr()), {}});
      continue;
    }
    Edge edge = known_edge(input);
    if (!edge.node) continue;
    accumulators.push_back(edge.node);
    leaves.push_back(std::move(edge));
  }
  if (options.create_graph) warn_of_cycle();
  GraphTask task(options.retain_graph.value_or(options.create_graph), options.create_graph);
  task.limit_to(&captures, accumulators);
  run(roots, tensors.size(), task);
  if (options.retain_graph.value_or(options.create_graph)) return;
  // PyTorch also runs the nodes of computed inputs, which frees their saved tensors.
  for (const Capture& input : captures)
    if (input.gradient.defined()) input.node->release_saved();
}

Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs, const GradOptions& options) {
  if (inputs.empty()) throw Error("`inputs` argument to `grad()` cannot be empty.");
  Roots roots(outputs.size());
  std::vector<Edge> known;
  add_roots(roots, outputs, grad_outputs);
  std::vector<Capture> captures;
  for (const Tensor& input : inputs) {
    if (!input.requires_grad()) throw Error("One of the differentiated Tensors does not require grad");
    known.push_back(known_edge(input));
    captures.push_back({known.back().node, known.back().input, {}});
  }
  GraphTask task(options.retain_graph.value_or(options.create_graph), options.create_graph);
  task.limit_to(&captures, {});
  run(roots, outputs.size(), task);
  const SetGradEnabled mode(options.create_graph);
  Tensors result;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    Tensor gradient = given_away(captures[i].gradient, roots, outputs.size());
    if (!gradient.defined() && options.materialize_grads) gradient = zeros_like(inputs[i]);
    if (!gradient.defined() && !options.allow_unused)
      throw Error(
          "The differentiated Tensor at index " + std::to_string(i) +
          " appears to not have been used in the graph. Set allow_unused=True if this is the desired behavior.");
    result.push_back(std::move(gradient));
  }
  return result;
}

}  // namespace tenon::autograd

namespace tenon {

void Tensor::backward() const { backward(Tensor()); }

void Tensor::backward(const Tensor& gradient, std::optional<bool> retain_graph, bool create_graph) const {
  autograd::Roots roots(1);
  autograd::add_roots(roots, this, 1, &gradient, 1);
  if (create_graph) autograd::warn_of_cycle();
  autograd::GraphTask task(retain_graph.value_or(create_graph), create_graph);
  autograd::run(roots, 1, task);
}

}  // namespace tenon
