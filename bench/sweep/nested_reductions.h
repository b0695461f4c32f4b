// bench: nested loops for reductions.
#pragma once
#include "../cases.h"
#include "call.h"

namespace bench {

/// In the order of memory, with a row of sums for reduced outer dims. `dims` are the dims of `a` that are reduced.
Work nested_reduction(Call call, const tenon::Tensor& a, const Dims& dims);

}  // namespace bench
