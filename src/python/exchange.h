// python: memory shared with others. Takes NumPy arrays, buffers and DLPack capsules; gives tensors over the same
// bytes, and the way back.
#pragma once
#include "python/convert.h"

namespace tenon::python {

bool is_array(PyObject* object) noexcept;
/// Over the array's memory. Texts of torch.from_numpy; a read-only array gives a warning unless `quiet`.
Tensor from_numpy(PyObject* array);
/// Over the array's memory where its layout allows it, else over a copy.
Tensor tensor_from_array(PyObject* array);
/// An ndarray over the tensor's memory.
PyObject* to_numpy(PyObject* self);

/// A DLPack capsule over the tensor's memory, marked read-only where several elements lie in one place.
PyObject* to_dlpack(const Tensor& tensor, bool versioned, bool copied);
/// Over a capsule's memory; over a copy of it where it is read-only.
Tensor from_dlpack(PyObject* capsule, bool may_not_copy);

/// from_numpy, from_dlpack, frombuffer and the like.
void bind_exchange(nb::module_& module);

}  // namespace tenon::python
