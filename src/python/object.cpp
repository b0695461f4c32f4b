#include "python/object.h"

#include <vector>

#include "python/bindings.h"
#include "python/creation.h"
#include "python/size.h"
#include "python/values.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/history.h"

namespace tenon::python {

Tensor adjoint(const Tensor& self, const char* name, const char* warned) {
  if (self.dim() == 1)
    throw Error(std::string(name) + " is only supported on matrices or batches of matrices. Got 1-D tensor.");
  if (self.dim() == 0)
    warn("UserWarning", std::string(warned) + " is deprecated on 0-D tensors. Consider using x.conj().");
  return conj(self.dim() == 0 ? self : self.mT());
}
namespace {

// --- Text

PyObject* to_unicode(const std::string& text) {
  return checked(PyUnicode_FromStringAndSize(text.data(), static_cast<Py_ssize_t>(text.size())));
}

PyObject* str_of(PyObject* self) noexcept { return repr_of(self); }

// --- Protocols of sequences

Py_ssize_t length(PyObject* self) noexcept {
  const Tensor& tensor = tensor_of(self);
  if (tensor.dim() == 0) {
    PyErr_SetString(PyExc_TypeError, "len() of a 0-d tensor");
    return -1;
  }
  const int64_t size = tensor.sizes()[0];
  if (size >= 0) return size;
  PyErr_SetString(PyExc_ValueError, "__len__() should return >= 0");  // as in PyTorch, expand accepts such sizes
  return -1;
}

/// An iterator over slices along the first dim.
PyObject* iterate(PyObject* self) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.dim() == 0) throw TypeError("iteration over a 0-d tensor");
    if (length(self) < 0) throw PythonError{};
    List<Tensor> parts = unbind(tensor);
    nb::object slices = checked_object(PyTuple_New(static_cast<Py_ssize_t>(parts.size())));
    for (std::size_t i = 0; i < parts.size(); ++i)
      NB_TUPLE_SET_ITEM(slices.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(parts[i])));
    return checked(PyObject_GetIter(slices.ptr()));
  });
}

int contains(PyObject* self, PyObject* element) noexcept {
  return guarded_int([&] {
    if (!is_tensor(element) && !is_number(element))
      throw Error("Tensor.__contains__ only supports Tensor or scalar, but you passed in a " +
                  nb::cast<std::string>(nb::repr(nb::handle(reinterpret_cast<PyObject*>(Py_TYPE(element))))) + ".");
    const Tensor same =
        is_tensor(element) ? eq(tensor_of(element), tensor_of(self)) : eq(tensor_of(self), scalar_of(element));
    return static_cast<int>(same.numel() > 0 && same.amax().item().as_bool());
  });
}

Py_hash_t hash(PyObject* self) noexcept {
  // By identity, because equality of tensors is elementwise.
  return static_cast<Py_hash_t>(reinterpret_cast<uintptr_t>(self));
}

// --- Attributes

#define TENON_GETTER(NAME, EXPRESSION)                         \
  PyObject* get_##NAME(PyObject* self, void*) noexcept {       \
    return guarded([&]() -> PyObject* {                        \
      [[maybe_unused]] const Tensor& tensor = tensor_of(self); \
      return checked(EXPRESSION);                              \
    });                                                        \
  }
TENON_GETTER(shape, to_size(tensor.sizes()))
TENON_GETTER(dtype, to_python(tensor.dtype()))
TENON_GETTER(device, to_python(stands_for_data(tensor) ? Device::cpu : tensor.device()))
TENON_GETTER(layout, PyObject_GetAttrString(PyImport_AddModule("tenon._tenon"), "strided"))
TENON_GETTER(ndim, PyLong_FromLongLong(tensor.dim()))
TENON_GETTER(itemsize, PyLong_FromLongLong(tensor.itemsize()))
// Python's integers, because an expanded tensor may have more bytes than an int64 holds.
TENON_GETTER(nbytes, nb::object(nb::int_(tensor.numel()) * nb::int_(tensor.itemsize())).release().ptr())
TENON_GETTER(is_meta, PyBool_FromLong(tensor.is_meta() && !stands_for_data(tensor)))
TENON_GETTER(version, PyLong_FromUnsignedLong(tensor.version()))
TENON_GETTER(false, PyBool_FromLong(false))
TENON_GETTER(data, wrap(tensor.variable_data()))
#undef TENON_GETTER

