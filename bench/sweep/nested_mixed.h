// bench: nested loops for operands of two dtypes.
#pragma once
#include "../cases.h"
#include "call.h"

namespace bench {

/// Each element is cast in the loop that needs it. Empty where the first operand's rows are not contiguous.
Work nested_loops_of_two_dtypes(Call call, const Operands<Tenon>& operands);

}  // namespace bench
