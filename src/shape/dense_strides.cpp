#include "shape/dense_strides.h"

#include <utility>

#include "base/checked.h"

namespace tenon {
namespace {

/// 1 where dim `a` is slower in memory than `b`, -1 where faster, 0 where the strides do not tell.
int compare_dims(SizesView sizes, SizesView strides, int64_t a, int64_t b) {
  if (strides[a] == 0 || strides[b] == 0) return 0;
  if (strides[a] != strides[b]) return strides[a] > strides[b] ? 1 : -1;
  return sizes[a] > sizes[b] ? 1 : 0;
}

/// Dims from the fastest to the slowest: an insertion sort that leaves dims alone where their strides do not tell,
/// and so has one answer where no total order exists.
Dims memory_order(SizesView sizes, SizesView strides) {
  const int64_t ndim = sizes.size();
  Dims order(ndim);
  for (int64_t i = 0; i < ndim; ++i) order[i] = ndim - 1 - i;
  for (int64_t i = 1; i < ndim; ++i) {
    int64_t at = i;
    for (int64_t j = i - 1; j >= 0; --j) {
      const int comparison = compare_dims(sizes, strides, order[j], order[at]);
      if (comparison < 0) break;
      if (comparison == 0) continue;
      std::swap(order[j], order[at]);
      at = j;
    }
  }
  return order;
}

}  // namespace

Dims dense_strides_like(SizesView sizes, SizesView strides) {
  if (is_non_overlapping_and_dense(sizes, strides)) return strides.copy();
  const Dims order = memory_order(sizes, strides);
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
