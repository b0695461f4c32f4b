// Distances of vectors, and statistics of several variables. PyTorch: Distance.cpp, Correlation.cpp, Normalization.cpp
// and `trace_cpu`.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <type_traits>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "kernel/kernel.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "tile/scratch.h"
#include "type/visit.h"

namespace tenon {
namespace {

std::string text(int64_t number) { return std::to_string(number); }

void check_same_dtype(const Tensor& a, const Tensor& b) {
  if (a.dtype() != b.dtype())
    throw Error(std::string("expected scalar type ") + scalar_type_name(a.dtype()) + " but found " +
                scalar_type_name(b.dtype()));
}

}  // namespace

// --- dist

Tensor plain::dist(const Tensor& self, const Tensor& other, Scalar p) {
  const Tensor apart = tenon::sub(self.detach(), other.detach());
  if (!is_inexact(apart.dtype()))
    throw Error(std::string("norm(): input dtype should be either floating point or complex. Got ") +
                scalar_type_name(apart.dtype()) + " instead.");
  return tenon::linalg_vector_norm(apart, p);
}

// --- cdist

namespace {

void check_cdist(const Tensor& x1, const Tensor& x2, double p, std::optional<int64_t> mode) {
  if (x1.dim() < 2) throw Error("cdist only supports at least 2D tensors, X1 got: " + text(x1.dim()) + "D");
  if (x2.dim() < 2) throw Error("cdist only supports at least 2D tensors, X2 got: " + text(x2.dim()) + "D");
  if (x1.size(-1) != x2.size(-1))
    throw Error("X1 and X2 must have the same number of columns. X1: " + text(x1.size(-1)) +
                " X2: " + text(x2.size(-1)));
  const auto check = [](const Tensor& x, const char* name) {
    if (!is_floating_point(x.dtype()))
      throw Error(std::string("cdist only supports floating-point dtypes, ") + name +
                  " got: " + scalar_type_name(x.dtype()));
  };
  check(x1, "X1");
  check(x2, "X2");
  if (!(p >= 0)) throw Error("cdist only supports non-negative p values");
  if (mode && (*mode < 0 || *mode > 2)) throw Error("possible modes: 0, 1, 2, but was: " + text(*mode));
}

/// How rows are compared with norm `p`; none of most norms.
std::optional<Apart> apart_of(double p) {
  if (p == 0) return Apart::differing;
  if (p == 1) return Apart::sum;
  if (p == 2) return Apart::euclidean;
  return std::isinf(p) ? std::optional(Apart::largest) : std::nullopt;
}
template <class T>
DistanceKernel<T> kernel_for(Apart apart) {
  const DistanceKernels& distances = kernels().distances;
  if constexpr (std::is_same_v<T, float>)
    return distances.float32[static_cast<int>(apart)];
  else
    return distances.float64[static_cast<int>(apart)];
}

/// Rows of `n` elements, which follow each other.
template <class T>
struct Rows {
  const T* data;
  int64_t count, n;

  // exact: inside the storage
  const T* operator[](int64_t row) const { return data + row * n; }
};

/// A block of rows for a DistanceKernel: their elements lie side by side.
template <class T>
class Block {
 public:
  explicit Block(int64_t n) : memory_(numel_from(Checked(n) * kColumnsBeside) * int64_t{sizeof(T)}) {}
  T* data() { return reinterpret_cast<T*>(memory_.data()); }
  void fill(const Rows<T>& rows, int64_t first, int64_t count) {
    // exact: inside the block
    if (count < kColumnsBeside) std::fill_n(data(), rows.n * kColumnsBeside, T{0});
    kernels().move[std::countr_zero(sizeof(T))].transpose(data(), kColumnsBeside, rows[first], rows.n, rows.n, count);
  }

