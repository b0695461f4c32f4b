#include "python/exchange.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>

#include "python/object.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tensor/impl.h"

namespace tenon::python {
namespace {

struct Format {
  Dtype dtype;
  const char* code;  // as in the struct module
};
constexpr Format kFormats[] = {
    {bool_, "?"},   {uint8, "B"},   {int8, "b"},       {int16, "h"},     {int32, "i"},       {int64, "l"},
    {int64, "q"},   {uint16, "H"},  {uint32, "I"},     {uint64, "L"},    {uint64, "Q"},      {float16, "e"},
    {float32, "f"}, {float64, "d"}, {complex64, "Zf"}, {complex64, "F"}, {complex128, "Zd"}, {complex128, "D"}};

/// The dtype of a format code, which may begin with this machine's byte order.
std::optional<Dtype> dtype_of_format(const char* code) {
  if (!code) return uint8;
  if (*code == '@' || *code == '=' || *code == '<') ++code;
  for (const Format& format : kFormats)
    if (std::strcmp(format.code, code) == 0) return format.dtype;
  return std::nullopt;
}

const char* format_of(Dtype dtype) {
  for (const Format& format : kFormats)
    if (format.dtype == dtype) return format.code;
  return nullptr;
}

/// NumPy's ndarray type; null before NumPy is imported.
PyTypeObject* array_type() noexcept {
  static std::atomic<PyObject*> known{nullptr};
  return numpy_type("ndarray", known);
}

void release_buffer(void*, void* context) {
  // The last tensor may be destroyed on a thread without the GIL, or after the interpreter's end.
  if (!Py_IsInitialized()) return;
  const Held held;
  std::unique_ptr<Py_buffer> buffer(static_cast<Py_buffer*>(context));
  PyBuffer_Release(buffer.get());
}

struct Buffer {
  std::unique_ptr<Py_buffer> view = std::make_unique<Py_buffer>();
  bool writable = true;

  explicit Buffer(PyObject* object) {
    if (PyObject_GetBuffer(object, view.get(), PyBUF_STRIDES | PyBUF_FORMAT | PyBUF_WRITABLE) == 0) return;
    PyErr_Clear();
    writable = false;
    if (PyObject_GetBuffer(object, view.get(), PyBUF_STRIDES | PyBUF_FORMAT) == 0) return;
    view.reset();
    throw PythonError{};
  }
  Buffer(Buffer&&) = default;
  ~Buffer() {
    if (view) PyBuffer_Release(view.get());
  }
};

[[noreturn]] void fail_unsupported(PyObject* array) {
  const std::string type = nb::cast<std::string>(nb::handle(array).attr("dtype").attr("type").attr("__name__"));
  const std::string kind = nb::cast<std::string>(nb::handle(array).attr("dtype").attr("byteorder"));
  if (kind == ">")
    throw ValueError(
        "given numpy array has byte order different from the native byte order. Conversion between byte orders is "
        "currently not supported.");
  const std::string text = "can't convert np.ndarray of type numpy." + type + ". The only supported types are: ";
  throw TypeError(
      text +
      "float64, float32, float16, complex64, complex128, int64, int32, int16, int8, uint64, uint32, uint16, "
      "uint8, and bool.");
}

/// A tensor over the buffer's memory, which it keeps alive.
Tensor over(Buffer buffer, Dtype dtype) {
  const Py_buffer& view = *buffer.view;
  if (view.itemsize != itemsize(dtype))
    throw TypeError("elements of " + std::to_string(view.itemsize) + " bytes cannot be " + dtype_name(dtype));
  Dims sizes, strides;
  for (int dim = 0; dim < view.ndim; ++dim) {
    sizes.push_back(view.shape[dim]);
    strides.push_back(view.strides[dim] / itemsize(dtype));
  }
  // Without elements any strides are accepted.
  if (numel_of(sizes) == 0) strides = contiguous_strides(sizes);
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] <= 1 && strides[dim] < 0) strides[dim] = 1;
  alignas(kMaxItemsize) static char nothing[kMaxItemsize];
  void* data = view.buf ? view.buf : nothing;
  const Tensor tensor = from_buffer(data, sizes, strides, dtype, release_buffer, buffer.view.get());
  static_cast<void>(buffer.view.release());
  return tensor;
}

bool has_negative_stride(const Py_buffer& view) {
  for (int dim = 0; dim < view.ndim; ++dim)
    if (view.strides[dim] < 0 && view.shape[dim] > 1) return true;
  return false;
}
bool has_uneven_stride(const Py_buffer& view) {
  for (int dim = 0; dim < view.ndim; ++dim)
    if (view.strides[dim] % view.itemsize != 0) return true;
  return false;
}

