// python: adds the type Generator and the default generator to the module.
#pragma once
#include "python/convert.h"
#include "tenon/factories.h"
#include "tenon/random.h"

namespace tenon::python {
void bind_random(nb::module_& module);
bool is_generator(PyObject* object) noexcept;
Generator& generator_of(PyObject* object);
}  // namespace tenon::python