 private:
  Scratch memory_;
};

/// Writes the distances of rows [first, last) from those of a block, of which `count` are wanted: those from a row on
/// to `to(row)`, beginning with the block's `from(row)`.
template <class T, class To, class From>
void write_block(DistanceKernel<T> kernel, const Rows<T>& rows, int64_t first, int64_t last, const T* block,
                 int64_t count, const To& to, const From& from) {
  for (int64_t row = first; row < last; row += kRowsBeside) {
    check_interrupt();
    alignas(64) T parts[kRowsBeside][kColumnsBeside];
    T* written[kRowsBeside];
    const T* read[kRowsBeside];
    for (int64_t i = 0; i < kRowsBeside; ++i) {
      const int64_t place = std::min(row + i, last - 1);
      const bool is_whole = row + i < last && count == kColumnsBeside && from(place) == 0;
      written[i] = is_whole ? to(place) : parts[i];
      read[i] = rows[place];
    }
    kernel(written, read, block, rows.n);
    for (int64_t i = 0; i < std::min(kRowsBeside, last - row); ++i)
      if (const int64_t begin = from(row + i); written[i] == parts[i] && begin < count)
        std::copy(parts[i] + begin, parts[i] + count, to(row + i));
  }
}

// Elements of powers that are computed at once: they stay in the cache.
constexpr int64_t kPowers = 2048;

/// Writes x^p of `n` numbers over them.
template <class T>
void raise(T* numbers, int64_t n, double p) {
  const auto power = static_cast<T>(p);
  const Lanes operands[] = {{numbers, 1}, {&power, 0}};
  kernel_of(Op::pow, dtype_of_v<T>)(numbers, operands, n);
}
/// Of term(0) to term(n - 1), in lanes side by side. Sums of a few terms are added up: as exact as pairwise sums for
/// rows of up to the square of a block.
template <class T, class Term>
T sum_of(int64_t n, const Term& term) {
  constexpr int64_t kLanes = 16, kBlock = 64 * kLanes;
  T totals[kLanes] = {};
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    T sums[kLanes] = {};
    int64_t i = begin;
    const int64_t end = std::min(n, begin + kBlock);
    for (; i + kLanes <= end; i += kLanes)
#pragma GCC unroll 16
      for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(i + lane);
    for (int64_t lane = 0; i < end; ++lane, ++i) sums[lane] += term(i);
#pragma GCC unroll 16
    for (int64_t lane = 0; lane < kLanes; ++lane) totals[lane] += sums[lane];
  }
  for (int64_t half = kLanes / 2; half > 0; half /= 2)
    for (int64_t lane = 0; lane < half; ++lane) totals[lane] += totals[lane + half];
  return totals[0];
}
/// The distance of two rows.
template <class T>
T distance_along(Apart apart, const T* a, const T* b, int64_t n) {
  const auto difference = [=](int64_t i) { return std::abs(a[i] - b[i]); };
  switch (apart) {
    case Apart::differing:
      return sum_of<T>(n, [&](int64_t i) { return difference(i) > 0 ? T{1} : difference(i); });
    case Apart::sum:
      return sum_of<T>(n, difference);
    case Apart::euclidean:
      return std::sqrt(sum_of<T>(n, [&](int64_t i) { return difference(i) * difference(i); }));
    case Apart::largest:
      break;
  }
  using Bits = std::conditional_t<sizeof(T) == sizeof(int32_t), int32_t, int64_t>;
  Bits largest = 0;  // bits of positive numbers have the order of the numbers; NaN is above all
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::bit_cast<Bits>(difference(i)));
  return std::bit_cast<T>(largest);
}
/// Writes the norms with any ord `p` of the differences of a row and others, from `first` on.
template <class T>
void write_powers(T* to, const T* row, const Rows<T>& others, int64_t first, double p, T* terms) {
  const int64_t n = others.n, together = std::max<int64_t>(kPowers / n, 1), count = others.count - first;
  // exact: inside the storages and the scratch
  for (int64_t begin = 0; begin < count; begin += together) {
    const int64_t rows = std::min(together, count - begin);
    for (int64_t i = 0; i < rows; ++i)
      for (int64_t j = 0; j < n; ++j) terms[i * n + j] = std::abs(row[j] - others[first + begin + i][j]);
    raise(terms, rows * n, p);
    for (int64_t i = 0; i < rows; ++i) {
      const T* const of_row = terms + i * n;
      to[begin + i] = sum_of<T>(n, [of_row](int64_t j) { return of_row[j]; });
    }
  }
  raise(to, count, 1 / p);
}
template <class T>
int64_t power_bytes(int64_t n) {
  return std::max(n, kPowers) * int64_t{sizeof(T)};  // exact: a row in memory
}

// Fewer long rows are compared along their elements: lanes of a block would be empty.
constexpr int64_t kFewRows = 4, kLongRow = 16;
/// Rows that a thread compares with one block.
constexpr int64_t kRowsOfPart = 256;

