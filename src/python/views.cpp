// Views, copies and writes: a line for each function. It is a function, a method or both, as in PyTorch.
#include "autograd/views.h"
#include "autograd/meta.h"
#include "python/bindings.h"
#include "python/object.h"
#include "python/values.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "type/visit.h"

namespace tenon::python {
namespace {

constexpr Binding kBoth = Binding::both, kFunction = Binding::function, kMethod = Binding::method;

const Tensor& input(const Call& call) { return call.tensor(Name::input); }

#define TENON_VIEW(EXPRESSION) [](const Call& call) -> PyObject* { return wrap(EXPRESSION); }
#define TENON_VALUE(EXPRESSION) []([[maybe_unused]] const Call& call) -> PyObject* { return checked(EXPRESSION); }

Tensor squeezed(const Call& call) {
  if (!call.has(Name::dim)) return input(call).squeeze();
  if (PyLong_Check(call.object(Name::dim))) return input(call).squeeze(call.integer(Name::dim));
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
Tensor strided(const Call& call) {
  return input(call).as_strided(call.dims(Name::size), call.dims(Name::stride),
                                call.optional_integer(Name::storage_offset));
}

/// An in-place view op: gives the tensor another shape over the same storage.
template <class View>
PyObject* reshaped_in_place(const Call& call, const View& view) {
  const Tensor& self = call.tensor(Name::input);
  autograd::check_inplace(self, self.requires_grad());
  take_layout(self, view(self));
  return again(call.self());
}

/// The same object if nothing changed.
PyObject* same_or_new(const Call& call, Tensor result) {
  return result.is(input(call)) ? again(call.object(Name::input)) : wrap(std::move(result));
}

/// An in-place op.
template <class Write>
PyObject* written(const Call& call, const Write& write) {
  call.run([&] { write(call.tensor(Name::input)); });
  return again(call.self());
}

PyObject* filled(const Call& call) {
  const Arg value = call.arg(Name::value);
  return written(call,
                 [&](Tensor& self) { value.is_tensor() ? self.fill_(value.tensor()) : self.fill_(value.number()); });
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
  return result.is(input(call)) ? again(call.self()) : wrap(result);
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

/// resize_. A memory format changes the strides even if the shape stays.
void resize(const Call& call) {
  Tensor& self = call.tensor(Name::input);
  const Dims sizes = call.dims(Name::size);
  if (self.requires_grad() || !call.has(Name::memory_format)) return static_cast<void>(self.resize_(sizes));
  for (int64_t size : sizes)
    if (size < 0) throw Error("numel: integer multiplication overflow");
  const MemoryFormat format = call.memory_format(MemoryFormat::contiguous);
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

constexpr const char* kDims = "(Tensor input, ints size)";

const Definition kViews[] = {
    {"_is_view", kMethod, "(Tensor input)", "Whether its elements are those of another tensor.",
     [](const Call& call) -> PyObject* { return PyBool_FromLong(input(call).is_view()); }},
    {"as_strided", kBoth, "(Tensor input, ints size, ints stride, int? storage_offset=None)",
     "A view with any sizes and strides over the storage.", TENON_VIEW(strided(call))},
    {"broadcast_to", kBoth, kDims, "The same as expand.", TENON_VIEW(input(call).expand(call.dims(Name::size)))},
    {"diagonal", kBoth, "(Tensor input, int offset=0, int dim1=0, int dim2=1)",
     "A view of a diagonal of two dims, as the last dim.",
     TENON_VIEW(input(call).diagonal(call.integer(Name::offset, 0), call.integer(Name::dim1, 0), call.integer(Name::dim2, 1)))},
    {"expand", kMethod, "(Tensor input, ints size, *, bool implicit=False)", "A view in which dims of size 1 repeat; -1 keeps a size.",
     TENON_VIEW(input(call).expand(call.dims(Name::size)))},
    {"expand_as", kMethod, "(Tensor input, Tensor other)", "The same as expand(other.size()).",
     TENON_VIEW(input(call).expand_as(call.tensor(Name::other)))},
    {"flatten", kBoth, "(Tensor input, int start_dim=0, int end_dim=-1)", "Dims start_dim to end_dim as one.",
     [](const Call& call) -> PyObject* { return same_or_new(call, flattened(call)); }},
    {"movedim", kBoth, "(Tensor input, int source, int destination)\n(Tensor input, ints source, ints destination)",
     "A view with dims at other places.", TENON_VIEW(moved(call))},
    {"moveaxis", kBoth, "(Tensor input, int source, int destination)\n(Tensor input, ints source, ints destination)",
     "The same as movedim.", TENON_VIEW(moved(call))},
    {"narrow", kBoth, "(Tensor input, int dim, Tensor start, int length)\n(Tensor input, int dim, int start, int length)", "A view of `length` places of a dim.",
     TENON_VIEW(input(call).narrow(call.integer(Name::dim), start_of(call), call.integer(Name::length)))},
    {"permute", kBoth, "(Tensor input, ints dims)", "A view with the dims in another order.",
     TENON_VIEW(input(call).permute(call.dims(Name::dims)))},
    {"ravel", kBoth, "(Tensor input)", "All elements in one dim.",
     TENON_VIEW(reshaped(call, [](const Tensor& self) { return self.contiguous().reshape({-1}); }))},
    {"imag", kFunction, "(Tensor input)", "A view of the imaginary parts.", TENON_VIEW(imag(input(call)))},
    {"real", kFunction, "(Tensor input)", "A view of the real parts; input itself where it is real.",
     [](const Call& call) -> PyObject* { return same_or_new(call, real(input(call))); }},
    {"view_as_complex", kFunction, "(Tensor input)", "A view in which the last dim, of size 2, is a complex number.",
     TENON_VIEW(view_as_complex(input(call)))},
    {"view_as_real", kFunction, "(Tensor input)", "A view with both parts in a last dim of size 2.",
     TENON_VIEW(view_as_real(input(call)))},
    {"reshape", kBoth, "(Tensor input, ints shape)", "A view with another shape where strides allow it, else a copy.",
     TENON_VIEW(reshaped(call))},
    {"reshape_as", kMethod, "(Tensor input, Tensor other)", "The same as reshape(other.size()).",
     TENON_VIEW(input(call).reshape(call.tensor(Name::other).sizes()))},
    {"select", kBoth, "(Tensor input, int dim, int index)", "A view of one place of a dim, which goes away.",
     TENON_VIEW(input(call).select(call.integer(Name::dim), call.integer(Name::index)))},
    {"squeeze", kBoth, "(Tensor input)\n(Tensor input, int dim)\n(Tensor input, ints dim)", "A view without dims of size 1.",
     TENON_VIEW(squeezed(call))},
    {"swapaxes", kBoth, "(Tensor input, int axis0, int axis1)", "The same as transpose.",
     TENON_VIEW(input(call).transpose(call.integer(Name::axis0), call.integer(Name::axis1)))},
    {"swapdims", kBoth, "(Tensor input, int dim0, int dim1)", "The same as transpose.",
     TENON_VIEW(input(call).transpose(call.integer(Name::dim0), call.integer(Name::dim1)))},
    {"t", kBoth, "(Tensor input)", "A matrix with its dims swapped.", TENON_VIEW(input(call).t())},
    {"transpose", kBoth, "(Tensor input, int dim0, int dim1)", "A view with two dims swapped.",
     TENON_VIEW(input(call).transpose(call.integer(Name::dim0), call.integer(Name::dim1)))},
    {"unflatten", kBoth, "(Tensor input, int dim, ints sizes)", "A view with one dim as several.",
     TENON_VIEW(unflattened(call))},
    {"unfold", kMethod, "(Tensor input, int dimension, int size, int step)",
     "Windows of `size` elements along a dim, `step` apart, in a new last dim.",
     TENON_VIEW(input(call).unfold(call.integer(Name::dimension), call.integer(Name::size), call.integer(Name::step)))},
    {"unsqueeze", kBoth, "(Tensor input, int dim)", "A view with a new dim of size 1.",
     TENON_VIEW(input(call).unsqueeze(call.integer(Name::dim)))},
    {"view", kMethod, "(Tensor input, dtype dtype)\n(Tensor input, ints size)", "A view with another shape.",
     [](const Call& call) -> PyObject* {
       if (call.has(Name::dtype) && *call.dtype() != input(call).dtype())
         throw NotImplementedError("view: another dtype over the same bytes is not supported");
       return wrap(call.has(Name::dtype) ? input(call).detach() : input(call).view(call.dims(Name::size)));
     }},
    {"view_as", kMethod, "(Tensor input, Tensor other)", "The same as view(other.size()).",
     TENON_VIEW(input(call).view(call.tensor(Name::other).sizes()))},
    {"squeeze_", kMethod, "(Tensor input)\n(Tensor input, int dim)\n(Tensor input, ints dim)", "squeeze in place.",
     [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor&) { return squeezed(call); });
     }},
    {"t_", kMethod, "(Tensor input)", "t in place.",
     [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [](const Tensor& self) {
         if (self.dim() > 2)
           throw Error("t_() expects a tensor with <= 2 dimensions, but self is " + std::to_string(self.dim()) + "D");
         return self.t();
       });
     }},
    {"transpose_", kMethod, "(Tensor input, int dim0, int dim1)", "transpose in place.",
     [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor& self) {
         return self.transpose(call.integer(Name::dim0), call.integer(Name::dim1));
       });
     }},
    {"unsqueeze_", kMethod, "(Tensor input, int dim)", "unsqueeze in place.",
     [](const Call& call) -> PyObject* {
       return reshaped_in_place(call, [&](const Tensor& self) { return self.unsqueeze(call.integer(Name::dim)); });
     }},

