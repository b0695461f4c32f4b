#include "python/convert.h"

#include <array>
#include <cstring>
#include <new>
#include <stdexcept>

#include "python/dtype_objects.h"
#include "tenon/error.h"

namespace tenon::python {

PyTypeObject* tensor_type = nullptr;
PyTypeObject* size_type = nullptr;

// --- Errors

namespace {

PyObject* out_of_memory_type() {
  static PyObject* type = PyErr_NewException("tenon.OutOfMemoryError", PyExc_RuntimeError, nullptr);
  return type;
}

PyObject* linalg_error_type() {
  static PyObject* type = PyErr_NewException("tenon.linalg.LinAlgError", PyExc_RuntimeError, nullptr);
  return type;
}

/// Raises the exception with the Error's notes.
void raise_with_notes(PyObject* type, const Error& error) noexcept {
  PyObject* text = PyUnicode_DecodeUTF8(error.what(), static_cast<Py_ssize_t>(std::strlen(error.what())), "replace");
  if (!text) return;
  PyErr_SetObject(type, text);
  Py_DECREF(text);
  if (error.notes().empty()) return;
  PyObject *kind = nullptr, *value = nullptr, *traceback = nullptr;
  PyErr_Fetch(&kind, &value, &traceback);
  PyErr_NormalizeException(&kind, &value, &traceback);
  for (const std::string& note : error.notes()) {
    PyObject* added = PyObject_CallMethod(value, "add_note", "s", note.c_str());
    if (!added) PyErr_Clear();  // the error itself matters more than its notes
    Py_XDECREF(added);
  }
  PyErr_Restore(kind, value, traceback);
}

}  // namespace

void raise_current() noexcept {
  try {
    throw;
  } catch (const PythonError&) {
  } catch (nb::python_error& error) {
    error.restore();
  } catch (const IndexError& error) {
    raise_with_notes(PyExc_IndexError, error);
  } catch (const ValueError& error) {
    raise_with_notes(PyExc_ValueError, error);
  } catch (const TypeError& error) {
    raise_with_notes(PyExc_TypeError, error);
  } catch (const NotImplementedError& error) {
    raise_with_notes(PyExc_NotImplementedError, error);
  } catch (const OutOfMemoryError& error) {
    raise_with_notes(out_of_memory_type(), error);
  } catch (const LinAlgError& error) {
    raise_with_notes(linalg_error_type(), error);
  } catch (const Error& error) {
    raise_with_notes(PyExc_RuntimeError, error);
  } catch (const std::bad_alloc&) {
    PyErr_NoMemory();
  } catch (const std::length_error&) {
    PyErr_NoMemory();
  } catch (const nb::cast_error& error) {
    // A failure, such as a text that is not UTF-8, has set Python's own error.
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_TypeError, error.what());
  } catch (const std::exception& error) {
    if (!PyErr_Occurred()) PyErr_SetString(PyExc_SystemError, error.what());
  }
}

PyObject* out_of_memory_error() { return out_of_memory_type(); }
PyObject* linalg_error() { return linalg_error_type(); }

// --- Tensors

PyObject* wrap(Tensor tensor) {
  PyObject* object = nb::inst_alloc(nb::handle(reinterpret_cast<PyObject*>(tensor_type))).release().ptr();
  new (nb::inst_ptr<Tensor>(object)) Tensor(std::move(tensor));
  nb::inst_mark_ready(object);
  return object;
}

// --- Numbers

