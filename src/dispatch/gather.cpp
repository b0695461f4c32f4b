// dispatch: gather, index_select and take_along_dim. Takes a tensor and an index; gives a new tensor of the elements
// that the index selects along one dim. Checks, their order and texts are PyTorch's
// (aten/src/ATen/native/TensorAdvancedIndexing.cpp, ScatterGatherChecks.h).
#include <algorithm>
#include <bit>
#include <cstring>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/places.h"
#include "dispatch/plain.h"
#include "kernel/copy_run.h"
#include "plan/plan.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/overlap.h"
#include "tile/run.h"

namespace tenon {
namespace {

// --- The loop

/// Copies few or many bytes.
void copy_bytes(std::byte* to, const std::byte* from, int64_t count) {
  const auto both_ends = [&]<std::size_t width>(std::integral_constant<std::size_t, width>) {
    constexpr auto bytes = static_cast<int64_t>(width);
    std::byte first[width], second[width];
    std::memcpy(first, from, width);
    std::memcpy(second, from + count - bytes, width);
    std::memcpy(to, first, width);
    std::memcpy(to + count - bytes, second, width);
  };
  if (count <= 8 || count > 64)
    copy_run(to, from, count);
  else if (count > 32)
    both_ends(std::integral_constant<std::size_t, 32>());
  else if (count > 16)
    both_ends(std::integral_constant<std::size_t, 16>());
  else
    both_ends(std::integral_constant<std::size_t, 8>());
}

/// Copies rows of `width` bytes that the index selects. False for an index out of range.
bool gather_rows(IndexedPlane plane, int64_t width) {
  // exact: inside the storages
  for (int64_t row = 0; row < plane.rows; ++row, plane.step())
    for (int64_t column = 0; column < plane.columns; ++column) {
      const int64_t place = place_at(plane.index.data + column * plane.index.column);
      if (is_outside(place, plane.size)) return false;
      copy_bytes(plane.other.data + column * plane.other.column,
                 plane.named.data + column * plane.named.column + place * plane.stride, width);
    }
  return true;
}
bool gather_plane(const IndexedPlane& plane, int64_t width) {
  const auto bytes = static_cast<uint64_t>(width);
  const bool is_element = std::has_single_bit(bytes) && bytes <= sizeof(Complex128);
  return is_element ? kernels().index.gather[std::countr_zero(bytes)](plane) : gather_rows(plane, width);
}

/// Joins the dims after `dim` to larger elements, if the index has stride 0 along them and they are contiguous in both
/// tensors. Returns the size of an element.
int64_t join_behind(ByteView& out, ByteView& self, ByteView& index, int64_t dim, int64_t width) {
  int64_t joined = index.sizes.size(), bytes = width;
  while (joined - 1 > dim && (index.strides[joined - 1] == 0 || index.sizes[joined - 1] == 1)) {
    const int64_t size = index.sizes[joined - 1];
    if (size != 1 && (self.strides[joined - 1] != bytes || out.strides[joined - 1] != bytes)) break;
    bytes *= size;  // exact: inside the storage
    --joined;
  }
  if (joined - 1 > dim) return width;  // all of them or none
  for (ByteView* view : {&out, &self, &index}) {
    view->sizes.resize(joined);
    view->strides.resize(joined);
  }
  return bytes;
}

// Elements of a thread's part: work that is smaller stays on the caller. Bench: tenon_bench --ops --filter
// 'ops/gather$'.
constexpr int64_t kPartElements = 1 << 15;

/// The dim that is divided among threads: the first one whose slices are not too large, so that a part's rows lie
/// beside each other; the longest one if there is none. `count`: elements of the output.
int64_t divided_dim(SizesView sizes, int64_t count) {
  if (count <= kPartElements) return 0;  // one part
  int64_t slice = 1;
  for (int64_t size : sizes) slice *= size;  // exact: inside the output
  const int64_t longest = std::max_element(sizes.begin(), sizes.end()) - sizes.begin();
  if (slice <= kPartElements) return longest;
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] > 1 && slice / sizes[dim] <= kPartElements) return dim;
  return longest;
}

