#include "expr/fused.h"

#include "plan/plan.h"
#include "tile/run.h"

namespace tenon::expr {
namespace {

/// Collects leaves, because inputs are declared before the first op.
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

Fused::Fused(const Trees& trees, const std::vector<Dtype>& outputs) {
  std::vector<const TreeNode*> leaves;
  for (const Tree& tree : trees) collect_leaves(*tree, leaves);
  for (const TreeNode* leaf : leaves) add_leaf(*leaf);
  std::vector<int> results;
  complete_ = true;
  for (std::size_t i = 0; i < trees.size(); ++i) {
    results.push_back(visit(*trees[i]));
    complete_ &= results[i] >= 0 && (trees.size() == 1 || outputs[i] == trees[i]->meta.dtype());
  }
  complete_ &= recorder_.is_complete();
  if (!complete_) return;
  program_ =
      trees.size() == 1 ? recorder_.program(results[0], outputs[0], numbers_) : recorder_.program(results, numbers_);
}

/// Adds a leaf, unless the same tensor is there already.
void Fused::add_leaf(const TreeNode& leaf) {
  nodes_.push_back(&leaf);
  for (std::size_t i = 0; i < leaves_.size(); ++i) {
    if (!leaves_[i].is(leaf.tensor)) continue;
    values_.push_back(static_cast<int>(i));
    return;
  }
  recorder_.input(leaf.meta);
  values_.push_back(static_cast<int>(leaves_.size()));
  leaves_.push_back(leaf.tensor);
}

int Fused::visit(const TreeNode& node) {
  for (std::size_t i = 0; i < nodes_.size(); ++i)
    if (nodes_[i] == &node) return values_[i];
  std::vector<int> inputs;
  for (const Tree& operand : node.operands)
    if (operand && !operand->is_number()) inputs.push_back(visit(*operand));
  nodes_.push_back(&node);
  values_.push_back(recorder_.append(node.calls, inputs, node.meta));
  return values_.back();
}

void Fused::write(const Block& block, std::span<Tensor> outs) {
  std::vector<StridedView> strided;
  std::vector<void*> to;
  for (const Tensor& out : outs) {
    strided.push_back({out.sizes(), out.strides()});
    to.push_back(out.data_ptr());
  }
  std::vector<Tensor> parts;
  std::vector<const void*> inputs;
  inputs.reserve(leaves_.size() + numbers_.size());
  for (const Tensor& leaf : leaves_) parts.push_back(slice_block(leaf, block));
  for (const Tensor& part : parts) inputs.push_back(part.data_ptr());
  inputs.insert(inputs.end(), numbers_.begin(), numbers_.end());
  if (plan_.operands.empty() || !(SizesView(planned_) == SizesView(block.lengths))) {
    for (const Tensor& part : parts) strided.push_back({part.sizes(), part.strides()});
    strided.resize(outs.size() + inputs.size());  // numbers have no dims
    make_plan(outs[0].sizes(), strided.data(), static_cast<int64_t>(strided.size()), plan_,
              static_cast<int64_t>(outs.size()));
    planned_ = SizesView(block.lengths).copy();
  }
  run(plan_, program_, to.data(), inputs.data());
}

}  // namespace tenon::expr
