// Normalization of batches and of images. PyTorch: Normalization.cpp.
#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/elementwise.h"
#include "dispatch/reduce.h"
#include "kernel/kernel.h"
#include "shape/dense_strides.h"
#include "tenon/nn.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/shape.h"
#include "tile/cast.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"

namespace tenon {
namespace {

/// The tensors beside the input; some may be undefined.
struct ChannelParameters {
  Tensor weight, bias, running_mean, running_var;
};

// --- What is refused, in the order and with the texts of PyTorch.

void check_channels(const char* name, const Tensor& parameter, int64_t channels) {
  if (parameter.defined() && parameter.numel() != channels)
    throw Error(std::string(name) + " should contain " + std::to_string(channels) + " elements not " +
                std::to_string(parameter.numel()));
}
void check_running(const char* name, const Tensor& running, int64_t channels, bool training) {
  if (!running.defined() && !training) throw Error(std::string(name) + " must be defined in evaluation mode");
  check_channels(name, running, channels);
}
void check_same(Dtype dtype, std::initializer_list<const Tensor*> parameters) {
  for (const Tensor* parameter : parameters)
    if (parameter->defined() && parameter->dtype() != dtype)
      throw Error(std::string("expected scalar type ") + scalar_type_name(dtype) + " but found " +
                  scalar_type_name(parameter->dtype()));
}
/// 16-bit input takes float32 parameters. Which of two texts PyTorch has depends on the first parameter.
void check_dtypes(Dtype input, const ChannelParameters& x, bool training) {
  const Tensor* first = nullptr;
  bool all_float32 = true;
  for (const Tensor* parameter : {&x.weight, &x.bias, &x.running_mean, &x.running_var}) {
    if (!parameter->defined()) continue;
    if (!first) first = parameter;
    all_float32 = all_float32 && parameter->dtype() == float32;
  }
  if (!first || first->dtype() == input) {
    if (training) return check_same(input, {&x.running_mean, &x.running_var, &x.weight, &x.bias});
    return check_same(input, {&x.weight, &x.bias, &x.running_mean, &x.running_var});
  }
  if (!all_float32) throw Error("mixed dtype (CPU): expect parameter to have scalar type of Float");
  if (input != float16 && input != bfloat16) throw Error("mixed dtype (CPU): all inputs must share same datatype.");
}
/// PyTorch has no derivative by the running numbers.
void check_constant(const char* name, const Tensor& running) {
  if (!running.defined() || !is_recorded(running)) return;
  throw Error(std::string("The function 'native_batch_norm' is not differentiable with respect to argument '") + name +
              "'. This input cannot have requires_grad True.");
}
void check(const Tensor& input, const ChannelParameters& x, bool training) {
  const int64_t channels = input.dim() > 1 ? input.size(1) : 0;
  check_running("running_mean", x.running_mean, channels, training);
  check_running("running_var", x.running_var, channels, training);
  check_channels("weight", x.weight, channels);
  check_channels("bias", x.bias, channels);
  if (training) input.size(1);  // in training PyTorch asks for the channels before it looks at the dtype
  if (x.running_mean.defined() != x.running_var.defined())
    throw ValueError("running_mean and running_var must either both be None or neither be None");
  check_constant("running_mean", x.running_mean);
  check_constant("running_var", x.running_var);
  if (!is_floating_point(input.dtype())) fail_no_code("batch_norm", input.dtype());
  input.size(1);  // and in evaluation after it
  check_dtypes(input.dtype(), x, training);
}

// --- The parts of batch_norm.

/// Numbers of the channels, in sizes that broadcast with a batch.
Tensor by_channel(const Tensor& numbers, int64_t dims) {
  if (!numbers.defined()) return numbers;
  Dims sizes(dims, 1);
  sizes[1] = numbers.numel();
  return numbers.reshape(sizes);
}
/// 16-bit floats in float32: results are rounded once.
Tensor wide(const Tensor& numbers) { return numbers.to(widened(numbers.dtype())); }
Tensor scaled(Tensor normalized, const Tensor& weight, const Tensor& bias, Dtype dtype) {
  const int64_t dims = normalized.dim();
  if (weight.defined()) normalized = normalized * by_channel(weight, dims);
  if (bias.defined()) normalized = normalized + by_channel(bias, dims);
  return normalized.to(dtype);
}
bool is_differentiated(const Tensor& tensor) { return tensor.defined() && is_recorded(tensor); }
/// batch_norm without elements. As in PyTorch the first weight and bias, of any size, take part, so that both get
/// gradients.
Tensor of_nothing(const Tensor& input, const ChannelParameters& x) {
  Tensor result = input.clone();
  if (x.weight.defined()) result = result * x.weight.select(0, 0);
  return x.bias.defined() ? result + x.bias.select(0, 0) : result;
}
/// The format of results: row-major, or channels_last where the input is, whatever the strides of its dims of size 1.
MemoryFormat result_format(const Tensor& input) {
  for (const auto format : {MemoryFormat::contiguous, MemoryFormat::channels_last, MemoryFormat::channels_last_3d})
    if (input.is_contiguous(format)) return format;
  return format_of(input.sizes(), input.strides());
}
Dims result_strides(const Tensor& input) { return format_strides(input.sizes(), result_format(input)); }
// Elements of a thread's part, and those that are widened at once: they stay in the cache.
constexpr int64_t kPartElements = 1 << 14, kTileElements = 1 << 11;
// Channels of fewer neighbours get numbers for each element: a call for each of them would cost more.
constexpr int64_t kShortSegment = 16;

/// How the elements of a batch follow each other in memory: `segment` of one channel, then those of the next.
struct ChannelOrder {
  int64_t channels, segment;

