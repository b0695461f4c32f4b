// Indexing with tensors: integers gather; a mask becomes the indices where it is true. Shape and strides of a result
// are PyTorch's (aten/src/ATen/native/TensorAdvancedIndexing.cpp).
#include <algorithm>
#include <optional>
#include <vector>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/places.h"
#include "dispatch/plain.h"
#include "plan/plan.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/index.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "type/overflow.h"

namespace tenon {
namespace {

void check_mask(const Tensor& mask, const Tensor& view, int64_t dim) {
  for (int64_t i = 0; i < mask.dim(); ++i)
    if (dim + i >= view.dim() || mask.sizes()[i] != view.sizes()[dim + i])
      throw IndexError("The shape of the mask " + to_string(mask.sizes()) + " at index " + std::to_string(i) +
                       " does not match the shape of the indexed tensor " + to_string(view.sizes()) + " at index " +
                       std::to_string(dim + i));
}

bool is_truth(const Tensor& index) { return index.defined() && is_mask(index) && index.dim() == 0; }

/// A 0-dim bool becomes the index 0, or no index, of the dim that was added for it.
void name_truths(Indexed& indexed) {
  for (Tensor& index : indexed.tensors) {
    if (!is_truth(index)) continue;
    check_readable(index);
    index = zeros({index.item().as_bool() ? 1 : 0}, int64);
  }
}

/// In a list with an index for each dim, PyTorch takes a 0-dim bool as none.
void drop_truths(Indexed& indexed) {
  std::erase_if(indexed.tensors, is_truth);
  if (indexed.tensors.empty())
    throw Error("index_put_: a 0-dim bool indexes nothing, unless it is the only index and the value is one element");
}

/// PyTorch has no code to write uint16, uint32 and uint64 by index, nor to find their nonzero elements.
void check_written(Dtype dtype, const char* kernel) {
  if (is_wide_unsigned(dtype)) fail_no_code(kernel, dtype);
}

/// After a second Ellipsis there may be more indices than index_view counted.
void check_count(const Indexed& indexed) {
  const int64_t count = static_cast<int64_t>(indexed.tensors.size()), ndim = indexed.view.dim();
  if (count > ndim)
    throw IndexError("too many indices for tensor of dimension " + std::to_string(ndim) + " (got " +
                     std::to_string(count) + ")");
}

void check_dtypes(const std::vector<Tensor>& indices) {
  for (const Tensor& index : indices)
    if (index.defined() && !is_mask(index) && index.dtype() != int64 && index.dtype() != int32)
      throw IndexError("tensors used as indices must be long, int, byte or bool tensors");
}

/// Every index as int64 indices along one dim; undefined for a dim that is not indexed.
std::vector<Tensor> as_places(const Tensor& view, const std::vector<Tensor>& indices) {
  check_dtypes(indices);
  std::vector<Tensor> places;
  while (places.size() < indices.size()) {
    const Tensor& index = indices[places.size()];  // a mask of several dims gives as many index tensors
    if (!index.defined()) {
      places.emplace_back();
      continue;
    }
    if (is_mask(index) || !view.is_meta()) check_readable(index);
    if (is_mask(index)) {
      if (index.dtype() == uint8)
        warn("UserWarning",
             "indexing with dtype torch.uint8 is now deprecated, please use a dtype torch.bool instead.");
      check_mask(index, view, static_cast<int64_t>(places.size()));
      for (Tensor& place : nonzero_places(index)) places.push_back(std::move(place));
    } else {
      places.push_back(index.to(int64));
    }
  }
  places.resize(static_cast<std::size_t>(view.dim()));
  return places;
}

void broadcast_places(std::vector<Tensor>& places, Dims& shape) {
  std::string shapes;
  for (const Tensor& place : places)
    if (place.defined()) shapes += (shapes.empty() ? "" : ", ") + to_string(place.sizes());
  for (const Tensor& place : places) {
    if (!place.defined()) continue;
    if (!is_broadcastable(shape, place.sizes()))
      throw IndexError("shape mismatch: indexing tensors could not be broadcast together with shapes " + shapes);
    broadcast_into(shape, place.sizes());
  }
  for (Tensor& place : places)
    if (place.defined()) place = place.expand(shape);
}

/// Makes the indexed dims neighbours. If they are not, they move to the front.
void gather_indexed_dims(Tensor& view, std::vector<Tensor>& places) {
  Dims order;
  for (const bool indexed : {true, false})
    for (int64_t dim = 0; dim < view.dim(); ++dim)
      if (places[static_cast<std::size_t>(dim)].defined() == indexed) order.push_back(dim);
  std::vector<Tensor> moved;
  for (int64_t dim : order) moved.push_back(places[static_cast<std::size_t>(dim)]);
  view = view.permute(order);
  places = std::move(moved);
}

/// A mask that is the only index, of dims that lie in memory as one, becomes a mask of that one dim.
void join_masked_dims(Indexed& indexed) {
  int64_t at = -1;
  for (int64_t dim = 0; dim < static_cast<int64_t>(indexed.tensors.size()); ++dim) {
    if (!indexed.tensors[static_cast<std::size_t>(dim)].defined()) continue;
    if (at >= 0) return;
    at = dim;
  }
  if (at < 0) return;
  Tensor& mask = indexed.tensors[static_cast<std::size_t>(at)];
  if (mask.dtype() != bool_ || mask.dim() < 2 || mask.numel() == 0 || !mask.is_contiguous()) return;
  const Tensor& view = indexed.view;
  check_mask(mask, view, at);
  const int64_t last = at + mask.dim() - 1;
  for (int64_t dim = at; dim < last; ++dim)
    if (view.strides()[dim] != view.strides()[dim + 1] * view.sizes()[dim + 1]) return;  // exact: inside the storage
  Dims sizes, strides;
  for (int64_t dim = 0; dim < view.dim(); ++dim) {
    if (dim >= at && dim < last) continue;
    sizes.push_back(dim == last ? mask.numel() : view.sizes()[dim]);
    strides.push_back(view.strides()[dim]);
  }
  mask = mask.view({mask.numel()});
  indexed.view = new_view(view.detach(), sizes, strides, view.storage_offset());
}

/// The elements that an index list selects. The dims are: those before the indexed ones, the indexed ones, those after.
class Selection {
 public:
  explicit Selection(Indexed indexed) {
    join_masked_dims(indexed);
    view_ = indexed.view;
    places_ = as_places(view_, indexed.tensors);
    broadcast_places(places_, place_shape_);
    const auto is_there = [](const Tensor& place) { return place.defined(); };
    const auto first = std::find_if(places_.begin(), places_.end(), is_there);
    const auto last = std::find_if(places_.rbegin(), places_.rend(), is_there).base();
    if (!std::all_of(first, last, is_there)) gather_indexed_dims(view_, places_);
    while (!is_there(places_[static_cast<std::size_t>(before_)])) ++before_;
    behind_ = before_;
    while (behind_ < view_.dim() && is_there(places_[static_cast<std::size_t>(behind_)])) ++behind_;
    add_dims(0, before_);
    for (int64_t size : place_shape_) shape_.push_back(size);
    add_dims(behind_, view_.dim());
    check_places();
  }