/// The array, or for a subclass a view as plain ndarray, because subclasses may override attributes.
nb::object plain(PyObject* array) {
  if (Py_TYPE(array) == array_type()) return nb::borrow(array);
  const nb::handle type(reinterpret_cast<PyObject*>(array_type()));
  return type.attr("view")(nb::handle(array), type);
}

bool is_bfloat16(nb::handle array) { return nb::cast<std::string>(array.attr("dtype").attr("name")) == "bfloat16"; }

/// The array as an object that the buffer protocol supports, and its dtype.
std::pair<nb::object, Dtype> readable(PyObject* given) {
  const nb::object array = plain(given);
  if (is_bfloat16(array)) return {array.attr("view")("int16"), bfloat16};
  const std::string code = nb::cast<std::string>(array.attr("dtype").attr("char"));
  const std::string order = nb::cast<std::string>(array.attr("dtype").attr("byteorder"));
  const std::optional<Dtype> dtype = order == ">" ? std::nullopt : dtype_of_format(code.c_str());
  if (!dtype) fail_unsupported(array.ptr());
  return {array, *dtype};
}

}  // namespace

bool is_array(PyObject* object) noexcept {
  PyTypeObject* type = array_type();
  return type && PyType_IsSubtype(Py_TYPE(object), type);
}

Tensor from_numpy(PyObject* array) {
  if (!is_array(array)) throw TypeError("expected np.ndarray (got " + type_name(array) + ")");
  const auto [source, dtype] = readable(array);
  Buffer buffer(source.ptr());
  if (has_negative_stride(*buffer.view))
    throw ValueError(
        "At least one stride in the given numpy array is negative, and tensors with negative strides are not currently "
        "supported. (You can probably work around this by making a copy of your array  with array.copy().) ");
  if (has_uneven_stride(*buffer.view))
    throw ValueError(
        "given numpy array strides not a multiple of the element byte size. Copy the numpy array to reallocate the "
        "memory.");
  if (!buffer.writable)
    warn("UserWarning",
         "The given NumPy array is not writable, and PyTorch does not support non-writable tensors. This means writing "
         "to this tensor will result in undefined behavior. You may want to copy the array to protect its data or make "
         "it writable before converting it to a tensor. This type of warning will be suppressed for the rest of this "
         "program.");
  return over(std::move(buffer), dtype);
}

Tensor tensor_from_array(PyObject* array) {
  const auto [source, dtype] = readable(array);
  {
    Buffer buffer(source.ptr());
    if (!has_negative_stride(*buffer.view) && !has_uneven_stride(*buffer.view)) return over(std::move(buffer), dtype);
  }
  const nb::object copy = source.attr("copy")();
  return over(Buffer(copy.ptr()), dtype);
}

namespace {

/// The whole storage as bytes.
Tensor storage_bytes(const Tensor& tensor) {
  Storage* storage = tensor.impl()->storage;
  if (!storage) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  return new_tensor_over(storage, {storage->nbytes}, {1}, 0, uint8);
}

/// A tensor over the memory of `bytes`, which stays its storage. ValueError if the layout is out of its bounds.
Tensor over_bytes(const Tensor& bytes, Dtype dtype, int64_t offset, SizesView sizes, SizesView strides) {
  const int64_t itemsize = tenon::itemsize(dtype);
  check_sizes(sizes, itemsize);
  const bool sound =
      sizes.size() == strides.size() && offset >= 0 && bytes.dtype() == uint8 && bytes.dim() == 1 &&
      std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride >= 0; }) &&
      (numel_of(sizes) == 0 || ((extent_of(sizes, strides) + offset) * itemsize).is_at_most(bytes.numel()));
  if (!sound)
    throw ValueError("sizes " + to_string(sizes) + " and strides " + to_string(strides) + " leave the memory");
  const int64_t begin = bytes.storage_offset();
  const bool aligned =
      begin % itemsize == 0 && reinterpret_cast<uintptr_t>(bytes.data_ptr()) % static_cast<uintptr_t>(itemsize) == 0;
  if (!aligned) return over_bytes(bytes.clone(), dtype, offset, sizes, strides);
  return new_tensor_over(bytes.impl()->storage, sizes, strides, offset_from(Checked(begin / itemsize) + offset), dtype);
}

/// The contiguous memory of an object.
Buffer contiguous_buffer(PyObject* object) {
  try {
    Buffer buffer(object);
    if (PyBuffer_IsContiguous(buffer.view.get(), 'C')) return buffer;
  } catch (const PythonError&) {
    PyErr_Clear();
  }
  throw Error("could not retrieve buffer from object");
}

