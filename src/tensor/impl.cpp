#include "tensor/impl.h"

#include <limits>

#include "tensor/history.h"
#include "tensor/recycle.h"

namespace tenon {
namespace {

/// Without sizes, strides and what follows from them.
TensorImpl* make_bare(Storage* storage, int64_t offset, Dtype dtype, Device device) {
  TensorImpl* impl = new (recycle::allocate(sizeof(TensorImpl))) TensorImpl;
  impl->dtype = dtype;
  impl->device = device;
  impl->storage = storage;
  impl->offset = offset;
  impl->in_graph = impl->inference = thread_modes.inference;
  return impl;
}

/// One walk over the dims.
void settle_impl(TensorImpl* impl) noexcept {
  const int64_t ndim = impl->sizes.size();
  const int64_t* sizes = impl->sizes.data();
  const int64_t* strides = impl->strides.data();
  int64_t numel = 1;
  bool contiguous = true, row_major = true;
  for (int64_t dim = ndim - 1; dim >= 0; --dim) {
    const int64_t size = sizes[dim], stride = strides[dim];
    contiguous = contiguous && (size == 1 || stride == numel);
    row_major = row_major && stride == numel;
    // Beside a size of 0 the others may be of any size: the product wraps round and ends at 0.
    numel = static_cast<int64_t>(static_cast<uint64_t>(numel) * static_cast<uint64_t>(size));
  }
  impl->numel = numel;
  impl->contiguous = contiguous || numel == 0;
  impl->row_major = row_major && numel != 0;
}

TensorImpl* make_impl(Storage* storage, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype,
                      Device device) {
  TensorImpl* impl = make_bare(storage, offset, dtype, device);
  impl->sizes.assign(sizes);
  impl->strides.assign(strides);
  settle_impl(impl);
  return impl;
}

/// Ties a view to the tensor whose elements it shares.
void tie(TensorImpl* view, const Tensor& self) noexcept {
  TensorImpl* base = self.impl()->base ? self.impl()->base : self.impl();
  base->references.fetch_add(1, std::memory_order_relaxed);
  view->base = base;
  view->in_graph = true;
  view->inference = self.impl()->inference;
  view->view_mode = thread_modes.inference                                      ? Mode::inference
                    : thread_modes.grad && self.impl()->view_mode == Mode::grad ? Mode::grad
                                                                                : Mode::no_grad;
}

}  // namespace

constinit thread_local ThreadModes thread_modes;

void destroy_impl(TensorImpl* impl) noexcept {
  if (impl->autograd) destroy_history(impl);
  if (TensorImpl* base = impl->base)
    static_cast<void>(Tensor(base));  // gives the reference back
  else if (impl->storage)
    release(impl->storage);
  impl->~TensorImpl();
  recycle::deallocate(impl, sizeof(TensorImpl));
}

int64_t check_sizes(SizesView sizes, int64_t itemsize) {
  for (int64_t size : sizes)
    if (size < 0)
      throw Error("Trying to create tensor with negative dimension " + std::to_string(size) + ": " + to_string(sizes));
  int64_t numel = 1, nbytes = 0;
  bool overflow = false, zero = false;
  for (int64_t size : sizes) {
    if (size == 0)
      zero = true;
    else
      overflow |= __builtin_mul_overflow(numel, size, &numel);
  }
  overflow |= __builtin_mul_overflow(numel, itemsize, &nbytes);
  if (overflow) throw Error("Storage size calculation overflowed with sizes=" + to_string(sizes));
  return zero ? 0 : numel;
}

int64_t storage_extent(SizesView sizes, SizesView strides) {
  int64_t last = 0;
  bool overflow = false;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 0) return 0;
    int64_t reach = 0;
    overflow |= __builtin_mul_overflow(sizes[dim] - 1, strides[dim], &reach);
    overflow |= __builtin_add_overflow(last, reach, &last);
  }
  if (overflow || last == std::numeric_limits<int64_t>::max())
    throw Error("Storage size calculation overflowed with sizes=" + to_string(sizes) +
                " and strides=" + to_string(strides));
  return last + 1;
}

