// arange and linspace.
// Note [Rounding of ranges]: start + step * i is one fused multiply-add. PyTorch's arange (AVX2, one thread) rounds the
// first value of every 32-byte vector to the dtype and computes the others from it; values at the end that do not fill
// two vectors are computed one by one. Both decide the last bit, so both are done here, too, on every machine.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstring>
#include <sstream>
#include <string>

#include "base/checked.h"
#include "dispatch/elementwise.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tile/pool.h"
#include "type/overflow.h"
#include "type/visit.h"

namespace tenon {
namespace {

// --- arange

/// The type in which PyTorch computes values: int64 for integers, double for float32 and float64, float for 16-bit
/// floats.
template <class T>
using StepType = std::conditional_t<std::is_integral_v<T>, int64_t, std::conditional_t<is_half_v<T>, float, double>>;

/// Integers wrap: start + step * i.
template <class T>
void fill_arange(T* out, int64_t count, int64_t start, int64_t step) {
  uint64_t value = static_cast<uint64_t>(start);
  // exact: elements, not sizes
  for (int64_t i = 0; i < count; ++i, value += static_cast<uint64_t>(step)) out[i] = static_cast<T>(value);
}

/// Floats: Note [Rounding of ranges].
template <class T, class S>
requires std::is_floating_point_v<S>
void fill_arange(T* out, int64_t count, S start, S step) {
  constexpr int64_t lanes = 32 / static_cast<int64_t>(sizeof(T));
  const int64_t in_vectors = count / (2 * lanes) * (2 * lanes);
  const auto value = [=](int64_t i) { return element_cast<T>(std::fma(step, static_cast<S>(i), start)); };
  for (int64_t i = 0; i < in_vectors; i += lanes) {
    const S base = element_cast<S>(value(i));
    for (int64_t lane = 0; lane < lanes; ++lane)
      out[i + lane] = element_cast<T>(std::fma(static_cast<S>(lane), step, base));
  }
  for (int64_t i = in_vectors; i < count; ++i) out[i] = value(i);
}

/// A number as C++ streams print it, for PyTorch's error texts.
std::string streamed(Scalar number) {
  std::ostringstream text;
  if (number.is_floating())
    text << number.as_double();
  else if (number.is_wide())
    text << static_cast<uint64_t>(number.as_int64());
  else
    text << number.as_int64();
  return text.str();
}

void check_range(Scalar start, Scalar end, Scalar step) {
  for (Scalar number : {start, end, step}) static_cast<void>(number.to<double>());
  const double first = start.as_double(), last = end.as_double(), by = step.as_double();
  if (!(by > 0 || by < 0)) throw Error("step must be nonzero");
  if (!std::isfinite(first) || !std::isfinite(last))
    throw Error("unsupported range: " + streamed(start) + " -> " + streamed(end));
  if (by > 0 ? last < first : last > first) throw Error("upper bound and lower bound inconsistent with step sign");
}

/// The number of steps from `start` to `end`, rounded up. Unsigned, because differences of int64 overflow.
int64_t integer_count(Scalar start, Scalar end, Scalar step) {
  for (Scalar number : {start, end, step}) check_fits(number, int64);
  const int64_t first = start.as_int64(), last = end.as_int64(), by = step.as_int64();
  if (by == 0) throw ValueError("step must be nonzero");
  if (by > 0 ? last <= first : last >= first) return 0;
  const uint64_t low = static_cast<uint64_t>(by > 0 ? first : last),
                 high = static_cast<uint64_t>(by > 0 ? last : first);
  const uint64_t stride = by > 0 ? static_cast<uint64_t>(by) : 0 - static_cast<uint64_t>(by);
  const uint64_t count = (high - low - 1) / stride + 1;  // exact: high is more than low
  if (count > static_cast<uint64_t>(INT64_MAX)) throw Error("invalid size, possible overflow?");
  return static_cast<int64_t>(count);
}

int64_t floating_count(Scalar start, Scalar end, Scalar step) {
  const double count = std::ceil((end.as_double() - start.as_double()) / step.as_double());
  if (!(count >= 0 && count < 0x1p63)) throw Error("invalid size, possible overflow?");
  return static_cast<int64_t>(count);
}

// --- linspace

/// The first half is computed from `start`, the second from `end`, so that both ends are exact. Integers are computed
/// in double.
template <class T>
requires std::is_arithmetic_v<T>
void fill_linspace(T* out, int64_t steps, T start, T end) {
  using S = std::conditional_t<std::is_integral_v<T>, double, T>;
  const S first = static_cast<S>(start), last = static_cast<S>(end), step = (last - first) / static_cast<S>(steps - 1);
  for (int64_t i = 0; i < steps / 2; ++i) out[i] = element_cast<T>(std::fma(step, static_cast<S>(i), first));
  for (int64_t i = steps / 2; i < steps; ++i)
    out[i] = element_cast<T>(std::fma(-step, static_cast<S>(steps - i - 1), last));
}

/// 16-bit floats: rounds after every operation.
template <class T>
requires is_half_v<T>
void fill_linspace(T* out, int64_t steps, T start, T end) {
  const auto rounded = [](float value) { return element_cast<float>(element_cast<T>(value)); };
  const float first = element_cast<float>(start), last = element_cast<float>(end);
  const float step = rounded(rounded(last - first) / rounded(static_cast<float>(steps - 1)));
  const auto distance = [=](int64_t i) { return rounded(step * rounded(static_cast<float>(i))); };
  for (int64_t i = 0; i < steps / 2; ++i) out[i] = element_cast<T>(first + distance(i));
  for (int64_t i = steps / 2; i < steps; ++i) out[i] = element_cast<T>(last - distance(steps - i - 1));
}

/// Complex numbers, part by part. The step is the difference divided by a real number.
template <class T>
requires is_complex_v<T>
void fill_linspace(T* out, int64_t steps, T start, T end) {
  using S = typename T::value_type;
  const auto count = static_cast<S>(steps - 1);
  const T step{(end.re - start.re) / count, (end.im - start.im) / count};
  const auto times = [](T by, int64_t i) { return T{by.re * static_cast<S>(i), by.im * static_cast<S>(i)}; };
  for (int64_t i = 0; i < steps / 2; ++i) out[i] = {start.re + times(step, i).re, start.im + times(step, i).im};
  for (int64_t i = steps / 2; i < steps; ++i) {
    const T back = times(step, steps - i - 1);
    out[i] = {end.re - back.re, end.im - back.im};
  }
}

/// PyTorch supports no bool, uint16, uint32 or uint64; `arange` also no complex dtype.
constexpr DtypeSet kCounting = kNoBool, kSpacing = kNoBool | kComplex;
void check_counts_in(DtypeSet dtypes, Dtype dtype, const char* kernel) {
  if ((dtypes & set_of(dtype)) == 0) fail_no_code(kernel, dtype);
}

}  // namespace

Tensor arange(Scalar end, Options options) { return arange(0, end, 1, options); }

Tensor arange(Scalar start, Scalar end, Scalar step, Options options) {
  const auto is_integer = [](Scalar number) { return !number.is_floating() && !number.is_complex(); };
  const bool floating = !is_integer(start) || !is_integer(end) || !is_integer(step);
  const Dtype dtype = options.dtype.value_or(floating ? get_default_dtype() : int64);
  const Device device = options.device.value_or(Device::cpu);
  if (device == Device::cpu) check_counts_in(kCounting, dtype, "arange_cpu");  // whatever the range
  check_range(start, end, step);
  const int64_t count = dtype == int64 ? integer_count(start, end, step) : floating_count(start, end, step);
  Tensor result = new_tensor({count}, dtype, device);
  if (result.is_meta()) return result;
  visit_dtype(dtype, [&]<class T>() {
    if constexpr ((kCounting & set_of(dtype_of_v<T>)) != 0)
      fill_arange(result.data<T>(), count, scalar_to<StepType<T>>(start), scalar_to<StepType<T>>(step));
  });
  return result;
}

Tensor linspace(Scalar start, Scalar end, int64_t steps, Options options) {
  if (steps < 0) throw Error("number of steps must be non-negative");
  const Dtype inferred = start.is_complex() || end.is_complex() ? to_complex(get_default_dtype()) : get_default_dtype();
  const Dtype dtype = options.dtype.value_or(inferred);
  if (is_complex(inferred) && !is_complex(dtype))
    throw Error(std::string("torch.linspace(): inferred dtype ") + cpp_type_name(inferred) +
                " can't be safely cast to passed dtype " + scalar_type_name(dtype));
  Tensor result = new_tensor({steps}, dtype, options.device.value_or(Device::cpu));
  if (result.is_meta() || steps == 0) return result;
  if (steps == 1) return full({1}, start, {dtype, Device::cpu});
  check_counts_in(kSpacing, dtype, "linspace_cpu");
  check_fits(start, dtype);
  check_fits(end, dtype);
  visit_dtype(dtype, [&]<class T>() {
    if constexpr ((kSpacing & set_of(dtype_of_v<T>)) != 0)
      fill_linspace(result.data<T>(), steps, scalar_to<T>(start), scalar_to<T>(end));
  });
  return result;
}

// --- range

namespace {

/// Both ends included. Computed in PyTorch's steps: `step * i` is rounded, then the sum.
template <class T>
void fill_range(T* out, int64_t count, Scalar start, Scalar step) {
  if constexpr (std::is_integral_v<T>) {
    fill_arange(out, count, start.to<int64_t>(), step.to<int64_t>());
  } else {
    using S = StepType<T>;
    const S first = static_cast<S>(start.as_double()), by = static_cast<S>(step.as_double());
    for (int64_t i = 0; i < count; ++i) out[i] = element_cast<T>(first + by * static_cast<S>(i));
  }
}

}  // namespace

Tensor range(Scalar start, Scalar end, Scalar step, Options options) {
  warn("UserWarning",
       "torch.range is deprecated and will be removed in a future release because its behavior is inconsistent with "
       "Python's range builtin. Instead, use torch.arange, which produces values in [start, end).");
  const Dtype dtype = options.dtype.value_or(get_default_dtype());
  const bool is_counted = options.device.value_or(Device::cpu) == Device::cpu;
  if (is_counted) check_counts_in(kCounting, dtype, "range_cpu");
  check_range(start, end, step);
  // Integers are truncated before anything is computed.
  const auto in_dtype = [&](Scalar number) {
    return is_floating_point(dtype) ? number.as_double() : std::trunc(number.as_double());
  };
  const double by = in_dtype(step) == 0 ? step.as_double() : in_dtype(step);
  const double steps = std::floor((in_dtype(end) - in_dtype(start)) / by);
  if (!(steps >= 0 && steps < 0x1p62)) throw Error("invalid size, possible overflow?");
  const Tensor result = new_tensor({static_cast<int64_t>(steps) + 1}, dtype, options.device.value_or(Device::cpu));
  if (result.is_meta()) return result;
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!is_complex_v<T> && !std::is_same_v<T, bool>)
      fill_range(result.data<T>(), result.numel(), start, step);
  });
  return result;
}

