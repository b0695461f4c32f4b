// python: takes Python objects; gives tensors, numbers, sizes and dtypes, and the way back. What every other file of
// this room speaks.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>

#include <optional>
#include <string>

#include "tenon/tensor.h"
#include "tenon/threads.h"

namespace nb = nanobind;

namespace tenon::python {

/// A Python exception is set; whoever called from Python returns its failure value.
struct PythonError {};

/// Runs `body` and turns whatever it throws into the Python exception of its kind.
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
/// The same for slots that give 0, or -1 for a failure.
template <class Body>
int guarded_int(Body&& body) noexcept {
  try {
    return body();
  } catch (...) {
    raise_current();
    return -1;
  }
}
/// Passes an object on; PythonError when it is null.
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
/// A new Python object that holds the tensor.
PyObject* wrap(Tensor tensor);
/// `self` again, as an in-place method gives it.
inline PyObject* again(PyObject* self) noexcept {
  Py_INCREF(self);
  return self;
}

// --- Lists and tuples
/// By what they hold: a subclass may say anything of itself.
inline bool is_sequence(PyObject* object) noexcept { return PyTuple_Check(object) || PyList_Check(object); }
inline Py_ssize_t length_of(PyObject* sequence) noexcept {
  return PyTuple_Check(sequence) ? PyTuple_Size(sequence) : PyList_Size(sequence);
}
/// PythonError where the list has become shorter.
inline nb::object item_of(PyObject* sequence, Py_ssize_t at) {
  PyObject* item = PyTuple_Check(sequence) ? PyTuple_GetItem(sequence, at) : PyList_GetItem(sequence, at);
  return nb::borrow(checked(item));
}

// --- Numbers
/// Whether PyTorch takes it for a number: bool, int, float, NumPy's scalars.
bool is_number(PyObject* object) noexcept;
/// Whether it can be an int64: an int or what has __index__, but no bool.
bool is_integer(PyObject* object) noexcept;
bool is_float(PyObject* object) noexcept;
bool is_numpy_scalar(PyObject* object) noexcept;
/// A Python number, or a 0-dim tensor's element.
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

// --- Dtypes, devices, memory formats, layouts: one object each
PyObject* to_python(Dtype dtype);
PyObject* to_python(Device device);
std::optional<Dtype> as_dtype(PyObject* object) noexcept;
/// The same where there must be one: TypeError.
Dtype dtype_of(PyObject* object);
/// A device or a text, which may name none.
bool is_device(PyObject* object) noexcept;
std::optional<Device> as_device(PyObject* object);
std::optional<MemoryFormat> as_memory_format(PyObject* object) noexcept;
bool is_layout(PyObject* object) noexcept;

/// The name PyTorch's texts give a value's type: "int", "Tensor", "numpy.ndarray".
std::string type_name(PyObject* object);

/// Lets other Python threads run while the engine works, for work that is worth it. On the main thread Python's signal
/// handlers run all the same, within some 50 ms: what they raise ends the work, unless it is writing to an operand.
class GilRelease {
 public:
  explicit GilRelease(bool wanted) noexcept;
  ~GilRelease();
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  /// Takes the interpreter for as long as Python's signal handlers run. PythonError where one raised.
  void run_handlers();

 private:
  PyThreadState* state_;
  GilRelease* outer_ = nullptr;
  std::optional<InterruptGuard> guard_;
};

/// The interpreter, for a thread that may not have it.
class Held {
 public:
  Held() noexcept;
  ~Held() { PyGILState_Release(state_); }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;

 private:
  PyGILState_STATE state_;
};
/// Below this, giving the interpreter away costs more than it gains.
inline constexpr int64_t kReleaseNumel = 1 << 15;

}  // namespace tenon::python
