// New tensors: a line for each function.
#include "tenon/factories.h"

#include <algorithm>

#include "autograd/meta.h"
#include "dispatch/differentiate.h"
#include "python/bindings.h"
#include "python/out.h"
#include "python/random.h"
#include "python/references.h"
#include "python/values.h"
#include "tenon/policy.h"
#include "tenon/random.h"

namespace tenon::python {
namespace {

constexpr Binding kFunction = Binding::function, kMethod = Binding::method;

Options options_of(const Call& call) {
  Options options;
  options.dtype = call.dtype();
  options.device = call.device();
  const bool follows = call.has(Name::input) || call.has(Name::out);  // another tensor's device
  if (!options.device && !follows) options.device = default_device();
  return options;
}

/// Wraps a new tensor and sets requires_grad as the call asks.
PyObject* fresh(const Call& call, Tensor made) {
  if (!call.boolean(Name::requires_grad)) return wrap(std::move(made));
  if (!is_inexact(made.dtype())) throw Error("Only Tensors of floating point and complex dtype can require gradients");
  return wrap_known(made.requires_grad_());
}

/// The tensor given as `out=`, with requires_grad as the call asks.
PyObject* returned(const Call& call) {
  Tensor& out = call.tensor(Name::out);
  const bool recorded = call.boolean(Name::requires_grad);
  if (recorded && !is_inexact(out.dtype()))
    throw Error("Only Tensors of floating point and complex dtype can require gradients");
  // Looks at its own flag and node; what a view inherits from its base stays.
  const AutogradMeta* meta = out.impl()->meta();
  if ((meta && meta->requires_grad) != recorded && !autograd::has_node(out.impl())) out.requires_grad_(recorded);
  return call.returned();
}

/// Checks `out=` before anything is computed.
void check_given(const Call& call) {
  check_out(call);
  if (call.has(Name::out)) check_unrecorded("aten::" + call.name(), call.tensor(Name::out));
}

/// A new tensor; or `out=`, resized and written.
PyObject* given(const Call& call, const Tensor& made) {
  if (!call.has(Name::out)) return fresh(call, made);
  Tensor& out = call.tensor(Name::out);
  resize_quietly(out, made.sizes());
  out.copy_(made);
  return returned(call);
}

/// The same for arange and similar functions, whose `out=` keeps its shape if its numel is right. `warns`: warn if the
/// numel differs.
PyObject* given_range(const Call& call, const Tensor& made, bool warns) {
  if (!call.has(Name::out)) return fresh(call, made);
  Tensor& out = call.tensor(Name::out);
  if (out.numel() != made.numel()) {
    if (warns && out.numel() > 0)
      warn("UserWarning", "The number of elements in the out tensor of shape " + to_string(out.sizes()) + " is " +
                              std::to_string(out.numel()) + " which does not match the computed number of elements " +
                              std::to_string(made.numel()) +
                              ". Note that this may occur as a result of rounding error. The out tensor will be "
                              "resized to a tensor of shape (" +
                              std::to_string(made.numel()) + ",).");
    resize_quietly(out, made.sizes());
  }
  out.copy_(made.view(out.sizes()));
  return returned(call);
}

/// Resizes `out=` without writing elements, as empty does.
PyObject* given_memory(const Call& call, SizesView size) {
  call.tensor(Name::out).resize_(size);
  return returned(call);
}

/// Fills with a value; elements of `out=` may overlap.
PyObject* given_value(const Call& call, Scalar value) {
  Tensor& out = call.tensor(Name::out);
  const Dims size = call.dims(Name::size);
  check_fill(value, out.dtype(), numel_of(size));  // before `out` is resized
  resize_quietly(out, size);
  out.fill_(value);
  return returned(call);
}

/// The call's options; `out=` decides the dtype.
Options with_out(const Call& call) {
  Options options = options_of(call);
  if (call.has(Name::out) && !options.dtype) options.dtype = call.tensor(Name::out).dtype();
  return options;
}

#define TENON_NEW(EXPRESSION)         \
  [](const Call& call) -> PyObject* { \
    check_given(call);                \
    return given(call, EXPRESSION);   \
  }
#define TENON_RANGE(EXPRESSION, WARNS)           \
  [](const Call& call) -> PyObject* {            \
    check_given(call);                           \
    return given_range(call, EXPRESSION, WARNS); \
  }
#define TENON_FILLED(VALUE, EXPRESSION)                       \
  [](const Call& call) -> PyObject* {                         \
    check_given(call);                                        \
    if (call.has(Name::out)) return given_value(call, VALUE); \
    return fresh(call, EXPRESSION);                           \
  }
#define TENON_OPTIONS                                                                                         \
  "Tensor out=None, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=False, bool? " \
  "requires_grad=False)"
#define TENON_LIKE_OPTIONS                                                                                         \
  "memory_format? memory_format=None, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=" \
  "False, bool? requires_grad=False)"
#define TENON_LIKE "(Tensor input, *, " TENON_LIKE_OPTIONS
#define TENON_RANDOM_LIKE(PARAMETERS) \
  "(" PARAMETERS ", *, Generator? generator, " TENON_LIKE_OPTIONS "\n(" PARAMETERS ", *, " TENON_LIKE_OPTIONS

#define TENON_ENDS(REST)                                                                                       \
  "(Tensor start, Tensor end, " REST "\n(Number start, Tensor end, " REST "\n(Tensor start, Number end, " REST \
  "\n(Number start, Number end, " REST

/// An end of linspace or logspace: a number or a 0-dim tensor. The Error names all tensors that have dims.
Scalar end_of(const Call& call, Name name) {
  std::string dims;
  bool has_dims = false;
  for (const auto& [end, text] : {std::pair(Name::start, "start"), std::pair(Name::end, "end")}) {
    if (!is_tensor(call.object(end))) continue;
    has_dims |= call.tensor(end).dim() > 0;
    dims += (dims.empty() ? "" : " and ") + std::string(text) + " with " + std::to_string(call.tensor(end).dim()) +
            " dimension(s)";
  }
  if (has_dims) throw Error(call.name() + " only supports 0-dimensional start and end tensors, but got " + dims + ".");
  return is_tensor(call.object(name)) ? call.tensor(name).detach().item() : call.number(name);
}

Tensor arange_of(const Call& call) {
  const Options options = with_out(call);
  if (options.dtype == bool_ && options.device.value_or(Device::cpu) == Device::cpu)
    throw NotImplementedError("\"arange_cpu\" not implemented for 'Bool'");
  const Scalar start = call.number(Name::start, 0), end = call.number(Name::end), step = call.number(Name::step, 1);
  return arange(start, end, step, options);
}
Tensor eye_of(const Call& call) {
  return eye(call.integer(Name::n), call.integer(Name::m, call.integer(Name::n)), with_out(call));
}
MemoryFormat format_of(const Call& call) { return call.memory_format(MemoryFormat::preserve); }
Tensor empty_of(const Call& call) { return empty_like(call.tensor(Name::input), options_of(call), format_of(call)); }
/// Options of `x.new_...`: the defaults are those of `x`.
Options like_self(const Call& call) {
  const Tensor& self = call.tensor(Name::input);
  return {call.dtype().value_or(self.dtype()), call.device().value_or(self.device())};
}

bool is_long(SizesView size) {
  int64_t product = 1;
  return std::any_of(size.begin(), size.end(),
                     [&](int64_t n) { return __builtin_mul_overflow(product, n, &product); }) ||
         product >= kReleaseNumel;
}

/// Makes a tensor of the call's size and options. Releases the GIL if that takes long.
template <class Make>
Tensor made(const Call& call, const Make& make) {
  const Dims size = call.dims(Name::size);
  const Options options = with_out(call);
  const GilRelease released(is_long(size));
  return make(size, options);
}

/// The same with random values from the call's generator. `overwrite` draws into memory for `out=`.
template <class Draw, class Overwrite>
Tensor drawn(const Call& call, const Draw& draw, const Overwrite& overwrite) {
  const GivenGenerator drawn_from(call.object(Name::generator));
  return made(call, [&](SizesView size, const Options& options) {
    if (!call.has(Name::out)) return draw(size, options);
    Tensor result = memory_to_draw(call, size, options);
    overwrite(result);
    return result;
  });
}

/// PyTorch's warning that a tensor should be copied by clone().
void advise_on_copies(PyObject* data, const char* function) {
  if (!is_tensor(data)) return;
  warn("UserWarning",
       std::string("To copy construct from a tensor, it is recommended to use "
                   "sourceTensor.detach().clone() or sourceTensor.detach().clone().requires_grad_(True), "
                   "rather than ") +
           function + "(sourceTensor).");
}

Tensor integers_drawn(const Call& call) {
  const int64_t low = call.integer(Name::low, 0), high = call.integer(Name::high);
  return drawn(
      call, [&](SizesView size, const Options& options) { return randint(low, high, size, options); },
      [&](Tensor& out) { random_(out, low, high); });
}
template <class Draw>
Tensor drawn_like(const Call& call, const Draw& draw) {
  const Tensor& self = call.tensor(Name::input);
  const GivenGenerator drawn_from(call.object(Name::generator));
  const Options options = options_of(call);
  const GilRelease released(self.numel() >= kReleaseNumel);
  return draw(self, options, format_of(call));
}
/// A number, or a tensor of one.
int64_t bound_of(const Call& call) {
  if (!is_tensor(call.object(Name::high))) return call.integer(Name::high);
  const Tensor& high = call.tensor(Name::high);
  if (high.dim() != 0 || high.is_meta()) throw Error("high must be a scalar tensor and on CPU");
  return high.item().to<int64_t>();
}
Tensor integers_drawn_like(const Call& call) {
  const int64_t low = call.integer(Name::low, 0), high = bound_of(call);
  return drawn_like(call, [&](const Tensor& self, const Options& options, MemoryFormat format) {
    return randint_like(self, low, high, options, format);
  });
}
Tensor permutation_drawn(const Call& call) {
  const GivenGenerator drawn_from(call.object(Name::generator));
  const Options options = with_out(call);
  const int64_t n = call.integer(Name::n);
  const GilRelease released(n >= kReleaseNumel);
  return randperm(n, options);
}
Tensor full_of(const Call& call) {
  const Scalar value = call.number(Name::fill_value);
  return made(call, [&](SizesView size, const Options& options) { return full(size, value, options); });
}

#define TENON_MADE(FUNCTION, VALUE) \
  TENON_FILLED(VALUE, made(call, [](SizesView size, const Options& options) { return FUNCTION(size, options); }))
#define TENON_DRAWN_LIKE(FUNCTION)                                                                 \
  TENON_NEW(drawn_like(call, [](const Tensor& self, const Options& options, MemoryFormat format) { \
    return FUNCTION(self, options, format);                                                        \
  }))

PyObject* empty_call(const Call& call) {
  check_out(call);
  const Dims size = call.dims(Name::size);
  if (call.has(Name::out) && call.has(Name::memory_format))
    throw Error("'memory_format' argument is incompatible with 'out' tensor argument");
  if (call.has(Name::out)) return given_memory(call, size);
  if (!call.has(Name::memory_format)) return fresh(call, empty(size, options_of(call)));
  const MemoryFormat format = call.memory_format(MemoryFormat::contiguous);
  if (format == MemoryFormat::preserve) throw Error("unsupported memory format Preserve");
  const Dims strides = format_strides(size, format);
  return fresh(call, empty_strided(size, strides, options_of(call)));
}

Tensor rand_of(const Call& call) {
  return drawn(
      call, [](SizesView size, const Options& options) { return rand(size, options); },
      [](Tensor& out) { uniform_(out); });
}
PyObject* randn_call(const Call& call) {
  check_out(call);
  const Tensor values = drawn(
      call, [](SizesView size, const Options& options) { return randn(size, options); },
      [](Tensor& out) { normal_(out); });
  if (!call.has(Name::out)) return fresh(call, values);
  call.tensor(Name::out).resize_(values.sizes()).copy_(values);
  return returned(call);
}

PyObject* tensor_call(const Call& call, PyObject* data) {
  advise_on_copies(data, "torch.tensor");
  return fresh(call, tensor_of_values(data, options_of(call)));
}

const Definition kFactories[] = {
    {"arange", kFunction,
     "(Number end, *, " TENON_OPTIONS "\n(Number start, Number end, *, dtype dtype=None, layout layout=None, device "
     "device=None, bool? pin_memory=False, "
     "bool? requires_grad=False)"
     "\n(Number start, Number end, Number step=1, *, " TENON_OPTIONS,
     "The numbers from start to end, without end.", TENON_RANGE(arange_of(call), true)},
    {"empty", kFunction, "(ints size, *, memory_format? memory_format=None, " TENON_OPTIONS,
     "A tensor with uninitialised elements.", empty_call},
    {"empty_strided", kFunction,
     "(ints size, ints stride, *, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=False, "
     "bool? requires_grad=False)",
     "A tensor with uninitialised elements and the given strides.",
     TENON_NEW(empty_strided(call.dims(Name::size), call.dims(Name::stride), options_of(call)))},
    {"eye", kFunction, "(int n, *, " TENON_OPTIONS "\n(int n, int m, *, " TENON_OPTIONS,
     "A matrix with 1 on the diagonal and 0 elsewhere.", TENON_NEW(eye_of(call))},
    {"full", kFunction, "(ints size, Number fill_value, *, " TENON_OPTIONS, "A tensor filled with one value.",
     TENON_FILLED(call.number(Name::fill_value), full_of(call))},
    {"linspace", kFunction, TENON_ENDS("int steps, *, " TENON_OPTIONS),
     "`steps` numbers at equal distances from start to end, both included.",
     TENON_RANGE(linspace(end_of(call, Name::start), end_of(call, Name::end), call.integer(Name::steps), with_out(call)),
                 false)},
    {"ones", kFunction, "(ints size, *, " TENON_OPTIONS, "A tensor filled with 1.", TENON_MADE(ones, 1)},
    {"rand", kFunction, "(ints size, *, Generator? generator, " TENON_OPTIONS "\n(ints size, *, " TENON_OPTIONS,
     "Random numbers, uniform in [0, 1).", TENON_NEW(rand_of(call))},
    {"randint", kFunction,
     "(int high, ints size, *, Generator? generator, " TENON_OPTIONS "\n(int high, ints size, *, " TENON_OPTIONS
     "\n(int low, int high, ints size, *, Generator? generator, " TENON_OPTIONS
     "\n(int low, int high, ints size, *, " TENON_OPTIONS,
     "Random integers, uniform in [low, high).", TENON_NEW(integers_drawn(call))},
    {"randn", kFunction, "(ints size, *, Generator? generator, " TENON_OPTIONS "\n(ints size, *, " TENON_OPTIONS,
     "Random numbers from the normal distribution with mean 0 and variance 1.", randn_call},
#define TENON_NEW_ONLY \
  "*, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=False, bool? requires_grad=False)"
    {"bartlett_window", kFunction,
     "(int window_length, " TENON_NEW_ONLY "\n(int window_length, bool periodic, " TENON_NEW_ONLY,
     "A triangle between zeros.", TENON_NEW(bartlett_window(call.integer(Name::window_length), call.boolean(Name::periodic, true), options_of(call)))},
    {"blackman_window", kFunction,
     "(int window_length, " TENON_NEW_ONLY "\n(int window_length, bool periodic, " TENON_NEW_ONLY,
     "The Blackman window.", TENON_NEW(blackman_window(call.integer(Name::window_length), call.boolean(Name::periodic, true), options_of(call)))},
    {"hamming_window", kFunction,
     "(int window_length, " TENON_NEW_ONLY "\n(int window_length, bool periodic, " TENON_NEW_ONLY
     "\n(int window_length, bool periodic, float alpha, " TENON_NEW_ONLY
     "\n(int window_length, bool periodic, float alpha, float beta, " TENON_NEW_ONLY,
     "alpha less beta times a cosine, the Hamming window.",
     TENON_NEW(hamming_window(call.integer(Name::window_length), call.boolean(Name::periodic, true),
                              call.floating(Name::alpha, 0.54), call.floating(Name::beta, 0.46), options_of(call)))},
    {"hann_window", kFunction,
     "(int window_length, " TENON_NEW_ONLY "\n(int window_length, bool periodic, " TENON_NEW_ONLY,
     "The Hann window.", TENON_NEW(hann_window(call.integer(Name::window_length), call.boolean(Name::periodic, true), options_of(call)))},
    {"kaiser_window", kFunction,
     "(int window_length, " TENON_NEW_ONLY "\n(int window_length, bool periodic, " TENON_NEW_ONLY
     "\n(int window_length, bool periodic, float beta, " TENON_NEW_ONLY,
     "The Kaiser window.",
     TENON_NEW(kaiser_window(call.integer(Name::window_length), call.boolean(Name::periodic, true),
                             call.floating(Name::beta, 12), options_of(call)))},
    {"empty_permuted", kFunction, "(ints size, ints physical_layout, " TENON_NEW_ONLY,
     "A tensor with uninitialised elements that lie in memory in the given order of dims.",
     TENON_NEW(empty_permuted(call.dims(Name::size), call.dims(Name::physical_layout), options_of(call)))},
    {"tril_indices", kFunction, "(int row, int col, int offset=0, " TENON_NEW_ONLY,
     "The indices on and below a diagonal of a matrix: one row of rows and one of columns.",
     TENON_NEW(tril_indices(call.integer(Name::row), call.integer(Name::col), call.integer(Name::offset), options_of(call)))},
    {"triu_indices", kFunction, "(int row, int col, int offset=0, " TENON_NEW_ONLY,
     "The indices on and above a diagonal of a matrix: one row of rows and one of columns.",
     TENON_NEW(triu_indices(call.integer(Name::row), call.integer(Name::col), call.integer(Name::offset), options_of(call)))},
    {"logspace", kFunction, TENON_ENDS("int steps, float base=10.0, *, " TENON_OPTIONS),
     "`steps` powers of base, whose exponents have equal distances from start to end, both included.",
     TENON_RANGE(logspace(end_of(call, Name::start), end_of(call, Name::end), call.integer(Name::steps),
                          call.floating(Name::base, 10), with_out(call)),
                 false)},
    {"range", kFunction, "(Number start, Number end, Number step=1, *, " TENON_OPTIONS,
     "The numbers from start to end, with end.",
     TENON_RANGE(range(call.number(Name::start), call.number(Name::end), call.number(Name::step, 1), with_out(call)), false)},
    {"scalar_tensor", kFunction,
     "(Number s, *, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=False, bool? "
     "requires_grad=False)",
     "A 0-dim tensor with one value.", TENON_NEW(scalar_tensor(call.number(Name::s), options_of(call)))},
    {"zeros", kFunction, "(ints size, *, " TENON_OPTIONS, "A tensor filled with 0.", TENON_MADE(zeros, 0)},

    {"empty_like", kFunction, TENON_LIKE, "A tensor with uninitialised elements and input's shape and layout.",
     TENON_NEW(empty_of(call))},
    {"full_like", kFunction,
     "(Tensor input, Number fill_value, *, memory_format? memory_format=None, dtype dtype=None, layout layout=None, "
     "device "
     "device=None, bool? pin_memory=False, bool? requires_grad=False)",
     "A tensor filled with one value, with input's shape and layout.",
     TENON_NEW(full_like(call.tensor(Name::input), call.number(Name::fill_value), options_of(call), format_of(call)))},
    {"ones_like", kFunction, TENON_LIKE, "A tensor filled with 1, with input's shape and layout.",
     TENON_NEW(ones_like(call.tensor(Name::input), options_of(call), format_of(call)))},
    {"rand_like", kFunction, TENON_RANDOM_LIKE("Tensor input"), "Random numbers, uniform in [0, 1), with input's shape.",
     TENON_DRAWN_LIKE(rand_like)},
    {"randn_like", kFunction, TENON_RANDOM_LIKE("Tensor input"), "Random numbers from the normal distribution, with input's shape.",
     TENON_DRAWN_LIKE(randn_like)},
    {"zeros_like", kFunction, TENON_LIKE, "A tensor filled with 0, with input's shape and layout.",
     TENON_NEW(zeros_like(call.tensor(Name::input), options_of(call), format_of(call)))},

    {"randint_like", kFunction,
     TENON_RANDOM_LIKE("Tensor input, int low, int high")
     "\n" TENON_RANDOM_LIKE("Tensor input, Tensor high") "\n" TENON_RANDOM_LIKE("Tensor input, int high"),
     "Random integers, uniform in [low, high), with input's shape.", TENON_NEW(integers_drawn_like(call))},
    {"randperm", kFunction, "(int n, *, Generator? generator, " TENON_OPTIONS "\n(int n, *, " TENON_OPTIONS,
     "The integers from 0 to n - 1 in random order.", TENON_NEW(permutation_drawn(call))},

#define TENON_NEW_OPTIONS \
  "*, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=False, bool? requires_grad=False)"
    {"new_empty", kMethod, "(Tensor input, ints size, " TENON_NEW_OPTIONS,
     "A tensor with uninitialised elements, of this tensor's dtype.",
     TENON_NEW(empty(call.dims(Name::size), like_self(call)))},
    {"new_full", kMethod, "(Tensor input, ints size, Number fill_value, " TENON_NEW_OPTIONS,
     "A tensor filled with one value, of this tensor's dtype.",
     TENON_NEW(full(call.dims(Name::size), call.number(Name::fill_value), like_self(call)))},
    {"new_ones", kMethod, "(Tensor input, ints size, " TENON_NEW_OPTIONS,
     "A tensor filled with 1, of this tensor's dtype.", TENON_NEW(ones(call.dims(Name::size), like_self(call)))},
    {"new_tensor", kMethod,
     "(Tensor input, object data, *, dtype dtype=None, device device=None, bool requires_grad=False)",
     "A new tensor with the values of data, of this tensor's dtype.",
     [](const Call& call) -> PyObject* {
       advise_on_copies(call.object(Name::data), "tensor.new_tensor");
       return fresh(call, tensor_of_values(call.object(Name::data), like_self(call)));
     }},
    {"new_zeros", kMethod, "(Tensor input, ints size, " TENON_NEW_OPTIONS,
     "A tensor filled with 0, of this tensor's dtype.", TENON_NEW(zeros(call.dims(Name::size), like_self(call)))},

    {"tensor", kFunction,
     "(object data, *, dtype dtype=None, device device=None, bool pin_memory=False, bool requires_grad=False)",
     "A new tensor with the values of nested lists, numbers or arrays.",
     [](const Call& call) -> PyObject* { return tensor_call(call, call.object(Name::data)); }},
};

}  // namespace

PyObject* returned_by_factory(const Call& call) { return returned(call); }

std::vector<Entry> factory_entries() { return entries<kFactories>(); }

}  // namespace tenon::python
