#include "dispatch/places.h"

#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"

namespace tenon {

void fail_changed() { throw Error("another thread wrote to the index"); }

int64_t first_outside(const ByteView& index, int64_t size) {
  Places places(index.sizes, index.strides);
  do {
    const int64_t place = place_at(index.data + places.place());  // exact: inside the storage
    if (is_outside(place, size)) return place;
  } while (places.next());
  fail_changed();
}

void fail_first_place(const ByteView& index, int64_t dim, int64_t size) {
  // PyTorch's inner loop is `dim`, unless rows are longer.
  Dims order;
  for (int64_t i = 0; i <= index.last(); ++i)
    if (i != dim) order.push_back(i);
  const bool rows_last = dim != index.last() && index.sizes[index.last()] >= index.sizes[dim];
  order.insert(rows_last ? order.size() - 1 : order.size(), dim);
  ByteView ordered = index;
  for (int64_t i = 0; i <= index.last(); ++i) {
    ordered.sizes[i] = index.sizes[order[i]];
    ordered.strides[i] = index.strides[order[i]];
  }
  throw Error("index " + std::to_string(first_outside(ordered, size)) + " is out of bounds for dimension " +
              std::to_string(dim) + " with size " + std::to_string(size));
}

namespace {

bool is_any_outside(const IndexedPlane& plane, int64_t size) {
  const auto [data, row_stride, column_stride] = plane.index;
  const auto* places = reinterpret_cast<const int64_t*>(data);
  // exact: inside the storage
  const bool is_one_run = plane.rows == 1 || row_stride == plane.columns * column_stride;
  if (column_stride == int64_t{sizeof *places} && is_one_run)
    return kernels().index.is_any_outside(places, plane.rows * plane.columns, size);
  bool outside = false;
  for (int64_t row = 0; row < plane.rows; ++row)
    for (int64_t column = 0; column < plane.columns; ++column)
      outside |= is_outside(place_at(data + row * row_stride + column * column_stride), size);
  return outside;
}

}  // namespace

bool is_any_outside(const ByteView& index, int64_t size) {
  ByteView once = index;  // dims along which the index is expanded are read once
  for (int64_t dim = 0; dim <= once.last(); ++dim)
    if (once.strides[dim] == 0) once.sizes[dim] = std::min<int64_t>(once.sizes[dim], 1);
  bool outside = false;
  for_each_plane(once, once, once, 0, [&](const IndexedPlane& plane) { outside |= is_any_outside(plane, size); });
  return outside;
}

void check_index_dtype(const Tensor& index, const char* op) {
  if (index.numel() > 0 && !is_index(index.dtype()))
    throw Error(std::string(op) + "(): Expected dtype int32/int64 for index");
}

Tensor as_places(const Tensor& index) {
  check_readable(index);
  return index.dtype() == int64 ? index : run_to(index, int64, MemoryFormat::preserve);
}

Tensor wrapped_places(const Tensor& index, int64_t size, void (*fail)(int64_t place, int64_t size)) {
  check_readable(index);
  Tensor places = index.dtype() == int64 ? run_clone(index, MemoryFormat::contiguous)
                                         : run_to(index, int64, MemoryFormat::contiguous);
  int64_t* const data = places.data<int64_t>();
  const int64_t count = data ? places.numel() : 0;
  // Without a branch for each place: their signs may be at random.
  bool is_inside = true;
  for (int64_t i = 0; i < count; ++i) {
    data[i] += size & -static_cast<int64_t>(data[i] < 0);  // exact: of different signs
    is_inside &= static_cast<uint64_t>(data[i]) < static_cast<uint64_t>(size);
  }
  for (int64_t i = 0; !is_inside && i < count; ++i)
    if (data[i] < 0 || data[i] >= size) fail(data[i] < 0 ? data[i] - size : data[i], size);  // exact: as it was
  return places;
}

void fail_out_of_elements(int64_t place, int64_t count) {
  throw IndexError("out of range: tried to access index " + std::to_string(place) + " on a tensor of " +
                   std::to_string(count) + " elements.");
}

int64_t first_larger_dim(const Tensor& index, const Tensor& tensor, int64_t except) {
  for (int64_t dim = 0; dim < dims_of(index); ++dim)
    if (dim != except && size_along(index, dim) > size_along(tensor, dim)) return dim;
  return -1;
}

Tensor spread_index(const Tensor& index, int64_t dim, const Tensor& source) {
  Dims shape = source.sizes().copy();
  for (int64_t& size : shape) size = 1;
  if (!shape.empty()) shape[wrap_dim(dim, source.dim())] = index.numel();
  return index.reshape(shape).expand(source.sizes());
}

}  // namespace tenon
