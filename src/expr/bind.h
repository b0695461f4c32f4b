// expr: arguments to parameters. Takes an op's schema and the arguments of a call; gives operands and the other values.
// Never evaluates.
#pragma once
#include <vector>

#include "expr/functions.h"
#include "expr/value.h"

namespace tenon::expr {

/// Both in the order of the schema's parameters: a tree where it is an operand, a value elsewhere.
struct Bound {
  std::vector<Tree> operands;
  Values values;
  Trees list = {};  // of a first parameter that is a list of tensors
};

/// ExpressionError for missing, unknown and surplus arguments and for values of the wrong kind.
Bound bind(const Schema& function, const std::vector<Argument>& arguments, Span span);
/// The first of the overloads that takes the arguments; where none does, the last.
const Schema& overload_of(std::span<const Schema> overloads, const std::vector<Argument>& arguments, Span span);

}  // namespace tenon::expr
