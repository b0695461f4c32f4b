// dispatch: the dtypes of elementwise calls. Takes a row of the op table and the arguments; gives the dtypes of the
// kernel and the result, and the casts of each argument.
#pragma once
#include "dispatch/elementwise.h"
#include "dispatch/number.h"

namespace tenon {

/// The dtypes of one call.
struct Types {
  Dtype common;   // of the operands after promotion
  Dtype compute;  // of the kernel
  Dtype result;   // of the result
};
/// How an argument reaches the kernel.
struct Conversion {
  Dtype through;  // cast to this dtype first, so that a number or a wider operand is rounded to the common dtype
  Dtype wanted;   // by the kernel
};

Dtype common_dtype(const Row& row, Args args, int count);
Types types_of(Op op, const Row& row, Args args, int count);
/// The dtypes of a further result, which reads what the first one reads.
Types types_of_next(const Row& row, Types types);
Number converted(Scalar number, Conversion conversion);
/// The number of results of an op.
int count_results(const Row& row);

/// The dtype that the kernel writes.
inline Dtype given_by_kernel(const Types& types) {
  return types.result == bool_ || is_complex(types.compute) ? types.result : types.compute;
}
inline bool is_condition(const Row& row, int i) { return row.promotion == Promotion::select && i == 0; }

Conversion conversion_with_rounding(const Row& row, const Types& types, Args args, int i);
inline Conversion conversion_of(const Row& row, const Types& types, Args args, int i) {
  if (types.common == types.compute && row.promotion != Promotion::select) return {types.compute, types.compute};
  return conversion_with_rounding(row, types, args, i);
}

}  // namespace tenon
