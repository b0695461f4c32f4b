// python: memory shared with other libraries. Takes NumPy arrays, buffers and DLPack capsules; gives tensors over the
// same bytes, and the reverse.
#pragma once
#include "python/convert.h"

namespace tenon::python {

bool is_array(PyObject* object) noexcept;
/// A tensor over the array's memory. Errors are those of torch.from_numpy; a read-only array gives a warning.
Tensor from_numpy(PyObject* array);
/// A tensor over the array's memory if its layout allows that, else over a copy.
Tensor tensor_from_array(PyObject* array);
/// An ndarray over the tensor's memory.
PyObject* to_numpy(PyObject* self);

/// A DLPack capsule over the tensor's memory, marked read-only if elements overlap.
PyObject* to_dlpack(const Tensor& tensor, bool versioned, bool copied);
/// A tensor over a capsule's memory, or over a copy if that is read-only.
Tensor from_dlpack(PyObject* capsule, bool may_not_copy);

/// from_numpy, from_dlpack, frombuffer and the like.
void bind_exchange(nb::module_& module);

}  // namespace tenon::python
