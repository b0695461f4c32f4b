#include "dispatch/dlpack.h"

#include <array>
#include <memory>

#include "base/checked.h"
#include "tenon/factories.h"

namespace tenon::dlpack {
namespace {

// In the order of Dtype.
constexpr std::array<DLDataType, kDtypeCount> kTypes = {{{kDLBool, 8, 1},
                                                         {kDLUInt, 8, 1},
                                                         {kDLInt, 8, 1},
                                                         {kDLInt, 16, 1},
                                                         {kDLInt, 32, 1},
                                                         {kDLInt, 64, 1},
                                                         {kDLUInt, 16, 1},
                                                         {kDLUInt, 32, 1},
                                                         {kDLUInt, 64, 1},
                                                         {kDLFloat, 16, 1},
                                                         {kDLBfloat, 16, 1},
                                                         {kDLFloat, 32, 1},
                                                         {kDLFloat, 64, 1},
                                                         {kDLComplex, 64, 1},
                                                         {kDLComplex, 128, 1}}};

Dtype dtype_of_type(DLDataType type) {
  for (std::size_t i = 0; i < kTypes.size(); ++i)
    if (kTypes[i].code == type.code && kTypes[i].bits == type.bits && type.lanes == 1) return static_cast<Dtype>(i);
  throw Error("from_dlpack: no dtype has code " + std::to_string(type.code) + ", " + std::to_string(type.bits) +
              " bits and " + std::to_string(type.lanes) + " lanes");
}

/// Owns the tensor and the lists to which a struct points.
template <class Managed>
struct Export {
  Tensor tensor;
  Dims sizes, strides;
  Managed managed{};
};

template <class Managed>
Managed* exported(const Tensor& tensor) {
  if (tensor.is_meta()) throw Error("a meta tensor has no memory to export");
  auto owner = std::make_unique<Export<Managed>>();
  owner->tensor = tensor.detach();
  owner->sizes = tensor.sizes().copy();
  owner->strides = tensor.strides().copy();
  Managed& managed = owner->managed;
  managed.manager_ctx = owner.get();
  managed.deleter = [](Managed* self) { delete static_cast<Export<Managed>*>(self->manager_ctx); };
  managed.dl_tensor = {tensor.export_data(),
                       {kDLCPU, 0},
                       static_cast<int32_t>(tensor.dim()),
                       kTypes[static_cast<std::size_t>(tensor.dtype())],
                       owner->sizes.data(),
                       owner->strides.data(),
                       0};
  return &owner.release()->managed;
}

bool repeats_places(const Tensor& tensor) {
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.strides()[dim] == 0 && tensor.sizes()[dim] > 1) return true;
  return false;
}

/// Checks what can be checked. That the memory exists must be trusted.
void check_sound(const DLTensor& source) {
  if (source.ndim < 0) throw Error("from_dlpack: a tensor of " + std::to_string(source.ndim) + " dims");
  if (source.ndim > 0 && !source.shape) throw Error("from_dlpack: the tensor has dims and no shape");
  for (int32_t dim = 0; dim < source.ndim; ++dim)
    if (source.shape[dim] < 0) throw Error("from_dlpack: negative size " + std::to_string(source.shape[dim]));
  const int64_t numel = checked_numel(SizesView(source.shape, source.ndim));
  if (numel > 0 && !source.data) throw Error("from_dlpack: the tensor has elements and no memory");
}

template <class Managed>
void delete_managed(void*, void* context) {
  auto* managed = static_cast<Managed*>(context);
  if (managed->deleter) managed->deleter(managed);
}

/// A tensor over the memory; `deleter` runs with the last view.
Tensor over(const DLTensor& source, Storage::Deleter deleter, void* context) {
  check_sound(source);
  const int32_t device = source.device.device_type;
  if (device != kDLCPU && device != kDLCUDAHost && device != kDLROCMHost)
    throw Error("from_dlpack: memory of device type " + std::to_string(device) + " is not reachable from the cpu");
  const Dtype dtype = dtype_of_type(source.dtype);
  if (source.byte_offset > uint64_t{kMaxStorageBytes})
    throw Error("from_dlpack: the capsule's memory begins at byte " + std::to_string(source.byte_offset));
  const SizesView sizes(source.shape, source.ndim);
  Dims strides = source.strides ? SizesView(source.strides, source.ndim).copy() : contiguous_strides(sizes);
  for (int64_t dim = 0; dim < sizes.size(); ++dim) {
    if (strides[dim] >= 0) continue;
    if (sizes[dim] > 1 && checked_numel(sizes) > 0)
      throw Error("from_dlpack: negative strides are not supported; copy the array first");
    strides[dim] = 1;
  }
  alignas(kMaxItemsize) static char nothing[kMaxItemsize];
  // exact: if the struct is right
  void* data = source.data ? static_cast<char*>(source.data) + source.byte_offset : nothing;
  return from_buffer(data, sizes, strides, dtype, deleter, context);
}

}  // namespace

DLManagedTensorVersioned* to_versioned(const Tensor& tensor, uint64_t flags) {
  DLManagedTensorVersioned* managed = exported<DLManagedTensorVersioned>(tensor);
  managed->version = {1, 1};
  managed->flags = (repeats_places(tensor) ? kReadOnly : 0) | flags;
  return managed;
}

DLManagedTensor* to_unversioned(const Tensor& tensor) {
  return exported<DLManagedTensor>(repeats_places(tensor) ? tensor.contiguous() : tensor);
}

Tensor adopt(DLManagedTensorVersioned* managed) {
  if (managed->version.major != 1)
    throw Error("from_dlpack: version " + std::to_string(managed->version.major) + " is not known");
  if (!(managed->flags & kReadOnly)) return over(managed->dl_tensor, delete_managed<DLManagedTensorVersioned>, managed);
  const Tensor copy = over(managed->dl_tensor, nullptr, nullptr).clone();
  delete_managed<DLManagedTensorVersioned>(nullptr, managed);
  return copy;
}

Tensor adopt(DLManagedTensor* managed) { return over(managed->dl_tensor, delete_managed<DLManagedTensor>, managed); }

}  // namespace tenon::dlpack
