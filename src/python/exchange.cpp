#include "python/exchange.h"

#include <algorithm>
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
  const char* code;  // of the struct module
};
constexpr Format kFormats[] = {{bool_, "?"}, {uint8, "B"}, {int8, "b"},    {int16, "h"},   {int32, "i"},
                               {int64, "l"}, {int64, "q"}, {float16, "e"}, {float32, "f"}, {float64, "d"}};

/// The code without a byte order that is this machine's.
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

void release_buffer(void*, void* context) {
  // The last tensor may go on a thread that does not hold the interpreter, or after its end.
  if (!Py_IsInitialized()) return;
  const PyGILState_STATE state = PyGILState_Ensure();
  std::unique_ptr<Py_buffer> buffer(static_cast<Py_buffer*>(context));
  PyBuffer_Release(buffer.get());
  PyGILState_Release(state);
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
  throw TypeError("can't convert np.ndarray of type numpy." + type +
                  ". The only supported types are: float64, float32, float16, complex64, complex128, int64, int32, "
                  "int16, int8, uint64, uint32, uint16, uint8, and bool.");
}

/// Over the buffer's memory; the tensor keeps it.
Tensor over(Buffer buffer, Dtype dtype) {
  const Py_buffer& view = *buffer.view;
  Dims sizes, strides;
  for (int dim = 0; dim < view.ndim; ++dim) {
    sizes.push_back(view.shape[dim]);
    strides.push_back(view.strides[dim] / itemsize(dtype));
  }
  // Where nothing is stored, no stride can be wrong.
  if (numel_of(sizes) == 0) strides = contiguous_strides(sizes);
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] <= 1 && strides[dim] < 0) strides[dim] = 1;
  static char nothing[8];
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

bool is_bfloat16(PyObject* array) {
  const nb::object name = nb::handle(array).attr("dtype").attr("name");
  return nb::cast<std::string>(name) == "bfloat16";
}

/// The array in a form the buffer protocol knows, and the dtype its elements have.
std::pair<nb::object, Dtype> readable(PyObject* array) {
  if (is_bfloat16(array)) return {nb::handle(array).attr("view")("int16"), bfloat16};
  const std::string code = nb::cast<std::string>(nb::handle(array).attr("dtype").attr("char"));
  const std::string order = nb::cast<std::string>(nb::handle(array).attr("dtype").attr("byteorder"));
  const std::optional<Dtype> dtype = order == ">" ? std::nullopt : dtype_of_format(code.c_str());
  if (!dtype) fail_unsupported(array);
  return {nb::borrow(array), *dtype};
}

}  // namespace

