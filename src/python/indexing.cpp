// x[...] and x[...] = value: converts a key to a list of indices for the engine.
#include <deque>
#include <vector>

#include "python/exchange.h"
#include "python/object.h"
#include "python/values.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon::python {
namespace {

bool is_plain_integer(PyObject* object) { return PyLong_Check(object) && !PyBool_Check(object); }

std::optional<int64_t> bound_of(PyObject* object) {
  if (object == Py_None) return std::nullopt;
  if (!is_integer(object) && !is_tensor(object))
    throw TypeError("slice indices must be integers or None or have an __index__ method");
  if (!PyLong_Check(object)) return integer_of(object);
  int overflow = 0;  // a bound outside int64 is clamped, as in Python
  const long long value = PyLong_AsLongLongAndOverflow(object, &overflow);
  return overflow ? (overflow > 0 ? INT64_MAX : INT64_MIN + 1) : value;
}

Slice slice_of(PyObject* object) {
  const nb::handle slice(object);
  const nb::object start = slice.attr("start"), stop = slice.attr("stop"), step = slice.attr("step");
  return {bound_of(start.ptr()), bound_of(stop.ptr()), bound_of(step.ptr()).value_or(1)};
}

/// The number of dims that an entry of a key indexes.
int64_t named_dims(PyObject* entry) {
  if (entry == Py_None || entry == Py_Ellipsis || PyBool_Check(entry)) return 0;
  if (!is_tensor(entry)) return 1;
  const Tensor& tensor = tensor_of(entry);
  return tensor.dtype() == bool_ || tensor.dtype() == uint8 ? tensor.dim() : 1;
}

/// Checks the number of entries first. PyTorch has special texts for a single integer or slice.
void check_count(const Tensor& self, PyObject* key) {
  int64_t named = 0;
  if (!PyTuple_Check(key))
    named = PySlice_Check(key) || is_integer(key) ? 0 : named_dims(key);
  else
    for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i) named += named_dims(NB_TUPLE_GET_ITEM(key, i));
  if (named > self.dim()) throw IndexError("too many indices for tensor of dimension " + std::to_string(self.dim()));
}

/// Whether PyTorch treats a list like a tuple: it is short, and an entry could not be in a list of numbers.
bool stands_for_tuple(PyObject* key) {
  constexpr Py_ssize_t kLongest = 31;
  if (PyTuple_Check(key) || is_tensor(key) || is_array(key) || !PySequence_Check(key)) return false;
  const Py_ssize_t length = PySequence_Size(key);
  if (length < 0) PyErr_Clear();
  if (length > kLongest) return false;
  for (Py_ssize_t i = 0; i < length; ++i) {
    const nb::object entry = nb::steal(PySequence_GetItem(key, i));
    if (!entry.is_valid()) {
      PyErr_Clear();
      return false;
    }
    PyObject* item = entry.ptr();
    if (is_tensor(item) || PySequence_Check(item) || PySlice_Check(item) || item == Py_Ellipsis || item == Py_None)
      return true;
  }
  return false;
}

nb::object tuple_where_meant(PyObject* key) {
  if (!stands_for_tuple(key)) return nb::borrow(key);
  warn("UserWarning",
       "Using a non-tuple sequence for multidimensional indexing is deprecated and will be changed in pytorch 2.9; use "
       "x[tuple(seq)] instead of x[seq]. In pytorch 2.9 this will be interpreted as tensor index, "
       "x[torch.tensor(seq)], which will result either in an error or a different result");
  return checked_object(PySequence_Tuple(key));
}

/// A key as a list of indices. Owns the tensors that were made from lists and arrays.
class Key {
 public:
  explicit Key(PyObject* key) {
    if (PyTuple_Check(key))
      for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i) add(NB_TUPLE_GET_ITEM(key, i));
    else
      add(key);
  }
  const std::vector<Index>& indices() const { return indices_; }

 private:
  void add(PyObject* entry) {
    if (entry == Py_None)
      indices_.emplace_back(None);
    else if (entry == Py_Ellipsis)
      indices_.emplace_back(Ellipsis);
    else if (PyBool_Check(entry))
      indices_.emplace_back(owned_.emplace_back(full({}, entry == Py_True, bool_)));
    else if (PySlice_Check(entry))
      indices_.emplace_back(slice_of(entry));
    else if (is_tensor(entry))
      add_tensor(tensor_of(entry));
    else if (is_array(entry))
      add_tensor(as_index(tensor_from_array(entry)));
    else if (is_integer(entry))
      indices_.emplace_back(integer_of(entry));
    else if (PySequence_Check(entry))
      add_list(entry);
    else
      throw IndexError(
          "only integers, slices (`:`), ellipsis (`...`), None and long or byte Variables are valid indices (got " +
          type_name(entry) + ")");
  }
  /// Adds a tensor. A 0-dim integer tensor is an integer, except uint8, which is a mask.
  void add_tensor(const Tensor& tensor) {
    if (tensor.dim() == 0 && is_integral(tensor.dtype()) && tensor.dtype() != uint8)
      indices_.emplace_back(tensor.item().as_int64());
    else
      indices_.emplace_back(owned_.emplace_back(tensor));
  }
  void add_list(PyObject* list) { indices_.emplace_back(owned_.emplace_back(as_index(tensor_of_values(list, {})))); }
  /// Converts the values of a list or array to an index of integers.
  static Tensor as_index(const Tensor& values) {
    return values.dtype() == bool_ || values.dtype() == uint8 ? values : values.to(int64);
  }

  std::deque<Tensor> owned_;
  std::vector<Index> indices_;
};

PyObject* get_item(PyObject* self, PyObject* key) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (is_plain_integer(key)) return wrap(tensor[integer_of(key)]);
    const nb::object meant = tuple_where_meant(key);
    check_count(tensor, meant.ptr());
    const Key parsed(meant.ptr());
    Tensor result;
    {
      const GilRelease released(tensor.numel() >= kReleaseNumel);
      result = tensor.index(parsed.indices().data(), static_cast<int64_t>(parsed.indices().size()));
    }
    return wrap(std::move(result));
  });
}

}  // namespace

Tensor value_of(PyObject* value, const Tensor& self) {
  if (is_tensor(value)) return tensor_of(value);
  if (is_array(value)) return tensor_from_array(value);
  if (PyLong_CheckExact(value)) return full({}, integer_of(value), self.dtype());
  if (is_number(value)) return full({}, scalar_of(value), self.dtype());
  throw TypeError("can't assign a " + type_name(value) + " to a torch." + scalar_type_name(self.dtype()) + "Tensor");
}

namespace {

int set_item(PyObject* self, PyObject* key, PyObject* value) noexcept {
  return guarded_int([&] {
    if (!value) throw TypeError("Tensor does not support deleting items");
    Tensor& tensor = tensor_of(self);
    const Tensor given = value_of(value, tensor);
    // A single bool: a new dim, or for False nothing to write.
    if (key == Py_False) return 0;
    const nb::object meant = tuple_where_meant(key);
    check_count(tensor, meant.ptr());
    const Key parsed(key == Py_True ? Py_None : meant.ptr());
    const GilRelease released(tensor.numel() >= kReleaseNumel);
    tensor.index_put_(parsed.indices().data(), static_cast<int64_t>(parsed.indices().size()), given);
    return 0;
  });
}

}  // namespace

void add_index_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, reinterpret_cast<void*>(get_item)});
  slots.push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)});
}

}  // namespace tenon::python
