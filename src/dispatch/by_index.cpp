#include "dispatch/by_index.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "dispatch/plain.h"
#include "kernel/copy_run.h"
#include "tenon/ops.h"
#include "tensor/overlap.h"
#include "type/overflow.h"
#include "type/visit.h"
#include "type/width.h"

namespace tenon {
namespace {

// Elements that are written to one place are taken in row-major order of the index.

/// Calls `write(plane)` for all planes. It says whether all places were inside.
template <class Write>
void write_planes(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, const Write& write) {
  for_each_plane(self, index, src, dim, [&](const IndexedPlane& plane) {
    if (!write(plane)) fail_first_place(index, dim, self.sizes[dim]);
  });
}

/// Copies rows of elements of `width` bytes to the rows that the index selects.
bool copy_rows(IndexedPlane plane, int64_t width) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const int64_t place = place_at(plane.index.data);
    if (is_outside(place, plane.size)) return false;
    copy_run(plane.named.data + place * plane.stride, plane.other.data, plane.columns * width);
  }
  return true;
}
/// Fills the rows that the index selects, all with one element.
template <class T>
bool fill_rows(IndexedPlane plane) {
  const std::byte* filled = nullptr;  // copies of a row are quicker than fills
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const int64_t place = place_at(plane.index.data);
    if (is_outside(place, plane.size)) return false;
    std::byte* const to = plane.named.data + place * plane.stride;
    if (!filled) {
      std::fill_n(reinterpret_cast<T*>(to), plane.columns, *reinterpret_cast<const T*>(plane.other.data));
      filled = to;
    } else if (to != filled) {
      std::memmove(to, filled, static_cast<std::size_t>(plane.columns) * sizeof(T));  // rows of overlapping memory
    }
  }
  return true;
}
bool replace_plane(const IndexedPlane& plane, int64_t width) {
  if (plane.selects_rows(width)) return copy_rows(plane, width);
  if (plane.index.column == 0 && plane.named.column == width && plane.other.column == 0 && plane.other.row == 0)
    return visit_width(width, [&]<class T>() { return fill_rows<T>(plane); });
  return kernels().index.replace[std::countr_zero(static_cast<uint64_t>(width))](plane);
}

}  // namespace

void replace_by_index(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, int64_t width) {
  write_planes(self, dim, index, src, [&](const IndexedPlane& plane) { return replace_plane(plane, width); });
}

void add_by_index(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype,
                  Scalar alpha) {
  const auto add = kernels().index.add[static_cast<int>(dtype)];
  const auto add_with = [&](const auto& factor) {
    write_planes(self, dim, index, src, [&](const IndexedPlane& plane) { return add(plane, &factor); });
  };
  visit_dtype(dtype, [&]<class T>() {
    const T factor = scalar_to<T>(alpha);
    if constexpr (is_half_v<T>)
      add_with(element_cast<float>(factor));
    else
      add_with(factor);
  });
}