/// out[...] = self[..., index[...], ...]. All have the same number of dims; `index` is not empty. `fail(size)` throws
/// for an index out of range.
template <class Fail>
void gather_into(const Tensor& out, const Tensor& self, ByteView index, int64_t dim, const Fail& fail) {
  ByteView to(out), from(self);
  const int64_t width = join_behind(to, from, index, dim, out.itemsize());
  const int64_t divided = divided_dim(index.sizes, out.numel());
  const int64_t length = index.sizes[divided], others = std::max<int64_t>(out.numel() / length, 1),
                each = std::max<int64_t>(kPartElements / others, 1);
  if (CourseRecord::now()) [[unlikely]]
    note_course({.route = width > out.itemsize() ? "runs by index" : "elements by index", .stores = "in place"});
  run_or_plan(to.data, (length + each - 1) / each, [&](int64_t part) {
    ByteView part_to = to, part_from = from, part_index = index;
    part_index.sizes[divided] = std::min(each, length - part * each);
    part_to.advance(divided, part * each);
    part_index.advance(divided, part * each);
    if (divided != dim) part_from.advance(divided, part * each);
    for_each_plane(part_from, part_index, part_to, dim, [&](const IndexedPlane& plane) {
      if (!gather_plane(plane, width)) fail(plane.size);
    });
  });
}

/// Whether elements are written to `out` at once, without a result beside it, which has passed the checks of the call.
/// That takes a check of all places before the first write: of more bytes than the result has, it takes longer than a
/// copy. Bench: tenon_bench --ops --filter 'ops/(gather|index_select)$', with tensors of all sizes.
bool is_written_at_once(const Tensor& out, SizesView sizes, const Tensor& self, const Tensor& index) {
  const bool has_memory = !out.is_meta() && !self.is_meta() && !index.is_meta();
  return has_memory && index.numel() <= out.nbytes() / int64_t{sizeof(int64_t)} && out.numel() > 0 &&
         out.sizes() == sizes && !ranges_meet(out, self) && !ranges_meet(out, index);
}
/// Gathers into `out` at once, for places in range.
Tensor& write_gathered(Tensor& out, const Tensor& self, const ByteView& index, int64_t dim) {
  {
    const Uninterrupted whole;
    gather_by_index(out, self, index, dim);
  }
  bump_version(out);
  return out;
}

}  // namespace

void gather_by_index(const Tensor& out, const Tensor& self, const ByteView& index, int64_t dim) {
  gather_into(out, self, index, dim, [](int64_t) { fail_changed(); });
}

// --- gather

namespace {

void check_gather(const Tensor& self, int64_t dim, const Tensor& index) {
  if (index.numel() == 0) return;
  check_index_dtype(index, "gather");
  if (dims_of(self) != dims_of(index))
    throw Error("Index tensor must have the same number of dimensions as input tensor");
  if (const int64_t larger = first_larger_dim(index, self, dim); larger >= 0)
    throw Error("Size does not match at dimension " + std::to_string(larger) + " expected index " +
                to_string(index.sizes()) + " to be no larger than self " + to_string(self.sizes()) +
                " apart from dimension " + std::to_string(dim));
}

}  // namespace

Tensor plain::gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_gather(self, along, index);
  Tensor result = new_tensor(index.sizes(), self.dtype(), self.device());
  if (has_no_work(result.numel(), result.data_ptr())) return result;
  check_has_code(row_of(Op::gather), self.dtype());
  const Tensor places = as_places(index);
  const ByteView of_index(places);
  gather_into(result, self, of_index, along, [&](int64_t size) { fail_first_place(of_index, along, size); });
  return result;
}

namespace {

/// The same into an `out` of the index's sizes. Nothing is written if an index is out of range.
Tensor& gather_at_once(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_gather(self, along, index);
  check_has_code(row_of(Op::gather), self.dtype());
  const Tensor places = as_places(index);
  const ByteView of_index(places);
  const int64_t size = size_along(self, along);
  if (is_any_outside(of_index, size)) fail_first_place(of_index, along, size);
  return write_gathered(out, self, of_index, along);
}

}  // namespace

