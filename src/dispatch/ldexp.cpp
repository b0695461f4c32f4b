// ldexp: floats times 2 to the power of integers, rounded once. PyTorch: `ldexp` in its C++ library.
#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "dispatch/resolve.h"
#include "tenon/ops.h"
#include "tensor/overlap.h"

namespace tenon {
namespace {

/// Whether the exponents are integers of floats. For all others ldexp is self * 2.0 ** other, with the range of the
/// power's dtype.
bool has_integer_exponents(const Tensor& self, const Tensor& other) {
  return is_floating_point(self.dtype()) && !is_inexact(other.dtype());
}

/// PyTorch takes the low 32 bits of an exponent.
Tensor exponents(const Tensor& other) {
  if (is_computed(other) && (other.dtype() == bool_ || is_wide_unsigned(other.dtype())))
    fail_no_code("ldexp_cpu_exp", other.dtype());
  return other.dtype() == int64 ? other.to(int32) : other;
}

Tensor scaled(const Tensor& self, const Tensor& other) {
  const Tensor powers = exponents(other);
  // bfloat16 cannot hold all exponents.
  const Tensor wide = self.dtype() == bfloat16 ? self.to(float32) : self;
  const Arg number(wide), exponent(powers);
  const Arg* const args[] = {&number, &exponent};
  return elementwise(Op::ldexp_integer, args, 2).to(self.dtype());
}

void check_stored(Dtype result, Dtype out) {
  if (!can_cast(result, out))
    throw Error(std::string("ldexp can't be cast to the desired output type ") + cpp_type_name(out));
}

}  // namespace

Tensor plain::ldexp(const Tensor& input, const Tensor& exponent) {
  const Tensor self = input.detach(), other = exponent.detach();
  if (has_integer_exponents(self, other)) return scaled(self, other);
  return tenon::mul(self, tenon::pow(2.0, other));
}

void plain::ldexp_inplace(const Tensor& self, const Tensor& other) {
  Tensor written = self;
  if (!has_integer_exponents(self, other)) {
    const Tensor factor = tenon::pow(2.0, other.detach());
    check_stored(result_type(self, factor), self.dtype());
    const Arg number(self), power(factor);
    const Arg* const args[] = {&number, &power};
    run_inplace(Op::mul, written, args, 2);
  } else if (self.dtype() == bfloat16) {
    check_no_internal_overlap(self);
    const Tensor result = scaled(self.detach(), other);
    if (!(result.sizes() == self.sizes()))
      throw Error("output with shape " + to_string(self.sizes()) + " doesn't match the broadcast shape " +
                  to_string(result.sizes()));
    run_copy(self, result);
  } else {
    const Tensor powers = exponents(other);
    const Arg number(self), exponent(powers);
    const Arg* const args[] = {&number, &exponent};
    run_inplace(Op::ldexp_integer, written, args, 2);
  }
}

Tensor& plain::ldexp_out(Tensor& out, const Tensor& self, const Tensor& other) {
  check_unrecorded(Op::ldexp, out, self, other);
  const Tensor result = plain::ldexp(self, other);
  check_stored(result.dtype(), out.dtype());
  return write_result(Op::ldexp, out, result);
}

}  // namespace tenon
