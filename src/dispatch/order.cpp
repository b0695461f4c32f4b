// flip: the elements in reverse order.
#include <algorithm>

#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// Moves elements row by row of the last dim, with a step of either sign on each side.
template <class T>
void move_rows(T* to, SizesView to_strides, const T* from, SizesView from_strides, SizesView sizes) {
  const int64_t last = sizes.size() - 1, length = sizes[last];
  Dims at(last, 0);
  for (;;) {
    check_interrupt();
    // exact: inside the storages
    for (int64_t i = 0; i < length; ++i) to[i * to_strides[last]] = from[i * from_strides[last]];
    int64_t dim = last - 1;
    for (; dim >= 0; --dim) {
      to += to_strides[dim];
      from += from_strides[dim];
      if (++at[dim] < sizes[dim]) break;
      to -= to_strides[dim] * sizes[dim];
      from -= from_strides[dim] * sizes[dim];
      at[dim] = 0;
    }
    if (dim < 0) return;
  }
}

/// 1 for each dim that is flipped. One after the other is looked at: the first that is wrong is named.
Dims flipped_mask(SizesView dims, int64_t ndim) {
  Dims mask(std::max<int64_t>(ndim, 1), 0);
  for (int64_t given : dims) {
    const int64_t dim = wrap_dim(given, ndim);
    if (mask[dim]) throw Error("dim " + std::to_string(dim) + " appears multiple times in the list of dims");
    mask[dim] = 1;
  }
  return mask;
}

}  // namespace

Tensor plain::flip(const Tensor& self, SizesView dims) {
  const Dims mask = flipped_mask(dims, self.dim());
  const Dims strides = dense_strides_like(self.sizes(), self.strides());
  Tensor result = new_tensor(self.sizes(), strides, self.dtype(), self.device());
  if (self.numel() == 0 || self.is_meta()) return result;
  Dims steps = self.strides().copy();
  int64_t start = 0;
  // exact: places of elements
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (!mask[dim]) continue;
    start += (self.sizes()[dim] - 1) * steps[dim];
    steps[dim] = -steps[dim];
  }
  Dims sizes = self.sizes().copy(), out_strides = strides;
  if (sizes.empty()) {  // one element is a row of one
    sizes.push_back(1);
    steps.push_back(1);
    out_strides.push_back(1);
  }
  visit_dtype(self.dtype(), [&]<class T>() {
    move_rows(reinterpret_cast<T*>(result.impl()->data()), out_strides,
              reinterpret_cast<const T*>(self.impl()->data()) + start, steps, sizes);
  });
  return result;
}

}  // namespace tenon
