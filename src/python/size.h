// python: takes the module; adds the type Size to it.
#pragma once
#include "python/convert.h"

namespace tenon::python {
void bind_size(nb::module_& module);
}  // namespace tenon::python
