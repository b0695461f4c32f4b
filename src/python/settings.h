// python: adds the settings of a process or thread to the module: default dtype, threads, printing, broadcast policy,
// warnings.
#pragma once
#include "python/convert.h"

namespace tenon::python {
void bind_settings(nb::module_& module);
}  // namespace tenon::python
