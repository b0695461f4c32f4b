#include "autograd/engine.h"

#include <algorithm>

#include "autograd/reduce_grad.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/differentiate.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/overlap.h"
#include "tile/pool.h"

namespace tenon::autograd {
namespace {

bool runs_later(const NodeImpl* a, const NodeImpl* b) { return a->sequence < b->sequence; }

Tensors to_list(const Tensor* tensors, int count) { return Tensors(tensors, tensors + count); }

/// Checks that a hook's result has the dtype, device and sizes of the gradient that it replaces.
void check_hook_result(const Tensor& before, const Tensor& after) {
  if (!before.defined()) throw Error("can't replace a None gradient with a non-None value");
  if (before.dtype() != after.dtype() || before.device() != after.device())
    throw Error("hook has changed the type of value (was " + class_name(before) + " got " + class_name(after) + ")");
  if (!(before.sizes() == after.sizes())) throw Error("hook has changed the size of value");
}

void give_own_elements(Tensor* tensors, int count) {
  for (int i = 0; i < count; ++i) tensors[i] = with_own_elements(tensors[i]);
}

void call_tensor_hooks(const HookList<TensorHook>& list, Tensor& grad) {
  if (!grad.defined() || list.entries().empty()) return;
  grad = with_own_elements(grad);
  for (const auto& entry : list.entries()) {
    Tensor result = (*entry.hook)(grad);
    if (!result.defined()) continue;
    check_hook_result(grad, result);
    grad = std::move(result);
  }
}

void replace_all(Tensor* tensors, int count, const Tensors& by) {
  if (by.empty()) return;
  if (static_cast<int>(by.size()) != count)
    throw Error("hook has returned an incorrect number of values (got " + std::to_string(by.size()) +
                ", but expected " + std::to_string(count) + ")");
  for (int i = 0; i < count; ++i)
    if (by[static_cast<std::size_t>(i)].defined()) check_hook_result(tensors[i], by[static_cast<std::size_t>(i)]);
  for (int i = 0; i < count; ++i) tensors[i] = by[static_cast<std::size_t>(i)];
}

/// A copy of a part of the extras, which other threads may change.
template <class Part>
Part copy_of(const NodeImpl* node, Part NodeExtras::*part) {
  const SpinLock lock(node->lock());
  return node->extras_if_any()->*part;
}
template <class List>
std::shared_ptr<List> copy_of(AccumulateGrad* node, std::shared_ptr<List> LeafHooks::*part) {
  if (!node->hooks()) return nullptr;
  const SpinLock lock(node->leaf()->meta()->lock);
  return node->hooks()->*part;
}

/// Calls the hooks of tensors, before the gradients are used.
void call_hooks_of_tensors(NodeImpl* node, Tensor* grads) {
  if (node->is_accumulator())
    if (const auto hooks = copy_of(static_cast<AccumulateGrad*>(node), &LeafHooks::before))
      call_tensor_hooks(*hooks, grads[0]);
  if (!node->extras_if_any()) return;
  for (const NodeExtras::OfResult& of : copy_of(node, &NodeExtras::tensor_hooks))
    call_tensor_hooks(*of.hooks, grads[of.input]);
}

void call_prehooks(NodeImpl* node, Tensor* grads) {
  if (!node->extras_if_any()) return;
  const auto hooks = copy_of(node, &NodeExtras::pre_hooks);
  if (!hooks) return;
  give_own_elements(grads, node->input_count());
  for (const auto& entry : hooks->entries())
    replace_all(grads, node->input_count(), (*entry.hook)(to_list(grads, node->input_count())));
}

void call_posthooks(NodeImpl* node, Tensor* out, const Tensor* grads) {
  if (!node->extras_if_any()) return;
  const auto hooks = copy_of(node, &NodeExtras::hooks);
  if (!hooks) return;
  const int count = node->edge_count();
  give_own_elements(out, count);
  for (const auto& entry : hooks->entries())
    replace_all(out, count, (*entry.hook)(to_list(out, count), to_list(grads, node->input_count())));
}

/// Adds two gradients of one tensor; in place if no other tensor shares the elements.
Tensor summed(Tensor before, const Tensor& gradient) {
  const bool in_place = !thread_modes.grad && is_owned_alone(before) && before.dtype() == gradient.dtype() &&
                        internal_overlap(before) == InternalOverlap::no;
  if (in_place) return before.add_(gradient);
  return before + gradient;
}

std::string described(const Tensor* grads, int count) {
  for (int i = 0; i < count; ++i) {
    if (!grads[i].defined() || grads[i].is_meta() || grads[i].numel() == 0) continue;
    if (!is_inexact(grads[i].dtype())) continue;
    // NOLINTNEXTLINE(misc-redundant-expression): NaN
    if (run_reduce(Op::amax, (grads[i] != grads[i]).to(uint8), {}, false, {}).item().as_bool())
      return "returned nan values in its " + std::to_string(i) + "th output.";
  }
  return {};
}

void check_nan(const NodeImpl* node, const Tensor* grads, int count) {
  if (!anomaly_mode.enabled || !anomaly_mode.check_nan) return;
  const NoGrad no_grad;
  const std::string text = described(grads, count);
  if (!text.empty()) throw Error("Function '" + std::string(node->name()) + "' " + text);
}

/// In anomaly mode adds to an Error where its node was recorded.
void add_forward_call(const NodeImpl* node, Error& error) {
  if (!anomaly_mode.enabled) return;
  const NodeExtras* extras = node->extras_if_any();
  const bool known = extras && !extras->forward_call.empty();
  error.add_note(known ? "Error detected in " + std::string(node->name()) +
                             ". Forward call that caused the error: " + extras->forward_call
                       : "Error detected in " + std::string(node->name()) +
                             ". No forward pass information available. Enable detect anomaly during forward pass for "
                             "more information.");
}

std::atomic<bool> strict{false};

[[noreturn]] void fail_shape(const NodeImpl* node, int i, const Tensor& grad, const InputMeta& meta) {
  throw Error("Function " + std::string(node->name()) + " returned an invalid gradient at index " + std::to_string(i) +
              " - got " + to_string(grad.sizes()) + " but expected shape compatible with " + to_string(meta.sizes));
}

void check_shape(const NodeImpl* node, int i, const Tensor& grad, const InputMeta& meta) {
  if (!is_expandable_to(meta.sizes, grad.sizes())) fail_shape(node, i, grad, meta);
  if (!node->is_custom() || !strict.load(std::memory_order_relaxed)) return;
  Error error("Function " + std::string(node->name()) + " returned a gradient at index " + std::to_string(i) +
              " of shape " + to_string(grad.sizes()) + " for an input of shape " + to_string(meta.sizes) +
              ", which set_strict_shapes(true) does not sum down");
  error.add_note("return grad.sum_to_size(" + to_string(meta.sizes) + ")");
  throw error;
}

}  // namespace

Tensor with_own_elements(const Tensor& gradient) {
  if (!gradient.defined() || gradient.is_meta() || internal_overlap(gradient) == InternalOverlap::no) return gradient;
  return gradient.clone(MemoryFormat::contiguous);
}

void set_strict_shapes(bool value) noexcept { strict.store(value, std::memory_order_relaxed); }
bool strict_shapes() noexcept { return strict.load(std::memory_order_relaxed); }

void validate_outputs(NodeImpl* node, Tensor* grads) {
  for (int i = 0; i < node->edge_count(); ++i) {
    Tensor& grad = grads[i];
    if (!node->has_edge(i) || !grad.defined()) continue;
    const Edge& edge = node->edge(i);
    const InputMeta& meta = edge.node->input(edge.input);
    if (!(grad.sizes() == SizesView(meta.sizes))) {
      check_shape(node, i, grad, meta);
      grad = reduce_grad(grad, meta.sizes);
    }
    if (grad.dtype() != meta.dtype) grad = cast_grad(grad, meta.dtype);
    if (grad.device() == meta.device) continue;
    if (grad.dim() != 0)
      throw Error("Function " + std::string(node->name()) + " returned an invalid gradient at index " +
                  std::to_string(i) + " - expected device " + device_name(meta.device) + " but got " +
                  device_name(grad.device()));
    grad = grad.to(meta.device);
  }
}

namespace {

/// Restores the caller's modes, which hooks may change.
class KeptModes {
 public:
  KeptModes() = default;
  ~KeptModes() { thread_modes = before_; }
  KeptModes(const KeptModes&) = delete;
  KeptModes& operator=(const KeptModes&) = delete;

