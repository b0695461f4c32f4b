// Indexing: a list of integers, slices, None and Ellipsis becomes a chain of views, from left to right.
#include <string>

#include "tensor/history.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

/// Dims of the indexed tensor that the list names: what Ellipsis leaves over.
int64_t named_dims(const Index* indices, int64_t count) {
  int64_t named = 0;
  for (int64_t i = 0; i < count; ++i)
    if (indices[i].kind == Index::Kind::integer || indices[i].kind == Index::Kind::slice) ++named;
  return named;
}

/// A single entry has texts of its own.
[[noreturn]] void fail_zero_dim(const Index& index) {
  if (index.kind == Index::Kind::slice) throw IndexError("slice() cannot be applied to a 0-dim tensor.");
  throw IndexError(
      "invalid index of a 0-dim tensor. Use `tensor.item()` in Python or `tensor.item<T>()` in C++ to convert a 0-dim "
      "tensor to a number");
}

/// `dim` counts from the first dim of the result so far, and is what the texts name.
Tensor select_index(const Tensor& self, int64_t dim, int64_t index) {
  const int64_t size = dim < self.dim() ? self.sizes()[dim] : 0;
  if (index < -size || index >= size)
    throw IndexError("index " + std::to_string(index) + " is out of bounds for dimension " + std::to_string(dim) +
                     " with size " + std::to_string(size));
  return self.select(dim, index);
}

}  // namespace

Tensor Tensor::index(const Index* indices, int64_t count) const {
  const int64_t named = named_dims(indices, count);
  if (dim() == 0 && count == 1 && named == 1) fail_zero_dim(indices[0]);
  if (named > dim()) throw IndexError("too many indices for tensor of dimension " + std::to_string(dim()));
  Tensor result = *this;
  int64_t at = 0;
  for (int64_t i = 0; i < count; ++i) {
    const Index& index = indices[i];
    switch (index.kind) {
      case Index::Kind::integer:
        result = select_index(result, at, index.integer);
        break;
      case Index::Kind::slice:
        result = result.slice(at++, index.range.start, index.range.stop, index.range.step);
        break;
      case Index::Kind::none:
        result = result.unsqueeze(at++);
        break;
      case Index::Kind::ellipsis:
        at += dim() - named;
        break;
    }
  }
  // PyTorch, too, gives a view where nothing was asked for.
  return result.is(*this) ? recorded(*this, new_view(*this, sizes(), strides(), storage_offset()), {ViewKind::alias})
                          : result;
}

Tensor Tensor::operator[](int64_t i) const {
  if (dim() == 0) fail_zero_dim(i);
  return select_index(*this, 0, i);
}

}  // namespace tenon