/// Of all rows of two batches of matrices: row-major, of one dtype and one number of matrices.
template <class T>
void write_distances(const Tensor& x1, const Tensor& x2, const Tensor& result, double p) {
  const int64_t rows = x1.size(-2), columns = x2.size(-2), n = x1.size(-1), matrices = result.numel() / columns / rows;
  T* const to = reinterpret_cast<T*>(result.impl()->data());
  // exact: inside the storages
  const auto matrix = [n](const Tensor& x, int64_t i, int64_t count) {
    return Rows<T>{reinterpret_cast<const T*>(x.impl()->data()) + i * count * n, count, n};
  };
  note_course({.route = "distances", .stores = "in place"});
  const std::optional<Apart> apart = apart_of(p);
  if (apart && std::min(rows, columns) < kFewRows && n >= kLongRow)
    return run_or_plan(to, matrices * rows, [&](int64_t row) {
      check_interrupt();
      const Rows<T> others = matrix(x2, row / rows, columns);
      const T* const own = matrix(x1, 0, rows)[row];
      for (int64_t column = 0; column < columns; ++column)
        to[row * columns + column] = distance_along(*apart, own, others[column], n);
    });
  if (apart) {
    const DistanceKernel<T> kernel = kernel_for<T>(*apart);
    const int64_t blocks = (columns + kColumnsBeside - 1) / kColumnsBeside;
    const int64_t parts = (rows + kRowsOfPart - 1) / kRowsOfPart;
    return run_or_plan(
        to, matrices * blocks * parts, [n] { return Block<T>(n); },
        [&](Block<T>& block, int64_t part) {
          const int64_t i = part / (blocks * parts), column = part / parts % blocks * kColumnsBeside;
          const int64_t row = part % parts * kRowsOfPart, count = std::min(kColumnsBeside, columns - column);
          block.fill(matrix(x2, i, columns), column, count);
          write_block(
              kernel, matrix(x1, i, rows), row, std::min(row + kRowsOfPart, rows), block.data(), count,
              [&](int64_t at) { return to + (i * rows + at) * columns + column; }, [](int64_t) { return int64_t{0}; });
        });
  }
  run_or_plan(
      to, matrices * rows, [n] { return Scratch(power_bytes<T>(n)); },
      [&](Scratch& scratch, int64_t row) {
        check_interrupt();
        write_powers(to + row * columns, matrix(x1, 0, rows)[row], matrix(x2, row / rows, columns), 0, p,
                     reinterpret_cast<T*>(scratch.data()));
      });
}

/// By one matrix product, for many rows: the square of a difference is the squares less twice the product.
Tensor distances_by_product(const Tensor& x1, const Tensor& x2) {
  const auto squares = [](const Tensor& x) { return tenon::sum(x * x, -1, true); };
  if (widened(x1.dtype()) != x1.dtype()) {  // the product adds the squares, too: it is rounded once, as in PyTorch
    const Tensor of1 = squares(x1), of2 = squares(x2);
    const Tensor left = tenon::cat({x1 * -2, of1, ones(of1.sizes(), Options(of1.dtype()))}, -1);
    const Tensor right = tenon::cat({x2, ones(of2.sizes(), Options(of2.dtype())), of2}, -1);
    return tenon::matmul(left, right.mT()).clamp_min_(0).sqrt_();
  }
  const Tensor products = tenon::matmul(x1 * -2, x2.mT());
  Tensor sums = products + squares(x1) + squares(x2).mT();
  return sums.clamp_min_(0).sqrt_();
}

// From so many rows on PyTorch multiplies.
constexpr int64_t kManyRows = 25;

}  // namespace

Tensor plain::cdist(const Tensor& x1_arg, const Tensor& x2_arg, double p, std::optional<int64_t> compute_mode) {
  check_cdist(x1_arg, x2_arg, p, compute_mode);
  check_device(x2_arg, x1_arg.device());
  const auto batch_of = [](const Tensor& x) { return SizesView(x.sizes().data(), x.dim() - 2); };
  const Dims batch = infer_size(batch_of(x1_arg), batch_of(x2_arg));
  const auto expanded = [&](const Tensor& x) {
    Dims sizes = SizesView(batch).copy();
    sizes.push_back(x.size(-2));
    sizes.push_back(x.size(-1));
    return x.detach().expand(sizes).contiguous();
  };
  const Tensor x1 = expanded(x1_arg), x2 = expanded(x2_arg);
  const int64_t mode = compute_mode.value_or(0), rows = x1.size(-2), columns = x2.size(-2);
  Dims sizes = SizesView(batch).copy();
  sizes.push_back(rows);
  sizes.push_back(columns);
  const Tensor result = new_tensor(sizes, x1.dtype(), x1.device());
  if (has_no_work(result.numel(), result.data_ptr())) return result;
  if (x1.size(-1) == 0) {
    write_fill(result, 0);
    return result;
  }
  if (p == 2 && (mode == 1 || (mode == 0 && (rows > kManyRows || columns > kManyRows)))) {
    check_same_dtype(x1, x2);
    return distances_by_product(x1, x2);
  }
  if (is_computed(x1)) check_has_code(row_of(Op::cdist), x1.dtype());
  check_same_dtype(x1, x2);
  visit_dtype(x1.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) write_distances<T>(x1, x2, result, p);
  });
  return result;
}

