#include "shape/dense_strides.h"

#include "base/checked.h"
#include "shape/dim_order.h"

namespace tenon {

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
