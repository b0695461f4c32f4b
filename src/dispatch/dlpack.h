// dispatch: tensors as DLPack 1.1, and back, without copies. Never knows Python's capsules. The structs have the
// standard's names: https://dmlc.github.io/dlpack/latest/c_api.html
#pragma once
#include <cstdint>

#include "tenon/tensor.h"

namespace tenon::dlpack {

struct DLDevice {
  int32_t device_type;
  int32_t device_id;
};
struct DLDataType {
  uint8_t code, bits;
  uint16_t lanes;
};
struct DLTensor {
  void* data;
  DLDevice device;
  int32_t ndim;
  DLDataType dtype;
  int64_t* shape;
  int64_t* strides;  // in elements; null: row-major
  uint64_t byte_offset;
};
struct DLManagedTensor {
  DLTensor dl_tensor;
  void* manager_ctx;
  void (*deleter)(DLManagedTensor* self);
};
struct DLPackVersion {
  uint32_t major, minor;
};
struct DLManagedTensorVersioned {
  DLPackVersion version;
  void* manager_ctx;
  void (*deleter)(DLManagedTensorVersioned* self);
  uint64_t flags;
  DLTensor dl_tensor;
};

inline constexpr int32_t kDLCPU = 1, kDLCUDAHost = 3, kDLROCMHost = 11;
inline constexpr uint64_t kReadOnly = 1, kIsCopied = 2;
enum Code : uint8_t { kDLInt = 0, kDLUInt = 1, kDLFloat = 2, kDLBfloat = 4, kDLComplex = 5, kDLBool = 6 };

/// A struct that shares the tensor's elements; its receiver calls its deleter. Elements that share places (stride 0)
/// are marked as read-only. `flags`: further marks. Error for a meta tensor.
DLManagedTensorVersioned* to_versioned(const Tensor& tensor, uint64_t flags = 0);
/// The same without marks: elements that share places are copied.
DLManagedTensor* to_unversioned(const Tensor& tensor);

/// A tensor over the struct's memory, which is freed with the last view. Read-only memory is copied, because tensors
/// are always writable, and freed at once. If this throws, the caller keeps the struct. Error for another device, an
/// unknown dtype or version, and a negative stride.
Tensor adopt(DLManagedTensorVersioned* managed);
Tensor adopt(DLManagedTensor* managed);

}  // namespace tenon::dlpack
