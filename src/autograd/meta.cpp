// A tensor's autograd metadata: methods of Tensor, and the rules for in-place writes.
#include "autograd/meta.h"

#include "autograd/accumulate.h"
#include "autograd/recording.h"
#include "autograd/views.h"
#include "dispatch/elementwise.h"
#include "tenon/policy.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {

constinit thread_local AnomalyMode anomaly_mode;

AutogradMeta& meta_of(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (!impl->meta()) {
    recording::begin();
    impl->autograd.store(new AutogradMeta, std::memory_order_release);
    if (!impl->in_graph) impl->in_graph = true;
  }
  return *impl->meta();
}

NodeImpl* grad_fn_of(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (impl->base) return view_grad_fn(tensor);
  const AutogradMeta* meta = impl->meta();
  return meta ? meta->grad_fn.load(std::memory_order_relaxed) : nullptr;
}

Edge gradient_edge(const Tensor& tensor) {
  const AutogradMeta* meta = tensor.impl()->meta();
  if (meta && meta->requires_grad && !meta->grad_fn.load(std::memory_order_relaxed)) {
    if (NodeImpl* known = meta->accumulator.load(std::memory_order_acquire);
        known && sums_into(*known, *tensor.impl())) {
      retain(known);
      return {known, 0};
    }
  }
  if (NodeImpl* node = grad_fn_of(tensor)) {
    retain(node);
    return {node, tensor.impl()->meta()->output_nr};
  }
  return meta && meta->requires_grad ? Edge{accumulator_of(tensor, true), 0} : Edge{};
}

namespace {

/// Replaces a tensor's node. Returns the former one.
NodeImpl* replace_history(TensorImpl* impl, NodeImpl* node, int32_t output_nr) noexcept {
  AutogradMeta& meta = *impl->meta();
  NodeImpl* before = meta.grad_fn.load(std::memory_order_relaxed);
  meta.grad_fn.store(node, std::memory_order_relaxed);
  meta.output_nr = output_nr;
  // Store order: a thread that reads this version also reads the new node.
  if (impl->base && impl->storage)
    impl->view_version.store(impl->storage->version.load(std::memory_order_relaxed), std::memory_order_release);
  return before;
}

}  // namespace

void set_history(const Tensor& tensor, Node node, int32_t output_nr) {
  meta_of(tensor);
  if (NodeImpl* before = replace_history(tensor.impl(), node.give_up(), output_nr)) release(before);
}

void retain_from(NodeImpl* node, const std::shared_ptr<GradSlot>& slot, int32_t output_nr) {
  const SpinLock lock(node->lock());
  node->extras().retained.push_back({output_nr, slot});
}

namespace {

/// Moves retain_grad from the tensor's former node to its new one.
void forget_retained(const Tensor& tensor) noexcept {
  const AutogradMeta* meta = tensor.impl()->meta();
  NodeImpl* node = meta->grad_fn.load(std::memory_order_relaxed);
  if (!meta->retained || !node) return;
  const SpinLock lock(node->lock());
  if (NodeExtras* extras = node->extras_if_any())
    std::erase_if(extras->retained, [&](const auto& entry) { return entry.slot.lock() == meta->retained; });
}

}  // namespace

void prepare_history(const Tensor& tensor, NodeImpl* node, int32_t output_nr) {
  const AutogradMeta& meta = meta_of(tensor);
  if (meta.retained) retain_from(node, meta.retained, output_nr);
}

Node commit_history(const Tensor& tensor, Node node, int32_t output_nr) noexcept {
  forget_retained(tensor);
  return Node(replace_history(tensor.impl(), node.give_up(), output_nr));
}

namespace {

/// The part of an error text that says why a view may not be written, and what to do.
std::string reason_of(Mode mode) {
  if (mode == Mode::functions)
    return "This view is the output of a function that returns multiple views. Such functions do not allow the output "
           "views to be modified inplace. You should replace the inplace operation by an out-of-place one.";
  if (mode == Mode::function)
    return "This view was created inside a custom Function (or because an input was returned as-is) and the autograd "
           "logic to handle view+inplace would override the custom backward associated with the custom Function, "
           "leading to incorrect gradients. This behavior is forbidden. You can fix this by cloning the output of the "
           "custom Function.";
  return std::string(
             "Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
             "moving both the view and the inplace either both inside the ") +
         (mode == Mode::inference ? "inference_mode" : "no_grad") +
         " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
         "tracked).";
}

}  // namespace

