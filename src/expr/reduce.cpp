#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <string_view>

#include "expr/blocks.h"
#include "expr/tree.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon::expr {
namespace {

/// How partial results of a reduction are combined.
struct Merge {
  std::string_view reduction;
  std::string_view partial;  // the reduction of one block
  std::string_view combine;  // the op over two partial results
  bool is_wide = false;      // a block is cast to float64 first, because its reduction takes no dtype
};
constexpr Merge kMerges[] = {
    {"sum", "sum", "add"},         {"mean", "sum", "add"},       {"amax", "amax", "maximum"},
    {"amin", "amin", "minimum"},   {"prod", "prod", "mul"},      {"nansum", "nansum", "add"},
    {"all", "all", "logical_and"}, {"any", "any", "logical_or"}, {"count_nonzero", "count_nonzero", "add"},
};

const Merge* find_merge(const Schema& function) {
  for (const Merge& merge : kMerges)
    if (merge.reduction == function.name) return &merge;
  return nullptr;
}

/// The argument of that name; an empty value if the function has no such parameter.
const tenon::Value& argument(const Reduction& reduction, std::string_view parameter) {
  static const tenon::Value none{};
  const int place = reduction.function->place_of(parameter);
  return place < 0 ? none : reduction.values[static_cast<std::size_t>(place)];
}

/// The order of a norm of vectors; std::nullopt for norms of matrices and for other functions.
std::optional<double> order_of(const Reduction& reduction) {
  const std::string_view name = reduction.function->name;
  const tenon::Value& order = argument(reduction, name == "norm" ? "p" : "ord");
  const bool is_vector_norm = name == "norm" || name == "linalg_vector_norm" ||
                              (name == "linalg_norm" && order.is_empty() && argument(reduction, "dim").is_empty());
  if (!is_vector_norm || !(order.is_empty() || order.is_number()) || !argument(reduction, "dtype").is_empty())
    return std::nullopt;
  return order.floating(2);
}

bool is_place(const Reduction& reduction) {
  const std::string_view name = reduction.function->name;
  return (name == "argmax" || name == "argmin") && argument(reduction, "dim").is_empty();
}

bool is_spread(const Schema& function) {
  return std::string_view(function.name) == "var" || std::string_view(function.name) == "std";
}

/// A reduction of one tensor.
Tensor reduced(const Schema& function, const Tensor& operand, Values values) {
  values[0] = operand;
  return call(function, values);
}

/// Sets an argument, if the function has that parameter.
void set(const Schema& function, Values& values, std::string_view parameter, tenon::Value value) {
  const int place = function.place_of(parameter);
  if (place >= 0) values[static_cast<std::size_t>(place)] = std::move(value);
}

Dims mask_of(const Reduction& reduction) {
  return reduced_mask(dims_of(*reduction.function, reduction.values), reduction.tree->sizes().size());
}

/// The dtype of partial results: sums are kept in a wide dtype until the end.
Dtype partial_dtype(const Schema& partial, bool is_wide, Dtype result) {
  if (partial.place_of("dtype") < 0 && !is_wide) return result;
  if (is_complex(result)) return Dtype::complex128;
  return is_floating_point(result) ? Dtype::float64 : Dtype::int64;
}

/// The arguments of one block's reduction, without the first; `result`: the final dtype.
Values partial_values(const Schema& partial, const Dims& dims, Dtype result) {
  Values values(static_cast<std::size_t>(partial.count));
  set(partial, values, "dim", dims);
  set(partial, values, "keepdim", true);
  set(partial, values, "dtype", partial_dtype(partial, false, result));
  return values;
}

/// Takes a tree's values block by block; gives the reduction of all.
class Accumulator {
 public:
  explicit Accumulator(const Reduction& reduction) : mask_(mask_of(reduction)) {}
  virtual ~Accumulator() = default;
  Accumulator(const Accumulator&) = delete;
  Accumulator& operator=(const Accumulator&) = delete;

  virtual void add(const Tensor& values, const Block& block) = 0;
  /// `expected`: the result without its data.
  virtual Tensor result(const Tensor& expected) = 0;

