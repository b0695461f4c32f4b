// split, chunk, tensor_split, unbind and their relatives: a tensor's parts along a dim, as views. Checks, their order
// and texts are PyTorch's (aten/src/ATen/native/TensorShape.cpp).
#include <algorithm>
#include <string>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

/// One of several views of a call that records all of them itself. It may not be written to where writes are recorded.
Tensor part_of(const Tensor& self, SizesView sizes, SizesView strides, Checked steps, int64_t stride) {
  Tensor part = new_view(self, sizes, strides, offset_from(Checked(self.storage_offset()) + steps * stride));
  if (part.impl()->view_mode == Mode::grad) part.impl()->view_mode = Mode::functions;
  return part;
}
Tensor range_of(const Tensor& self, int64_t dim, int64_t start, int64_t length) {
  Dims sizes = self.sizes().copy();
  sizes[dim] = length;
  return part_of(self, sizes, self.strides(), start, self.strides()[dim]);
}

[[noreturn]] void fail_dims(const char* op, const char* least, const Tensor& self) {
  throw Error("torch." + std::string(op) + " requires a tensor with at least " + least +
              " dimension, but got a tensor with " + std::to_string(self.dim()) + " dimensions!");
}
void check_divisible(const char* op, const Tensor& self, int64_t dim, int64_t sections) {
  if (sections == 0 || self.sizes()[dim] % sections != 0)
    throw Error("torch." + std::string(op) + " attempted to split along dimension " + std::to_string(dim) +
                ", but the size of the dimension " + std::to_string(self.sizes()[dim]) +
                " is not divisible by the split_size " + std::to_string(sections) + "!");
}
void check_has_dims(const Tensor& self, const char* op) {
  if (self.dim() == 0) throw Error(std::string(op) + " expects at least a 1-dimensional tensor");
}
int64_t dim_for_tensor_split(const Tensor& self, int64_t dim) {
  if (self.dim() == 0)
    throw Error("tensor_split expected at least a 1-dimensional tensor, but got a tensor with 0 dims");
  return wrap_dim(dim, self.dim());
}

/// How many steps of `step` reach over `size`.
int64_t steps_over(int64_t size, int64_t step) {
  return size / step + (size % step != 0 ? 1 : 0);  // exact: at most `size`
}

}  // namespace

List<Tensor> plain::split(const Tensor& self, int64_t split_size, int64_t dim) {
  check_has_dims(self, "split");
  if (split_size < 0)
    throw Error("split expects split_size be non-negative, but got split_size=" + std::to_string(split_size));
  const int64_t size = self.size(dim), along = wrap_dim(dim, self.dim());
  if (split_size == 0 && size != 0)
    throw Error("split_size can only be 0 if dimension size is 0, but got dimension size of " + std::to_string(size));
  const int64_t count = split_size == 0 ? 1 : std::max<int64_t>(steps_over(size, split_size), 1);
  List<Tensor> parts;
  parts.reserve(static_cast<std::size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    // exact: every part begins inside the dim; the end of the last one may be too large a number
    const int64_t start = i * split_size;
    parts.push_back(range_of(self, along, start, std::min(split_size, size - start)));
  }
  return parts;
}

List<Tensor> plain::split_sizes(const Tensor& self, SizesView split_size, int64_t dim) {
  return tenon::split_with_sizes(self, split_size, dim);
}

List<Tensor> plain::split_with_sizes(const Tensor& self, SizesView split_sizes, int64_t dim) {
  check_has_dims(self, "split");
  const int64_t size = self.size(dim), along = wrap_dim(dim, self.dim());
  Checked sum = 0;
  for (int64_t length : split_sizes) {
    if (length < 0)
      throw Error("split_with_sizes expects split_sizes have only non-negative entries, but got split_sizes=" +
                  to_string(split_sizes));
    sum += length;
  }
  if (!sum.fits() || sum.value_or(0) != size)
    throw Error("split_with_sizes expects split_sizes to sum exactly to " + std::to_string(size) +
                " (input tensor's size at dimension " + std::to_string(dim) +
                "), but got split_sizes=" + to_string(split_sizes));
  List<Tensor> parts;
  int64_t start = 0;
  for (int64_t length : split_sizes) {
    parts.push_back(range_of(self, along, start, length));
    start += length;  // exact: parts of a dim
  }
  return parts;
}

List<Tensor> plain::chunk(const Tensor& self, int64_t chunks, int64_t dim) {
  check_has_dims(self, "chunk");
  if (chunks <= 0) throw Error("chunk expects `chunks` to be greater than 0, got: " + std::to_string(chunks));
  const int64_t size = self.size(dim);
  if (size == 0) return tenon::split_with_sizes(self, Dims(chunks, 0), dim);  // split would give one part
  return tenon::split(self, steps_over(size, chunks), dim);
}

