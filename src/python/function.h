// python: custom functions (autograd.Function). Takes a context and arguments; runs forward without recording and makes
// the context the grad_fn of the results.
#pragma once
#include "python/convert.h"

namespace tenon::autograd {
class NodeImpl;
}

namespace tenon::python {

/// The context of a custom function's node; invalid for other nodes.
nb::object function_context(const autograd::NodeImpl* node) noexcept;
/// The same for the garbage collector, which may count no references: borrowed, or null.
PyObject* visited_context(const autograd::NodeImpl* node) noexcept;
void bind_function(nb::module_& module);

}  // namespace tenon::python
