// dispatch: scatter, scatter_add and index_add. Takes a tensor, an index and elements; writes the elements to the
// places that the index selects along one dim, in the tensor or in a row-major copy. Checks, their order and texts are
// PyTorch's (aten/src/ATen/native/TensorAdvancedIndexing.cpp, ScatterGatherChecks.h).
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/places.h"
#include "dispatch/plain.h"
#include "dispatch/sums.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/overlap.h"
#include "type/overflow.h"
#include "type/visit.h"
#include "type/width.h"

namespace tenon {
namespace {

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

// --- Writing by index. Elements that are written to one place are taken in row-major order of the index.

/// Calls `write(plane)` for all planes. The places were checked, but another thread may have changed them.
template <class Write>
void write_planes(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, const Write& write) {
  for_each_plane(self, index, src, dim, [&](const IndexedPlane& plane) {
    if (!write(plane)) fail_changed();
  });
}

/// Copies rows of elements of `width` bytes to the rows that the index selects.
bool copy_rows(IndexedPlane plane, int64_t width) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step()) {
    const int64_t place = place_at(plane.index.data);
    if (is_outside(place, plane.size)) return false;
    std::memcpy(plane.named.data + place * plane.stride, plane.other.data,
                static_cast<std::size_t>(plane.columns * width));
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
      std::memcpy(to, filled, static_cast<std::size_t>(plane.columns) * sizeof(T));
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

namespace {

/// Calls `write(self)`, and counts it as one write. If elements are joined, 16-bit floats are joined in float32 and
/// rounded once, as in PyTorch.
template <class Write>
void write_counted(const Tensor& self, bool joins, const Write& write) {
  if (joins && is_floating_point(self.dtype()) && self.itemsize() == 2) {
    const Tensor wide = run_to(self, float32, MemoryFormat::preserve);
    write(wide);
    return run_copy(self, wide);
  }
  write(self);
  bump_version(self);
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

// --- scatter, scatter_add

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

enum class Join : uint8_t { replace, add, multiply, largest, smallest };

Join join_of(Op op, const char* reduce) {
  if (op == Op::scatter_add) return Join::add;
  if (!reduce) return Join::replace;
  const bool adds = std::strcmp(reduce, "add") == 0;
  if (!adds && std::strcmp(reduce, "multiply") != 0) throw Error("reduce argument must be either add or multiply.");
  return adds ? Join::add : Join::multiply;
}
/// PyTorch's warning, before all checks.
void warn_of_reduce(Op op, const char* reduce) {
  if (op == Op::scatter && reduce)
    warn("UserWarning",
         "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
         "release. Use torch.scatter_reduce instead for more reduction options.");
}

/// A number as a 0-dim tensor. Throws Error if the dtype cannot hold it.
Tensor as_element(Scalar number, Dtype dtype) {
  check_fits(number, dtype);
  const Tensor element = new_tensor(SizesView(), dtype);
  run_fill(element, number);
  return element;
}

const Tensor* tensor_or_null(const Arg& arg) { return arg.is_tensor() ? &arg.tensor() : nullptr; }

template <class T>
bool is_nan([[maybe_unused]] T value) {
  if constexpr (std::is_floating_point_v<T>)
    return std::isnan(value);
  else
    return false;
}
/// Keeps the larger or the smaller of two elements; NaN wins.
template <class T>
bool keep_extremes(IndexedPlane plane, bool largest) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step())
    for (int64_t column = 0; column < plane.columns; ++column) {
      const int64_t place = place_at(plane.index.data + column * plane.index.column);
      if (is_outside(place, plane.size)) return false;
      T* const to = reinterpret_cast<T*>(plane.named.data + column * plane.named.column + place * plane.stride);
      const T from = *reinterpret_cast<const T*>(plane.other.data + column * plane.other.column);
      if (is_nan(from) || (largest ? *to < from : from < *to)) *to = from;
    }
  return true;
}

/// The same for all planes, of real numbers and bools. There are no 16-bit floats.
void keep_extremes(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype,
                   bool largest) {
  visit_dtype(dtype == bool_ ? uint8 : dtype, [&]<class T>() {
    if constexpr (std::is_arithmetic_v<T>)
      write_planes(self, dim, index, src, [&](const IndexedPlane& plane) { return keep_extremes<T>(plane, largest); });
  });
}

/// Scatters into `self` after all checks. `src` has its number of dims, or is one element.
void write_elements(const Tensor& self, int64_t dim, const ByteView& index, const Tensor& src, Join join) {
  const Tensor elements = beside(self, src);
  if (is_only_planned(self, join == Join::replace ? "replaced by index" : "joined by index")) return;
  const ByteView of_self(self), of_src = src.dim() == 0 ? ByteView(elements, index.sizes, dim) : ByteView(elements);
  const Uninterrupted whole;
  if (join == Join::add) return add_by_index(of_self, dim, index, of_src, self.dtype(), 1);
  if (join == Join::largest || join == Join::smallest)
    return keep_extremes(of_self, dim, index, of_src, self.dtype(), join == Join::largest);
  if (join == Join::replace) return replace_by_index(of_self, dim, index, of_src, self.itemsize());
  write_planes(of_self, dim, index, of_src, kernels().index.multiply[static_cast<int>(self.dtype())]);
}

/// Scatters into `self` after all checks except those of the indices. There is at least one index.
void write_scattered(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, Join join) {
  check_has_code(row_of(op), self.dtype());
  if (src.is_tensor()) check_readable(src.tensor());
  const Tensor places = apart(self, as_places(index));
  const ByteView of_index(places);
  const int64_t size = size_along(self, dim);
  if (of_index.data && is_any_outside(of_index, size)) fail_first_place(of_index, dim, size);
  const Tensor elements = src.is_tensor() ? src.tensor() : as_element(src.number(), self.dtype());
  const auto write = [&](const Tensor& to) { write_elements(to, dim, of_index, elements, join); };
  write_counted(self, join != Join::replace, write);
}
void scatter_checked(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, const char* reduce) {
  const Join join = join_of(op, reduce);
  if (index.numel() == 0 || !is_computed(self)) return bump_version(self);
  write_scattered(op, self, dim, index, src, join);
}
Tensor scattered_copy(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, const char* reduce) {
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  scatter_checked(op, result, dim, index, src, reduce);
  forget_writes(result);
  return result;
}

Tensor scattered(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                 const char* reduce = nullptr) {
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  return scattered_copy(op, self, along, index, src, reduce);
}
void scatter_in_place(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                      const char* reduce = nullptr) {
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  check_no_overlaps(self, index, tensor_or_null(src));
  scatter_checked(op, self, along, index, src, reduce);
}
void check_scatter_history(Op op, const Tensor& out, const Tensor& self, const Tensor* src, const char* reduce) {
  if (reduce)  // not differentiable: PyTorch checks only `out`
    check_out_unrecorded("aten::scatter", out, nullptr, 0);
  else if (src)
    check_unrecorded(op, out, self, *src);
  else
    check_unrecorded(op, out, self);
}
Tensor& scattered_into(Op op, Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                       const char* reduce = nullptr) {
  check_scatter_history(op, out, self, tensor_or_null(src), reduce);
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  check_no_overlaps(out, index, tensor_or_null(src));
  check_strict_out(out, self.dtype());
  return write_result(op, out, scattered_copy(op, self, along, index, src, reduce));
}

}  // namespace

Tensor plain::scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const char* reduce) {
  return scattered(Op::scatter, self, dim, index, src, reduce);
}
Tensor& plain::scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           const char* reduce) {
  return scattered_into(Op::scatter, out, self, dim, index, src, reduce);
}
void plain::scatter_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                            const char* reduce) {
  scatter_in_place(Op::scatter, self, dim, index, src, reduce);
}

