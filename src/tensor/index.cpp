// Indexing: a list of integers, slices, None and Ellipsis becomes a chain of views, from left to right. Tensors are
// collected for dispatch/indexing.cpp, each with its dim.
#include "tensor/index.h"

#include <algorithm>
#include <atomic>
#include <memory>
#include <string>
#include <utility>

#include "base/checked.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

/// The number of dims that the list indexes; Ellipsis stands for the others.
int64_t named_dims(const Index* indices, int64_t count) {
  int64_t named = 0;
  for (int64_t i = 0; i < count; ++i)
    if (indices[i].kind == Index::Kind::integer || indices[i].kind == Index::Kind::slice)
      ++named;
    else if (indices[i].kind == Index::Kind::tensor)
      named += is_mask(*indices[i].tensor) ? indices[i].tensor->dim() : 1;
  return named;
}

/// The size of a dim; 0 for a dim that does not exist, as after a second Ellipsis.
int64_t size_at(const Tensor& tensor, int64_t dim) { return dim < tensor.dim() ? tensor.sizes()[dim] : 0; }

/// `dim` is a dim of the result so far. Error texts name the position `entry` in the list.
Tensor select_index(const Tensor& self, int64_t dim, int64_t index, int64_t entry) {
  const int64_t size = size_at(self, dim);
  if (index < -size || index >= size) fail_out_of_bounds(index, entry, size);
  return self.select(dim, index);
}

/// Whether PyTorch treats a slice as the whole dim.
bool is_everything(const Slice& range, int64_t size) {
  return range.start.value_or(0) == 0 && range.stop.value_or(size) >= size && range.step == 1;
}

/// Writes the layout that entries make of the dims of `self`, from left to right.
struct Indexing {
  const Tensor& self;
  TensorImpl* const to;
  int64_t dim = 0;  // the next dim of `self`

  int64_t size() const { return self.sizes()[dim]; }
  int64_t stride() const { return self.strides()[dim]; }
  void add(int64_t size, int64_t stride) {
    to->sizes.push_back(size);
    to->strides.push_back(stride);
  }
  void move(int64_t places) { to->offset = offset_from(Checked(to->offset) + Checked(places) * stride()); }

  void keep() {
    add(size(), stride());
    ++dim;
  }
  void select(int64_t index, int64_t entry) {
    if (index < -size() || index >= size()) fail_out_of_bounds(index, entry, size());
    move(index < 0 ? index + size() : index);  // exact: of different signs
    ++dim;
  }
  void slice(const Slice& range) {
    check_step(range.step);
    const SlicedRange part = sliced_range(range.start, range.stop, size());
    move(part.first);
    add(part.count(range.step), stride_from(Checked(stride()) * range.step));
    ++dim;
  }
  void unsqueeze() { add(1, dim < self.dim() ? stride_from(Checked(size()) * stride()) : 1); }
};

/// PyTorch has special texts for a single index.
[[noreturn]] void fail_zero_dim(const Tensor& self, const Index& index) {
  if (index.kind == Index::Kind::slice) self.slice(0, index.range.start, index.range.stop, index.range.step);
  if (index.integer != 0) select_index(self, 0, index.integer, 0);
  throw IndexError(
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
      "tensor to a number");
}

std::unique_ptr<const Tensor> new_truth(bool truth) {
  Tensor tensor = new_tensor(SizesView(), bool_);
  *tensor.data<bool>() = truth;
  return std::make_unique<const Tensor>(std::move(tensor));
}

}  // namespace

const Tensor& truth_tensor(bool truth) {
  // Never deleted: an index may be made while the process ends. No function's statics, because of fork (AtLoad).
  static constinit std::atomic<const Tensor*> made[2] = {};
  std::atomic<const Tensor*>& place = made[truth ? 1 : 0];
  const Tensor* tensor = place.load(std::memory_order_acquire);
  if (tensor) return *tensor;
  std::unique_ptr<const Tensor> own = new_truth(truth);
  return place.compare_exchange_strong(tensor, own.get()) ? *own.release() : *tensor;
}

void fail_out_of_bounds(int64_t index, int64_t dim, int64_t size) {
  throw IndexError("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) +
                   " with size " + std::to_string(size));
}

void fail_too_many_indices(const Tensor& tensor) {
  throw IndexError("too many indices for tensor of dimension " + std::to_string(tensor.dim()));
}

bool is_mask(const Tensor& index) { return index.dtype() == bool_ || index.dtype() == uint8; }

Tensor view_at_once(const Tensor& self, const Index* indices, int64_t count) {
  if (count < 2 || self.impl()->in_graph) return {};
  int64_t named = 0, ellipses = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Index::Kind kind = indices[i].kind;
    if (kind == Index::Kind::tensor) return {};
    named += kind == Index::Kind::integer || kind == Index::Kind::slice;
    ellipses += kind == Index::Kind::ellipsis;
  }
  if (named > self.dim() || ellipses > 1) return {};
  Tensor view = begin_view(self, self.storage_offset());
  Indexing made{self, view.impl()};
  for (int64_t i = 0; i < count; ++i) {
    const Index& index = indices[i];
    if (index.kind == Index::Kind::integer) made.select(index.integer, i);
    if (index.kind == Index::Kind::slice) made.slice(index.range);
    if (index.kind == Index::Kind::none) made.unsqueeze();
    if (index.kind == Index::Kind::ellipsis)
      for (int64_t rest = self.dim() - named; rest > 0; --rest) made.keep();
  }
  while (made.dim < self.dim()) made.keep();
  settle_view(view, self);
  return view;
}

Indexed index_view(const Tensor& self, const Index* indices, int64_t count, bool reads) {
  const int64_t named = named_dims(indices, count);
  if (self.dim() == 0 && count == 1 && named == 1 && indices->kind != Index::Kind::tensor)
    fail_zero_dim(self, *indices);
  if (named > self.dim()) fail_too_many_indices(self);
  Indexed indexed;
  Tensor& result = indexed.view;
  result = self;
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Index& index = indices[i];
    switch (index.kind) {
      case Index::Kind::integer:
        result = select_index(result, at, index.integer, i);
        break;
      case Index::Kind::slice:
        if (!is_everything(index.range, size_at(result, at)) || (reads && count == 1))
          result = result.slice(at, index.range.start, index.range.stop, index.range.step);
        ++at;
        break;
      case Index::Kind::none:
        result = result.unsqueeze(at++);
        break;
      case Index::Kind::ellipsis:
        at += self.dim() - named;
        break;
      case Index::Kind::tensor:
        // A bool adds a dim of size 1 or 0.
        if (is_mask(*index.tensor) && index.tensor->dim() == 0) result = result.unsqueeze(at);
        indexed.tensors.resize(static_cast<std::size_t>(at) + 1);
        indexed.tensors.back() = *index.tensor;
        at += is_mask(*index.tensor) ? std::max<int64_t>(index.tensor->dim(), 1) : 1;
        break;
    }
  }
  return indexed;
}

Tensor Tensor::operator[](int64_t i) const {
  if (dim() == 0) fail_zero_dim(*this, i);
  return select_index(*this, 0, i, 0);
}

}  // namespace tenon
