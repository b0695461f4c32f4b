// expr: an elementwise tree as one Program. Takes a tree; gives its values, block by block, without temporaries: every
// tile of the operands passes through all ops while it is in the cache. Ops were resolved when the tree was built;
// loops are planned once for all blocks of one shape.
#pragma once
#include <vector>

#include "dispatch/recorder.h"
#include "expr/tree.h"
#include "plan/plan.h"

namespace tenon::expr {

class Fused {
 public:
  /// Of values that are written as `output`.
  Fused(const Tree& tree, Dtype output);

  /// Whether one Program computes the tree. Not where an op must look at its data first (integer division by zero).
  bool is_complete() const noexcept { return complete_; }
  /// Writes the values of one block of the result into `out`, whose layout depends on the block's lengths alone.
  void write(const Block& block, Tensor& out);
  /// The tensors that are read, each once: the Program's first inputs.
  const std::vector<Tensor>& leaves() const noexcept { return leaves_; }

 private:
  /// Writes the ops of a subtree down, a shared one once. Gives the number of its value.
  int visit(const TreeNode& node);
  void add_leaf(const TreeNode& leaf);

  Recorder recorder_;
  std::vector<const TreeNode*> nodes_;  // visited, with the numbers of their values
  std::vector<int> values_;
  std::vector<Tensor> leaves_;
  bool complete_ = false;
  Program program_;
  std::vector<const void*> numbers_;  // the Program's last inputs
  Dims planned_;                      // the lengths that the plan is for
  Plan plan_;
};

}  // namespace tenon::expr