// --- logspace

namespace {

template <class T>
void fill_logspace(T* out, int64_t steps, T start, T end, double base) {
  using S = std::conditional_t<std::is_integral_v<T>, double, StepType<T>>;
  const auto wide = [](T value) { return static_cast<double>(element_cast<S>(value)); };
  const double first = wide(start), last = wide(end), step = (last - first) / static_cast<double>(steps - 1);
  for (int64_t i = 0; i < steps; ++i) {
    // exact: in floating point, and i < steps
    const double exponent =
        i < steps / 2 ? first + step * static_cast<double>(i) : last - step * static_cast<double>(steps - i - 1);
    out[i] = element_cast<T>(std::pow(base, exponent));
  }
}

/// Complex powers, through a logarithm.
Tensor complex_powers(Scalar start, Scalar end, int64_t steps, double base, Dtype dtype) {
  const Tensor exponents = linspace(start, end, steps, Options(complex128));
  const Scalar logarithm = base < 0 ? Scalar(std::log(std::complex<double>(base))) : Scalar(std::log(base));
  return tenon::exp(exponents * logarithm).to(dtype);
}

}  // namespace

Tensor logspace(Scalar start, Scalar end, int64_t steps, double base, Options options) {
  if (steps < 0) throw Error("number of steps must be non-negative");
  const bool is_complex_range = start.is_complex() || end.is_complex();
  const Dtype dtype = options.dtype.value_or(is_complex_range ? to_complex(get_default_dtype()) : get_default_dtype());
  const Tensor result = new_tensor({steps}, dtype, options.device.value_or(Device::cpu));
  if (steps == 0 || result.is_meta()) return result;
  if (is_complex(dtype)) return complex_powers(start, end, steps, base, dtype);
  if (steps > 1) check_counts_in(kCounting, dtype, "logspace_cpu");
  for (Scalar number : {start, end}) check_fits(number, dtype);
  if (steps == 1) return full({1}, std::pow(base, start.as_double()), {dtype, Device::cpu});
  visit_dtype(dtype, [&]<class T>() {
    if constexpr (!is_complex_v<T>)
      fill_logspace<T>(result.data<T>(), steps, scalar_to<T>(start), scalar_to<T>(end), base);
  });
  return result;
}

