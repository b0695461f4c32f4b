// Functions over tensors that are no ops of the table: what they need of it, they call.
#include "python/doors.h"
#include "tenon/ops.h"

namespace tenon::python {
namespace {

constexpr Door kFunction = Door::function, kBoth = Door::both;

/// Whether both have one shape and the same elements.
bool same_elements(const Tensor& a, const Tensor& b) {
  if (!(a.sizes() == b.sizes())) return false;
  if (a.numel() == 0) return true;
  return eq(a, b).amin().item().as_bool();
}

const Definition kFunctions[] = {
    {"broadcast_tensors", kFunction, "(Tensors tensors)", "All tensors expanded to their common shape, as views.",
     [](const Call& call) -> PyObject* {
       std::vector<Tensor> tensors = call.tensors(Name::tensors);
       broadcast_tensors(tensors.data(), static_cast<int64_t>(tensors.size()));
       nb::list result;
       for (Tensor& tensor : tensors) result.append(nb::steal(wrap(std::move(tensor))));
       return result.release().ptr();
     }},
    {"can_cast", kFunction, "(dtype from_, dtype to)", "Whether a result of one dtype may be stored in another.",
     [](const Call& call) -> PyObject* {
       return PyBool_FromLong(can_cast(*call.dtype(Name::from_), *call.dtype(Name::to)));
     }},
    {"equal", kBoth, "(Tensor input, Tensor other)", "Whether both have one shape and the same elements.",
     [](const Call& call) -> PyObject* {
       return PyBool_FromLong(same_elements(call.tensor(Name::input), call.tensor(Name::other)));
     }},
    {"promote_types", kFunction, "(dtype type1, dtype type2)", "The smallest dtype both can be promoted to.",
     [](const Call& call) -> PyObject* {
       return to_python(promote_types(*call.dtype(Name::type1), *call.dtype(Name::type2)));
     }},
    {"result_type", kFunction,
     "(Tensor tensor, Tensor other)\n(Number scalar, Tensor tensor)\n(Tensor tensor, Number other)\n(Number scalar1, Number "
     "scalar2)",
     "The dtype an op over both computes in.",
     [](const Call& call) -> PyObject* {
       constexpr Name kFirst[] = {Name::tensor, Name::scalar, Name::tensor, Name::scalar1};
       constexpr Name kSecond[] = {Name::other, Name::tensor, Name::other, Name::scalar2};
       return to_python(result_type(call.arg(kFirst[call.signature()]), call.arg(kSecond[call.signature()])));
     }},
};

}  // namespace

std::vector<Entry> function_entries() { return entries<kFunctions>(); }

}  // namespace tenon::python