  /// Computes the offset of each selected place. Call it before elements are moved. Throws IndexError for an index out
  /// of range.
  void find_offsets() {
    const int64_t count = numel_of(place_shape_);
    if (checked_numel(shape_) == 0) return;
    if (!(Checked(count) * int64_t{sizeof(int64_t)}).is_at_most(kMaxStorageBytes))
      throw OutOfMemoryError("not enough memory for " + std::to_string(count) + " indices");
    offsets_ = new_tensor({count}, int64);
    auto* const offsets = reinterpret_cast<int64_t*>(offsets_.impl()->data());
    for (int64_t dim = before_; dim < behind_; ++dim) {
      const Tensor dense = places_[static_cast<std::size_t>(dim)].contiguous();
      const int64_t size = view_.sizes()[dim], stride = view_.strides()[dim];
      const int64_t* const data = dense.data<int64_t>();
      bool outside = false;
      // exact: inside the storage
      for (int64_t i = 0; i < count; ++i) {
        const int64_t place = data[i];
        outside |= place < -size || place >= size;
        const int64_t offset = static_cast<int64_t>(static_cast<uint64_t>(place < 0 ? place + size : place) *
                                                    static_cast<uint64_t>(stride));
        offsets[i] = dim == before_
                         ? offset
                         : static_cast<int64_t>(static_cast<uint64_t>(offsets[i]) + static_cast<uint64_t>(offset));
      }
      if (outside) fail_first_place();
    }
  }

  /// The Error of the first element with an index out of range, and of its first such dim, in the order of PyTorch's
  /// loop.
  [[noreturn]] void fail_first_place() const {
    std::vector<Tensor> dense;
    for (int64_t dim = before_; dim < behind_; ++dim)
      dense.push_back(places_[static_cast<std::size_t>(dim)].contiguous());
    for (std::size_t i = 0;; ++i)
      for (std::size_t dim = 0; dim < dense.size(); ++dim) {
        const int64_t place = dense[dim].data<int64_t>()[i];
        const int64_t size = view_.sizes()[before_ + static_cast<int64_t>(dim)];
        if (place < -size || place >= size) fail_out_of_bounds(place, static_cast<int64_t>(dim), size);
      }
  }

