// bench: the loops that a programmer would write for one call, given to the compiler with the op, the dtypes and the
// strides of the innermost dim known.
#pragma once
#include "../cases.h"
#include "call.h"

namespace bench {

/// Nested loops for a call: over the dims of the result, or of the operand where it is reduced, in the order of memory.
/// Dims that all operands pass over without a jump are one. They plan nothing, check nothing, allocate nothing and do
/// not arrange for caches. Empty for running sums along rows. `reduced` are the dims of `a` that a
/// reduction sums; `dim` is that of joins and running sums.
Work nested_loops(Call call, const Operands<Tenon>& operands, const Dims& reduced, int64_t dim);

}  // namespace bench