/// PyTorch's warning for `T` and `mT` of 0-dim tensors.
void warn_of_no_dims(const Tensor& tensor, const char* name) {
  if (tensor.dim() == 0)
    warn("UserWarning", std::string("Tensor.") + name +
                            " is deprecated on 0-D tensors. This function is the identity in these cases.");
}

PyObject* get_mT(PyObject* self, void*) noexcept {
  return guarded([&] {
    warn_of_no_dims(tensor_of(self), "mT");
    Tensor result = tensor_of(self).mT();
    return result.is(tensor_of(self)) ? again(self) : wrap(std::move(result));
  });
}

/// All dims reversed, with PyTorch's deprecation warning unless the tensor is 2-D.
PyObject* get_T(PyObject* self, void*) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.dim() != 2 && tensor.dim() != 0)
      warn("UserWarning",
           "The use of `x.T` on tensors of dimension other than 2 to reverse their shape is deprecated and it will "
           "throw "
           "an error in a future release. Consider `x.mT` to transpose batches of matrices or "
           "`x.permute(*torch.arange(x.ndim - 1, -1, -1))` to reverse the dimensions of a tensor.");
    warn_of_no_dims(tensor, "T");
    Dims reversed;
    for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) reversed.push_back(dim);
    return wrap(tensor.permute(reversed));
  });
}

PyObject* get_H(PyObject* self, void*) noexcept {
  return guarded([&] {
    const Tensor& tensor = tensor_of(self);
    if (tensor.dim() != 0 && tensor.dim() != 2)
      throw Error("tensor.H is only supported on matrices (2-D tensors). Got " + std::to_string(tensor.dim()) +
                  "-D tensor." + (tensor.dim() > 2 ? " For batches of matrices, consider using tensor.mH" : ""));
    if (tensor.dim() == 0) warn("UserWarning", "Tensor.H is deprecated on 0-D tensors. Consider using x.conj().");
    if (tensor.dim() == 0 && !is_complex(tensor.dtype())) return again(self);
    return wrap(conj(tensor.dim() == 0 ? tensor : tensor.mT()));
  });
}

PyObject* get_mH(PyObject* self, void*) noexcept {
  return guarded([&] {
    Tensor result = adjoint(tensor_of(self), "tensor.mH", "Tensor.mH");
    return result.is(tensor_of(self)) ? again(self) : wrap(std::move(result));
  });
}
PyObject* get_real(PyObject* self, void*) noexcept {
  return guarded([&] {
    Tensor result = real(tensor_of(self));
    return result.is(tensor_of(self)) ? again(self) : wrap(std::move(result));
  });
}
PyObject* get_imag(PyObject* self, void*) noexcept {
  return guarded([&] { return wrap(imag(tensor_of(self))); });
}
template <Tensor (*part)(const Tensor&)>
int set_part(PyObject* self, PyObject* value, void*) noexcept {
  return guarded_int([&] {
    if (!value) throw Error("a tensor's parts cannot be deleted");
    Tensor target = part(tensor_of(self));
    target.copy_(value_of(value, target));
    return 0;
  });
}

/// x.data = y: shares the elements of y and keeps x's place in the graph.
int set_data(PyObject* self, PyObject* value, void*) noexcept {
  return guarded_int([&] {
    if (!value) throw Error("Deleting tensor data is not allowed. Delete tensor instead!");
    if (!is_tensor(value)) throw TypeError("Variable data has to be a tensor, but got " + type_name(value));
    tensor_of(self).set_data(tensor_of(value));
    return 0;
  });
}