Tensor plain::scatter_value(const Tensor& self, int64_t dim, const Tensor& index, Scalar value, const char* reduce) {
  return scattered(Op::scatter_value, self, dim, index, value, reduce);
}
Tensor& plain::scatter_value_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                                 const char* reduce) {
  return scattered_into(Op::scatter_value, out, self, dim, index, value, reduce);
}
void plain::scatter_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                                  const char* reduce) {
  scatter_in_place(Op::scatter_value, self, dim, index, value, reduce);
}

Tensor plain::scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered(Op::scatter_add, self, dim, index, src);
}
Tensor& plain::scatter_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered_into(Op::scatter_add, out, self, dim, index, src);
}
void plain::scatter_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_in_place(Op::scatter_add, self, dim, index, src);
}

// --- index_add

namespace {

/// Whether PyTorch calls scatter_add, which has other error texts.
bool adds_by_scatter(const Tensor& self, int64_t dim, const Tensor& index, Scalar alpha) {
  const bool is_one = alpha.is_floating() ? alpha.as_double() == 1 : !alpha.is_boolean() && alpha.as_int64() == 1;
  return self.dim() > 1 && (dim == 0 || dim == self.dim() - 1) && is_one && index.dtype() == int64;
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

/// Adds into `self` after all checks except those of the indices.
void write_added(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const bool scatters = adds_by_scatter(self, dim, index, alpha);
  if (is_wide_unsigned(self.dtype()))
    fail_no_code(scatters ? "scatter_gather_tensor_cpu" : self.dim() > 1 ? "add_stub" : "index_add_", self.dtype());
  check_fits(alpha, self.dtype());
  check_readable(source);
  const Tensor places = apart(self, as_places(index));
  const ByteView of_index(places, source.sizes(), dim);
  const int64_t size = size_along(self, dim);
  if (index.numel() > 0 && of_index.data && is_any_outside(of_index, size)) {
    if (scatters) fail_first_place(of_index, dim, size);
    throw IndexError("index out of range in self");
  }
  if (source.numel() == 0) return bump_version(self);
  const auto write = [&](const Tensor& to) {
    const Tensor added = beside(to, source);
    if (is_only_planned(to, "joined by index")) return;
    const Uninterrupted whole;
    add_by_index(ByteView(to), dim, of_index, ByteView(added), to.dtype(), alpha);
  };
  write_counted(self, scatters, write);
}
void add_checked(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  // PyTorch has no further errors for a matrix or more dims without elements.
  const bool is_nothing = self.dim() > 1 && (index.numel() == 0 || self.numel() == 0);
  if (is_nothing || !is_computed(self)) return bump_version(self);
  write_added(self, dim, index, source, alpha);
}

}  // namespace

Tensor plain::index_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_indexed("index_add", self, along, index, source);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  add_checked(result, along, index, source, alpha);
  forget_writes(result);
  return result;
}
Tensor& plain::index_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                             Scalar alpha) {
  check_unrecorded(Op::index_add, out, self, source);
  check_indexed("index_add", self, wrap_dim(dim, self.dim()), index, source);
  check_strict_out(out, self.dtype());
  check_no_overlaps(out, index, &source);
  return write_result(Op::index_add, out, plain::index_add(self, dim, index, source, alpha));
}
void plain::index_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                              Scalar alpha) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_indexed("index_add", self, along, index, source);
  check_no_overlaps(self, index, &source);
  add_checked(self, along, index, source, alpha);
}

