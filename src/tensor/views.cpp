// Views: new sizes, strides and offset over the same storage. Strides and texts are PyTorch's.
// Sizes of a tensor never overflow; strides and offset of an empty or meta tensor may be any numbers: Note [Bounds].
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "tensor/history.h"
#include "tensor/impl.h"
#include "tensor/index.h"

namespace tenon {

std::string legacy_type_name(const Tensor& self) {
  const std::string scalar = scalar_type_name(self.dtype());
  if (self.is_meta() && !thread_modes.traced) return "Meta" + scalar + "Type";
  if (self.dtype() == bool_ || self.dtype() == bfloat16 || is_wide_unsigned(self.dtype()) || is_complex(self.dtype()))
    return "CPU" + scalar + "Type";
  return "torch." + scalar + "Tensor";
}

namespace {

/// The offset after `steps` steps along a dim.
int64_t moved_offset(Checked offset, Checked steps, int64_t stride) { return offset_from(offset + steps * stride); }

/// A view with the sizes and strides that `write(sizes, strides)` writes.
template <class Write>
Tensor written(const Tensor& self, int64_t offset, const ViewCall& call, const Write& write) {
  Tensor view = begin_view(self, offset);
  write(view.impl()->sizes, view.impl()->strides);
  settle_view(view, self);
  return recorded(self, std::move(view), call);
}
/// A view with the tensor's own sizes and strides after `change(sizes, strides)`.
template <class Change>
Tensor changed(const Tensor& self, int64_t offset, const ViewCall& call, const Change& change) {
  return written(self, offset, call, [&](Dims& sizes, Dims& strides) {
    sizes.assign(self.sizes());
    strides.assign(self.strides());
    change(sizes, strides);
  });
}
template <class Change>
Tensor changed(const Tensor& self, const ViewCall& call, const Change& change) {
  return changed(self, self.storage_offset(), call, change);
}
/// Writes `desired` and row-major strides in one loop. False if a size is 0 or -1, or if they do not have `numel`
/// elements.
bool write_row_major(TensorImpl* impl, SizesView desired, int64_t numel) {
  impl->sizes.resize(desired.size());
  impl->strides.resize(desired.size());
  int64_t step = 1;
  for (int64_t dim = desired.size() - 1; dim >= 0; --dim) {
    const int64_t size = desired[dim];
    impl->sizes[dim] = size;
    impl->strides[dim] = step;
    if (size <= 0 || __builtin_mul_overflow(step, size, &step)) return false;
  }
  impl->numel = numel;
  impl->contiguous = impl->row_major = true;
  return step == numel;
}
/// The view of a row-major tensor with elements, which exists for every shape.
Tensor dense_view(const Tensor& self, SizesView desired) {
  Tensor view = begin_view(self, self.storage_offset());
  if (!write_row_major(view.impl(), desired, self.numel()))
    write_row_major(view.impl(), infer_view_sizes(desired, self.numel()), self.numel());
  tie_view(view, self);
  return recorded(self, std::move(view), {ViewKind::view});
}
Tensor alias_of(const Tensor& self) {
  return changed(self, {ViewKind::alias}, [](Dims&, Dims&) {});
}

[[noreturn]] void fail_view_strides() {
  throw Error(
      "view size is not compatible with input tensor's size and stride (at least one dimension spans across two "
      "contiguous subspaces). Use .reshape(...) instead.");
}

/// `values` with the entry at `dim` replaced by `others`.
Dims spliced(SizesView values, int64_t dim, SizesView others) {
  Dims result;
  for (int64_t i = 0; i < dim; ++i) result.push_back(values[i]);
  for (int64_t value : others) result.push_back(value);
  for (int64_t i = dim + 1; i < values.size(); ++i) result.push_back(values[i]);
  return result;
}

/// Wraps the dims of a movedim; Error where one is named twice.
Dims distinct_dims(const Tensor& self, SizesView dims, const char* role) {
  Dims wrapped, seen(std::max<int64_t>(self.dim(), 1), 0);
  for (int64_t dim : dims) {
    const int64_t at = wrap_dim(dim, self.dim());
    if (seen[at]++ > 0) throw Error(std::string("movedim: repeated dim in `") + role + "` (" + to_string(dims) + ")");
    wrapped.push_back(at);
  }
  return wrapped;
}

/// Bytes of storage that this layout needs; Error on overflow.
int64_t needed_bytes(SizesView sizes, SizesView strides, int64_t offset, int64_t itemsize) {
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (sizes[dim] < 0 && strides[dim] > 0) fail_storage_size(sizes, strides);
  for (int64_t size : sizes)
    if (size < 0) throw Error("numel: integer multiplication overflow");
  if (checked_numel(sizes) == 0) return 0;
  const Checked bytes = (extent_of(sizes, strides) + offset) * itemsize;
  return bytes.or_else([&] { fail_storage_size(sizes, strides); });
}

void erase_dim(Dims& sizes, Dims& strides, int64_t dim) {
  sizes.erase(dim);
  strides.erase(dim);
}

/// Every `step`th element of [first, last) along a dim.
Tensor sliced(const Tensor& self, int64_t at, int64_t first, int64_t last, int64_t step) {
  const int64_t stride = self.strides()[at];
  const int64_t offset = moved_offset(self.storage_offset(), first, stride);
  return changed(self, offset, {ViewKind::slice, {at, first, last, step}}, [&](Dims& sizes, Dims& strides) {
    sizes[at] = SlicedRange{first, last}.count(step);
    strides[at] = stride_from(Checked(stride) * step);
  });
}

/// Whether a layout with elements at `offset` surely lies inside `nbytes` bytes. If false, the caller checks exactly.
bool lies_inside(SizesView sizes, SizesView strides, int64_t offset, int64_t itemsize, int64_t nbytes) {
  Checked numel = 1, last = offset;
  bool odd = offset < 0;
  for (int64_t dim = 0; dim < sizes.size(); ++dim) {
    odd |= sizes[dim] <= 0 || strides[dim] < 0;
    numel *= sizes[dim];
    last += (Checked(sizes[dim]) - 1) * strides[dim];
  }
  return !odd && numel.fits() && ((last + 1) * itemsize).is_at_most(nbytes);
}

/// A 1 for each of the given dims that has size 1.
Dims squeezed_dims(const Tensor& self, SizesView dims) {
  if (self.dim() > 64) throw Error("only tensors with up to 64 dims are supported");
  Dims marked(std::max<int64_t>(self.dim(), 1), 0);
  for (int64_t named : dims) {
    const int64_t at = wrap_dim(named, self.dim());
    if (marked[at]) throw Error("dim " + std::to_string(at) + " appears multiple times in the list of dims");
    marked[at] = 1;
  }
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (self.sizes()[dim] != 1) marked[dim] = 0;
  return marked;
}

}  // namespace

Tensor Tensor::expand(SizesView desired) const {
  return written(*this, storage_offset(), {ViewKind::expand}, [&](Dims& new_sizes, Dims& new_strides) {
    if (desired.size() >= dim())
      expand_layout(sizes(), strides(), desired, new_sizes, new_strides);
    else  // the error text names the type
      expand_layout(sizes(), strides(), desired, new_sizes, new_strides, legacy_type_name(*this).c_str());
  });
}

Tensor Tensor::expand_as(const Tensor& other) const { return expand(other.sizes()); }
Tensor Tensor::broadcast_to(SizesView desired) const { return expand(desired); }

Tensor Tensor::view(SizesView desired) const {
  if (impl()->row_major) return dense_view(*this, desired);
  return written(*this, storage_offset(), {ViewKind::view}, [&](Dims& new_sizes, Dims& new_strides) {
    new_sizes = infer_view_sizes(desired, numel());
    if (!view_strides(sizes(), strides(), new_sizes, new_strides)) fail_view_strides();
  });
}

Tensor reshaped_view(const Tensor& self, SizesView inferred) {
  Dims new_strides;
  if (!view_strides(self.sizes(), self.strides(), inferred, new_strides)) return {};
  return recorded(self, new_view(self, inferred, new_strides, self.storage_offset()),
                  {self.is_contiguous() ? ViewKind::view : ViewKind::reshape_alias});
}

Tensor Tensor::unsqueeze(int64_t dim) const {
  const int64_t at = wrap_dim(dim, this->dim() + 1);
  const int64_t stride = at < this->dim() ? stride_from(Checked(sizes()[at]) * strides()[at]) : 1;
  return changed(*this, {ViewKind::unsqueeze, {at}}, [&](Dims& sizes, Dims& strides) {
    sizes.insert(at, 1);
    strides.insert(at, stride);
  });
}

Tensor Tensor::squeeze() const {
  return changed(*this, {ViewKind::squeeze}, [&](Dims& sizes, Dims& strides) {
    for (int64_t dim = this->dim() - 1; dim >= 0; --dim)
      if (sizes[dim] == 1) erase_dim(sizes, strides, dim);
  });
}

Tensor Tensor::squeeze(int64_t dim) const {
  const int64_t at = wrap_dim(dim, this->dim());
  return changed(*this, {ViewKind::squeeze_dim, {at}}, [&](Dims& sizes, Dims& strides) {
    if (!sizes.empty() && sizes[at] == 1) erase_dim(sizes, strides, at);
  });
}

Tensor Tensor::squeeze(SizesView dims) const {
  const Dims marked = squeezed_dims(*this, dims);
  return changed(*this, {ViewKind::squeeze_dims}, [&](Dims& sizes, Dims& strides) {
    for (int64_t dim = this->dim() - 1; dim >= 0; --dim)
      if (marked[dim]) erase_dim(sizes, strides, dim);
  });
}

Tensor Tensor::transpose(int64_t dim0, int64_t dim1) const {
  const int64_t first = wrap_dim(dim0, dim()), second = wrap_dim(dim1, dim());
  return changed(*this, {ViewKind::transpose, {first, second}}, [&](Dims& new_sizes, Dims& new_strides) {
    if (dim() == 0) return;
    new_sizes[first] = sizes()[second];
    new_sizes[second] = sizes()[first];
    new_strides[first] = strides()[second];
    new_strides[second] = strides()[first];
  });
}

Tensor Tensor::t() const {
  if (dim() > 2) throw Error("t() expects a tensor with <= 2 dimensions, but self is " + std::to_string(dim()) + "D");
  if (dim() < 2) return changed(*this, {ViewKind::t}, [](Dims&, Dims&) {});
  // Written directly, not copied and swapped: reading just after the copy would wait for it.
  return written(*this, storage_offset(), {ViewKind::t}, [&](Dims& new_sizes, Dims& new_strides) {
    new_sizes.assign(SizesView({sizes()[1], sizes()[0]}));
    new_strides.assign(SizesView({strides()[1], strides()[0]}));
  });
}

Tensor Tensor::mT() const {
  if (dim() == 1) throw Error("tensor.mT is only supported on matrices or batches of matrices. Got 1-D tensor.");
  return dim() == 0 ? *this : transpose(-2, -1);
}

Tensor Tensor::permute(SizesView dims) const {
  if (dims.size() != dim())
    throw Error(
        "permute(sparse_coo): number of dimensions in the tensor input does not match the length of the desired "
        "ordering "
        "of dimensions i.e. input.dim() = " +
        std::to_string(dim()) + " is not equal to len(dims) = " + std::to_string(dims.size()));
  Dims seen(dim(), 0);
  return written(*this, storage_offset(), {ViewKind::permute, {}, dims}, [&](Dims& new_sizes, Dims& new_strides) {
    new_sizes.resize(dim());
    new_strides.resize(dim());
    for (int64_t i = 0; i < dim(); ++i) {
      const int64_t from = wrap_dim(dims[i], dim());
      if (seen[from]) throw Error("permute(): duplicate dims are not allowed.");
      seen[from] = 1;
      new_sizes[i] = sizes()[from];
      new_strides[i] = strides()[from];
    }
  });
}

Tensor Tensor::movedim(SizesView source, SizesView destination) const {
  if (source.size() != destination.size())
    throw Error("movedim: Invalid source or destination dims: source (" + to_string(source) +
                " dims) should contain the same number of dims as destination (" + to_string(destination) + " dims)");
  const Dims from = distinct_dims(*this, source, "source"), to = distinct_dims(*this, destination, "destination");
  if (dim() == 0) return alias_of(*this);
  Dims order(dim(), -1), moved(dim(), 0);
  for (int64_t i = 0; i < from.size(); ++i) {
    order[to[i]] = from[i];
    moved[from[i]] = 1;
  }
  // The other dims keep their order in the remaining positions.
  int64_t next = 0;
  for (int64_t& place : order) {
    if (place >= 0) continue;
    while (moved[next]) ++next;
    place = next++;
  }
  return permute(order);
}

Tensor Tensor::movedim(int64_t source, int64_t destination) const {
  if (dim() == 0) return movedim(SizesView(&source, 1), SizesView(&destination, 1));
  const int64_t from = wrap_dim(source, dim()), to = wrap_dim(destination, dim());
  Dims order(dim(), 0);  // a third faster than calling movedim with lists
  for (int64_t i = 0; i < dim(); ++i) order[i] = i;
  order.erase(from);
  order.insert(to, from);
  return permute(order);
}

Tensor Tensor::select(int64_t dim, int64_t index) const {
  if (this->dim() == 0) throw IndexError("select() cannot be applied to a 0-dim tensor.");
  const int64_t at = wrap_dim(dim, this->dim()), size = std::max<int64_t>(sizes()[at], 0);
  if (index < -size || index >= size)
    throw IndexError("select(): index " + std::to_string(index) + " out of range for tensor of size " +
                     to_string(sizes()) + " at dimension " + std::to_string(at));
  const int64_t position = index < 0 ? index + size : index;  // exact: of different signs
  const int64_t offset = moved_offset(storage_offset(), position, strides()[at]);
  return changed(*this, offset, {ViewKind::select, {at, position}},
                 [&](Dims& new_sizes, Dims& new_strides) { erase_dim(new_sizes, new_strides, at); });
}

Tensor Tensor::narrow(int64_t dim, int64_t start, int64_t length) const {
  if (this->dim() == 0) throw Error("narrow() cannot be applied to a 0-dim tensor.");
  if (length < 0) throw Error("narrow(): length must be non-negative.");
  const int64_t at = wrap_dim(dim, this->dim()), size = std::max<int64_t>(sizes()[at], 0);
  if (start < -size || start > size)
    throw IndexError("start out of range (expected to be in range of [" + std::to_string(-size) + ", " +
                     std::to_string(size) + "], but got " + std::to_string(start) + ")");
  const int64_t first = start < 0 ? start + size : start;  // exact: of different signs
  if (length > size - first)
    throw Error("start (" + std::to_string(first) + ") + length (" + std::to_string(length) +
                ") exceeds dimension size (" + std::to_string(size) + ").");
  return sliced(*this, at, first, first + length, 1);
}

Tensor Tensor::slice(int64_t dim, std::optional<int64_t> start, std::optional<int64_t> end, int64_t step) const {
  check_step(step);
  if (this->dim() == 0) throw IndexError("slice() cannot be applied to a 0-dim tensor.");
  const int64_t at = wrap_dim(dim, this->dim());
  const SlicedRange part = sliced_range(start, end, std::max<int64_t>(sizes()[at], 0));
  return sliced(*this, at, part.first, part.last, step);
}

Tensor Tensor::unflatten(int64_t dim, SizesView desired) const {
  const int64_t at = wrap_dim(dim, this->dim());
  if (desired.empty()) throw Error("unflatten: sizes must be non-empty");
  Dims inferred;
  try {
    inferred = infer_view_sizes(desired, size(at));
  } catch (const Error& error) {
    const std::string text = error.what();
    if (text.find("is invalid for input of size") == std::string::npos)
      throw Error("unflatten got an unexpected error:\n" + text);
    throw Error("unflatten: Provided sizes " + to_string(desired) + " don't multiply up to the size of dim " +
                std::to_string(at) + " (" + std::to_string(size(at)) + ") in the input tensor");
  }
  return view(spliced(sizes(), at, inferred));
}

Tensor Tensor::as_strided(SizesView desired, SizesView desired_strides, std::optional<int64_t> storage_offset) const {
  if (desired.size() != desired_strides.size()) throw Error("mismatch in length of strides and shape");
  const int64_t begin = storage_offset.value_or(this->storage_offset());
  if (impl()->storage && lies_inside(desired, desired_strides, begin, itemsize(), impl()->storage->nbytes))
    return written(*this, begin, {ViewKind::as_strided, {begin}}, [&](Dims& new_sizes, Dims& new_strides) {
      new_sizes.assign(desired);
      new_strides.assign(desired_strides);
    });
  for (int64_t stride : desired_strides)
    if (stride < 0)
      throw Error("as_strided: Negative strides are not supported at the moment, got strides: " +
                  to_string(desired_strides));
  if (begin < 0) throw Error("Tensor: invalid storage offset " + std::to_string(begin));
  if (const Storage* storage = impl()->storage) {
    const int64_t bytes = needed_bytes(desired, desired_strides, begin, itemsize());
    if (bytes > storage->nbytes)
      throw Error("setStorage: sizes " + to_string(desired) + ", strides " + to_string(desired_strides) +
                  ", storage offset " + std::to_string(begin) + ", and itemsize " + std::to_string(itemsize()) +
                  " requiring a storage size of " + std::to_string(bytes) + " are out of bounds for storage of size " +
                  std::to_string(storage->nbytes));
  }
  check_not_negative(desired);
  checked_numel(desired);
  return recorded(*this, new_view(*this, desired, desired_strides, begin), {ViewKind::as_strided, {begin}});
}

Tensor Tensor::unfold(int64_t dimension, int64_t size, int64_t step) const {
  const int64_t at = wrap_dim(dimension, dim()), most = dim() == 0 ? 1 : sizes()[at];
  if (size < 0) throw Error("size is " + std::to_string(size) + " but must be >= 0");
  if (size > most)
    throw Error("maximum size for tensor at dimension " + std::to_string(at) + " is " + std::to_string(most) +
                " but size is " + std::to_string(size));
  if (step <= 0) throw Error("step is " + std::to_string(step) + " but must be > 0");
  const int64_t stride = dim() == 0 ? 1 : strides()[at];
  const int64_t between = stride_from(Checked(stride) * step);
  return changed(*this, {ViewKind::unfold, {at, size, step}}, [&](Dims& new_sizes, Dims& new_strides) {
    if (dim() > 0) {
      new_sizes[at] = (most - size) / step + 1;
      new_strides[at] = between;
    }
    new_sizes.push_back(size);
    new_strides.push_back(stride);
    checked_numel(new_sizes);  // windows overlap, so there can be more elements than `self` has
  });
}

Tensor view_as_real(const Tensor& self) {
  if (!is_complex(self.dtype())) throw Error("view_as_real is only supported for complex tensors");
  Tensor view = begin_view(self, offset_from(Checked(self.storage_offset()) * 2));
  TensorImpl* impl = view.impl();
  impl->dtype = to_real(self.dtype());
  for (int64_t dim = 0; dim < self.dim(); ++dim) {
    impl->sizes.push_back(self.sizes()[dim]);
    impl->strides.push_back(stride_from(Checked(self.strides()[dim]) * 2));
  }
  impl->sizes.push_back(2);
  impl->strides.push_back(1);
  settle_view(view, self);
  return recorded(self, std::move(view), {ViewKind::view_as_real});
}

namespace {

/// Checks of a view as another dtype, whose elements have another size.
class DtypeView {
 public:
  DtypeView(const Tensor& self, Dtype dtype) : self_(self), dtype_(dtype) {}

