#include "expr/fused.h"

#include "plan/plan.h"
#include "tenon/factories.h"
#include "tile/run.h"

namespace tenon::expr {
namespace {

/// Inputs are declared before the first op: leaves first.
void collect_leaves(const TreeNode& node, std::vector<const TreeNode*>& leaves) {
  if (node.is_number()) return;
  if (node.is_leaf()) {
    for (const TreeNode* seen : leaves)
      if (seen == &node) return;
    leaves.push_back(&node);
    return;
  }
  for (const Tree& operand : node.operands)
    if (operand) collect_leaves(*operand, leaves);
}

}  // namespace

Fused::Fused(const Tree& tree, Dtype output) {
  std::vector<const TreeNode*> leaves;
  collect_leaves(*tree, leaves);
  for (const TreeNode* leaf : leaves) add_leaf(*leaf);
  const Tensor result = visit(*tree);
  complete_ = recorder_.is_complete() && recorder_.find(result) >= 0;
  if (complete_) program_ = recorder_.program(result, output, numbers_);
}

/// A tensor that stands in several places is read once.
void Fused::add_leaf(const TreeNode& leaf) {
  nodes_.push_back(&leaf);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[i].is(leaf.tensor)) continue;
    metas_.push_back(inputs_[i]);
    return;
  }
  recorder_.input(leaf.meta);
  metas_.push_back(leaf.meta);
  inputs_.push_back(leaf.meta);
  leaves_.push_back(leaf.tensor);
}

/// Calls the ops on meta tensors once more, now written down; a shared subtree once.
Tensor Fused::visit(const TreeNode& node) {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] == &node) return metas_[i];
  const Values values = with_operands(node.operands, node.values, [&](const Tree& operand) { return visit(*operand); });
  nodes_.push_back(&node);
  metas_.push_back(call(*node.function, values));
  return metas_.back();
}

void Fused::write(const Block& block, Tensor& out) {
  std::vector<StridedView> strided{{out.sizes(), out.strides()}};
  std::vector<Tensor> parts;
  std::vector<const void*> inputs;
  for (const Tensor& leaf : leaves_) parts.push_back(slice_block(leaf, block));
  for (const Tensor& part : parts) inputs.push_back(part.data_ptr());
  inputs.insert(inputs.end(), numbers_.begin(), numbers_.end());
  if (plan_.operands.empty() || !(SizesView(planned_) == SizesView(block.lengths))) {
    for (const Tensor& part : parts) strided.push_back({part.sizes(), part.strides()});
    strided.resize(inputs.size() + 1);  // numbers have no dims
    make_plan(out.sizes(), strided.data(), static_cast<int64_t>(strided.size()), plan_);
    planned_ = SizesView(block.lengths).copy();
  }
  run(plan_, program_, out.data_ptr(), inputs.data());
}

}  // namespace tenon::expr