  static ChannelOrder of(const Tensor& batch) {
    const int64_t channels = batch.size(1);
    if (!batch.is_contiguous()) return {channels, 1};  // the channel is the last dim in memory
    return {channels, batch.numel() / batch.size(0) / channels};
  }
  int64_t length() const { return channels * segment; }  // exact: a part of the number of elements
};
/// The numbers of the channels for each element of an order with segments of one element, or as they are.
Tensor spread(const Tensor& numbers, int64_t segment) {
  const Tensor wide = run_to(numbers.detach(), float32, MemoryFormat::contiguous).reshape({numbers.numel(), 1});
  return run_clone(wide.expand({numbers.numel(), segment}), MemoryFormat::contiguous);
}
const float* floats_of(const Tensor& tensor) { return reinterpret_cast<const float*>(tensor.impl()->data()); }

/// term + input * factor of 16-bit floats without gaps, in memory in the result's order: rows of float32 in a tile that
/// stays in the cache.
void scale_halves(const Tensor& result, const Tensor& input, const Tensor& term, const Tensor& factor) {
  ChannelOrder order = ChannelOrder::of(input);
  const int64_t each = order.segment < kShortSegment ? order.segment : 1;
  const Tensor terms = spread(term, each), factors = spread(factor, each);
  if (each > 1) order = {order.length(), 1};
  const float *const add = floats_of(terms), *const by = floats_of(factors), one = 1;
  const Kernel kernel = kernel_of(Op::addcmul, float32);
  // Of elements that follow each other and are in one channel, or in a row of channels.
  const auto scale = [&](float* x, int64_t channel, int64_t n) {
    const int64_t step = order.segment == 1 ? 1 : 0;
    const Lanes lanes[] = {{add + channel, step}, {x, 1}, {by + channel, step}, {&one, 0}};
    kernel(x, lanes, n);
  };
  const int64_t count = input.numel(), run = order.segment == 1 ? order.channels : order.segment;
  const auto scale_tile = [&](float* tile, int64_t first, int64_t n) {
    for (int64_t i = 0, next; i < n; i = next) {
      const int64_t at = (first + i) % run;  // exact: inside the tensor
      next = std::min(n, i + run - at);      // exact: up to the end of the run
      scale(tile + i, order.segment == 1 ? at : (first + i) / run % order.channels, next - i);
    }
  };
  std::byte* const to = reinterpret_cast<std::byte*>(result.impl()->data());
  const std::byte* const from = reinterpret_cast<const std::byte*>(input.impl()->data());
  note_course({.route = "along", .stores = "in place", .scratch_bytes = kTileElements * int64_t{sizeof(float)}});
  run_or_plan(to, (count + kPartElements - 1) / kPartElements, [&](int64_t part) {
    check_interrupt();
    alignas(64) float tile[kTileElements];
    // exact: inside the storages
    const int64_t end = std::min(count, (part + 1) * kPartElements), width = itemsize(input.dtype());
    for (int64_t first = part * kPartElements; first < end; first += kTileElements) {
      const int64_t n = std::min(kTileElements, end - first);
      cast_lanes(tile, float32, from + first * width, input.dtype(), n);
      scale_tile(tile, first, n);
      cast_lanes(to + first * width, input.dtype(), tile, float32, n);
    }
  });
}

/// term + input * factor, by channel.
Tensor scaled_at_once(const Tensor& input, const Tensor& term, const Tensor& factor) {
  Tensor result = new_tensor(input.sizes(), result_strides(input), input.dtype(), input.device());
  const bool is_dense = input.strides() == result.strides() && input.numel() > 0;
  if (widened(input.dtype()) != input.dtype() && is_dense && is_computed(input))
    scale_halves(result, input, term, factor);
  else
    addcmul_out(result, by_channel(term, input.dim()), input.detach(), by_channel(factor, input.dim()));
  forget_writes(result);
  return result;
}
/// As in PyTorch a factor and a term for each channel, so that the input is read once.
Tensor by_running_numbers(const Tensor& input, const ChannelParameters& x, double eps) {
  const Tensor mean = wide(x.running_mean);
  const Tensor scale = rsqrt(wide(x.running_var) + eps);
  const int64_t dims = input.dim();
  if (is_differentiated(x.weight)) {
    // The gradient of the weight sums products with input - mean, whose parts would cancel.
    return scaled((wide(input) - by_channel(mean, dims)) * by_channel(scale, dims), x.weight, x.bias, input.dtype());
  }
  const Tensor factor = x.weight.defined() ? scale * x.weight : scale;
  const Tensor term = x.bias.defined() ? x.bias - mean * factor : neg(mean) * factor;
  if (!thread_modes.traced && !is_differentiated(input) && !is_differentiated(x.bias))
    return scaled_at_once(input, term, factor);
  return addcmul(by_channel(term, dims), input, by_channel(factor, dims)).to(input.dtype());
}

/// `mean` and `variance` of each channel, not corrected; of 16-bit floats in float32.
struct NormalizedBatch {
  Tensor elements, mean, variance;
};
Dims dims_but_channels(const Tensor& batch) {
  Dims dims{0};
  for (int64_t dim = 2; dim < batch.dim(); ++dim) dims.push_back(dim);
  return dims;
}
Tensor scale_of(const Tensor& variance, double eps) {
  const Tensor scale = rsqrt(variance + eps);
  return eps == 0 ? scale.masked_fill(eq(variance, 0), 0) : scale;  // as in PyTorch
}
NormalizedBatch normalized(const Tensor& input, const ChannelParameters& x, double eps) {
  const Tensor batch = input.detach();
  auto [variance, mean] = wide_var_mean(batch, dims_but_channels(batch));
  Tensor factor = scale_of(variance, eps);
  if (x.weight.defined()) factor = factor * x.weight.detach();
  // As in PyTorch a factor and a term for each channel, so that the batch is read only once more.
  const Tensor term = x.bias.defined() ? addcmul(x.bias.detach(), mean, factor, -1) : neg(mean * factor);
  return {scaled_at_once(batch, term, factor), std::move(mean), std::move(variance)};
}
/// The same by differentiable ops.
NormalizedBatch normalized_with_history(const Tensor& input, const ChannelParameters& x, double eps) {
  const Tensor elements = wide(input);
  auto [variance, mean] = var_mean(elements, SizesView(dims_but_channels(input)), 0);
  const int64_t dims = input.dim();
  const Tensor centered = elements - by_channel(mean, dims);
  return {scaled(centered * by_channel(scale_of(variance, eps), dims), x.weight, x.bias, input.dtype()), mean,
          variance};
}

/// Makes running numbers 1 - momentum of themselves and momentum of the batch's, which are multiplied by `factor`
/// first. As in PyTorch in float64, rounded once.
void update(const Tensor& running, const Tensor& of_batch, double factor, double momentum) {
  const Tensor numbers = of_batch.detach().to(float64), kept = running.detach().to(float64);
  running.detach().copy_(kept * (1 - momentum) + numbers * (momentum * factor));
}
void update_running(const Tensor& input, const ChannelParameters& x, const NormalizedBatch& batch, double momentum) {
  if (!x.running_mean.defined()) return;
  const int64_t of_channel = input.numel() / input.size(1);
  const auto count = static_cast<double>(of_channel);
  update(x.running_mean, batch.mean, 1, momentum);
  update(x.running_var, batch.variance, count > 1 ? count / (count - 1) : std::nan(""), momentum);
}

/// What differentiable ops computed in the order of the input, in the order of results.
Tensor in_format(const Tensor& result, const Tensor& input) {
  if (result.strides() == result_strides(input)) return result;
  return result.clone(result_format(input));  // contiguous() keeps other strides of dims of size 1
}

/// The input, whose gradient has, as in PyTorch, the strides of the input if these are those of a format, dims of size
/// 1 included, and else those of the result; whatever the strides of the result's gradient.
Tensor with_own_strides(const Tensor& input) {
  if (!is_differentiated(input) || thread_modes.traced) return input;
  const MemoryFormat own = format_of(input.sizes(), input.strides());
  const bool keeps = input.strides() == format_strides(input.sizes(), own);
  const Dims strides = keeps ? input.strides().copy() : result_strides(input);
  const Tensor dense = input.strides() == strides ? input : input.clone(result_format(input));
  return dense.as_strided(dense.sizes(), strides, dense.storage_offset());
}

Tensor normalize_batch(const Tensor& given, const ChannelParameters& x, bool training, double momentum, double eps) {
  if (given.numel() == 0) return of_nothing(given, x);
  check(given, x, training);
  const PolicyExemption exempt;
  const Tensor input = with_own_strides(given);
  if (!training) return in_format(by_running_numbers(input, x, eps), input);
  const bool has_history =
      thread_modes.traced || is_differentiated(input) || is_differentiated(x.weight) || is_differentiated(x.bias);
  NormalizedBatch batch = has_history ? normalized_with_history(input, x, eps) : normalized(input, x, eps);
  update_running(input, x, batch, momentum);
  return in_format(batch.elements, input);
}

}  // namespace

Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                  const Tensor& running_var, bool training, double momentum, double eps, bool /*cudnn_enabled*/) {
  return normalize_batch(input, {weight, bias, running_mean, running_var}, training, momentum, eps);
}

