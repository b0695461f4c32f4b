// python: conversions between Python objects and tensors, numbers, sizes and dtypes. Used by all files of this folder.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <atomic>
#include <optional>
#include <string>
#include <string_view>

#include "tenon/tensor.h"
#include "tenon/threads.h"

namespace nb = nanobind;

namespace tenon::python {

/// Thrown when a Python exception is set. The function that Python called returns its failure value.
struct PythonError {};

/// Sets the Python exception for the current C++ exception.
void raise_current() noexcept;
template <class Body>
PyObject* guarded(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    raise_current();
    return nullptr;
  }
}
/// The same for slots that return 0, or -1 on failure.
template <class Body>
int guarded_int(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    raise_current();
    return -1;
  }
}
/// Returns `object`; throws PythonError if it is null.
inline PyObject* checked(PyObject* object) {
  if (!object) throw PythonError{};
  return object;
}
inline nb::object checked_object(PyObject* object) { return nb::steal(checked(object)); }

// --- Tensors
extern PyTypeObject* tensor_type;
inline bool is_tensor(PyObject* object) noexcept {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type);
}
inline Tensor& tensor_of(PyObject* object) noexcept { return *nb::inst_ptr<Tensor>(object); }
/// A new Python object for the tensor.
PyObject* wrap(Tensor tensor);
/// A new reference to `self`, as in-place methods return it.
inline PyObject* again(PyObject* self) noexcept {
  Py_INCREF(self);
  return self;
}

// --- Lists and tuples
/// Subclasses count as their base: they may override methods, but not the items.
inline bool is_sequence(PyObject* object) noexcept { return PyTuple_Check(object) || PyList_Check(object); }
inline Py_ssize_t length_of(PyObject* sequence) noexcept {
  return PyTuple_Check(sequence) ? PyTuple_Size(sequence) : PyList_Size(sequence);
}
/// Throws PythonError if the list has become shorter.
inline nb::object item_of(PyObject* sequence, Py_ssize_t at) {
#ifdef NB_FREE_THREADED
  if (PyList_Check(sequence)) return checked_object(PyList_GetItemRef(sequence, at));
#endif
  PyObject* item = PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, at) : PyList_GetItem(sequence, at);
  return nb::borrow(checked(item));
}
/// What a dict has for a key; invalid if it has nothing.
inline nb::object value_in(PyObject* dict, PyObject* key) {
#ifdef NB_FREE_THREADED
  PyObject* value = nullptr;
  if (PyDict_GetItemRef(dict, key, &value) < 0) throw PythonError{};
  return nb::steal(value);
#else
  return nb::borrow(PyDict_GetItemWithError(dict, key));
#endif
}

// --- Numbers
/// Whether PyTorch accepts it as a number: bool, int, float, NumPy scalars.
bool is_number(PyObject* object) noexcept;
/// Whether it can be an int64: an int or an object with __index__, but not a bool.
bool is_integer(PyObject* object) noexcept;
bool is_float(PyObject* object) noexcept;
bool is_numpy_scalar(PyObject* object) noexcept;
/// A type of NumPy's; null before NumPy is imported: until then nothing is NumPy's. `known` keeps it.
PyTypeObject* numpy_type(const char* name, std::atomic<PyObject*>& known) noexcept;
/// A Python number, or the element of a 0-dim tensor.
Scalar scalar_of(PyObject* object);
int64_t integer_of(PyObject* object);
double float_of(PyObject* object);
PyObject* to_python(Scalar number);

// --- Sizes
extern PyTypeObject* size_type;
PyObject* to_size(SizesView sizes);
PyObject* to_tuple(SizesView values);
/// One integer or a sequence of them.
Dims dims_of(PyObject* object);

/// Whether it is a str, or bytes, which PyTorch takes for a str.
bool is_text(PyObject* object) noexcept;
/// Its text, as long as the object lives; a NUL follows.
std::string_view utf8_of(PyObject* object);
/// The same of an argument: PyTorch's Error for a string that has no UTF-8.
std::string_view utf8_of_argument(PyObject* object);

// --- Dtypes, devices, memory formats, layouts: one object each
PyObject* to_python(Dtype dtype);
PyObject* to_python(Device device);
std::optional<Dtype> as_dtype(PyObject* object) noexcept;
/// The same; TypeError if there is none.
Dtype dtype_of(PyObject* object);
/// A device or a text, which may be an invalid name.
bool is_device(PyObject* object) noexcept;
std::optional<Device> as_device(PyObject* object);
/// The device of factories that name none, if one was chosen.
std::optional<Device> default_device() noexcept;
std::optional<MemoryFormat> as_memory_format(PyObject* object) noexcept;
bool is_layout(PyObject* object) noexcept;

/// The name of a value's type in PyTorch's error texts: "int", "Tensor", "numpy.ndarray".
std::string type_name(PyObject* object);

/// Releases the GIL while the engine works. On the main thread Python's signal handlers still run about every 50 ms; an
/// exception that they raise ends the work, unless it is writing to an operand.
class GilRelease {
 public:
  explicit GilRelease(bool wanted) noexcept;
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  /// Holds the GIL while Python's signal handlers run. Throws PythonError if one raised.
  void run_handlers();

 private:
  PyThreadState* state_;
  GilRelease* outer_ = nullptr;
  std::optional<InterruptGuard> guard_;
};

/// Holds the GIL, for a thread that may not have it.
class Held {
 public:
  Held() noexcept;
  ~Held() { PyGILState_Release(state_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  PyGILState_STATE state_;
};
/// Below this size, releasing the GIL costs more than it gains. All cases of ./dev bench-python are below.
inline constexpr int64_t kReleaseNumel = 1 << 15;

}  // namespace tenon::python
