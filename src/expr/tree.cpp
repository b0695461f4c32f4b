#include "expr/tree.h"

#include <algorithm>
#include <map>
#include <set>
#include <utility>

#include "expr/blocks.h"
#include "expr/fused.h"
#include "tenon/factories.h"
#include "tenon/policy.h"

namespace tenon::expr {
namespace {

/// Silences warnings and policies, which applied when the tree was built, for the calls on blocks.
class QuietGuard {
 public:
  QuietGuard() { backcompat::set_broadcast_warning(false); }
  ~QuietGuard() { backcompat::set_broadcast_warning(warned_); }
  QuietGuard(const QuietGuard&) = delete;
  QuietGuard& operator=(const QuietGuard&) = delete;

 private:
  bool warned_ = backcompat::broadcast_warning();
  PolicyGuard allow_{BroadcastPolicy{}};
};

Tensor to_meta(const Tensor& tensor) {
  if (tensor.is_meta()) return tensor;
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}

/// The value of a subtree on one block. With `out`, it is written there and cast.
Tensor block_value(const TreeNode& node, const Block& block, Tensor* out) {
  if (node.is_leaf()) {
    const Tensor part = slice_block(node.tensor, block);
    if (out) out->copy_(part);
    return part;
  }
  const Values values = with_operands(node.operands, node.values,
                                      [&](const Tree& operand) { return block_value(*operand, block, nullptr); });
  return at(node.span, [&] {
    if (out && node.function->out && node.function->results == 1 && out->dtype() == node.meta.dtype() &&
        out->sizes() == block.lengths) {
      node.function->out(values.data(), out);
      return *out;
    }
    Tensor value = call(*node.function, values, node.result);
    if (out) out->copy_(value);
    return value;
  });
}

int64_t widest(const Trees& trees) {
  int64_t nbytes = 1;
  for (const Tree& tree : trees) nbytes = std::max(nbytes, tree->meta.itemsize());
  return nbytes;
}

/// Computes trees of the same sizes by blocks: by one Program if possible, otherwise one after the other, op by op in
/// blocks that stay in the cache.
class BlockValues {
 public:
  BlockValues(const Trees& trees, const std::vector<Dtype>& outputs) : trees_(trees) {
    const auto is_leaf = [](const Tree& tree) { return tree->is_leaf(); };
    const std::set<Tree> distinct(trees.begin(), trees.end());
    if (distinct.size() == trees.size() && std::none_of(trees.begin(), trees.end(), is_leaf)) {
      fused_.emplace(trees, outputs);
      if (!fused_->is_complete()) fused_.reset();
    }
    if (fused_ || trees.size() == 1) return;
    for (std::size_t i = 0; i < trees.size(); ++i)
      alone_.push_back(std::make_unique<BlockValues>(Trees{trees[i]}, std::vector<Dtype>{outputs[i]}));
  }
  int64_t block_elements(const ProgressCallback& progress) const {
    return std::max<int64_t>((is_fused() ? progress.fused_bytes : progress.block_bytes) / widest(trees_), 1);
  }
  const Fused* fused() const { return fused_ ? &*fused_ : nullptr; }
  void write(const Block& block, std::span<Tensor> outs) {
    for (std::size_t i = 0; i < alone_.size(); ++i) alone_[i]->write(block, outs.subspan(i, 1));
    if (fused_)
      at(trees_[0]->span, [&] { fused_->write(block, outs); });
    else if (alone_.empty())
      block_value(*trees_[0], block, outs.data());
  }

 private:
  bool is_fused() const {
    return fused_ || (!alone_.empty() &&
                      std::all_of(alone_.begin(), alone_.end(), [](const auto& alone) { return alone->is_fused(); }));
  }

  Trees trees_;
  std::optional<Fused> fused_;
  std::vector<std::unique_ptr<BlockValues>> alone_;  // each tree by itself, if one Program cannot compute all
};

/// Tells which parts of the trees' leaves no later block reads: those of leaves that lie in memory in the order of the
/// blocks.
class LeafParts {
 public:
  LeafParts(const Trees& trees, ProgressCallback& progress) : progress_(progress) {
    for (const Tree& tree : trees) collect(*tree);
  }
  void leave(const Block& block) {
    for (const Tensor& leaf : leaves_) {
      const Tensor part = slice_block(leaf, block);
      if (part.numel() < leaf.numel()) progress_.leave(part);
    }
  }

