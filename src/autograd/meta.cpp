// A tensor's place in the graph: its methods, and the rules of what may be written in place.
#include "autograd/meta.h"

#include "autograd/accumulate.h"
#include "autograd/views.h"
#include "tenon/policy.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {

constinit thread_local AnomalyMode anomaly_mode;

AutogradMeta& meta_of(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (!impl->autograd) {
    impl->autograd = new AutogradMeta;
    impl->in_graph = true;
    if (impl->base && impl->storage) impl->autograd->view_version = impl->storage->version.load();
  }
  return *impl->autograd;
}

NodeImpl* grad_fn_of(const Tensor& tensor) {
  TensorImpl* impl = tensor.impl();
  if (impl->base) return view_grad_fn(tensor);
  return impl->autograd ? impl->autograd->grad_fn : nullptr;
}

Edge gradient_edge(const Tensor& tensor) {
  const AutogradMeta* meta = tensor.impl()->autograd;
  if (meta && meta->requires_grad && !meta->grad_fn) {
    if (NodeImpl* known = meta->accumulator.load(std::memory_order_acquire)) {
      retain(known);
      return {known, 0};
    }
  }
  if (NodeImpl* node = grad_fn_of(tensor)) {
    retain(node);
    return {node, tensor.impl()->autograd->output_nr};
  }
  return requires_grad(tensor.impl()) ? Edge{accumulator_of(tensor, true), 0} : Edge{};
}

void set_history(const Tensor& tensor, NodeImpl* node, int32_t output_nr) {
  AutogradMeta& meta = meta_of(tensor);
  NodeImpl* before = std::exchange(meta.grad_fn, node);
  meta.output_nr = output_nr;
  if (tensor.impl()->base && tensor.impl()->storage)
    meta.view_version = tensor.impl()->storage->version.load(std::memory_order_relaxed);
  if (before) release(before);
}

namespace {

/// A tensor that keeps its gradient keeps it from the node it comes from now.
void move_retention(const Tensor& tensor, NodeImpl* before, NodeImpl* after, int32_t output_nr) {
  AutogradMeta* meta = tensor.impl()->autograd;
  if (!meta || !meta->retains_grad) return;
  if (before)
    std::erase_if(before->extras().retained, [&](const auto& entry) { return entry.second == tensor.impl(); });
  after->extras().retained.emplace_back(output_nr, tensor.impl());
}

[[noreturn]] void fail_view_mode(Mode mode) {
  const bool inference = mode == Mode::inference;
  const std::string where = inference ? "inference_mode" : "no_grad";
  throw Error(
      "A view was created in " + std::string(inference ? "inference mode" : "no_grad mode") +
      " and is being modified inplace " + (inference ? "in normal mode" : "with grad mode enabled") +
      ". Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
      "moving both the view and the inplace either both inside the " +
      where +
      " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be tracked).");
}

bool is_leaf_that_requires_grad(const Tensor& tensor) {
  return requires_grad(tensor.impl()) && grad_fn_of(tensor) == nullptr;
}

}  // namespace

void rebase_history(const Tensor& tensor, NodeImpl* node) {
  if (tensor.impl()->base) return rebase_view(tensor, node);
  NodeImpl* before = tensor.impl()->autograd ? tensor.impl()->autograd->grad_fn : nullptr;
  move_retention(tensor, before, node, 0);
  set_history(tensor, node);
}

void check_inplace(const Tensor& self, bool recorded) {
  const TensorImpl* impl = self.impl();
  if (impl->inference && !thread_modes.inference)
    throw Error(
        "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
        "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.");
  if (!recorded || !thread_modes.grad) return;
  if (impl->base) {
    if (impl->view_mode != Mode::grad) fail_view_mode(impl->view_mode);
    impl->base->references.fetch_add(1, std::memory_order_relaxed);
    if (is_leaf_that_requires_grad(Tensor(impl->base)))
      throw Error("a view of a leaf Variable that requires grad is being used in an in-place operation.");
  }
  if (is_leaf_that_requires_grad(self))
    throw Error("a leaf Variable that requires grad is being used in an in-place operation.");
}

}  // namespace autograd

bool requires_grad(const TensorImpl* impl) noexcept {
  const AutogradMeta* meta = impl->autograd;
  if (meta && (meta->requires_grad || meta->grad_fn)) return true;
  return impl->base && is_floating_point(impl->dtype) && requires_grad(impl->base);
}

void destroy_history(TensorImpl* impl) noexcept {
  AutogradMeta* meta = std::exchange(impl->autograd, nullptr);
  if (meta->retains_grad && meta->grad_fn)
    std::erase_if(meta->grad_fn->extras().retained, [impl](const auto& entry) { return entry.second == impl; });
  if (meta->grad_fn) release(meta->grad_fn);
  delete meta->accumulator.load(std::memory_order_relaxed);
  delete meta;
}

// --- Tensor

bool Tensor::requires_grad() const noexcept { return impl_->in_graph && tenon::requires_grad(impl_); }