PyTypeObject* numpy_type(const char* name, std::atomic<PyObject*>& known) noexcept {
  if (PyObject* type = known.load(std::memory_order_acquire)) return reinterpret_cast<PyTypeObject*>(type);
  PyObject* modules = PyImport_GetModuleDict();
#ifdef NB_FREE_THREADED
  PyObject* numpy = nullptr;
  if (modules && PyDict_GetItemStringRef(modules, "numpy", &numpy) < 0) PyErr_Clear();
#else
  PyObject* numpy = modules ? PyDict_GetItemString(modules, "numpy") : nullptr;
  Py_XINCREF(numpy);
#endif
  if (!numpy) return nullptr;
  PyObject* type = PyObject_GetAttrString(numpy, name);
  Py_DECREF(numpy);
  if (!type) PyErr_Clear();  // NumPy's import has not finished
  if (type && !PyType_Check(type)) Py_CLEAR(type);
  if (type) known.store(type, std::memory_order_release);  // never released
  return reinterpret_cast<PyTypeObject*>(type);
}

bool is_numpy_scalar(PyObject* object) noexcept {
  static std::atomic<PyObject*> known{nullptr};
  PyTypeObject* generic = numpy_type("generic", known);
  // Not isinstance, which trusts an object's __class__.
  return generic && PyType_IsSubtype(Py_TYPE(object), generic) != 0;
}

namespace {
/// Calls __index__: an object whose __index__ raises is not an integer.
bool has_index(PyObject* object) noexcept {
  if (PyBool_Check(object) || !PyIndex_Check(object)) return false;
  PyObject* index = PyNumber_Index(object);
  if (!index) PyErr_Clear();
  Py_XDECREF(index);
  return index != nullptr;
}
}  // namespace

bool is_number(PyObject* object) noexcept {
  if (PyFloat_Check(object) || PyLong_Check(object) || PyComplex_Check(object)) return true;
  return !is_tensor(object) && is_numpy_scalar(object);
}
bool is_integer(PyObject* object) noexcept {
  if (PyLong_Check(object)) return !PyBool_Check(object);
  return !is_tensor(object) && has_index(object);
}
bool is_float(PyObject* object) noexcept {
  return PyFloat_Check(object) || (PyLong_Check(object) && !PyBool_Check(object)) ||
         (!is_tensor(object) && is_numpy_scalar(object));
}

namespace {

int64_t checked_long(PyObject* integer) {
  const long long value = PyLong_AsLongLong(integer);
  if (value == -1 && PyErr_Occurred()) {
    if (!PyErr_ExceptionMatches(PyExc_OverflowError)) throw PythonError{};
    PyErr_Clear();
    throw ValueError("Overflow when unpacking long long");
  }
  return value;
}

/// An integer above int64's range, as a uint64. OverflowError if it does not fit either.
Scalar wide_of(PyObject* integer) {
  PyErr_Clear();
  const unsigned long long value = PyLong_AsUnsignedLongLong(integer);
  if (PyErr_Occurred()) throw PythonError{};
  return Scalar(static_cast<uint64_t>(value));
}

/// Converts a NumPy scalar to a Python number first.
Scalar numpy_scalar_of(PyObject* object) {
  const nb::object item = checked_object(PyObject_CallMethod(object, "item", nullptr));
  if (!PyFloat_Check(item.ptr()) && !PyLong_Check(item.ptr()) && !PyComplex_Check(item.ptr()))
    throw TypeError("must be a real number, not " + type_name(object));
  return scalar_of(item.ptr());
}

}  // namespace

Scalar scalar_of(PyObject* object) {
  if (PyBool_Check(object)) return Scalar(object == Py_True);
  if (PyLong_Check(object)) {
    const long long value = PyLong_AsLongLong(object);
    if (value == -1 && PyErr_Occurred()) return wide_of(object);
    return Scalar(static_cast<int64_t>(value));
  }
  if (PyFloat_Check(object)) return Scalar(PyFloat_AsDouble(object));
  if (PyComplex_Check(object))
    return Scalar(Complex128{PyComplex_RealAsDouble(object), PyComplex_ImagAsDouble(object)});
  if (is_tensor(object)) return tensor_of(object).item();
  return numpy_scalar_of(object);
}

int64_t integer_of(PyObject* object) {
  if (PyLong_Check(object)) return checked_long(object);
  if (is_tensor(object)) {
    const Scalar number = tensor_of(object).item();
    return number.is_wide() || number.is_complex() ? number.to<int64_t>() : number.as_int64();
  }
  return checked_long(checked_object(PyNumber_Index(object)).ptr());
}

