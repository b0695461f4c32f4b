// dispatch: index_add, index_copy, index_fill and put. Takes a tensor, a vector of places and elements; writes the
// elements to these places along one dim, or of the whole tensor. Checks, their order and texts are PyTorch's
// (aten/src/ATen/native/TensorAdvancedIndexing.cpp).
#include <algorithm>
#include <string>

#include "dispatch/by_index.h"
#include "dispatch/plain.h"
#include "dispatch/sums.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/overlap.h"
#include "type/overflow.h"

namespace tenon {
using namespace by_index;

// --- index_add

namespace {

/// Whether PyTorch calls scatter_add, which has other error texts.
bool adds_by_scatter(const Tensor& self, int64_t dim, const Tensor& index, Scalar alpha) {
  const bool is_one = alpha.is_floating() ? alpha.as_double() == 1 : !alpha.is_boolean() && alpha.as_int64() == 1;
  return self.dim() > 1 && (dim == 0 || dim == self.dim() - 1) && is_one && index.dtype() == int64;
}

/// Adds the only part that an index names by the kernels of elementwise sums, and counts one write. False if the call
/// is another.
bool adds_one_part(const Tensor& self, int64_t dim, const ByteView& index, const Tensor& source, Scalar alpha) {
  const bool is_one = alpha.is_floating() ? alpha.as_double() == 1 : alpha.as_int64() == 1;
  if (source.size(dim) != 1 || !is_one || self.is_meta() || !index.data || CourseRecord::now()) return false;
  self.detach().narrow(dim, place_at(index.data), 1).add_(beside(self, source).detach());
  return true;
}

/// Adds into `self` after all checks except those of the indices.
void write_added(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  const bool scatters = adds_by_scatter(self, dim, index, alpha);
  if (is_wide_unsigned(self.dtype()))
    fail_no_code(scatters ? "scatter_gather_tensor_cpu" : self.dim() > 1 ? "add_stub" : "index_add_", self.dtype());
  const Tensor places = apart(self, as_places(index));
  const ByteView of_index(places, source.sizes(), dim);
  const int64_t size = size_along(self, dim);
  // PyTorch converts alpha at the first place of several dims.
  const bool has_place = index.numel() > 0 && of_index.data && !scatters && self.dim() > 1;
  if (has_place && is_outside(place_at(of_index.data), size)) throw IndexError("index out of range in self");
  check_fits(alpha, self.dtype());
  check_readable(source);
  if (index.numel() > 0 && of_index.data && is_any_outside(of_index, size)) {
    if (scatters) fail_first_place(of_index, dim, size);
    throw IndexError("index out of range in self");
  }
  if (source.numel() == 0) return bump_version(self);
  if (self.dim() > 1 && self.dim() == source.dim() && adds_one_part(self, dim, of_index, source, alpha)) return;
  if (scatters && is_joined_wide(self.dtype()) && add_rows_wide(self, dim, places, source)) return;
  const auto write = [&](const Tensor& to, const Tensor& at) {
    const Tensor added = beside(to, source);
    if (is_only_planned(to, "joined by index")) return;
    const Uninterrupted whole;
    add_by_index(ByteView(to), dim, ByteView(at, source.sizes(), dim), ByteView(added), to.dtype(), alpha);
  };
  write_counted(self, dim, places, scatters, write);
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
    const int64_t count = places.numel();
    // exact: the places were checked, and are a copy
    if (accumulate)
      for (int64_t i = 0; i < count; ++i) to[at[i]] = added<T>(to[at[i]], from[i]);
    else
      for (int64_t i = 0; i < count; ++i) to[at[i]] = from[i];
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
               ordered = source.detach().permute(order),
               elements = ordered.is_contiguous() ? ordered : run_clone(ordered, MemoryFormat::contiguous);
  const bool is_row_major = self.impl()->row_major;
  const Tensor rows = is_row_major ? self : run_clone(self.detach(), MemoryFormat::contiguous);
  {
    const Uninterrupted whole;
    put_elements(rows, places, elements, accumulate);
  }
  is_row_major ? bump_version(self) : run_copy(self, rows);
}

}  // namespace tenon
