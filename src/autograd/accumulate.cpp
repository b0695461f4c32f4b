#include "autograd/accumulate.h"

#include "dispatch/differentiate.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon::autograd {
namespace {

bool is_dense(const TensorImpl& tensor) {
  return tensor.contiguous || is_non_overlapping_and_dense(tensor.sizes, tensor.strides);
}

/// A leaf's gradient has the leaf's strides where those are dense, else row-major ones.
/// PyTorch: torch/csrc/autograd/utils/grad_layout_contract.h
bool obeys_layout(const Tensor& grad, const TensorImpl& leaf) {
  if (!is_dense(leaf)) return grad.is_contiguous();
  for (int64_t dim = 0; dim < grad.dim(); ++dim)
    if (grad.sizes()[dim] != 1 && grad.strides()[dim] != leaf.strides[dim]) return false;
  return true;
}

Tensor clone_for(const Tensor& grad, const TensorImpl& leaf) {
  if (leaf.row_major || !is_dense(leaf))
    return thread_modes.grad ? grad.clone(MemoryFormat::contiguous) : run_clone(grad, MemoryFormat::contiguous);
  Tensor copy = new_tensor(leaf.sizes, leaf.strides, grad.dtype(), grad.device());
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
Tensor first_gradient(const Tensor& grad, const TensorImpl& leaf) {
  if (thread_modes.grad) return clone_for(grad, leaf);
  if (is_owned_alone(grad) && obeys_layout(grad, leaf)) return grad.impl()->in_graph ? grad.detach() : grad;
  return clone_for(grad, leaf);
}

}  // namespace

bool is_owned_alone(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  if (impl->references.load(std::memory_order_acquire) != 1) return false;
  if (impl->base && impl->base->references.load(std::memory_order_acquire) != 1) return false;
  return impl->storage && impl->storage->references.load(std::memory_order_acquire) == 1;
}

AccumulateGrad::AccumulateGrad(const Tensor& leaf) : leaf_(leaf.impl()) {
  sequence = kAccumulates;
  references = &leaf_->references;
  add_input(leaf);
}

NodeImpl* accumulator_of(const Tensor& leaf, bool make) {
  if (!make && !leaf.impl()->autograd) return nullptr;
  std::atomic<NodeImpl*>& place = meta_of(leaf).accumulator;
  NodeImpl* node = place.load(std::memory_order_acquire);
  if (!node && make) {
    std::unique_ptr<NodeImpl> own = std::make_unique<AccumulateGrad>(leaf);
    // Another thread may have been faster.
    if (place.compare_exchange_strong(node, own.get(), std::memory_order_acq_rel)) node = own.release();
  }
  if (node) retain(node);
  return node;
}

void AccumulateGrad::apply(const Tensor* grads, Tensor*) {
  AutogradMeta& meta = *leaf_->autograd;
  if (!grads[0].defined()) return;
  const SpinLock lock(meta.lock);
  if (!meta.grad.defined())
    meta.grad = first_gradient(grads[0], *leaf_);
  else if (thread_modes.grad)
    meta.grad = meta.grad + grads[0];
  else
    meta.grad.add_(densified(grads[0]));
}

}  // namespace tenon::autograd
