// dispatch: the out= form of a call while a function is traced. Takes the result; gives the tensor that it is copied
// to.
#pragma once
#include "dispatch/elementwise.h"

namespace tenon {

/// Whether a call writes a tensor, or reads one, that a function computes while it is traced.
bool is_traced(const Tensor& out, Args args, int count);
/// Copies the result. Error if `out` would be resized.
Tensor& write_traced(Op op, Tensor& out, const Tensor& result);

}  // namespace tenon