// --- scatter_reduce

namespace {

struct Reduction {
  Join join;
  bool is_mean;
  const char* kernel;  // in PyTorch's error for a dtype without code
};
Reduction reduction_of(const char* reduce) {
  const std::string name = reduce;
  if (name == "sum") return {Join::add, false, "scatter_gather_tensor_cpu"};
  if (name == "prod") return {Join::multiply, false, "scatter_gather_tensor_cpu"};
  if (name == "mean") return {Join::add, true, "scatter_gather_tensor_cpu_reduce_mean"};
  if (name == "amax") return {Join::largest, false, "scatter_gather_tensor_cpu_reduce_amax"};
  if (name == "amin") return {Join::smallest, false, "scatter_gather_tensor_cpu_reduce_amin"};
  throw Error("reduce argument must be either sum, prod, mean, amax or amin, got " + name);
}

void check_reduces(const Reduction& how, Dtype dtype, bool include_self) {
  const bool is_extreme = how.join == Join::largest || how.join == Join::smallest;
  if (is_wide_unsigned(dtype) && !include_self) fail_no_code("scatter_reduce_exclude_input_init", dtype);
  if (is_wide_unsigned(dtype) || (is_extreme && is_complex(dtype)) || (how.is_mean && dtype == bool_))
    fail_no_code(how.kernel, dtype);
}

/// What a reduction of no elements gives.
Scalar start_of(Join join, Dtype dtype) {
  if (join == Join::add || join == Join::multiply) return join == Join::add ? 0 : 1;
  const bool largest = join == Join::largest;
  if (dtype == bool_) return !largest;
  return visit_dtype(dtype, [&]<class T>() -> Scalar {
    if constexpr (std::is_integral_v<T>)
      return static_cast<int64_t>(largest ? std::numeric_limits<T>::min() : std::numeric_limits<T>::max());
    else
      return largest ? -kInfinity : kInfinity;
  });
}

/// Divides sums by how many elements were added.
void divide_by_counts(const Tensor& self, int64_t dim, const Tensor& index, bool include_self) {
  const Options like(self.dtype());
  Tensor counts = include_self ? ones(self.sizes(), like) : zeros(self.sizes(), like);
  counts.scatter_add_(dim, index, ones(index.sizes(), like));
  counts.masked_fill_(counts == 0, 1);
  const Tensor sums = self.detach();
  run_copy(self, is_inexact(self.dtype()) ? tenon::div(sums, counts) : tenon::div(sums, counts, "floor"));
}

void write_reduced(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Reduction& how,
                   bool include_self) {
  if (include_self || is_wide_unsigned(self.dtype())) check_reduces(how, self.dtype(), include_self);
  check_readable(src);
  const Tensor places = apart(self, as_places(index));
  const ByteView of_index(places);
  const int64_t size = size_along(self, dim);
  if (of_index.data && is_any_outside(of_index, size)) fail_first_place(of_index, dim, size);
  check_reduces(how, self.dtype(), include_self);  // PyTorch's after the check of the places, if it writes there first
  write_counted(self, true, [&](const Tensor& to) {
    if (!include_self)
      write_elements(to, dim, of_index, as_element(start_of(how.join, to.dtype()), to.dtype()), Join::replace);
    write_elements(to, dim, of_index, src, how.join);
  });
  if (how.is_mean && !self.is_meta()) divide_by_counts(self, dim, index, include_self);
}
void reduce_checked(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const Reduction& how,
                    bool include_self) {
  if (index.numel() == 0 && how.is_mean && is_computed(self)) {  // PyTorch divides by the counts all the same
    if (is_wide_unsigned(self.dtype())) fail_no_code("masked_fill", self.dtype());
    if (self.dtype() == bool_) fail_no_code("div_floor_cpu", bool_);
  }
  if (index.numel() == 0 || !is_computed(self)) return bump_version(self);
  write_reduced(self, dim, index, src, how, include_self);
}

}  // namespace

