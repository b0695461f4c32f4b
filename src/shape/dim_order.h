// shape: the order in which dims lie in memory. Takes sizes and strides; gives dims, the fastest first.
#pragma once
#include "base/small_vector.h"
#include "tenon/dims.h"

namespace tenon {

using DimOrder = SmallVector<int64_t, 8>;

/// Dims from the fastest to the slowest, by the strides of `operands` operands, one after the other; the first that
/// tells two dims apart decides. A stride of 0 tells nothing. PyTorch: TensorIteratorBase::reorder_dimensions.
void reorder_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order);

/// The same for many dims, which are nearly all alike: puts `order`, the dims from the last to the first, in order.
void reorder_many_dimensions(SizesView shape, const int64_t* strides, int64_t operands, DimOrder& order);

}  // namespace tenon