/// A tensor over any object's memory, even if that is read-only.
Tensor over_buffer(PyObject* object, Dtype dtype, int64_t count, int64_t offset) {
  if (!PyObject_CheckBuffer(object)) throw ValueError("object does not implement Python buffer protocol.");
  Buffer buffer = contiguous_buffer(object);
  if (!buffer.writable)
    warn(
        "UserWarning",
        "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write "
        "to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to "
        "protect "
        "its data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
        "the "
        "rest of this program.");
  const int64_t itemsize = tenon::itemsize(dtype), length = buffer.view->len;
  if (length <= 0 || count == 0)
    throw ValueError("both buffer length (" + std::to_string(length) + ") and count (" + std::to_string(count) +
                     ") must not be 0");
  if (offset < 0 || offset >= length)
    throw ValueError("offset (" + std::to_string(offset) +
                     " bytes) must be non-negative and no greater than buffer length (" + std::to_string(length) +
                     " bytes) minus 1");
  const int64_t rest = length - offset;  // exact: the offset is inside
  if (count < 0 && rest % itemsize != 0)
    throw ValueError("buffer length (" + std::to_string(rest) + " bytes) after offset (" + std::to_string(offset) +
                     " bytes) must be a multiple of element size (" + std::to_string(itemsize) + ")");
  const int64_t elements = count < 0 ? rest / itemsize : count;
  if (elements > rest / itemsize)
    throw ValueError("requested buffer length (" + std::to_string(elements) + " * " + std::to_string(itemsize) +
                     " bytes) after offset (" + std::to_string(offset) +
                     " bytes) must not be greater than actual buffer length (" + std::to_string(length) + " bytes)");
  char* data = static_cast<char*>(buffer.view->buf) + offset;  // exact: inside the buffer
  const Tensor tensor = from_buffer(data, {elements}, dtype, release_buffer, buffer.view.get());
  static_cast<void>(buffer.view.release());
  return tensor;
}

}  // namespace

PyObject* to_numpy(PyObject* self) {
  const Tensor& tensor = tensor_of(self);
  if (tensor.is_meta())
    throw TypeError(
        "can't convert meta device type tensor to numpy. Use Tensor.cpu() to copy the tensor to host memory first.");
  const nb::module_ numpy = nb::module_::import_("numpy");
  const bool brain = tensor.dtype() == bfloat16;  // bfloat16 has no buffer format, so its bits are passed as integers
  const Tensor seen =
      brain ? over_bytes(storage_bytes(tensor), int16, tensor.storage_offset(), tensor.sizes(), tensor.strides())
            : tensor;
  const nb::object alias = nb::steal(wrap(seen.detach()));
  const nb::object array = numpy.attr("asarray")(checked_object(PyMemoryView_FromObject(alias.ptr())));
  if (!brain) return nb::object(array).release().ptr();
  return array.attr("view")(nb::steal(to_python(bfloat16)).attr("dtype")).release().ptr();
}

// --- The buffer protocol