namespace {

/// Of each row of a row-major matrix to those behind it.
template <class T>
void write_pairs(const Tensor& self, const Tensor& result, double p) {
  const Rows<T> rows{reinterpret_cast<const T*>(self.impl()->data()), self.size(0), self.size(1)};
  T* const to = reinterpret_cast<T*>(result.impl()->data());
  // exact: inside the storages
  const auto first_pair = [&](int64_t row) { return row * rows.count - row * (row + 1) / 2; };
  const std::optional<Apart> apart = apart_of(p);
  if (apart && rows.count < kColumnsBeside && rows.n >= kLongRow)
    return run_or_plan(to, rows.count - 1, [&](int64_t row) {
      check_interrupt();
      for (int64_t other = row + 1; other < rows.count; ++other)
        to[first_pair(row) + other - row - 1] = distance_along(*apart, rows[row], rows[other], rows.n);
    });
  if (apart) {
    const DistanceKernel<T> kernel = kernel_for<T>(*apart);
    return run_or_plan(
        to, (rows.count + kColumnsBeside - 1) / kColumnsBeside, [&] { return Block<T>(rows.n); },
        [&](Block<T>& block, int64_t part) {
          // The block that is not full is the first: it has the fewest pairs.
          const int64_t end = rows.count - part * kColumnsBeside, column = std::max<int64_t>(end - kColumnsBeside, 0);
          const int64_t count = end - column;
          block.fill(rows, column, count);
          const auto from = [column](int64_t row) { return std::max<int64_t>(row + 1 - column, 0); };
          write_block(
              kernel, rows, 0, column + count - 1, block.data(), count,
              [&](int64_t row) { return to + first_pair(row) + column + from(row) - row - 1; }, from);
        });
  }
  run_or_plan(
      to, rows.count - 1, [&] { return Scratch(power_bytes<T>(rows.n)); },
      [&](Scratch& scratch, int64_t row) {
        check_interrupt();
        write_powers(to + first_pair(row), rows[row], rows, row + 1, p, reinterpret_cast<T*>(scratch.data()));
      });
}
Tensor distances_of_pairs(const Tensor& self, double p) {
  const int64_t rows = self.size(0);
  const Tensor result = new_tensor({numel_from(Checked(rows) * (rows - 1)) / 2}, self.dtype(), self.device());
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) write_pairs<T>(self, result, p);
  });
  return result;
}

}  // namespace

Tensor plain::pdist(const Tensor& self, double p) {
  if (self.dim() != 2) throw Error("pdist only supports 2D tensors, got: " + text(self.dim()) + "D");
  if (!is_floating_point(self.dtype())) throw Error("pdist only supports floating-point dtypes");
  if (!(p >= 0)) throw Error("pdist only supports non-negative p values");
  const int64_t rows = self.size(0);
  if (rows < 2) return self.as_strided({0}, {1}).clone();  // it has a gradient: zeros
  if (self.size(1) == 0)
    return zeros({numel_from(Checked(rows) * (rows - 1)) / 2}, Options(self.dtype(), self.device()));
  if (!self.is_meta()) check_has_code(row_of(Op::pdist), self.dtype());
  if (!is_recorded(self) && is_computed(self)) return distances_of_pairs(self.detach().contiguous(), p);
  List<Tensor> parts;
  for (int64_t row = 0; row + 1 < rows; ++row)
    parts.push_back(tenon::linalg_vector_norm(self.narrow(0, row + 1, rows - row - 1) - self.select(0, row), p, 1));
  return tenon::cat(parts);
}

Tensor plain::pairwise_distance(const Tensor& x1, const Tensor& x2, double p, double eps, bool keepdim) {
  const int64_t last = std::max(x1.dim(), x2.dim()) - 1;
  return tenon::norm(x1 - x2 + eps, Scalar(p), last, keepdim);
}

