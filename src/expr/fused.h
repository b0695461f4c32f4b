// expr: an elementwise tree as one Program. Takes a tree; gives its values, block by block, without temporaries: every
// tile of the operands passes through all ops while it is in the cache.
#pragma once
#include <vector>

#include "dispatch/recorder.h"
#include "expr/tree.h"

namespace tenon::expr {

class Fused {
 public:
  explicit Fused(const Tree& tree);

  /// Whether one Program computes the tree. Not where an op must look at its data first (integer division by zero).
  bool is_complete() const noexcept { return complete_; }
  /// Writes the values of one block of the result into `out`, whose dtype may be another one than the tree's.
  void write(const Block& block, Tensor& out) const;

 private:
  Tensor visit(const TreeNode& node);

  Recorder recorder_;
  std::vector<const TreeNode*> nodes_;  // visited, with the meta tensors that stand for them
  std::vector<Tensor> metas_;
  std::vector<Tensor> leaves_;  // in the order of the Program's inputs
  Tensor result_;
  bool complete_ = false;
};

}  // namespace tenon::expr