Tensor& plain::gather_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, bool sparse_grad) {
  check_unrecorded(Op::gather, out, self);
  wrap_dim(dim, self.dim());
  check_strict_out(out, self.dtype());
  if (out.sizes() == index.sizes()) check_no_internal_overlap(out);  // with another shape it gets new strides
  // Without indices `out` becomes empty, and an empty view overlaps nothing.
  if (index.numel() > 0 || out.is(self)) check_no_overlap(out, self);
  if (index.numel() > 0) check_no_partial_overlap(out, index);
  if (is_written_at_once(out, index.sizes(), self, index)) return gather_at_once(out, self, dim, index);
  return write_result(Op::gather, out, plain::gather(self, dim, index, sparse_grad));
}

// --- index_select

namespace {

void check_index_select(const Tensor& self, const Tensor& index) {
  if (index.dim() > 1) throw IndexError("index_select(): Index is supposed to be a vector");
  if (self.dim() == 0 && index.numel() != 1)
    throw Error("index_select(): Index to scalar can have only 1 value, got " + std::to_string(index.numel()) +
                " value(s)");
  if (!is_index(index.dtype())) throw Error("index_select(): Expected dtype int32 or int64 for index");
}

/// Throws with PyTorch's other texts, for results without elements and for dim 1.
void check_places_in_other_words(const ByteView& index, int64_t size) {
  if (!index.data) return;
  if (size == 0) throw Error("index_select(): self indexing axis dim should be positive");
  if (!is_any_outside(index, size)) return;
  const int64_t place = first_outside(index, size);
  throw Error("INDICES element is out of DATA bounds, id=" + std::to_string(place) +
              " axis_dim=" + std::to_string(size));
}

Dims selected_sizes(const Tensor& self, int64_t dim, const Tensor& index) {
  Dims sizes = self.sizes().copy();
  if (!sizes.empty()) sizes[dim] = index.numel();
  return sizes;
}

/// Into an `out` of the result's sizes, if all is in order; false otherwise: index_select raises what is wrong.
bool selects_at_once(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  const Dims sizes = selected_sizes(self, dim, index);
  if (!is_written_at_once(out, sizes, self, index)) return false;
  if (self.dim() < 2) check_has_code(row_of(Op::index_select), self.dtype());
  const Tensor places = as_places(index);
  if (is_any_outside(ByteView(places), size_along(self, dim))) return false;
  write_gathered(out, self, ByteView(places, sizes, dim), dim);
  return true;
}

}  // namespace

Tensor plain::index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  const int64_t along = wrap_dim(dim, self.dim());
  check_index_select(self, index);
  const Dims sizes = selected_sizes(self, along, index);
  Tensor result = new_tensor(sizes, self.dtype(), self.device());
  if (!is_computed(result)) return result;
  if (self.dim() < 2) check_has_code(row_of(Op::index_select), self.dtype());
  if (index.numel() == 0) return result;
  const Tensor places = as_places(index);
  if (self.dim() > 1 && self.numel() == 0) {
    check_places_in_other_words(ByteView(places), self.size(along));
    return result;
  }
  const ByteView of_index(places, sizes, along);
  if (along == 1 && self.dim() > 1) check_places_in_other_words(ByteView(places), self.size(along));
  gather_into(result, self, of_index, along, [](int64_t) { throw IndexError("index out of range in self"); });
  return result;
}

Tensor& plain::index_select_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index) {
  check_unrecorded(Op::index_select, out, self);
  wrap_dim(dim, self.dim());
  check_index_select(self, index);
  if (self.dtype() != out.dtype()) throw Error("index_select(): self and result must have the same scalar type");
  check_no_internal_overlap(out);
  check_no_overlap(out, self);
  check_no_overlap(out, index);
  if (selects_at_once(out, self, wrap_dim(dim, self.dim()), index)) return out;
  return write_result(Op::index_select, out, plain::index_select(self, dim, index));
}

// --- take_along_dim

