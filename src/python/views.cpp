// Views, copies and writes: a line for each function. It is a function, a method or both, as in PyTorch.
#include <algorithm>
#include <stdexcept>

#include "autograd/meta.h"
#include "autograd/views.h"
#include "base/checked.h"
#include "python/bindings.h"
#include "python/object.h"
#include "python/values.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "type/visit.h"

namespace tenon::python {
namespace {

constexpr Binding kBoth = Binding::both, kMethod = Binding::method, kFunction = Binding::function;

const Tensor& input(const Call& call) { return call.tensor(Name::input); }

#define TENON_VIEW(EXPRESSION) [](const Call& call) -> PyObject* { return wrap(EXPRESSION); }
#define TENON_VALUE(EXPRESSION) []([[maybe_unused]] const Call& call) -> PyObject* { return checked(EXPRESSION); }

Tensor squeezed(const Call& call) {
  if (!call.has(Name::dim)) return input(call).squeeze();
  if (PyLong_Check(call.object(Name::dim)) && !call.has_loose_integers())
    return input(call).squeeze(call.integer(Name::dim));
  return input(call).squeeze(SizesView(call.dims(Name::dim)));
}
Tensor moved(const Call& call) {
  return input(call).movedim(SizesView(call.dims(Name::source)), SizesView(call.dims(Name::destination)));
}
/// The method checks the sizes first, the function the dim, as in PyTorch.
Tensor unflattened(const Call& call) {
  const Dims sizes = call.dims(Name::sizes);
  if (call.self() && sizes.empty()) throw Error("unflatten: sizes must be non-empty");
  return input(call).unflatten(call.integer(Name::dim), sizes);
}
/// A traced function runs again with arguments that lie elsewhere in other storages.
const Tensor& check_place_known(const char* what, const Tensor& tensor) {
  if (stands_for_data(tensor))
    throw Error(std::string("tenon.fuse: ") + what + " is not known while a function is traced");
  return tensor;
}
Tensor strided(const Call& call) {
  if (call.optional_integer(Name::storage_offset))
    check_place_known("as_strided()'s storage_offset, which counts from the begin of the storage,", input(call));
  return input(call).as_strided(call.dims(Name::size), call.dims(Name::stride),
                                call.optional_integer(Name::storage_offset));
}

/// An in-place view op: gives the tensor another shape over the same storage.
template <class View>
PyObject* reshaped_in_place(const Call& call, const View& view) {
  const Tensor& self = call.tensor(Name::input);
  autograd::check_inplace(self, self.requires_grad());
  take_layout(self, view(self));
  return again(call.object(Name::input));
}

/// The same object if nothing changed.
PyObject* same_or_new(const Call& call, Tensor result) {
  return result.is(input(call)) ? again(call.object(Name::input)) : wrap(std::move(result));
}

/// An in-place op.
template <class Write>
PyObject* written(const Call& call, const Write& write) {
  call.run([&] { write(call.tensor(Name::input)); });
  return again(call.object(Name::input));
}

PyObject* filled(const Call& call) {
  const Arg value = call.arg(Name::value);
  return written(call,
                 [&](Tensor& self) { value.is_tensor() ? self.fill_(value.tensor()) : self.fill_(value.number()); });
}

PyObject* filled_anew(const Call& call) {
  const Arg value = call.arg(Name::value);
  return wrap(call.run([&] {
    Tensor result = input(call).clone();
    value.is_tensor() ? result.fill_(value.tensor()) : result.fill_(value.number());
    return result;
  }));
}

Tensor summed(const Call& call) {
  const Dims size = call.dims(Name::size);
  return call.run([&] { return input(call).sum_to_size(size); });
}

/// A new shape. Elements are copied only if necessary.
template <class Reshape>
Tensor reshaped(const Call& call, const Reshape& reshape) {
  const GilRelease released(!input(call).is_contiguous() && call.is_long());
  return reshape(input(call));
}
Tensor reshaped(const Call& call) {
  const Dims shape = call.dims(Name::shape);
  return reshaped(call, [&](const Tensor& self) { return self.reshape(shape); });
}
Tensor flattened(const Call& call) {
  const int64_t start = call.integer(Name::start_dim, 0), end = call.integer(Name::end_dim, -1);
  return reshaped(call, [&](const Tensor& self) { return self.flatten(start, end); });
}

/// `x.to(...)` with any of its signatures. Returns the same object if nothing changes.
PyObject* converted(const Call& call) {
  const Tensor& self = input(call);
  Dtype dtype = call.dtype().value_or(self.dtype());
  Device device = call.device().value_or(self.device());
  if (call.has(Name::tensor)) {
    dtype = call.tensor(Name::tensor).dtype();
    device = call.tensor(Name::tensor).device();
  }
  const MemoryFormat format = call.memory_format(MemoryFormat::preserve);
  const bool copy = call.boolean(Name::copy);
  Tensor result =
      call.run([&] { return device == self.device() ? self.to(dtype, copy, format) : self.to(dtype).to(device); });
  return result.is(self) ? again(call.object(Name::input)) : wrap(std::move(result));
}

template <Dtype dtype>
PyObject* cast_to(const Call& call) {
  const MemoryFormat format = call.memory_format(MemoryFormat::preserve);
  const Tensor result = call.run([&] { return input(call).to(dtype, false, format); });
  return result.is(input(call)) ? again(call.object(Name::input)) : wrap(result);
}

PyObject* contiguous(const Call& call) {
  const MemoryFormat format = call.memory_format(MemoryFormat::contiguous);
  if (input(call).is_contiguous(format)) return again(call.object(Name::input));
  const Tensor result = call.run([&] { return input(call).contiguous(format); });
  return result.is(input(call)) ? again(call.object(Name::input)) : wrap(result);
}

int64_t start_of(const Call& call) {
  if (call.signature() == 0) {
    const Tensor& start = call.tensor(Name::start);
    if (start.dim() != 0 || !is_integral(start.dtype()) || start.dtype() == bool_)
      throw Error("start must be an 0-dim integral Tensor.");
  }
  return call.integer(Name::start);
}

Tensor cloned(const Call& call) {
  const MemoryFormat format = call.memory_format(MemoryFormat::preserve);
  return call.run([&] { return input(call).clone(format); });
}

/// Sets the elements of the main diagonal, and of those that begin below the last column.
void fill_diagonal(const Tensor& self, Scalar value, bool wraps) {
  if (self.dim() < 2) throw Error("dimensions must larger than 1");
  const int64_t height = self.size(0), width = self.size(1);
  for (int64_t size : self.sizes())
    if (self.dim() > 2 && size != height) throw Error("all dimensions of input must be of equal length");
  Checked steps = 0;
  for (int64_t step : self.strides()) steps += step;
  const int64_t stride = stride_from(steps);
  self.as_strided({std::min(height, width)}, {stride}, self.storage_offset()).fill_(value);
  if (!wraps || self.dim() != 2 || height - 1 <= width) return;
  const int64_t period = width + 1, numel = self.numel();  // of rows: fewer than `height`
  // exact: at most the number of elements
  const int64_t count = numel / period + (numel % period != 0 ? 1 : 0) - std::min(height, width);
  const int64_t offset = offset_from(Checked(self.storage_offset()) + Checked(self.stride(0)) * period);
  self.as_strided({count}, {stride}, offset).fill_(value);
}

/// resize_. A memory format changes the strides even if the shape stays; `like` is what `preserve` stands for.
void resize_to(const Call& call, SizesView sizes, std::optional<MemoryFormat> like = {}) {
  Tensor& self = call.tensor(Name::input);
  if (self.requires_grad() || !call.has(Name::memory_format)) return static_cast<void>(self.resize_(sizes));
  for (int64_t size : sizes)
    if (size < 0) throw Error("numel: integer multiplication overflow");
  MemoryFormat format = call.memory_format(MemoryFormat::contiguous);
  if (format == MemoryFormat::preserve && like) format = *like;
  if (format == MemoryFormat::preserve) throw Error("Unsupported memory formatPreserve");
  const Dims strides = format_strides(sizes, format);
  self.resize_(sizes);
  set_sizes_and_strides(self, sizes, strides);
}

std::string older_class(Dtype dtype) { return std::string("torch.") + scalar_type_name(dtype) + "Tensor"; }

/// A dtype, or the name of its legacy class.
Dtype older_dtype(PyObject* given) {
  if (const std::optional<Dtype> dtype = as_dtype(given); dtype && !PyType_Check(given)) return *dtype;
  if (!PyType_Check(given) && !PyUnicode_Check(given)) throw TypeError("dtype must be a type, str, or dtype object");
  const std::string text = nb::cast<std::string>(
      nb::str(PyType_Check(given) ? nb::object(nb::handle(given).attr("__name__")) : nb::borrow(given)));
  for (int i = 0; i < kDtypeCount; ++i)
    if (const Dtype dtype = static_cast<Dtype>(i); text == older_class(dtype)) return dtype;
  throw ValueError("invalid type: '" + text + "'");
}

/// x.type(): the name of the legacy class, or a conversion.
PyObject* typed(const Call& call) {
  if (!call.has(Name::dtype)) {
    const std::string name = older_class(input(call).dtype());
    return checked(PyUnicode_FromString(name.c_str()));
  }
  const Dtype dtype = older_dtype(call.object(Name::dtype));
  return same_or_new(call, call.run([&] { return input(call).to(dtype); }));
}

/// How a view is called in Python.
struct Declaration {
  const char* name;
  Binding bindings;
  const char* signatures;
  const char* doc;
};
#include "python/views.inc"
#include "tensor/history.h"

/// The definition of a view that src/ops/views.h declares.
constexpr Definition view(std::string_view name, PyObject* (*call)(const Call& call)) {
  for (const Declaration& declared : kDeclarations)
    if (name == declared.name) return {declared.name, declared.bindings, declared.signatures, declared.doc, call};
  throw std::logic_error("not declared in src/ops/views.h");
}

constexpr Definition kViews[] = {
    {"_is_view", kMethod, "(Tensor input) -> bool", "Whether it is a view of another tensor.",
     [](const Call& call) -> PyObject* { return PyBool_FromLong(input(call).is_view()); }},
    view("as_strided", TENON_VIEW(strided(call))),
    view("broadcast_to", TENON_VIEW(input(call).expand(call.dims(Name::size)))),
    view("diagonal", TENON_VIEW(input(call).diagonal(call.integer(Name::offset, 0), call.integer(Name::dim1, 0), call.integer(Name::dim2, 1)))),
    view("expand", TENON_VIEW(input(call).expand(call.dims(Name::size)))),
    view("expand_as", TENON_VIEW(input(call).expand_as(call.tensor(Name::other)))),
    view("flatten", [](const Call& call) -> PyObject* { return same_or_new(call, flattened(call)); }),
    view("movedim", TENON_VIEW(moved(call))),
    view("moveaxis", TENON_VIEW(moved(call))),
    view("narrow", TENON_VIEW(input(call).narrow(call.integer(Name::dim), start_of(call), call.integer(Name::length)))),
    view("permute", TENON_VIEW(input(call).permute(call.dims(Name::dims)))),
    view("ravel", TENON_VIEW(reshaped(call, [](const Tensor& self) { return self.contiguous().reshape({-1}); }))),
    view("imag", TENON_VIEW(imag(input(call)))),
    view("real", [](const Call& call) -> PyObject* { return same_or_new(call, real(input(call))); }),
    view("view_as_complex", TENON_VIEW(view_as_complex(input(call)))),
    view("view_as_real", TENON_VIEW(view_as_real(input(call)))),
    view("reshape", TENON_VIEW(reshaped(call))),
    view("reshape_as", TENON_VIEW(input(call).reshape(call.tensor(Name::other).sizes()))),
    view("select", TENON_VIEW(input(call).select(call.integer(Name::dim), call.integer(Name::index)))),
    view("squeeze", TENON_VIEW(squeezed(call))),
    view("as_strided_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor&) { return strided(call); });
     }),
    view("swapaxes", TENON_VIEW(input(call).transpose(call.integer(Name::axis0), call.integer(Name::axis1)))),
    view("swapdims", TENON_VIEW(input(call).transpose(call.integer(Name::dim0), call.integer(Name::dim1)))),
    view("t", TENON_VIEW(input(call).t())),
    view("transpose", TENON_VIEW(input(call).transpose(call.integer(Name::dim0), call.integer(Name::dim1)))),
    view("unflatten", TENON_VIEW(unflattened(call))),
    view("unfold", TENON_VIEW(input(call).unfold(call.integer(Name::dimension), call.integer(Name::size), call.integer(Name::step)))),
    view("unsqueeze", TENON_VIEW(input(call).unsqueeze(call.integer(Name::dim)))),
    view("view", [](const Call& call) -> PyObject* {
       return wrap(call.has(Name::dtype) ? input(call).view(*call.dtype()) : input(call).view(call.dims(Name::size)));
     }),
    view("view_as", TENON_VIEW(input(call).view(call.tensor(Name::other).sizes()))),
    view("squeeze_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor&) { return squeezed(call); });
     }),
    view("t_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [](const Tensor& self) {
         if (self.dim() > 2)
           throw Error("t_() expects a tensor with <= 2 dimensions, but self is " + std::to_string(self.dim()) + "D");
         return self.t();
       });
     }),
    view("swapaxes_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor& self) {
         return self.transpose(call.integer(Name::axis0), call.integer(Name::axis1));
       });
     }),
    view("swapdims_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor& self) {
         return self.transpose(call.integer(Name::dim0), call.integer(Name::dim1));
       });
     }),
    view("transpose_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor& self) {
         return self.transpose(call.integer(Name::dim0), call.integer(Name::dim1));
       });
     }),
    view("unsqueeze_", [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor& self) { return self.unsqueeze(call.integer(Name::dim)); });
     }),

    // Copies and writes.
    {"clone", kBoth, "(Tensor input, *, memory_format? memory_format=None)", "A copy with its own memory.",
     TENON_VIEW(cloned(call))},
    view("conj", [](const Call& call) -> PyObject* { return same_or_new(call, call.run([&] { return conj(input(call)); })); }),
    view("adjoint", [](const Call& call) -> PyObject* {
       return same_or_new(call, adjoint(input(call), "tensor.adjoint()", "adjoint()"));
     }),
    view("positive", [](const Call& call) -> PyObject* {
       positive(input(call));
       return again(call.object(Name::input));
     }),
    view("resolve_conj", [](const Call& call) -> PyObject* { return again(call.object(Name::input)); }),
    {"contiguous", kMethod, "(Tensor input, *, memory_format memory_format=torch.contiguous_format)",
     "The tensor itself if it is contiguous, otherwise a contiguous copy.", contiguous},
    {"copy_", kMethod, "(Tensor input, Operand other, bool non_blocking=False)", "Copies the elements of other into the tensor, broadcast and cast.",
     [](const Call& call) -> PyObject* {
       const Arg other = call.arg(Name::other);
       // A number is cast as an element is, wraps included.
       const Tensor source = other.is_tensor() ? other.tensor() : full({}, other.number(), dtype_of_number(other.number()));
       return written(call, [&](Tensor& self) { self.copy_(source); });
     }},
    {"fill", kFunction, "(Tensor input, Tensor value)\n(Tensor input, Number value)",
     "A tensor of input's shape and dtype with one value for all elements.", filled_anew},
    {"fill_", kBoth, "(Tensor input, Tensor value)\n(Tensor input, Number value)", "Sets all elements to one value.", filled},
    {"fill_diagonal_", kMethod, "(Tensor input, Number fill_value, bool wrap=False)",
     "Sets the elements of the main diagonal; with wrap, of a tall matrix, also of the diagonals below.",
     [](const Call& call) -> PyObject* {
       return written(call, [&](Tensor& self) {
         fill_diagonal(self, call.number(Name::fill_value), call.boolean(Name::wrap));
       });
     }},
    {"zero_", kBoth, "(Tensor input)", "Sets all elements to 0.",
     [](const Call& call) -> PyObject* { return written(call, [](Tensor& self) { self.zero_(); }); }},
    {"resize_", kMethod, "(Tensor input, ints size, *, memory_format? memory_format=None)",
     "Changes the shape; the storage grows if necessary.",
     [](const Call& call) -> PyObject* {
       resize_to(call, call.dims(Name::size));
       return again(call.object(Name::input));
     }},
    {"resize_as_", kBoth, "(Tensor input, Tensor the_template, *, memory_format? memory_format=None)",
     "Changes the shape to that of the template; the storage grows if necessary.",
     [](const Call& call) -> PyObject* {
       const Tensor& like = call.tensor(Name::the_template);
       const bool is_last = !like.is_contiguous() && like.is_contiguous(MemoryFormat::channels_last);
       resize_to(call, like.sizes(), is_last ? MemoryFormat::channels_last : MemoryFormat::contiguous);
       return again(call.object(Name::input));
     }},
    {"sum_to_size", kMethod, "(Tensor input, ints size)", "The sum over the dims that a broadcast from `size` would add or expand.",
     [](const Call& call) -> PyObject* { return same_or_new(call, summed(call)); }},
    {"to", kMethod,
     "(Tensor input, device device=None, dtype dtype=None, bool non_blocking=False, bool copy=False, *, memory_format? "
     "memory_format=None)\n(Tensor input, dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? "
     "memory_format=None)\n(Tensor input, Tensor tensor, bool non_blocking=False, bool copy=False, *, memory_format? "
     "memory_format=None)",
     "The same values in another dtype or on another device.", converted},
    {"type", kMethod, "(Tensor input, object dtype=None, bool non_blocking=False) -> object",
     "Without a dtype the name of PyTorch's older class; with one the same as to().", typed},
    {"type_as", kMethod, "(Tensor input, Tensor other)", "The same as to(other.dtype).",
     [](const Call& call) -> PyObject* {
       return same_or_new(call, call.run([&] { return input(call).to(call.tensor(Name::other).dtype()); }));
     }},
