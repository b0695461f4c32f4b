#include "dispatch/dlpack.h"

#include <string_view>

#include "python/exchange.h"

namespace tenon::python {
namespace {

using namespace dlpack;

template <class Managed>
PyObject* to_capsule(Managed* managed, const char* name) {
  // An unused capsule frees its tensor. A consumer renames the capsule.
  PyObject* capsule = PyCapsule_New(managed, name, [](PyObject* object) {
    const char* current = PyCapsule_GetName(object);
    if (!current || std::string_view(current).starts_with("used_")) return;
    auto* unused = static_cast<Managed*>(PyCapsule_GetPointer(object, current));
    unused->deleter(unused);
  });
  if (!capsule) managed->deleter(managed);
  return checked(capsule);
}

[[noreturn]] void fail_buffer(const char* text) {
  PyErr_SetString(PyExc_BufferError, text);
  throw PythonError{};
}

}  // namespace

PyObject* to_dlpack(const Tensor& tensor, bool versioned, bool copied) {
  if (tensor.is_meta()) fail_buffer("a meta tensor has no memory to export");
  if (versioned) return to_capsule(to_versioned(tensor, copied ? kIsCopied : 0), "dltensor_versioned");
  return to_capsule(to_unversioned(tensor), "dltensor");
}

Tensor from_dlpack(PyObject* capsule, bool may_not_copy) {
  if (PyCapsule_IsValid(capsule, "dltensor_versioned")) {
    auto* managed = static_cast<DLManagedTensorVersioned*>(PyCapsule_GetPointer(capsule, "dltensor_versioned"));
    if (may_not_copy && managed->version.major == 1 && managed->flags & kReadOnly)
      fail_buffer("from_dlpack: the memory is read-only; a tensor over it would be a copy");
    const Tensor tensor = adopt(managed);
    PyCapsule_SetName(capsule, "used_dltensor_versioned");
    return tensor;
  }
  if (!PyCapsule_IsValid(capsule, "dltensor"))
    throw Error(
        "from_dlpack received an invalid capsule. Note that DLTensor capsules can be consumed only once, so "
        "you might have already constructed a tensor from it once.");
  const Tensor tensor = adopt(static_cast<DLManagedTensor*>(PyCapsule_GetPointer(capsule, "dltensor")));
  PyCapsule_SetName(capsule, "used_dltensor");
  return tensor;
}

}  // namespace tenon::python
