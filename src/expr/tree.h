// expr: elementwise work that is not done yet. Takes tensors, numbers and table ops; gives a tree whose shape and dtype
// are known, because every node has run on the meta device. Reads element data only in `evaluate_elementwise`.
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
/// Subtrees are shared, never changed.
using Tree = std::shared_ptr<const TreeNode>;

/// A leaf (a tensor or a number) or an elementwise op over trees.
struct TreeNode {
  const Schema* function = nullptr;  // nullptr: a leaf
  std::vector<Tree> operands;        // in the order of the parameters; null: no operand, or none given
  Values values;                     // of the other parameters, in the same order
  Tensor tensor;                     // of a leaf that is no number
  Scalar number;                     // of a leaf that is one
  Tensor meta;                       // shape, strides and dtype of the value; undefined for a number
  Recorder calls;                    // of an op, on its operands' meta tensors
  Span span;
  std::string label;  // of a leaf: what the user calls it

  bool is_leaf() const noexcept { return function == nullptr; }
  bool is_number() const noexcept { return is_leaf() && !tensor.defined(); }
  SizesView sizes() const noexcept { return meta.defined() ? meta.sizes() : SizesView(); }
};

Tree leaf(const Tensor& tensor, Span span, std::string label);
Tree leaf(Scalar number, Span span);
/// Whether gradients are asked for of a tensor in the tree: its ops are called one by one then, so that they are
/// recorded.
bool requires_grad(const Tree& tree);
/// Whether the tree is about shapes only: some leaf is on the meta device.
bool is_meta(const Tree& tree);
/// An op over trees. Its shape and dtype rules run now: ExpressionError with `span`.
Tree apply(const Schema& function, std::vector<Tree> operands, Values values, Span span);
/// The values of a call whose operands are `value(tree)`; numbers are themselves.
template <class TensorOf>
Values with_operands(const std::vector<Tree>& operands, Values values, const TensorOf& tensor_of) {
  for (std::size_t i = 0; i < operands.size(); ++i) {
    if (!operands[i]) continue;
    values[i] = operands[i]->is_number() ? tenon::Value(operands[i]->number) : tenon::Value(tensor_of(operands[i]));
  }
  return values;
}

/// Computes the tree into `out`, whose sizes are the tree's; another dtype is converted. Works in blocks of a few MB,
/// so that temporaries stay small whatever the sizes: inputs and output may be mapped files larger than memory.
void evaluate_elementwise(const Tree& tree, Tensor& out, ProgressCallback& progress);
/// The same into a new tensor; a leaf is its own value. A tree over meta tensors gives a meta tensor.
Tensor evaluate_elementwise(const Tree& tree, ProgressCallback& progress);

/// The values of the tree block by block, in an order and in sizes that depend on shape and dtype alone.
void evaluate_blocks(const Tree& tree, ProgressCallback& progress,
                     const std::function<void(const Tensor& values, const Block& block)>& visit);

/// How work is done, as the engines plan it.
struct Planned {
  std::vector<Tensor> leaves;   // what the first of the courses reads, in its order; empty: op by op
  std::vector<Course> courses;  // of the first block
  int64_t blocks = 1;
};
/// Of a tree over meta tensors; a leaf is there already.
Planned plan_elementwise(const Tree& tree, const ProgressCallback& progress);
/// The same, and of the reduction, whose course is the last.
Planned plan_reduction(const Schema& function, const Tree& tree, const Values& values,
                       const ProgressCallback& progress);

/// A reduction of a tree. Large trees are never held whole: each block is reduced at once, and the partial results are
/// combined in float64 (integers: int64), in an order that depends on the shape alone.
/// `values`: the reduction's other arguments.
Tensor evaluate_reduction(const Schema& function, const Tree& tree, const Values& values, ProgressCallback& progress);

}  // namespace tenon::expr
