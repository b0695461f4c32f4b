// Derivatives of reductions that are longer than a line.
#include <cmath>

#include "autograd/derivative.h"
#include "dispatch/elementwise.h"
#include "tenon/factories.h"

namespace tenon::autograd {
namespace {

/// The number of elements that are reduced to one.
double reduced_count(const Tensor& self, SizesView mask) {
  double count = 1;
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) count *= static_cast<double>(self.size(dim));
  return count;
}

constexpr double kMostFactors = 3;  // of an `ord` of 3 or 4; more factors round more often than the logarithm

Tensor product_of_equals(const Tensor& x, double count) { return count == 1 ? x : count == 2 ? x * x : x * x * x; }

/// x to the power of `exponent`, for x >= 0; 0 gives 0.
Tensor power_of(const Tensor& x, double exponent) {
  const double size = std::abs(exponent);
  const bool has_few_factors = size == std::trunc(size) && size >= 1 && size <= kMostFactors;
  if (has_few_factors && exponent > 0) return product_of_equals(x, size);
  const Tensor is_zero = x == 0, divisor = where(is_zero, Scalar(1), x);
  return where(is_zero, Scalar(0),
               has_few_factors ? 1 / product_of_equals(divisor, size) : (divisor.log() * Scalar(exponent)).exp());
}

}  // namespace

Tensor CallGiven::over_dims(const Tensor& reduced) const {
  return with_reduced_dims(reduced, reduced_mask(dims("dim").view(), a().dim()), boolean("keepdim"));
}

Tensor of_variance(const CallGiven& given, const Tensor& grad, const Tensor& self) {
  const DimsArg dims = given.dims("dim");
  const Dims mask = reduced_mask(dims.view(), self.dim());
  const std::optional<Scalar> correction = given.optional_number("correction");
  const double freedom = reduced_count(self, mask) - (correction ? correction->as_double() : 1);
  const Tensor distance = self - self.mean(dims, true), wide = with_reduced_dims(grad, mask, given.boolean("keepdim"));
  if (dims.view().empty() && freedom <= 0)
    return wide * where(distance == 0, Scalar(__builtin_nan("")), Scalar(__builtin_inf())).to(self.dtype());
  return wide * Scalar(2 / freedom) * distance;
}

Tensor of_deviation(const CallGiven& given, const Tensor& grad, const Tensor& self, const Tensor& result) {
  const Tensor of_variance_of = where(result == 0, Scalar(0), grad / (result * Scalar(2)));
  return of_variance(given, of_variance_of, self);
}

namespace {

/// Adds the gradient of the mean, which the same op returns, if there is one.
Tensor beside_mean(const CallGiven& given, const Tensor& of_spread, const Tensor& self) {
  if (!given.has_grad(1)) return of_spread;
  const double count = reduced_count(self, reduced_mask(given.dims("dim").view(), self.dim()));
  const Tensor of_mean = given.over_dims(given.grad(1)).expand(self.sizes()) / Scalar(count);
  return given.has_grad(0) ? of_spread + of_mean : of_mean;
}

}  // namespace

Tensor of_var_mean(const CallGiven& given, const Tensor& self) {
  return beside_mean(given, given.has_grad(0) ? of_variance(given, given.grad(0), self) : Tensor(), self);
}

Tensor of_std_mean(const CallGiven& given, const Tensor& self, const Tensor& deviation) {
  return beside_mean(given, given.has_grad(0) ? of_deviation(given, given.grad(0), self, deviation) : Tensor(), self);
}

Tensor shared_among(const Tensor& grad, const Tensor& self, const Tensor& extreme) {
  const Tensor ties = (self == extreme) | (isnan(self) & isnan(extreme));
  return where(ties, grad / sum(ties), Scalar(0));
}

Tensor of_extremes(const CallGiven& given, const Tensor& self, const Tensor& low, const Tensor& high) {
  const std::optional<int64_t> dim = given.optional_integer("dim");
  const DimsArg dims = dim ? DimsArg(*dim) : DimsArg();
  const auto share = [&](int result, const Tensor& extreme) {
    const auto over_dims = [&](const Tensor& reduced) {
      return with_reduced_dims(reduced, reduced_mask(dims.view(), self.dim()), given.boolean("keepdim"));
    };
    const Tensor ties = self == over_dims(extreme);
    return over_dims(given.grad(result)) * ties / sum(ties, dims, true);
  };
  if (!given.has_grad(1)) return share(0, low);
  return given.has_grad(0) ? share(0, low) + share(1, high) : share(1, high);
}

Tensor at_places(const CallGiven& given, const Tensor& grad, const Tensor& places) {
  const int64_t dim = given.integer("dim");
  const bool has_dim = given.boolean("keepdim") || given.sizes().empty();
  return added_along(has_dim ? grad : grad.unsqueeze(dim), dim, has_dim ? places : places.unsqueeze(dim),
                     given.sizes());
}

Tensor of_norm(const CallGiven& given, const Tensor& grad, const Tensor& self, const Tensor& result) {
  const std::optional<Scalar> given_ord = given.optional_number("ord");
  const double ord = given_ord ? given_ord->as_double() : 2;
  const Tensor wide = given.over_dims(grad), norm = given.over_dims(result), sign = sgn(self);
  if (ord == 0) return Tensor();  // a step function: no gradient, as in PyTorch
  if (ord == 1) return (wide * sign).to(self.dtype());
  if (ord == 2) return where(norm == 0, Scalar(0), wide * (self / norm)).to(self.dtype());
  if (ord == __builtin_inf() || ord == -__builtin_inf()) {
    const Tensor extreme = (abs(self) == norm) | (isnan(self) & isnan(norm));
    Dims dims;
    const Dims mask = reduced_mask(given.dims("dim").view(), self.dim());
    for (int64_t dim = 0; dim < mask.size(); ++dim)
      if (mask[dim]) dims.push_back(dim);
    const Tensor ties = dims.empty() ? extreme.to(int64) : sum(extreme, SizesView(dims), true);
    return (sign * (wide / ties * extreme)).to(self.dtype());
  }
  // 16-bit floats would lose digits in the logarithms.
  const Dtype dtype = widened(self.dtype());
  const Tensor powers = sign.to(dtype) * power_of(abs(self.to(dtype)), ord - 1);
  return (powers * where(norm == 0, Scalar(0), wide * power_of(norm.to(widened(norm.dtype())), 1 - ord)))
      .to(self.dtype());
}

}  // namespace tenon::autograd
