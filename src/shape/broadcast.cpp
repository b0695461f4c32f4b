// Shapes that broadcast together. PyTorch has an error text for each function, so each has a loop.
#include <algorithm>

#include "tenon/error.h"
#include "tenon/shape.h"

namespace tenon {
namespace {

[[noreturn]] void fail_sizes(int64_t a, int64_t b, int64_t dim) {
  throw Error("The size of tensor a (" + std::to_string(a) + ") must match the size of tensor b (" + std::to_string(b) +
              ") at non-singleton dimension " + std::to_string(dim));
}

/// A tuple as Python prints it: "(4,)".
std::string tuple_text(SizesView sizes) {
  std::string text = "(";
  for (int64_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + (sizes.size() == 1 ? ",)" : ")");
}

}  // namespace

std::string to_string(SizesView sizes) {
  std::string text = "[";
  for (int64_t i = 0; i < sizes.size(); ++i) text += (i ? ", " : "") + std::to_string(sizes[i]);
  return text + "]";
}

Dims infer_size(SizesView a, SizesView b) {
  Dims shape = a.copy();
  broadcast_into(shape, b);
  return shape;
}

void broadcast_into(Dims& shape, SizesView other) {
  const int64_t ndim = std::max(shape.size(), other.size());
  const int64_t lead = ndim - shape.size(), other_lead = ndim - other.size();
  // All checks come first, so that a failure leaves `shape` unchanged.
  for (int64_t dim = ndim - 1; dim >= lead && dim >= other_lead; --dim) {
    const int64_t size = shape[dim - lead], other_size = other[dim - other_lead];
    if (!sizes_broadcast(size, other_size)) fail_sizes(size, other_size, dim);
  }
  if (lead != 0) {
    shape.resize(ndim);
    for (int64_t dim = ndim - 1; dim >= lead; --dim) shape[dim] = shape[dim - lead];
    for (int64_t dim = 0; dim < lead; ++dim) shape[dim] = 1;
  }
  for (int64_t dim = other_lead; dim < ndim; ++dim) shape[dim] = broadcast_size(shape[dim], other[dim - other_lead]);
}

Dims broadcast_shapes(const SizesView* shapes, int64_t count) {
  int64_t ndim = 0;
  for (int64_t i = 0; i < count; ++i) ndim = std::max(ndim, shapes[i].size());
  Dims result(ndim, 1);
  for (int64_t i = 0; i < count; ++i) {
    const SizesView shape = shapes[i];
    for (int64_t back = 1; back <= shape.size(); ++back) {
      const int64_t size = shape[shape.size() - back];
      int64_t& common = result[ndim - back];
      if (size < 0) throw ValueError("Attempting to broadcast a dimension with negative length!");
      if (!sizes_broadcast(common, size))
        throw Error("Attempting to broadcast a dimension of length " + std::to_string(size) + " at -" +
                    std::to_string(back) + "! Mismatching argument at index " + std::to_string(i) + " had " +
                    tuple_text(shape) + "; but expected shape should be broadcastable to " + to_string(result));
      common = broadcast_size(common, size);
    }
  }
  return result;
}

bool is_broadcastable(SizesView a, SizesView b) noexcept {
  for (int64_t back = 1; back <= a.size() && back <= b.size(); ++back)
    if (!sizes_broadcast(a[a.size() - back], b[b.size() - back])) return false;
  return true;
}

bool is_expandable_to(SizesView shape, SizesView desired) noexcept {
  if (shape.size() > desired.size()) return false;
  for (int64_t back = 1; back <= shape.size(); ++back) {
    const int64_t size = shape[shape.size() - back];
    if (size != desired[desired.size() - back] && size != 1) return false;
  }
  return true;
}

Dims sum_to_dims(SizesView sizes, SizesView target) {
  if (!is_expandable_to(target, sizes))
    throw Error("size {" + to_string(target) + "} is not expandable to size {" + to_string(sizes) + "}.");
  const int64_t lead = sizes.size() - target.size();
  Dims dims;
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (dim < lead || (target[dim - lead] == 1 && sizes[dim] != 1)) dims.push_back(dim);
  return dims;
}

int64_t wrap_dim_slow(int64_t dim, int64_t ndim) {
  const int64_t range = std::max<int64_t>(ndim, 1);  // a 0-dim tensor accepts -1 and 0
  if (dim < -range || dim >= range)
    throw IndexError("Dimension out of range (expected to be in range of [" + std::to_string(-range) + ", " +
                     std::to_string(range - 1) + "], but got " + std::to_string(dim) + ")");
  return dim < 0 ? dim + range : dim;
}

int64_t wrap_existing_dim(int64_t dim, int64_t ndim) {
  if (ndim == 0) throw IndexError("Dimension specified as " + std::to_string(dim) + " but tensor has no dimensions");
  return wrap_dim(dim, ndim);
}

Dims reduced_mask(SizesView dims, int64_t ndim) {
  if (ndim > 64 && !dims.empty()) throw Error("only tensors with up to 64 dims are supported");
  Dims mask(std::max<int64_t>(ndim, 1), dims.empty() ? 1 : 0);
  Dims wrapped;
  for (int64_t dim : dims) wrapped.push_back(wrap_dim(dim, ndim));
  for (int64_t dim : wrapped) {
    if (mask[dim]) throw Error("dim " + std::to_string(dim) + " appears multiple times in the list of dims");
    mask[dim] = 1;
  }
  mask.resize(ndim);
  return mask;
}

Dims reduced_shape(SizesView sizes, SizesView mask, bool keepdim) {
  Dims shape;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) {
    if (!mask[dim])
      shape.push_back(sizes[dim]);
    else if (keepdim)
      shape.push_back(1);
  }
  return shape;
}

}  // namespace tenon
