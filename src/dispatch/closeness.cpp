// isclose, allclose and equal, built from other ops. Few elements are compared without these, which would cost more.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <string>

#include "dispatch/plain.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tile/course.h"
#include "type/overflow.h"

namespace tenon {
namespace {

constexpr int64_t kFew = 1024;

bool are_few(const TensorImpl& tensor) {
  return tensor.numel <= kFew && tensor.contiguous && tensor.row_major && tensor.device == Device::cpu &&
         !CourseRecord::now();
}

/// Rounds after each step, as the ops do.
template <class T>
void write_close(bool* to, const T* a, const T* b, int64_t count, T rtol, T atol, bool equal_nan) {
  for (int64_t i = 0; i < count; ++i) {
    const T allowed = atol + std::abs(rtol * b[i]), actual = std::abs(a[i] - b[i]);
    const bool are_nan = std::isnan(a[i]) && std::isnan(b[i]), is_finite = actual < std::numeric_limits<T>::infinity();
    to[i] = a[i] == b[i] || (equal_nan && are_nan) || (is_finite && actual <= allowed);
  }
}

/// The result for few floats of equal sizes; undefined for all others.
Tensor close_of_few(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  const TensorImpl &a = *self.impl(), &b = *other.impl();
  const bool is_wide = a.dtype == float64;
  if (!(is_wide || a.dtype == float32) || !are_few(a) || !are_few(b) || !(a.sizes == b.sizes)) return {};
  check_fits(rtol, a.dtype);
  check_fits(atol, a.dtype);
  const Tensor result = new_tensor(a.sizes, bool_);
  const auto write = [&]<class T>(T narrow_rtol, T narrow_atol) {
    write_close(result.data<bool>(), self.data<T>(), other.data<T>(), a.numel, narrow_rtol, narrow_atol, equal_nan);
  };
  is_wide ? write(rtol, atol) : write(static_cast<float>(rtol), static_cast<float>(atol));
  return result;
}

bool are_all_true(const Tensor& truths) {
  const TensorImpl& few = *truths.impl();
  if (!are_few(few)) return all(truths).item().as_bool();
  const bool* first = truths.data<bool>();
  // exact: inside the storage
  return std::all_of(first, first + few.numel, [](bool truth) { return truth; });
}

void check_tolerance(const char* name, double value) {
  if (value >= 0) return;
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  throw Error(std::string(name) + " must be greater than or equal to zero, but got " + text);
}

}  // namespace

Tensor plain::isclose(const Tensor& input, const Tensor& wanted, double rtol, double atol, bool equal_nan) {
  if (input.dtype() != wanted.dtype())
    throw Error(std::string(scalar_type_name(input.dtype())) + " did not match " + scalar_type_name(wanted.dtype()));
  check_tolerance("rtol", rtol);
  check_tolerance("atol", atol);
  const bool are_both_zero = rtol == 0 && atol == 0;
  if (!are_both_zero)
    if (Tensor close = close_of_few(input, wanted, rtol, atol, equal_nan); close.defined()) return close;
  const Tensor self = input.detach(), other = wanted.detach();  // a comparison has no derivative
  Tensor close = eq(self, other);
  const bool floating = is_inexact(self.dtype());
  if (equal_nan && floating) close.logical_or_(logical_and(ne(self, self), ne(other, other)));
  if (are_both_zero) return close;
  const Tensor a = self.dtype() == bool_ ? self.to(get_default_dtype()) : self;
  const Tensor b = floating ? other : other.to(get_default_dtype());
  const Tensor allowed = add(atol, abs(mul(rtol, b))), actual = abs(sub(a, b));
  const Tensor finite = lt(actual, std::numeric_limits<double>::infinity());
  return close.logical_or_(logical_and(finite, le(actual, allowed)));
}

bool allclose(const Tensor& self, const Tensor& other, double rtol, double atol, bool equal_nan) {
  return are_all_true(isclose(self, other, rtol, atol, equal_nan));
}

bool equal(const Tensor& self, const Tensor& other) {
  if (!(self.sizes() == other.sizes())) return false;
  const Tensor same = eq(self, other);  // refuses what has no common dtype, even without elements
  return same.numel() == 0 || are_all_true(same);
}

}  // namespace tenon
