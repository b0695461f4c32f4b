// python: recorded operations as objects. A class a kind, made when the first is asked for: `<AddBackward0 object
// ...>`.
#pragma once
#include "python/references.h"
#include "tenon/autograd.h"

namespace tenon::python {

/// None where there is none; of a custom function its context.
PyObject* to_python(const autograd::Node& node);
/// ((node, which of its results), ...), one an input.
nb::object next_functions(const autograd::Node& node);
void bind_nodes(nb::module_& module);

}  // namespace tenon::python
