#include "tensor/impl.h"

#include "base/checked.h"
#include "tensor/budget.h"
#include "tensor/history.h"
#include "tensor/recycle.h"

namespace tenon {
namespace {

/// A handle with these members only. It owns what is added later, so that a failure leaks nothing.
[[gnu::always_inline]] inline Tensor make_bare(int64_t offset, Dtype dtype, Device device) {
  TensorImpl* impl = new (recycle::allocate(sizeof(TensorImpl))) TensorImpl;
  impl->dtype = dtype;
  impl->device = device;
  impl->storage = nullptr;
  impl->offset = offset;
  impl->in_graph = impl->inference = thread_modes.inference;
  return Tensor(impl);
}

/// Computes numel and the contiguous flags in one loop over the dims.
[[gnu::always_inline]] inline void settle_impl(TensorImpl* impl) noexcept {
  const int64_t ndim = impl->sizes.size();
  const int64_t* sizes = impl->sizes.data();
  const int64_t* strides = impl->strides.data();
  int64_t numel = 1;
  bool contiguous = true, row_major = true;
  for (int64_t dim = ndim - 1; dim >= 0; --dim) {
    const int64_t size = sizes[dim], stride = strides[dim];
    contiguous = contiguous && (size == 1 || stride == numel);
    row_major = row_major && stride == numel;
    // exact: with a size of 0 the product ends at 0, even if it wraps before
    numel = static_cast<int64_t>(static_cast<uint64_t>(numel) * static_cast<uint64_t>(size));
  }
  impl->numel = numel;
  impl->contiguous = contiguous || numel == 0;
  impl->row_major = row_major && numel != 0;
}

/// A tensor with everything but a storage. Inlined: a view costs a fifth less. Bench: tenon_bench --filter '^view/'.
[[gnu::always_inline]] inline Tensor make_laid_out(SizesView sizes, SizesView strides, int64_t offset, Dtype dtype,
                                                   Device device) {
  Tensor tensor = make_bare(offset, dtype, device);
  tensor.impl()->sizes.assign(sizes);
  tensor.impl()->strides.assign(strides);
  settle_impl(tensor.impl());
  return tensor;
}

/// Links a view to the tensor whose elements it shares.
[[gnu::always_inline]] inline void tie(TensorImpl* view, const Tensor& self) {
  const TensorImpl* from = self.impl();
  TensorImpl* base = from->base ? from->base : self.impl();
  Storage* storage = from->storage;
  base->references.fetch_add(TensorImpl::kViewReference, std::memory_order_relaxed);
  view->base = base;
  view->storage = storage;
  if (storage != base->storage) [[unlikely]]
    history().add_former_view(base, storage);
  view->in_graph = true;
  if (storage) view->view_version.store(storage->version.load(std::memory_order_relaxed), std::memory_order_relaxed);
  view->inference = from->inference;
  view->view_mode = thread_modes.inference ? Mode::inference : thread_modes.grad ? from->view_mode : Mode::no_grad;
}

}  // namespace

constinit thread_local ThreadModes thread_modes;

namespace {

constexpr History kWithoutHistory{
    .requires_grad = [](const TensorImpl*) noexcept { return false; },
    .is_leaf = [](const Tensor&) { return true; },
    .destroy = [](TensorImpl*) noexcept {},
    .add_former_view = [](TensorImpl*, Storage*) noexcept {},
    .drop_former_view = [](TensorImpl*, Storage*) noexcept {},
    .record_view = [](const Tensor&, const Tensor&, const ViewCall&) {},
    .take_layout = [](const Tensor& self, const Tensor& view) { swap_layout(self, view); },
};

}  // namespace

constinit std::atomic<const History*> history_table{&kWithoutHistory};

void swap_layout(const Tensor& self, const Tensor& view) {
  TensorImpl *to = self.impl(), *from = view.impl();
  std::swap(to->sizes, from->sizes);
  std::swap(to->strides, from->strides);
  std::swap(to->offset, from->offset);
  std::swap(to->numel, from->numel);
  to->contiguous = from->contiguous;
  to->row_major = from->row_major;
  bump_version(self);
}

bool Tensor::requires_grad() const { return impl()->in_graph && tenon::requires_grad(impl_); }
bool Tensor::is_leaf() const { return !impl()->in_graph || history().is_leaf(*this); }

void destroy_impl(TensorImpl* impl) noexcept {
  if (impl->meta()) history().destroy(impl);
  release_elements(impl->storage, impl->base);
  impl->~TensorImpl();
  recycle::deallocate(impl, sizeof(TensorImpl));
}

void release_elements(Storage* storage, TensorImpl* base) noexcept {
  if (!base) {
    if (storage) release(storage);
    return;
  }
  if (storage != base->storage) [[unlikely]]
    history().drop_former_view(base, storage);
  constexpr uint64_t kView = TensorImpl::kViewReference;
  if (base->references.load(std::memory_order_acquire) == kView ||
      base->references.fetch_sub(kView, std::memory_order_acq_rel) == kView)
    destroy_impl(base);
}

void check_not_negative(SizesView sizes) {
  for (int64_t size : sizes)
    if (size < 0)
      throw Error("Trying to create tensor with negative dimension " + std::to_string(size) + ": " + to_string(sizes));
}

int64_t check_sizes(SizesView sizes, int64_t itemsize) {
  uint64_t numel = 1;  // from the left, like checked_numel
  int64_t nbytes = 0, signs = 0;
  bool overflow = false;
  for (int64_t size : sizes) {
    overflow |= __builtin_mul_overflow(numel, static_cast<uint64_t>(size), &numel);
    signs |= size;
  }
  if (signs < 0) check_not_negative(sizes);
  overflow |= __builtin_mul_overflow(numel, itemsize, &nbytes);
  if (overflow) throw Error("Storage size calculation overflowed with sizes=" + to_string(sizes));
  return static_cast<int64_t>(numel);
}

Checked extent_of(SizesView sizes, SizesView strides) noexcept {
  Checked last = 0;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) {
    if (sizes[dim] == 0) return 0;
    last += (Checked(sizes[dim]) - 1) * strides[dim];
  }
  return last + 1;
}

