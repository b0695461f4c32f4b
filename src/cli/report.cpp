#include "cli/report.h"

#include <algorithm>

#include "ops/row.h"
#include "plan/plan.h"
#include "tenon/factories.h"
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

/// The op that computes the value of a node: of a function with several results, that of its result.
Op op_of(const TreeNode& node) {
  Op op = static_cast<Op>(node.function->op);
  for (int result = 0; result < node.result; ++result) op = row_of(op).next_result;
  return op;
}

/// The dtype to which an op's operands are cast, which for comparisons is not the result's dtype.
Dtype computed_dtype(const TreeNode& node) {
  if (node.function->op < 0) return node.meta.dtype();
  const Promotion promotion = row_of(op_of(node)).promotion;
  if (promotion != Promotion::comparison && promotion != Promotion::logical && promotion != Promotion::to_int32)
    return node.meta.dtype();
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

/// A tensor that a tree reads, and whether an op casts it.
struct Leaf {
  const TreeNode* node;
  bool cast;
};

/// Collects the leaves without repetition, in the order of the expression.
void collect_leaves(const TreeNode& node, bool cast, std::vector<Leaf>& leaves) {
  for (std::size_t i = 0; i < node.operands.size(); ++i) {
    const expr::Tree& operand = node.operands[i];
    if (!operand || operand->is_number()) continue;
    // The condition of `where` is not cast.
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
  ops.push_back(std::move(op));
}

std::string access_text(const Course& course, int64_t input) {
  const Plan::Operand known = course.plan.input(input) < course.plan.operands.size()
                                  ? course.plan.operands[course.plan.input(input)]
                                  : Plan::Operand();
  const AccessPattern access = course.accesses[input];
  const bool has_length =
      known.access == access && (access == AccessPattern::periodic || access == AccessPattern::repeated);
  return std::string(access_pattern_name(access)) + (has_length ? " " + std::to_string(known.length) : "");
}

Dims mask_of(const expr::Step& step, SizesView sizes) {
  return reduced_mask(expr::dims_of(*step.reduction, step.values), sizes.size());
}

RunReport run_of(const Course& course, std::string name) {
  RunReport run;
  run.name = std::move(name);
  run.route = course.route;
  run.stores = course.stores;
  for (int64_t input = 0; input < course.accesses.size(); ++input) run.accesses.push_back(access_text(course, input));
  run.passes = course.passes;
  run.parts = course.parts;
  run.threads = course.threads;
  run.scratch_bytes = course.scratch_bytes;
  for (const KernelName& kernel : course.kernels)
    run.kernels.push_back(std::string(kernel.op) + "." + short_name(kernel.dtype) + "." + lower(instruction_set()));
  return run;
}

/// The index of a leaf among the inputs of the first course; -1 if it is not among them.
int64_t input_of(const expr::Planned& planned, const TreeNode& leaf) {
  for (std::size_t i = 0; i < planned.leaves.size(); ++i)
    if (planned.leaves[i].is(leaf.tensor)) return static_cast<int64_t>(i);
  return -1;
}

/// Whether the step's result would have a gradient for a leaf.
bool has_gradient(const expr::Step& step, const Tensor& leaf) {
  if (!is_inexact(leaf.dtype())) return false;
  Tensor other = empty_strided(leaf.sizes(), leaf.strides(), Options(leaf.dtype(), Device::meta));
  other.requires_grad_();
  const expr::Replacement with{leaf, other};
  if (step.algorithm) return expr::requires_grad(*step.algorithm, step.values, with);
  return step.reduction ? expr::requires_grad(step.tree, *step.reduction, step.values, with)
                        : expr::requires_grad(step.tree, with);
}

/// Adds the runs that the engines plan.
void add_runs(Report& report, const expr::Step& step, const std::vector<Leaf>& leaves) {
  const expr::Planned planned = expr::at(step.span, [&] { return expr::plan_step(step, expr::NoProgress()); });
  report.blocks = planned.blocks;
  const std::size_t count = planned.courses.size();
  const Schema* const whole = step.reduction ? step.reduction : step.algorithm;
  for (std::size_t i = 0; i < count; ++i)
    report.runs.push_back(run_of(planned.courses[i], i < planned.elementwise ? "elementwise" : whole->name));
  if (count == 0 || step.algorithm) return;
  const Course& first = planned.courses[0];
  report.loops = Dims(first.plan.sizes.data(), first.plan.ndim());
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    const int64_t input = step.tree->is_leaf() ? 0 : input_of(planned, *leaves[i].node);
    if (input < 0) continue;
    report.operands[i].access = access_text(first, input) + (leaves[i].cast ? ", cast" : "");
    if (input + 1 < first.plan.operands.size())
      report.operands[i].loop_strides = Dims(first.plan.strides_of(input + 1), first.plan.ndim());
  }
}

void add_reduction(Report& report, const expr::Step& step) {
  if (!step.tree->is_leaf())
    report.temporary_bytes = report.blocks > 1 ? expr::NoProgress().block_bytes : step.tree->meta.nbytes();
  ReductionReport reduction;
  reduction.name = step.reduction->name;
  const Dims mask = mask_of(step, report.result);
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) reduction.dims.push_back(dim);
  const Tensor& result = step.results[0];
  reduction.sizes = result.sizes().copy();
  reduction.dtype = result.dtype();
  report.result_strides = result.strides().copy();
  for (OperandReport& operand : report.operands) operand.expanded_dims = reduction.dims;
  report.reductions.push_back(std::move(reduction));
}

