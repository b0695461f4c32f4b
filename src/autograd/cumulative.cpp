// Derivatives of scans, of softmax and of distances, which are longer than a line.
#include <cmath>
#include <limits>

#include "autograd/derivative.h"
#include "dispatch/elementwise.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/history.h"

namespace tenon::autograd {
namespace {

/// For each element the sum from it on.
Tensor summed_from(const Tensor& self, int64_t dim) { return self.flip({dim}).cumsum(dim).flip({dim}); }
/// 16-bit floats in float32: the result is rounded once.
Tensor wide(const Tensor& self) { return self.to(widened(self.dtype())); }

Tensor conjugate(const Tensor& self) { return is_complex(self.dtype()) ? conj(self) : self; }

}  // namespace

Tensor of_softmax(const Tensor& grad, const Tensor& result, int64_t dim) {
  const Tensor slope = wide(grad), value = wide(result);
  return (value * (slope - (slope * value).sum(dim, true))).to(grad.dtype());
}
Tensor of_log_softmax(const Tensor& grad, const Tensor& result, int64_t dim) {
  const Tensor slope = wide(grad);
  return (slope - wide(result).exp() * slope.sum(dim, true)).to(grad.dtype());
}

Tensor of_logcumsumexp(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (grad.dim() == 0 || grad.numel() == 0) return grad;
  const auto summed = [dim](const Tensor& x) { return x.flip({dim}).logcumsumexp(dim).flip({dim}); };
  if (is_complex(grad.dtype())) return conj((summed(conj(grad).log() - result) + self).exp());
  // Of positive and negative gradients apart, whose logarithms exist.
  const double lowest = grad.dtype() == float64   ? std::numeric_limits<double>::lowest()
                        : grad.dtype() == float16 ? -65504.0
                                                  : static_cast<double>(std::numeric_limits<float>::lowest());
  const Scalar least = grad.dtype() == bfloat16 ? Scalar(-0x1.fep127) : Scalar(lowest);
  const Tensor magnitude = grad.abs().log();
  const auto part = [&](const Tensor& counts) {
    return (summed(where(counts, magnitude, least) - result) + self).exp();
  };
  return part(grad > 0) - part(grad < 0);
}

namespace {

/// The products of all elements but each one, weighted: for what is differentiated again.
Tensor of_products_one_by_one(const Tensor& grad, const Tensor& self, int64_t dim) {
  List<Tensor> slopes;
  const int64_t size = self.size(dim);
  for (int64_t k = 0; k < size; ++k) {
    const Tensor before = self.narrow(dim, 0, k).prod(dim, true);
    const Tensor after = self.narrow(dim, k + 1, size - k - 1).cumprod(dim);
    const Tensor products = cat({before, before * after}, dim);
    slopes.push_back((grad.narrow(dim, k, size - k) * products).sum(dim, true));
  }
  return cat(slopes, dim);
}

/// The same in a few scans: of the elements before the first 0, of that 0, and 0 from then on.
Tensor of_products_with_zeros(const Tensor& weighted, const Tensor& grad, const Tensor& self, const Tensor& is_zero,
                              int64_t dim) {
  const Tensor zeros_so_far = is_zero.cumsum(dim);
  const Tensor is_before = zeros_so_far == 0, is_first = is_zero & (zeros_so_far == 1);
  const Tensor before = summed_from(where(is_before, weighted, 0), dim) / where(is_before, self, 1);
  // Products with a 1 in the place of the first 0, which count up to the second.
  const Tensor without_zero = where(is_first, 1, self).cumprod(dim);
  const Tensor at_zero = where(zeros_so_far == 1, grad * without_zero, 0).sum(dim, true);
  return where(is_before, before, where(is_first, at_zero, 0));
}

}  // namespace

Tensor of_cumprod(const Tensor& grad, const Tensor& self, const Tensor& result, int64_t dim) {
  if (self.numel() <= 1 || self.size(dim) == 1) return grad;
  const Tensor factors = conjugate(self);
  const Tensor weighted = conjugate(result) * grad, is_zero = self.detach() == 0;
  if (self.is_meta() || !any(is_zero).item().as_bool()) return summed_from(weighted, dim) / factors;
  return thread_modes.grad ? of_products_one_by_one(grad, factors, dim)
                           : of_products_with_zeros(weighted, grad, factors, is_zero, dim);
}

Tensor of_trace(const Tensor& grad, SizesView sizes) {
  return grad * eye(sizes[0], sizes[1], Options(grad.dtype(), grad.device()));
}

// --- Distances

namespace {

/// x to the power of `exponent`, for x >= 0; 0 gives 0.
Tensor power_of(const Tensor& x, double exponent) {
  const Tensor is_zero = x == 0;
  return where(is_zero, Scalar(0), where(is_zero, Scalar(1), x).pow(Scalar(exponent)));
}

/// The gradient of a norm over the dims that `norm` has as size 1, or over all; by each element.
Tensor of_norm_over(const Tensor& grad, const Tensor& self, const Tensor& norm, double ord, const Tensor& ties) {
  const Tensor sign = sgn(self);
  if (ord == 0) return zeros_like(self.detach());
  if (ord == 1) return grad * sign;
  if (ord == 2) return where(norm == 0, Scalar(0), grad * (self / norm));
  if (std::isinf(ord)) return sign * where(abs(self) == norm, grad / ties, Scalar(0));
  const Tensor powers = sign * power_of(abs(self), ord - 1);
  return powers * where(norm == 0, Scalar(0), grad * power_of(norm, 1 - ord));
}

}  // namespace

Tensor of_dist(const CallGiven& given, const Tensor& grad, const Tensor& difference, const Tensor& result) {
  const double p = given.number("p", 2).as_double();
  const Tensor ties = std::isinf(p) ? sum(abs(difference) == result).to(result.dtype()) : Tensor();
  return of_norm_over(wide(grad), wide(difference), wide(result), p, ties).to(difference.dtype());
}

Tensor of_cdist(const Tensor& grad, const Tensor& x1, const Tensor& x2, const Tensor& result, Scalar p) {
  const Tensor apart = x1.unsqueeze(-2) - x2.unsqueeze(-3);
  const Tensor one = ones({}, Options(grad.dtype(), grad.device()));
  return of_norm_over(grad.unsqueeze(-1), apart, result.unsqueeze(-1), p.as_double(), one).sum(-2);
}

Tensor of_renorm(const CallGiven& given, const Tensor& grad, const Tensor& self) {
  const int64_t dim = wrap_dim(given.integer("dim"), self.dim());
  const double p = given.number("p", 2).as_double(), limit = given.number("maxnorm", 0).as_double();
  Dims others;
  for (int64_t i = 0; i < self.dim(); ++i)
    if (i != dim) others.push_back(i);
  const Tensor norm = linalg_vector_norm(self, p, SizesView(others), true);
  const Tensor along = (conjugate(self) * grad).sum(SizesView(others), true);
  const Tensor slope = is_complex(along.dtype()) ? real(along) : along;
  const Tensor ties = std::isinf(p) ? sum(abs(self) == norm, SizesView(others), true) : Tensor();
  const Tensor of_norm = of_norm_over(slope, self, norm, p, ties);
  const Tensor inverse = 1 / (norm + 1e-7);
  return where(norm > limit, limit * inverse * (grad - inverse * of_norm), grad).to(self.dtype());
}

Tensor crossed(const Tensor& self, const Tensor& other, int64_t dim) { return linalg_cross(self, other, dim); }

}  // namespace tenon::autograd
