// Every op of the table as function, method, in-place method and with `out=`. A kind says which arguments there are;
// what a row of the table says of its own comes first.
#include "tenon/ops.h"

#include "ops/row.h"
#include "python/doors.h"
#include "python/products.h"

namespace tenon::python {
namespace {

// clang-format off
#define TENON_OUT "*, Tensor out=None)"
// In PyTorch's grammar, by kind of tenon/ops.def.
constexpr const char* kSignatures_unary = "(Tensor input, " TENON_OUT;
constexpr const char* kSignatures_binary = "(Tensor input, Tensor other, " TENON_OUT "\n(Tensor input, Number other, " TENON_OUT;
constexpr const char* kSignatures_binary_alpha = "(Operand input, Number alpha, Operand other, *, Tensor out=None)|deprecated\n(Operand input, Operand other, *, Number alpha=1, Tensor out=None)";
constexpr const char* kSignatures_division =
    "(Operand input, Operand other, " TENON_OUT "\n(Operand input, Operand other, *, str? rounding_mode, Tensor out=None)"
    "\n(Operand input, Number other, *, str? rounding_mode)";
constexpr const char* kSignatures_clamp =
    "(Tensor input, Tensor min=None, Tensor max=None, " TENON_OUT "\n(Tensor input, Number min=None, Number max=None, " TENON_OUT;
constexpr const char* kSignatures_where =
    "(Tensor condition)\n(Tensor condition, Tensor input, Tensor other, " TENON_OUT "\n(Tensor condition, Number self, Tensor other)\n"
    "(Tensor condition, Tensor input, Number other)\n(Tensor condition, Number self, Number other)";
constexpr const char* kSignatures_product =
    "(Tensor input, Tensor mat2, " TENON_OUT "\n(Tensor input, Tensor mat2, dtype out_dtype, " TENON_OUT "|function";
constexpr const char* kSignatures_reduction = "(Tensor input, ints[1]? dim=(), bool keepdim=False, " TENON_OUT;
constexpr const char* kSignatures_reduction_dtype =
    "(Tensor input, *, dtype dtype=None)\n(Tensor input, ints[1]? dim, bool keepdim=False, *, dtype dtype=None, Tensor out=None)";
#undef TENON_OUT

/// PyTorch lists a signature with another dtype for results, which it has on no cpu.
const Tensor& second_factor(const Call& call) {
  if (call.has(Name::out_dtype)) fail_other_dtype("mm", call);
  return call.tensor(Name::mat2);
}

// The first operand, and what follows it.
#define TENON_FIRST_unary(call)           call.tensor(Name::input)
#define TENON_FIRST_binary(call)          call.arg(Name::input)
#define TENON_FIRST_binary_alpha(call)    call.arg(Name::input)
#define TENON_FIRST_division(call)        call.arg(Name::input)
#define TENON_FIRST_clamp(call)           call.tensor(Name::input)
#define TENON_FIRST_where(call)           call.tensor(Name::condition)
#define TENON_FIRST_product(call)         call.tensor(Name::input)
#define TENON_FIRST_reduction(call)       call.tensor(Name::input)
#define TENON_FIRST_reduction_dtype(call) call.tensor(Name::input)
#define TENON_REST_unary(call)
#define TENON_REST_binary(call)          , call.arg(Name::other)
#define TENON_REST_binary_alpha(call)    , call.arg(Name::other), call.number(Name::alpha, 1)
#define TENON_REST_division(call)        , call.arg(Name::other), call.text(Name::rounding_mode)
#define TENON_REST_clamp(call)           , call.optional_arg(Name::min), call.optional_arg(Name::max)
#define TENON_REST_where(call)           , call.arg(call.has(Name::self) ? Name::self : Name::input), call.arg(Name::other)
#define TENON_REST_product(call)         , second_factor(call)
#define TENON_REST_reduction(call)       , reduced_dims(call), call.boolean(Name::keepdim)
#define TENON_REST_reduction_dtype(call) , reduced_dims(call), call.boolean(Name::keepdim), call.dtype()
// clang-format on

const char* signatures_of(Op op, const char* of_kind) {
  const char* own = row_of(op).signatures;
  return own ? own : of_kind;
}

/// sum(None) names dims, and means all; sum() names none. Nodes of the two differ in name.
DimsArg reduced_dims(const Call& call) {
  return call.object(Name::dim) ? DimsArg(SizesView(call.dims(Name::dim))) : DimsArg();
}

/// Calls with arguments that are ready, so that other Python threads may run meanwhile.
template <class Function, class... Arguments>
decltype(auto) run(const Call& call, Function function, Arguments&&... arguments) {
  const Released released(call.is_long());
  return function(arguments...);
}

/// where(condition) alone asks for places.
bool wants_places(Op op, const Call& call) { return op == Op::where && !call.has(Name::other); }

PyObject* places(const Call& call) {
  nb::list result;
  for (Tensor& place : nonzero_places(call.tensor(Name::condition))) result.append(nb::steal(wrap(std::move(place))));
  return nb::tuple(result).release().ptr();
}

#define TENON_FUNCTION(NAME, KIND)                                                                            \
  Definition{#NAME, Door::both, signatures_of(Op::NAME, kSignatures_##KIND), row_of(Op::NAME).doc,            \
             [](const Call& call) -> PyObject* {                                                              \
               if (wants_places(Op::NAME, call)) return places(call);                                         \
               if (!call.has(Name::out))                                                                      \
                 return wrap(run(                                                                             \
                     call, [](const auto&... arguments) { return tenon::NAME(arguments...); },                \
                     TENON_FIRST_##KIND(call) TENON_REST_##KIND(call)));                                      \
               run(                                                                                           \
                   call, [](Tensor& out, const auto&... arguments) { tenon::NAME##_out(out, arguments...); }, \
                   call.tensor(Name::out), TENON_FIRST_##KIND(call) TENON_REST_##KIND(call));                 \
               return call.returned();                                                                        \
             }},
#define TENON_INPLACE(NAME, KIND)                                                                    \
  Definition{#NAME "_", Door::method, signatures_of(Op::NAME, kSignatures_##KIND),                   \
             "In place: the tensor never changes shape.", [](const Call& call) -> PyObject* {        \
               run(                                                                                  \
                   call, [](Tensor& self, const auto&... arguments) { self.NAME##_(arguments...); }, \
                   call.tensor(Name::input) TENON_REST_##KIND(call));                                \
               return again(call.self());                                                            \
             }},

#define TENON_OP(NAME, KIND) TENON_ENTRY_##KIND(NAME)
#define TENON_ENTRY_form(NAME)
#define TENON_ENTRY_unary(NAME) TENON_FUNCTION(NAME, unary)
#define TENON_ENTRY_binary(NAME) TENON_FUNCTION(NAME, binary)
#define TENON_ENTRY_binary_alpha(NAME) TENON_FUNCTION(NAME, binary_alpha)
#define TENON_ENTRY_division(NAME) TENON_FUNCTION(NAME, division)
#define TENON_ENTRY_clamp(NAME) TENON_FUNCTION(NAME, clamp)
#define TENON_ENTRY_where(NAME) TENON_FUNCTION(NAME, where)
#define TENON_ENTRY_product(NAME) TENON_FUNCTION(NAME, product)
#define TENON_ENTRY_reduction(NAME) TENON_FUNCTION(NAME, reduction)
#define TENON_ENTRY_reduction_dtype(NAME) TENON_FUNCTION(NAME, reduction_dtype)
const Definition kOps[] = {
#include "tenon/ops.def"
};
#undef TENON_OP

#define TENON_OP(NAME, KIND) TENON_INPLACE_ENTRY_##KIND(NAME)
#define TENON_INPLACE_ENTRY_form(NAME)
#define TENON_INPLACE_ENTRY_unary(NAME) TENON_INPLACE(NAME, unary)
#define TENON_INPLACE_ENTRY_binary(NAME) TENON_INPLACE(NAME, binary)
#define TENON_INPLACE_ENTRY_binary_alpha(NAME) TENON_INPLACE(NAME, binary_alpha)
#define TENON_INPLACE_ENTRY_division(NAME) TENON_INPLACE(NAME, division)
#define TENON_INPLACE_ENTRY_clamp(NAME) TENON_INPLACE(NAME, clamp)
#define TENON_INPLACE_ENTRY_where(NAME)
#define TENON_INPLACE_ENTRY_product(NAME)
#define TENON_INPLACE_ENTRY_reduction(NAME)
#define TENON_INPLACE_ENTRY_reduction_dtype(NAME)
const Definition kInplaceOps[] = {
#include "tenon/ops.def"
};
#undef TENON_OP

}  // namespace

std::vector<OpKind> op_kinds() {
  return {
#define TENON_OP(NAME, KIND) {#NAME, #KIND},
#include "tenon/ops.def"
#undef TENON_OP
  };
}

std::vector<Entry> op_entries() {
  std::vector<Entry> all = entries<kOps>();
  const std::vector<Entry> inplace = entries<kInplaceOps>();
  all.insert(all.end(), inplace.begin(), inplace.end());
  return all;
}

}  // namespace tenon::python
