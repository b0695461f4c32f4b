// Window functions, in PyTorch's steps, each of which rounds (aten/src/ATen/native/TensorFactories.cpp).
#include <cmath>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

constexpr double kPi = 3.14159265358979323846;

void check_window(const char* name, int64_t length, const Options& options) {
  const Dtype dtype = options.dtype.value_or(get_default_dtype());
  if (!is_inexact(dtype))
    throw Error(std::string(name) + " expects floating point dtypes, got: TensorOptions(dtype=" + cpp_type_name(dtype) +
                ", device=" + device_name(options.device.value_or(Device::cpu)) +
                ", layout=Strided (default), requires_grad=false (default), pinned_memory=false, "
                "memory_format=(nullopt))");
  if (length < 0)
    throw Error(std::string(name) +
                " requires non-negative window_length, got window_length=" + std::to_string(length));
}

/// The window that `values(places, count)` gives of the places 0 to count - 1; of 0 and 1 places its own.
template <class Values>
Tensor window_of(int64_t length, bool periodic, Options options, const Values& values) {
  if (!options.dtype) options.dtype = get_default_dtype();
  if (length == 0) return empty({0}, options);
  if (length == 1) return ones({1}, options);
  const int64_t count = length == INT64_MAX ? length : length + (periodic ? 1 : 0);
  const Tensor window = values(arange(count, options), count);
  const Tensor result = periodic ? window.narrow(0, 0, count - 1).detach() : window;
  forget_writes(result);
  return result;
}

Tensor cosine_window(int64_t length, bool periodic, double alpha, double beta, Options options) {
  return window_of(length, periodic, options, [&](Tensor places, int64_t count) {
    places.mul_(kPi * 2.0 / static_cast<double>(count - 1)).cos_().mul_(-beta).add_(alpha);
    return places;
  });
}

}  // namespace

Tensor bartlett_window(int64_t window_length, bool periodic, Options options) {
  check_window("bartlett_window", window_length, options);
  return window_of(window_length, periodic, options, [](Tensor places, int64_t count) {
    places.mul_(2.0 / static_cast<double>(count - 1));
    const int64_t half = ((count - 1) >> 1) + 1;
    Tensor second = places.narrow(0, half, count - half);
    second.mul_(-1).add_(2);
    return places;
  });
}

Tensor blackman_window(int64_t window_length, bool periodic, Options options) {
  check_window("blackman_window", window_length, options);
  return window_of(window_length, periodic, options, [](Tensor places, int64_t count) {
    places.mul_(kPi / static_cast<double>(count - 1));
    return places.mul(4).cos_().mul_(0.08) - places.mul(2).cos_().mul_(0.5) + 0.42;
  });
}

Tensor hamming_window(int64_t window_length, bool periodic, double alpha, double beta, Options options) {
  check_window("hamming_window", window_length, options);
  return cosine_window(window_length, periodic, alpha, beta, options);
}

Tensor hann_window(int64_t window_length, bool periodic, Options options) {
  check_window("hann_window", window_length, options);
  return cosine_window(window_length, periodic, 0.5, 0.5, options);
}

Tensor kaiser_window(int64_t window_length, bool periodic, double beta, Options options) {
  check_window("kaiser_window", window_length, options);
  return window_of(window_length, periodic, options, [&](const Tensor& places, int64_t count) {
    const double alpha = static_cast<double>(count - 1) / 2;
    const Tensor inside = (1 - ((places - alpha) / alpha).square()).clamp_min(0).sqrt();
    return tenon::i0(inside * beta) / tenon::i0(full({}, beta, Options(places.dtype(), places.device())));
  });
}

}  // namespace tenon
