// python: custom functions (autograd.Function). Takes a context and arguments; runs forward without recording and makes
// the context the grad_fn of the results.
#pragma once
#include "python/convert.h"

namespace tenon::autograd {
class NodeImpl;
}

namespace tenon::python {

/// The context of a custom function's node (a borrowed reference); null for other nodes.
PyObject* function_context(const autograd::NodeImpl* node) noexcept;
void bind_function(nb::module_& module);

}  // namespace tenon::python
