// python: constructors of the module's types. Python code can call a type's __new__ without its __init__, so __new__
// makes a complete object or raises.
#pragma once
#include <new>

#include "python/convert.h"

namespace tenon::python {

/// A tp_new that raises TypeError, for types whose objects only the module makes.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* keywords) noexcept;
inline PyType_Slot kRefuseNew[] = {{Py_tp_new, reinterpret_cast<void*>(refuse_new)}, {0, nullptr}};

/// A tp_new that makes a default `Object`.
template <class Object>
PyObject* default_new(PyTypeObject* type, PyObject*, PyObject*) noexcept {
  return guarded([&] {
    nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(type)));
    new (nb::inst_ptr<Object>(object)) Object;
    nb::inst_mark_ready(object);
    return object.release().ptr();
  });
}
/// A tp_init for types whose tp_new reads the arguments.
int ignore_arguments(PyObject* self, PyObject* args, PyObject* keywords) noexcept;

/// Sets a type's module to the package `tenon`, wherever it is defined.
void name_publicly(nb::handle type);

}  // namespace tenon::python
