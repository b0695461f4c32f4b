#include "cli/report.h"

#include <algorithm>

#include "ops/row.h"
#include "plan/plan.h"
#include "tenon/instruction_set.h"
#include "tenon/shape.h"

namespace tenon::cli {
namespace {

using expr::Span;
using expr::TreeNode;

std::string part(const std::string& text, Span span) {
  if (span.end > static_cast<int64_t>(text.size())) return {};
  return text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
}

std::string lower(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; });
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

/// The dtype an op's kernel works in: that of the operands together, which comparisons do not give.
Dtype computed_dtype(const TreeNode& node) {
  if (node.function->op < 0) return node.meta.dtype();
  const Promotion promotion = row_of(static_cast<Op>(node.function->op)).promotion;
  if (promotion != Promotion::comparison && promotion != Promotion::logical) return node.meta.dtype();
  std::vector<TypedOperand> operands;
  for (const expr::Tree& operand : node.operands) {
    if (!operand) continue;
    if (operand->is_number())
      operands.push_back(typed(operand->number));
    else
      operands.push_back(
          {operand->meta.dtype(), operand->meta.dim() == 0 ? Category::zero_dim : Category::dimensioned});
  }
  return result_type(operands.data(), static_cast<int64_t>(operands.size()));
}

/// A tensor that a tree reads, and whether some op wants it in another dtype.
struct Leaf {
  const TreeNode* node;
  bool cast;
};

/// Each once, in the order they are written.
void collect_leaves(const TreeNode& node, bool cast, std::vector<Leaf>& leaves) {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const expr::Tree& operand = node.operands[i];
    if (!operand || operand->is_number()) continue;
    // The condition of `where` is asked as it is.
    const bool is_condition = is_selection(node) && i == 0;
    collect_leaves(*operand, !is_condition && operand->meta.dtype() != computed_dtype(node), leaves);
  }
  if (!node.is_leaf()) return;
  for (Leaf& other : leaves) {
    if (!other.node->tensor.is(node.tensor) || other.node->label != node.label) continue;
    other.cast |= cast;
    return;
  }
  leaves.push_back({&node, cast});
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
  op.kernel = (node.function->op >= 0 ? op.name : "cast") + "." + short_name(computed_dtype(node)) + "." +
              lower(instruction_set());
  ops.push_back(std::move(op));
}

std::string elementwise_way(const Plan& plan, int64_t operand) {
  const Plan::Operand& access = plan.operands[operand];
  const bool has_length = access.access == AccessPattern::periodic || access.access == AccessPattern::repeated;
  return std::string(access_pattern_name(access.access)) + (has_length ? " " + std::to_string(access.length) : "");
}

/// A reduction's plan leaves the ways open: its tiles run along the innermost loop, by that loop's stride.
std::string reduction_way(const Plan& plan, int64_t operand) {
  const int64_t stride = plan.ndim() > 0 ? plan.strides_of(operand)[0] : 1;
  return access_pattern_name(stride == 0   ? AccessPattern::splat
                             : stride == 1 ? AccessPattern::direct
                                           : AccessPattern::gather);
}

Dims mask_of(const expr::Step& step, SizesView sizes) {
  return reduced_mask(expr::dims_of(*step.reduction, step.values), sizes.size());
}

/// Where a reduction's output goes, seen over the operand's dims: it has stride 0 along reduced ones.
Dims reduction_strides(const expr::Step& step, SizesView mask) {
  const SizesView strides = step.result.strides();
  Dims spread;
  int64_t at = 0;
  for (int64_t reduced : mask) {
    spread.push_back(reduced ? 0 : strides[at]);
    if (!reduced || expr::keeps_dims(*step.reduction, step.values)) ++at;
  }
  return spread;
}

void add_plan(Report& report, const expr::Step& step, const std::vector<Leaf>& leaves) {
  const Dims mask = step.reduction ? mask_of(step, report.result) : Dims();
  const Dims out_strides = step.reduction ? reduction_strides(step, mask) : report.result_strides;
  std::vector<StridedView> strided{{report.result, out_strides}};
  for (const Leaf& leaf : leaves) strided.push_back({leaf.node->tensor.sizes(), leaf.node->tensor.strides()});
  Plan plan;
  const auto make = step.reduction ? make_reduction_plan : make_plan;
  make(report.result, strided.data(), static_cast<int64_t>(strided.size()), plan);
  report.loops = Dims(plan.sizes.data(), plan.sizes.size());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const int64_t at = static_cast<int64_t>(i) + 1;  // the output comes first
    const std::string access = step.reduction ? reduction_way(plan, at) : elementwise_way(plan, at);
    report.operands[i].access = access + (leaves[i].cast ? ", cast" : "");
    report.operands[i].loop_strides = Dims(plan.strides_of(at), plan.ndim());
  }
}

void add_reduction(Report& report, const expr::Step& step) {
  ReductionReport reduction;
  reduction.name = step.reduction->name;
  const Dims mask = mask_of(step, report.result);
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) reduction.dims.push_back(dim);
  reduction.sizes = step.result.sizes().copy();
  reduction.dtype = step.result.dtype();
  report.result_strides = step.result.strides().copy();
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
  constexpr const char* kNames[kDtypeCount] = {"bool", "u8",  "i8",  "i16",  "i32", "i64", "u16",
                                               "u32",  "u64", "f16", "bf16", "f32", "f64"};
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
  std::vector<Leaf> leaves;
  collect_leaves(*step.tree, false, leaves);
  for (const Leaf& leaf : leaves)
    report.operands.push_back(operand_of(leaf.node->tensor, leaf.node->label, report.result));
  collect_ops(*step.tree, text, report.ops);
  add_plan(report, step, leaves);
  for (const OperandReport& operand : report.operands) report.bytes_read += static_cast<ByteSum>(operand.bytes);
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
  for (std::size_t i = 0; i < tensors.size(); ++i)
    report.operands.push_back(operand_of(tensors[i], labels[i], report.result));
  for (OperandReport& operand : report.operands)
    for (Cell& cell : operand.cells)
      if (cell.mark == Mark::stretched && report.result[&cell - operand.cells.data()] < 0) cell.mark = Mark::same;
  return report;
}

}  // namespace tenon::cli
