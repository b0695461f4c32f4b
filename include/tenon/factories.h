// dispatch: new tensors. Takes sizes and values; gives dense tensors on the device asked for.
#pragma once
#include <initializer_list>
#include <optional>

#include "tenon/tensor.h"

namespace tenon {

/// dtype: unset means the default dtype (for full, arange and tensor what the values say, for *_like that of `self`).
/// device: unset means the cpu (for *_like that of `self`).
struct Options {
  std::optional<Dtype> dtype;
  std::optional<Device> device;
  Options() = default;
  Options(Dtype dtype_) : dtype(dtype_) {}
  Options(Device device_) : device(device_) {}
  Options(Dtype dtype_, Device device_) : dtype(dtype_), device(device_) {}
};

/// Uninitialised. Error "Trying to create tensor with negative dimension -1: [-1]",
/// "Storage size calculation overflowed with sizes=[...]"; OutOfMemoryError.
TENON_API Tensor empty(SizesView sizes, Options options = {});
/// Like `empty` with the strides of a memory format or any other strides.
TENON_API Tensor empty_strided(SizesView sizes, SizesView strides, Options options = {});
TENON_API Tensor zeros(SizesView sizes, Options options = {});
TENON_API Tensor ones(SizesView sizes, Options options = {});
TENON_API Tensor full(SizesView sizes, Scalar value, Options options = {});
/// `end` excluded. Error "step must be nonzero", "upper bound and lower bound inconsistent with step sign".
TENON_API Tensor arange(Scalar end, Options options = {});
TENON_API Tensor arange(Scalar start, Scalar end, Scalar step = 1, Options options = {});
/// `steps` values, both ends included.
TENON_API Tensor linspace(Scalar start, Scalar end, int64_t steps, Options options = {});
/// Powers of `base` whose exponents are `linspace(start, end, steps)`.
TENON_API Tensor logspace(Scalar start, Scalar end, int64_t steps, double base = 10, Options options = {});
/// `end` included. Warns that it is deprecated.
TENON_API Tensor range(Scalar start, Scalar end, Scalar step = 1, Options options = {});
/// The indices on and below a diagonal, or on and above it: a row of rows and one of columns.
TENON_API Tensor tril_indices(int64_t row, int64_t col, int64_t offset = 0, Options options = {});
TENON_API Tensor triu_indices(int64_t row, int64_t col, int64_t offset = 0, Options options = {});
/// Like `empty`; in memory the dims have the order of `physical_layout`.
TENON_API Tensor empty_permuted(SizesView sizes, SizesView physical_layout, Options options = {});
/// Window functions. `periodic`: the last value, equal to the first, is left out.
TENON_API Tensor bartlett_window(int64_t window_length, bool periodic = true, Options options = {});
TENON_API Tensor blackman_window(int64_t window_length, bool periodic = true, Options options = {});
TENON_API Tensor hamming_window(int64_t window_length, bool periodic = true, double alpha = 0.54, double beta = 0.46,
                                Options options = {});
TENON_API Tensor hann_window(int64_t window_length, bool periodic = true, Options options = {});
TENON_API Tensor kaiser_window(int64_t window_length, bool periodic = true, double beta = 12, Options options = {});
TENON_API Tensor eye(int64_t n, Options options = {});
TENON_API Tensor eye(int64_t n, int64_t m, Options options = {});
TENON_API Tensor empty_like(const Tensor& self, Options options = {}, MemoryFormat format = MemoryFormat::preserve);
TENON_API Tensor zeros_like(const Tensor& self, Options options = {}, MemoryFormat format = MemoryFormat::preserve);
TENON_API Tensor ones_like(const Tensor& self, Options options = {}, MemoryFormat format = MemoryFormat::preserve);
TENON_API Tensor full_like(const Tensor& self, Scalar value, Options options = {},
                           MemoryFormat format = MemoryFormat::preserve);

/// A 0-dim tensor holding a number, in the default dtype unless asked otherwise.
TENON_API Tensor scalar_tensor(Scalar value, Options options = {});

/// A tensor over the caller's buffer, without a copy. `strides` are in elements, none negative. `deleter(data,
/// context)` runs when the last view is gone, and must not throw. If this call throws, the caller keeps the buffer.
TENON_API Tensor from_buffer(void* data, SizesView sizes, SizesView strides, Dtype dtype,
                             Storage::Deleter deleter = nullptr, void* context = nullptr);
TENON_API Tensor from_buffer(void* data, SizesView sizes, Dtype dtype, Storage::Deleter deleter = nullptr,
                             void* context = nullptr);

/// One level of a nested initializer list: `tensor({{1, 2}, {3, 4}})`. The dtype is that of the numbers:
/// all bool, else all integers (int64), else the default dtype. ValueError "expected sequence of length 2 at dim 1 (got
/// 1)", TypeError "not a sequence" for a number where a list was expected.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Winit-list-lifetime"
#endif
struct NestedValues {
  Scalar number;
  const NestedValues* values = nullptr;
  int64_t count = -1;  // -1: a number
  template <class T>
  requires(std::is_arithmetic_v<T> || ComplexNumber<T>) NestedValues(T value) : number(value) {}
  NestedValues(std::initializer_list<NestedValues> list)
      : values(list.begin()), count(static_cast<int64_t>(list.size())) {}
};
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif
/// A tensor of the values, as Python's `tenon.tensor([[1, 2], [3, 4]])`.
TENON_API Tensor tensor(NestedValues values, Options options = {});

}  // namespace tenon