Tensor plain::cosine_similarity(const Tensor& x1, const Tensor& x2, int64_t dim, double eps) {
  const Dtype dtype = tenon::result_type(x1, x2);
  if (!is_floating_point(dtype))
    throw Error(std::string("expected common dtype to be floating point, yet common dtype is ") +
                scalar_type_name(dtype));
  if (eps < 0) {
    char number[32];
    std::snprintf(number, sizeof number, "%g", eps);
    throw Error(std::string("eps must be non-negative, got: ") + number);
  }
  const auto floating = [dtype](const Tensor& x) { return is_inexact(x.dtype()) ? x : x.to(dtype); };
  const Dims shape = infer_size(x1.sizes(), x2.sizes());
  const Tensor a = floating(x1).expand(shape), b = floating(x2).expand(shape);
  const auto norm_of = [&](const Tensor& x) {
    const Tensor norm = tenon::linalg_vector_norm(x, 2, dim, true).clone();
    Tensor numbers = norm.detach();  // the gradient is that of the norm itself
    numbers.clamp_min_(eps);
    return norm;
  };
  return ((a / norm_of(a)) * (b / norm_of(b))).sum(dim);
}

// --- cov

namespace {

void check_weights(const Tensor& weights, const char* name, bool has_right_dtype, const char* kind,
                   int64_t observations) {
  const std::string begin = "cov(): expected " + std::string(name) + " to have ";
  if (weights.dim() > 1)
    throw Error(begin + "one or fewer dimensions but got " + name + " with " + text(weights.dim()) + " dimensions");
  if (!has_right_dtype)
    throw Error(begin + kind + " dtype but got " + name + " with " + scalar_type_name(weights.dtype()) + " dtype");
  if (weights.numel() != observations)
    throw Error(begin + "the same numel as there are observations in the input but got " + text(weights.numel()) +
                " != " + text(observations));
  if (observations > 0 && !tenon::ge(tenon::min(weights.detach()), 0).item().as_bool())  // NaN is refused, too
    throw Error(std::string("cov(): ") + name + " cannot be negative");
}

bool is_whole(Dtype dtype) { return !is_inexact(dtype) && dtype != bool_; }

/// The factor by which sums of products are divided.
Tensor divisor(const Tensor& weights, const Tensor& aweights, const Tensor& sum, int64_t correction) {
  const Tensor freedom = weights.defined() && aweights.defined() && correction != 0
                             ? sum - static_cast<double>(correction) * (weights * aweights).sum() / sum
                             : sum - correction;
  if (!tenon::le(freedom.detach(), 0).item().as_bool()) return freedom;
  warn("UserWarning",
       "cov(): degrees of freedom is <= 0. Correction should be strictly less than the number of observations.");
  return zeros({}, Options(freedom.dtype(), freedom.device()));
}

}  // namespace

Tensor plain::cov(const Tensor& self, int64_t correction, const Tensor& fweights, const Tensor& aweights) {
  if (self.dim() > 2)
    throw Error("cov(): expected input to have two or fewer dimensions but got an input with " + text(self.dim()) +
                " dimensions");
  if (self.dtype() == bool_) throw Error("cov(): bool dtype is not supported for input");
  check_readable(self);
  const Tensor rows = self.dim() < 2 ? self.view({1, self.numel()}) : self;
  const int64_t observations = rows.size(1);
  Tensor weights;
  if (fweights.defined()) {
    check_weights(fweights, "fweights", is_whole(fweights.dtype()), "integral", observations);
    weights = fweights;
  }
  if (aweights.defined()) {
    check_weights(aweights, "aweights", is_floating_point(aweights.dtype()), "floating point", observations);
    weights = weights.defined() ? weights * aweights : aweights;
  }
  const Tensor sum = weights.defined() ? tenon::sum(weights) : full({}, observations, Options(int64));
  if (weights.defined() && !tenon::ne(sum.detach(), 0).item().as_bool())
    throw Error("cov(): weights sum to zero, can't be normalized");
  const auto weighted = [&](const Tensor& x) { return weights.defined() ? x * weights : x; };
  const Tensor mean = weighted(rows).sum(1) / sum, factor = divisor(weights, aweights, sum, correction);
  const Tensor apart = rows - mean.unsqueeze(1);
  return (tenon::mm(apart, conj(weighted(apart).t())) / factor).squeeze();
}

