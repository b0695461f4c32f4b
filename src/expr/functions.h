// expr: the op table by name. Takes a name; gives how to call that op. Derived from tenon/ops.def: an op added there is
// known here. Never evaluates anything itself.
#pragma once
#include <optional>
#include <string>
#include <string_view>

#include "ops/row.h"
#include "tenon/ops.h"

namespace tenon::expr {

/// The signatures of table ops (the second word of each line of tenon/ops.def), and the conversion of a dtype.
enum class FunctionKind : uint8_t {
  unary,
  binary,
  binary_alpha,
  division,
  clamp,
  where,
  reduction,
  reduction_dtype,
  product,
  cast
};

constexpr bool is_reduction(FunctionKind kind) {
  return kind == FunctionKind::reduction || kind == FunctionKind::reduction_dtype;
}

/// What a call says beside its operands. Each op looks at those its signature has.
struct Parameters {
  Scalar alpha = 1;
  std::optional<std::string> rounding_mode;
  Dims dims;  // empty: all
  bool keepdim = false;
  std::optional<Dtype> dtype;
};

struct Function {
  /// The operands a signature takes at most; what is left out (a bound of clamp) is unset.
  static constexpr int kMaxOperands = 3;
  using Operands = std::optional<Arg>[kMaxOperands];
  /// Calls the op; the result goes into `out` where one is given.
  using Call = Tensor (*)(Tensor* out, const Operands& operands, const Parameters& parameters);

  const char* name;
  FunctionKind kind;
  std::optional<Op> op;  // unset: the conversion
  Call call;
};

/// nullptr when the table has no such op.
const Function* find_function(std::string_view name) noexcept;
/// The op an operator stands for ("+": add); nullptr when there is none.
const Function* find_operator(std::string_view symbol) noexcept;
/// `x.to(dtype)`.
const Function& cast_function() noexcept;
/// The known name nearest to `name` in spelling, or nothing when none is near.
std::string nearest_function(std::string_view name);

/// The names of a signature's parameters in order, as in "input, other, *, alpha"; those behind "*" by keyword only.
struct Signature {
  const char* names[4];
  int positional;  // how many may be given without a keyword
  int count;
  int operands;  // the first so many are tensors or numbers
  int required;
};
const Signature& signature_of(FunctionKind kind) noexcept;

}  // namespace tenon::expr
