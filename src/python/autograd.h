// python: differentiation. Takes tensors that require grad; gives backward, grad, hooks, modes and checks.
#pragma once
#include "python/convert.h"

namespace tenon::python {

void bind_autograd(nb::module_& module);

}  // namespace tenon::python
