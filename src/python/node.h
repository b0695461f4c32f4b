// python: nodes as Python objects. Each kind of node has a class, made when it is first needed: `<AddBackward0 object
// ...>`.
#pragma once
#include "python/references.h"
#include "tenon/autograd.h"

namespace tenon::python {

/// The object of a node: None if undefined, the context for a custom function.
PyObject* to_python(const autograd::Node& node);
/// ((node, index of its result), ...), one pair for each input.
nb::object next_functions(const autograd::Node& node);
void bind_nodes(nb::module_& module);

}  // namespace tenon::python
