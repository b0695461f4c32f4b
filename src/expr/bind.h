// expr: arguments to parameters. Takes a table op's signature and the arguments of a call; gives operands and
// parameters. Never evaluates.
#pragma once
#include <vector>

#include "expr/functions.h"
#include "expr/value.h"

namespace tenon::expr {

struct Bound {
  Tree operands[Function::kMaxOperands];
  Parameters parameters;
};

/// ExpressionError for missing, unknown and surplus arguments and for values of the wrong kind.
Bound bind(const Function& function, const std::vector<Argument>& arguments, Span span);

}  // namespace tenon::expr