namespace {

[[noreturn]] void fail_buffer(const std::string& text) {
  PyErr_SetString(PyExc_BufferError, text.c_str());
  throw PythonError{};
}

constexpr bool has_all(int flags, int wanted) { return (flags & wanted) == wanted; }

/// Dense strides in which the first or the last dim is contiguous.
Dims dense_strides(SizesView sizes, bool first_fastest) {
  Dims strides = contiguous_strides(sizes);
  Checked step = 1;
  for (int64_t dim = 0; first_fastest && dim < sizes.size(); ++dim) {
    strides[dim] = stride_from(step);
    step *= std::max<int64_t>(sizes[dim], 1);
  }
  return strides;
}

/// The strides for a buffer's consumer, who may accept only some layouts, or no strides at all. BufferError if the
/// tensor has another layout.
Dims exported_strides(const Tensor& tensor, int flags) {
  const Dims columns = dense_strides(tensor.sizes(), true);
  const auto walks_as = [&](const Dims& strides) {
    for (int64_t dim = 0; dim < tensor.dim(); ++dim)
      if (tensor.sizes()[dim] > 1 && tensor.strides()[dim] != strides[dim]) return false;
    return true;
  };
  const bool c_contiguous = tensor.is_contiguous(), f_contiguous = tensor.numel() == 0 || walks_as(columns);
  const bool wants_c = has_all(flags, PyBUF_C_CONTIGUOUS) || !has_all(flags, PyBUF_STRIDES);
  const bool wants_f = has_all(flags, PyBUF_F_CONTIGUOUS), wants_any = has_all(flags, PyBUF_ANY_CONTIGUOUS);
  if (wants_c && !c_contiguous) fail_buffer("the tensor is not C-contiguous");
  if (wants_f && !f_contiguous) fail_buffer("the tensor is not Fortran contiguous");
  if (wants_any && !c_contiguous && !f_contiguous) fail_buffer("the tensor is not contiguous");
  // Strides of dims of size 1 may be any numbers. A consumer that asks for a layout gets that layout's strides.
  if (wants_c || (wants_any && c_contiguous)) return dense_strides(tensor.sizes(), false);
  return wants_f || wants_any ? columns : tensor.strides().copy();
}

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  return guarded_int([&] {
    const Tensor& tensor = tensor_of(self);
    const char* format = format_of(tensor.dtype());
    if (tensor.is_meta() || !format)
      fail_buffer(std::string("a ") + (tensor.is_meta() ? "meta" : dtype_name(tensor.dtype())) +
                  " tensor has no buffer format");
    if (tensor.requires_grad()) fail_buffer("Can't export tensors that require gradient, use tensor.detach()");
    const int64_t ndim = tensor.dim();
    const Dims strides = exported_strides(tensor, flags);
    auto lists = std::make_unique<Py_ssize_t[]>(static_cast<std::size_t>(2 * ndim + 1));
    for (int64_t dim = 0; dim < ndim; ++dim) {
      if (tensor.sizes()[dim] < 0) fail_buffer("a dim of negative size has no buffer");
      lists[static_cast<std::size_t>(dim)] = tensor.sizes()[dim];
      // The stride of a dim of size 1 may overflow in bytes.
      const Checked stride_bytes = Checked(strides[dim]) * tensor.itemsize();
      lists[static_cast<std::size_t>(ndim + dim)] = stride_bytes.value_or(tensor.itemsize());
    }
    // The buffer keeps its own handle, because the tensor's memory may be replaced.
    nb::object owner = nb::steal(wrap(tensor.detach()));
    const bool shaped = has_all(flags, PyBUF_ND);
    view->buf = tensor.export_data();
    view->itemsize = tensor.itemsize();
    view->len = tensor.nbytes();
    view->readonly = 0;
    view->ndim = shaped ? static_cast<int>(ndim) : 1;  // without a shape: contiguous bytes
    view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
    view->shape = shaped && ndim > 0 ? lists.get() : nullptr;
    view->strides = has_all(flags, PyBUF_STRIDES) && ndim > 0 ? lists.get() + ndim : nullptr;
    view->suboffsets = nullptr;
    view->internal = lists.release();
    view->obj = owner.release().ptr();
    return 0;
  });
}

void drop_buffer(PyObject*, Py_buffer* view) noexcept { delete[] static_cast<Py_ssize_t*>(view->internal); }

}  // namespace

void add_buffer_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_bf_getbuffer, reinterpret_cast<void*>(get_buffer)});
  slots.push_back({Py_bf_releasebuffer, reinterpret_cast<void*>(drop_buffer)});
}

void bind_exchange(nb::module_& module) {
  module.def("_over_array", [](nb::object array) { return nb::steal(wrap(from_numpy(array.ptr()))); });
  module.def(
      "_over_buffer",
      [](nb::object object, nb::object dtype, int64_t count, int64_t offset) {
        const std::optional<Dtype> element = as_dtype(dtype.ptr());
        if (!element)
          throw TypeError("frombuffer(): argument 'dtype' must be torch.dtype, not " + type_name(dtype.ptr()));
        return nb::steal(wrap(over_buffer(object.ptr(), *element, count, offset)));
      },
      nb::arg().none(), nb::arg().none(), nb::arg(), nb::arg());
  module.def("_to_numpy", [](nb::object self) {
    if (!is_tensor(self.ptr())) throw TypeError("expected a Tensor, not " + type_name(self.ptr()));
    return nb::steal(to_numpy(self.ptr()));
  });
  module.def("_bytes", [](const Tensor& self) { return nb::steal(wrap(storage_bytes(self))); });
  module.def(
      "_over_bytes", [](const Tensor& bytes, nb::object dtype, int64_t offset, nb::object sizes, nb::object strides) {
        return nb::steal(
            wrap(over_bytes(bytes, dtype_of(dtype.ptr()), offset, dims_of(sizes.ptr()), dims_of(strides.ptr()))));
      });
  module.def("_to_dlpack", [](const Tensor& self, bool versioned, bool copied) {
    return nb::steal(to_dlpack(self, versioned, copied));
  });
  module.def(
      "_from_dlpack",
      [](nb::object capsule, bool may_not_copy) { return nb::steal(wrap(from_dlpack(capsule.ptr(), may_not_copy))); },
      nb::arg().none(), nb::arg() = false);
}

}  // namespace tenon::python