  /// The last dim's elements, with unit stride, are divided into `ratio` each.
  void divide(int64_t ratio, Dims& sizes, Dims& strides, int64_t& offset) const {
    const int64_t last = self_.dim() - 1;
    check_last_stride();
    sizes[last] = numel_from(Checked(sizes[last]) * ratio);
    numel_from(Checked(self_.numel()) * ratio);
    for (int64_t dim = 0; dim < last; ++dim) strides[dim] = stride_from(Checked(strides[dim]) * ratio);
    offset = offset_from(Checked(offset) * ratio);
  }
  /// The last dim's elements, with unit stride, are joined, `ratio` to one.
  void join(int64_t ratio, Dims& sizes, Dims& strides, int64_t& offset) const {
    const int64_t last = self_.dim() - 1;
    check_divisible("self.size(-1)", sizes[last], ratio);
    check_divisible("self.storage_offset()", offset, ratio);
    check_last_stride();
    for (int64_t dim = 0; dim < last; ++dim)
      check_divisible("self.stride(" + std::to_string(dim) + ")", strides[dim], ratio);
    sizes[last] /= ratio;
    for (int64_t dim = 0; dim < last; ++dim) strides[dim] /= ratio;
    offset /= ratio;
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(what + " to view " + scalar_type_name(self_.dtype()) + " as " + scalar_type_name(dtype_) +
                " (different element sizes)");
  }

