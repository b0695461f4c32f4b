// python: dtypes, devices, memory formats and layouts as Python objects. Takes the module; gives it their types and the
// one object each value has.
#pragma once
#include "python/convert.h"

namespace tenon::python {

void bind_singletons(nb::module_& module);
/// Whether a type is one of these.
bool is_singleton(PyTypeObject* type) noexcept;
/// tenon.OutOfMemoryError.
PyObject* out_of_memory_error();

}  // namespace tenon::python
