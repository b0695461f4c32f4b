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

Fused::Fused(const Tree& tree) {
  std::vector<const TreeNode*> leaves;
  collect_leaves(*tree, leaves);
  for (const TreeNode* leaf : leaves) {
    recorder_.input(leaf->meta);
    nodes_.push_back(leaf);
    metas_.push_back(leaf->meta);
    leaves_.push_back(leaf->tensor);
  }
  result_ = visit(*tree);
  complete_ = recorder_.is_complete() && recorder_.find(result_) >= 0;
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

void Fused::write(const Block& block, Tensor& out) const {
  std::vector<const void*> numbers;
  const Program program = recorder_.program(result_, out.dtype(), numbers);
  std::vector<Tensor> parts;
  for (const Tensor& leaf : leaves_) parts.push_back(slice_block(leaf, block));
  std::vector<StridedView> strided{{out.sizes(), out.strides()}};
  std::vector<const void*> inputs;
  for (const Tensor& part : parts) {
    strided.push_back({part.sizes(), part.strides()});
    inputs.push_back(part.data_ptr());
  }
  for (const void* number : numbers) {
    strided.push_back({});
    inputs.push_back(number);
  }
  Plan plan;
  make_plan(out.sizes(), strided.data(), static_cast<int64_t>(strided.size()), plan);
  run(plan, program, out.data_ptr(), inputs.data());
}

}  // namespace tenon::expr
