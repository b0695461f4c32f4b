#include "expr/traffic.h"

#include <algorithm>

#include "expr/evaluate.h"

namespace tenon::expr {
namespace {

ByteSum bytes_in(const Tensor& tensor) {
  return tensor.defined() ? static_cast<ByteSum>(tensor.numel()) * static_cast<ByteSum>(tensor.itemsize()) : 0;
}

}  // namespace

void Traffic::begin_pass() {
  ++passes;
  read_.clear();
  visited_.clear();
}

void Traffic::read(const Tensor& tensor) {
  if (std::any_of(read_.begin(), read_.end(), [&](const Tensor& other) { return other.is(tensor); })) return;
  read_.push_back(tensor);
  bytes += bytes_in(tensor);  // exact: 128 bits, as all sums here
}

void Traffic::visit(const TreeNode& node) {
  if (node.is_number() || !visited_.insert(&node).second) return;
  if (node.is_leaf()) return read(node.tensor);
  for (const Tree& operand : node.operands) {
    if (!operand) continue;
    visit(*operand);
    op_by_op += bytes_in(operand->meta);
  }
  op_by_op += bytes_in(node.meta);
}

void Traffic::add(const Step& step) {
  if (step.tree) visit(*step.tree);
  for (const Tree& operand : step.operands) {
    read(operand->tensor);
    op_by_op += bytes_in(operand->tensor);
  }
  const bool is_alone = step.reduction || !step.tree || step.tree->is_leaf();
  if (is_alone && step.tree) op_by_op += bytes_in(step.tree->meta);
  for (const Tensor& result : step.results) {
    bytes += bytes_in(result);  // exact: as above
    if (is_alone) op_by_op += bytes_in(result);
    most_bytes = std::max(most_bytes, result.nbytes());
  }
}

void Traffic::add_copy(const Tensor& copy) {
  begin_pass();
  bytes += 2 * bytes_in(copy);  // exact: as above
  op_by_op += 2 * bytes_in(copy);
}

}  // namespace tenon::expr
