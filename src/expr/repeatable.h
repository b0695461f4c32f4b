// expr: which parts of an expression have equal values. Takes an Ast; gives a key for each part. Never evaluates.
#pragma once
#include <string>
#include <vector>

#include "expr/evaluate.h"

namespace tenon::expr {

/// For each node a key: nodes with the same key have the same value. Empty for nodes that are not worth keeping
/// (numbers, names, lists), and for parts of the notation of shapes.
std::vector<std::string> keys_of(const Ast& ast, const Scope& scope);

}  // namespace tenon::expr
