// Products, and logarithms of sums of exponentials, of all elements so far along one dim. In PyTorch's order, and in
// its dtypes: float32 for 16-bit floats, float64 for wider ones. PyTorch: `cumprod_cpu_kernel`,
// `logcumsumexp_cpu_kernel`.
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <limits>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"
#include "type/visit.h"

namespace tenon {
namespace {

// Elements of a thread's part: work that is smaller stays on the caller.
constexpr int64_t kPartElements = 1 << 14;

/// What is carried from one element to the next.
template <class T>
using Carried = std::conditional_t<
    is_complex_v<T>, std::complex<double>,
    std::conditional_t<std::is_integral_v<T>, uint64_t, std::conditional_t<is_half_v<T>, float, double>>>;

template <class T>
Carried<T> loaded(T element) {
  if constexpr (is_complex_v<T>)
    return {static_cast<double>(element.re), static_cast<double>(element.im)};
  else
    return element_cast<Carried<T>>(element);
}
template <class T>
T stored(Carried<T> value) {
  if constexpr (is_complex_v<T>) {
    using Part = typename T::value_type;
    return {static_cast<Part>(value.real()), static_cast<Part>(value.imag())};
  } else if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(value);
  } else {
    return element_cast<T>(value);
  }
}

constexpr int64_t kRowsTogether = 4;

/// So many rows of `length` elements at once, because each step of one row waits for the one before.
template <int64_t kRows, class T, class Step>
void scan_rows(const T* from, T* to, int64_t length, const Step& step) {
  std::array<Carried<T>, kRows> so_far;
  so_far.fill(step.template start<Carried<T>>());
  for (int64_t i = 0; i < length; ++i)
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kRows; ++row) {
      const int64_t at = static_cast<int64_t>(row) * length + i;  // exact: inside the storage
      to[at] = stored<T>(so_far[row] = step(loaded(from[at]), so_far[row]));
    }
}

/// Calls `to[i] = so_far = step(from[i], so_far)` along `dim` of a row-major tensor with elements.
template <class Step>
void scan(const Tensor& self, const Tensor& result, int64_t dim, const Step& step) {
  // exact: parts of the number of elements
  int64_t outer = 1, inner = 1;
  const int64_t length = self.sizes()[dim];
  for (int64_t i = 0; i < dim; ++i) outer *= self.sizes()[i];
  for (int64_t i = dim + 1; i < self.dim(); ++i) inner *= self.sizes()[i];
  const int64_t block = length * inner, rows_of_thread = outer / get_num_threads();
  const int64_t together = std::max({kPartElements / block, std::min(rows_of_thread, kRowsTogether), int64_t{1}});
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (!std::is_same_v<T, bool>) {
      const int64_t kept = inner * static_cast<int64_t>(sizeof(Carried<T>));
      if (CourseRecord::now()) [[unlikely]]
        note_course({.route = inner == 1 ? "along" : "across", .stores = "in place", .scratch_bytes = kept});
      const T* const from = reinterpret_cast<const T*>(self.impl()->data());
      T* const to = reinterpret_cast<T*>(result.impl()->data());
      run_or_plan(
          to, (outer + together - 1) / together, [&] { return Scratch(kept); },
          [&](Scratch& scratch, int64_t part) {
            check_interrupt();
            int64_t i = part * together;
            const int64_t end = std::min(outer, i + together);
            for (; inner == 1 && i + kRowsTogether <= end; i += kRowsTogether)
              scan_rows<kRowsTogether>(from + i * length, to + i * length, length, step);
            for (; inner == 1 && i < end; ++i) scan_rows<1>(from + i * length, to + i * length, length, step);
            auto* const so_far = reinterpret_cast<Carried<T>*>(scratch.data());
            for (; i < end; ++i) {
              std::fill_n(so_far, inner, step.template start<Carried<T>>());
              for (int64_t at = i * block; at < (i + 1) * block;)
                for (int64_t k = 0; k < inner; ++k, ++at)
                  to[at] = stored<T>(so_far[k] = step(loaded(from[at]), so_far[k]));
            }
          });
    }
  });
}

struct Times {
  template <class C>
  C start() const {
    return C(1);
  }
  template <class C>
  C operator()(C element, C so_far) const {
    return element * so_far;
  }
  // Without the special cases of C++'s product, as in PyTorch.
  std::complex<double> operator()(std::complex<double> a, std::complex<double> b) const {
    return {a.real() * b.real() - a.imag() * b.imag(), a.real() * b.imag() + a.imag() * b.real()};
  }
};

