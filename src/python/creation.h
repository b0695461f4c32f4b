// python: how objects of the module's types come into being. Python can call a type's __new__ without its __init__, so
// what __new__ gives is a whole object, or __new__ refuses.
#pragma once
#include <new>

#include "python/convert.h"

namespace tenon::python {

/// A tp_new for types whose objects the module alone makes: TypeError.
PyObject* refuse_new(PyTypeObject* type, PyObject* args, PyObject* keywords) noexcept;
inline PyType_Slot kRefuseNew[] = {{Py_tp_new, reinterpret_cast<void*>(refuse_new)}, {0, nullptr}};

/// A tp_new that gives a default `Object`.
template <class Object>
PyObject* default_new(PyTypeObject* type, PyObject*, PyObject*) noexcept {
  return guarded([&] {
    nb::object object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(type)));
    new (nb::inst_ptr<Object>(object)) Object;
    nb::inst_mark_ready(object);
    return object.release().ptr();
  });
}
/// The tp_init beside a tp_new that has read the arguments.
int ignore_arguments(PyObject* self, PyObject* args, PyObject* keywords) noexcept;

/// A type that users see bears the name of the package, whichever file it lies in.
void name_publicly(nb::handle type);

}  // namespace tenon::python
