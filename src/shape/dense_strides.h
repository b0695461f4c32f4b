// shape: takes any strides; gives dense strides with the same order of dims in memory.
#pragma once
#include "tenon/shape.h"

namespace tenon {

/// The strides of clone, empty_like and similar calls under MemoryFormat::preserve. A dense layout is kept; any other
/// loses its gaps and overlaps and keeps its order of dims.
Dims dense_strides_like(SizesView sizes, SizesView strides);

/// The strides `empty_like` gives in any memory format. Error "required rank 4 tensor to use channels_last format".
Dims strides_like(SizesView sizes, SizesView strides, MemoryFormat format);

/// The memory format that PyTorch infers from strides; `contiguous` if no other fits. `to` compares it with the
/// requested one. Strides can be contiguous in another format than this.
MemoryFormat format_of(SizesView sizes, SizesView strides) noexcept;

}  // namespace tenon