Tensor plain::scatter_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                             const char* reduce, bool include_self) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, &src);
  const Reduction how = reduction_of(reduce);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  reduce_checked(result, along, index, src, how, include_self);
  forget_writes(result);
  return result;
}
void plain::scatter_reduce_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                   const char* reduce, bool include_self) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, &src);
  check_no_overlaps(self, index, &src);
  const Reduction how = reduction_of(reduce);
  if (!how.is_mean || !is_computed(self)) return reduce_checked(self, along, index, src, how, include_self);
  // Sums are divided by counts apart, because memory may run out between the two.
  const Tensor changed = run_clone(self, MemoryFormat::preserve);
  reduce_checked(changed, along, index, src, how, include_self);
  run_copy(self, changed);
}
Tensor& plain::scatter_reduce_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                                  const char* reduce, bool include_self) {
  check_unrecorded(Op::scatter_reduce, out, self, src);
  check_scatter(self, wrap_dim(dim, self.dim()), index, &src);
  check_no_overlaps(out, index, &src);
  check_strict_out(out, self.dtype());
  return write_result(Op::scatter_reduce, out, plain::scatter_reduce(self, dim, index, src, reduce, include_self));
}

// --- index_reduce

namespace {

Reduction index_reduction_of(const char* reduce) {
  const std::string name = reduce;
  if (name == "sum" || (name != "prod" && name != "mean" && name != "amax" && name != "amin"))
    throw Error("index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got " + name + ".");
  return reduction_of(reduce);
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

void warn_of_beta() { warn("UserWarning", "index_reduce() is in beta and the API may change at any time."); }

/// PyTorch joins parts of vectors by loops of its own, which lack code for these.
bool has_loop(Dtype dtype) { return !is_complex(dtype) && dtype != bool_ && !is_wide_unsigned(dtype); }

/// And parts of matrices by the ops of that name.
void check_joins(const Reduction& how, const Tensor& self) {
  const Dtype dtype = self.dtype();
  if (self.dim() <= 1 && !has_loop(dtype)) fail_no_code("index_func_", dtype);
  if (how.join == Join::multiply || (dtype == bool_ && !how.is_mean) || has_loop(dtype)) return;
  if (how.join != Join::add) fail_no_code(how.join == Join::largest ? "maximum_cpu" : "minimum_cpu", dtype);
  if (is_wide_unsigned(dtype)) fail_no_code("add_stub", dtype);
  if (dtype == bool_) fail_no_code("div_floor_cpu", dtype);
}

/// Joins into `self` after all checks except those of the indices.
void index_reduce_checked(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                          const Reduction& how, bool include_self) {
  if (!is_computed(self)) return bump_version(self);
  if (!include_self && !has_loop(self.dtype())) fail_no_code("index_reduce_func_exclude_input_init", self.dtype());
  if (self.dim() > 1 && index.numel() == 0) return bump_version(self);
  check_readable(source);
  const Tensor places = spread_index(as_places(index), dim, source);
  const int64_t size = size_along(self, dim);
  if (self.dim() <= 1) check_joins(how, self);
  if (!include_self && self.numel() > 0) filled_places(self, dim, as_places(index));  // PyTorch fills these first
  if (const ByteView of_index(as_places(index)); of_index.data && is_any_outside(of_index, size))
    throw IndexError("index out of range in self");
  check_joins(how, self);
  if (self.numel() == 0) return bump_version(self);
  if (!is_wide_unsigned(self.dtype())) return reduce_checked(self, dim, places, source, how, include_self);
  // Products of unsigned numbers have the bits of those of signed ones.
  const Tensor wide = run_to(self, int64, MemoryFormat::preserve);
  reduce_checked(wide, dim, places, run_to(source, int64, MemoryFormat::preserve), how, include_self);
  run_copy(self, wide);
}

Tensor joined_by_index(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, const char* reduce,
                       bool include_self) {
  const Reduction how = index_reduction_of(reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_indexed("index_reduce", self, along, index, source);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  index_reduce_checked(result, along, index, source, how, include_self);
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::index_reduce(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                           const char* reduce, bool include_self) {
  const Tensor result = joined_by_index(self, dim, index, source, reduce, include_self);
  warn_of_beta();
  return result;
}
Tensor& plain::index_reduce_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                const char* reduce, bool include_self) {
  check_unrecorded(Op::index_reduce, out, self, source);
  index_reduction_of(reduce);
  check_indexed("index_reduce", self, wrap_dim(dim, self.dim()), index, source);
  check_strict_out(out, self.dtype());
  check_no_overlaps(out, index, &source);
  write_result(Op::index_reduce, out, joined_by_index(self, dim, index, source, reduce, include_self));
  warn_of_beta();
  return out;
}
void plain::index_reduce_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source,
                                 const char* reduce, bool include_self) {
  const Reduction how = index_reduction_of(reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_indexed("index_reduce", self, along, index, source);
  check_no_overlaps(self, index, &source);
  warn_of_beta();
  // Sums are divided by counts apart, because memory may run out between the two.
  const Tensor changed = how.is_mean && is_computed(self) ? run_clone(self, MemoryFormat::preserve) : self;
  index_reduce_checked(changed, along, index, source, how, include_self);
  if (!changed.is(self)) run_copy(self, changed);
}

// --- index_copy

namespace {

[[noreturn]] void fail_copied_place(const ByteView& index, int64_t dim, int64_t size) {
  throw IndexError("index_copy_(): index " + std::to_string(first_outside(index, size)) +
                   " is out of bounds for dimension " + std::to_string(dim) + " with size " + std::to_string(size));
}

/// Sizes as PyTorch prints them there: "2 3".
std::string spaced(SizesView sizes) {
  std::string text;
  for (int64_t size : sizes) text += (text.empty() ? "" : " ") + std::to_string(size);
  return text;
}

/// The sizes of the parts along a dim.
Dims without_dim(const Tensor& tensor, int64_t dim) {
  Dims sizes = tensor.sizes().copy();
  if (!sizes.empty()) sizes.erase(dim);
  return sizes;
}

void check_index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  if (index.dim() > 1)
    throw IndexError("index_copy_(): Index should have dimension 1 or 0 (got " + std::to_string(index.dim()) + ")");
  if (source.dim() == 0 && index.numel() != 1)
    throw IndexError("index_copy_(): When source is scalar, index should have one element (got " +
                     std::to_string(index.numel()) + ")");
  if (source.dim() != self.dim() && source.dim() != 0 && self.dim() != 0)
    throw IndexError(
        "index_copy_(): When source and destination are not scalars, their dimensionality must match. Source "
        "dimensionality (" +
        std::to_string(source.dim()) + "), destination dimensionality (" + std::to_string(self.dim()) + ")");
  if (index.dtype() != int64)
    throw Error(std::string("index_copy_(): Expected a long tensor for index, but got ") +
                scalar_type_name(index.dtype()));
  if (self.dtype() != source.dtype())
    throw Error(std::string("index_copy_(): self and source expected to have the same dtype, but got (self) ") +
                scalar_type_name(self.dtype()) + " and (source) " + scalar_type_name(source.dtype()));
  if (index.device() != self.device() || source.device() != self.device())
    throw Error(
        std::string("index_copy_(): self, index and source expected to be in the same device, but got (self) ") +
        device_name(self.device()) + ", (index) " + device_name(index.device()) + ", and (source) " +
        device_name(source.device()));
  const Dims mine = without_dim(self, dim), others = without_dim(source, dim);
  if (!(mine == others))
    throw Error("index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: " +
                spaced(mine) + " at dimension " + std::to_string(dim) + " and source slice shape: " + spaced(others) +
                " at dimension 0.");
  if (source.dim() > 0 && index.numel() != source.size(dim))
    throw IndexError("index_copy_(): Number of indices (" + std::to_string(index.numel()) +
                     ") should be equal to source.size(dim) (" + std::to_string(source.size(dim)) + ")");
}

/// Copies into `self` after all checks except those of the indices.
void copy_checked(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  if (!is_computed(self)) return bump_version(self);
  check_has_code(row_of(Op::index_copy), self.dtype());
  if (source.numel() == 0) return bump_version(self);
  check_readable(source);
  const Tensor places = apart(self, as_places(index)), elements = apart(self, source);
  const ByteView of_source(elements), of_index(places, of_source.sizes, dim);
  const int64_t size = size_along(self, dim);
  if (of_index.data && is_any_outside(of_index, size)) fail_copied_place(of_index, dim, size);
  if (!is_only_planned(self, "replaced by index")) {
    const Uninterrupted whole;
    replace_by_index(ByteView(self), dim, of_index, of_source, self.itemsize());
  }
  bump_version(self);
}

}  // namespace

Tensor plain::index_copy(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_index_copy(self, along, index, source);
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  copy_checked(result, along, index, source);
  forget_writes(result);
  return result;
}
void plain::index_copy_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_no_overlaps(self, index, &source);
  check_index_copy(self, along, index, source);
  copy_checked(self, along, index, source);
}
Tensor& plain::index_copy_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  check_unrecorded(Op::index_copy, out, self, source);
  wrap_dim(dim, self.dim());
  check_strict_out(out, self.dtype());
  if (out.sizes() == self.sizes()) check_no_overlaps(out, index, &source);
  return write_result(Op::index_copy, out, plain::index_copy(self, dim, index, source));
}

