// tensor: takes a storage, sizes and strides; gives handles. Never reads or writes an element.
#pragma once
#include "base/checked.h"
#include "tenon/tensor.h"

namespace tenon {

/// A dense or strided tensor over fresh, uninitialised memory (none on meta). `strides` must not overlap beyond their
/// own reach. Error for negative sizes and for sizes whose bytes overflow; OutOfMemoryError.
Tensor new_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device = Device::cpu);
/// The same for strides that may repeat places: only the bytes these reach must fit.
Tensor new_strided_tensor(SizesView sizes, SizesView strides, Dtype dtype, Device device);
/// Row-major.
Tensor new_tensor(SizesView sizes, Dtype dtype, Device device = Device::cpu);
/// A view of `base`'s storage that keeps `base` (of a view: that view's base). Bounds are the caller's care.
Tensor new_view(const Tensor& base, SizesView sizes, SizesView strides, int64_t offset);
/// The view of other sizes; undefined where the elements have to be copied.
Tensor reshaped_view(const Tensor& self, SizesView inferred);
/// What is to become a view of `self`, from another offset on: its sizes and strides are written next, then it is
/// settled.
Tensor begin_view(const Tensor& self, int64_t offset);
/// Ties the view to the elements of `self`, once what follows from its sizes and strides is known (or asks for it).
void settle_view(const Tensor& view, const Tensor& self);
void tie_view(const Tensor& view, const Tensor& self);
/// The same elements seen by a tensor that knows nothing of `self` but its storage.
Tensor new_alias(const Tensor& self, SizesView sizes, SizesView strides, int64_t offset);
/// A tensor over a storage that others hold, too.
Tensor new_tensor_over(Storage* storage, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype);
/// Memory of somebody else's, and how to give it back.
struct CallersBuffer {
  void* data;
  int64_t nbytes;
  Storage::Deleter deleter;
  void* context;
};
/// A tensor over a buffer, which it owns from now on; when this throws, the buffer stays the caller's and its deleter
/// has not run.
Tensor new_tensor_over(const CallersBuffer& buffer, SizesView sizes, SizesView strides, int64_t offset, Dtype dtype);

/// Gives `tensor` new sizes and strides over its own storage, which is grown (elements kept) when too small.
void set_sizes_and_strides(const Tensor& tensor, SizesView sizes, SizesView strides);

/// Error "Trying to create tensor with negative dimension -1: [-1]".
void check_not_negative(SizesView sizes);
/// The same and the overflow text; gives the number of
/// elements.
int64_t check_sizes(SizesView sizes, int64_t itemsize);
/// Elements a storage must hold for this layout to stay inside it, from its first element on. Strides that are not
/// negative; `storage_extent` throws "Storage size calculation overflowed with sizes=[2] and strides=[9]".
Checked extent_of(SizesView sizes, SizesView strides) noexcept;
/// Of all elements, those that share a place too.
inline Checked bytes_of(const Tensor& tensor) { return Checked(tensor.numel()) * tensor.itemsize(); }
int64_t storage_extent(SizesView sizes, SizesView strides);
[[noreturn]] void fail_storage_size(SizesView sizes, SizesView strides);

/// Gives back the storage; of a view of `base`, that one.
void release_elements(Storage* storage, TensorImpl* base) noexcept;

/// Marks an in-place write.
inline void bump_version(const Tensor& tensor) {
  // Two threads writing one tensor race anyway: no locked instruction.
  if (Storage* storage = tensor.impl()->storage)
    storage->version.store(storage->version.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
}

}  // namespace tenon