Tensor& Tensor::requires_grad_(bool wanted) {
  if (!wanted && grad_fn().defined())
    throw Error(
        "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
        "subgraph that doesn't require differentiation use var_no_grad = var.detach().");
  if (wanted && impl_->inference && !thread_modes.inference)
    throw Error("Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.");
  if (wanted && !is_floating_point(dtype())) throw Error("only Tensors of floating point dtype can require gradients");
  if (wanted || impl_->autograd) autograd::meta_of(*this).requires_grad = wanted;
  return *this;
}

bool Tensor::is_leaf() const { return !impl_->in_graph || autograd::grad_fn_of(*this) == nullptr; }

Tensor Tensor::grad() const {
  AutogradMeta* meta = impl_->autograd;
  if (!is_leaf() && !retains_grad() && !(meta && meta->grad.defined()))
    warn("UserWarning",
         "The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute won't be "
         "populated during autograd.backward(). If you indeed want the .grad field to be populated for a non-leaf "
         "Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make sure "
         "you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.");
  if (!meta) return {};
  const autograd::SpinLock lock(meta->lock);
  return meta->grad;
}

void Tensor::set_grad(const Tensor& grad) {
  if (grad.defined()) {
    if (grad.is(*this)) throw Error("can't assign Variable as its own grad");
    if (!(grad.sizes() == sizes()))
      throw Error("attempting to assign a gradient of size '" + to_string(grad.sizes()) + "' to a tensor of size '" +
                  to_string(sizes()) + "'. Please ensure that the gradient and the tensor are the same size");
    if (grad.dtype() != dtype())
      throw Error(std::string("attempting to assign a gradient with dtype '") + cpp_type_name(grad.dtype()) +
                  "' to a tensor with grad_dtype '" + scalar_type_name(dtype()) +
                  "'. The gradient must match the tensor's grad_dtype (defaults to the tensor's dtype). You can set "
                  "the tensor's grad_dtype attribute with a specific dtype, or None to allow any dtype. Set grad_dtype "
                  "with caution. Diverging the dtypes of a tensor and its gradient may break downstream systems that "
                  "assume they match.");
  }
  if (!grad.defined() && !impl_->autograd) return;
  AutogradMeta& meta = autograd::meta_of(*this);
  Tensor before = grad;
  {
    const autograd::SpinLock lock(meta.lock);
    std::swap(meta.grad, before);
  }
}

autograd::Node Tensor::grad_fn() const {
  autograd::NodeImpl* node = impl_->in_graph ? autograd::grad_fn_of(*this) : nullptr;
  if (node) autograd::retain(node);
  return autograd::Node(node);
}

int64_t Tensor::output_nr() const noexcept { return impl_->autograd ? impl_->autograd->output_nr : 0; }

void Tensor::retain_grad() const {
  if (!requires_grad()) throw Error("can't retain_grad on Tensor that has requires_grad=False");
  if (is_leaf() || retains_grad()) return;
  AutogradMeta& meta = autograd::meta_of(*this);
  meta.retains_grad = true;
  meta.grad_fn->extras().retained.emplace_back(meta.output_nr, impl_);
}
bool Tensor::retains_grad() const noexcept { return impl_->autograd && impl_->autograd->retains_grad; }

Tensor& Tensor::detach_() {
  if (is_view())
    throw Error(
        "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
        "training, and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() "
        "cannot be called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
        "torch/optim/optimizer.py as the solution.");
  if (impl_->autograd) {
    impl_->autograd->requires_grad = false;
    autograd::set_history(*this, nullptr);
  }
  return *this;
}

autograd::HookHandle Tensor::register_hook(autograd::TensorHook hook) const {
  if (!requires_grad()) throw Error("cannot register a hook on a tensor that doesn't require gradient");
  AutogradMeta& meta = autograd::meta_of(*this);
  autograd::NodeImpl* node = autograd::grad_fn_of(*this);
  if (!node) {
    if (!meta.hooks) meta.hooks = std::make_unique<LeafHooks>();
    return autograd::add_hook(meta.hooks->before, std::move(hook));
  }
  for (autograd::NodeExtras::OfResult& of : node->extras().tensor_hooks)
    if (of.input == meta.output_nr) return autograd::add_hook(of.hooks, std::move(hook));
  node->extras().tensor_hooks.push_back({meta.output_nr, nullptr});
  return autograd::add_hook(node->extras().tensor_hooks.back().hooks, std::move(hook));
}

autograd::HookHandle Tensor::register_post_accumulate_grad_hook(autograd::LeafHook hook) const {
  if (!requires_grad()) throw Error("cannot register a hook on a tensor that doesn't require gradient");
  if (!is_leaf()) throw Error("post accumulate grad hooks cannot be registered on non-leaf tensors");
  AutogradMeta& meta = autograd::meta_of(*this);
  if (!meta.hooks) meta.hooks = std::make_unique<LeafHooks>();
  return autograd::add_hook(meta.hooks->after, std::move(hook));
}

}  // namespace tenon