 private:
  void check_last_stride() const {
    const int64_t stride = self_.strides()[self_.dim() - 1];
    if (stride != 1) fail("self.stride(-1) must be 1", stride);
  }
  void check_divisible(const std::string& what, int64_t value, int64_t ratio) const {
    if (value % ratio != 0) fail(what + " must be divisible by " + std::to_string(ratio), value);
  }
  [[noreturn]] void fail(const std::string& what, int64_t got) const {
    throw Error(what + " to view " + scalar_type_name(self_.dtype()) + " as " + scalar_type_name(dtype_) +
                " (different element sizes), but got " + std::to_string(got));
  }

  const Tensor& self_;
  Dtype dtype_;
};

/// Elements in another library's memory may begin at any byte.
void check_alignment(const Tensor& view) {
  const int64_t part = itemsize(to_real(view.dtype()));
  if (reinterpret_cast<uintptr_t>(view.impl()->data()) % static_cast<uintptr_t>(part) != 0)
    throw Error(std::string("view: the elements are not aligned to ") + std::to_string(part) + " bytes, as " +
                scalar_type_name(view.dtype()) + " elements have to be; clone the tensor first");
}

}  // namespace

Tensor Tensor::view_bytes(Dtype dtype) const {
  const int64_t from = itemsize(), to = tenon::itemsize(dtype);
  Dims new_sizes, new_strides;
  new_sizes.assign(sizes());
  new_strides.assign(strides());
  int64_t offset = storage_offset();
  const DtypeView rules(*this, dtype);
  if (from != to && dim() == 0) rules.fail("self.dim() cannot be 0");
  if (from > to) rules.divide(from / to, new_sizes, new_strides, offset);
  if (from < to) rules.join(to / from, new_sizes, new_strides, offset);
  Tensor view = new_alias(*this, new_sizes, new_strides, offset, dtype);
  check_alignment(view);
  return view;
}

Tensor view_as_complex(const Tensor& self) {
  const Dtype dtype = self.dtype();
  if (dtype == float16) static_cast<void>(to_complex(dtype));  // says that complex32 is missing
  if (dtype != float32 && dtype != float64)
    throw Error(
        std::string(
            "view_as_complex is only supported for half, float and double tensors, but got a tensor of scalar type: ") +
        scalar_type_name(dtype));
  const int64_t last = self.dim() - 1;
  if (last < 0) throw Error("Input tensor must have one or more dimensions");
  if (self.sizes()[last] != 2) throw Error("Tensor must have a last dimension of size 2");
  if (self.strides()[last] != 1) throw Error("Tensor must have a last dimension with stride 1");
  for (int64_t dim = 0; dim < last; ++dim)  // a dim of size 1 may have any stride
    if (self.sizes()[dim] != 1 && self.strides()[dim] % 2 != 0)
      throw Error("Tensor must have a stride divisible by 2 for all but last dimension");
  if (self.storage_offset() % 2 != 0) throw Error("Tensor must have a storage_offset divisible by 2");
  Tensor view = begin_view(self, self.storage_offset() / 2);
  TensorImpl* impl = view.impl();
  impl->dtype = to_complex(dtype);
  for (int64_t dim = 0; dim < last; ++dim) {
    impl->sizes.push_back(self.sizes()[dim]);
    impl->strides.push_back(self.strides()[dim] / 2);
  }
  settle_view(view, self);
  return recorded(self, std::move(view), {ViewKind::view_as_complex});
}

Tensor real(const Tensor& self) { return is_complex(self.dtype()) ? view_as_real(self).select(-1, 0) : self; }

Tensor imag(const Tensor& self) {
  if (!is_complex(self.dtype())) throw Error("imag is not implemented for tensors with non-complex dtypes.");
  return view_as_real(self).select(-1, 1);
}

Tensor Tensor::diagonal(int64_t offset, int64_t dim1, int64_t dim2) const {
  const int64_t row = wrap_dim(dim1, dim()), column = wrap_dim(dim2, dim());
  if (row == column)
    throw Error("diagonal dimensions cannot be identical " + std::to_string(dim1) + ", " + std::to_string(dim2));
  const int64_t rows = std::max<int64_t>(sizes()[row], 0), columns = std::max<int64_t>(sizes()[column], 0);
  // The diagonal starts `right` columns to the right or `below` rows down; beyond the matrix it is empty.
  const int64_t right = std::clamp<int64_t>(offset, 0, columns), below = -std::clamp<int64_t>(offset, -rows, 0);
  const int64_t length = std::min(rows - below, columns - right);
  int64_t begin = storage_offset();
  if (length > 0) begin = moved_offset(begin, right + below, right > 0 ? strides()[column] : strides()[row]);
  const int64_t stride = stride_from(Checked(strides()[row]) + strides()[column]);
  return changed(*this, begin, {ViewKind::diagonal, {offset, row, column}}, [&](Dims& new_sizes, Dims& new_strides) {
    erase_dim(new_sizes, new_strides, std::max(row, column));
    erase_dim(new_sizes, new_strides, std::min(row, column));
    new_sizes.push_back(length);
    new_strides.push_back(stride);
  });
}

Tensor Tensor::detach() const { return new_alias(*this, sizes(), strides(), storage_offset()); }

}  // namespace tenon
