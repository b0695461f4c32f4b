// shape: the order of dims in memory. Takes sizes and strides; gives dims, smallest strides first.
#pragma once
#include "base/small_vector.h"
#include "tenon/dims.h"

namespace tenon {

using DimOrder = SmallVector<int64_t, 8>;

/// Sorts dims by ascending strides. For each pair of dims the first operand with different, nonzero strides decides; of
/// equal strides the larger size comes later. PyTorch: TensorIteratorBase::reorder_dimensions.
void reorder_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order);

/// The same result for many dims, most of them equal. `order` holds the dims from the last to the first before the
/// call.
void reorder_many_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order);

}  // namespace tenon
