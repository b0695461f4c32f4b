#include "cli/report.h"

#include <algorithm>

#include "plan/plan.h"
#include "tenon/shape.h"
#include "tenon/threads.h"

namespace tenon::cli {
namespace {

using expr::Span;
using expr::TreeNode;

std::string part(const std::string& text, Span span) {
  if (span.end > static_cast<int64_t>(text.size())) return {};
  return text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
  return text;
}

std::vector<Cell> cells_of(SizesView sizes, SizesView result) {
  std::vector<Cell> cells(static_cast<std::size_t>(result.size()));
  const int64_t lead = result.size() - sizes.size();
  for (int64_t dim = 0; dim < result.size(); ++dim) {
    Cell& cell = cells[static_cast<std::size_t>(dim)];
    cell.mark = Mark::added;
    if (dim < lead) continue;
    cell.size = sizes[dim - lead];
    cell.mark = cell.size == result[dim] ? Mark::same : cell.size == 1 ? Mark::stretched : Mark::failing;
  }
  return cells;
}

OperandReport operand_of(const Tensor& tensor, const std::string& label, SizesView result) {
  OperandReport operand;
  operand.label = label;
  operand.dtype = tensor.dtype();
  operand.sizes = tensor.sizes().copy();
  operand.strides = tensor.strides().copy();
  operand.cells = cells_of(tensor.sizes(), result);
  if (is_expandable_to(tensor.sizes(), result)) operand.gradient_dims = sum_to_dims(result, tensor.sizes());
  operand.bytes = tensor.nbytes();
  return operand;
}

/// The tensors a tree reads, each once, in the order they are written.
void collect_leaves(const TreeNode& node, std::vector<const TreeNode*>& leaves) {
  for (const expr::Tree& operand : node.operands)
    if (operand) collect_leaves(*operand, leaves);
  if (!node.is_leaf() || node.is_number()) return;
  const auto same = [&](const TreeNode* other) { return other->tensor.is(node.tensor) && other->label == node.label; };
  if (std::none_of(leaves.begin(), leaves.end(), same)) leaves.push_back(&node);
}

/// The dtype an op's kernel works in: that of the operands together, which comparisons do not give.
Dtype computed_dtype(const TreeNode& node) {
  if (!node.function->op) return node.meta.dtype();
  const Promotion promotion = row_of(*node.function->op).promotion;
  if (promotion != Promotion::comparison && promotion != Promotion::logical) return node.meta.dtype();
  std::vector<TypedOperand> operands;
  for (const expr::Tree& operand : node.operands) {
    if (!operand) continue;
    if (operand->is_number()) operands.push_back(typed(operand->number));
    else operands.push_back({operand->meta.dtype(), operand->meta.dim() == 0 ? Category::zero_dim : Category::dimensioned});
  }
  return result_type(operands.data(), static_cast<int64_t>(operands.size()));
}

void collect_ops(const TreeNode& node, const std::string& text, std::vector<OpReport>& ops) {
  if (node.is_leaf()) return;
  for (const expr::Tree& operand : node.operands)
    if (operand) collect_ops(*operand, text, ops);
  OpReport op;
  op.text = part(text, node.span);
  op.name = node.function->name;
  op.dtype = node.meta.dtype();
  op.rule = dtype_rule(node);
  op.kernel = (node.function->op ? op.name : "cast") + "." + short_name(computed_dtype(node)) + "." + lower(instruction_set());
  ops.push_back(std::move(op));
}

std::string way_text(const Plan::Operand& operand, bool cast) {
  std::string text = way_name(operand.way);
  if (operand.way == Way::periodic || operand.way == Way::repeated) text += " " + std::to_string(operand.length);
  return cast ? text + ", cast" : text;
}

void add_plan(Report& report, const std::vector<const TreeNode*>& leaves) {
  std::vector<Walk> walks{{report.result, report.result_strides}};
  for (const TreeNode* leaf : leaves) walks.push_back({leaf->tensor.sizes(), leaf->tensor.strides()});
  Plan plan;
  make_plan(report.result, walks.data(), static_cast<int64_t>(walks.size()), plan);
  report.loops = Dims(plan.sizes.data(), plan.sizes.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) + 1;  // the output comes first
    report.operands[i].way = way_text(plan.operands[at], report.operands[i].dtype != report.dtype && report.dtype != Dtype::bool_);
    report.operands[i].loop_strides = Dims(plan.strides_of(at), plan.ndim());
  }
}

void add_reduction(Report& report, const expr::Step& step) {
  ReductionReport reduction;
  reduction.name = step.reduction->name;
  const Dims mask = reduced_mask(step.parameters.dims, report.result.size());
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) reduction.dims.push_back(dim);
  reduction.sizes = step.result.sizes().copy();
  reduction.dtype = step.result.dtype();
  report.bytes_written = step.result.nbytes();
  report.reductions.push_back(std::move(reduction));
}

/// The common shape as far as there is one: -1 in dims where sizes disagree.
Dims shape_of(const std::vector<Tensor>& tensors) {
  int64_t ndim = 0;
  for (const Tensor& tensor : tensors) ndim = std::max(ndim, tensor.dim());
  Dims shape(ndim, 1);
  for (const Tensor& tensor : tensors) {
    for (int64_t back = 1; back <= tensor.dim(); ++back) {
      int64_t& common = shape[ndim - back];
      const int64_t size = tensor.size(-back);
      if (size != 1 && common != size) common = common == 1 ? size : -1;
    }
  }
  return shape;
}

}  // namespace

const char* short_name(Dtype dtype) {
  constexpr const char* kNames[kDtypeCount] = {"bool", "u8", "i8", "i16", "i32", "i64", "f16", "bf16", "f32", "f64"};
  return kNames[static_cast<int>(dtype)];
}

Report report_step(const expr::Step& step, const std::string& text) {
  Report report;
  report.text = part(text, step.span);
  if (step.tree->is_number()) return report;
  const Tensor& value = step.tree->meta;
  report.result = value.sizes().copy();
  report.result_strides = value.strides().copy();
  report.dtype = value.dtype();
  std::vector<const TreeNode*> leaves;
  collect_leaves(*step.tree, leaves);
  for (const TreeNode* leaf : leaves) report.operands.push_back(operand_of(leaf->tensor, leaf->label, report.result));
  collect_ops(*step.tree, text, report.ops);
  add_plan(report, leaves);
  for (const OperandReport& operand : report.operands) report.bytes_read += operand.bytes;
  report.bytes_written = value.nbytes();
  if (step.reduction) add_reduction(report, step);
  return report;
}

Report report_failure(const std::vector<expr::Argument>& operands, const std::string& text) {
  Report report;
  report.text = text;
  report.fails = true;
  std::vector<Tensor> tensors;
  std::vector<std::string> labels;
  for (const expr::Argument& operand : operands) {
    const expr::Tree& tree = std::get<expr::Tree>(operand.value);
    if (tree->is_number()) continue;
    tensors.push_back(tree->meta);
    labels.push_back(operand.keyword);
  }
  report.result = shape_of(tensors);
  for (std::size_t i = 0; i < tensors.size(); ++i) report.operands.push_back(operand_of(tensors[i], labels[i], report.result));
  for (OperandReport& operand : report.operands)
    for (Cell& cell : operand.cells)
      if (cell.mark == Mark::stretched && report.result[&cell - operand.cells.data()] < 0) cell.mark = Mark::same;
  return report;
}

}  // namespace tenon::cli
