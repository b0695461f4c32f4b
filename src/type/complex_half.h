// type: float16 beside a complex number with fewer dims. PyTorch's common dtype of both is complex32, which Tenon does
// not have.
#pragma once
#include "tenon/dtype.h"

namespace tenon {

/// Whether the operands' common dtype is complex32; `result_type` fails then.
bool is_complex_half(const TypedOperand* operands, int64_t count);

}  // namespace tenon