#define TENON_CAST(NAME, DTYPE)                                                                           \
  {                                                                                                       \
    NAME, kMethod, "(Tensor input, *, memory_format? memory_format=None)", "The same as to(" #DTYPE ").", \
        cast_to<Dtype::DTYPE>                                                                             \
  }
    TENON_CAST("bfloat16", bfloat16),
    TENON_CAST("bool", bool_),
    TENON_CAST("byte", uint8),
    TENON_CAST("cdouble", complex128),
    TENON_CAST("cfloat", complex64),
    TENON_CAST("char", int8),
    TENON_CAST("double", float64),
    TENON_CAST("float", float32),
    TENON_CAST("half", float16),
    TENON_CAST("int", int32),
    TENON_CAST("long", int64),
    TENON_CAST("short", int16),
#undef TENON_CAST
    {"cpu", kMethod, "(Tensor input, *, memory_format? memory_format=None)", "The same as to('cpu').",
     [](const Call& call) -> PyObject* {
       const Tensor result = input(call).to(Device::cpu);
       const Tensor laid_out = result.to(result.dtype(), false, call.memory_format(MemoryFormat::preserve));
       return laid_out.is(input(call)) ? again(call.object(Name::input)) : wrap(laid_out);
     }},

    // Properties of a tensor.
    {"data_ptr", kMethod, "(Tensor input) -> int", "The address of the first element.",
     TENON_VALUE(PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(check_place_known("data_ptr()", input(call)).data_ptr())))},
    {"dim", kMethod, "(Tensor input) -> int", "The number of dims.", TENON_VALUE(PyLong_FromLongLong(input(call).dim()))},
    {"ndimension", kMethod, "(Tensor input) -> int", "The number of dims.", TENON_VALUE(PyLong_FromLongLong(input(call).dim()))},
    {"element_size", kMethod, "(Tensor input) -> int", "The size of an element in bytes.",
     TENON_VALUE(PyLong_FromLongLong(input(call).itemsize()))},
    {"is_contiguous", kMethod, "(Tensor input, *, memory_format memory_format=torch.contiguous_format) -> bool",
     "Whether the elements are dense and in the order of memory_format.",
     TENON_VALUE(PyBool_FromLong(input(call).is_contiguous(call.memory_format(MemoryFormat::contiguous))))},
    {"is_floating_point", kBoth, "(Tensor input) -> bool", "Whether the dtype is floating point.",
     TENON_VALUE(PyBool_FromLong(is_floating_point(input(call).dtype())))},
    {"is_complex", kBoth, "(Tensor input) -> bool", "Whether the dtype is complex.", TENON_VALUE(PyBool_FromLong(is_complex(input(call).dtype())))},
    {"is_conj", kBoth, "(Tensor input) -> bool", "Always false: conj computes its result at once.",
     TENON_VALUE(PyBool_FromLong(0))},
    {"is_signed", kBoth, "(Tensor input) -> bool", "Whether the dtype can hold negative numbers.",
     TENON_VALUE(PyBool_FromLong(is_signed(input(call).dtype())))},
    {"item", kMethod, "(Tensor input) -> object", "The element of a tensor that has only one, as a Python number.", TENON_VALUE(to_python(input(call).item()))},
    {"numel", kBoth, "(Tensor input) -> int", "The number of elements.", TENON_VALUE(PyLong_FromLongLong(input(call).numel()))},
    {"nelement", kMethod, "(Tensor input) -> int", "The number of elements.", TENON_VALUE(PyLong_FromLongLong(input(call).numel()))},
    {"size", kMethod, "(Tensor input, int? dim=None) -> object", "The shape, or the size of dim.",
     TENON_VALUE(call.has(Name::dim) ? PyLong_FromLongLong(input(call).size(call.integer(Name::dim)))
                                     : to_size(input(call).sizes()))},
    {"storage_offset", kMethod, "(Tensor input) -> int", "The position of the first element in the storage, in elements.",
     TENON_VALUE(PyLong_FromLongLong(check_place_known("storage_offset()", input(call)).storage_offset()))},
    {"stride", kMethod, "(Tensor input, int? dim=None) -> object", "The strides in elements, or the stride of dim.",
     TENON_VALUE(call.has(Name::dim) ? PyLong_FromLongLong(input(call).stride(call.integer(Name::dim)))
                                     : to_tuple(input(call).strides()))},
    {"tolist", kMethod, "(Tensor input) -> object", "The elements as nested lists of Python numbers.", TENON_VALUE(to_list(input(call)))},
};

}  // namespace

std::vector<Entry> view_entries() { return entries<kViews>(); }

}  // namespace tenon::python
