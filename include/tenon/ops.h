// dispatch: every op as a function and as an operator (tenon/functions.h), and what is beside them: the dtypes and
// places of results.
#pragma once
#include "tenon/functions.h"

namespace tenon {

/// The dtype an op over these operands computes in.
TENON_API Dtype result_type(const Arg& a, const Arg& b);
/// All tensors expanded to their common shape, as views.
TENON_API void broadcast_tensors(Tensor* tensors, int64_t count);

/// The places of what is not zero: one int64 tensor a dim.
TENON_API List<Tensor> nonzero_places(const Tensor& self);

}  // namespace tenon
