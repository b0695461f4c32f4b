// flip and roll.
#include <algorithm>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// Copies elements row by row along the last dim. Strides may be negative.
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

/// The new index of element 0 along each dim; indices wrap round.
Dims rolled_starts(const Tensor& self, SizesView shifts, SizesView dims) {
  if (self.dim() == 0)
    throw IndexError("Dimension specified as " + std::to_string(dims[0]) + " but tensor has no dimensions");
  Dims starts(self.dim(), 0);
  for (int64_t i = 0; i < dims.size(); ++i) {
    const int64_t dim = wrap_dim(dims[i], self.dim()), size = self.sizes()[dim];
    const int64_t rest = shifts[i] % size, back = rest > 0 ? size - rest : -rest;
    starts[dim] += starts[dim] < back ? size - back : -back;  // exact: both are less than a size
  }
  return starts;
}

/// The strides that PyTorch's cat gives the two parts: channels_last if both are, and neither is empty.
Dims rolled_strides(const Tensor& self, SizesView shifts, SizesView dims) {
  const MemoryFormat format = format_of(self.sizes(), self.strides());
  const bool keeps = !dims.empty() && format != MemoryFormat::contiguous &&
                     shifts[dims.size() - 1] % self.size(dims[dims.size() - 1]) != 0;
  return keeps ? strides_like(self.sizes(), self.strides(), format) : contiguous_strides(self.sizes());
}

/// Copies block by block. Along each dim there are two blocks, one of which may be empty.
void roll_blocks(const Tensor& to, const Tensor& from, SizesView starts, int64_t dim) {
  if (dim == from.dim()) return run_copy(to, from);
  const int64_t size = from.sizes()[dim], start = starts[dim];
  if (start == 0) return roll_blocks(to, from, starts, dim + 1);
  // exact: parts of one size
  roll_blocks(to.narrow(dim, start, size - start), from.narrow(dim, 0, size - start), starts, dim + 1);
  roll_blocks(to.narrow(dim, 0, start), from.narrow(dim, size - start, start), starts, dim + 1);
}

/// Rolls into `out`, which is `result` or a view of it in another layout.
Tensor roll_into(const Tensor& result, const Tensor& out, const Tensor& self, SizesView starts) {
  roll_blocks(out, self, starts, 0);
  forget_writes(result);
  return result;
}

Tensor rolled(const Tensor& self, SizesView shifts, SizesView dims) {
  const Dims starts = rolled_starts(self, shifts, dims);
  const Tensor result = new_tensor(self.sizes(), rolled_strides(self, shifts, dims), self.dtype(), self.device());
  return roll_into(result, result, self.detach(), starts);
}

}  // namespace

Dims mask_in_order(SizesView dims, int64_t ndim) {
  Dims mask(std::max<int64_t>(ndim, 1), 0);
  for (int64_t given : dims) {
    const int64_t dim = wrap_dim(given, ndim);
    if (mask[dim]) throw Error("dim " + std::to_string(dim) + " appears multiple times in the list of dims");
    mask[dim] = 1;
  }
  return mask;
}

Tensor plain::roll(const Tensor& self, const DimsArg& shifts_arg, const DimsArg& dims_arg) {
  const SizesView shifts = shifts_arg.view(), dims = dims_arg.view();
  if (dims.size() == 1 && shifts.size() == 1 && self.numel() == 0) return run_clone(self, MemoryFormat::preserve);
  if (shifts.empty()) throw Error("`shifts` required");
  if (dims.empty() && shifts.size() == 1) {
    if (self.numel() == 0) return run_clone(self, self.dim() == 1 ? MemoryFormat::preserve : MemoryFormat::contiguous);
    const Tensor source = self.impl()->row_major ? self : run_clone(self, MemoryFormat::contiguous);
    const Tensor row = source.detach().view({self.numel()}),
                 result = new_tensor(self.sizes(), self.dtype(), self.device());
    return roll_into(result, result.view({self.numel()}), row, rolled_starts(row, shifts, SizesView({0})));
  }
  if (shifts.size() != dims.size())
    throw Error("shifts and dimensions must align. shifts: " + std::to_string(shifts.size()) +
                ", dims:" + std::to_string(dims.size()));
  if (self.numel() == 0) return run_clone(self, MemoryFormat::preserve);
  return rolled(self, shifts, dims);
}

Tensor plain::flip(const Tensor& self, SizesView dims) {
  const Dims mask = mask_in_order(dims, self.dim());
  const Dims strides = dense_strides_like(self.sizes(), self.strides());
  Tensor result = new_tensor(self.sizes(), strides, self.dtype(), self.device());
  if (self.numel() == 0 || self.is_meta()) return result;
  Dims steps = self.strides().copy();
  int64_t start = 0;
  // exact: offsets of elements
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    if (!mask[dim]) continue;
    start += (self.sizes()[dim] - 1) * steps[dim];
    steps[dim] = -steps[dim];
  }
  Dims sizes = self.sizes().copy(), out_strides = strides;
  if (sizes.empty()) {  // a 0-dim tensor is one row of one element
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