 private:
  void collect(const TreeNode& node) {
    if (node.is_leaf() && node.tensor.defined() && node.tensor.is_contiguous() && is_new(node.tensor))
      leaves_.push_back(node.tensor);
    for (const Tree& operand : node.operands)
      if (operand) collect(*operand);
  }
  bool is_new(const Tensor& tensor) const {
    return std::none_of(leaves_.begin(), leaves_.end(), [&](const Tensor& leaf) { return leaf.is(tensor); });
  }

  ProgressCallback& progress_;
  std::vector<Tensor> leaves_;
};

std::vector<Dtype> dtypes_of(const Trees& trees) {
  std::vector<Dtype> dtypes;
  for (const Tree& tree : trees) dtypes.push_back(tree->meta.dtype());
  return dtypes;
}

}  // namespace

bool requires_grad(const Tree& tree) {
  if (tree->is_leaf()) return tree->tensor.defined() && tree->tensor.requires_grad();
  return std::any_of(std::begin(tree->operands), std::end(tree->operands),
                     [](const Tree& operand) { return operand && requires_grad(operand); });
}

namespace {

/// A tensor without its data, or what stands in its place.
Tensor replaced(const Tensor& tensor, const Replacement& with) {
  return tensor.is(with.leaf) ? with.other : to_meta(tensor);
}

/// Calls a tree's ops on whole tensors; a shared subtree is computed once.
class WholeTensorEvaluation {
 public:
  /// With a replacement all leaves are without data.
  explicit WholeTensorEvaluation(const Replacement* with = nullptr) : with_(with) {}

  Tensor value(const Tree& tree) {
    if (tree->is_leaf()) return with_ ? replaced(tree->tensor, *with_) : tree->tensor;
    Tensor& known = values_[tree.get()];
    if (known.defined()) return known;
    const Values values =
        with_operands(tree->operands, tree->values, [&](const Tree& operand) { return value(operand); });
    const Tensor result = at(tree->span, [&] { return call(*tree->function, values, tree->result); });
    return values_[tree.get()] = result;
  }

