// Fourier transforms. Checks, their order and texts are PyTorch's (aten/src/ATen/native/SpectralOps.cpp).
#include <algorithm>
#include <cmath>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "extension/extension.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {
namespace {

// --- One transform

// Elements that one thread takes at least.
constexpr int64_t kPartElements = 1 << 15;

using Transform = void (*Transforms::*)(const Transforms::Call&);

Dims in_bytes(const Tensor& tensor) {
  Dims strides = tensor.strides().copy();
  for (int64_t& stride : strides) stride *= tensor.itemsize();  // exact: in the storage
  return strides;
}

/// The dim that threads divide: the longest one that is not transformed; -1: all are.
int64_t divided_dim(SizesView sizes, SizesView axes) {
  int64_t found = -1;
  for (int64_t i = 0; i < sizes.size(); ++i)
    if (std::find(axes.begin(), axes.end(), i) == axes.end() && (found < 0 || sizes[i] > sizes[found])) found = i;
  return found;
}

/// Writes the transform of `from` along `axes` to `to`. `sizes` are those of the real tensor, if one is real.
void transform(Transform function, const Tensor& from, const Tensor& to, SizesView sizes, SizesView axes, bool forward,
               double scale) {
  if (!is_computed(to) || to.numel() == 0) return;
  const auto run = extension("a Fourier transform").transforms[to_real(to.dtype()) == float64].*function;
  const Dims from_strides = in_bytes(from), to_strides = in_bytes(to);
  const int64_t dim = divided_dim(sizes, axes);
  const int64_t length = dim < 0 ? 1 : sizes[dim];
  const int64_t each = std::max<int64_t>(1, kPartElements / std::max<int64_t>(1, to.numel() / length));
  const int64_t parts = (length - 1) / each + 1;  // exact: no more than `length`
  run_or_plan(to.is_meta() ? nullptr : to.impl()->storage, parts, [&](int64_t part) {
    Dims own = sizes.copy();
    int64_t from_offset = 0, to_offset = 0;
    if (dim >= 0) {
      const int64_t first = part * each;  // exact: less than `length`
      own[dim] = std::min(each, length - first);
      from_offset = first * from_strides[dim];  // exact: in the storage
      to_offset = first * to_strides[dim];      // exact: in the storage
    }
    // exact: in the storages
    run({own.size(), own.data(), from_strides.data(), to_strides.data(), axes.size(), axes.data(), forward, scale,
         from.impl()->data() + from_offset, to.impl()->data() + to_offset});
  });
}

/// `normalization` as PyTorch counts it: 0 for 1, 1 for the root of the number of elements, 2 for that number.
double scale_of(int64_t normalization, SizesView sizes, SizesView axes) {
  double count = 1;
  for (int64_t axis : axes) count *= static_cast<double>(sizes[axis]);
  return normalization == 0 ? 1 : normalization == 1 ? 1 / std::sqrt(count) : 1 / count;
}

Dims wrapped(SizesView dims, int64_t ndim) {
  Dims result = dims.copy();
  for (int64_t& dim : result) dim = wrap_existing_dim(dim, ndim);
  return result;
}
void check_dtype(const Tensor& self, DtypeSet dtypes, const char* kind) {
  if ((dtypes & set_of(self.dtype())) == 0)
    throw Error(std::string("Only supports ") + kind + " dtypes, but found: " + scalar_type_name(self.dtype()));
}
Tensor new_result(SizesView sizes, Dtype dtype, const Tensor& beside) {
  return new_tensor(sizes, dtype, beside.device());
}

}  // namespace

Tensor plain::_fft_c2c(const Tensor& self, SizesView dim, int64_t normalization, bool forward) {
  check_dtype(self, kComplex, "complex");
  if (dim.empty()) return self.detach().clone();
  const Dims axes = wrapped(dim, self.dim());
  const Tensor result = new_result(self.sizes(), self.dtype(), self);
  transform(&Transforms::complex_to_complex, self, result, self.sizes(), axes, forward,
            scale_of(normalization, self.sizes(), axes));
  forget_writes(result);
  return result;
}

