#include "autograd/accumulate.h"

#include "dispatch/differentiate.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon::autograd {
namespace {

bool is_dense(const Tensor& tensor) {
  return tensor.is_contiguous() || is_non_overlapping_and_dense(tensor.sizes(), tensor.strides());
}

/// A leaf's gradient has the leaf's strides where those are dense, else row-major ones.
/// PyTorch: torch/csrc/autograd/utils/grad_layout_contract.h
bool obeys_layout(const Tensor& grad, const Tensor& variable) {
  if (!is_dense(variable)) return grad.is_contiguous();
  for (int64_t dim = 0; dim < grad.dim(); ++dim)
    if (grad.sizes()[dim] != 1 && grad.strides()[dim] != variable.strides()[dim]) return false;
  return true;
}

Tensor clone_for(const Tensor& grad, const Tensor& variable) {
  if (!is_dense(variable) || variable.impl()->row_major) return grad.clone(MemoryFormat::contiguous);
  Tensor copy = new_tensor(variable.sizes(), variable.strides(), grad.dtype(), grad.device());
  if (thread_modes.grad)
    copy.copy_(grad);
  else
    run_copy(copy, grad);
  return copy;
}

/// Few elements that are a view of fewer are added faster as a tensor of their own.
Tensor densified(const Tensor& grad) {
  constexpr int64_t kFew = 64;
  const bool copies = grad.numel() <= kFew && !grad.is_contiguous() && !grad.is_meta();
  return copies ? run_clone(grad, MemoryFormat::contiguous) : grad;
}

/// The first gradient of a leaf. One that is nobody else's is taken as it is.
Tensor first_gradient(const Tensor& grad, const Tensor& variable) {
  if (thread_modes.grad) return clone_for(grad, variable);
  if (is_owned_alone(grad) && obeys_layout(grad, variable)) return grad.impl()->in_graph ? grad.detach() : grad;
  return clone_for(grad, variable);
}

}  // namespace

bool is_owned_alone(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  if (impl->references.load(std::memory_order_acquire) != 1) return false;
  if (impl->base && impl->base->references.load(std::memory_order_acquire) != 1) return false;
  return impl->storage && impl->storage->references.load(std::memory_order_acquire) == 1;
}

AccumulateGrad::AccumulateGrad(const Tensor& variable) : variable_(variable) {
  sequence = UINT64_MAX;  // runs as soon as it is ready
  add_input(variable);
}

AccumulateGrad::~AccumulateGrad() {
  AutogradMeta* meta = variable_.impl()->autograd;
  const SpinLock lock(meta->lock);
  NodeImpl* self = this;
  meta->accumulator.compare_exchange_strong(self, nullptr);
}

NodeImpl* accumulator_of(const Tensor& leaf, bool make) {
  if (!make && !leaf.impl()->autograd) return nullptr;
  AutogradMeta& meta = meta_of(leaf);
  const SpinLock lock(meta.lock);
  NodeImpl* node = meta.accumulator.load(std::memory_order_relaxed);
  // One whose last reference is gone is about to die: it must not come back.
  uint32_t references = node ? node->references.load(std::memory_order_relaxed) : 0;
  while (references > 0)
    if (node->references.compare_exchange_weak(references, references + 1, std::memory_order_acquire)) return node;
  if (!make) return nullptr;
  node = new AccumulateGrad(leaf);
  meta.accumulator.store(node, std::memory_order_relaxed);
  return node;
}

void AccumulateGrad::apply(const Tensor* grads, Tensor*) {
  AutogradMeta& meta = *variable_.impl()->autograd;
  if (!grads[0].defined()) return;
  const SpinLock lock(meta.lock);
  if (!meta.grad.defined())
    meta.grad = first_gradient(grads[0], variable_);
  else if (thread_modes.grad)
    meta.grad = meta.grad + grads[0];
  else
    meta.grad.add_(densified(grads[0]));
}

}  // namespace tenon::autograd