 protected:
  /// The block's place in a tensor in which reduced dims have size 1.
  Block kept(Block block) const {
    for (int64_t dim = 0; dim < mask_.size(); ++dim) {
      if (!mask_[dim]) continue;
      block.starts[dim] = 0;
      block.lengths[dim] = 1;
    }
    return block;
  }
  /// Whether no block before had the same place.
  bool is_first(const Block& block) const {
    bool first = true;
    for (int64_t dim = 0; dim < mask_.size(); ++dim) first &= !mask_[dim] || block.starts[dim] == 0;
    return first;
  }

  Dims mask_;
};

/// Combines partial results by an op.
class MergedAccumulator : public Accumulator {
 public:
  MergedAccumulator(const Reduction& reduction, const Merge& merge, Dtype result)
      : Accumulator(reduction),
        partial_(*find_function(merge.partial)),
        combine_(*find_function(merge.combine)),
        values_(partial_values(partial_, dims_of(*reduction.function, reduction.values), result)) {
    const SizesView sizes = reduction.tree->sizes();
    total_ = empty(reduced_shape(sizes, mask_, true), partial_dtype(partial_, merge.is_wide, result));
    is_wide_ = merge.is_wide;
    count_ = merge.reduction == "mean" ? numel_of(sizes) / total_.numel() : 1;
  }

  void add(const Tensor& values, const Block& block) override {
    const Block place = kept(block);
    const Tensor partial =
        reduced(partial_, is_wide_ ? values.to(total_.dtype()) : values, values_).reshape(place.lengths);
    Tensor total = slice_block(total_, place);
    if (is_first(block)) {
      total.copy_(partial);
      return;
    }
    Values operands(static_cast<std::size_t>(combine_.count));
    operands[0] = total;
    operands[1] = partial;
    combine_.out(operands.data(), &total);
  }

  Tensor result(const Tensor& expected) override {
    if (count_ != 1) total_.div_(count_);
    return total_.to(expected.dtype()).reshape(expected.sizes());
  }

 private:
  const Schema& partial_;
  const Schema& combine_;
  Values values_;  // arguments of a block's reduction
  Tensor total_;
  int64_t count_ = 1;
  bool is_wide_ = false;
};

/// Combines counts, means and sums of squared distances. Chan, Golub, LeVeque, "Updating formulae and a pairwise
/// algorithm for computing sample variances", 1979.
class SpreadAccumulator : public Accumulator {
 public:
  explicit SpreadAccumulator(const Reduction& reduction)
      : Accumulator(reduction), is_std_(std::string_view(reduction.function->name) == "std") {
    const int place = reduction.function->place_of("correction");
    correction_ = reduction.values[static_cast<std::size_t>(place)].number(1).as_double();
    for (int64_t dim = 0; dim < mask_.size(); ++dim)
      if (mask_[dim]) dims_.push_back(dim);
    count_ = zeros(reduced_shape(reduction.tree->sizes(), mask_, true), Dtype::float64);
    mean_ = zeros_like(count_);
    distances_ = zeros_like(count_);
  }

  void add(const Tensor& values, const Block& block) override {
    const Block place = kept(block);
    Tensor count = slice_block(count_, place), mean = slice_block(mean_, place),
           distances = slice_block(distances_, place);
    const auto [spread, center] = var_mean(values.to(Dtype::float64), SizesView(dims_), 0, true);
    const int64_t of_each = values.numel() / count.numel();
    const auto added = static_cast<double>(of_each);
    const Tensor all = count + added, delta = center - mean;
    mean.add_(delta * added / all);
    distances.add_(spread * added + delta * delta * (count * added / all));
    count.copy_(all);
  }

  Tensor result(const Tensor& expected) override {
    const Tensor variance = distances_ / clamp_min(count_ - correction_, 0);
    return (is_std_ ? sqrt(variance) : variance).to(expected.dtype()).reshape(expected.sizes());
  }