Tensor plain::_fft_r2c(const Tensor& self, SizesView dim, int64_t normalization, bool onesided) {
  check_dtype(self, kWideFloats, "floating-point");
  const Dims axes = wrapped(dim, self.dim());
  const int64_t last = axes[axes.size() - 1], length = self.size(last), half = length / 2 + 1;
  Dims sizes = self.sizes().copy();
  if (onesided) sizes[last] = half;
  const Tensor result = new_result(sizes, to_complex(self.dtype()), self);
  const Tensor first = result.narrow(last, 0, std::min(half, sizes[last]));
  const SizesView last_axis(&last, 1), others(axes.data(), axes.size() - 1);
  transform(&Transforms::real_to_complex, self, first, self.sizes(), last_axis, true,
            scale_of(normalization, self.sizes(), axes));
  if (!onesided && length > 2 && is_computed(result) && !result.is_meta()) {
    const int64_t rest = length - half;  // the conjugates of what stands as far from the start
    result.narrow(last, half, rest).copy_(conj(result.narrow(last, 1, rest).flip({last})));
  }
  if (!others.empty()) transform(&Transforms::complex_to_complex, result, result, sizes, others, true, 1);
  forget_writes(result);
  return result;
}

Tensor plain::_fft_c2r(const Tensor& self, SizesView dim, int64_t normalization, int64_t last_dim_size) {
  check_dtype(self, kComplex, "complex");
  const Dims axes = wrapped(dim, self.dim());
  const int64_t last = axes[axes.size() - 1];
  if (last_dim_size < 1 || self.size(last) < last_dim_size / 2 + 1)
    throw Error("Invalid number of data points (" + std::to_string(last_dim_size) + ") specified");
  Dims sizes = self.sizes().copy();
  sizes[last] = last_dim_size;
  const SizesView others(axes.data(), axes.size() - 1), last_axis(&last, 1);
  const Tensor half = others.empty() ? self.detach() : plain::_fft_c2c(self, others, 0, false);
  const Tensor result = new_result(sizes, to_real(self.dtype()), self);
  transform(&Transforms::complex_to_real, half, result, sizes, last_axis, false, scale_of(normalization, sizes, axes));
  forget_writes(result);
  return result;
}

// --- The public functions

