// Copies of views, and copies of a tensor in which a view is replaced. Strides and texts are PyTorch's
// (aten/src/ATen/native/TensorShape.cpp).
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "tensor/overlap.h"

namespace tenon {
namespace {

void check_step(const Tensor& self, int64_t dim, int64_t step) {
  if (self.dim() == 0) throw IndexError("slice() cannot be applied to a 0-dim tensor.");
  wrap_dim(dim, self.dim());
  if (step <= 0) throw Error("slice step must be positive");
}

Tensor copy_of(const Tensor& view) { return run_clone(view, MemoryFormat::contiguous); }

/// A copy with the same strides, also of a tensor with gaps. With `whole`, of all that its storage holds.
Tensor copy_with_strides(const Tensor& source, bool whole) {
  if (source.is_meta()) return new_strided_tensor(source.sizes(), source.strides(), source.dtype(), source.device());
  if (internal_overlap(source) == InternalOverlap::yes) return run_clone(source, MemoryFormat::preserve);
  if (!whole) {
    Tensor result = new_strided_tensor(source.sizes(), source.strides(), source.dtype(), source.device());
    run_copy(result, source);
    return result;
  }
  const int64_t count = source.impl()->storage->nbytes / source.itemsize();
  const Tensor all = run_clone(source.as_strided({count}, {1}, 0), MemoryFormat::contiguous);
  return new_tensor_over(all.impl()->storage, source.sizes(), source.strides(), source.storage_offset(),
                         source.dtype());
}

/// `self` with `src` instead of the view that `view_of` takes of it.
template <class View>
Tensor replaced(const Tensor& self, const Tensor& src, const View& view_of, bool whole = false) {
  const Tensor result = copy_with_strides(self.detach(), whole), part = view_of(result);
  if (!(part.sizes() == src.sizes()))
    throw Error("expected src to have a size equal to the slice of self. src size = " + to_string(src.sizes()) +
                ", slice size = " + to_string(part.sizes()));
  Tensor written = part;
  written.copy_(src.detach());
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::alias_copy(const Tensor& self) { return copy_of(self); }
Tensor plain::as_strided_copy(const Tensor& self, SizesView size, SizesView stride,
                              std::optional<int64_t> storage_offset) {
  const Tensor view = self.as_strided(size, stride, storage_offset);
  check_not_negative(view.sizes());  // which a view without elements may have
  return view.clone(MemoryFormat::contiguous);
}
Tensor plain::expand_copy(const Tensor& self, SizesView size, bool) { return copy_of(self.detach().expand(size)); }
Tensor plain::narrow_copy(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  if (self.dim() == 0) throw Error("narrow() cannot be applied to a 0-dim tensor.");
  if (dim >= self.dim())
    throw Error(
        "Expected dim < static_cast<int64_t>(self_sizes.size()) to be true, but got false.  (Could this error message "
        "be improved?  If so, please report an enhancement request to PyTorch.)");
  const int64_t along = wrap_dim(dim, self.dim()), size = self.size(along);
  if (start < -size || start > size)
    throw IndexError("start out of range (expected to be in range of [" + std::to_string(-size) + ", " +
                     std::to_string(size) + "], but got " + std::to_string(start) + ")");
  const int64_t first = start < 0 ? start + size : start;  // exact: of different signs
  if (length < 0 || length > size - first)
    throw Error("start (" + std::to_string(first) + ") + length (" + std::to_string(length) +
                ") exceeds dimension size (" + std::to_string(size) + ").");
  return copy_of(self.detach().narrow(along, first, length));
}
/// PyTorch has another text for the dtype, and resizes without a warning.
Tensor& plain::narrow_copy_out(Tensor& out, const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  check_unrecorded(Op::narrow_copy, out, self);
  if (self.dim() > 0 && self.dtype() != out.dtype())
    throw Error(
        "Expected self.dtype() == output.dtype() to be true, but got false.  (Could this error message be improved?  "
        "If so, please report an enhancement request to PyTorch.)");
  const Tensor result = plain::narrow_copy(self, dim, start, length);
  if (!(out.sizes() == result.sizes())) set_sizes_and_strides(out, result.sizes(), result.strides());
  return write_result(Op::narrow_copy, out, result);
}
Tensor plain::permute_copy(const Tensor& self, SizesView dims) { return copy_of(self.detach().permute(dims)); }
Tensor plain::select_copy(const Tensor& self, int64_t dim, int64_t index) {
  return copy_of(self.detach().select(dim, index));
}
Tensor plain::slice_copy(const Tensor& self, int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end,
                         int64_t step) {
  check_step(self, dim, step);
  return copy_of(self.detach().slice(dim, start, end, step));
}
Tensor plain::squeeze_copy(const Tensor& self) { return copy_of(self.detach().squeeze()); }
Tensor plain::squeeze_copy_dim(const Tensor& self, int64_t dim) { return copy_of(self.detach().squeeze(dim)); }
Tensor plain::squeeze_copy_dims(const Tensor& self, SizesView dim) { return copy_of(self.detach().squeeze(dim)); }
Tensor plain::t_copy(const Tensor& self) { return copy_of(self.detach().t()); }
Tensor plain::transpose_copy(const Tensor& self, int64_t dim0, int64_t dim1) {
  return copy_of(self.detach().transpose(dim0, dim1));
}
Tensor plain::unfold_copy(const Tensor& self, int64_t dimension, int64_t size, int64_t step) {
  return copy_of(self.detach().unfold(dimension, size, step));
}
Tensor plain::unsqueeze_copy(const Tensor& self, int64_t dim) { return copy_of(self.detach().unsqueeze(dim)); }
Tensor plain::view_copy(const Tensor& self, SizesView size) {
  const Tensor shaped = self.detach().reshape(size);
  return shaped.impl()->storage == self.impl()->storage ? copy_of(shaped) : shaped;
}

Tensor plain::as_strided_scatter(const Tensor& self, const Tensor& src, SizesView size, SizesView stride,
                                 std::optional<int64_t> storage_offset) {
  return replaced(
      self, src, [&](const Tensor& copy) { return copy.as_strided(size, stride, storage_offset); }, true);
}
Tensor plain::diagonal_scatter(const Tensor& self, const Tensor& src, int64_t offset, int64_t dim1, int64_t dim2) {
  return replaced(self, src, [&](const Tensor& copy) { return copy.diagonal(offset, dim1, dim2); });
}
Tensor plain::select_scatter(const Tensor& self, const Tensor& src, int64_t dim, int64_t index) {
  return replaced(self, src, [&](const Tensor& copy) { return copy.select(dim, index); });
}
Tensor plain::slice_scatter(const Tensor& self, const Tensor& src, int64_t dim, std::optional<int64_t> start,
                            std::optional<int64_t> end, int64_t step) {
  check_step(self, dim, step);
  return replaced(self, src, [&](const Tensor& copy) { return copy.slice(dim, start, end, step); });
}

/// The result keeps the strides of `self`; an out= that is resized becomes row-major, as in PyTorch.
Tensor& plain::slice_scatter_out(Tensor& out, const Tensor& self, const Tensor& src, int64_t dim,
                                 std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) {
  check_unrecorded(Op::slice_scatter, out, self, src);
  const Tensor result = plain::slice_scatter(self, src, dim, start, end, step);
  check_strict_out(out, result.dtype());
  ResizedOutput resized(out, result.sizes(), contiguous_strides(result.sizes()));
  write_result(Op::slice_scatter, out, result);
  resized.keep();
  return out;
}

}  // namespace tenon
