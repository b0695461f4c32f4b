#include "expr/functions.h"

#include <iterator>
#include <vector>

#include "expr/spelling.h"

namespace tenon::expr {
namespace {

using Operands = Function::Operands;

const Tensor& tensor_of(const std::optional<Arg>& operand) { return operand->tensor(); }
const char* rounding_of(const Parameters& parameters) {
  return parameters.rounding_mode ? parameters.rounding_mode->c_str() : nullptr;
}

// One adapter a signature: calls NAME or NAME_out with what it wants.
// clang-format off
#define TENON_CALL(NAME, ...) out ? NAME##_out(*out, __VA_ARGS__) : NAME(__VA_ARGS__)
#define TENON_CALL_unary(NAME)           TENON_CALL(NAME, tensor_of(x[0]))
#define TENON_CALL_binary(NAME)          TENON_CALL(NAME, *x[0], *x[1])
#define TENON_CALL_binary_alpha(NAME)    TENON_CALL(NAME, *x[0], *x[1], p.alpha)
#define TENON_CALL_division(NAME)        TENON_CALL(NAME, *x[0], *x[1], rounding_of(p))
#define TENON_CALL_clamp(NAME)           TENON_CALL(NAME, tensor_of(x[0]), x[1], x[2])
#define TENON_CALL_where(NAME)           TENON_CALL(NAME, tensor_of(x[0]), *x[1], *x[2])
#define TENON_CALL_product(NAME)         TENON_CALL(NAME, tensor_of(x[0]), tensor_of(x[1]))
#define TENON_CALL_reduction(NAME)       TENON_CALL(NAME, tensor_of(x[0]), SizesView(p.dims), p.keepdim)
#define TENON_CALL_reduction_dtype(NAME) TENON_CALL(NAME, tensor_of(x[0]), SizesView(p.dims), p.keepdim, p.dtype)

#define TENON_FUNCTION(NAME, KIND)                                                                      \
  {#NAME, FunctionKind::KIND, Op::NAME,                                                                 \
   [](Tensor* out, [[maybe_unused]] const Operands& x, [[maybe_unused]] const Parameters& p) -> Tensor { \
     return TENON_CALL_##KIND(NAME);                                                                    \
   }},
#define TENON_FUNCTION_unary(NAME)            TENON_FUNCTION(NAME, unary)
#define TENON_FUNCTION_binary(NAME)           TENON_FUNCTION(NAME, binary)
#define TENON_FUNCTION_binary_alpha(NAME)     TENON_FUNCTION(NAME, binary_alpha)
#define TENON_FUNCTION_division(NAME)         TENON_FUNCTION(NAME, division)
#define TENON_FUNCTION_clamp(NAME)            TENON_FUNCTION(NAME, clamp)
#define TENON_FUNCTION_where(NAME)            TENON_FUNCTION(NAME, where)
#define TENON_FUNCTION_reduction(NAME)        TENON_FUNCTION(NAME, reduction)
#define TENON_FUNCTION_reduction_dtype(NAME)  TENON_FUNCTION(NAME, reduction_dtype)
#define TENON_FUNCTION_product(NAME)          TENON_FUNCTION(NAME, product)
#define TENON_FUNCTION_form(NAME)             // a row behind another op's function

constexpr Function kFunctions[] = {
#define TENON_OP(NAME, KIND) TENON_FUNCTION_##KIND(NAME)
#include "tenon/ops.def"
#undef TENON_OP
};

Tensor convert(Tensor* out, const Operands& operands, const Parameters& parameters) {
  const Tensor& tensor = operands[0]->tensor();
  return out ? out->copy_(tensor) : tensor.to(*parameters.dtype);
}
constexpr Function kCast{"to", FunctionKind::cast, std::nullopt, convert};

struct Symbol { std::string_view symbol; std::string_view name; };
constexpr Symbol kSymbols[] = {
    {"+", "add"}, {"-", "sub"}, {"*", "mul"}, {"/", "div"},
    {"<", "lt"},  {"<=", "le"}, {">", "gt"},  {">=", "ge"}, {"==", "eq"}, {"!=", "ne"},
};

// In the order of FunctionKind.
constexpr Signature kSignatures[] = {
    /*                   names                                        positional count operands required */
    /* unary           */ {{"input"},                                       1, 1, 1, 1},
    /* binary          */ {{"input", "other"},                              2, 2, 2, 2},
    /* binary_alpha    */ {{"input", "other", "alpha"},                     2, 3, 2, 2},
    /* division        */ {{"input", "other", "rounding_mode"},             2, 3, 2, 2},
    /* clamp           */ {{"input", "min", "max"},                         3, 3, 3, 1},
    /* where           */ {{"condition", "input", "other"},                 3, 3, 3, 3},
    /* reduction       */ {{"input", "dim", "keepdim"},                     3, 3, 1, 1},
    /* reduction_dtype */ {{"input", "dim", "keepdim", "dtype"},            3, 4, 1, 1},
    /* product         */ {{"input", "mat2"},                              2, 2, 2, 2},
    /* cast            */ {{"input", "dtype"},                              2, 2, 1, 2},
};
// clang-format on

}  // namespace

const Function* find_function(std::string_view name) noexcept {
  for (const Function& function : kFunctions)
    if (name == function.name) return &function;
  return nullptr;
}

const Function* find_operator(std::string_view symbol) noexcept {
  for (const Symbol& candidate : kSymbols)
    if (symbol == candidate.symbol) return find_function(candidate.name);
  return nullptr;
}

const Function& cast_function() noexcept { return kCast; }

std::string nearest_function(std::string_view name) {
  std::vector<const char*> names;
  for (const Function& function : kFunctions) names.push_back(function.name);
  return nearest_name(name, names);
}

const Signature& signature_of(FunctionKind kind) noexcept { return kSignatures[static_cast<int>(kind)]; }

}  // namespace tenon::expr
