// Custom functions: forward runs without recording; backward becomes a node.
#include <algorithm>

#include "autograd/engine.h"
#include "autograd/meta.h"
#include "autograd/note.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon::autograd {

/// Shared by the node and all copies of a context. The node clears it when it is destroyed.
struct FunctionState {
  Tensors to_save;  // until the results have their history
  std::vector<SavedTensor> saved;
  std::shared_ptr<void> other;
  std::vector<bool> needs_grad;
  Tensors dirty, non_differentiable;
  bool materialize = true;
  bool once_differentiable = false;
  NodeImpl* node = nullptr;  // null once the graph is gone
};

namespace {

bool holds(const Tensors& list, const Tensor& tensor) {
  return std::any_of(list.begin(), list.end(), [&](const Tensor& entry) { return entry.is(tensor); });
}

class FunctionNode final : public NodeImpl {
 public:
  FunctionNode(const FunctionCalls& calls, const Tensors& inputs, bool recorded)
      : name_(calls.name), backward_(calls.backward) {
    state->node = this;
    std::vector<Edge> edges;
    for (const Tensor& input : inputs) {
      const bool needs = recorded && input.defined() && input.requires_grad();
      edges.push_back(needs ? gradient_edge(input) : Edge{});
      state->needs_grad.push_back(needs);
    }
    set_edges(edges.data(), static_cast<int>(edges.size()));
  }
  FunctionNode(const FunctionNode&) = delete;
  FunctionNode& operator=(const FunctionNode&) = delete;
  ~FunctionNode() override {
    state->node = nullptr;
    state->saved.clear();
    state->other.reset();
  }
  const char* name() const noexcept override { return name_; }
  bool is_custom() const noexcept override { return true; }
  void release_saved() noexcept override {
    for (SavedTensor& saved : state->saved) {
      Tensor dropped;  // destroyed after unlocking
      const SpinLock own(lock());
      dropped = saved.take();
    }
  }

  void apply(const Tensor* grads, Tensor* out) override {
    Tensors given;
    for (int i = 0; i < input_count(); ++i) given.push_back(with_own_elements(grads[i]));
    for (int i = 0; i < input_count() && state->materialize; ++i)
      if (!given[static_cast<std::size_t>(i)].defined()) given[static_cast<std::size_t>(i)] = zeros_of(input(i));
    const SetGradEnabled mode(thread_modes.grad && !state->once_differentiable);
    Context context(state);
    Tensors results = backward_(context, given);
    check_count(results);
    for (int i = 0; i < edge_count(); ++i) out[i] = std::move(results[static_cast<std::size_t>(i)]);
  }

  const std::shared_ptr<FunctionState> state = std::make_shared<FunctionState>();

 private:
  static Tensor zeros_of(const InputMeta& meta) { return zeros(meta.sizes, Options(meta.dtype, meta.device)); }
  void check_count(const Tensors& results) const {
    const std::size_t wanted = static_cast<std::size_t>(edge_count());
    bool fits = results.size() >= wanted;
    for (std::size_t i = wanted; i < results.size(); ++i) fits = fits && !results[i].defined();
    if (!fits)
      throw Error("Function " + std::string(name()) + " returned an incorrect number of gradients (expected " +
                  std::to_string(wanted) + ", got " + std::to_string(results.size()) + ")");
  }