Tensor plain::corrcoef(const Tensor& self) {
  if (self.dim() > 2)
    throw Error("corrcoef(): expected input to have two or fewer dimensions but got an input with " + text(self.dim()) +
                " dimensions");
  const Tensor all = tenon::cov(self);
  if (all.dim() == 0) return all.div(all);
  const Tensor own = tenon::diag(all);
  const Tensor spread = tenon::sqrt(is_complex(own.dtype()) ? real(own) : own);
  const Tensor scaled = all / spread.view({spread.numel(), 1}) / spread.view({1, spread.numel()});
  const auto limited = [](const Tensor& x) { return tenon::clamp(x, -1, 1); };
  return is_complex(scaled.dtype()) ? tenon::complex(limited(real(scaled)), limited(imag(scaled))) : limited(scaled);
}

// --- renorm

namespace {

void check_renorm(const Tensor& self, Scalar p, Scalar maxnorm) {
  if (p.is_complex()) throw Error("renorm: p must be real-valued");
  if (!(p.to<double>() > 0)) throw Error("renorm: non-positive-norm not supported");
  if (maxnorm.is_complex()) throw Error("renorm: maxnorm must be real-valued");
  if (!(maxnorm.to<double>() >= 0)) {
    char number[32];
    std::snprintf(number, sizeof number, "%g", maxnorm.to<double>());
    throw Error(std::string("renorm: expected maxnorm to be >= 0 but got ") + number);
  }
  if (self.dim() < 2) throw Error("renorm: input needs at least 2 dimensions, got " + text(self.dim()) + " dimensions");
}

/// In which PyTorch computes norms.
Dtype wider(Dtype dtype) {
  if (is_complex(dtype)) return complex128;
  return dtype == float16 || dtype == bfloat16 ? float32 : is_floating_point(dtype) ? float64 : dtype;
}

Tensor renormed(const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  const int64_t along = wrap_dim(dim, self.dim());
  const Tensor plain = self.detach();
  Tensor result = new_tensor(self.sizes(), self.dtype(), self.device());
  Dims others;
  for (int64_t i = 0; i < self.dim(); ++i)
    if (i != along) others.push_back(i);
  if (!is_inexact(self.dtype())) (void)tenon::linalg_vector_norm(plain, p, SizesView(others), true);  // throws
  const Tensor norm = tenon::linalg_vector_norm(plain, p, SizesView(others), true, wider(self.dtype()));
  if (!is_computed(self)) return result;
  const double limit = maxnorm.to<double>();
  const Tensor factor = tenon::where(norm > limit, limit / (norm + 1e-7), 1);
  tenon::mul_out(result, plain, factor.to(to_real(self.dtype())));
  forget_writes(result);
  return result;
}

}  // namespace

Tensor plain::renorm(const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  check_renorm(self, p, maxnorm);
  return renormed(self, p, dim, maxnorm);
}
Tensor& plain::renorm_out(Tensor& out, const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  check_unrecorded(Op::renorm, out, self);
  check_renorm(self, p, maxnorm);
  check_strict_out(out, self.dtype());
  return write_result(Op::renorm, out, renormed(self, p, dim, maxnorm));
}
void plain::renorm_inplace(const Tensor& self, Scalar p, int64_t dim, Scalar maxnorm) {
  check_renorm(self, p, maxnorm);
  run_copy(self, renormed(self, p, dim, maxnorm));
}

// --- trace

namespace {

/// A contiguous copy of the diagonal, for which a sum needs no plan. Bench: tenon_bench --ops --filter 'ops/trace'.
constexpr int64_t kFewOnDiagonal = 1024;
Tensor diagonal_of(const Tensor& self) {
  const int64_t numel = std::min(self.size(0), self.size(1));
  if (self.is_meta() || numel == 0 || numel > kFewOnDiagonal) return self.detach().diagonal();
  const Tensor result = new_tensor({numel}, self.dtype());
  const int shift = std::countr_zero(static_cast<uint64_t>(self.itemsize()));
  const int64_t step = numel > 1 ? self.stride(0) + self.stride(1) : 0;  // exact: to the second of them
  kernels().move[shift].gather(result.data_ptr(), self.data_ptr(), step, numel, 0, 1);
  return result;
}

}  // namespace

Tensor plain::trace(const Tensor& self) {
  if (is_computed(self)) check_has_code(row_of(Op::trace), self.dtype());
  if (self.dim() != 2)
    throw Error(std::string(is_computed(self) ? "trace: " : "") + "expected a matrix, but got tensor with dim " +
                text(self.dim()));
  return tenon::sum(diagonal_of(self), DimsArg(), false, std::nullopt);
}

}  // namespace tenon
