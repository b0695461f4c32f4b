// python: takes the module; adds what a process or a thread can set: default dtype, threads, printing, the policy of
// broadcasts, where warnings go.
#pragma once
#include "python/convert.h"

namespace tenon::python {
void bind_settings(nb::module_& module);
}  // namespace tenon::python
