// dispatch: takes a batch; gives it normalized by its own mean and variance, which batch_norm also averages. Nothing is
// recorded.
#pragma once
#include "tenon/tensor.h"

namespace tenon {

/// `mean` and `variance` of each channel, not corrected; of 16-bit floats in float32.
struct NormalizedBatch {
  Tensor elements, mean, variance;
};
/// Makes running numbers 1 - momentum of themselves and momentum of the batch's, which are multiplied by `factor`
/// first.
void update_running(Tensor& running, const Tensor& of_batch, double factor, double momentum);
/// Of at least 2 dims; dim 1 has the channels. `weight` and `bias` may be undefined.
NormalizedBatch normalize_batch(const Tensor& input, const Tensor& weight, const Tensor& bias, double eps);

}  // namespace tenon
