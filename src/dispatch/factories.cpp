// New tensors from sizes and values. For meta tensors only the sizes are checked.
#include "tenon/factories.h"

#include <algorithm>

#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {
namespace {

Dtype dtype_or_default(const Options& options) { return options.dtype.value_or(get_default_dtype()); }
Device device_of(const Options& options) { return options.device.value_or(Device::cpu); }

/// The dtype of `full` if none is given. A wide integer does not fit it.
Dtype dtype_of_filling(Scalar value) { return value.is_wide() ? int64 : typed(value).dtype; }

/// A function that is traced may write to the tensors that it makes itself.
Tensor noted(Tensor self) {
  if (thread_modes.traced && !self.is_meta()) thread_modes.traced->note_made(self);
  return self;
}

Tensor new_uninitialised(SizesView sizes, const Options& options) {
  return new_tensor(sizes, dtype_or_default(options), device_of(options));
}
Tensor new_uninitialised_like(const Tensor& self, const Options& options, MemoryFormat format) {
  return new_tensor(self.sizes(), strides_like(self.sizes(), self.strides(), format),
                    options.dtype.value_or(self.dtype()), options.device.value_or(self.device()));
}

/// Fills a new tensor. Its version stays 0.
Tensor filled(Tensor self, Scalar value) {
  if (thread_modes.traced && self.is_meta()) with_history().fill_number(self, value);
  if (!is_computed(self)) return self;
  self.fill_(value);
  forget_writes(self);
  return noted(std::move(self));
}

/// Replaces the negative strides of a tensor without elements by row-major ones, as PyTorch does.
Dims without_negative_strides(SizesView sizes, SizesView strides) {
  Dims result = strides.copy();
  for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) {
    if (strides[dim] >= 0) continue;
    if (sizes[dim] > 1 && numel_of(sizes) > 0) fail_storage_size(sizes, strides);
    const bool last = dim + 1 == sizes.size();
    result[dim] = last ? 1 : (Checked(std::max<int64_t>(sizes[dim + 1], 1)) * result[dim + 1]).value_or(1);
  }
  return result;
}

void check_lengths(SizesView sizes, SizesView strides) {
  if (sizes.size() != strides.size())
    throw Error("dimensionality of sizes (" + std::to_string(sizes.size()) +
                ") must match dimensionality of strides (" + std::to_string(strides.size()) + ")");
}

}  // namespace

Tensor empty(SizesView sizes, Options options) { return noted(new_uninitialised(sizes, options)); }

Tensor empty_strided(SizesView sizes, SizesView strides, Options options) {
  check_not_negative(sizes);
  check_lengths(sizes, strides);
  checked_numel(sizes);
  return new_strided_tensor(sizes, without_negative_strides(sizes, strides), dtype_or_default(options),
                            device_of(options));
}

Tensor zeros(SizesView sizes, Options options) {
  const bool negative = std::any_of(sizes.begin(), sizes.end(), [](int64_t size) { return size < 0; });
  if (negative && device_of(options) == Device::cpu) throw Error("zeros: Dimension size must be non-negative.");
  return filled(new_uninitialised(sizes, options), 0);
}

Tensor ones(SizesView sizes, Options options) { return filled(new_uninitialised(sizes, options), 1); }

Tensor full(SizesView sizes, Scalar value, Options options) {
  return filled(new_tensor(sizes, options.dtype.value_or(dtype_of_filling(value)), device_of(options)), value);
}

Tensor scalar_tensor(Scalar value, Options options) { return filled(new_uninitialised({}, options), value); }

Tensor eye(int64_t n, Options options) { return eye(n, n, options); }

Tensor eye(int64_t n, int64_t m, Options options) {
  if (n < 0) throw Error("n must be greater or equal to 0, got " + std::to_string(n));
  if (m < 0) throw Error("m must be greater or equal to 0, got " + std::to_string(m));
  if (const Dtype dtype = dtype_or_default(options); is_wide_unsigned(dtype) && device_of(options) == Device::cpu)
    fail_no_code("eye", dtype);
  Tensor result = zeros({n, m}, options);
  filled(result.diagonal(), 1);
  return result;
}

Tensor empty_like(const Tensor& self, Options options, MemoryFormat format) {
  return noted(new_uninitialised_like(self, options, format));
}

Tensor zeros_like(const Tensor& self, Options options, MemoryFormat format) {
  return filled(new_uninitialised_like(self, options, format), 0);
}
Tensor ones_like(const Tensor& self, Options options, MemoryFormat format) {
  return filled(new_uninitialised_like(self, options, format), 1);
}
Tensor full_like(const Tensor& self, Scalar value, Options options, MemoryFormat format) {
  return filled(new_uninitialised_like(self, options, format), value);
}

Tensor from_buffer(void* data, SizesView sizes, SizesView strides, Dtype dtype, Storage::Deleter deleter,
                   void* context) {
  const int64_t numel = check_sizes(sizes, itemsize(dtype));
  check_lengths(sizes, strides);
  for (int64_t stride : strides)
    if (stride < 0) throw ValueError("from_buffer: strides " + to_string(strides) + " must not be negative");
  if (!data && numel > 0) throw ValueError("from_buffer: no data for sizes " + to_string(sizes));
  const int64_t nbytes =
      (extent_of(sizes, strides) * itemsize(dtype)).or_else([&] { fail_storage_size(sizes, strides); });
  if (nbytes > kMaxStorageBytes)
    throw ValueError("from_buffer: sizes " + to_string(sizes) + " and strides " + to_string(strides) +
                     " reach over more memory than there is");
  return new_tensor_over({data, nbytes, deleter, context}, sizes, strides, 0, dtype);
}

Tensor from_buffer(void* data, SizesView sizes, Dtype dtype, Storage::Deleter deleter, void* context) {
  check_sizes(sizes, itemsize(dtype));
  return from_buffer(data, sizes, contiguous_strides(sizes), dtype, deleter, context);
}

}  // namespace tenon