struct AddExponential {
  template <class C>
  C start() const {
    return C(-std::numeric_limits<double>::infinity());
  }
  template <class C>
  C operator()(C element, C so_far) const {
    if constexpr (std::is_integral_v<C>)
      return so_far;  // refused
    else if constexpr (std::is_floating_point_v<C>)
      return of_reals(element, so_far);
    else
      return of_numbers(element, so_far);
  }

 private:
  template <class C>
  static C of_reals(C x, C y) {
    const C low = std::isnan(y) ? y : std::min(x, y), high = std::isnan(y) ? y : std::max(x, y);
    if (low == high && !std::isfinite(low)) return x;
    return std::log1p(std::exp(low - high)) + high;
  }
  using Number = std::complex<double>;
  static bool has_nan(Number x) { return std::isnan(x.real()) || std::isnan(x.imag()); }
  static Number of_numbers(Number x, Number y) {
    if (has_nan(x) || has_nan(y)) return {std::nan(""), std::nan("")};
    const Number low = x.real() < y.real() ? x : y, high = x.real() < y.real() ? y : x;
    if (!std::isfinite(high.real()) && low.real() == high.real())
      return high.real() < 0 ? low : std::log(std::exp(low) + std::exp(high));
    const Number power = std::exp(low - high);
    // log1p of a complex number, without loss near 0.
    const double re = power.real(), im = power.imag(), square = (2 + re) * re + im * im;
    return Number(std::log1p(square) / 2, std::atan2(im, 1 + re)) + high;
  }
};

Tensor row_major(const Tensor& self, Dtype dtype) {
  return self.dtype() == dtype && self.is_contiguous() ? self : run_to(self, dtype, MemoryFormat::contiguous);
}

// --- cumprod

Tensor products(const Tensor& self, int64_t dim, Dtype dtype) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (self.dim() == 0 || self.numel() == 0 || !is_computed(self)) return run_to(self, dtype, MemoryFormat::contiguous);
  check_has_code(row_of(Op::cumprod), dtype);
  const Tensor rows = row_major(self, dtype);
  const Tensor result = rows.is(self) ? new_tensor(self.sizes(), dtype, self.device()) : rows;
  scan(rows, result, along, Times());
  return result;
}

// --- logcumsumexp

Tensor logarithms(const Tensor& self, int64_t dim) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (is_computed(self)) check_has_code(row_of(Op::logcumsumexp), self.dtype());
  if (self.dim() == 0 || self.numel() == 0 || !is_computed(self)) return run_clone(self, MemoryFormat::contiguous);
  const Tensor result = new_tensor(self.sizes(), self.dtype(), self.device());
  scan(row_major(self, self.dtype()), result, along, AddExponential());
  return result;
}

}  // namespace

Tensor plain::cumprod(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  const Dtype result = dtype ? *dtype : is_inexact(self.dtype()) ? self.dtype() : int64;
  wrap_dim(dim, self.dim());
  if (is_computed(self)) warn_of_lost_parts(self.dtype(), result, self.numel());
  return products(self, dim, result);
}

Tensor& plain::cumprod_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  check_unrecorded(Op::cumprod, out, self);
  wrap_dim(dim, self.dim());
  if (dtype) check_strict_out(out, *dtype);
  if (out.sizes() == self.sizes()) check_no_partial_overlap(out, self);
  return write_cast_result(Op::cumprod, out, self, [&] { return products(self, dim, out.dtype()); });
}

void plain::cumprod_inplace(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  wrap_dim(dim, self.dim());
  if (dtype && *dtype != self.dtype())
    throw Error(std::string("Bad in-place call: input tensor dtype ") + cpp_type_name(self.dtype()) +
                " and output tensor dtype " + cpp_type_name(*dtype) + " should match");
  run_copy(self, products(self, dim, self.dtype()));
}

Tensor plain::logcumsumexp(const Tensor& self, int64_t dim) { return logarithms(self, dim); }

Tensor& plain::logcumsumexp_out(Tensor& out, const Tensor& self, int64_t dim) {
  check_unrecorded(Op::logcumsumexp, out, self);
  if (out.dtype() != self.dtype())
    throw Error(std::string("expected scalar_type ") + scalar_type_name(self.dtype()) + " but found " +
                scalar_type_name(out.dtype()));
  if (out.sizes() == self.sizes()) check_no_partial_overlap(out, self);
  return write_result(Op::logcumsumexp, out, logarithms(self, dim));
}

}  // namespace tenon
