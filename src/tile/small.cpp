#include "tile/small.h"

namespace tenon {
namespace {

/// Fills `to` with the operand over dims [dim, ndim); gives the number of elements.
template <class T>
int64_t expand(T* to, const T* from, const SmallBroadcast& broadcast, const int64_t* strides, int64_t dim) {
  if (dim == broadcast.ndim) {
    *to = *from;
    return 1;
  }
  const int64_t size = broadcast.sizes[dim], stride = strides[dim];
  if (dim + 1 == broadcast.ndim) {
    for (int64_t i = 0; i < size; ++i) to[i] = from[i * stride];
    return size;
  }
  const int64_t block = expand(to, from, broadcast, strides, dim + 1);
  const int64_t total = block * size;
  if (stride == 0) {
    for (int64_t i = block; i < total; ++i) to[i] = to[i - block];
  } else {
    for (int64_t i = 1; i < size; ++i) expand(to + i * block, from + i * stride, broadcast, strides, dim + 1);
  }
  return total;
}

bool is_whole(const SmallBroadcast& broadcast, const int64_t* strides) {
  int64_t step = 1;
  for (int64_t dim = broadcast.ndim - 1; dim >= 0; --dim) {
    if (broadcast.sizes[dim] != 1 && strides[dim] != step) return false;
    step *= broadcast.sizes[dim];
  }
  return true;
}

template <class T>
void run_sized(const SmallBroadcast& broadcast, Kernel kernel, void* out) {
  alignas(64) T buffers[2][kSmallNumel];
  Lanes lanes[2];
  for (int i = 0; i < 2; ++i) {
    const SmallOperand& operand = broadcast.operands[i];
    lanes[i] = {operand.data, 1};
    if (is_whole(broadcast, operand.strides)) continue;
    expand(buffers[i], static_cast<const T*>(operand.data), broadcast, operand.strides, 0);
    lanes[i].data = buffers[i];
  }
  kernel(out, lanes, broadcast.numel);
}

}  // namespace

bool SmallBroadcast::set(SizesView a, SizesView a_strides, SizesView b, SizesView b_strides) noexcept {
  ndim = a.size() > b.size() ? a.size() : b.size();
  if (ndim > kSmallDims) return false;
  const SizesView shapes[2] = {a, b}, steps[2] = {a_strides, b_strides};
  numel = 1;
  int64_t last_stride[2] = {0, 0}, last_size[2] = {0, 0};
  for (int64_t back = 1; back <= ndim; ++back) {
    int64_t own[2];
    for (int i = 0; i < 2; ++i) own[i] = back <= shapes[i].size() ? shapes[i][shapes[i].size() - back] : 1;
    if (own[0] != own[1] && own[0] != 1 && own[1] != 1) return false;
    const int64_t dim = ndim - back, size = own[0] == 1 ? own[1] : own[0];
    sizes[dim] = size;
    numel *= size;
    if (numel > kSmallNumel || numel == 0) return false;
    for (int i = 0; i < 2; ++i) {
      const bool moves = back <= shapes[i].size() && (own[i] != 1 || size == 1);
      const int64_t stride = moves ? steps[i][shapes[i].size() - back] : 0;
      operands[i].strides[dim] = stride;
      if (stride == 0) continue;
      // Strides must not fall from the last dim to the first, as in a row-major result.
      if (stride < last_stride[i] || (stride == last_stride[i] && last_size[i] > size)) return false;
      last_stride[i] = stride;
      last_size[i] = size;
    }
  }
  return true;
}

void run_small(const SmallBroadcast& broadcast, Kernel kernel, int64_t itemsize, void* out) {
  switch (itemsize) {
    case 1: return run_sized<uint8_t>(broadcast, kernel, out);
    case 2: return run_sized<uint16_t>(broadcast, kernel, out);
    case 4: return run_sized<uint32_t>(broadcast, kernel, out);
    default: return run_sized<uint64_t>(broadcast, kernel, out);
  }
}

}  // namespace tenon