  SizesView shape() const { return shape_; }
  const Tensor& view() const { return view_; }

  /// The strides of a result, as PyTorch's TensorIterator computes them from the view, with stride 0 along indexed
  /// dims, and the index tensors.
  Dims strides_of_result() const {
    const int64_t places = place_shape_.size();
    Dims standing, sizes(shape_.size(), 1);
    for (int64_t dim = 0; dim < before_; ++dim) standing.push_back(view_.strides()[dim]);
    for (int64_t i = 0; i < places; ++i) standing.push_back(0);
    for (int64_t dim = behind_; dim < view_.dim(); ++dim) standing.push_back(view_.strides()[dim]);
    for (int64_t i = 0; i < places; ++i) sizes[before_ + i] = place_shape_[i];
    std::vector<Tensor> along;
    for (int64_t dim = before_; dim < behind_; ++dim)
      along.push_back(places_[static_cast<std::size_t>(dim)].reshape(sizes));
    std::vector<StridedView> strided = {{shape_, standing}};
    for (const Tensor& place : along) strided.push_back({place.sizes(), place.strides()});
    return result_strides(shape_, strided.data(), static_cast<int64_t>(strided.size()));
  }

  /// The view with one dim in place of those that are indexed: along it, the elements follow each other in memory.
  Tensor flat_view() const {
    Checked last = 0;
    for (int64_t dim = before_; dim < behind_; ++dim) last += Checked(view_.sizes()[dim] - 1) * view_.strides()[dim];
    return with_one_dim(view_, before_, behind_, (last + 1).or_throw("index: integer overflow"), 1);
  }
  /// A tensor of this shape with one dim for all places, if it can be seen so.
  std::optional<Tensor> joined(const Tensor& other) const {
    const int64_t behind = before_ + place_shape_.size();
    int64_t stride = 0, size = 1;
    // exact: inside the storage
    for (int64_t dim = behind - 1; dim >= before_; --dim) {
      if (other.sizes()[dim] == 1) continue;
      if (size == 1) stride = other.strides()[dim];
      if (other.strides()[dim] != stride * size) return std::nullopt;
      size *= other.sizes()[dim];
    }
    return with_one_dim(other, before_, behind, size, stride);
  }
  int64_t dim() const { return before_; }
  const Tensor& offsets() const { return offsets_; }

 private:
  /// With a dim of `size` and `stride` in place of those from `begin` to `end`.
  static Tensor with_one_dim(const Tensor& tensor, int64_t begin, int64_t end, int64_t size, int64_t stride) {
    Dims sizes, strides;
    for (int64_t dim = 0; dim <= tensor.dim(); ++dim) {
      if (dim == begin) {
        sizes.push_back(size);
        strides.push_back(stride);
      }
      if (dim == tensor.dim() || (dim >= begin && dim < end)) continue;
      sizes.push_back(tensor.sizes()[dim]);
      strides.push_back(tensor.strides()[dim]);
    }
    return new_view(tensor.detach(), sizes, strides, tensor.storage_offset());
  }
  void add_dims(int64_t begin, int64_t end) {
    for (int64_t dim = begin; dim < end; ++dim) shape_.push_back(view_.sizes()[dim]);
  }
  /// For a selection without elements PyTorch only checks that the indexed dims are not empty.
  void check_places() const {
    if (numel_of(place_shape_) == 0) return;
    for (int64_t dim = before_; dim < behind_; ++dim)
      if (view_.sizes()[dim] == 0) throw IndexError("index is out of bounds for dimension with size 0");
  }