/// What is read and written, if anything runs: a view reads nothing.
void add_traffic(Report& report, const expr::Step& step) {
  if (report.runs.empty()) return;
  for (const OperandReport& operand : report.operands) report.bytes_read += static_cast<ByteSum>(operand.bytes);
  for (const Tensor& result : step.results) report.bytes_written += static_cast<ByteSum>(result.nbytes());
}

/// "values", "indices"; "result" for one without a name.
std::string result_name(const expr::Step& step, std::size_t place) {
  const std::vector<std::string> names = expr::Results{step.algorithm, {}}.names();
  if (place < names.size() && !names[place].empty()) return names[place];
  return step.results.size() == 1 ? "result" : "result " + std::to_string(place);
}

/// A tensor with its own dims: an algorithm's operands do not broadcast together.
OperandReport tensor_of(const Tensor& tensor, const std::string& label) {
  return operand_of(tensor, label, tensor.sizes());
}

Report report_algorithm(const expr::Step& step, const std::string& text) {
  Report report;
  report.text = part(text, step.span);
  report.algorithm = step.algorithm->name;
  for (const expr::Tree& operand : step.operands) {
    report.operands.push_back(tensor_of(operand->tensor, operand->label));
    report.operands.back().has_gradient = has_gradient(step, operand->tensor);
  }
  for (std::size_t i = 0; i < step.results.size(); ++i)
    report.results.push_back(tensor_of(step.results[i], result_name(step, i)));
  if (!step.results.empty()) {
    report.result = step.results[0].sizes().copy();
    report.result_strides = step.results[0].strides().copy();
    report.dtype = step.results[0].dtype();
  }
  add_runs(report, step, {});
  add_traffic(report, step);
  return report;
}

/// The common shape, with -1 for dims in which sizes disagree.
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
  constexpr const char* kNames[kDtypeCount] = {"bool", "u8",  "i8",   "i16", "i32", "i64", "u16", "u32",
                                               "u64",  "f16", "bf16", "f32", "f64", "c64", "c128"};
  return kNames[static_cast<int>(dtype)];
}

Report report_step(const expr::Step& step, const std::string& text) {
  if (step.algorithm) return report_algorithm(step, text);
  Report report;
  report.text = part(text, step.span);
  if (step.tree->is_number()) return report;
  const Tensor& value = step.tree->meta;
  report.result = value.sizes().copy();
  report.result_strides = value.strides().copy();
  report.dtype = value.dtype();
  std::vector<Leaf> leaves;
  collect_leaves(*step.tree, false, leaves);
  for (const Leaf& leaf : leaves) {
    report.operands.push_back(operand_of(leaf.node->tensor, leaf.node->label, report.result));
    report.operands.back().has_gradient = has_gradient(step, leaf.node->tensor);
  }
  collect_ops(*step.tree, text, report.ops);
  add_runs(report, step, leaves);
  add_traffic(report, step);
  if (step.reduction) add_reduction(report, step);
  return report;
}

int64_t scratch_of(const Report& report) {
  int64_t most = 0;
  // exact: scratch of a few tiles for each thread
  for (const RunReport& run : report.runs) most = std::max(most, run.scratch_bytes * run.threads);
  return report.temporary_bytes + most;
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