Tensor new_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device) {
  check_sizes(sizes, itemsize(dtype));
  const int64_t extent = storage_extent(sizes, strides);
  if (extent > std::numeric_limits<int64_t>::max() / 8)
    throw Error("Storage size calculation overflowed with sizes=" + to_string(sizes) +
                " and strides=" + to_string(strides));
  Storage* storage = device == Device::meta ? nullptr : new_storage(extent * itemsize(dtype));
  return Tensor(make_impl(storage, sizes, strides, 0, dtype, device));
}

Tensor new_tensor(SizesView sizes, Dtype dtype, Device device) {
  const int64_t numel = check_sizes(sizes, itemsize(dtype));
  Storage* storage = device == Device::meta ? nullptr : new_storage(numel * itemsize(dtype));
  TensorImpl* impl = new (recycle::allocate(sizeof(TensorImpl))) TensorImpl;
  impl->dtype = dtype;
  impl->device = device;
  impl->contiguous = true;
  impl->row_major = true;
  impl->storage = storage;
  impl->offset = 0;
  impl->in_graph = impl->inference = thread_modes.inference;
  impl->numel = numel;
  impl->sizes.assign(sizes);
  impl->strides.resize(sizes.size());
  int64_t step = 1;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    impl->strides[dim] = step;
    step *= sizes[dim] > 1 ? sizes[dim] : 1;
  }
  return Tensor(impl);
}

Tensor new_view(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset) {
  TensorImpl* view = make_impl(self.impl()->storage, sizes, strides, offset, self.dtype(), self.device());
  tie(view, self);
  return Tensor(view);
}

Tensor begin_view(const Tensor& self, int64_t offset) {
  return Tensor(make_bare(nullptr, offset, self.dtype(), self.device()));
}

void settle_view(const Tensor& view, const Tensor& self) noexcept {
  settle_impl(view.impl());
  tie_view(view, self);
}

void tie_view(const Tensor& view, const Tensor& self) noexcept {
  view.impl()->storage = self.impl()->storage;
  tie(view.impl(), self);
}

Tensor new_alias(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset) {
  Storage* storage = self.impl()->storage;
  if (storage) retain(storage);
  Tensor alias(make_impl(storage, sizes, strides, offset, self.dtype(), self.device()));
  alias.impl()->in_graph = alias.impl()->inference = self.impl()->inference;
  return alias;
}

Tensor new_tensor_over(Storage* storage, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype) {
  return Tensor(make_impl(storage, sizes, strides, offset, dtype, Device::cpu));
}

void set_sizes_and_strides(const Tensor& tensor, SizesView sizes, SizesView strides) {
  TensorImpl* impl = tensor.impl();
  const int64_t numel = check_sizes(sizes, tensor.itemsize());
  const int64_t needed = (impl->offset + storage_extent(sizes, strides)) * tensor.itemsize();
  if (impl->storage && needed > impl->storage->nbytes) {
    if (impl->storage->deleter) throw Error("Trying to resize storage that is not resizable");
    grow_storage(impl->storage, needed);
  }
  impl->sizes.assign(sizes);
  impl->strides.assign(strides);
  impl->numel = numel;
  impl->contiguous = is_contiguous(sizes, strides);
  impl->row_major = SizesView(contiguous_strides(sizes)) == strides;
}

void Tensor::check_dtype(Dtype wanted) const {
  if (dtype() != wanted)
    throw TypeError(std::string("expected scalar type ") + scalar_type_name(wanted) + " but found " +
                    scalar_type_name(dtype()));
}

void Tensor::fail_inference_version() { throw Error("Inference tensors do not track version counter."); }

}  // namespace tenon
