// x.data, and x.data = y: elements without history.
#include "autograd/meta.h"
#include "autograd/recording.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {

namespace {

void let_go(void*, void* context) { release(static_cast<Storage*>(context)); }

FormerParts::Viewed* find(FormerParts& former, const Storage* storage) noexcept {
  for (FormerParts::Viewed& entry : former.storages)
    if (entry.storage == storage) return &entry;
  return nullptr;
}

/// Removes an entry. Returns the storage to release, or null.
Storage* take(FormerParts& former, FormerParts::Viewed* entry) noexcept {
  Storage* storage = entry->storage;
  *entry = former.storages.back();
  former.storages.pop_back();
  return storage;
}

/// Allocates the list of former storages before anything is changed.
FormerParts& room_for_former(AutogradMeta& meta) {
  if (!meta.former) meta.former = std::make_unique<FormerParts>();
  meta.former->storages.reserve(meta.former->storages.size() + 1);
  return *meta.former;
}

/// The number of views over the tensor's present storage.
uint64_t count_views(const TensorImpl* impl, const FormerParts& former) noexcept {
  uint64_t views = impl->references.load(std::memory_order_acquire) / TensorImpl::kViewReference;
  for (const FormerParts::Viewed& entry : former.storages) views -= entry.views;
  return views;
}

/// Replaces the storage. Views do not own their storage; the base keeps the former one for them.
void replace_storage(TensorImpl* impl, Storage* storage, FormerParts& former) noexcept {
  const uint64_t views = count_views(impl, former);
  if (impl->storage == storage && !impl->base) return;
  if (storage) retain(storage);
  Storage* const before = std::exchange(impl->storage, storage);
  TensorImpl* const base = std::exchange(impl->base, nullptr);
  FormerParts::Viewed* const viewed_again = find(former, storage);
  Storage* const held_twice = viewed_again ? take(former, viewed_again) : nullptr;
  if (views > 0)
    former.storages.push_back({before, views});
  else
    release_elements(before, base);
  if (held_twice) release(held_twice);
}

}  // namespace

FormerParts::~FormerParts() {
  for (const Viewed& entry : storages)
    if (entry.storage) release(entry.storage);
}

}  // namespace autograd

void recording::add_former_view(TensorImpl* base, Storage* storage) noexcept {
  AutogradMeta& meta = *base->meta();
  const autograd::SpinLock lock(meta.lock);
  ++autograd::find(*meta.former, storage)->views;
}

void recording::drop_former_view(TensorImpl* base, Storage* storage) noexcept {
  AutogradMeta& meta = *base->meta();
  Storage* gone = nullptr;
  {
    const autograd::SpinLock lock(meta.lock);
    autograd::FormerParts::Viewed* entry = autograd::find(*meta.former, storage);
    if (--entry->views == 0) gone = autograd::take(*meta.former, entry);
  }
  if (gone) release(gone);
}

Tensor Tensor::variable_data() const {
  Storage* storage = impl()->storage;
  if (!impl()->in_graph || !storage) return detach();
  // The version counter is in the storage, so the result gets a storage of its own over the same memory, with a new
  // counter. It refers to the owner of the memory, not to another such storage, so that chains don't grow. The memory
  // must not move.
  Storage* owner = storage->deleter == autograd::let_go ? static_cast<Storage*>(storage->context) : storage;
  owner->resizable.store(false, std::memory_order_relaxed);
  const Tensor uncounted = new_tensor_over({storage->data, storage->nbytes, autograd::let_go, owner}, sizes(),
                                           strides(), storage_offset(), dtype());
  retain(owner);
  return uncounted;
}

void Tensor::set_data(const Tensor& data) {
  if (requires_grad() && !is_inexact(data.dtype()))
    throw Error("data set to a tensor that requires gradients must be floating point or complex dtype");
  const Tensor keep = data;  // NOLINT(performance-unnecessary-copy-initialization): it may be a view of this tensor
  const TensorImpl* from = data.impl();
  autograd::FormerParts& former = autograd::room_for_former(autograd::meta_of(*this));
  Dims sizes = from->sizes, strides = from->strides;
  impl_->dtype = from->dtype;
  impl_->device = from->device;
  impl_->inference = from->inference;
  impl_->contiguous = from->contiguous;
  impl_->row_major = from->row_major;
  impl_->offset = from->offset;
  impl_->numel = from->numel;
  impl_->sizes = std::move(sizes);
  impl_->strides = std::move(strides);
  autograd::replace_storage(impl_, from->storage, former);  // last, because releasing may run user code
}

}  // namespace tenon
