// Distances of vectors, and statistics of several variables. PyTorch: Distance.cpp, Correlation.cpp, Normalization.cpp
// and `trace_cpu`.
#include <cmath>
#include <cstdio>
#include <string>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tile/pool.h"
#include "tile/run.h"
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

/// The sum of `term` of each distance, in lanes side by side.
template <class T, class Term>
T sum_of(const T* a, const T* b, int64_t n, const Term& term) {
  constexpr int64_t kLanes = 8;
  T sums[kLanes] = {};
  int64_t i = 0;
  for (; i + kLanes <= n; i += kLanes)
#pragma GCC unroll 8
    for (int64_t lane = 0; lane < kLanes; ++lane) sums[lane] += term(std::abs(a[i + lane] - b[i + lane]));
  for (int64_t lane = 0; i < n; ++lane, ++i) sums[lane] += term(std::abs(a[i] - b[i]));
  return ((sums[0] + sums[4]) + (sums[2] + sums[6])) + ((sums[1] + sums[5]) + (sums[3] + sums[7]));
}

/// The norm with ord `p` of the difference of two rows.
template <class T>
T general_distance(const T* a, const T* b, int64_t n, double p) {
  T sum = 0;
  const auto power = static_cast<T>(p);
  for (int64_t i = 0; i < n; ++i) {
    const T apart = std::abs(a[i] - b[i]);
    if (std::isinf(p))
      sum = apart > sum || std::isnan(apart) ? apart : sum;
    else
      sum += std::pow(apart, power);
  }
  return std::isinf(p) ? sum : std::pow(sum, 1 / power);
}

/// Writes the distances of one row to `count` rows that follow each other.
template <class T>
void write_distances_of(T* to, const T* row, const T* others, int64_t count, int64_t n, double p) {
  const auto write = [&](const auto& distance) {
    for (int64_t i = 0; i < count; ++i) to[i] = distance(others + i * n);  // exact: inside the storages
  };
  if (p == 2)
    write([&](const T* other) { return std::sqrt(sum_of(row, other, n, [](T apart) { return apart * apart; })); });
  else if (p == 1)
    write([&](const T* other) { return sum_of(row, other, n, [](T apart) { return apart; }); });
  else if (p == 0)
    write([&](const T* other) { return sum_of(row, other, n, [](T apart) { return static_cast<T>(apart != 0); }); });
  else
    write([&](const T* other) { return general_distance(row, other, n, p); });
}

/// Of all rows of two batches of matrices: row-major, of one dtype and one number of matrices.
template <class T>
void write_distances(const Tensor& x1, const Tensor& x2, const Tensor& result, double p) {
  const int64_t rows = x1.size(-2), columns = x2.size(-2), n = x1.size(-1);
  const T* const a = reinterpret_cast<const T*>(x1.impl()->data());
  const T* const b = reinterpret_cast<const T*>(x2.impl()->data());
  T* const to = reinterpret_cast<T*>(result.impl()->data());
  const int64_t count = result.numel() / columns;
  note_course({.route = "distances", .stores = "in place"});
  run_or_plan(to, count, [&](int64_t row) {
    check_interrupt();
    // exact: inside the storages
    const T* const other = b + row / rows * columns * n;
    write_distances_of(to + row * columns, a + row * n, other, columns, n, p);
  });
}

/// By one matrix product, for many rows: the square of a difference is the squares less twice the product.
Tensor distances_by_product(const Tensor& x1, const Tensor& x2) {
  const auto squares = [](const Tensor& x) { return tenon::sum(x * x, -1, true); };
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
  if (is_computed(x1)) check_has_code(row_of(Op::cdist), x1.dtype());
  check_same_dtype(x1, x2);
  if (p == 2 && (mode == 1 || (mode == 0 && (rows > kManyRows || columns > kManyRows))))
    return distances_by_product(x1, x2);
  visit_dtype(x1.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) write_distances<T>(x1, x2, result, p);
  });
  return result;
}

namespace {

/// Of each row of a row-major matrix to those behind it.
Tensor distances_of_pairs(const Tensor& self, double p) {
  const int64_t rows = self.size(0), n = self.size(1);
  const Tensor result = new_tensor({numel_from(Checked(rows) * (rows - 1)) / 2}, self.dtype(), self.device());
  visit_dtype(self.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T>) {
      const T* const from = reinterpret_cast<const T*>(self.impl()->data());
      T* to = reinterpret_cast<T*>(result.impl()->data());
      // exact: inside the storages
      for (int64_t row = 0; row < rows; ++row) {
        check_interrupt();
        write_distances_of(to, from + row * n, from + (row + 1) * n, rows - row - 1, n, p);
        to += rows - row - 1;
      }
    }
  });
  return result;
}

}  // namespace

Tensor plain::pdist(const Tensor& self, double p) {
  if (self.dim() != 2) throw Error("pdist only supports 2D tensors, got: " + text(self.dim()) + "D");
  if (!is_floating_point(self.dtype())) throw Error("pdist only supports floating-point dtypes");
  if (!(p >= 0)) throw Error("pdist only supports non-negative p values");
  const int64_t rows = self.size(0);
  if (rows < 2) return zeros({0}, Options(self.dtype(), self.device()));
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
  const Tensor result = new_tensor(self.sizes(), self.dtype(), self.device());
  Dims others;
  for (int64_t i = 0; i < self.dim(); ++i)
    if (i != along) others.push_back(i);
  if (!is_inexact(self.dtype())) (void)tenon::linalg_vector_norm(plain, p, SizesView(others), true);  // throws
  const Tensor norm = tenon::linalg_vector_norm(plain, p, SizesView(others), true, wider(self.dtype()));
  if (!is_computed(self)) return result;
  const double limit = maxnorm.to<double>();
  const Tensor factor = tenon::where(norm > limit, limit / (norm + 1e-7), 1);
  run_copy(result, plain * factor.to(to_real(self.dtype())));
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

Tensor plain::trace(const Tensor& self) {
  if (is_computed(self)) check_has_code(row_of(Op::trace), self.dtype());
  if (self.dim() != 2)
    throw Error(std::string(is_computed(self) ? "trace: " : "") + "expected a matrix, but got tensor with dim " +
                text(self.dim()));
  return tenon::sum(self.detach().diagonal(), DimsArg(), false, std::nullopt);
}

}  // namespace tenon
