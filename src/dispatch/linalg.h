// dispatch: what the decompositions of matrices and their derivatives share.
#pragma once
#include "tenon/tensor.h"

namespace tenon {

/// The rows of a matrix in the order that the pivots of its LU decomposition give them, for each of a batch: int64.
Tensor order_of_pivots(const Tensor& pivots, int64_t rows);

}  // namespace tenon
