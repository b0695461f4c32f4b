// expr: a parsed expression over named tensors. Takes an Ast and a scope; gives a value. Reductions and views are
// computed as they are met; elementwise operations gather into one tree as far as they reach, to be computed at the
// end.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "expr/parse.h"
#include "expr/value.h"

namespace tenon::expr {

/// What names in an expression mean.
struct Scope {
  std::map<std::string, Tensor> names;
  bool shapes = false;  // `f32[4096, 3]` is a tensor without data (strides: `f32[4096, 3: 1, 4096]`)
};

/// One piece of work that an expression consists of, in the order of execution.
struct Step {
  Tree tree;                          // the elementwise part; a leaf where there is none
  const Schema* reduction = nullptr;  // over the tree's value
  Values values = {};                 // its other arguments
  Tensor result = {};                 // its shape and dtype
  Span span = {};
};

/// Where the work of an expression is written down while it is evaluated.
struct Steps {
  std::vector<Step> list;
  std::vector<Argument> failed;  // the operands of the operation that failed
};

/// The value of the expression. What remains to be computed is a tree (`evaluate_elementwise`); the steps before are
/// done. ExpressionError for every mistake in it.
Tree evaluate(const Ast& ast, const Scope& scope, ProgressCallback& progress, Steps* steps = nullptr);

}  // namespace tenon::expr
