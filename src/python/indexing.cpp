// x[...] and x[...] = value: converts a key to a list of indices for the engine.
#include <atomic>
#include <memory_resource>
#include <vector>

#include "python/exchange.h"
#include "python/object.h"
#include "python/values.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon::python {
namespace {

bool is_plain_integer(PyObject* object) { return PyLong_Check(object) && !PyBool_Check(object); }

/// A part that is left out has the value that stands for it.
Slice slice_of(PyObject* object) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(object, &start, &stop, &step) == 0) return {start, stop, step};
  if (step != 0 || !PyErr_ExceptionMatches(PyExc_ValueError)) throw PythonError{};
  // A step of zero is the engine's to report: an entry before it may be out of bounds.
  PyErr_Clear();
  return {0, 0, 0};
}

/// The number of dims that an entry of a key indexes.
int64_t named_dims(PyObject* entry) {
  if (is_plain_integer(entry) || PySlice_Check(entry)) return 1;
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
    for (Py_ssize_t i = 0; i < NB_TUPLE_GET_SIZE(key); ++i) named += named_dims(NB_TUPLE_GET_ITEM(key, i));
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
    const bool is_tuple = PyTuple_Check(key);
    const Py_ssize_t count = is_tuple ? NB_TUPLE_GET_SIZE(key) : 1;
    indices_.reserve(static_cast<std::size_t>(count));
    for (Py_ssize_t i = 0; i < count; ++i) add(is_tuple ? NB_TUPLE_GET_ITEM(key, i) : key);
  }
  const std::pmr::vector<Index>& indices() const { return indices_; }

 private:
  void add(PyObject* entry) {
    if (is_plain_integer(entry)) {  // before is_array, which looks for NumPy
      indices_.emplace_back(integer_of(entry));
      return;
    }
    if (entry == Py_None)
      indices_.emplace_back(None);
    else if (entry == Py_Ellipsis)
      indices_.emplace_back(Ellipsis);
    else if (PyBool_Check(entry))
      indices_.emplace_back(truth_tensor(entry == Py_True));
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
      indices_.emplace_back(own(tensor));
  }
  void add_list(PyObject* list) { indices_.emplace_back(own(as_index(tensor_of_values(list, {})))); }
  /// Converts the values of a list or array to an index of integers.
  static Tensor as_index(const Tensor& values) {
    return values.dtype() == bool_ || values.dtype() == uint8 ? values : values.to(int64);
  }

  /// A tensor that lives as long as the key.
  const Tensor& own(Tensor tensor) {
    if (owned_.capacity() == 0) owned_.reserve(indices_.capacity());  // one for each entry: none moves
    return owned_.emplace_back(std::move(tensor));
  }

  static constexpr std::size_t kOnStack = 6;  // entries
  alignas(Index) std::byte memory_[kOnStack * sizeof(Index)];
  std::pmr::monotonic_buffer_resource resource_{memory_, sizeof(memory_)};
  std::pmr::vector<Index> indices_{&resource_};
  std::vector<Tensor> owned_;
};

// --- Slices that go back: `x[::-1]`. No strides are negative, so the elements are copied. PyTorch refuses them; the
// array API and Dask ask for them.

std::atomic<int> users_of_backward_slices = 0;

bool goes_back(PyObject* entry) { return PySlice_Check(entry) && slice_of(entry).step < 0; }
bool has_backward_slice(PyObject* key) {
  if (users_of_backward_slices == 0) return false;
  if (!PyTuple_Check(key)) return goes_back(key);
  for (Py_ssize_t i = 0; i < PyTuple_Size(key); ++i)
    if (goes_back(NB_TUPLE_GET_ITEM(key, i))) return true;
  return false;
}

/// The number of dims that an entry of any kind indexes.
int64_t indexed_dims(PyObject* entry) {
  if (PySlice_Check(entry) || is_integer(entry) || is_tensor(entry) || named_dims(entry) == 0) return named_dims(entry);
  const Tensor values = is_array(entry) ? tensor_from_array(entry) : tensor_of_values(entry, {});
  return values.dtype() == bool_ || values.dtype() == uint8 ? values.dim() : 1;
}

