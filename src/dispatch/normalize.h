// dispatch: rows of a tensor that are normalized, and the gradients of that without history.
#pragma once
#include "kernel/kernel.h"
#include "tenon/tensor.h"

namespace tenon {

/// How the elements of a contiguous tensor lie in rows.
struct RowsToNormalize : NormalizedRows {
  int64_t count = 0;  // of rows
  int64_t own = 0;    // weights of a row

  int64_t weights() const { return groups * own; }
  /// A weight for each element.
  void spread_weights() {
    segment = 1;
    own = length;
  }
  /// Sizes in which weights broadcast: for each batch, weight and element of a segment.
  Dims by_weight() const { return Dims{groups == 0 ? 0 : count / groups, weights(), segment}; }
};
RowsToNormalize rows_of_layers(SizesView sizes, SizesView normalized_shape, double eps);
RowsToNormalize rows_of_groups(SizesView sizes, int64_t num_groups, double eps);

/// Whether the next function computes elements of a dtype.
bool has_gradient_kernel(Dtype dtype) noexcept;
/// The gradient of the elements and, in float32, the sums for each weight: of the gradients times the normalized
/// elements, and of the gradients.
struct NormalizedGradients {
  Tensor elements, weight, bias;
};
/// In one pass; only what is wanted.
NormalizedGradients normalized_gradients(const Tensor& grad, const Tensor& input, const Tensor& weight,
                                         const RowsToNormalize& rows, bool wants_elements, bool wants_sums);

}  // namespace tenon