namespace by_index {

/// An operand that is read while `self` is written: a copy if they overlap.
Tensor apart(const Tensor& self, const Tensor& operand) {
  return !self.is_meta() && ranges_meet(self, operand) ? run_clone(operand, MemoryFormat::contiguous) : operand;
}

/// Throws if elements of `written` share memory with each other or with an operand.
void check_no_overlaps(const Tensor& written, const Tensor& index, const Tensor* src) {
  check_no_internal_overlap(written);
  check_no_overlap(written, index);
  if (src) check_no_overlap(written, *src);
}
/// Elements that are joined with those of `self`.
Tensor beside(const Tensor& self, const Tensor& elements) {
  return elements.dtype() == self.dtype() ? apart(self, elements)
                                          : run_to(elements, self.dtype(), MemoryFormat::preserve);
}

/// Notes the writes, which one thread does. Whether they are only planned.
bool is_only_planned(const Tensor& self, const char* route) {
  if (!CourseRecord::now()) [[likely]]
    return false;
  note_course({.route = route, .stores = "scattered", .parts = 1});
  return self.is_meta();
}

Tensor vector_along(const Tensor& places, int64_t dim) {
  for (int64_t i = 0; i < places.dim(); ++i)
    if (i != dim && places.dim() > 1 && places.size(i) != 1 && places.stride(i) != 0) return Tensor();
  if (places.dim() == 0) return new_tensor_over(places.impl()->storage, {1}, {1}, places.storage_offset(), int64);
  const int64_t along = places.dim() > 1 ? dim : 0;
  return new_tensor_over(places.impl()->storage, SizesView({places.size(along)}), SizesView({places.stride(along)}),
                         places.storage_offset(), int64);
}

namespace {

/// To sort a place takes as long as to convert 80 elements, and parts are moved twice as often as those of a whole
/// tensor. Bench: tenon_bench --filter '^index_add/'.
bool names_few(const Tensor& self, int64_t dim, const Tensor& vector) {
  return vector.defined() &&
         vector.numel() * (80 + 2 * (self.numel() / size_along(self, dim))) < self.numel();  // exact: far below 2^63
}

/// The index `among` the parts that a vector names, in the layout of that index.
Tensor in_layout_of(const Tensor& places, int64_t dim, const Tensor& among) {
  if (places.dim() <= 1) return among;
  Dims steps(places.dim(), 0);
  steps[dim] = 1;
  return new_tensor_over(among.impl()->storage, places.sizes(), steps, 0, int64);
}

}  // namespace

void write_wide(const Tensor& self, int64_t dim, const Tensor& places, const PlacedWrite& write) {
  const bool is_known = !self.is_meta() && !places.is_meta() && places.numel() > 0;
  const Tensor vector = is_known ? vector_along(places, dim) : Tensor();
  if (!names_few(self, dim, vector)) {
    const Tensor wide = run_to(self, float32, MemoryFormat::preserve);
    write.call(write.write, wide, places);
    return run_copy(self, wide);
  }
  const auto [named, among, counts] = plain::unique(vector, true, true, false);
  const Tensor wide = run_to(plain::index_select(self, dim, named), float32, MemoryFormat::preserve);
  write.call(write.write, wide, in_layout_of(places, dim, among));
  plain::index_copy_inplace(self, dim, named, run_to(wide, self.dtype(), MemoryFormat::preserve));
}

/// A number as a 0-dim tensor. Throws Error if the dtype cannot hold it.
Tensor as_element(Scalar number, Dtype dtype) {
  check_fits(number, dtype);
  const Tensor element = new_tensor(SizesView(), dtype);
  run_fill(element, number);
  return element;
}

/// `src` is null if a number is written.
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor* src) {
  check_index_dtype(index, "scatter");
  if (src && self.dtype() != src->dtype()) throw Error("scatter(): Expected self.dtype to be equal to src.dtype");
  if (index.numel() == 0) return;
  if (dims_of(self) != dims_of(index))
    throw Error("Index tensor must have the same number of dimensions as self tensor");
  const bool is_larger = first_larger_dim(index, self, dim) >= 0 || (src && first_larger_dim(index, *src, -1) >= 0);
  if (src && dims_of(*src) != dims_of(index))
    throw Error("Index tensor must have the same number of dimensions as src tensor");
  if (is_larger)
    throw Error("Expected index " + to_string(index.sizes()) + " to be no larger than self " + to_string(self.sizes()) +
                " apart from dimension " + std::to_string(dim) +
                (src ? " and to be no larger size than src " + to_string(src->sizes()) : ""));
}

/// Of index_add and index_reduce.
void check_indexed(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const std::string name = op + std::string("_(): ");
  if (index.dim() > 1)
    throw IndexError(name + "Index is supposed to be a vector, but got dim: " + std::to_string(index.dim()) +
                     " with type: " + scalar_type_name(index.dtype()) + " and size: " + to_string(index.sizes()));
  if (!is_index(index.dtype()))
    throw Error(name + "Expected dtype int32/int64 for index but got: " + scalar_type_name(index.dtype()));
  if (self.dtype() != source.dtype())
    throw Error(name + "self (" + scalar_type_name(self.dtype()) + ") and source (" + scalar_type_name(source.dtype()) +
                ") must have the same scalar type");
  if (dim != 0 && dim >= source.dim())
    throw Error(name + "Indexing dim " + std::to_string(dim) + " is out of bounds of the source tensor with dim " +
                std::to_string(source.dim()));
  if (index.numel() != size_along(source, dim))
    throw Error(name + "Number of indices (" + std::to_string(index.numel()) +
                ") should be equal to source.size(dim): (" + std::to_string(source.size(dim)) +
                "), for dim: " + std::to_string(dim));
  Dims mine = self.sizes().copy(), others = source.sizes().copy();
  if (!mine.empty() && !others.empty()) {
    mine.erase(dim);
    others.erase(dim);
  }
  if (!(mine == others))
    throw Error(
        "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = " +
        to_string(self.sizes()) + " source.shape = " + to_string(source.sizes()));
  if (index.device() != self.device() || source.device() != self.device())
    throw Error(op + std::string("(): self, index and source expected to be in the same device, but got (self) ") +
                device_name(self.device()) + ", (index) " + device_name(index.device()) + ", and (source) " +
                device_name(source.device()));
}