// --- tril_indices, triu_indices, empty_permuted

namespace {

void check_triangle(const char* name, int64_t rows, int64_t columns, const Options& options) {
  if (rows < 0) throw Error("row must be non-negative, got" + std::to_string(rows));
  if (columns < 0) throw Error("col must be non-negative, got" + std::to_string(columns));
  const Dtype dtype = options.dtype.value_or(int64);
  if (dtype != int32 && dtype != int64) fail_no_code(name, dtype);
}

/// The columns from `begin` to before `end` of a row.
struct KeptColumns {
  int64_t begin, end;
};
/// The number of elements that tril keeps; `shift` is between -rows and columns.
int64_t lower_count(int64_t rows, int64_t columns, int64_t shift) {
  const int64_t all = numel_from(Checked(rows) * columns);
  if (all == 0) return 0;
  // exact: sizes of which the product is a number of elements
  const int64_t first = std::max<int64_t>(0, -shift), full = std::clamp(columns - shift - 1, first, rows);
  const int64_t partial = full - first;
  const Checked growing = Checked(partial) * (partial - 1);
  return numel_from(Checked(partial) * (first + shift + 1) +
                    growing.or_throw("numel: integer multiplication overflow") / 2 + Checked(rows - full) * columns);
}
constexpr int64_t kShortRun = 12;  // shorter runs are written by one loop (tril_indices(10, 10): 50 ns instead of 80)

/// Rows and columns of the `count` kept elements, row by row from row `first` on. `kept_in(row)`: KeptColumns. Most
/// columns of a row are copied from the row before.
template <class T, class KeptIn>
Tensor triangle_places(int64_t first, int64_t count, const KeptIn& kept_in) {
  const Tensor places = new_tensor({2, count}, dtype_of_v<T>, Device::cpu);
  if (count == 0) return places;
  T *to = static_cast<T*>(places.data_ptr()), *to_column = to + count;
  T* const end_of_rows = to_column;
  KeptColumns before{0, 0};
  for (int64_t row = first; to != end_of_rows; ++row) {
    check_interrupt();
    const KeptColumns kept = kept_in(row);
    const int64_t kept_count = std::max<int64_t>(kept.end - kept.begin, 0);
    const int64_t known = std::clamp<int64_t>(before.end - kept.begin, 0, kept_count);  // exact: places of columns
    if (known < kShortRun) {
      for (int64_t column = kept.begin; column < kept.end; ++column) {
        *to++ = static_cast<T>(row);
        *to_column++ = static_cast<T>(column);
      }
    } else {
      to = std::fill_n(to, kept_count, static_cast<T>(row));
      std::memcpy(to_column, to_column - (before.end - kept.begin), static_cast<std::size_t>(known) * sizeof(T));
      to_column += known;
      for (int64_t column = kept.begin + known; column < kept.end; ++column) *to_column++ = static_cast<T>(column);
    }
    before = kept;
  }
  return places;
}
template <class KeptIn>
Tensor triangle_places(int64_t first, int64_t count, const Options& options, const KeptIn& kept_in) {
  return options.dtype.value_or(int64) == int32 ? triangle_places<int32_t>(first, count, kept_in)
                                                : triangle_places<int64_t>(first, count, kept_in);
}

}  // namespace

