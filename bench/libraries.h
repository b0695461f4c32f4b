// bench: the two libraries under one set of names, so that a case is written once. Takes sizes and dtypes; gives
// operands with the same values on both sides, each in memory of its own library's allocator.
// What is not here is called by its common name: argument-dependent lookup finds tenon::add or at::add.
#pragma once
#include <cstdint>
#include <optional>
#include <utility>
#include <vector>

#include "tenon/tenon.h"

#ifdef TENON_BENCH_TORCH
#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/Parallel.h>
#include <ATen/TensorIndexing.h>
#include <c10/core/InferenceMode.h>

#include <cstring>
#include <iterator>
#endif

namespace bench {

using tenon::Dims;
using tenon::Dtype;
using tenon::SizesView;

struct Tenon {
  using Tensor = tenon::Tensor;
  using DimList = tenon::DimsArg;
  using Slice = tenon::Slice;

  static Tensor random(SizesView sizes, Dtype dtype) {
    if (dtype == Dtype::bool_) return tenon::randint(0, 2, sizes, dtype);
    if (tenon::is_integral(dtype)) return tenon::randint(1, 100, sizes, dtype);
    return tenon::rand(sizes).add_(0.5).to(dtype);
  }
  static Tensor meta(SizesView sizes) { return tenon::empty(sizes, {Dtype::float32, tenon::Device::meta}); }
  static DimList dims(SizesView dims) { return dims; }
  static SizesView sizes(SizesView sizes) { return sizes; }
  static Dims infer_size(SizesView a, SizesView b) { return tenon::infer_size(a, b); }
  static void set_num_threads(int count) { tenon::set_num_threads(count); }
  /// Cases run unrecorded but where one of these lives.
  using Recording = tenon::EnableGrad;
  static Tensor leaf(SizesView sizes, Dtype dtype) { return random(sizes, dtype).requires_grad_(); }
  static void clear_grad(Tensor& tensor) {
    if (tensor.defined()) tensor.set_grad({});
  }
};

#ifdef TENON_BENCH_TORCH
struct Torch {
  using Tensor = at::Tensor;
  using DimList = std::vector<int64_t>;
  using Slice = at::indexing::Slice;

  static at::ScalarType scalar_type(Dtype dtype) {
    // In the order of Dtype.
    constexpr at::ScalarType types[] = {at::kBool,     at::kByte,   at::kChar,   at::kShort,        at::kInt,
                                        at::kLong,     at::kUInt16, at::kUInt32, at::kUInt64,       at::kHalf,
                                        at::kBFloat16, at::kFloat,  at::kDouble, at::kComplexFloat, at::kComplexDouble};
    static_assert(std::size(types) == tenon::kDtypeCount);
    return types[static_cast<int>(dtype)];
  }
  static std::vector<int64_t> dims(SizesView dims) { return {dims.begin(), dims.end()}; }
  static at::IntArrayRef sizes(SizesView sizes) { return {sizes.data(), static_cast<std::size_t>(sizes.size())}; }
  static Tensor random(SizesView sizes, Dtype dtype) { return copy(Tenon::random(sizes, dtype)); }
  static Tensor copy(const tenon::Tensor& values) {
    Tensor result = at::empty(Torch::sizes(values.sizes()), scalar_type(values.dtype()));
    std::memcpy(result.data_ptr(), values.data_ptr(), static_cast<std::size_t>(values.nbytes()));
    return result;
  }
  static Tensor meta(SizesView sizes) {
    return at::empty(Torch::sizes(sizes), at::TensorOptions().dtype(at::kFloat).device(at::kMeta));
  }
  static std::vector<int64_t> infer_size(SizesView a, SizesView b) { return at::infer_size(sizes(a), sizes(b)); }
  static void set_num_threads(int count) { at::set_num_threads(count); }
  struct Recording {
    c10::InferenceMode off{false};
  };
  static Tensor leaf(SizesView sizes, Dtype dtype) { return random(sizes, dtype).set_requires_grad(true); }
  static void clear_grad(Tensor& tensor) {
    if (tensor.defined()) tensor.mutable_grad() = Tensor();
  }
};
#endif

}  // namespace bench