// --- index_fill

namespace {

Scalar number_of_fill(const Tensor& value) {
  if (value.dim() != 0)
    throw Error("index_fill_ only supports a 0-dimensional value tensor, but got tensor with " +
                std::to_string(value.dim()) + " dimension(s).");
  check_readable(value);
  return value.item();
}

void fill_places(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  if (index.dtype() != int64) throw IndexError("index_fill_(): Expected dtype int64 for index.");
  check_no_overlap(self, index);
  if (internal_overlap(self) == InternalOverlap::yes)
    warn("UserWarning",
         "Use of index_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
         "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar");
  if (value.is_complex() && !is_complex(self.dtype()))
    throw Error("index_fill_(): Converting complex Scalar to non-complex type is not supported");
  const int64_t along = wrap_dim(dim, self.dim());
  if (index.dim() > 1) throw Error("Index has to be a vector/scalar");
  if (!is_computed(self)) return bump_version(self);
  if (self.numel() > 0) check_has_code(row_of(Op::index_fill), self.dtype());
  const Tensor element = as_element(value, self.dtype());  // may refuse the value, also where nothing is filled
  if (self.numel() == 0 || index.numel() == 0) return bump_version(self);
  const Tensor places = filled_places(self, along, apart(self, as_places(index)));
  Dims sizes = self.sizes().copy();
  if (sizes.empty()) sizes.push_back(1);
  sizes[along] = places.numel();
  const ByteView of_index(places, sizes, along);
  write_elements(self, along, of_index, element, Join::replace);
  bump_version(self);
}
Tensor filled_at_places(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  const Tensor result = run_clone(self.detach(), MemoryFormat::preserve);
  fill_places(result, dim, index, value);
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::index_fill(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  return filled_at_places(self, dim, index, number_of_fill(value));
}
void plain::index_fill_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  fill_places(self, dim, index, number_of_fill(value));
}
Tensor plain::index_fill_value(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  return filled_at_places(self, dim, index, value);
}
void plain::index_fill_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  fill_places(self, dim, index, value);
}