/// PyTorch: torch/csrc/autograd/variable.cpp, handle_view_on_rebase.
void fail_view_mode(const Tensor& view, bool indirect) {
  const Mode mode = view.impl()->view_mode;
  const AutogradMeta* meta = view.impl()->meta();
  const NodeImpl* node = meta ? meta->grad_fn.load(std::memory_order_relaxed) : nullptr;
  const std::string output =
      node ? "Output " + std::to_string(meta->output_nr) + " of " + operation_name(node->name()) : "";
  const std::string modified =
      std::string(indirect ? "its base or another view of its base has been" : "is being") + " modified inplace";
  std::string text;
  if (node && (mode == Mode::function || mode == Mode::functions))
    text = output + " is a view and " + modified;
  else
    text = (node ? output + " is a view of a view which was created in " : "A view was created in ") +
           (mode == Mode::inference ? "inference mode and " : "no_grad mode and ") + modified +
           (mode == Mode::inference ? " in normal mode" : " with grad mode enabled");
  throw Error(text + ". " + reason_of(mode));
}

InplaceHistory::InplaceHistory(const Tensor& self, Node node, std::optional<int32_t> output_nr)
    : self_(self), node_(std::move(node)), output_nr_(output_nr.value_or(0)) {
  if (!output_nr) node_.impl()->add_input(self);
  if (self.impl()->base) {
    base_ = base_of(self);
    base_node_ = copy_slices(base_, self, std::move(node_));
    node_ = taken_from(base_node_, base_, self);
    output_nr_ = 0;
    prepare_history(base_, base_node_.impl(), 0);
  }
  prepare_history(self_, node_.impl(), output_nr_);
}

void InplaceHistory::commit() noexcept {
  if (base_.defined()) commit_history(base_, std::move(base_node_), 0);
  commit_history(self_, std::move(node_), output_nr_);
}

SavedTensor::Role role_beside(const Tensor& self, const Tensor& operand) {
  const TensorImpl *to = self.impl(), *from = operand.impl();
  if (from == to) return SavedTensor::Role::result;
  const bool one_base = (from->base ? from->base : from) == (to->base ? to->base : to);
  const bool changes = one_base && from->storage == to->storage && from->view_mode == Mode::grad;
  return changes ? SavedTensor::Role::shared : SavedTensor::Role::operand;
}