void fail_storage_size(SizesView sizes, SizesView strides) {
  throw Error("Storage size calculation overflowed with sizes=" + to_string(sizes) +
              " and strides=" + to_string(strides));
}

int64_t storage_extent(SizesView sizes, SizesView strides) {
  return extent_of(sizes, strides).or_else([&] { fail_storage_size(sizes, strides); });
}

namespace {

/// Whether these are the strides that new_tensor gives a tensor with elements.
bool is_row_major(SizesView sizes, SizesView strides) {
  Checked step = 1;
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    if (sizes[dim] <= 0 || !step.is(strides[dim])) return false;
    step *= sizes[dim];
  }
  return true;
}

}  // namespace

Tensor new_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device) {
  if (is_row_major(sizes, strides)) return new_tensor(sizes, dtype, device);
  check_sizes(sizes, itemsize(dtype));
  return new_strided_tensor(sizes, strides, dtype, device);
}

Tensor new_strided_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device) {
  check_not_negative(sizes);
  checked_numel(sizes);
  if (device == Device::meta) return make_laid_out(sizes, strides, 0, dtype, device);
  const int64_t nbytes =
      (extent_of(sizes, strides) * itemsize(dtype)).or_else([&] { fail_storage_size(sizes, strides); });
  check_budget(nbytes, sizes);
  Tensor tensor = make_laid_out(sizes, strides, 0, dtype, device);
  tensor.impl()->storage = new_storage(nbytes);
  return tensor;
}

