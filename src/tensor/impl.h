// tensor: takes a storage, sizes and strides; gives handles. Never reads or writes an element.
#pragma once
#include <string>
#include "base/checked.h"
#include "tenon/tensor.h"

namespace tenon {

/// A tensor over new, uninitialised memory (none on meta). Throws Error for negative sizes and if the number of bytes
/// overflows; OutOfMemoryError.
Tensor new_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device = Device::cpu);
/// The same for strides with overlap: only the bytes that they reach must fit.
Tensor new_strided_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device);
/// A row-major tensor.
Tensor new_tensor(SizesView sizes, Dtype dtype, Device device = Device::cpu);
/// A view of `base`'s storage. It keeps `base` alive, or `base`'s own base. The caller checks bounds.
Tensor new_view(const Tensor& base, SizesView sizes, SizesView strides, int64_t offset);
/// The view with these sizes; undefined if the elements have to be copied.
Tensor reshaped_view(const Tensor& self, SizesView inferred);
/// Begins a view of `self` at `offset`. Write its sizes and strides, then call settle_view.
Tensor begin_view(const Tensor& self, int64_t offset);
/// Finishes a view of `self`: computes what depends on sizes and strides, and links it to the storage of `self`.
void settle_view(const Tensor& view, const Tensor& self);
void tie_view(const Tensor& view, const Tensor& self);
/// A tensor over the storage of `self` that is no view of it.
Tensor new_alias(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype);
inline Tensor new_alias(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset) {
  return new_alias(self, sizes, strides, offset, self.dtype());
}
/// A tensor over a shared storage.
Tensor new_tensor_over(Storage* storage, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype);
/// The caller's memory, and how to free it.
struct CallersBuffer {
  void* data;
  int64_t nbytes;
  Storage::Deleter deleter;
  void* context;
};
/// A tensor that owns `buffer`. If this throws, the caller keeps the buffer and its deleter has not run.
Tensor new_tensor_over(const CallersBuffer& buffer, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype);

/// Gives `tensor` new sizes and strides over its own storage. A storage that is too small grows and keeps its elements.
void set_sizes_and_strides(const Tensor& tensor, SizesView sizes, SizesView strides);

/// Error "Trying to create tensor with negative dimension -1: [-1]".
void check_not_negative(SizesView sizes);
/// Also throws if the number of bytes overflows. Returns the number of elements.
int64_t check_sizes(SizesView sizes, int64_t itemsize);
/// The number of elements from the first one of this layout to its last one, both included, for strides that are not
/// negative. `storage_extent` throws "Storage size calculation overflowed with sizes=[2] and strides=[9]".
Checked extent_of(SizesView sizes, SizesView strides) noexcept;
/// numel * itemsize, even if elements share memory.
inline Checked bytes_of(const Tensor& tensor) { return Checked(tensor.numel()) * tensor.itemsize(); }
int64_t storage_extent(SizesView sizes, SizesView strides);
[[noreturn]] void fail_storage_size(SizesView sizes, SizesView strides);

/// The class name that some error texts use: "torch.LongTensor". bool, bfloat16, uint16 to uint64 and complex dtypes
/// have no legacy class: "CPUBoolType".
std::string legacy_type_name(const Tensor& self);

/// Releases the storage, or, for a view, its base.
void release_elements(Storage* storage, TensorImpl* base) noexcept;

/// Counts an in-place write.
inline void bump_version(const Tensor& tensor) {
  // Not atomic: two threads that write one tensor race anyway.
  if (Storage* storage = tensor.impl()->storage)
    storage->version.store(storage->version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace tenon
