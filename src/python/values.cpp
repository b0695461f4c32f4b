#include "python/values.h"

#include <vector>

#include "python/exchange.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon::python {
namespace {

constexpr int64_t kMaxDims = 128;

/// Whether an object is a nested sequence of numbers.
bool is_nested(PyObject* object) { return PySequence_Check(object) && !is_text(object); }

Py_ssize_t checked_length(PyObject* sequence) {
  const Py_ssize_t length = PySequence_Size(sequence);
  if (length < 0) throw PythonError{};
  return length;
}

/// The sizes, taken from the first entry of every level.
Dims sizes_of(PyObject* data) {
  Dims sizes;
  nb::object level = nb::borrow(data);
  while (is_nested(level.ptr())) {
    if (is_tensor(level.ptr()) || is_array(level.ptr())) {
      const Tensor inner = is_tensor(level.ptr()) ? tensor_of(level.ptr()) : tensor_from_array(level.ptr());
      for (int64_t size : inner.sizes()) sizes.push_back(size);
      break;
    }
    const Py_ssize_t length = checked_length(level.ptr());
    sizes.push_back(length);
    if (sizes.size() > kMaxDims) throw ValueError("too many dimensions '" + type_name(level.ptr()) + "'");
    if (length == 0) break;
    PyObject* first = PySequence_GetItem(level.ptr(), 0);
    if (!first) {
      PyErr_Clear();
      throw ValueError("could not determine the shape of object type '" + type_name(level.ptr()) + "'");
    }
    level = nb::steal(first);
    // The items of a str are str again, without end.
    if (PyUnicode_Check(level.ptr())) throw ValueError("too many dimensions 'str'");
  }
  return sizes;
}

Dtype dtype_of_values(PyObject* data, int64_t depth = 0) {
  if (PyFloat_Check(data)) return is_numpy_scalar(data) ? float64 : get_default_dtype();
  if (PyComplex_Check(data)) return is_numpy_scalar(data) ? complex128 : to_complex(get_default_dtype());
  if (PyBool_Check(data)) return bool_;
  if (PyLong_Check(data)) return int64;
  if (is_tensor(data)) return tensor_of(data).dtype();
  if (is_array(data)) return tensor_from_array(data).dtype();
  if (is_numpy_scalar(data)) {
    const nb::object array = nb::module_::import_("numpy").attr("asarray")(nb::handle(data));
    return tensor_from_array(array.ptr()).dtype();
  }
  if (is_text(data)) throw TypeError("new(): invalid data type '" + type_name(data) + "'");
  if (!is_nested(data)) throw Error("Could not infer dtype of " + type_name(data));
  const Py_ssize_t length = checked_length(data);
  if (length == 0) return get_default_dtype();
  if (depth > kMaxDims) throw ValueError("too many dimensions '" + type_name(data) + "'");
  std::optional<Dtype> common;
  for (Py_ssize_t i = 0; i < length; ++i) {
    const nb::object item = checked_object(PySequence_GetItem(data, i));
    if (item.ptr() == data) throw TypeError("new(): self-referential lists are incompatible");
    const Dtype dtype = dtype_of_values(item.ptr(), depth + 1);
    common = common ? promote_types(*common, dtype) : dtype;
  }
  return *common;
}

bool is_numpy_bool(PyObject* object) { return is_numpy_scalar(object) && type_name(object).starts_with("numpy.bool"); }

double double_of(PyObject* object) {
  const double value = PyFloat_AsDouble(object);
  if (value == -1 && PyErr_Occurred()) throw PythonError{};
  return value;
}
Complex128 complex_of(PyObject* object) {
  if (is_tensor(object)) return tensor_of(object).item().as_complex();
  // By the type's __complex__, or as a float.
  if (!PyComplex_Check(object) && !is_numpy_scalar(object)) return {double_of(object), 0};
  const nb::object number =
      checked_object(PyObject_CallFunctionObjArgs(reinterpret_cast<PyObject*>(&PyComplex_Type), object, nullptr));
  return {PyComplex_RealAsDouble(number.ptr()), PyComplex_ImagAsDouble(number.ptr())};
}
uint64_t unsigned_of(PyObject* object) {
  if (!PyLong_Check(object)) throw TypeError("an integer is required");
  const unsigned long long value = PyLong_AsUnsignedLongLong(object);
  if (PyErr_Occurred()) throw PythonError{};
  return value;
}
bool truth_of(PyObject* object) {
  if (!PyFloat_Check(object) && !PyLong_Check(object) && !PyComplex_Check(object) && !is_numpy_bool(object))
    return integer_of(object) != 0;
  const int truth = PyObject_IsTrue(object);
  if (truth < 0) throw PythonError{};
  return truth == 1;
}

/// Converts a Python number to an element. A floating dtype accepts what float() accepts (too large numbers become
/// infinity); an integer dtype accepts what it can hold.
template <class T>
T element_of(PyObject* object) {
  constexpr Dtype dtype = dtype_of_v<T>;
  if constexpr (is_complex_v<T>) return element_cast<T>(complex_of(object));
  if (is_floating_point(dtype)) return element_cast<T>(double_of(object));
  if (dtype == bool_) return element_cast<T>(truth_of(object));
  if (dtype == uint64) return element_cast<T>(unsigned_of(object));
  const Scalar value = PyFloat_Check(object) ? Scalar(double_of(object)) : Scalar(integer_of(object));
  if (overflows(value, dtype))
    throw Error(std::string("value cannot be converted to type ") + dtype_name(dtype) + " without overflow");
  return scalar_to<T>(value);
}

/// Writes the numbers in row-major order and returns the address behind the last.
template <class T>
T* store(T* out, PyObject* data, SizesView sizes, int64_t dim) {
  if (dim == sizes.size()) {
    *out = element_of<T>(data);
    return out + 1;
  }
  const nb::object level = nb::steal(PySequence_Fast(data, "not a sequence"));
  if (!level.ptr()) throw PythonError{};
  const Py_ssize_t length = checked_length(level.ptr());
  if (length != sizes[dim])
    throw ValueError("expected sequence of length " + std::to_string(sizes[dim]) + " at dim " + std::to_string(dim) +
                     " (got " + std::to_string(length) + ")");
  for (Py_ssize_t i = 0; i < length; ++i) {
    const nb::object item = checked_object(PySequence_GetItem(level.ptr(), i));
    out = store(out, item.ptr(), sizes, dim + 1);
  }
  return out;
}

nb::object new_list(int64_t size) {
  if (size < 0) throw ValueError("a dim of negative size has no list");
  return checked_object(PyList_New(size));
}

/// Fills nested lists, from the outermost to the innermost. Not recursive, because a tensor may have any number of
/// dims.
template <class T>
nb::object nested_list(const Tensor& tensor, const T* data) {
  if (tensor.dim() == 0) return nb::steal(to_python(to_scalar(*data)));
  const SizesView sizes = tensor.sizes(), strides = tensor.strides();
  const int64_t last = tensor.dim() - 1;
  struct Level {
    PyObject* list;  // owned by the list that contains it
    const T* data;
    int64_t filled;
  };
  std::vector<Level> levels;
  const nb::object outermost = new_list(sizes[0]);
  levels.push_back({outermost.ptr(), data, 0});
  while (!levels.empty()) {
    Level& level = levels.back();
    const int64_t dim = static_cast<int64_t>(levels.size()) - 1;
    if (level.filled == sizes[dim]) {
      levels.pop_back();
      continue;
    }
    // exact: inside the storage
    const T* entry = tensor.numel() > 0 ? level.data + level.filled * strides[dim] : data;
    if (dim == last) {
      NB_LIST_SET_ITEM(level.list, level.filled++, checked(to_python(to_scalar(*entry))));
      continue;
    }
    PyObject* inner = new_list(sizes[dim + 1]).release().ptr();
    NB_LIST_SET_ITEM(level.list, level.filled++, inner);
    levels.push_back({inner, entry, 0});
  }
  return outermost;
}

}  // namespace

Tensor tensor_of_values(PyObject* data, const Options& options) {
  if (is_array(data)) {
    const Tensor shared = tensor_from_array(data);
    const Tensor copy = shared.to(options.dtype.value_or(shared.dtype()), true);
    return copy.to(options.device.value_or(Device::cpu));
  }
  if (is_tensor(data)) {
    const Tensor copy = tensor_of(data).detach().to(options.dtype.value_or(tensor_of(data).dtype()), true);
    return copy.to(options.device.value_or(copy.device()));
  }
  if (is_text(data)) throw TypeError("new(): invalid data type '" + type_name(data) + "'");
  const Dims sizes = sizes_of(data);
  const Dtype dtype = options.dtype ? *options.dtype : dtype_of_values(data);
  Tensor result = empty(sizes, Options(dtype));
  if (result.numel() > 0) visit_dtype(dtype, [&]<class T>() { store(result.data<T>(), data, sizes, 0); });
  return result.to(options.device.value_or(Device::cpu));
}

PyObject* to_list(const Tensor& tensor) {
  if (tensor.is_meta()) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  return visit_dtype(tensor.dtype(), [&]<class T>() { return nested_list(tensor, tensor.data<T>()).release().ptr(); });
}

}  // namespace tenon::python
