// What the templates of tenon/span.h call: checks, and the order in which elements are walked.
#include <string>

#include "tenon/span.h"
#include "tensor/index.h"
#include "tensor/overlap.h"

namespace tenon::access {

std::byte* first_element(const char* function, const Tensor& tensor, Dtype dtype, Purpose purpose) {
  if (tensor.dtype() != dtype)
    throw TypeError(std::string("expected scalar type ") + scalar_type_name(dtype) + " but found " +
                    scalar_type_name(tensor.dtype()));
  if (tensor.is_meta()) throw Error(std::string(function) + ": a meta tensor has no elements");
  if (purpose == Purpose::write) check_no_internal_overlap(tensor);
  return tensor.impl()->data();
}

void check_contiguous(const char* function, const Tensor& tensor) {
  if (!tensor.is_contiguous())
    throw Error(std::string(function) + ": sizes " + to_string(tensor.sizes()) + " with strides " +
                to_string(tensor.strides()) + " are not contiguous; contiguous() gives a tensor that is");
}

void check_dim(const char* function, const Tensor& tensor, int64_t dim) {
  if (tensor.dim() != dim)
    throw Error(std::string(function) + ": a view of " + std::to_string(dim) + " dims of a tensor of " +
                std::to_string(tensor.dim()));
}

void check_row_stride(const char* function, int64_t stride) {
  if (stride != 1)
    throw Error(std::string(function) + ": a row has the stride " + std::to_string(stride) +
                ", not 1; contiguous() gives a tensor whose rows have no gaps");
}

std::byte* element_at(const Tensor& tensor, Dtype dtype, Purpose purpose, SizesView indices) {
  std::byte* const first = first_element("at", tensor, dtype, purpose);
  if (indices.size() > tensor.dim()) fail_too_many_indices(tensor);
  if (indices.size() < tensor.dim())
    throw IndexError("at: " + std::to_string(indices.size()) + " indices for a tensor of " +
                     std::to_string(tensor.dim()) + " dims");
  int64_t place = 0;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    const int64_t size = tensor.sizes()[dim];
    if (indices[dim] < -size || indices[dim] >= size) fail_out_of_bounds(indices[dim], dim, size);
    // exact: inside the tensor
    place += (indices[dim] < 0 ? indices[dim] + size : indices[dim]) * tensor.strides()[dim];
  }
  return first + place * itemsize(dtype);  // exact: inside the tensor
}

void check_count(const char* function, SizesView sizes, std::size_t count) {
  const int64_t numel = checked_numel(sizes);
  if (static_cast<std::size_t>(numel) != count)
    throw ValueError(std::string(function) + ": sizes " + to_string(sizes) + " have " + std::to_string(numel) +
                     " elements, the memory has " + std::to_string(count));
}

Walk row_major_walk(const Tensor& tensor) {
  if (tensor.numel() == 0) return {{1}, {1}};  // the product of the other sizes may be too large
  const SizesView sizes = tensor.sizes(), strides = tensor.strides();
  Walk walk;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    if (sizes[dim] == 1) continue;
    // exact: inside the tensor
    if (!walk.sizes.empty() && walk.strides.back() == sizes[dim] * strides[dim]) {
      walk.sizes[walk.sizes.size() - 1] *= sizes[dim];
      walk.strides[walk.strides.size() - 1] = strides[dim];
    } else {
      walk.sizes.push_back(sizes[dim]);
      walk.strides.push_back(strides[dim]);
    }
  }
  if (!walk.sizes.empty()) return walk;
  return {{1}, {1}};
}

}  // namespace tenon::access