 private:
  const ThreadModes before_ = thread_modes;
};

}  // namespace

GraphTask::~GraphTask() {
  for (NodeImpl* node : claimed_) {
    node->state.reset();
    node->owner.store(nullptr, std::memory_order_release);
  }
}

void GraphTask::limit_to(std::vector<Capture>* captures, const std::vector<NodeImpl*>& accumulators) {
  limited_ = true;
  captures_ = captures;
  accumulators_ = accumulators;
  std::sort(accumulators_.begin(), accumulators_.end());
  for (std::size_t i = 0; i < captures->size(); ++i) asked_.emplace_back((*captures)[i].node, i);
  std::sort(asked_.begin(), asked_.end());
}

TaskState& GraphTask::state_of(NodeImpl* node) {
  return node->owner.load(std::memory_order_relaxed) == this ? node->state : busy_states_->find(node)->second;
}

/// Claims a node for this run. False if this run has it already.
bool GraphTask::claim(NodeImpl* node) {
  GraphTask* owner = node->owner.load(std::memory_order_relaxed);
  if (owner == this) return false;
  // This run may hold its state apart, although the run that owned the node has released it.
  if (busy_states_ && busy_states_->count(node) != 0) return false;
  if (!owner) {
    claimed_.push_back(node);  // first, because a claimed node outside this list would never be released
    if (node->owner.compare_exchange_strong(owner, this, std::memory_order_acquire)) return true;
    claimed_.resize(claimed_.size() - 1);
  }
  if (!busy_states_) busy_states_ = std::make_unique<std::unordered_map<NodeImpl*, TaskState>>();
  return busy_states_->try_emplace(node).second;
}

bool GraphTask::is_asked_for(const NodeImpl* node) const {
  const auto found = std::lower_bound(asked_.begin(), asked_.end(), std::pair(node, std::size_t{0}));
  return found != asked_.end() && found->first == node;
}

/// Ends the visit of a node in a limited run: all nodes beyond it have been visited.
void GraphTask::leave(NodeImpl* node, NodeImpl* parent) {
  TaskState& state = state_of(node);
  if (std::binary_search(accumulators_.begin(), accumulators_.end(), node)) state.execute = true;
  state.needed = state.execute || is_asked_for(node);
  if (parent && state.needed) state_of(parent).execute = true;
}

/// Counts how many edges lead to each node reachable from `root`. Uses an explicit stack, because chains may be long.
void GraphTask::prepare(NodeImpl* root) {
  SmallVector<Frame, 32> stack;
  const auto enter = [&](NodeImpl* node, NodeImpl* parent) {
    if (!claim(node)) return false;
    state_of(node).execute = !limited_;
    if (node->edge_count() > 0)
      stack.push_back({node, 0});
    else if (limited_)
      leave(node, parent);
    return true;
  };
  enter(root, nullptr);
  ++state_of(root).dependencies;
  while (!stack.empty()) {
    Frame& frame = stack.back();
    if (frame.next == frame.node->edge_count()) {
      NodeImpl* done = frame.node;
      stack.resize(stack.size() - 1);
      if (limited_) leave(done, stack.empty() ? nullptr : stack.back().node);
      continue;
    }
    NodeImpl* parent = frame.node;
    NodeImpl* child = parent->edge(frame.next++).node;
    if (!child) continue;
    const bool entered = enter(child, parent);
    TaskState& state = state_of(child);
    ++state.dependencies;
    if (!entered && limited_ && state.needed) state_of(parent).execute = true;
  }
}

void GraphTask::push(NodeImpl* node) {
  if (node->is_accumulator()) return ready_leaves_.push_back(node);
  ready_.push_back(node);
  std::push_heap(ready_.begin(), ready_.end(), runs_later);
}

NodeImpl* GraphTask::pop() {
  if (!ready_leaves_.empty()) {
    NodeImpl* leaf = ready_leaves_.back();
    ready_leaves_.resize(ready_leaves_.size() - 1);
    return leaf;
  }
  std::pop_heap(ready_.begin(), ready_.end(), runs_later);
  NodeImpl* node = ready_.back();
  ready_.resize(ready_.size() - 1);
  return node;
}

void GraphTask::deliver(NodeImpl* node, int32_t input, Tensor gradient) {
  TaskState& state = state_of(node);
  if (input > 0 && !state.others)
    state.others = std::make_unique<Tensor[]>(static_cast<std::size_t>(node->input_count() - 1));
  Tensor& sum = input == 0 ? state.first : state.others[static_cast<std::size_t>(input) - 1];
  if (gradient.defined()) sum = sum.defined() ? summed(std::move(sum), gradient) : std::move(gradient);
  if (--state.dependencies == 0 && state.needed) push(node);
}

void GraphTask::capture(const NodeImpl* node, const Tensor* grads) {
  auto asked = std::lower_bound(asked_.begin(), asked_.end(), std::pair(node, std::size_t{0}));
  for (; asked != asked_.end() && asked->first == node; ++asked) {
    Capture& captured = (*captures_)[asked->second];
    captured.gradient = grads[captured.input];
  }
}

void GraphTask::keep_retained(NodeImpl* node, const Tensor* grads) {
  if (!node->extras_if_any()) return;
  for (const auto& [input, weak] : copy_of(node, &NodeExtras::retained))
    if (const std::shared_ptr<GradSlot> slot = weak.lock(); slot && grads[input].defined())
      kept_.push_back({slot, slot.get(), grads[input].clone(), {}, {}});
}

/// A leaf's gradient is complete. It is kept in the node's state until all others are complete.
void GraphTask::arrive(AccumulateGrad* leaf, Tensor* grads) {
  call_prehooks(leaf, grads);
  const TensorImpl* impl = leaf->leaf();
  if (impl->base ? grad_fn_of(leaf->variable()) : impl->meta()->grad_fn.load(std::memory_order_relaxed))
    throw Error("leaf variable has been moved into the graph interior");
  if (!requires_grad(impl)) return;  // the leaf no longer requires grad
  arrived_.push_back(leaf);
  if (!leaf->extras_if_any()) return;
  TaskState& state = state_of(leaf);  // freed only after the node's hooks
  state.others = std::make_unique<Tensor[]>(1);
  state.others[0] = state.first;
}

void KeptGradient::compute() {
  before = slot->get();
  if (!before.defined()) {
    after = gradient;
    return;
  }
  version = in_place ? before.version() : 0;
  if (!in_place) {
    after = before + gradient;
    return;
  }
  check_inplace(before, false);
  check_no_internal_overlap(before);
  after = run_clone(before, MemoryFormat::contiguous);
  after.add_(gradient);
}

bool KeptGradient::commit() noexcept {
  return in_place && before.defined() ? slot->overwrite(before, version, after) : slot->replace(before, after);
}

/// Everything that may fail, before any `grad` is changed.
void GraphTask::prepare_gradients() {
  for (AccumulateGrad* leaf : arrived_) {
    TaskState& state = state_of(leaf);
    if (!state.first.defined()) continue;
    const bool in_place = !thread_modes.grad;
    if (in_place || leaf->grad().is_empty()) {
      const AccumulateGrad::Accumulation how = leaf->prepare(state.first);
      state.is_first = how == AccumulateGrad::Accumulation::first;
      if (how == AccumulateGrad::Accumulation::unsure && !unsure_) unsure_ = leaf;
      if (how != AccumulateGrad::Accumulation::unsure || unsure_ == leaf) continue;
    }
    kept_.push_back({nullptr, &leaf->grad(), state.first, in_place});
    state.first = Tensor();
  }
  for (KeptGradient& kept : kept_) kept.compute();
}

/// Allocates memory for calling hooks after the gradients are changed, so that then only a hook itself can fail.
void GraphTask::prepare_hooks() {
  for (AccumulateGrad* leaf : arrived_) {
    if (const auto hooks = copy_of(leaf, &LeafHooks::after)) {
      hooks_after_.any = true;
      hooks_after_.of_leaf.reserve(hooks->size());
    }
    if (!state_of(leaf).others) continue;
    hooks_after_.any = true;
    hooks_after_.gradients.reserve(1);
    if (const auto hooks = copy_of(leaf, &NodeExtras::hooks)) hooks_after_.of_node.reserve(hooks->size());
  }
}

void GraphTask::commit() {
  const Uninterrupted whole;
  if (unsure_) unsure_->add(state_of(unsure_).first, false);
  for (AccumulateGrad* leaf : arrived_)
    if (TaskState& state = state_of(leaf); state.first.defined() && leaf != unsure_)
      leaf->add(state.first, state.is_first);
  for (KeptGradient& kept : kept_)
    while (!kept.commit()) kept.compute();
}

void GraphTask::call_hooks_after(AccumulateGrad* leaf) {
  if (const auto hooks = copy_of(leaf, &LeafHooks::after)) {
    const Tensor tensor = leaf->variable();
    hooks->copy_to(hooks_after_.of_leaf);
    for (const auto& entry : hooks_after_.of_leaf) (*entry.hook)(tensor);
  }
  const TaskState& state = state_of(leaf);
  if (!state.others) return;
  const auto hooks = copy_of(leaf, &NodeExtras::hooks);
  if (!hooks) return;
  hooks_after_.gradients.clear();
  hooks_after_.gradients.push_back(state.others[0]);
  hooks->copy_to(hooks_after_.of_node);
  for (const auto& entry : hooks_after_.of_node) replace_all(nullptr, 0, (*entry.hook)({}, hooks_after_.gradients));
}

void GraphTask::apply(NodeImpl* node, Tensor* grads) {
  call_prehooks(node, grads);
  const int count = node->edge_count();
  GradList out(count);
  // A result computed from a view whose base did not require grad at that time has no edge to follow.
  const bool leads_nowhere = count == 1 && !node->has_edge(0) && !node->is_custom();
  if (!leads_nowhere) node->apply(grads, out.data());
  if (!keep_graph_) node->release_saved();
  validate_outputs(node, out.data());
  call_posthooks(node, out.data(), grads);
  check_nan(node, out.data(), count);
  for (int i = 0; i < node->input_count(); ++i) grads[i] = Tensor();  // slots for the results
  for (int i = 0; i < count; ++i)
    if (node->has_edge(i)) deliver(node->edge(i).node, node->edge(i).input, std::move(out.data()[i]));
}

void GraphTask::evaluate(NodeImpl* node) {
  TaskState& state = state_of(node);
  const int inputs = node->input_count();
  if (inputs == 1) return evaluate(node, &state.first, state.execute);
  GradList grads(inputs);
  grads.data()[0] = std::move(state.first);
  for (int i = 1; i < inputs && state.others; ++i)
    grads.data()[i] = std::move(state.others[static_cast<std::size_t>(i) - 1]);
  evaluate(node, grads.data(), state.execute);
}

void GraphTask::evaluate(NodeImpl* node, Tensor* grads, bool execute) {
  call_hooks_of_tensors(node, grads);
  capture(node, grads);
  keep_retained(node, grads);
  if (!execute) return;
  if (node->is_accumulator()) return arrive(static_cast<AccumulateGrad*>(node), grads);
  if (!anomaly_mode.enabled) [[likely]]
    return apply(node, grads);
  try {
    apply(node, grads);
  } catch (Error& error) {
    add_forward_call(node, error);
    throw;
  }
}

void GraphTask::run(const Edge* roots, const Tensor* gradients, int64_t count) {
  const KeptModes kept_modes;
  const SetGradEnabled mode(create_graph_);
  const PolicyExemption exemption;
  for (int64_t i = 0; i < count; ++i) prepare(roots[i].node);
  if (count == 1) state_of(roots[0].node).needed = true;  // its hooks run and its gradient is retained
  for (int64_t i = 0; i < count; ++i) deliver(roots[i].node, roots[i].input, gradients[i]);
  while (!ready_.empty() || !ready_leaves_.empty()) evaluate(pop());
  if (arrived_.empty() && kept_.empty()) return;
  prepare_gradients();
  prepare_hooks();
  commit();
  if (!hooks_after_.any) return;
  for (AccumulateGrad* leaf : arrived_) call_hooks_after(leaf);
}

}  // namespace tenon::autograd
