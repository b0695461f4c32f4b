// expr: binds arguments to parameters. Takes an op's schema and the arguments of a call; gives operands and other
// values. Never evaluates.
#pragma once
#include <vector>

#include "expr/functions.h"
#include "expr/value.h"

namespace tenon::expr {

/// Both lists are in the order of the schema's parameters. An operand has a tree, any other parameter a value.
struct Bound {
  std::vector<Tree> operands;
  Values values;
  Trees list = {};  // if the first parameter is a list of tensors
};

/// Throws ExpressionError for missing, unknown and surplus arguments, and for values of the wrong kind.
Bound bind(const Schema& function, const std::vector<Argument>& arguments, Span span);
/// The argument of each parameter; nullptr if none is given. Throws as `bind` does.
std::vector<const Argument*> places_of(const Schema& function, const std::vector<Argument>& arguments, Span span);
/// The first overload that accepts the arguments; the last if none does.
const Schema& overload_of(std::span<const Schema> overloads, const std::vector<Argument>& arguments, Span span);

}  // namespace tenon::expr
