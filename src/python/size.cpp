// tenon.Size: a tuple of sizes with numel().
#include "python/size.h"
#include "python/convert.h"
#include "tenon/shape.h"

namespace tenon::python {
namespace {

PyObject* numel(PyObject* self, PyObject*) noexcept {
  return guarded([&] { return checked(PyLong_FromLongLong(numel_of(dims_of(self)))); });
}

PyObject* repr(PyObject* self) noexcept {
  return guarded([&] {
    const std::string text = "tenon.Size(" + to_string(dims_of(self)) + ")";
    return checked(PyUnicode_FromString(text.c_str()));
  });
}

/// Converts a tuple to a Size.
PyObject* as_size(PyObject* result) {
  const nb::object tuple = checked_object(result);
  if (!PyTuple_CheckExact(tuple.ptr())) return nb::object(tuple).release().ptr();
  return checked(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(size_type), tuple.ptr(), nullptr));
}

template <class Slot>
Slot tuple_slot(int id) {
  return reinterpret_cast<Slot>(PyType_GetSlot(&PyTuple_Type, id));
}

PyObject* concatenated(PyObject* self, PyObject* other) noexcept {
  return guarded([&] { return as_size(tuple_slot<binaryfunc>(Py_sq_concat)(self, other)); });
}
/// `(3,) + size` gives a Size, not a tuple.
PyObject* added(PyObject* left, PyObject* right) noexcept {
  if (!PyTuple_Check(left)) return again(Py_NotImplemented);
  return guarded([&] {
    if (!PyTuple_Check(right))
      throw TypeError("can only concatenate tuple (not " + type_name(right) + ") to torch.Size");
    return concatenated(left, right);
  });
}
PyObject* repeated(PyObject* self, Py_ssize_t times) noexcept {
  return guarded([&] { return as_size(tuple_slot<ssizeargfunc>(Py_sq_repeat)(self, times)); });
}
PyObject* item(PyObject* self, PyObject* key) noexcept {
  return guarded([&] { return as_size(tuple_slot<binaryfunc>(Py_mp_subscript)(self, key)); });
}

/// Makes a Size; all items must be integers.
PyObject* create(PyTypeObject* type, PyObject* args, PyObject* keywords) noexcept {
  return guarded([&] {
    nb::object self = checked_object(tuple_slot<newfunc>(Py_tp_new)(type, args, keywords));
    for (Py_ssize_t i = 0; i < PyTuple_Size(self.ptr()); ++i) {
      PyObject* size = NB_TUPLE_GET_ITEM(self.ptr(), i);
      if (PyLong_CheckExact(size)) continue;
      if (!PyIndex_Check(size))
        throw TypeError("torch.Size() takes an iterable of 'int' (item " + std::to_string(i) + " is '" +
                        type_name(size) + "')");
      NB_TUPLE_SET_ITEM(self.ptr(), i, checked(PyNumber_Index(size)));
      Py_DECREF(size);
    }
    return self.release().ptr();
  });
}

PyObject* reduce(PyObject* self, PyObject*) noexcept {
  return guarded([&] {
    const nb::object tuple = checked_object(PySequence_Tuple(checked_object(PySequence_List(self)).ptr()));
    return nb::make_tuple(nb::borrow(reinterpret_cast<PyObject*>(size_type)), nb::make_tuple(tuple)).release().ptr();
  });
}

PyMethodDef methods[] = {{"numel", numel, METH_NOARGS, "numel($self, /)\n--\n\nThe number of elements of this shape."},
                         {"__reduce__", reduce, METH_NOARGS, nullptr},
                         {}};

}  // namespace

void bind_size(nb::module_& module) {
  PyType_Slot slots[] = {{Py_tp_base, &PyTuple_Type},
                         {Py_tp_doc, const_cast<char*>("The shape of a tensor: a tuple of its sizes.")},
                         {Py_tp_new, reinterpret_cast<void*>(create)},
                         {Py_tp_repr, reinterpret_cast<void*>(repr)},
                         {Py_tp_methods, methods},
                         {Py_nb_add, reinterpret_cast<void*>(added)},
                         {Py_sq_concat, reinterpret_cast<void*>(concatenated)},
                         {Py_sq_repeat, reinterpret_cast<void*>(repeated)},
                         {Py_mp_subscript, reinterpret_cast<void*>(item)},
                         {0, nullptr}};
  PyType_Spec spec{"tenon.Size", 0, 0, Py_TPFLAGS_DEFAULT, slots};
  size_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
  module.attr("Size") = nb::borrow(reinterpret_cast<PyObject*>(size_type));
}

}  // namespace tenon::python