List<Tensor> plain::tensor_split(const Tensor& self, SizesView indices, int64_t dim) {
  const int64_t along = dim_for_tensor_split(self, dim);
  List<Tensor> parts;
  int64_t start = 0;
  for (int64_t end : indices) {
    parts.push_back(self.slice(along, start, end));
    start = end;
  }
  parts.push_back(self.slice(along, start, std::nullopt));
  return parts;
}

List<Tensor> plain::tensor_split_sections(const Tensor& self, int64_t sections, int64_t dim) {
  const int64_t along = dim_for_tensor_split(self, dim);
  if (sections <= 0) throw Error("number of sections must be larger than 0, got " + std::to_string(sections));
  const int64_t size = self.size(along), least = size / sections, larger = size % sections;
  List<Tensor> parts;
  parts.reserve(static_cast<std::size_t>(sections));  // too many are an error now
  int64_t start = 0;
  for (int64_t i = 0; i < sections; ++i) {
    const int64_t end = start + least + (i < larger ? 1 : 0);  // exact: parts of a dim
    parts.push_back(self.slice(along, start, end));
    start = end;
  }
  return parts;
}

List<Tensor> plain::tensor_split_tensor(const Tensor& self, const Tensor& places, int64_t dim) {
  dim_for_tensor_split(self, 0);
  if (places.is_meta()) throw Error("tensor_split expected tensor_indices_or_sections to be on cpu, but it's on meta");
  if (places.dtype() != int64)
    throw Error(std::string("tensor_split expected tensor_indices_or_sections to have dtype of long, but got ") +
                scalar_type_name(places.dtype()));
  if (places.dim() > 1)
    throw Error(
        "tensor_split expected tensor_indices_or_sections to be a zero-dimensional or one-dimensional tensor, but got "
        "a tensor with " +
        std::to_string(places.dim()) + " dims");
  if (places.dim() == 0) return tenon::tensor_split(self, places.item<int64_t>(), dim);
  Dims indices;
  const Tensor dense = places.contiguous();
  for (int64_t i = 0; i < dense.numel(); ++i) indices.push_back(dense.data<int64_t>()[i]);
  return tenon::tensor_split(self, SizesView(indices), dim);
}

List<Tensor> plain::hsplit(const Tensor& self, int64_t sections) {
  if (self.dim() < 1) fail_dims("hsplit", "1", self);
  const int64_t dim = self.dim() == 1 ? 0 : 1;
  check_divisible("hsplit", self, dim, sections);
  return tenon::tensor_split(self, sections, dim);
}
List<Tensor> plain::hsplit_places(const Tensor& self, SizesView indices) {
  if (self.dim() < 1) fail_dims("hsplit", "1", self);
  return tenon::tensor_split(self, indices, self.dim() == 1 ? 0 : 1);
}

List<Tensor> plain::vsplit(const Tensor& self, int64_t sections) {
  if (self.dim() < 2) fail_dims("vsplit", "2", self);
  check_divisible("vsplit", self, 0, sections);
  return tenon::tensor_split(self, sections, 0);
}
List<Tensor> plain::vsplit_places(const Tensor& self, SizesView indices) {
  if (self.dim() < 2) fail_dims("vsplit", "2", self);
  return tenon::tensor_split(self, indices, 0);
}

List<Tensor> plain::dsplit(const Tensor& self, int64_t sections) {
  if (self.dim() < 3) fail_dims("dsplit", "3", self);
  check_divisible("dsplit", self, 2, sections);
  return tenon::tensor_split(self, sections, 2);
}
List<Tensor> plain::dsplit_places(const Tensor& self, SizesView indices) {
  if (self.dim() < 3) fail_dims("dsplit", "3", self);
  return tenon::tensor_split(self, indices, 2);
}

List<Tensor> plain::unbind(const Tensor& self, int64_t dim) {
  const int64_t along = wrap_dim(dim, self.dim()), count = self.size(along);
  Dims sizes = self.sizes().copy(), strides = self.strides().copy();
  sizes.erase(along);
  strides.erase(along);
  List<Tensor> parts;
  parts.reserve(static_cast<std::size_t>(std::max<int64_t>(count, 0)));
  for (int64_t i = 0; i < count; ++i) parts.push_back(part_of(self, sizes, strides, i, self.strides()[along]));
  return parts;
}

}  // namespace tenon
