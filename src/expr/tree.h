// expr: trees of elementwise ops that are not computed yet. Takes tensors, numbers and ops; gives a tree with known
// shape and dtype, because every node is run on the meta device. Reads element data only in `evaluate_...`.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/recorder.h"
#include "expr/blocks.h"
#include "expr/error.h"
#include "expr/functions.h"
#include "expr/progress_callback.h"
#include "tile/course.h"

namespace tenon::expr {

struct TreeNode;
/// Subtrees may be shared and never change.
using Tree = std::shared_ptr<const TreeNode>;
using Trees = std::vector<Tree>;

/// A leaf (a tensor or a number) or an elementwise op over trees.
struct TreeNode {
  const Schema* function = nullptr;  // nullptr: a leaf
  std::vector<Tree> operands;        // in the order of the parameters; null: not an operand, or not given
  Values values;                     // of the other parameters, in the same order
  Tensor tensor;                     // of a leaf that is a tensor
  Scalar number;                     // of a leaf that is a number
  int result = 0;                    // which of the function's results
  Tensor meta;                       // shape, strides and dtype of the value; undefined for a number
  Recorder calls;                    // of an op: its call on the operands' meta tensors
  Span span;
  std::string label;  // of a leaf: its name in the expression

  bool is_leaf() const noexcept { return function == nullptr; }
  bool is_number() const noexcept { return is_leaf() && !tensor.defined(); }
  SizesView sizes() const noexcept { return meta.defined() ? meta.sizes() : SizesView(); }
};

Tree leaf(const Tensor& tensor, Span span, std::string label);
Tree leaf(Scalar number, Span span);
/// Whether a tensor in the tree requires grad. Then ops are called one by one, so that they are recorded.
bool requires_grad(const Tree& tree);
/// Whether the tree has shapes only: a leaf is on the meta device.
bool is_meta(const Tree& tree);
/// A leaf's tensor, and a meta tensor in its place that requires grad.
struct Replacement {
  const Tensor& leaf;
  const Tensor& other;
};
/// Whether the value of a tree, of a reduction of it, or of an algorithm requires grad then. Nothing is computed.
bool requires_grad(const Tree& tree, const Replacement& with);
bool requires_grad(const Tree& tree, const Schema& reduction, const Values& values, const Replacement& with);
bool requires_grad(const Schema& algorithm, const Values& values, const Replacement& with);
/// An op over trees, or one of its results. Its shape and dtype rules are checked now: throws ExpressionError with
/// `span`.
Tree apply(const Schema& function, std::vector<Tree> operands, Values values, Span span, int result = 0);
/// The arguments of a node's call: `value(tree)` for operands that are tensors, numbers unchanged.
template <class TensorOf>
Values with_operands(const std::vector<Tree>& operands, Values values, const TensorOf& tensor_of) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) continue;
    values[i] = operands[i]->is_number() ? tenon::Value(operands[i]->number) : tenon::Value(tensor_of(operands[i]));
  }
  return values;
}

/// Computes the tree into `out`, which has the tree's sizes; values are cast to its dtype. Works in blocks of a few MB,
/// so that temporaries stay small: inputs and output may be mapped files larger than memory.
void evaluate_elementwise(const Tree& tree, Tensor& out, ProgressCallback& progress);
/// The same into a new tensor; a leaf is its own value. A tree over meta tensors gives a meta tensor.
Tensor evaluate_elementwise(const Tree& tree, ProgressCallback& progress);

/// Computes trees of the same sizes in one pass: a block of all of them before the next block.
void evaluate_elementwise(const Trees& trees, std::vector<Tensor>& outs, ProgressCallback& progress);

/// Computes trees of the same sizes block by block. Order and sizes of blocks depend on shapes and dtypes only.
void evaluate_blocks(const Trees& trees, ProgressCallback& progress,
                     const std::function<void(const std::vector<Tensor>& values, const Block& block)>& visit);
/// The block's size in `evaluate_blocks`.
Cut cut_of_blocks(const Trees& trees, const ProgressCallback& progress);

/// How engines plan some work.
struct Planned {
  std::vector<Tensor> leaves;   // the inputs of the first course, in its order; empty: computed op by op
  std::vector<Course> courses;  // the runs for the first block
  int64_t blocks = 1;
  std::size_t elementwise = 0;  // so many courses compute the tree
};
/// The plan for a tree over meta tensors. A leaf needs no work.
Planned plan_elementwise(const Tree& tree, const ProgressCallback& progress);
/// The plan for an op over meta tensors that is computed at once.
Planned plan_algorithm(const Schema& function, const Values& values);

/// A reduction of a tree. `values`: its other arguments.
struct Reduction {
  const Schema* function;
  Tree tree;
  Values values;
};
/// The plan for a reduction's tree and, as the last course, for the reduction.
Planned plan_reduction(const Reduction& reduction, const ProgressCallback& progress);
/// A reduction's result without its data: all checks, no memory. Undefined for a number.
Tensor meta_of(const Reduction& reduction);
/// Whether the reduction is done block by block, because its tree is large.
bool goes_by_blocks(const Reduction& reduction, const ProgressCallback& progress);
/// The result, in one piece: the tree's value is in memory as a whole, unless it is a leaf.
Tensor evaluate_reduction(const Reduction& reduction, ProgressCallback& progress);
/// The results of reductions that go by blocks, of trees of the same sizes, in one pass. Each block is reduced at once.
/// Partial results are combined in float64 (integers: int64), in an order that depends on the shape only.
List<Tensor> evaluate_reductions(const std::vector<Reduction>& reductions, ProgressCallback& progress);

}  // namespace tenon::expr
