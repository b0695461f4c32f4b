// x.data, and x.data = y: the elements without the place in the graph.
#include "autograd/meta.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {

FormerStorages::~FormerStorages() {
  for (Storage* storage : storages_) release(storage);
}

namespace {

/// Whether nothing but one handle, and the node that sums its gradient, knows the tensor: then it has no views.
bool has_one_handle(const TensorImpl* impl) {
  const uint32_t accumulators = impl->autograd->accumulator.load() ? 1 : 0;
  return impl->references.load(std::memory_order_acquire) <= 1 + accumulators;
}

/// Views keep the tensor, and through it the storage they were made over.
void let_go_of_storage(TensorImpl* impl) {
  AutogradMeta& meta = *impl->autograd;
  if (TensorImpl* base = std::exchange(impl->base, nullptr)) {
    static_cast<void>(Tensor(base));  // gives the reference back
    return;
  }
  if (has_one_handle(impl)) meta.former_storages.reset();
  if (!impl->storage) return;
  if (has_one_handle(impl)) return release(impl->storage);
  if (!meta.former_storages) meta.former_storages = std::make_unique<FormerStorages>();
  meta.former_storages->add(impl->storage);
}

}  // namespace
}  // namespace autograd

Tensor Tensor::variable_data() const {
  Storage* storage = impl_->storage;
  if (!impl_->in_graph || !storage) return detach();
  // The version is counted in the storage: one over the same memory counts anew.
  const auto let_go = [](void*, void* context) { release(static_cast<Storage*>(context)); };
  retain(storage);
  Storage* uncounted = new_storage(storage->data, storage->nbytes, let_go, storage);
  return new_tensor_over(uncounted, sizes(), strides(), storage_offset(), dtype());
}

void Tensor::set_data(const Tensor& data) {
  if (requires_grad() && !is_floating_point(data.dtype()))
    throw Error("data set to a tensor that requires gradients must be floating point or complex dtype");
  if (!impl_->autograd) {
    *this = data.detach();
    return;
  }
  const Tensor keep = data;  // it may be a view of this tensor
  const TensorImpl* from = data.impl();
  // The node that sums gradients knows the dtype it was made for.
  if (from->dtype != impl_->dtype) impl_->autograd->accumulator.store(nullptr);
  if (from->storage) retain(from->storage);
  autograd::let_go_of_storage(impl_);
  impl_->dtype = from->dtype;
  impl_->device = from->device;
  impl_->contiguous = from->contiguous;
  impl_->row_major = from->row_major;
  impl_->storage = from->storage;
  impl_->offset = from->offset;
  impl_->numel = from->numel;
  impl_->sizes = from->sizes;
  impl_->strides = from->strides;
}

}  // namespace tenon