// --- instance_norm

namespace {

Tensor repeated(const Tensor& numbers, int64_t count) { return numbers.defined() ? numbers.repeat({count}) : numbers; }

void take_mean(const Tensor& running, const Tensor& of_images, const Tensor& input) {
  if (running.defined()) running.detach().copy_(of_images.detach().view({input.size(0), input.size(1)}).mean(0));
}

/// The images of a batch as channels of one image.
Tensor normalize_images(const Tensor& input, const ChannelParameters& x, bool use_input_stats, double momentum,
                        double eps) {
  const int64_t batch = input.size(0);
  Dims sizes = input.sizes().copy();
  sizes[0] = 1;
  sizes[1] = numel_from(Checked(batch) * input.size(1));
  const ChannelParameters all{repeated(x.weight, batch), repeated(x.bias, batch), repeated(x.running_mean, batch),
                              repeated(x.running_var, batch)};
  Tensor result = normalize_batch(input.reshape(sizes), all, use_input_stats, momentum, eps).view(input.sizes());
  if (!use_input_stats) return result;
  take_mean(x.running_mean, all.running_mean, input);
  take_mean(x.running_var, all.running_var, input);
  return result;
}

}  // namespace

Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                     const Tensor& running_var, bool use_input_stats, double momentum, double eps,
                     bool /*cudnn_enabled*/) {
  if (!use_input_stats && !(running_mean.defined() && running_var.defined()))
    throw Error("Expected running_mean and running_var to be defined when use_input_stats is false");
  input.size(0);  // whose error comes first
  const int64_t channels = input.size(1);
  const auto fits = [&](const Tensor& parameter) { return !parameter.defined() || parameter.numel() == channels; };
  const bool has_running = running_mean.defined() || running_var.defined();
  if (!has_running && input.numel() > 0 && is_floating_point(input.dtype()) && fits(weight) && fits(bias))
    return group_norm(input, channels, weight, bias, eps);
  return normalize_images(input, {weight, bias, running_mean, running_var}, use_input_stats, momentum, eps);
}

// --- normalize

Tensor normalize(const Tensor& input, double p, int64_t dim, double eps) {
  const PolicyExemption exempt;
  return input / norm(input, p, dim, true).clamp_min(eps).expand_as(input);
}

}  // namespace tenon
