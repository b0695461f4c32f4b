// dispatch: calls whose operands have the common dtype complex32 (type/complex_half.h). Takes such a call; gives its
// result where that has another dtype, else PyTorch's error, or that there is no complex32.
#pragma once
#include "dispatch/resolve.h"

namespace tenon {

/// Whether a call is one of these. Cheap for all others.
bool is_complex_half(const Row& row, Args args, int count);
/// The result of the functional form; undefined where that has no result.
Tensor complex_half_result(Op op, Args args, int count);
/// Writes the result, if it can be cast to `out` and the op has one.
bool complex_half_into(Op op, Form form, Tensor& out, Args args, int count);
/// Throws the error of a call that neither of both computes.
[[noreturn]] void fail_complex_half(Op op, Form form, const Tensor* out);

}  // namespace tenon