Tensor new_tensor(SizesView sizes, Dtype dtype, Device device) {
  const int64_t numel = check_sizes(sizes, itemsize(dtype));
  if (numel == 0) [[unlikely]]
    return new_tensor(sizes, contiguous_strides(sizes), dtype, device);
  Tensor tensor = make_bare(0, dtype, device);
  TensorImpl* impl = tensor.impl();
  impl->contiguous = true;
  impl->row_major = true;
  impl->numel = numel;
  impl->sizes.assign(sizes);
  impl->strides.resize(sizes.size());
  int64_t step = 1;
  // exact: check_sizes has checked these products
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    impl->strides[dim] = step;
    step *= sizes[dim];
  }
  if (device == Device::meta) return tensor;
  const int64_t nbytes = numel * itemsize(dtype);
  check_budget(nbytes, sizes);
  impl->storage = new_storage(nbytes);
  return tensor;
}

Tensor new_view(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset) {
  Tensor view = make_laid_out(sizes, strides, offset, self.dtype(), self.device());
  tie_view(view, self);
  return view;
}

Tensor begin_view(const Tensor& self, int64_t offset) { return make_bare(offset, self.dtype(), self.device()); }

void tie_view(const Tensor& view, const Tensor& self) { tie(view.impl(), self); }

void settle_view(const Tensor& view, const Tensor& self) {
  settle_impl(view.impl());
  tie(view.impl(), self);
}

Tensor new_alias(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype) {
  Tensor alias = make_laid_out(sizes, strides, offset, dtype, self.device());
  if (Storage* storage = self.impl()->storage) retain(alias.impl()->storage = storage);
  alias.impl()->in_graph = alias.impl()->inference = self.impl()->inference;
  if (self.impl()->in_graph && thread_modes.aliased) [[unlikely]]
    thread_modes.aliased(self, alias);
  return alias;
}

Tensor new_tensor_over(Storage* storage, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype) {
  Tensor tensor = make_laid_out(sizes, strides, offset, dtype, Device::cpu);
  retain(tensor.impl()->storage = storage);
  return tensor;
}

Tensor new_tensor_over(const CallersBuffer& buffer, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype) {
  Tensor tensor = make_laid_out(sizes, strides, offset, dtype, Device::cpu);
  tensor.impl()->storage = new_storage(buffer.data, buffer.nbytes, buffer.deleter, buffer.context);
  return tensor;
}

void set_sizes_and_strides(const Tensor& tensor, SizesView sizes, SizesView strides) {
  TensorImpl* impl = tensor.impl();
  const int64_t numel = check_sizes(sizes, tensor.itemsize());
  // Without elements the offset needs no memory.
  const Checked extent = numel == 0 ? 0 : extent_of(sizes, strides) + impl->offset;
  const int64_t needed = (extent * tensor.itemsize()).or_else([&] {
    throw Error("Storage size calculation overflowed with sizes=" + to_string(sizes));
  });
  // Everything that can fail comes before the first change.
  Dims new_sizes = sizes.copy(), new_strides = strides.copy();
  const bool contiguous = is_contiguous(sizes, strides), row_major = is_row_major(sizes, strides);
  if (impl->storage && needed > impl->storage->nbytes) {
    if (!impl->storage->resizable.load(std::memory_order_relaxed))
      throw Error("Trying to resize storage that is not resizable");
    check_budget(needed, sizes);
    grow_storage(impl->storage, needed);
  }
  impl->sizes = std::move(new_sizes);
  impl->strides = std::move(new_strides);
  impl->numel = numel;
  impl->contiguous = contiguous;
  impl->row_major = row_major;
}

void Tensor::check_dtype(Dtype wanted) const {
  if (dtype() != wanted)
    throw TypeError(std::string("expected scalar type ") + scalar_type_name(wanted) + " but found " +
                    scalar_type_name(dtype()));
}

void Tensor::fail_nbytes() const {
  throw Error("nbytes: " + std::to_string(numel()) + " elements of " + std::to_string(itemsize()) +
              " bytes are more than an int64 holds");
}

void Tensor::fail_undefined() { throw Error("Expected a proper Tensor but got None (or an undefined Tensor in C++)"); }

void Tensor::fail_inference_version() { throw Error("Inference tensors do not track version counter."); }

}  // namespace tenon