bool is_array(PyObject* object) noexcept {
  static PyObject* type = nullptr;
  if (!type) {
    PyObject* modules = PyImport_GetModuleDict();
    PyObject* numpy = modules ? PyDict_GetItemString(modules, "numpy") : nullptr;
    if (!numpy) return false;
    type = PyObject_GetAttrString(numpy, "ndarray");
    if (!type) {
      PyErr_Clear();
      return false;
    }
  }
  return PyObject_IsInstance(object, type) == 1;
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

/// The storage as bytes, all of it.
Tensor bytes_of(const Tensor& tensor) {
  Storage* storage = tensor.impl()->storage;
  if (!storage) throw NotImplementedError("Cannot copy out of meta tensor; no data!");
  retain(storage);
  return new_tensor_over(storage, {storage->nbytes}, {1}, 0, uint8);
}

/// A tensor over the memory of `bytes`, which stays its storage. ValueError where the layout leaves it.
Tensor over_bytes(const Tensor& bytes, Dtype dtype, int64_t offset, SizesView sizes, SizesView strides) {
  const int64_t itemsize = tenon::itemsize(dtype);
  check_sizes(sizes, itemsize);
  int64_t end = 0;
  const bool sound = sizes.size() == strides.size() && offset >= 0 && bytes.dtype() == uint8 && bytes.dim() == 1 &&
                     std::all_of(strides.begin(), strides.end(), [](int64_t stride) { return stride >= 0; }) &&
                     !__builtin_add_overflow(offset, storage_extent(sizes, strides), &end) &&
                     !__builtin_mul_overflow(end, itemsize, &end) && end <= bytes.numel();
  if (!sound)
    throw ValueError("sizes " + to_string(sizes) + " and strides " + to_string(strides) + " leave the memory");
  const int64_t begin = bytes.storage_offset();
  const bool aligned =
      begin % itemsize == 0 && reinterpret_cast<uintptr_t>(bytes.data_ptr()) % static_cast<uintptr_t>(itemsize) == 0;
  if (!aligned) return over_bytes(bytes.clone(), dtype, offset, sizes, strides);
  Storage* storage = bytes.impl()->storage;
  retain(storage);
  return new_tensor_over(storage, sizes, strides, begin / itemsize + offset, dtype);
}

/// Over any object's memory, read-only or not.
Tensor over_buffer(PyObject* object, Dtype dtype, int64_t count, int64_t offset) {
  if (!PyObject_CheckBuffer(object)) throw ValueError("object does not implement Python buffer protocol.");
  Buffer buffer(object);
  const int64_t itemsize = tenon::itemsize(dtype), length = buffer.view->len;
  if (length <= 0 || count == 0)
    throw ValueError("both buffer length (" + std::to_string(length) + ") and count (" + std::to_string(count) +
                     ") must not be 0");
  if (offset < 0 || offset >= length)
    throw ValueError("offset (" + std::to_string(offset) +
                     " bytes) must be non-negative and no greater than buffer length (" + std::to_string(length) +
                     " bytes) minus 1");
  if (count < 0 && (length - offset) % itemsize != 0)
    throw ValueError("buffer length (" + std::to_string(length - offset) + " bytes) after offset (" +
                     std::to_string(offset) + " bytes) must be a multiple of element size (" +
                     std::to_string(itemsize) + ")");
  const int64_t elements = count < 0 ? (length - offset) / itemsize : count;
  if (elements > (length - offset) / itemsize)
    throw ValueError("requested buffer length (" + std::to_string(elements) + " * " + std::to_string(itemsize) +
                     " bytes) after offset (" + std::to_string(offset) +
                     " bytes) must not be greater than actual buffer length (" + std::to_string(length) + " bytes)");
  if (!PyBuffer_IsContiguous(buffer.view.get(), 'C')) throw ValueError("frombuffer: the buffer is not contiguous");
  if (!buffer.writable)
    warn(
        "UserWarning",
        "The given buffer is not writable, and PyTorch does not support non-writable tensors. This means you can write "
        "to the underlying (supposedly non-writable) buffer using the tensor. You may want to copy the buffer to "
        "protect "
        "its data or make it writable before converting it to a tensor. This type of warning will be suppressed for "
        "the "
        "rest of this program.");
  char* data = static_cast<char*>(buffer.view->buf) + offset;
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
  const bool brain = tensor.dtype() == bfloat16;  // which has no buffer format: its bits travel as integers
  const Tensor seen =
      brain ? over_bytes(bytes_of(tensor), int16, tensor.storage_offset(), tensor.sizes(), tensor.strides()) : tensor;
  const nb::object alias = nb::steal(wrap(seen.detach()));
  const nb::object array = numpy.attr("asarray")(checked_object(PyMemoryView_FromObject(alias.ptr())));
  if (!brain) return nb::object(array).release().ptr();
  return array.attr("view")(nb::steal(to_python(bfloat16)).attr("dtype")).release().ptr();
}

// --- The buffer protocol

namespace {

int get_buffer(PyObject* self, Py_buffer* view, int flags) noexcept {
  view->obj = nullptr;
  return guarded_int([&] {
    const Tensor& tensor = tensor_of(self);
    const char* format = format_of(tensor.dtype());
    if (tensor.is_meta() || !format) {
      PyErr_Format(PyExc_BufferError, "a %s tensor has no buffer format", dtype_name(tensor.dtype()));
      throw PythonError{};
    }
    if (tensor.requires_grad()) {
      PyErr_SetString(PyExc_BufferError, "Can't export tensors that require gradient, use tensor.detach()");
      throw PythonError{};
    }
    if (!tensor.is_contiguous() && (flags & PyBUF_STRIDES) != PyBUF_STRIDES) {
      PyErr_SetString(PyExc_BufferError, "the tensor is not contiguous");
      throw PythonError{};
    }
    const int64_t ndim = tensor.dim();
    auto lists = std::make_unique<Py_ssize_t[]>(static_cast<std::size_t>(2 * ndim + 1));
    for (int64_t dim = 0; dim < ndim; ++dim) {
      lists[static_cast<std::size_t>(dim)] = tensor.sizes()[dim];
      lists[static_cast<std::size_t>(ndim + dim)] = tensor.strides()[dim] * tensor.itemsize();
    }
    view->buf = tensor.data_ptr();
    view->itemsize = tensor.itemsize();
    view->len = tensor.nbytes();
    view->readonly = 0;
    view->ndim = static_cast<int>(ndim);
    view->format = (flags & PyBUF_FORMAT) ? const_cast<char*>(format) : nullptr;
    view->shape = (flags & PyBUF_ND) ? lists.get() : nullptr;
    view->strides = (flags & PyBUF_STRIDES) == PyBUF_STRIDES ? lists.get() + ndim : nullptr;
    view->suboffsets = nullptr;
    view->internal = lists.release();
    // The tensor's own handle may come to hold other memory: the buffer keeps a handle of its own.
    view->obj = wrap(tensor.detach());
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
  module.def(
      "from_numpy", [](nb::object ndarray) { return nb::steal(wrap(from_numpy(ndarray.ptr()))); }, nb::arg().none(),
      "A tensor over the memory of an ndarray.");
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
  module.def("_to_numpy", [](nb::object self) { return nb::steal(to_numpy(self.ptr())); });
  module.def("_bytes", [](const Tensor& self) { return nb::steal(wrap(bytes_of(self))); });
  module.def(
      "_over_bytes", [](const Tensor& bytes, nb::object dtype, int64_t offset, nb::object sizes, nb::object strides) {
        return nb::steal(
            wrap(over_bytes(bytes, *as_dtype(dtype.ptr()), offset, dims_of(sizes.ptr()), dims_of(strides.ptr()))));
      });
  module.def("_to_dlpack", [](const Tensor& self, bool versioned, bool copied) {
    return nb::steal(to_dlpack(self, versioned, copied));
  });
  module.def(
      "_from_dlpack", [](nb::object capsule) { return nb::steal(wrap(from_dlpack(capsule.ptr()))); }, nb::arg().none());
}

}  // namespace tenon::python
