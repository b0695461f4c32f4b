// expr: elementwise trees as one Program. Takes trees of the same sizes; computes their values block by block without
// temporaries: all ops are applied to a tile while it is in the cache, and what several trees share is computed once.
// Ops were resolved when the trees were built; one plan serves all blocks of one shape.
#pragma once
#include <span>
#include <vector>

#include "dispatch/recorder.h"
#include "expr/tree.h"
#include "plan/plan.h"

namespace tenon::expr {

class Fused {
 public:
  /// `outputs`: the dtypes in which values are written. No tree is a leaf, and none comes twice.
  Fused(const Trees& trees, const std::vector<Dtype>& outputs);

  /// Whether one Program computes the trees. False if an op must look at its data first (integer division by zero), or
  /// if one of several results is cast.
  bool is_complete() const noexcept { return complete_; }
  /// Computes one block of each result into `outs`, whose layouts depend on the block's lengths only.
  void write(const Block& block, std::span<Tensor> outs);
  /// The tensors that are read, without repetition: the Program's first inputs.
  const std::vector<Tensor>& leaves() const noexcept { return leaves_; }

 private:
  /// Adds the ops of a subtree to the Program; a shared subtree is added once. Returns the number of its value.
  int visit(const TreeNode& node);
  void add_leaf(const TreeNode& leaf);

  Recorder recorder_;
  std::vector<const TreeNode*> nodes_;  // visited nodes, with the numbers of their values
  std::vector<int> values_;
  std::vector<Tensor> leaves_;
  bool complete_ = false;
  Program program_;
  std::vector<const void*> numbers_;  // the Program's last inputs
  Dims planned_;                      // the block lengths of the plan
  Plan plan_;
};

}  // namespace tenon::expr