 private:
  bool is_std_;
  double correction_;
  Dims dims_;
  Tensor count_, mean_, distances_;
};

/// Adds powers, or keeps the largest or smallest size, of a norm of vectors.
class NormAccumulator : public Accumulator {
 public:
  NormAccumulator(const Reduction& reduction, double order) : Accumulator(reduction), order_(order) {
    for (int64_t dim = 0; dim < mask_.size(); ++dim)
      if (mask_[dim]) dims_.push_back(dim);
    total_ = zeros(reduced_shape(reduction.tree->sizes(), mask_, true), Dtype::float64);
  }
  void add(const Tensor& values, const Block& block) override {
    const Dtype wide = is_complex(values.dtype()) ? Dtype::complex128 : Dtype::float64;
    const Tensor norm = linalg_vector_norm(values.to(wide), order_, SizesView(dims_), true);
    Tensor total = slice_block(total_, kept(block));
    if (std::isinf(order_))
      total.copy_(is_first(block) ? norm : order_ > 0 ? maximum(total, norm) : minimum(total, norm));
    else
      total.add_(order_ == 0 ? norm : pow(norm, order_));
  }
  Tensor result(const Tensor& expected) override {
    const bool is_power = order_ != 0 && !std::isinf(order_);
    return (is_power ? pow(total_, 1 / order_) : total_).to(expected.dtype()).reshape(expected.sizes());
  }

 private:
  double order_;
  Dims dims_;
  Tensor total_;
};

/// Keeps the largest (smallest) element and its place: the first of equal ones, NaN before all others. Blocks are
/// ranges of the elements in their order.
class PlaceAccumulator : public Accumulator {
 public:
  explicit PlaceAccumulator(const Reduction& reduction)
      : Accumulator(reduction), function_(*reduction.function), is_max_(function_.name == std::string_view("argmax")) {}
  void add(const Tensor& values, const Block&) override {
    const Tensor all = values.reshape({-1});
    const int64_t place = reduced(function_, all, Values(static_cast<std::size_t>(function_.count))).item<int64_t>();
    const Tensor value = all.select(0, place).clone();
    if (!best_.defined() || beats(value)) {
      best_ = value;
      place_ = before_ + place;  // exact: an index
    }
    before_ += values.numel();  // exact: at most the number of elements
  }
  Tensor result(const Tensor& expected) override { return full(expected.sizes(), place_, expected.dtype()); }

 private:
  bool beats(const Tensor& value) const {
    if (ne(best_, best_).item<bool>()) return false;  // NaN
    return ne(value, value).item<bool>() || (is_max_ ? gt(value, best_) : lt(value, best_)).item<bool>();
  }

  const Schema& function_;
  bool is_max_;
  Tensor best_;
  int64_t place_ = 0;
  int64_t before_ = 0;  // elements of the blocks before
};

/// For blocks in which reduced dims are whole: each gives a part of the result, the same as without blocks.
class PartsAccumulator : public Accumulator {
 public:
  PartsAccumulator(const Reduction& reduction, const Tensor& expected)
      : Accumulator(reduction), function_(*reduction.function), values_(reduction.values) {
    total_ = empty(reduced_shape(reduction.tree->sizes(), mask_, true), expected.dtype());
  }
  void add(const Tensor& values, const Block& block) override {
    const Block place = kept(block);
    slice_block(total_, place).copy_(reduced(function_, values, values_).reshape(place.lengths));
  }
  Tensor result(const Tensor& expected) override { return total_.reshape(expected.sizes()); }

 private:
  const Schema& function_;
  Values values_;
  Tensor total_;
};

/// Whether every block holds the reduced dims as a whole.
bool keeps_reduced_dims(const Reduction& reduction, const ProgressCallback& progress) {
  const Dims mask = mask_of(reduction);
  const Cut cut = cut_of_blocks({reduction.tree}, progress);
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim] && cut.first.lengths[dim] != reduction.tree->sizes()[dim]) return false;
  return true;
}

/// Whether blocks of any part of the reduced dims can be combined.
bool has_merge(const Reduction& reduction) {
  if (order_of(reduction) || is_place(reduction)) return true;
  return find_merge(*reduction.function) ||
         (is_spread(*reduction.function) && !is_complex(reduction.tree->meta.dtype()));
}

