// python: dtypes, devices, memory formats and layouts as Python objects. Adds their types to the module, with one
// object for each value.
#pragma once
#include "python/convert.h"

namespace tenon::python {

void bind_singletons(nb::module_& module);
/// Whether a type is one of these.
bool is_singleton(PyTypeObject* type) noexcept;
/// tenon.OutOfMemoryError.
PyObject* out_of_memory_error();
/// tenon.linalg.LinAlgError.
PyObject* linalg_error();

}  // namespace tenon::python
