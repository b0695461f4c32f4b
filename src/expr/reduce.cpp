#include <string_view>

#include "expr/blocks.h"
#include "expr/tree.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon::expr {
namespace {

/// How partial results of a reduction become one.
struct Merge {
  std::string_view reduction;
  std::string_view partial;  // the reduction of one block
  std::string_view combine;  // the op over two partial results
};
constexpr Merge kMerges[] = {
    {"sum", "sum", "add"}, {"mean", "sum", "add"}, {"amax", "amax", "maximum"}, {"amin", "amin", "minimum"}};

const Merge* find_merge(const Function& function) {
  for (const Merge& merge : kMerges)
    if (merge.reduction == function.name) return &merge;
  return nullptr;
}

Tensor call(const Function& function, const Tensor& operand, const Parameters& parameters) {
  Function::Operands operands;
  operands[0].emplace(operand);
  return function.call(nullptr, operands, parameters);
}

/// Where the blocks' partial results meet: kept dims as in the operand, reduced ones of size 1.
class Accumulator {
 public:
  Accumulator(const Function& function, const Merge& merge, SizesView sizes, const Parameters& parameters, Dtype result)
      : partial_(*find_function(merge.partial)),
        combine_(*find_function(merge.combine)),
        mask_(reduced_mask(parameters.dims, sizes.size())) {
    parameters_.dims = parameters.dims;
    parameters_.keepdim = true;
    const bool sums = partial_.kind == FunctionKind::reduction_dtype;
    const Dtype dtype = !sums ? result : is_floating_point(result) ? Dtype::float64 : Dtype::int64;
    if (sums) parameters_.dtype = dtype;
    total_ = empty(reduced_shape(sizes, mask_, true), dtype);
    count_ = std::string_view(function.name) == "mean" ? numel_of(sizes) / total_.numel() : 1;
  }

  void add(const Tensor& values, const Block& block) {
    const Tensor partial = call(partial_, values, parameters_);
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
    Function::Operands operands;
    operands[0].emplace(total);
    operands[1].emplace(partial);
    combine_.call(&total, operands, {});
  }

  Tensor result(SizesView sizes, Dtype dtype) {
    if (count_ != 1) total_.div_(count_);
    return total_.to(dtype).reshape(sizes);
  }

 private:
  const Function& partial_;
  const Function& combine_;
  Dims mask_;
  Parameters parameters_;
  Tensor total_;
  int64_t count_ = 1;
};

}  // namespace

Tensor evaluate_reduction(const Function& function, const Tree& tree, const Parameters& parameters, Watch& watch) {
  watch.advance(0, 1);
  const Merge* merge = find_merge(function);
  const bool is_large =
      !tree->is_number() && !bytes_of(tree->meta).is_at_most(watch.stream_bytes) && tree->meta.numel() > 0;
  const Tensor expected =
      tree->is_number() ? Tensor() : call(function, tree->meta, parameters);  // all checks, no memory
  if (is_meta(tree)) return expected;
  if (!merge || !is_large || requires_grad(tree)) {
    return call(function, evaluate_elementwise(tree, watch), parameters);
  }
  Accumulator accumulator(function, *merge, tree->sizes(), parameters, expected.dtype());
  evaluate_blocks(tree, watch, [&](const Tensor& values, const Block& block) { accumulator.add(values, block); });
  return accumulator.result(expected.sizes(), expected.dtype());
}

}  // namespace tenon::expr