std::unique_ptr<Accumulator> accumulator_of(const Reduction& reduction, const Tensor& expected) {
  if (const Merge* merge = find_merge(*reduction.function))
    return std::make_unique<MergedAccumulator>(reduction, *merge, expected.dtype());
  if (const std::optional<double> order = order_of(reduction))
    return std::make_unique<NormAccumulator>(reduction, *order);
  if (is_place(reduction)) return std::make_unique<PlaceAccumulator>(reduction);
  if (has_merge(reduction)) return std::make_unique<SpreadAccumulator>(reduction);
  return std::make_unique<PartsAccumulator>(reduction, expected);
}

}  // namespace

Tensor meta_of(const Reduction& reduction) {
  if (reduction.tree->is_number()) return {};
  return reduced(*reduction.function, reduction.tree->meta, reduction.values);
}

bool goes_by_blocks(const Reduction& reduction, const ProgressCallback& progress) {
  const Tree& tree = reduction.tree;
  if (tree->is_number() || bytes_of(tree->meta).is_at_most(progress.stream_bytes) || tree->meta.numel() == 0)
    return false;
  if (requires_grad(tree)) return false;
  return has_merge(reduction) ||
         (reduction.function->is_fold() && !tree->is_leaf() && keeps_reduced_dims(reduction, progress));
}

Planned plan_reduction(const Reduction& reduction, const ProgressCallback& progress) {
  const Tree& tree = reduction.tree;
  if (tree->is_number()) return {};
  const bool is_cut = goes_by_blocks(reduction, progress);
  NoProgress of_blocks;
  of_blocks.fused_bytes = of_blocks.block_bytes = progress.block_bytes;
  Planned planned = plan_elementwise(tree, is_cut ? of_blocks : progress);
  const Tensor result = meta_of(reduction);
  CourseRecord record(false);
  if (is_cut) {
    const Cut cut = cut_of_blocks({tree}, progress);
    planned.blocks = block_count(tree->sizes(), cut);
    const Merge* merge = find_merge(*reduction.function);
    const Schema& partial = merge ? *find_function(merge->partial) : *reduction.function;
    reduced(partial, empty(cut.first.lengths, Options(tree->meta.dtype(), Device::meta)),
            merge ? partial_values(partial, dims_of(*reduction.function, reduction.values), result.dtype())
                  : reduction.values);
  } else {
    meta_of(reduction);
  }
  planned.courses.insert(planned.courses.end(), record.courses.begin(), record.courses.end());
  return planned;
}

Tensor evaluate_reduction(const Reduction& reduction, ProgressCallback& progress) {
  progress.advance(0, 1);
  const Tensor expected = meta_of(reduction);
  if (is_meta(reduction.tree)) return expected;
  return reduced(*reduction.function, evaluate_elementwise(reduction.tree, progress), reduction.values);
}

List<Tensor> evaluate_reductions(const std::vector<Reduction>& reductions, ProgressCallback& progress) {
  List<Tensor> results;
  for (const Reduction& reduction : reductions) results.push_back(meta_of(reduction));
  if (is_meta(reductions[0].tree)) return results;
  Trees trees;  // without repetition
  std::vector<std::size_t> tree_of;
  std::vector<std::unique_ptr<Accumulator>> accumulators;
  for (std::size_t i = 0; i < reductions.size(); ++i) {
    accumulators.push_back(accumulator_of(reductions[i], results[i]));
    const auto known = std::find(trees.begin(), trees.end(), reductions[i].tree);
    tree_of.push_back(static_cast<std::size_t>(known - trees.begin()));
    if (known == trees.end()) trees.push_back(reductions[i].tree);
  }
  evaluate_blocks(trees, progress, [&](const std::vector<Tensor>& values, const Block& block) {
    for (std::size_t i = 0; i < accumulators.size(); ++i) accumulators[i]->add(values[tree_of[i]], block);
  });
  for (std::size_t i = 0; i < accumulators.size(); ++i) results[i] = accumulators[i]->result(results[i]);
  return results;
}

}  // namespace tenon::expr
