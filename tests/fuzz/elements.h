// Claims about every tensor, checked without the library's own arithmetic.
#pragma once
#include <cmath>
#include <cstring>
#include <string>
#include <vector>

#include "fuzz/case.h"
#include "tenon/factories.h"
#include "tenon/tensor.h"

namespace tenon::fuzz {

using Wide = __int128;

inline std::string describe(const Tensor& tensor) {
  return std::string(dtype_name(tensor.dtype())) + " " + to_string(tensor.sizes()) + " strides " +
         to_string(tensor.strides()) + " offset " + std::to_string(tensor.storage_offset());
}

/// The number of elements, computed without overflow; -1 if it overflows an int64.
inline Wide count_elements(SizesView sizes) {
  Wide count = 1;
  for (int64_t size : sizes) {
    if (size == 0) return 0;
    if (count >= 0) count *= size;
    if (count > INT64_MAX) count = -1;
  }
  return count;
}

inline bool is_row_major(const Tensor& tensor, bool size_one_too) {
  Wide step = 1;
  for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    const int64_t size = tensor.sizes()[dim];
    if ((size != 1 || size_one_too) && tensor.strides()[dim] != step) return false;
    step *= std::max<int64_t>(size, 1);
    if (step > INT64_MAX) return false;
  }
  return true;
}

/// Checks that sizes, numel, flags and extent of a tensor agree with each other and with its storage.
inline void check_tensor(const Tensor& tensor) {
  CLAIM(tensor.defined());
  const TensorImpl& impl = *tensor.impl();
  const std::string text = describe(tensor);
  CLAIM_OF(impl.sizes.size() == impl.strides.size(), text);
  CLAIM_OF(static_cast<int>(impl.dtype) < kDtypeCount, text);
  CLAIM_OF(impl.offset >= 0, text);
  Wide last = impl.offset;  // the offset of the last element
  for (int64_t dim = 0; dim < tensor.dim(); ++dim) {
    CLAIM_OF(impl.sizes[dim] >= 0, text);
    CLAIM_OF(impl.strides[dim] >= 0, text);
    last += Wide{impl.sizes[dim] - 1} * impl.strides[dim];
  }
  CLAIM_OF(count_elements(impl.sizes) == impl.numel, text);
  if (impl.numel > 0) {
    CLAIM_OF(impl.contiguous == is_row_major(tensor, false), text);
    if (impl.row_major) CLAIM_OF(is_row_major(tensor, true), text);
    if (!tensor.is_meta()) CLAIM_OF((last + 1) * tensor.itemsize() <= impl.storage->nbytes, text);
  } else {
    CLAIM_OF(impl.contiguous, text);
  }
}

/// The offsets of the elements in row-major order.
inline std::vector<int64_t> places_of(const Tensor& tensor) {
  std::vector<int64_t> places;
  places.reserve(static_cast<std::size_t>(tensor.numel()));
  if (tensor.numel() == 0) return places;
  Dims index(tensor.dim(), 0);
  for (;;) {
    int64_t place = tensor.storage_offset();
    for (int64_t dim = 0; dim < tensor.dim(); ++dim) place += index[dim] * tensor.strides()[dim];
    places.push_back(place);
    int64_t dim = tensor.dim() - 1;
    for (; dim >= 0; --dim) {
      if (++index[dim] < tensor.sizes()[dim]) break;
      index[dim] = 0;
    }
    if (dim < 0) return places;
  }
}

/// The elements' bytes in row-major order.
inline std::string bytes_of(const Tensor& tensor) {
  std::string bytes;
  const std::size_t width = static_cast<std::size_t>(tensor.itemsize());
  for (int64_t place : places_of(tensor))
    bytes.append(reinterpret_cast<const char*>(tensor.impl()->storage->data) + place * tensor.itemsize(), width);
  return bytes;
}

/// Reads every element, so that sanitizers find bad memory. Bools must be 0 or 1.
inline void read_elements(const Tensor& tensor) {
  const std::string bytes = bytes_of(tensor);
  if (tensor.dtype() == Dtype::bool_)
    for (char byte : bytes) CLAIM_OF(byte == 0 || byte == 1, describe(tensor));
}

inline bool same_elements(const Tensor& a, const Tensor& b) {
  return a.dtype() == b.dtype() && a.sizes() == b.sizes() && bytes_of(a) == bytes_of(b);
}

inline Tensor tensor_of_bytes(std::string_view bytes, SizesView sizes, Dtype dtype) {
  const Tensor tensor = empty(sizes, dtype);
  std::memcpy(tensor.data_ptr(), bytes.data(), bytes.size());
  return tensor;
}
inline double as_double(const std::string& element, Dtype dtype) {
  return tensor_of_bytes(element, {}, dtype).item().as_double();
}
inline Complex128 as_complex(const std::string& element, Dtype dtype) {
  return tensor_of_bytes(element, {}, dtype).item().as_complex();
}
/// Whether two elements have the same bits or are both NaN; complex numbers are compared by parts.
inline bool same_element(const std::string& a, const std::string& b, Dtype dtype) {
  if (a == b) return true;
  const Complex128 x = as_complex(a, dtype), y = as_complex(b, dtype);
  const auto same = [](double p, double q) { return p == q || (std::isnan(p) && std::isnan(q)); };
  return is_inexact(dtype) && same(x.re, y.re) && same(x.im, y.im) &&
         (is_complex(dtype) || (std::isnan(x.re) && std::isnan(y.re)));
}

}  // namespace tenon::fuzz
