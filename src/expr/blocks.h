// expr: divides a shape into blocks. Takes sizes; calls back with blocks that cover them. In a block all trailing dims
// are whole, except the first of them.
#pragma once
#include <algorithm>

#include "tenon/tensor.h"

namespace tenon::expr {

struct Block {
  Dims starts;
  Dims lengths;
};

/// The part of `tensor` for a block of the broadcast result. Dims of size 1 and missing dims are not cut.
inline Tensor slice_block(const Tensor& tensor, const Block& block) {
  Tensor part = tensor;
  const int64_t lead = block.starts.size() - tensor.dim();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const int64_t length = block.lengths[dim + lead];
    if (tensor.size(dim) != 1 && tensor.size(dim) != length) part = part.narrow(dim, block.starts[dim + lead], length);
  }
  return part;
}

/// How sizes (none is 0) are cut into blocks of at most `elements` elements, or of one element if that is less.
struct Cut {
  int64_t split;  // dims from here on are whole in every block
  int64_t step;   // size of the dim before, in one block
  Block first;
};
inline Cut cut_into_blocks(SizesView sizes, int64_t elements) {
  const int64_t ndim = sizes.size();
  int64_t split = ndim, inner = 1;  // `inner`: elements of the whole dims
  // exact: at most the number of elements
  while (split > 0 && inner * sizes[split - 1] <= elements) inner *= sizes[--split];
  const int64_t step = std::max<int64_t>(elements / inner, 1);
  Block block{Dims(ndim, 0), sizes.copy()};
  for (int64_t dim = 0; dim + 1 < split; ++dim) block.lengths[dim] = 1;
  if (split > 0) block.lengths[split - 1] = std::min(step, sizes[split - 1]);
  return {split, step, block};
}
inline int64_t block_count(SizesView sizes, const Cut& cut) {
  int64_t count = 1;
  // exact: at most the number of elements
  for (int64_t dim = 0; dim + 1 < cut.split; ++dim) count *= sizes[dim];
  return cut.split > 0 ? count * ((sizes[cut.split - 1] - 1) / cut.step + 1) : count;
}

/// Calls `visit(block)` for all blocks in row-major order.
template <class Visit>
void for_each_block(SizesView sizes, int64_t elements, const Visit& visit) {
  if (numel_of(sizes) == 0) return;
  const Cut cut = cut_into_blocks(sizes, elements);
  const int64_t split = cut.split, step = cut.step;
  Block block = cut.first;
  for (;;) {
    if (split > 0) block.lengths[split - 1] = std::min(step, sizes[split - 1] - block.starts[split - 1]);
    visit(block);
    int64_t dim = split - 1;
    for (; dim >= 0; --dim) {
      block.starts[dim] += block.lengths[dim];
      if (block.starts[dim] < sizes[dim]) break;
      block.starts[dim] = 0;
    }
    if (dim < 0) return;
  }
}

}  // namespace tenon::expr
