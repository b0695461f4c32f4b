// dispatch: ops without a formula, as history sees them. Takes an op and the values of its parameters; gives its
// results, unrecorded, and says what its derivatives read.
#pragma once
#include "ops/row.h"
#include "tenon/schema.h"

namespace tenon {

struct Algorithm {
  static constexpr int kResults = 16;  // bit of the first result

  Op op;
  List<Tensor> (*run)(const Value* values);
  /// Of the derivative by each operand: bit i: operand i, bit kResults + i: result i.
  uint32_t reads[3];
};
const Algorithm& algorithm_of(Op op) noexcept;
const Schema& schema_of(Op op) noexcept;

/// Error "Expected out tensor to have dtype long, but got float instead".
void check_strict_out(const Tensor& out, Dtype result);
/// Writes the result of an algorithm into `out=`. It is there before `out` is resized: `out` may be an operand.
Tensor& write_result(Op op, Tensor& out, const Tensor& result);
/// A call with an operand that requires grad: its results, and a node that knows the derivatives. Defined by autograd/.
List<Tensor> differentiate_call(Op op, const Value* values);

}  // namespace tenon