/// The places of index_fill as a vector, negative ones counted from the end.
Tensor filled_places(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t size = size_along(self, dim);
  Tensor places = index.reshape({-1});
  if (const ByteView given(places); !given.data || !is_any_outside(given, size)) return places;
  places = wrapped_places(places, size, [](int64_t, int64_t) {});
  if (const ByteView wrapped(places); is_any_outside(wrapped, size))
    throw IndexError("index " + std::to_string(first_outside(wrapped, size)) + " is out of bounds for dimension " +
                     std::to_string(dim) + " with size " + std::to_string(size));
  return places;
}

namespace {

template <class T>
bool is_nan([[maybe_unused]] T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}
/// Keeps the larger or the smaller of two elements; NaN wins. Always stores: a branch would often be mispredicted.
template <class T, bool kLargest>
bool keep_extremes(IndexedPlane plane) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step())
    for (int64_t column = 0; column < plane.columns; ++column) {
      const int64_t place = place_at(plane.index.data + column * plane.index.column);
      if (is_outside(place, plane.size)) return false;
      T* const to = reinterpret_cast<T*>(plane.named.data + column * plane.named.column + place * plane.stride);
      const T from = *reinterpret_cast<const T*>(plane.other.data + column * plane.other.column), kept = *to;
      const T farther = kLargest ? std::max(kept, from) : std::min(kept, from);  // `kept` if that is NaN
      *to = is_nan(from) ? from : farther;
    }
  return true;
}

/// The same of real numbers and bools. There are no 16-bit floats.
bool keep_extremes(const IndexedPlane& plane, Dtype dtype, bool largest) {
  return visit_dtype(dtype == bool_ ? uint8 : dtype, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>)
      return largest ? keep_extremes<T, true>(plane) : keep_extremes<T, false>(plane);
    else
      return false;
  });
}

/// The op of two operands whose kernel joins contiguous rows. Sums have kernels of their own, for alpha.
Op op_of(Join join) { return join == Join::largest ? Op::maximum : join == Join::smallest ? Op::minimum : Op::mul; }
/// Joins rows to the rows that the index selects.
bool join_rows(IndexedPlane plane, Kernel join) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const int64_t place = place_at(plane.index.data);
    if (is_outside(place, plane.size)) return false;
    std::byte* const to = plane.named.data + place * plane.stride;
    const Lanes both[] = {{to, 1}, {plane.other.data, 1}};
    join(to, both, plane.columns);
  }
  return true;
}
// A call of a kernel takes as long as so many single elements.
constexpr int64_t kFewJoined = 8;

/// All but sums and replacements.
bool join_plane(const IndexedPlane& plane, Dtype dtype, Join join) {
  if (plane.selects_rows(itemsize(dtype)) && plane.columns >= kFewJoined)
    return join_rows(plane, kernel_of(op_of(join), dtype));
  if (join == Join::multiply) return kernels().index.multiply[static_cast<int>(dtype)](plane);
  return keep_extremes(plane, dtype, join == Join::largest);
}

}  // namespace

/// Scatters into `self` after all checks. `src` has its number of dims, or is one element.
void write_elements(const Tensor& self, int64_t dim, const ByteView& index, const Tensor& src, Join join) {
  const Tensor elements = beside(self, src);
  if (is_only_planned(self, join == Join::replace ? "replaced by index" : "joined by index")) return;
  const ByteView of_self(self), of_src = src.dim() == 0 ? ByteView(elements, index.sizes, dim) : ByteView(elements);
  const Uninterrupted whole;
  if (join == Join::add) return add_by_index(of_self, dim, index, of_src, self.dtype(), 1);
  if (join == Join::replace) return replace_by_index(of_self, dim, index, of_src, self.itemsize());
  const Dtype dtype = self.dtype();
  write_planes(of_self, dim, index, of_src, [=](const IndexedPlane& plane) { return join_plane(plane, dtype, join); });
}

}  // namespace by_index
}  // namespace tenon
