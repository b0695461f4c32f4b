// python: functions with a derivative of the user's. Takes a context, made by Python's Function, and arguments; runs
// forward unrecorded and makes the context the node of what comes out.
#pragma once
#include "python/convert.h"

namespace tenon::autograd {
class NodeImpl;
}

namespace tenon::python {

/// The context of a custom function's node, borrowed; null for other nodes.
PyObject* function_context(const autograd::NodeImpl* node) noexcept;
void bind_function(nb::module_& module);

}  // namespace tenon::python
