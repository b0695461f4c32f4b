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
  const bool row_major = leaf.row_major || !is_dense(leaf);
  if (row_major && !thread_modes.grad) return run_clone(grad, MemoryFormat::contiguous);
  Tensor copy = row_major ? new_tensor(leaf.sizes, grad.dtype(), grad.device())
                          : new_tensor(leaf.sizes, leaf.strides, grad.dtype(), grad.device());
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

bool is_owned_alone(const Tensor& tensor) {
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
  if (!make && !leaf.impl()->meta()) return nullptr;
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

bool AccumulateGrad::prepare(Tensor& gradient) const {
  const bool is_first = grad().is_empty();
  gradient = is_first ? first_gradient(gradient, *leaf_) : densified(gradient);
  return is_first;
}

void AccumulateGrad::add(Tensor& gradient, bool is_first) const {
  if (is_first && grad().replace({}, gradient)) return;
  while (!grad().add(gradient)) {  // another thread has changed the grad since
    gradient = first_gradient(gradient, *leaf_);
    if (grad().replace({}, gradient)) return;
  }
}

bool GradSlot::add(const Tensor& gradient) {
  const SpinLock lock(lock_);
  if (!grad_.defined()) return false;
  grad_.add_(gradient);
  return true;
}

}  // namespace tenon::autograd
