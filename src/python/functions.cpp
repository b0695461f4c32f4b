// Functions over tensors that are not declared ops.
#include "python/bindings.h"
#include "python/exchange.h"
#include "python/out.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/threads.h"
#include "tensor/overlap.h"

namespace tenon::python {
namespace {

constexpr Binding kFunction = Binding::function, kBoth = Binding::both;

const Definition kFunctions[] = {
    {"allclose", kBoth,
     "(Tensor input, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> bool",
     "Whether isclose is true for all elements.",
     [](const Call& call) -> PyObject* {
       const double rtol = call.floating(Name::rtol, 1e-5), atol = call.floating(Name::atol, 1e-8);
       const bool close = call.run([&] {
         return allclose(call.tensor(Name::input), call.tensor(Name::other), rtol, atol, call.boolean(Name::equal_nan));
       });
       return PyBool_FromLong(close);
     }},
    {"can_cast", kFunction, "(dtype from_, dtype to) -> bool",
     "Whether a result of dtype from_ may be stored in dtype to.",
     [](const Call& call) -> PyObject* {
       return PyBool_FromLong(can_cast(*call.dtype(Name::from_), *call.dtype(Name::to)));
     }},
    {"equal", kBoth, "(Tensor input, Tensor other) -> bool", "Whether both have one shape and the same elements.",
     [](const Call& call) -> PyObject* {
       const bool same = call.run([&] { return equal(call.tensor(Name::input), call.tensor(Name::other)); });
       return PyBool_FromLong(same);
     }},
    {"from_numpy", kFunction, "(object ndarray)", "A tensor that shares the memory of an ndarray.",
     [](const Call& call) -> PyObject* { return wrap(from_numpy(call.object(Name::ndarray))); }},
    {"get_default_dtype", kFunction, "() -> dtype", "The dtype of new tensors of floats.",
     [](const Call&) -> PyObject* { return to_python(get_default_dtype()); }},
    {"get_num_threads", kFunction, "() -> int", "The number of threads that an op may use.",
     [](const Call&) -> PyObject* { return checked(PyLong_FromLong(get_num_threads())); }},
    {"index_put", kBoth, "(Tensor input, Tensors indices, Tensor values, bool accumulate=False)",
     "input with values written, or added, to the elements that the indices select, one index for each dim.",
     [](const Call& call) -> PyObject* {
       const List<Tensor> indices = call.tensors(Name::indices);
       return wrap(call.run([&] {
         return index_put(call.tensor(Name::input), indices, call.tensor(Name::values), call.boolean(Name::accumulate));
       }));
     }},
    {"index_put_", kBoth, "(Tensor input, Tensors indices, Tensor values, bool accumulate=False)",
     "In place: values written, or added, to the elements that the indices select, one index for each dim.",
     [](const Call& call) -> PyObject* {
       const List<Tensor> indices = call.tensors(Name::indices);
       call.run([&] {
         index_put_(call.tensor(Name::input), indices, call.tensor(Name::values), call.boolean(Name::accumulate));
       });
       return again(call.object(Name::input));
     }},
    {"nonzero", kBoth, "(Tensor input, *, bool as_tuple=False, Tensor out=None) -> object",
     "The places of what is not 0: one row each.",
     [](const Call& call) -> PyObject* {
       const Tensor& self = call.tensor(Name::input);
       const bool as_tuple = call.boolean(Name::as_tuple);
       if (call.has(Name::out)) {
         if (as_tuple) throw Error("nonzero does not support the out kwarg when as_tuple is True");
         call.run([&] { nonzero_out(call.tensor(Name::out), self); });
         return call.returned();
       }
       if (!as_tuple) return wrap(call.run([&] { return nonzero(self); }));
       nb::list result;
       for (const Tensor& place : call.run([&] { return nonzero_places(self); })) result.append(nb::steal(wrap(place)));
       return nb::tuple(result).release().ptr();
     }},
    {"promote_types", kFunction, "(dtype type1, dtype type2) -> dtype",
     "The smallest dtype to which both can be promoted.",
     [](const Call& call) -> PyObject* {
       return to_python(promote_types(*call.dtype(Name::type1), *call.dtype(Name::type2)));
     }},
    {"result_type", kFunction,
     "(Tensor tensor, Tensor other) -> dtype\n(Number scalar, Tensor tensor) -> dtype\n(Tensor tensor, Number other) "
     "-> dtype\n(Number scalar1, Number scalar2) -> dtype",
     "The dtype to which the operands are promoted.",
     [](const Call& call) -> PyObject* {
       constexpr Name kFirst[] = {Name::tensor, Name::scalar, Name::tensor, Name::scalar1};
       constexpr Name kSecond[] = {Name::other, Name::tensor, Name::other, Name::scalar2};
       return to_python(result_type(call.arg(kFirst[call.signature()]), call.arg(kSecond[call.signature()])));
     }},
};

}  // namespace

std::vector<Entry> function_entries() { return entries<kFunctions>(); }

}  // namespace tenon::python