void check_inplace(const Tensor& self, bool recorded) {
  const TensorImpl* impl = self.impl();
  if (impl->inference && !thread_modes.inference)
    throw Error(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
  if (!recorded || !thread_modes.grad) return;
  if (impl->base) {
    if (impl->view_mode != Mode::grad) fail_view_mode(self, false);
    if (requires_grad(impl) && !grad_fn_of(base_of(self)))
      throw Error("a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  if (requires_grad(impl) && !grad_fn_of(self))
    throw Error("a leaf Variable that requires grad is being used in an in-place operation.");
}

}  // namespace autograd

bool recording::requires_grad(const TensorImpl* impl) noexcept {
  const AutogradMeta* meta = impl->meta();
  if (meta && (meta->requires_grad || meta->grad_fn.load(std::memory_order_relaxed))) return true;
  return impl->base && is_inexact(impl->dtype) && recording::requires_grad(impl->base);
}

AutogradMeta::~AutogradMeta() {
  if (autograd::NodeImpl* node = grad_fn.load(std::memory_order_relaxed)) autograd::release(node);
  delete accumulator.load(std::memory_order_relaxed);
  delete hooks.load(std::memory_order_relaxed);
}

namespace {

constinit thread_local AutogradMeta* dead [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local bool destroying [[gnu::tls_model("initial-exec")]] = false;

}  // namespace

/// Not recursive, because a gradient may have a gradient, and so on.
void recording::destroy(TensorImpl* impl) noexcept {
  AutogradMeta* meta = impl->autograd.exchange(nullptr, std::memory_order_relaxed);
  meta->next_dead = dead;
  dead = meta;
  if (destroying) return;
  destroying = true;
  while (dead) delete std::exchange(dead, dead->next_dead);
  destroying = false;
}

// --- Tensor

Tensor& Tensor::requires_grad_(bool wanted) {
  if (!wanted && autograd::has_node(impl()))
    throw Error(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  if (wanted && impl()->inference && !thread_modes.inference)
    throw Error("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (wanted && !is_inexact(dtype())) throw Error("only Tensors of floating point dtype can require gradients");
  if (wanted || impl()->meta()) autograd::meta_of(*this).requires_grad = wanted;
  return *this;
}

bool recording::is_leaf(const Tensor& tensor) { return autograd::grad_fn_of(tensor) == nullptr; }

Tensor Tensor::grad() const {
  AutogradMeta* meta = impl()->meta();
  const bool computed = meta && meta->grad_fn.load(std::memory_order_relaxed);  // of a view: as last computed
  if (computed && !retains_grad() && meta->grad().is_empty())
    warn("UserWarning",
         "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
         "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
         "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
         "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.");
  return meta ? meta->grad().get() : Tensor();
}

void Tensor::set_grad(const Tensor& grad) {
  if (grad.defined()) {
    if (grad.is(*this)) throw Error("can't assign Variable as its own grad");
    if (grad.dtype() != dtype())
      throw Error(std::string("attempting to assign a gradient with dtype '") + cpp_type_name(grad.dtype()) +
                  "' to a tensor with grad_dtype '" + scalar_type_name(dtype()) +
                  "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set "
                  "the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype "
                  "with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that "
                  "assume they match.");
    if (grad.device() != device())
      throw Error(std::string("attempting to assign a gradient with device type '") + device_name(grad.device()) +
                  "' to a tensor with device type '" + device_name(device()) +
                  "'. Please ensure that the gradient and the tensor are on the same device");
    if (!(grad.sizes() == sizes()))
      throw Error("attempting to assign a gradient of size '" + to_string(grad.sizes()) + "' to a tensor of size '" +
                  to_string(sizes()) + "'. Please ensure that the gradient and the tensor are the same size");
  }
  if (!grad.defined() && !impl()->meta()) return;
  Tensor before = grad;
  autograd::meta_of(*this).grad().exchange(before);
}

autograd::Node Tensor::grad_fn() const {
  autograd::NodeImpl* node = impl()->in_graph ? autograd::grad_fn_of(*this) : nullptr;
  if (node) autograd::retain(node);
  return autograd::Node(node);
}

int64_t Tensor::output_nr() const { return impl()->meta() ? impl()->meta()->output_nr : 0; }

void Tensor::retain_grad() const {
  if (!requires_grad()) throw Error("can't retain_grad on Tensor that has requires_grad=False");
  AutogradMeta& meta = autograd::meta_of(*this);
  if (!autograd::has_node(impl()) || meta.retained) return;
  const auto slot = std::make_shared<autograd::GradSlot>();
  Tensor before = meta.grad().get();
  slot->exchange(before);
  autograd::retain_from(meta.grad_fn.load(std::memory_order_relaxed), slot, meta.output_nr);
  const autograd::SpinLock lock(meta.lock);
  meta.retained = slot;
}
bool Tensor::retains_grad() const { return impl()->meta() && impl()->meta()->retained; }

Tensor& Tensor::detach_() {
  if (is_view())
    throw Error(
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
        "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
        "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
        "torch/optim/optimizer.py as the solution.");
  if (AutogradMeta* meta = impl()->meta()) {
    meta->requires_grad = false;
    autograd::set_history(*this, {});
  }
  return *this;
}

namespace autograd {
namespace {

/// A leaf's hooks; the list is created if there is none.
template <class List>
std::shared_ptr<List> list_of(AutogradMeta& meta, std::shared_ptr<List> LeafHooks::*place) {
  const SpinLock lock(meta.lock);
  if (!meta.hooks.load(std::memory_order_relaxed)) meta.hooks.store(new LeafHooks, std::memory_order_release);
  std::shared_ptr<List>& list = meta.hooks.load(std::memory_order_relaxed)->*place;
  if (!list) list = std::make_shared<List>();
  return list;
}

std::shared_ptr<HookList<TensorHook>> list_of_result(NodeImpl* node, int32_t output_nr) {
  const SpinLock lock(node->lock());
  std::vector<NodeExtras::OfResult>& all = node->extras().tensor_hooks;
  for (const NodeExtras::OfResult& of : all)
    if (of.input == output_nr) return of.hooks;
  all.push_back({output_nr, std::make_shared<HookList<TensorHook>>()});
  return all.back().hooks;
}

template <class Hook>
void check_callable(const Hook& hook) {
  if (!hook) throw TypeError("a hook must be callable, and an empty function is not");
}

}  // namespace
}  // namespace autograd

autograd::HookHandle Tensor::register_hook(autograd::TensorHook hook) const {
  if (!requires_grad()) throw Error("cannot register a hook on a tensor that doesn't require gradient");
  autograd::check_callable(hook);
  autograd::NodeImpl* node = autograd::grad_fn_of(*this);
  AutogradMeta& meta = autograd::meta_of(*this);
  return autograd::add_hook(
      node ? autograd::list_of_result(node, meta.output_nr) : autograd::list_of(meta, &LeafHooks::before),
      std::move(hook));
}

autograd::HookHandle Tensor::register_post_accumulate_grad_hook(autograd::LeafHook hook) const {
  if (!requires_grad()) throw Error("cannot register a hook on a tensor that doesn't require gradient");
  if (!is_leaf()) throw Error("post accumulate grad hooks cannot be registered on non-leaf tensors");
  autograd::check_callable(hook);
  return autograd::add_hook(autograd::list_of(autograd::meta_of(*this), &LeafHooks::after), std::move(hook));
}

}  // namespace tenon
