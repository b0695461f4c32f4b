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
#include "kernel/kernel.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/cast.h"
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

// 16-bit floats that are converted by one call, and rows of which several are. Bench: ./dev bench-catalogue --filter
// cumprod.
constexpr int64_t kPiece = 256, kShortRow = 64;

template <class T>
void widen(float* to, const T* from, int64_t n) {
  cast_lanes(to, float32, from, dtype_of_v<T>, n);
}
template <class T>
void narrow(T* to, const float* from, int64_t n) {
  cast_lanes(to, dtype_of_v<T>, from, float32, n);
}

/// Steps along `n` elements of each of some rows, `stride` apart.
template <std::size_t kRows, class Step>
void step_rows(float* rows, int64_t stride, int64_t n, std::array<float, kRows>& so_far, const Step& step) {
  // exact: inside the rows
  for (int64_t i = 0; i < n; ++i)
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kRows; ++row) {
      float* const element = rows + static_cast<int64_t>(row) * stride + i;
      *element = so_far[row] = step(*element, so_far[row]);
    }
}
template <std::size_t kRows, class Step>
std::array<float, kRows> starts(const Step& step) {
  std::array<float, kRows> so_far;
  so_far.fill(step.template start<float>());
  return so_far;
}

/// Scans so many rows of `length` 16-bit floats at once, a piece at a time.
template <int64_t kRows, class T, class Step>
void scan_half_rows(const T* from, T* to, int64_t length, const Step& step) {
  float pieces[kRows * kPiece];
  auto so_far = starts<kRows>(step);
  // exact: inside the storage
  for (int64_t begin = 0; begin < length; begin += kPiece) {
    const int64_t n = std::min(kPiece, length - begin);
    for (int64_t row = 0; row < kRows; ++row) widen(pieces + row * kPiece, from + row * length + begin, n);
    step_rows(pieces, kPiece, n, so_far, step);
    for (int64_t row = 0; row < kRows; ++row) narrow(to + row * length + begin, pieces + row * kPiece, n);
  }
}
/// Scans short rows of 16-bit floats, several of which fill a piece.
template <class T, class Step>
void scan_short_half_rows(const T* from, T* to, int64_t rows, int64_t length, const Step& step) {
  float piece[kPiece];
  // exact: inside the storage
  for (int64_t count = kPiece / length / kRowsTogether * kRowsTogether; rows > 0;
       rows -= count, from += count * length, to += count * length) {
    count = std::min(count, rows);
    widen(piece, from, count * length);
    int64_t row = 0;
    for (; row + kRowsTogether <= count; row += kRowsTogether) {
      auto so_far = starts<kRowsTogether>(step);
      step_rows(piece + row * length, length, length, so_far, step);
    }
    for (; row < count; ++row) {
      auto so_far = starts<1>(step);
      step_rows(piece + row * length, length, length, so_far, step);
    }
    narrow(to, piece, count * length);
  }
}
/// Scans `length` rows of 16-bit floats, element by element.
template <class T, class Step>
void scan_half_columns(const T* from, T* to, float* so_far, int64_t length, int64_t columns, const Step& step) {
  float piece[kPiece];
  const int64_t rows = std::max<int64_t>(kPiece / columns, 1), width = std::min(columns, kPiece);
  // exact: inside the storage
  for (int64_t row = 0; row < length; row += rows)
    for (int64_t column = 0; column < columns; column += width) {
      const int64_t count = std::min(rows, length - row), n = std::min(width, columns - column),
                    at = row * columns + column;
      widen(piece, from + at, count * n);  // one row, or all columns
      for (int64_t i = 0; i < count; ++i)
        for (int64_t k = 0; k < n; ++k) {
          float& element = piece[i * n + k];
          element = so_far[column + k] = step(element, so_far[column + k]);
        }
      narrow(to + at, piece, count * n);
    }
}

/// So many rows of `length` elements at once, because each step of one row waits for the one before.
template <int64_t kRows, class T, class Step>
void scan_rows(const T* from, T* to, int64_t length, const Step& step) {
  if constexpr (is_half_v<T>) return scan_half_rows<kRows>(from, to, length, step);
  std::array<Carried<T>, kRows> so_far;
  so_far.fill(step.template start<Carried<T>>());
  for (int64_t i = 0; i < length; ++i)
#pragma GCC unroll 4
    for (std::size_t row = 0; row < kRows; ++row) {
      const int64_t at = static_cast<int64_t>(row) * length + i;  // exact: inside the storage
      to[at] = stored<T>(so_far[row] = step(loaded(from[at]), so_far[row]));
    }
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

// Columns that are worth calls of the elementwise kernel, and so many that a row of them stays in the first cache.
constexpr int64_t kFewestColumns = 16, kColumnsTogether = 1 << 11;

/// Whether products so far are rows of the result: nothing wider is carried.
template <class T, class Step>
constexpr bool kMultipliesRows = std::is_same_v<Step, Times> &&
                                 (std::is_same_v<T, double> || std::is_same_v<T, int64_t>);
/// The products of `length` rows so far. `from` may be `to`.
template <class T>
void multiply_rows(const T* from, T* to, int64_t length, int64_t columns) {
  const Kernel multiply = kernel_of(Op::mul, dtype_of_v<T>);
  // exact: inside the storages
  for (int64_t first = 0; first < columns; first += kColumnsTogether) {
    const int64_t n = std::min(kColumnsTogether, columns - first);
    if (from != to) std::copy_n(from + first, n, to + first);
    for (int64_t row = 1; row < length; ++row) {
      T* const product = to + row * columns + first;
      const Lanes factors[] = {{from + row * columns + first, 1}, {product - columns, 1}};
      multiply(product, factors, n);
    }
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
            if constexpr (is_half_v<T>)
              if (inner == 1 && length <= kShortRow)
                return scan_short_half_rows(from + i * length, to + i * length, end - i, length, step);
            for (; inner == 1 && i + kRowsTogether <= end; i += kRowsTogether)
              scan_rows<kRowsTogether>(from + i * length, to + i * length, length, step);
            for (; inner == 1 && i < end; ++i) scan_rows<1>(from + i * length, to + i * length, length, step);
            auto* const so_far = reinterpret_cast<Carried<T>*>(scratch.data());
            for (; i < end; ++i) {
              if constexpr (kMultipliesRows<T, Step>)
                if (inner >= kFewestColumns) {
                  multiply_rows(from + i * block, to + i * block, length, inner);
                  continue;
                }
              std::fill_n(so_far, inner, step.template start<Carried<T>>());
              if constexpr (is_half_v<T>) {
                scan_half_columns(from + i * block, to + i * block, so_far, length, inner, step);
                continue;
              }
              for (int64_t at = i * block; at < (i + 1) * block;)
                for (int64_t k = 0; k < inner; ++k, ++at)
                  to[at] = stored<T>(so_far[k] = step(loaded(from[at]), so_far[k]));
            }
          });
    }
  });
}

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
