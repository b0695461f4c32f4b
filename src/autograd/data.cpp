// x.data, and x.data = y: the elements without the place in the graph.
#include "autograd/meta.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {

namespace {

void release_all(std::vector<Storage*>& storages) noexcept {
  for (Storage* storage : storages) release(storage);
  storages.clear();
}

}  // namespace

FormerParts::~FormerParts() { release_all(storages); }

namespace {

void let_go(void*, void* context) { release(static_cast<Storage*>(context)); }

/// Whether nothing but one handle, and the node that sums its gradient, knows the tensor: then it has no views.
bool has_one_handle(const TensorImpl* impl) {
  const uint32_t accumulators = impl->meta()->accumulator.load() ? 1 : 0;
  return impl->references.load(std::memory_order_acquire) <= 1 + accumulators;
}

/// Room for what the tensor lets go of, before anything is let go.
FormerParts& room_for_former(AutogradMeta& meta) {
  if (!meta.former) meta.former = std::make_unique<FormerParts>();
  meta.former->storages.reserve(meta.former->storages.size() + 1);
  meta.former->accumulators.reserve(meta.former->accumulators.size() + 1);
  return *meta.former;
}

/// Views keep the tensor, and through it the storage they were made over.
void let_go_of_storage(TensorImpl* impl) {
  AutogradMeta& meta = *impl->meta();
  if (TensorImpl* base = std::exchange(impl->base, nullptr)) {
    static_cast<void>(Tensor(base));  // gives the reference back
    return;
  }
  const bool alone = has_one_handle(impl);
  if (alone && meta.former) release_all(meta.former->storages);
  if (!impl->storage) return;
  if (alone) return release(impl->storage);
  meta.former->storages.push_back(impl->storage);
}

}  // namespace
}  // namespace autograd

Tensor Tensor::variable_data() const {
  Storage* storage = impl()->storage;
  if (!impl()->in_graph || !storage) return detach();
  // The version is counted in the storage: one over the same memory counts anew. Made of another such one it holds what
  // that one holds, or there could be chains of any length. That memory must not move.
  Storage* owner = storage->deleter == autograd::let_go ? static_cast<Storage*>(storage->context) : storage;
  owner->resizable.store(false, std::memory_order_relaxed);
  const Tensor uncounted = new_tensor_over({storage->data, storage->nbytes, autograd::let_go, owner}, sizes(),
                                           strides(), storage_offset(), dtype());
  retain(owner);
  return uncounted;
}

void Tensor::set_data(const Tensor& data) {
  if (requires_grad() && !is_floating_point(data.dtype()))
    throw Error("data set to a tensor that requires gradients must be floating point or complex dtype");
  const Tensor keep = data;  // NOLINT(performance-unnecessary-copy-initialization): it may be a view of this tensor
  const TensorImpl* from = data.impl();
  AutogradMeta& meta = autograd::meta_of(*this);
  autograd::FormerParts& former = autograd::room_for_former(meta);
  Dims sizes = from->sizes, strides = from->strides;
  // The node that sums gradients knows the dtype it was made for.
  if (from->dtype != impl_->dtype)
    if (autograd::NodeImpl* accumulator = meta.accumulator.exchange(nullptr))
      former.accumulators.emplace_back(accumulator);
  if (from->storage) retain(from->storage);
  autograd::let_go_of_storage(impl_);
  impl_->dtype = from->dtype;
  impl_->device = from->device;
  impl_->contiguous = from->contiguous;
  impl_->row_major = from->row_major;
  impl_->storage = from->storage;
  impl_->offset = from->offset;
  impl_->numel = from->numel;
  impl_->sizes = std::move(sizes);
  impl_->strides = std::move(strides);
}

}  // namespace tenon