  const char* name_;
  Tensors (*backward_)(Context&, const Tensors&);
};

void check_dirty(const FunctionState& state, std::size_t results) {
  for (const Tensor& tensor : state.dirty) {
    if (holds(state.non_differentiable, tensor)) continue;
    if (tensor.requires_grad() && tensor.is_leaf())
      throw Error("a leaf Variable that requires grad has been used in an in-place operation.");
    if (tensor.is_view() && results > 1)
      throw Error(
          "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
          "more than one Tensor. This is not supported by the current autograd engine. You should either make sure the "
          "input is not a view (using .clone() for example) or make your Function only return one Tensor (potentially "
          "splitting it into two Functions: one doing the inplace that returns a single Tensor and a second one that "
          "does the other operations). You can ask on the forum https://discuss.pytorch.org/ if you need help to do "
          "this change.");
  }
}

void check_results(const char* name, const Tensors& results) {
  for (std::size_t i = 0; i < results.size(); ++i)
    if (!results[i].defined())
      throw Error("Function " + std::string(name) + " returned an undefined Tensor as output " + std::to_string(i) +
                  " of its forward");
}

/// A new tensor over the same elements, without history.
Tensor view_of(const Tensor& result) {
  const NoGrad no_grad;
  return new_view(result, result.sizes(), result.strides(), result.storage_offset());
}

/// Gives a result its history. An input that is returned unchanged is replaced by a view of it. PyTorch:
/// torch/csrc/autograd/custom_function.cpp, set_history.
Tensor with_history(FunctionNode& node, const Tensor& result, int32_t output_nr, bool is_input, bool recorded) {
  const bool is_dirty = holds(node.state->dirty, result);
  const bool is_differentiable =
      recorded && is_inexact(result.dtype()) && !holds(node.state->non_differentiable, result);
  if (recorded) node.add_input(result);
  if (!is_differentiable) {
    if (is_input && result.requires_grad()) return result.detach();
    return is_input && !is_dirty ? view_of(result) : result;
  }
  const Tensor own = is_input && !is_dirty ? view_of(result) : result;
  retain(&node);
  Node handle(&node);
  if (is_dirty)
    InplaceHistory(own, std::move(handle), output_nr).commit();
  else
    set_history(own, std::move(handle), output_nr);
  return own;
}

/// Forbids in-place writes to results that are views, because the function's backward would not see them.
void forbid_writes(const Tensors& results, const FunctionState& state) {
  const auto is_recorded = [&](const Tensor& result) { return result.grad_fn().defined(); };
  const bool several = std::count_if(results.begin(), results.end(), is_recorded) > 1;
  for (const Tensor& result : results)
    if (result.is_view() && (several || !holds(state.dirty, result)))
      result.impl()->view_mode = several ? Mode::functions : Mode::function;
}

void save_all(FunctionNode& node, const Tensors& results) {
  for (const Tensor& tensor : node.state->to_save) {
    node.state->saved.emplace_back();
    if (tensor.defined())
      node.state->saved.back().save(tensor,
                                    holds(results, tensor) ? SavedTensor::Role::result : SavedTensor::Role::operand);
  }
  node.state->to_save.clear();
}

}  // namespace

Tensors apply_function(const FunctionCalls& calls, const Tensors& inputs) {
  const bool recorded = thread_modes.grad && std::any_of(inputs.begin(), inputs.end(), [](const Tensor& input) {
                          return input.defined() && input.requires_grad();
                        });
  const Node handle(new FunctionNode(calls, inputs, recorded));
  FunctionNode& node = *static_cast<FunctionNode*>(handle.impl());
  Tensors results;
  {
    const NoGrad no_grad;
    Context context(node.state);
    results = calls.forward(context, inputs);
  }
  check_results(calls.name, results);
  if (recorded) check_dirty(*node.state, results.size());
  for (std::size_t i = 0; i < results.size(); ++i)
    results[i] = with_history(node, results[i], static_cast<int32_t>(i), holds(inputs, results[i]), recorded);
  forbid_writes(results, *node.state);
  if (!recorded) return results;
  if (!inputs.empty()) note_call(node, calls.name, inputs[0]);
  save_all(node, results);
  // A result among them would form a reference cycle with the node.
  node.state->dirty.clear();
  node.state->non_differentiable.clear();
  return results;
}

void Context::save_for_backward(Tensors tensors) { state_->to_save = std::move(tensors); }

Tensors Context::saved_tensors() const {
  if (!state_->to_save.empty()) return state_->to_save;
  if (!state_->node) fail_freed();
  Tensors tensors;
  for (const SavedTensor& saved : state_->saved) tensors.push_back(saved.unpack(state_->node));
  return tensors;
}

bool Context::needs_input_grad(int64_t input) const {
  const int64_t count = static_cast<int64_t>(state_->needs_grad.size());
  if (input < 0 || input >= count)
    throw IndexError("needs_input_grad: input " + std::to_string(input) + " of " + std::to_string(count));
  return state_->needs_grad[static_cast<std::size_t>(input)];
}
void Context::mark_dirty(const Tensors& inputs) { state_->dirty = inputs; }
void Context::mark_non_differentiable(const Tensors& outputs) { state_->non_differentiable = outputs; }
void Context::set_materialize_grads(bool materialize) { state_->materialize = materialize; }
void Context::set_once_differentiable() { state_->once_differentiable = true; }
Node Context::node() const {
  if (!state_->node) throw Error("this context belongs to a graph that is gone");
  retain(state_->node);
  return Node(state_->node);
}
void Context::set_other(std::shared_ptr<void> value) { state_->other = std::move(value); }
const void* Context::other() const {
  if (!state_->other) throw Error("saved() of a function whose forward called no save()");
  return state_->other.get();
}

}  // namespace tenon::autograd