PyGetSetDef attributes[] = {
    {"shape", get_shape, nullptr, "The size of every dim.", nullptr},
    {"dtype", get_dtype, nullptr, "The type of the elements.", nullptr},
    {"device", get_device, nullptr, "Where the elements live: cpu, or meta, which has none.", nullptr},
    {"layout", get_layout, nullptr, "Always strided.", nullptr},
    {"ndim", get_ndim, nullptr, "The number of dims.", nullptr},
    {"itemsize", get_itemsize, nullptr, "The size of an element in bytes.", nullptr},
    {"nbytes", get_nbytes, nullptr, "Bytes of all elements.", nullptr},
    {"is_meta", get_is_meta, nullptr, "Whether there are shapes and dtypes only.", nullptr},
    {"is_cuda", get_false, nullptr, "Never: there is no such device here.", nullptr},
    {"is_sparse", get_false, nullptr, "Never: every tensor is strided.", nullptr},
    {"_version", get_version, nullptr, "In-place writes to the storage so far.", nullptr},
    {"T", get_T, nullptr, "A view with the dims in reverse order.", nullptr},
    {"H", get_H, nullptr, "The conjugate transpose of a matrix.", nullptr},
    {"mT", get_mT, nullptr, "A view with the last two dims swapped.", nullptr},
    {"mH", get_mH, nullptr, "The last two dims swapped, conjugated.", nullptr},
    {"real", get_real, set_part<real>, "A view of the real parts.", nullptr},
    {"imag", get_imag, set_part<imag>, "A view of the imaginary parts.", nullptr},
    {"data", get_data, set_data, "A view that is not part of the graph of gradients.", nullptr},
    {"__dict__", PyObject_GenericGetDict, PyObject_GenericSetDict, nullptr, nullptr},
};

PyGetSetDef* attribute_table() {
  static std::vector<PyGetSetDef> all(std::begin(attributes), std::end(attributes));
  add_autograd_attributes(all);
  all.push_back({});
  return all.data();
}

template <class Slot>
void push(std::vector<PyType_Slot>& slots, int id, Slot function) {
  slots.push_back({id, reinterpret_cast<void*>(function)});
}

/// Tensor(2, 3) and Tensor([1, 2]), PyTorch's oldest factory. It is written in Python; there are no subclasses.
PyObject* construct(PyTypeObject* type, PyObject* args, PyObject* keywords) noexcept {
  if (type != tensor_type) return refuse_new(type, args, keywords);
  return guarded([&] {
    const nb::dict given = keywords ? nb::borrow<nb::dict>(keywords) : nb::dict();
    return nb::module_::import_("tenon._legacy").attr("constructed")(nb::handle(args), given).release().ptr();
  });
}

}  // namespace

PyObject* repr_of(PyObject* self) noexcept {
  return guarded([&] { return to_unicode(to_string(tensor_of(self))); });
}

void bind_tensor(nb::module_& module) {
  bind_size(module);
  static std::vector<PyType_Slot> slots;
  push(slots, Py_tp_new, construct);
  push(slots, Py_tp_init, ignore_arguments);
  push(slots, Py_tp_methods, method_table());
  push(slots, Py_tp_getset, attribute_table());
  push(slots, Py_tp_repr, repr_of);
  push(slots, Py_tp_str, str_of);
  push(slots, Py_tp_hash, hash);
  push(slots, Py_tp_iter, iterate);
  push(slots, Py_sq_length, length);
  push(slots, Py_sq_contains, contains);
  push(slots, Py_mp_length, length);
  add_operator_slots(slots);
  add_index_slots(slots);
  add_buffer_slots(slots);
  add_garbage_slots(slots);
  slots.push_back({0, nullptr});
  nb::class_<Tensor> bound(module, "Tensor", nb::type_slots(slots.data()), nb::dynamic_attr(),
                           nb::is_weak_referenceable(), nb::pooled(256),
                           "A handle to elements of one dtype; views share them.");
  bound.attr("__array_priority__") = 1000;
  name_publicly(bound);
  find_dict(bound);
  tensor_type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  bind_operators(module);
  bind_indexing(module);
}

}  // namespace tenon::python
