#include "python/dlpack.h"

#include <array>
#include <memory>
#include <string_view>

#include "base/checked.h"
#include "python/exchange.h"
#include "tenon/factories.h"

namespace tenon::python {
namespace {

using namespace dlpack;

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

/// Owns the tensor and the lists to which a capsule points.
template <class Managed>
struct Export {
  Tensor tensor;
  Dims sizes, strides;
  Managed managed{};
};

template <class Managed>
PyObject* to_capsule(const Tensor& tensor, const char* name, const auto& fill) {
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
  fill(managed);
  // An unused capsule frees its tensor. A consumer renames the capsule.
  PyObject* capsule = PyCapsule_New(&managed, name, [](PyObject* object) {
    const char* current = PyCapsule_GetName(object);
    if (!current || std::string_view(current).starts_with("used_")) return;
    auto* unused = static_cast<Managed*>(PyCapsule_GetPointer(object, current));
    unused->deleter(unused);
  });
  checked(capsule);
  static_cast<void>(owner.release());
  return capsule;
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

/// A tensor over the memory of a managed tensor, which is freed with the last view.
template <class Managed>
Tensor adopt(Managed* managed) {
  const DLTensor& source = managed->dl_tensor;
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
  // exact: if the capsule is right
  void* data = source.data ? static_cast<char*>(source.data) + source.byte_offset : nothing;
  return from_buffer(
      data, sizes, strides, dtype,
      [](void*, void* context) {
        auto* owned = static_cast<Managed*>(context);
        if (owned->deleter) owned->deleter(owned);
      },
      managed);
}

}  // namespace

PyObject* to_dlpack(const Tensor& tensor, bool versioned, bool copied) {
  if (tensor.is_meta()) {
    PyErr_SetString(PyExc_BufferError, "a meta tensor has no memory to export");
    throw PythonError{};
  }
  const bool read_only = repeats_places(tensor);
  if (versioned)
    return to_capsule<DLManagedTensorVersioned>(tensor, "dltensor_versioned", [&](DLManagedTensorVersioned& managed) {
      managed.version = {1, 1};
      managed.flags = (read_only ? kReadOnly : 0) | (copied ? kIsCopied : 0);
    });
  // The older layout has no read-only flag.
  return to_capsule<DLManagedTensor>(read_only ? tensor.contiguous() : tensor, "dltensor", [](DLManagedTensor&) {});
}

Tensor from_dlpack(PyObject* capsule, bool may_not_copy) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (managed->version.major != 1)
      throw Error("from_dlpack: version " + std::to_string(managed->version.major) + " is not known");
    const bool read_only = managed->flags & kReadOnly;
    if (read_only && may_not_copy) {
      PyErr_SetString(PyExc_BufferError, "from_dlpack: the memory is read-only; a tensor over it would be a copy");
      throw PythonError{};
    }
    const Tensor shared = adopt(managed);
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    // Tensors are always writable, so read-only memory is copied.
    return read_only ? shared.clone() : shared;
  }
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    throw Error(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
        "you might have already constructed a tensor from it once.");
  const Tensor shared = adopt(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
  PyCapsule_SetName(capsule, "used_dltensor");
  return shared;
}

}  // namespace tenon::python
