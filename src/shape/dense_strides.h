// shape: takes any strides; gives those of a dense tensor that keeps the order of dims in memory.
#pragma once
#include "tenon/shape.h"

namespace tenon {

/// The strides of clone, empty_like and their kin under MemoryFormat::preserve: a dense layout is kept as it is; any
/// other keeps its order of dims, without gaps and overlaps.
Dims dense_strides_like(SizesView sizes, SizesView strides);

/// The strides `empty_like` gives in any memory format. Error "required rank 4 tensor to use channels_last format".
Dims strides_like(SizesView sizes, SizesView strides, MemoryFormat format);

/// The format PyTorch takes strides for, `contiguous` where they are no other's: `to` compares it with the one asked
/// for. Not the same as being contiguous in a format.
MemoryFormat format_of(SizesView sizes, SizesView strides) noexcept;

}  // namespace tenon