 private:
  std::map<const TreeNode*, Tensor> values_;
  const Replacement* with_;
};

}  // namespace

bool requires_grad(const Tree& tree, const Replacement& with) {
  const QuietGuard quiet;
  return WholeTensorEvaluation(&with).value(tree).requires_grad();
}

bool requires_grad(const Tree& tree, const Schema& reduction, const Values& values, const Replacement& with) {
  const QuietGuard quiet;
  Values all = values;
  all[0] = WholeTensorEvaluation(&with).value(tree);
  return call(reduction, all).requires_grad();
}

bool requires_grad(const Schema& algorithm, const Values& values, const Replacement& with) {
  const QuietGuard quiet;
  Values all = values;
  for (std::size_t i = 0; i < all.size(); ++i) {
    if (all[i].is_tensor()) all[i] = replaced(all[i].tensor(), with);
    if (!algorithm.parameters()[i].is_list()) continue;
    List<Tensor> tensors;
    for (const Tensor& tensor : all[i].tensors()) tensors.push_back(replaced(tensor, with));
    all[i] = std::move(tensors);
  }
  const List<Tensor> results = algorithm.function(all.data());
  return std::any_of(results.begin(), results.end(), [](const Tensor& result) { return result.requires_grad(); });
}

Tree leaf(const Tensor& tensor, Span span, std::string label) {
  auto node = std::make_shared<TreeNode>();
  node->tensor = tensor;
  node->meta = to_meta(tensor);
  node->span = span;
  node->label = std::move(label);
  return node;
}

bool is_meta(const Tree& tree) {
  if (tree->is_leaf()) return tree->tensor.defined() && tree->tensor.is_meta();
  return std::any_of(std::begin(tree->operands), std::end(tree->operands),
                     [](const Tree& operand) { return operand && is_meta(operand); });
}

Tree leaf(Scalar number, Span span) {
  auto node = std::make_shared<TreeNode>();
  node->number = number;
  node->span = span;
  return node;
}

Tree apply(const Schema& function, std::vector<Tree> operands, Values values, Span span, int result) {
  auto node = std::make_shared<TreeNode>();
  node->function = &function;
  node->operands = std::move(operands);
  node->values = std::move(values);
  node->span = span;
  node->result = result;
  for (const Tree& operand : node->operands)
    if (operand && !operand->is_number()) node->calls.input(operand->meta);
  const Recording recording(node->calls);
  const Values metas = with_operands(node->operands, node->values, [](const Tree& operand) { return operand->meta; });
  node->meta = at(span, [&] { return call(function, metas, result); });
  // An op on two numbers gives a tensor that is not on meta.
  node->meta = to_meta(node->meta);
  return node;
}

void evaluate_elementwise(const Tree& tree, Tensor& out, ProgressCallback& progress) {
  if (!tree->is_number()) {
    std::vector<Tensor> outs{out};
    return evaluate_elementwise(Trees{tree}, outs, progress);
  }
  progress.advance(0, out.numel());
  out.fill_(tree->number);
}

void evaluate_elementwise(const Trees& trees, std::vector<Tensor>& outs, ProgressCallback& progress) {
  const QuietGuard quiet;
  const int64_t total = outs[0].numel();
  int64_t done = 0;
  progress.advance(done, total);
  std::vector<Dtype> dtypes;
  dtypes.reserve(outs.size());
  for (const Tensor& out : outs) dtypes.push_back(out.dtype());
  BlockValues values(trees, dtypes);
  LeafParts leaves(trees, progress);
  for_each_block(outs[0].sizes(), values.block_elements(progress), [&](const Block& block) {
    std::vector<Tensor> parts;
    parts.reserve(outs.size());
    for (const Tensor& out : outs) parts.push_back(slice_block(out, block));
    values.write(block, parts);
    leaves.leave(block);
    done += parts[0].numel();  // exact: at most `total`
    progress.advance(done, total);
  });
}

Tensor evaluate_elementwise(const Tree& tree, ProgressCallback& progress) {
  if (tree->is_number()) return full({}, tree->number);
  if (tree->is_leaf()) return tree->tensor;
  if (is_meta(tree)) return tree->meta;
  if (requires_grad(tree)) return WholeTensorEvaluation().value(tree);
  Tensor out = empty_strided(tree->sizes(), tree->meta.strides(), tree->meta.dtype());
  evaluate_elementwise(tree, out, progress);
  return out;
}

Planned plan_elementwise(const Tree& tree, const ProgressCallback& progress) {
  const QuietGuard quiet;
  Planned planned;
  if (tree->is_leaf() || numel_of(tree->sizes()) == 0) return planned;
  BlockValues values({tree}, {tree->meta.dtype()});
  if (values.fused()) planned.leaves = values.fused()->leaves();
  const Cut cut = cut_into_blocks(tree->sizes(), values.block_elements(progress));
  planned.blocks = block_count(tree->sizes(), cut);
  Tensor part = slice_block(tree->meta, cut.first);
  CourseRecord record(false);
  values.write(cut.first, {&part, 1});
  planned.courses = std::move(record.courses);
  planned.elementwise = planned.courses.size();
  return planned;
}

Planned plan_algorithm(const Schema& function, const Values& values) {
  const QuietGuard quiet;
  Planned planned;
  CourseRecord record(false);
  function.function(values.data());
  planned.courses = std::move(record.courses);
  return planned;
}

Cut cut_of_blocks(const Trees& trees, const ProgressCallback& progress) {
  return cut_into_blocks(trees[0]->sizes(), std::max<int64_t>(progress.block_bytes / widest(trees), 1));
}

void evaluate_blocks(const Trees& trees, ProgressCallback& progress,
                     const std::function<void(const std::vector<Tensor>& values, const Block& block)>& visit) {
  const QuietGuard quiet;
  int64_t done = 0;
  const SizesView sizes = trees[0]->sizes();
  const int64_t total = numel_of(sizes);
  Trees computed;  // the others are leaves, whose blocks are views
  std::copy_if(trees.begin(), trees.end(), std::back_inserter(computed),
               [](const Tree& tree) { return !tree->is_leaf(); });
  std::optional<BlockValues> values;
  if (!computed.empty()) values.emplace(computed, dtypes_of(computed));
  LeafParts leaves(trees, progress);
  for_each_block(sizes, std::max<int64_t>(progress.block_bytes / widest(trees), 1), [&](const Block& block) {
    std::vector<Tensor> written, parts;
    for (const Tree& tree : computed) written.push_back(empty(block.lengths, tree->meta.dtype()));
    if (values) values->write(block, written);
    std::size_t next = 0;
    for (const Tree& tree : trees)
      parts.push_back(tree->is_leaf() ? slice_block(tree->tensor, block) : written[next++]);
    visit(parts, block);
    leaves.leave(block);
    done += parts[0].numel();  // exact: at most `total`
    progress.advance(done, total);
  });
}

}  // namespace tenon::expr