// --- put

namespace {

void check_put(const Tensor& self, const Tensor& index, const Tensor& source) {
  if (index.dtype() != int64)
    throw Error(std::string("put_(): Expected a long tensor for index, but got ") + scalar_type_name(index.dtype()));
  if (self.dtype() != source.dtype())
    throw Error(std::string("put_(): self and source expected to have the same dtype, but got self.dtype = ") +
                scalar_type_name(self.dtype()) + " and source.dtype = " + scalar_type_name(source.dtype()));
  if (self.device() != source.device() || self.device() != index.device())
    throw Error(
        std::string("put_(): self, index and source expected to be in the same device, but got self.device = ") +
        device_name(self.device()) + ", index.device = " + device_name(index.device()) +
        ", and source.device = " + device_name(source.device()));
  if (source.numel() != index.numel())
    throw IndexError(
        "put_(): Expected source and index to have the same number of elements, but got source.numel() = " +
        std::to_string(source.numel()) + ", index.numel() = " + std::to_string(index.numel()));
  if (self.numel() == 0 && index.numel() != 0) throw IndexError("put_(): Tried to put elements into an empty tensor");
}

/// Whether PyTorch's loop has `a` outside `b`: by the first tensor that has different strides for them, of which none
/// is 0. 0: either.
int compare_dims(const Tensor& source, const Tensor& index, int64_t a, int64_t b) {
  for (const Tensor* tensor : {&source, &index}) {
    const int64_t of_a = tensor->strides()[a], of_b = tensor->strides()[b];
    if (of_a == 0 || of_b == 0) continue;
    if (of_a != of_b) return of_a > of_b ? 1 : -1;
    if (tensor->sizes()[a] != tensor->sizes()[b]) return tensor->sizes()[a] > tensor->sizes()[b] ? 1 : -1;
  }
  return 0;
}

/// The dims in the order of PyTorch's loops, the outermost first.
Dims loop_order(const Tensor& source, const Tensor& index) {
  Dims inner_first;
  for (int64_t dim = source.dim() - 1; dim >= 0; --dim) {
    inner_first.push_back(dim);
    for (int64_t at = inner_first.size() - 1, other = at - 1; other >= 0; --other) {
      const int order = compare_dims(source, index, inner_first[other], inner_first[at]);
      if (order < 0) break;
      if (order == 0) continue;
      std::swap(inner_first[other], inner_first[at]);
      at = other;
    }
  }
  std::reverse(inner_first.begin(), inner_first.end());
  return inner_first;
}

/// Writes, or adds, to a row-major tensor.
void put_elements(const Tensor& rows, const Tensor& places, const Tensor& source, bool accumulate) {
  const int64_t* const at = places.data<int64_t>();
  visit_dtype(rows.dtype(), [&]<class T>() {
    T* const to = rows.data<T>();
    const T* const from = source.data<T>();
    // exact: the places were checked, and are a copy
    for (int64_t i = 0; i < places.numel(); ++i) to[at[i]] = accumulate ? added<T>(to[at[i]], from[i]) : from[i];
  });
}

}  // namespace

Tensor plain::put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  const Tensor result = run_clone(self.detach(), MemoryFormat::preserve);
  plain::put_inplace(result, index, source, accumulate);
  forget_writes(result);
  return result;
}
void plain::put_inplace(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  check_put(self, index, source);
  check_no_overlaps(self, index, &source);
  if (index.numel() == 0 || !is_computed(self)) return bump_version(self);
  check_has_code(row_of(Op::put), self.dtype());
  if (is_only_planned(self, accumulate ? "joined by index" : "replaced by index")) return;
  check_readable(source);
  // Of several elements for one place the last one stays.
  const Tensor named = index.reshape(source.sizes());
  const Dims order = loop_order(source, named);
  const Tensor places = wrapped_places(named.permute(order), self.numel(), fail_out_of_elements),
               elements = run_clone(source.detach().permute(order), MemoryFormat::contiguous);
  const bool is_row_major = self.impl()->row_major;
  const Tensor rows = is_row_major ? self : run_clone(self.detach(), MemoryFormat::contiguous);
  {
    const Uninterrupted whole;
    put_elements(rows, places, elements, accumulate);
  }
  is_row_major ? bump_version(self) : run_copy(self, rows);
}

}  // namespace tenon