  Tensor view_;
  std::vector<Tensor> places_;  // for each dim of the view
  Dims place_shape_, shape_;
  int64_t before_ = 0, behind_ = 0;
  Tensor offsets_;  // of each selected place in the view, in elements; undefined: no elements
};

/// Writes the elements that are selected to a tensor of this shape.
void read_selected(const Tensor& to, const Selection& selection) {
  if (!selection.offsets().defined()) return;
  const std::optional<Tensor> joined = selection.joined(to);
  if (!joined) {
    const Tensor rows = new_tensor(to.sizes(), to.dtype());
    read_selected(rows, selection);
    return run_copy(to, rows);
  }
  gather_by_index(*joined, selection.flat_view(), ByteView(selection.offsets(), joined->sizes(), selection.dim()),
                  selection.dim());
}
/// Writes to the elements that are selected, or adds to them. `source` has this shape.
void write_selected(const Selection& selection, const Tensor& source, Put put) {
  if (!selection.offsets().defined()) return;
  const std::optional<Tensor> joined = selection.joined(source);
  if (!joined) return write_selected(selection, run_clone(source, MemoryFormat::contiguous), put);
  const ByteView to(selection.flat_view()), from(*joined), index(selection.offsets(), joined->sizes(), selection.dim());
  if (put == Put::replace)
    replace_by_index(to, selection.dim(), index, from, source.itemsize());
  else
    add_by_index(to, selection.dim(), index, from, source.dtype(), 1);
}

bool has_tensors(const Indexed& indexed) { return !indexed.tensors.empty(); }

/// `value` without leading dims of size 1, which assignment ignores.
Tensor without_leading_ones(const Tensor& value) {
  Dims sizes = value.sizes().copy();
  while (!sizes.empty() && sizes[0] == 1) sizes.erase(0);
  return sizes.size() == value.dim() ? value : value.view(sizes);
}

/// Whether the only index is a mask and `value` is one element: then `value` may have another dtype. Checks the first
/// mask before anything else.
bool fills(const Indexed& indexed, const Tensor& value) {
  if (value.numel() != 1 || value.is_meta()) return false;
  bool found = false;
  for (std::size_t dim = 0; dim < indexed.tensors.size(); ++dim) {
    const Tensor& index = indexed.tensors[dim];
    if (!index.defined()) continue;
    if (!is_mask(index) || found) return false;
    check_mask(index, indexed.view, static_cast<int64_t>(dim));
    found = true;
  }
  return found;
}

/// Throws if a number that is to be written overflows. In bfloat16, as in PyTorch, it becomes infinite.
void check_written(const Tensor& value, Dtype dtype) {
  if (dtype != bfloat16) check_fits(value.item(), dtype);
}
/// Casts a number for a fill as PyTorch does.
Tensor cast_for_fill(const Tensor& value, Dtype dtype) {
  check_written(value, dtype);
  return run_to(value, dtype, MemoryFormat::preserve);
}

/// Fills where a mask is true, without the places. False, and nothing is done, where places decide about warnings or
/// errors.
bool fill_masked(const Indexed& indexed, const Tensor& value) {
  const Tensor& self = indexed.view;
  Dims sizes;
  for (const Tensor& index : indexed.tensors) {
    if (!index.defined()) {
      sizes.push_back(1);
      continue;
    }
    if (index.dtype() != bool_ || index.numel() == 0 || value.dim() > self.dim() - index.dim() + 1) return false;
    for (int64_t size : index.sizes()) sizes.push_back(size);
  }
  const Tensor& mask = *std::find_if(indexed.tensors.begin(), indexed.tensors.end(),
                                     [](const Tensor& index) { return index.defined(); });
  while (sizes.size() < self.dim()) sizes.push_back(1);
  check_readable(mask);
  check_readable(value);
  plain::masked_fill_value_inplace(self, mask.reshape(sizes), value.item());
  return true;
}

/// One element for a fill, with its history.
Tensor fill_value(const Tensor& value, Dtype dtype) {
  if (!value.is_meta()) check_written(value, dtype);
  return value.reshape(SizesView()).to(dtype);
}

/// Throws if tensors that are read overlap the one that is written.
void check_no_overlaps(const Indexed& indexed, const Tensor& value) {
  check_no_overlap(indexed.view, value);
  for (const Tensor& index : indexed.tensors)
    if (index.defined()) check_no_overlap(indexed.view, index);
}

}  // namespace

Tensor run_index(const Indexed& indexed) {
  check_count(indexed);
  Selection selection(indexed);
  if (indexed.view.is_meta())
    return empty_strided(selection.shape(), selection.strides_of_result(), Options(indexed.view.dtype(), Device::meta));
  selection.find_offsets();
  Tensor result = new_tensor(selection.shape(), selection.strides_of_result(), indexed.view.dtype());
  read_selected(result, selection);
  return result;
}

Tensor Tensor::index(const Index* indices, int64_t count) const {
  if (Tensor view = view_at_once(*this, indices, count); view.defined()) return view;
  Indexed indexed = index_view(*this, indices, count, true);
  if (!has_tensors(indexed)) {
    if (!indexed.view.is(*this)) return indexed.view;
    // An empty index list gives a view, as in PyTorch.
    return recorded(*this, new_view(*this, sizes(), strides(), storage_offset()), {ViewKind::alias});
  }
  if (is_meta() && !stands_for_data(*this))
    throw NotImplementedError("indexing a meta tensor with tensors is not supported");
  name_truths(indexed);
  return thread_modes.traced || is_recorded(indexed.view) ? with_history().index(indexed) : run_index(indexed);
}

void run_index_put(const Indexed& indexed, const Tensor& value, Put put) {
  const Tensor& self = indexed.view;
  check_unseen(self);
  if (self.is_meta()) {
    check_dtypes(indexed.tensors);
    return check_no_overlaps(indexed, value);
  }
  check_count(indexed);
  const bool overlaps = internal_overlap(self) == InternalOverlap::yes;
  if (overlaps)
    warn("UserWarning",
         "Use of index_put_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
         "operation. This also applies to advanced indexing e.g. tensor[indices] = tensor");
  const bool filling = put == Put::replace && fills(indexed, value);
  if (filling && overlaps)
    warn("UserWarning",
         "Use of masked_fill_ on expanded tensors is deprecated. Please clone() the tensor before performing this "
         "operation. This also applies to advanced indexing e.g. tensor[mask] = scalar");
  if (!filling) check_no_overlaps(indexed, value);
  if (filling && !overlaps && fill_masked(indexed, value)) return;
  Selection selection(indexed);
  const Tensor given = filling ? cast_for_fill(value, self.dtype()) : value;
  if (!is_expandable_to(given.sizes(), selection.shape()))
    throw Error("shape mismatch: value tensor of shape " + to_string(value.sizes()) +
                " cannot be broadcast to indexing result of shape " + to_string(selection.shape()));
  if (given.dtype() != self.dtype())
    throw Error(std::string("Index put requires the source and destination dtypes match, got ") +
                scalar_type_name(self.dtype()) + " for the destination and " + scalar_type_name(value.dtype()) +
                " for the source.");
  check_readable(value);
  check_written(self.dtype(), filling ? "masked_fill" : "index_put");
  selection.find_offsets();
  const Tensor source = given.expand(selection.shape());
  const Uninterrupted whole;
  write_selected(selection, source.detach(), put);
  bump_version(self);
}

namespace {

/// Writes `value` to a view. Leading dims of size 1 that the view lacks are dropped; a single number is a fill.
void write_view(Tensor& view, const Tensor& value) {
  if (value.sizes() == view.sizes())
    view.copy_(value);
  else if (value.dim() == 0 && !value.is_meta())
    view.fill_(value);
  else
    view.copy_(without_leading_ones(value).expand(view.sizes()));
}

}  // namespace

Tensor& Tensor::index_put_(const Index* indices, int64_t count, const Tensor& value) {
  Indexed indexed = index_view(*this, indices, count, false);
  if (!has_tensors(indexed)) {
    write_view(indexed.view, value);
    return *this;
  }
  if (!is_meta()) name_truths(indexed);
  const Tensor given = without_leading_ones(value);
  if (indexed.view.impl()->in_graph || given.impl()->in_graph)
    with_history().index_put(indexed, given, Put::replace);
  else
    run_index_put(indexed, given, Put::replace);
  return *this;
}

void index_put(const Tensor& self, const std::vector<Tensor>& indices, const Tensor& value, Put put) {
  Indexed indexed{self, indices};
  check_count(indexed);
  if (std::none_of(indices.begin(), indices.end(), [](const Tensor& index) { return index.defined(); }))
    throw Error("index_put_: at least one index must be a tensor");
  Tensor given = value;
  const bool are_truths = !indices.empty() && std::all_of(indices.begin(), indices.end(), is_truth);
  if (are_truths && self.numel() == 0) return bump_version(self);  // nothing to write
  if (!self.is_meta()) {
    if (indices.size() == 1 && is_truth(indices[0]) && put == Put::replace && value.numel() == 1) {
      indexed.view = self.unsqueeze(0);
      given = fill_value(value, self.dtype());
      name_truths(indexed);
    } else {
      drop_truths(indexed);
    }
  }
  if (self.impl()->in_graph || value.impl()->in_graph)
    with_history().index_put(indexed, given, put);
  else
    run_index_put(indexed, given, put);
}

Tensor& index_put_(Tensor& self, const List<Tensor>& indices, const Tensor& values, bool accumulate) {
  index_put(self, std::vector<Tensor>(indices.begin(), indices.end()), values, accumulate ? Put::add : Put::replace);
  return self;
}
Tensor index_put(const Tensor& self, const List<Tensor>& indices, const Tensor& values, bool accumulate) {
  Tensor result = self.clone();
  return index_put_(result, indices, values, accumulate);
}

}  // namespace tenon
