#include "dispatch/batch_norm.h"

#include <utility>

#include "dispatch/algorithm.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/reduce.h"
#include "shape/dense_strides.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/shape.h"

namespace tenon {
namespace {

/// Numbers of the channels, in sizes that broadcast with a batch.
Tensor by_channel(const Tensor& numbers, int64_t dims) {
  Dims sizes(dims, 1);
  sizes[1] = numbers.numel();
  return numbers.view(sizes);
}

}  // namespace

void update_running(Tensor& running, const Tensor& of_batch, double factor, double momentum) {
  const PolicyExemption exempt;
  const Tensor numbers = factor == 1 ? of_batch.detach() : of_batch.detach() * factor;
  running.mul_(1 - momentum).add_(numbers.to(running.dtype()), momentum);
}

NormalizedBatch normalize_batch(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps) {
  const PolicyExemption exempt;
  const Tensor batch = input.detach();
  Dims dims{0};
  for (int64_t dim = 2; dim < batch.dim(); ++dim) dims.push_back(dim);
  auto [variance, mean] = wide_var_mean(batch, dims);
  Tensor factor = rsqrt(variance + eps);
  if (eps == 0) factor = factor.masked_fill(eq(variance, 0), 0);  // as in PyTorch
  if (weight.defined()) factor = factor * weight.detach();
  // As in PyTorch a factor and a term for each channel, so that the batch is read only once more.
  const Tensor term = bias.defined() ? addcmul(bias.detach(), mean, factor, -1) : neg(mean * factor);
  const Dims strides = format_strides(batch.sizes(), format_of(batch.sizes(), batch.strides()));
  Tensor elements = new_tensor(batch.sizes(), strides, batch.dtype(), batch.device());
  addcmul_out(elements, by_channel(term, batch.dim()), batch, by_channel(factor, batch.dim()));
  forget_writes(elements);
  return {std::move(elements), std::move(mean), std::move(variance)};
}

}  // namespace tenon
