// bench: loops for what is neither elementwise nor a reduction.
#pragma once
#include "../cases.h"
#include "call.h"

namespace bench {

/// For joins, exponentials, products and running sums down the columns. `dim` is that of joins and running sums.
Work nested_loops_of(Call call, const Operands<Tenon>& operands, int64_t dim);

}  // namespace bench