namespace {

/// `self` in a dtype that is transformed.
Tensor promoted(const Tensor& self, bool to_be_complex) {
  Dtype dtype = self.dtype();
  if (!is_complex(dtype)) {
    if (!is_floating_point(dtype)) dtype = get_default_dtype();
    if (dtype != float32 && dtype != float64) throw Error(std::string("Unsupported dtype ") + scalar_type_name(dtype));
    if (to_be_complex) dtype = to_complex(dtype);
  }
  return self.to(dtype);
}
/// `what` the function expects, in PyTorch's words.
void check_real(const Tensor& self, const char* name, const char* what) {
  if (is_complex(self.dtype()))
    throw Error(std::string(name) + " expects a " + what + " input tensor, but got " + scalar_type_name(self.dtype()));
}
int64_t checked_length(int64_t length) {
  if (length < 1) throw Error("Invalid number of data points (" + std::to_string(length) + ") specified");
  return length;
}
int64_t normalization_of(const char* norm, bool forward) {
  const std::string_view name = norm ? norm : "backward";
  if (name == "backward") return forward ? 0 : 2;
  if (name == "forward") return forward ? 2 : 0;
  if (name == "ortho") return 1;
  throw Error("Invalid normalization mode: \"" + std::string(name) + "\"");
}
/// The first `length` elements along a dim, or zeros behind them.
Tensor resized(const Tensor& self, int64_t dim, int64_t length) {
  const int64_t size = self.size(dim);
  if (length <= size) return length == size ? self : self.narrow(dim, 0, length);
  Dims padding(2 * (self.dim() - dim), 0);  // exact: twice the number of dims
  padding[padding.size() - 1] = length - size;
  return tenon::constant_pad_nd(self, padding, 0);
}
Tensor resized(Tensor self, SizesView dims, SizesView lengths) {
  for (int64_t i = 0; i < dims.size(); ++i) self = resized(self, dims[i], lengths[i]);
  return self;
}

// Along one dim.

int64_t existing(int64_t dim, const Tensor& self) { return wrap_existing_dim(dim, self.dim()); }

Tensor complex_along(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm, bool forward) {
  const int64_t axis = existing(dim, self);
  const int64_t length = checked_length(n.value_or(self.size(axis)));
  return tenon::_fft_c2c(resized(self, axis, length), {axis}, normalization_of(norm, forward), forward);
}
Tensor real_along(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm, bool forward,
                  bool onesided) {
  const Tensor input = promoted(self, false);
  const int64_t axis = existing(dim, input);
  const int64_t length = checked_length(n.value_or(input.size(axis)));
  const Tensor result =
      tenon::_fft_r2c(resized(input, axis, length), {axis}, normalization_of(norm, forward), onesided);
  return forward ? result : conj(result);
}
Tensor any_along(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm, bool forward) {
  if (is_complex(self.dtype())) return complex_along(self, n, dim, norm, forward);
  return real_along(self, n, dim, norm, forward, false);
}
Tensor to_real_along(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm, bool forward) {
  const Tensor input = promoted(self, true);
  const int64_t axis = existing(dim, input);
  const int64_t length = checked_length(n ? *n : 2 * (input.size(axis) - 1));  // exact: twice a size of complex numbers
  const Tensor half = resized(input, axis, length / 2 + 1);
  return tenon::_fft_c2r(forward ? conj(half) : half, {axis}, normalization_of(norm, forward), length);
}

// Along several.

struct Axes {
  Dims dims, lengths;
};
Axes axes_of(const Tensor& self, SizesView lengths, SizesView dims) {
  const int64_t ndim = self.dim();
  Axes axes;
  if (dims.data()) {
    axes.dims = wrapped(dims, ndim);
    Dims sorted = axes.dims;
    std::sort(sorted.begin(), sorted.end());
    if (std::adjacent_find(sorted.begin(), sorted.end()) != sorted.end()) throw Error("FFT dims must be unique");
  }
  if (lengths.data()) {
    if (dims.data() && dims.size() != lengths.size())
      throw Error("When given, dim and shape arguments must have the same length");
    if (lengths.size() > ndim)
      throw Error("Got shape with " + std::to_string(lengths.size()) + " values but input tensor only has " +
                  std::to_string(ndim) + " dimensions.");
    if (!dims.data())
      for (int64_t i = ndim - lengths.size(); i < ndim; ++i) axes.dims.push_back(i);
  } else if (!dims.data()) {
    for (int64_t i = 0; i < ndim; ++i) axes.dims.push_back(i);
  }
  for (int64_t i = 0; i < axes.dims.size(); ++i) {
    const int64_t size = self.size(axes.dims[i]), length = lengths.data() && lengths[i] != -1 ? lengths[i] : size;
    axes.lengths.push_back(checked_length(length));
  }
  return axes;
}
/// The same, where the last of `lengths` is that of a real result. Gives that length.
int64_t halved_axes_of(Axes& axes, const Tensor& self, SizesView lengths, SizesView dims, const char* name) {
  axes = axes_of(self, lengths, dims);
  const int64_t last = axes.dims.size() - 1;
  if (last < 0) throw Error(std::string(name) + " must transform at least one axis");
  const bool is_given = lengths.data() && lengths[last] != -1;
  // exact: twice a size of complex numbers
  const int64_t length = checked_length(is_given ? axes.lengths[last] : 2 * (self.size(axes.dims[last]) - 1));
  axes.lengths[last] = length / 2 + 1;
  return length;
}
SizesView all_but_last(const Dims& dims) { return SizesView(dims.data(), dims.size() - 1); }
SizesView only_last(const Dims& dims) { return SizesView(dims.data() + dims.size() - 1, 1); }

Tensor complex_over(const Tensor& self, SizesView s, SizesView dim, const char* norm, bool forward) {
  const Tensor input = promoted(self, true);
  const Axes axes = axes_of(input, s, dim);
  if (axes.dims.empty()) return input.clone();
  return tenon::_fft_c2c(resized(input, axes.dims, axes.lengths), axes.dims, normalization_of(norm, forward), forward);
}
Tensor real_over(const Tensor& self, SizesView s, SizesView dim, const char* norm, const char* name) {
  check_real(self, name, "real-valued");
  const Tensor input = promoted(self, false);
  const Axes axes = axes_of(input, s, dim);
  if (axes.dims.empty()) throw Error(std::string(name) + " must transform at least one axis");
  return tenon::_fft_r2c(resized(input, axes.dims, axes.lengths), axes.dims, normalization_of(norm, true), true);
}
Tensor to_real_over(const Tensor& self, SizesView s, SizesView dim, const char* norm, const char* name) {
  Axes axes;
  const int64_t length = halved_axes_of(axes, self, s, dim, name);
  const Tensor input = promoted(self, true);
  return tenon::_fft_c2r(resized(input, axes.dims, axes.lengths), axes.dims, normalization_of(norm, false), length);
}
Tensor hermitian_over(const Tensor& self, SizesView s, SizesView dim, const char* norm, const char* name) {
  Axes axes;
  const int64_t length = halved_axes_of(axes, self, s, dim, name);
  const int64_t normalization = normalization_of(norm, true);
  Tensor half = resized(promoted(self, true), axes.dims, axes.lengths);
  if (axes.dims.size() > 1) half = tenon::_fft_c2c(half, all_but_last(axes.dims), normalization, true);
  return tenon::_fft_c2r(conj(half), only_last(axes.dims), normalization, length);
}
Tensor to_hermitian_over(const Tensor& self, SizesView s, SizesView dim, const char* norm, const char* name) {
  const Axes axes = axes_of(self, s, dim);
  if (axes.dims.empty()) throw Error(std::string(name) + " must transform at least one axis");
  if (is_complex(self.dtype()))
    throw Error(std::string("Only supports floating-point dtypes, but found: ") + scalar_type_name(self.dtype()));
  const Tensor input = promoted(self, false);
  const int64_t normalization = normalization_of(norm, false);
  const Tensor half =
      conj(tenon::_fft_r2c(resized(input, axes.dims, axes.lengths), only_last(axes.dims), normalization, true));
  return axes.dims.size() == 1 ? half : tenon::_fft_c2c(half, all_but_last(axes.dims), normalization, false);
}

constexpr int64_t kLastTwo[] = {-2, -1};
SizesView two_of(const DimsArg& dim) { return dim.view().data() ? dim.view() : SizesView(kLastTwo, 2); }

}  // namespace

