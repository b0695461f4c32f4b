#include <algorithm>
#include <string_view>

#include "expr/blocks.h"
#include "expr/tree.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon::expr {
namespace {

/// How partial results of a reduction are combined.
struct Merge {
  std::string_view reduction;
  std::string_view partial;  // the reduction of one block
  std::string_view combine;  // the op over two partial results
};
constexpr Merge kMerges[] = {
    {"sum", "sum", "add"}, {"mean", "sum", "add"}, {"amax", "amax", "maximum"}, {"amin", "amin", "minimum"}};

const Merge* find_merge(const Schema& function) {
  for (const Merge& merge : kMerges)
    if (merge.reduction == function.name) return &merge;
  return nullptr;
}

/// Whether a tree is reduced block by block.
bool goes_by_blocks(const Merge* merge, const Tree& tree, const ProgressCallback& progress) {
  return merge && !tree->is_number() && !bytes_of(tree->meta).is_at_most(progress.stream_bytes) &&
         tree->meta.numel() > 0 && !requires_grad(tree);
}

/// A reduction of one tensor.
Tensor reduced(const Schema& function, const Tensor& operand, Values values) {
  values[0] = operand;
  return call(function, values);
}

void set(const Schema& function, Values& values, std::string_view parameter, tenon::Value value) {
  values[static_cast<std::size_t>(function.place_of(parameter))] = std::move(value);
}

/// The dtype of partial results: sums are kept in a wide dtype until the end.
Dtype partial_dtype(const Schema& partial, Dtype result) {
  if (partial.place_of("dtype") < 0) return result;
  if (is_complex(result)) return Dtype::complex128;
  return is_floating_point(result) ? Dtype::float64 : Dtype::int64;
}

/// The arguments of one block's reduction, without the first; `result`: the final dtype.
Values partial_values(const Schema& partial, const Dims& dims, Dtype result) {
  Values values(static_cast<std::size_t>(partial.count));
  set(partial, values, "dim", dims);
  set(partial, values, "keepdim", true);
  if (partial.place_of("dtype") >= 0) set(partial, values, "dtype", partial_dtype(partial, result));
  return values;
}

/// Combines the blocks' partial results in a tensor in which reduced dims have size 1.
class Accumulator {
 public:
  Accumulator(const Schema& function, const Merge& merge, SizesView sizes, const Values& values, Dtype result)
      : partial_(*find_function(merge.partial)),
        combine_(*find_function(merge.combine)),
        mask_(reduced_mask(dims_of(function, values), sizes.size())),
        values_(partial_values(partial_, dims_of(function, values), result)) {
    total_ = empty(reduced_shape(sizes, mask_, true), partial_dtype(partial_, result));
    count_ = std::string_view(function.name) == "mean" ? numel_of(sizes) / total_.numel() : 1;
  }

  void add(const Tensor& values, const Block& block) {
    const Tensor partial = reduced(partial_, values, values_);
    Block kept = block;
    bool first = true;
    for (int64_t dim = 0; dim < mask_.size(); ++dim) {
      if (!mask_[dim]) continue;
      first &= block.starts[dim] == 0;
      kept.starts[dim] = 0;
      kept.lengths[dim] = 1;
    }
    Tensor total = slice_block(total_, kept);
    if (first) {
      total.copy_(partial);
      return;
    }
    Values operands(static_cast<std::size_t>(combine_.count));
    operands[0] = total;
    operands[1] = partial;
    combine_.out(operands.data(), &total);
  }

  Tensor result(SizesView sizes, Dtype dtype) {
    if (count_ != 1) total_.div_(count_);
    return total_.to(dtype).reshape(sizes);
  }

 private:
  const Schema& partial_;
  const Schema& combine_;
  Dims mask_;
  Values values_;  // arguments of a block's reduction
  Tensor total_;
  int64_t count_ = 1;
};

}  // namespace

Planned plan_reduction(const Schema& function, const Tree& tree, const Values& values,
                       const ProgressCallback& progress) {
  if (tree->is_number()) return {};
  const Merge* merge = find_merge(function);
  const bool is_cut = goes_by_blocks(merge, tree, progress);
  NoProgress of_blocks;
  of_blocks.fused_bytes = of_blocks.block_bytes = progress.block_bytes;
  Planned planned = plan_elementwise(tree, is_cut ? of_blocks : progress);
  const Tensor result = reduced(function, tree->meta, values);
  CourseRecord record(false);
  if (is_cut) {
    const Cut cut = cut_into_blocks(tree->sizes(), std::max<int64_t>(progress.block_bytes / tree->meta.itemsize(), 1));
    planned.blocks = block_count(tree->sizes(), cut);
    const Schema& partial = *find_function(merge->partial);
    reduced(partial, empty(cut.first.lengths, Options(tree->meta.dtype(), Device::meta)),
            partial_values(partial, dims_of(function, values), result.dtype()));
  } else {
    reduced(function, tree->meta, values);
  }
  planned.courses.insert(planned.courses.end(), record.courses.begin(), record.courses.end());
  return planned;
}

Tensor evaluate_reduction(const Schema& function, const Tree& tree, const Values& values, ProgressCallback& progress) {
  progress.advance(0, 1);
  const Merge* merge = find_merge(function);
  const Tensor expected =
      tree->is_number() ? Tensor() : reduced(function, tree->meta, values);  // all checks, no memory
  if (is_meta(tree)) return expected;
  if (!goes_by_blocks(merge, tree, progress)) return reduced(function, evaluate_elementwise(tree, progress), values);
  Accumulator accumulator(function, *merge, tree->sizes(), values, expected.dtype());
  evaluate_blocks(tree, progress,
                  [&](const Tensor& block_values, const Block& block) { accumulator.add(block_values, block); });
  return accumulator.result(expected.sizes(), expected.dtype());
}

}  // namespace tenon::expr
