// ldexp: floats times 2 to the power of integers, rounded once. PyTorch: `ldexp` in its C++ library.
#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "dispatch/resolve.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/shape.h"
#include "tensor/impl.h"
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

/// By integers. As in PyTorch the result begins as one like `self`, and is resized, with a warning, if that is
/// broadcast.
Tensor scaled(const Tensor& self, const Tensor& other) {
  const bool is_one_shape = self.sizes() == other.sizes();
  if (!is_one_shape) infer_size(self.sizes(), other.sizes());  // PyTorch's first error
  const Tensor powers = exponents(other);
  // bfloat16 cannot hold all exponents.
  const Tensor wide = self.dtype() == bfloat16 ? self.to(float32) : self;
  const Arg number(wide), exponent(powers);
  const Arg* const args[] = {&number, &exponent};
  if (is_one_shape && self.impl()->row_major && other.is_contiguous())
    return elementwise(Op::ldexp_integer, args, 2).to(self.dtype());
  Tensor result = empty_like(wide);
  elementwise_out(Op::ldexp_integer, result, args, 2);
  forget_writes(result);
  return result.to(self.dtype());
}

/// The factor for exponents that are no integers. PyTorch's 2 has the dtype of `self`, where that is not float32: this
/// decides dtypes and layouts.
Tensor power_of_2(const Tensor& self, const Tensor& other) {
  if (!is_inexact(self.dtype()) || self.dtype() == float32) return tenon::pow(2.0, other);
  return tenon::pow(full({}, 2.0, Options(self.dtype(), other.device())), other);
}

void check_stored(Dtype out) {
  if (!is_inexact(out))
    throw Error(std::string("ldexp can't be cast to the desired output type ") + scalar_type_name(out));
}

/// How the forms that write to a tensor compute: `op` of `self` and `factor`.
struct Written {
  Op op;
  Tensor factor;
};
Written written_by(const Tensor& self, const Tensor& other) {
  if (!has_integer_exponents(self, other)) return {Op::mul, power_of_2(self, other)};
  return {Op::ldexp_integer, exponents(other)};
}

}  // namespace

Tensor plain::ldexp(const Tensor& input, const Tensor& exponent) {
  const bool is_in_graph = input.impl()->in_graph || exponent.impl()->in_graph;
  const Tensor self = is_in_graph ? input.detach() : input, other = is_in_graph ? exponent.detach() : exponent;
  if (has_integer_exponents(self, other)) return scaled(self, other);
  return tenon::mul(self, power_of_2(self, other));
}

void plain::ldexp_inplace(const Tensor& self, const Tensor& other) {
  check_stored(self.dtype());
  check_no_internal_overlap(self);
  check_inplace_shape(self.sizes(), infer_size(self.sizes(), other.sizes()));
  const auto [op, factor] = written_by(self, other.detach());
  if (op == Op::ldexp_integer && self.dtype() == bfloat16) return run_copy(self, scaled(self.detach(), factor));
  Tensor target = self;
  const Arg number(self), by(factor);
  const Arg* const args[] = {&number, &by};
  run_inplace(op, target, args, 2);
}

Tensor& plain::ldexp_out(Tensor& out, const Tensor& input, const Tensor& exponent) {
  check_unrecorded(Op::ldexp, out, input, exponent);
  check_stored(out.dtype());
  const Tensor self = input.detach(), other = exponent.detach();
  // PyTorch's first errors.
  if (infer_size(self.sizes(), other.sizes()) == out.sizes()) check_no_internal_overlap(out);
  const auto [op, factor] = written_by(self, other);
  const bool is_widened = op == Op::ldexp_integer && self.dtype() == bfloat16;
  const Tensor wide = is_widened ? self.to(float32) : self;
  const Arg number(wide), by(factor);
  const Arg* const args[] = {&number, &by};
  if (is_widened) return write_result(Op::ldexp, out, elementwise(op, args, 2).to(bfloat16));
  elementwise_out(op, out, args, 2);
  return out;
}

}  // namespace tenon