namespace {

/// The sizes of `shape` with another size in `dim`.
Dims with_size(SizesView shape, int64_t dim, int64_t size) {
  Dims sizes = shape.copy();
  sizes[dim] = size;
  return sizes;
}

/// The arguments for gather.
struct Taken {
  Tensor self, index;
  int64_t dim = 0;
};
/// Wraps indices into the range of a dim.
Tensor wrapped(const Tensor& index, int64_t size) {
  if (index.numel() == 0 || !is_computed(index)) return index;
  if (size == 0) throw Error("ZeroDivisionError");
  Tensor places = run_clone(index, MemoryFormat::contiguous);
  int64_t* data = places.data<int64_t>();
  for (int64_t i = 0; data && i < places.numel(); ++i)
    if (is_outside(data[i], size)) data[i] = ((data[i] % size) + size) % size;  // exact: less than a size
  return places;
}
Taken taken(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  if (indices.device() != self.device())
    throw Error(std::string("Expected tensor to have ") + device_name(self.device()) + " Device, but got tensor with " +
                device_name(indices.device()) + " Device (while checking arguments for torch.take_along_dim():)");
  if (!dim) return {self.view({-1}), indices.view({-1}), 0};
  if (self.dim() != indices.dim())
    throw Error("torch.take_along_dim(): input and indices should have the same number of dimensions, but got " +
                std::to_string(self.dim()) + " dimensions for input, and " + std::to_string(indices.dim()) +
                " dimensions for indices");
  if (indices.dtype() != int64)
    throw Error(std::string("torch.take_along_dim(): dtype of indices should be Long but got ") +
                scalar_type_name(indices.dtype()));
  const int64_t along = wrap_dim(*dim, self.dim()), count = indices.size(along), size = self.size(along);
  const Tensor index = indices.expand(infer_size(with_size(self.sizes(), along, count), indices.sizes()));
  return {self.expand(infer_size(with_size(indices.sizes(), along, size), self.sizes())), wrapped(index, size), along};
}

}  // namespace

Tensor plain::take_along_dim(const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  const Taken given = taken(self, indices, dim);
  return given.self.gather(given.dim, given.index);
}

Tensor& plain::take_along_dim_out(Tensor& out, const Tensor& self, const Tensor& indices, std::optional<int64_t> dim) {
  const Taken given = taken(self, indices, dim);
  return tenon::gather_out(out, given.self, given.dim, given.index);
}

// --- take

namespace {

void check_take(const Tensor& self, const Tensor& index, const Tensor* out) {
  if (index.dtype() != int64)
    throw Error(std::string("take(): Expected a long tensor for index, but got ") + scalar_type_name(index.dtype()));
  if (out && out->dtype() != self.dtype())
    throw Error(std::string("take(): self and out expected to have the same dtype, but got self.dtype = ") +
                scalar_type_name(self.dtype()) + " and out.dtype = " + scalar_type_name(out->dtype()));
  const Device of_out = out ? out->device() : self.device();
  if (self.device() != of_out || self.device() != index.device())
    throw Error(std::string("take(): self, index and out expected to be in the same device, but got self.device = ") +
                device_name(self.device()) + ", index.device = " + device_name(index.device()) +
                ", and out.device = " + device_name(of_out));
  if (self.numel() == 0 && index.numel() != 0) throw IndexError("take(): tried to take from an empty tensor");
}

}  // namespace

Tensor plain::take(const Tensor& self, const Tensor& index) {
  check_take(self, index, nullptr);
  Tensor result = new_tensor(index.sizes(), self.dtype(), self.device());
  if (has_no_work(result.numel(), result.data_ptr())) return result;
  check_has_code(row_of(Op::take), self.dtype());
  const Tensor source = self.detach().reshape({-1}),
               places = wrapped_places(index.reshape({-1}), self.numel(), fail_out_of_elements);
  gather_into(result.view({-1}), source, ByteView(places), 0, [](int64_t) { fail_changed(); });
  return result;
}

Tensor& plain::take_out(Tensor& out, const Tensor& self, const Tensor& index) {
  check_unrecorded(Op::take, out, self);
  check_take(self, index, &out);
  check_no_internal_overlap(out);
  check_no_overlap(out, index);
  check_no_overlap(out, self);
  const Tensor taken = plain::take(self, index);
  if (out.sizes() == index.sizes()) return write_result(Op::take, out, taken);
  const StridedView view{index.sizes(), index.strides()};  // a new shape gets the layout of the index
  const Tensor result = new_tensor(index.sizes(), result_strides(index.sizes(), &view, 1), self.dtype(), self.device());
  run_copy(result, taken);
  return write_result(Op::take, out, result);
}

}  // namespace tenon