/// The elements that the backward slices of a key name, in the order of memory; the dims to turn around; what is left
/// of the key.
struct Forward {
  Tensor part;
  Dims dims;
  nb::object rest;
};

/// A part of a dim that holds the elements of a slice that goes back.
Tensor forward_part(const Tensor& self, int64_t dim, PyObject* slice) {
  Py_ssize_t start = 0, stop = 0, step = 0;
  if (PySlice_Unpack(slice, &start, &stop, &step) < 0) throw PythonError{};
  const Py_ssize_t count = PySlice_AdjustIndices(self.size(dim), &start, &stop, step);
  if (count == 0) return self.slice(dim, 0, 0, 1);
  // exact: the last place lies in the dim, and no step is below -PY_SSIZE_T_MAX
  return self.slice(dim, start + (count - 1) * step, start + 1, -step);
}

Forward forward_of(const Tensor& self, PyObject* key) {
  const nb::tuple entries = PyTuple_Check(key) ? nb::borrow<nb::tuple>(key) : nb::make_tuple(nb::handle(key));
  int64_t named = 0, dim = 0;
  for (nb::handle entry : entries) named += indexed_dims(entry.ptr());
  Forward result{self, {}, nb::none()};
  nb::list rest;
  for (nb::handle entry : entries) {
    if (goes_back(entry.ptr())) {
      result.part = forward_part(result.part, dim, entry.ptr());
      result.dims.push_back(dim);
      rest.append(checked_object(PySlice_New(nullptr, nullptr, nullptr)));
    } else {
      rest.append(entry);
    }
    dim += entry.ptr() == Py_Ellipsis ? self.dim() - named : indexed_dims(entry.ptr());
  }
  result.rest = nb::tuple(rest);
  return result;
}

Tensor index_of(const Tensor& self, PyObject* key) {
  if (self.dim() > 0 && has_backward_slice(key)) {
    const Forward forward = forward_of(self, key);
    return index_of(flip(forward.part, forward.dims), forward.rest.ptr());
  }
  const Key parsed(key);
  const GilRelease released(self.numel() >= kReleaseNumel);
  return self.index(parsed.indices().data(), static_cast<int64_t>(parsed.indices().size()));
}

/// The signed dtype of the same size: elements of uint16, uint32 and uint64 are moved as its elements.
Dtype signed_of(Dtype dtype) { return dtype == uint16 ? int16 : dtype == uint32 ? int32 : int64; }

void put_at(Tensor& self, PyObject* key, const Tensor& value) {
  if (is_wide_unsigned(self.dtype()) && value.dtype() == self.dtype()) {
    Tensor bits = self.view(signed_of(self.dtype()));
    return put_at(bits, key, value.view(bits.dtype()));
  }
  if (self.dim() > 0 && has_backward_slice(key)) {
    Forward forward = forward_of(self, key);
    Tensor turned = flip(forward.part, forward.dims);
    put_at(turned, forward.rest.ptr(), value);
    forward.part.copy_(flip(turned, forward.dims));
    return;
  }
  const Key parsed(key);
  const GilRelease released(self.numel() >= kReleaseNumel);
  self.index_put_(parsed.indices().data(), static_cast<int64_t>(parsed.indices().size()), value);
}

Tensor sliced(const Tensor& self, const Slice& range) { return self.slice(0, range.start, range.stop, range.step); }

PyObject* get_item(PyObject* self, PyObject* key) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (is_plain_integer(key)) return wrap(tensor[integer_of(key)]);
    if (PySlice_Check(key) && users_of_backward_slices == 0) return wrap(sliced(tensor, slice_of(key)));
    const nb::object meant = tuple_where_meant(key);
    check_count(tensor, meant.ptr());
    return wrap(index_of(tensor, meant.ptr()));
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
    put_at(tensor, key == Py_True ? Py_None : meant.ptr(), given);
    return 0;
  });
}

}  // namespace

void bind_indexing(nb::module_& module) {
  module.def("_use_backward_slices", [](int users) { users_of_backward_slices += users; });
}

void add_index_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_mp_subscript, reinterpret_cast<void*>(get_item)});
  slots.push_back({Py_mp_ass_subscript, reinterpret_cast<void*>(set_item)});
}

}  // namespace tenon::python
