#include "shape/dense_strides.h"

#include <algorithm>

#include "base/checked.h"
#include "shape/dim_order.h"

namespace tenon {
namespace {

/// Whether strides grow in channels-last order: channels, the last dims, the first dim. False if dims of size 1 leave
/// it open.
bool has_channels_last(SizesView sizes, SizesView strides) noexcept {
  const int64_t rank = sizes.size();
  int64_t least = 1;
  for (int64_t i = 0; i < rank; ++i) {
    const int64_t dim = i == 0 ? 1 : i == rank - 1 ? 0 : rank - i;
    if (sizes[dim] == 0 || strides[dim] < least) return false;
    if (dim == 0 && least == strides[1]) return false;
    least = (Checked(strides[dim]) * std::max<int64_t>(sizes[dim], 1)).value_or(INT64_MAX);
  }
  return true;
}

}  // namespace

MemoryFormat format_of(SizesView sizes, SizesView strides) noexcept {
  if (sizes.size() == 4 && has_channels_last(sizes, strides)) return MemoryFormat::channels_last;
  if (sizes.size() == 5 && has_channels_last(sizes, strides)) return MemoryFormat::channels_last_3d;
  return MemoryFormat::contiguous;
}

Dims dense_strides_like(SizesView sizes, SizesView strides) {
  if (is_non_overlapping_and_dense(sizes, strides)) return strides.copy();
  DimOrder order;
  reorder_dimensions(sizes, strides.data(), 1, order);
  Dims result(sizes.size());
  Checked step = 1;
  for (int64_t dim : order) {
    result[dim] = stride_from(step);
    step *= sizes[dim];
  }
  return result;
}

Dims strides_like(SizesView sizes, SizesView strides, MemoryFormat format) {
  return format == MemoryFormat::preserve ? dense_strides_like(sizes, strides) : format_strides(sizes, format);
}

}  // namespace tenon