double float_of(PyObject* object) {
  if (!PyLong_Check(object)) return scalar_of(object).to<double>();
  const double value = PyLong_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return value;
}

PyObject* to_python(Scalar number) {
  if (number.is_boolean()) return PyBool_FromLong(number.as_bool());
  if (number.is_complex()) return checked(PyComplex_FromDoubles(number.as_complex().re, number.as_complex().im));
  if (number.is_wide()) return checked(PyLong_FromUnsignedLongLong(static_cast<uint64_t>(number.as_int64())));
  return checked(number.is_floating() ? PyFloat_FromDouble(number.as_double())
                                      : PyLong_FromLongLong(number.as_int64()));
}

// --- Sizes

namespace {
PyObject* tuple_of(PyTypeObject* type, SizesView values) {
  const auto allocate = reinterpret_cast<allocfunc>(PyType_GetSlot(type, Py_tp_alloc));
  PyObject* tuple = type == &PyTuple_Type ? PyTuple_New(values.size()) : allocate(type, values.size());
  checked(tuple);
  for (int64_t i = 0; i < values.size(); ++i) {
    PyObject* value = PyLong_FromLongLong(values[i]);
    NB_TUPLE_SET_ITEM(tuple, i, value);
    if (value) continue;
    Py_DECREF(tuple);
    throw PythonError{};
  }
  return tuple;
}
}  // namespace

PyObject* to_size(SizesView sizes) { return tuple_of(size_type, sizes); }
PyObject* to_tuple(SizesView values) { return tuple_of(&PyTuple_Type, values); }

Dims dims_of(PyObject* object) {
  if (is_integer(object)) return Dims{integer_of(object)};
  const nb::object sequence = checked_object(PySequence_Tuple(object));
  Dims dims;
  for (Py_ssize_t i = 0; i < PyTuple_Size(sequence.ptr()); ++i)
    dims.push_back(integer_of(NB_TUPLE_GET_ITEM(sequence.ptr(), i)));
  return dims;
}

// --- Texts

bool is_text(PyObject* object) noexcept { return PyUnicode_Check(object) || PyBytes_Check(object); }

std::string_view utf8_of(PyObject* object) {
  if (PyBytes_Check(object)) {
    const Py_ssize_t length = PyBytes_Size(object);
    const std::string_view text(PyBytes_AsString(object), static_cast<std::size_t>(length));
    checked_object(PyUnicode_DecodeUTF8(text.data(), length, nullptr));  // throws if it is no UTF-8
    return text;
  }
  Py_ssize_t length;
  const char* text = PyUnicode_AsUTF8AndSize(object, &length);
  return text ? std::string_view(text, static_cast<std::size_t>(length)) : throw PythonError{};
}
std::string_view utf8_of_argument(PyObject* object) {
  try {
    return utf8_of(object);
  } catch (const PythonError&) {
    if (PyBytes_Check(object) || PyErr_ExceptionMatches(PyExc_MemoryError)) throw;
    PyErr_Clear();
    throw Error("error unpacking string as utf-8");
  }
}

// --- Names

std::string type_name(PyObject* object) {
  PyTypeObject* type = Py_TYPE(object);
  const nb::object name = checked_object(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__name__"));
  const std::string plain = nb::cast<std::string>(name);
  if (type == tensor_type) return plain;
  if (type == size_type || is_singleton(type)) return "torch." + plain;
  if (PyType_GetFlags(type) & Py_TPFLAGS_HEAPTYPE) return plain;
  const nb::object module = checked_object(PyObject_GetAttrString(reinterpret_cast<PyObject*>(type), "__module__"));
  const std::string place = nb::isinstance<nb::str>(module) ? nb::cast<std::string>(module) : "builtins";
  return place == "builtins" ? plain : place + "." + plain;
}

}  // namespace tenon::python