    // Copies and writes.
    {"clone", kBoth, "(Tensor input, *, memory_format? memory_format=None)", "A copy.",
     TENON_VIEW(cloned(call))},
    {"conj", kBoth, "(Tensor input)", "The complex conjugate; input itself where it is real.",
     [](const Call& call) -> PyObject* { return same_or_new(call, call.run([&] { return conj(input(call)); })); }},
    {"adjoint", kBoth, "(Tensor input)", "The last two dims swapped, conjugated.",
     [](const Call& call) -> PyObject* {
       return same_or_new(call, adjoint(input(call), "tensor.adjoint()", "adjoint()"));
     }},
    {"resolve_conj", kBoth, "(Tensor input)", "input itself: conjugates are computed at once.",
     [](const Call& call) -> PyObject* { return again(call.object(Name::input)); }},
    {"contiguous", kMethod, "(Tensor input, *, memory_format memory_format=torch.contiguous_format)",
     "The tensor itself where it is dense and row-major, else a copy that is.", contiguous},
    {"copy_", kMethod, "(Tensor input, Operand other, bool non_blocking=False)", "Writes other, broadcast and cast.",
     [](const Call& call) -> PyObject* {
       const Arg other = call.arg(Name::other);
       // A number is cast as an element is, wraps included.
       const Tensor source = other.is_tensor() ? other.tensor() : full({}, other.number(), dtype_of_number(other.number()));
       return written(call, [&](Tensor& self) { self.copy_(source); });
     }},
    {"fill_", kMethod, "(Tensor input, Tensor value)\n(Tensor input, Number value)", "Writes one value everywhere.", filled},
    {"zero_", kMethod, "(Tensor input)", "Writes 0 everywhere.",
     [](const Call& call) -> PyObject* { return written(call, [](Tensor& self) { self.zero_(); }); }},
    {"resize_", kMethod, "(Tensor input, ints size, *, memory_format? memory_format=None)",
     "Another shape over the same storage, which grows when needed.",
     [](const Call& call) -> PyObject* {
       resize(call);
       return again(call.self());
     }},
    {"sum_to_size", kMethod, kDims, "The sum over the dims a broadcast from `size` would have added.",
     [](const Call& call) -> PyObject* { return same_or_new(call, summed(call)); }},
    {"to", kMethod,
     "(Tensor input, device device=None, dtype dtype=None, bool non_blocking=False, bool copy=False, *, memory_format? "
     "memory_format=None)\n(Tensor input, dtype dtype, bool non_blocking=False, bool copy=False, *, memory_format? "
     "memory_format=None)\n(Tensor input, Tensor tensor, bool non_blocking=False, bool copy=False, *, memory_format? "
     "memory_format=None)",
     "The same values in another dtype or on another device.", converted},
    {"type", kMethod, "(Tensor input, object dtype=None, bool non_blocking=False)",
     "The name of the tensor's older class; with a dtype the same as to().", typed},
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
       return laid_out.is(input(call)) ? again(call.self()) : wrap(laid_out);
     }},

    // Properties of a tensor.
    {"data_ptr", kMethod, "(Tensor input)", "The address of the first element.",
     TENON_VALUE(PyLong_FromUnsignedLongLong(reinterpret_cast<uintptr_t>(input(call).data_ptr())))},
    {"dim", kMethod, "(Tensor input)", "The number of dims.", TENON_VALUE(PyLong_FromLongLong(input(call).dim()))},
    {"ndimension", kMethod, "(Tensor input)", "The number of dims.", TENON_VALUE(PyLong_FromLongLong(input(call).dim()))},
    {"element_size", kMethod, "(Tensor input)", "Bytes of an element.",
     TENON_VALUE(PyLong_FromLongLong(input(call).itemsize()))},
    {"is_contiguous", kMethod, "(Tensor input, *, memory_format memory_format=torch.contiguous_format)",
     "Whether it is dense in the order of a memory format.",
     TENON_VALUE(PyBool_FromLong(input(call).is_contiguous(call.memory_format(MemoryFormat::contiguous))))},
    {"is_floating_point", kBoth, "(Tensor input)", "Whether the dtype is floating point.",
     TENON_VALUE(PyBool_FromLong(is_floating_point(input(call).dtype())))},
    {"is_complex", kBoth, "(Tensor input)", "Whether the dtype is complex.", TENON_VALUE(PyBool_FromLong(is_complex(input(call).dtype())))},
    {"is_conj", kBoth, "(Tensor input)", "Whether elements are conjugated when they are read: never.",
     TENON_VALUE(PyBool_FromLong(0))},
    {"is_signed", kBoth, "(Tensor input)", "Whether the dtype holds negative numbers.",
     TENON_VALUE(PyBool_FromLong(is_signed(input(call).dtype())))},
    {"item", kMethod, "(Tensor input)", "The one element as a Python number.", TENON_VALUE(to_python(input(call).item()))},
    {"numel", kBoth, "(Tensor input)", "The number of elements.", TENON_VALUE(PyLong_FromLongLong(input(call).numel()))},
    {"nelement", kMethod, "(Tensor input)", "The number of elements.", TENON_VALUE(PyLong_FromLongLong(input(call).numel()))},
    {"size", kMethod, "(Tensor input, int? dim=None)", "The shape, or the size of one dim.",
     TENON_VALUE(call.has(Name::dim) ? PyLong_FromLongLong(input(call).size(call.integer(Name::dim)))
                                     : to_size(input(call).sizes()))},
    {"storage_offset", kMethod, "(Tensor input)", "The place of the first element in the storage.",
     TENON_VALUE(PyLong_FromLongLong(input(call).storage_offset()))},
    {"stride", kMethod, "(Tensor input, int? dim=None)", "The strides in elements, or that of one dim.",
     TENON_VALUE(call.has(Name::dim) ? PyLong_FromLongLong(input(call).stride(call.integer(Name::dim)))
                                     : to_tuple(input(call).strides()))},
    {"tolist", kMethod, "(Tensor input)", "Nested lists of Python numbers.", TENON_VALUE(to_list(input(call)))},
};

}  // namespace

std::vector<Entry> view_entries() { return entries<kViews>(); }

}  // namespace tenon::python
