// expr: evaluates a parsed expression over named tensors. Takes an Ast and a scope; gives a value. Reductions and views
// are computed at once; elementwise ops are collected in a tree, which is computed when its value is needed.
#pragma once
#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "expr/parse.h"
#include "expr/session.h"
#include "expr/value.h"

namespace tenon::expr {

/// The meaning of names in an expression.
struct Scope {
  std::map<std::string, Tensor> names;
  bool shapes = false;  // `f32[4096, 3]` is a tensor without data (strides: `f32[4096, 3: 1, 4096]`)
};

/// One step of an expression's evaluation: elementwise ops, and possibly a reduction of their result; or an algorithm.
struct Step {
  Tree tree;                          // the elementwise part; a leaf if there is none; null for an algorithm
  const Schema* reduction = nullptr;  // over the tree's value
  const Schema* algorithm = nullptr;  // an op that is computed at once, from whole tensors
  Values values = {};                 // the reduction's other arguments; all arguments of the algorithm
  Trees operands = {};                // of the algorithm, as leaves
  List<Tensor> results = {};          // their shapes and dtypes; one, if it is no algorithm
  Span span = {};
  int64_t pass = 0;  // steps of the same pass read their operands once

  bool gives(const Tensor& tensor) const noexcept {
    return std::any_of(results.begin(), results.end(), [&](const Tensor& result) { return result.is(tensor); });
  }
};

/// The steps of an expression in the order of evaluation, for `tenon explain`.
struct Steps {
  std::vector<Step> list;
  std::vector<Argument> failed;  // the operands of the operation that failed
};

/// How engines plan a step over meta tensors. Throws what the step would throw for its dtypes.
Planned plan_step(const Step& step, const ProgressCallback& progress);

/// The values of all expressions in `ast`. Equal parts are computed once, and reductions of large trees of the same
/// sizes in one pass.
std::vector<Argument> evaluate(const Ast& ast, const Scope& scope, Session& session);
/// A value as a tree. ExpressionError if it is neither a tensor nor a number.
Tree tree_of(const Argument& value);

/// The value of the expression as a tree, which `evaluate_elementwise` computes; the steps before are computed here.
/// Throws ExpressionError for every mistake in it.
Tree evaluate(const Ast& ast, const Scope& scope, ProgressCallback& progress);
/// The steps that compute the value, which may be several results.
Traffic note_steps(const Ast& ast, const Scope& scope, ProgressCallback& progress, Steps& steps);

}  // namespace tenon::expr
