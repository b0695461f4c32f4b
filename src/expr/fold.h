// expr: arithmetic on two numbers, by Python's rules. Takes an operator and numbers; gives a number. Never sees
// tensors.
#pragma once
#include <string>
#include <string_view>

#include "expr/error.h"
#include "tenon/dtype.h"

namespace tenon::expr {

/// `a symbol b`. Throws ExpressionError with `span` for overflow of int64, division by zero, and for operands that the
/// operator does not take.
Scalar fold(std::string_view symbol, Scalar a, Scalar b, Span span);
/// `-a` or `~a`.
Scalar fold(std::string_view symbol, Scalar a, Span span);

}  // namespace tenon::expr