Tensor plain::fft_fft(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm) {
  return any_along(self, n, dim, norm, true);
}
Tensor plain::fft_ifft(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm) {
  return any_along(self, n, dim, norm, false);
}
Tensor plain::fft_rfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm) {
  check_real(self, "rfft", "real");
  return real_along(self, n, dim, norm, true, true);
}
Tensor plain::fft_ihfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm) {
  check_real(self, "ihfft", "real");
  return real_along(self, n, dim, norm, false, true);
}
Tensor plain::fft_irfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm) {
  return to_real_along(self, n, dim, norm, false);
}
Tensor plain::fft_hfft(const Tensor& self, std::optional<int64_t> n, int64_t dim, const char* norm) {
  return to_real_along(self, n, dim, norm, true);
}

Tensor plain::fft_fftn(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return complex_over(self, s.view(), dim.view(), norm, true);
}
Tensor plain::fft_ifftn(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return complex_over(self, s.view(), dim.view(), norm, false);
}
Tensor plain::fft_rfftn(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return real_over(self, s.view(), dim.view(), norm, "rfftn");
}
Tensor plain::fft_irfftn(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return to_real_over(self, s.view(), dim.view(), norm, "irfftn");
}
Tensor plain::fft_hfftn(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return hermitian_over(self, s.view(), dim.view(), norm, "hfftn");
}
Tensor plain::fft_ihfftn(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return to_hermitian_over(self, s.view(), dim.view(), norm, "ihfftn");
}

Tensor plain::fft_fft2(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return complex_over(self, s.view(), two_of(dim), norm, true);
}
Tensor plain::fft_ifft2(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return complex_over(self, s.view(), two_of(dim), norm, false);
}
Tensor plain::fft_rfft2(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return real_over(self, s.view(), two_of(dim), norm, "rfftn");
}
Tensor plain::fft_irfft2(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return to_real_over(self, s.view(), two_of(dim), norm, "irfftn");
}
Tensor plain::fft_hfft2(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return hermitian_over(self, s.view(), two_of(dim), norm, "hfftn");
}
Tensor plain::fft_ihfft2(const Tensor& self, const DimsArg& s, const DimsArg& dim, const char* norm) {
  return to_hermitian_over(self, s.view(), two_of(dim), norm, "ihfftn");
}

}  // namespace tenon