Tensor tril_indices(int64_t row, int64_t col, int64_t offset, Options options) {
  check_triangle("tril_indices", row, col, options);
  const int64_t shift = std::clamp(offset, -row, col);  // exact below: of different signs, or at most row + col
  return triangle_places(std::max<int64_t>(-shift, 0), lower_count(row, col, shift), options,
                         [=](int64_t i) -> KeptColumns {
                           return {0, std::clamp<int64_t>(i + shift + 1, 0, col)};
                         });
}
Tensor triu_indices(int64_t row, int64_t col, int64_t offset, Options options) {
  check_triangle("triu_indices", row, col, options);
  const int64_t shift = std::clamp(offset, -row, col), below = shift == -row ? 0 : lower_count(row, col, shift - 1);
  return triangle_places(0, numel_from(Checked(row) * col) - below, options, [=](int64_t i) -> KeptColumns {
    return {std::clamp<int64_t>(i + shift, 0, col), col};
  });
}

Tensor empty_permuted(SizesView sizes, SizesView physical_layout, Options options) {
  const int64_t ndim = sizes.size();
  if (physical_layout.size() != ndim)
    throw Error("Number of dimensions in size does not match the length of the physical_layout; i.e. len(size) = " +
                std::to_string(ndim) +
                " is not equal to len(physical_layout) = " + std::to_string(physical_layout.size()));
  Dims physical, seen(ndim, 0);
  for (int64_t i = 0; i < ndim; ++i) {
    const int64_t dim = physical_layout[i];
    if (dim < 0 || dim >= ndim)
      throw Error("Dimension out of range (expected to be between 0 and " + std::to_string(ndim - 1) + ", but got " +
                  std::to_string(dim) + " at index " + std::to_string(i) +
                  ").  NB: negative dims not currently supported; file an issue if you want it.");
    if (seen[dim]++ > 0) throw Error("Duplicate dim not allowed");
    physical.push_back(sizes[dim]);
  }
  const Tensor result = empty(physical, options);
  Dims strides(ndim, 0);
  for (int64_t i = 0; i < ndim; ++i) strides[physical_layout[i]] = result.strides()[i];
  set_sizes_and_strides(result, sizes, strides);
  return result;
}

}  // namespace tenon
