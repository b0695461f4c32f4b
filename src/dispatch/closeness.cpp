// isclose, allclose and equal, built from other ops.
#include <cstdio>
#include <limits>
#include <string>

#include "dispatch/plain.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon {
namespace {

void check_tolerance(const char* name, double value) {
  if (value >= 0) return;
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  throw Error(std::string(name) + " must be greater than or equal to zero, but got " + text);
}

}  // namespace

Tensor plain::isclose(const Tensor& input, const Tensor& wanted, double rtol, double atol, bool equal_nan) {
  const Tensor self = input.detach(), other = wanted.detach();  // a comparison has no derivative
  if (self.dtype() != other.dtype())
    throw Error(std::string(scalar_type_name(self.dtype())) + " did not match " + scalar_type_name(other.dtype()));
  check_tolerance("rtol", rtol);
  check_tolerance("atol", atol);
  Tensor close = eq(self, other);
  const bool floating = is_inexact(self.dtype());
  if (equal_nan && floating) close.logical_or_(logical_and(ne(self, self), ne(other, other)));
  if (rtol == 0 && atol == 0) return close;
  const Tensor a = self.dtype() == bool_ ? self.to(get_default_dtype()) : self;
  const Tensor b = floating ? other : other.to(get_default_dtype());
  const Tensor allowed = add(atol, abs(mul(rtol, b))), actual = abs(sub(a, b));
  const Tensor finite = lt(actual, std::numeric_limits<double>::infinity());
  return close.logical_or_(logical_and(finite, le(actual, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return all(isclose(self, other, rtol, atol, equal_nan)).item().as_bool();
}

bool equal(const Tensor& self, const Tensor& other) {
  if (!(self.sizes() == other.sizes())) return false;
  const Tensor same = eq(self, other);  // refuses what has no common dtype, even without elements
  return same.numel() == 0 || same.amin().item().as_bool();
}

}  // namespace tenon
