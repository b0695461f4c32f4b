// addr: an outer product that is added.
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/overlap.h"
#include "type/overflow.h"

namespace tenon {
namespace {

void check_vector(const Tensor& vector, const char* name) {
  if (vector.dim() != 1)
    throw Error(std::string("addr: Expected 1-D argument ") + name + ", but got " + std::to_string(vector.dim()) +
                "-D");
}

Dtype dtype_of_result(const Tensor& self, const Tensor& vec1, const Tensor& vec2) {
  return promote_types(promote_types(self.dtype(), vec1.dtype()), vec2.dtype());
}
/// Checked before the numbers `beta` and `alpha`.
void check_written(const Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2) {
  check_vector(vec1, "vec1");
  check_vector(vec2, "vec2");
  (void)self.detach().expand({vec1.size(0), vec2.size(0)});  // throws if `self` cannot be expanded
  check_no_internal_overlap(out);
  check_can_cast(dtype_of_result(self, vec1, vec2), out.dtype());
}

/// A number in the dtype of the result, as a tensor.
Tensor factor(Scalar number, const char* name, Dtype dtype) {
  const bool is_integral = !number.is_floating() && !number.is_complex();
  if (number.is_boolean() && dtype != bool_)
    throw Error(std::string("Boolean ") + name + " only supported for Boolean results.");
  if (!is_integral && !is_inexact(dtype))
    throw Error(std::string("For integral input tensors, argument ") + name + " must not be a floating point number.");
  check_fits(number, dtype);
  return full({}, number, Options(dtype));
}

/// The strides of a result of these operands; one of another dtype is copied first.
Dims strides_of_result(const Tensor& self, const Tensor& column, const Tensor& row, Dtype dtype) {
  const Tensor* const operands[] = {&self, &column, &row};
  Dims strides[3];
  StridedView views[3];
  for (int i = 0; i < 3; ++i) {
    const Tensor& operand = *operands[i];
    strides[i] =
        operand.dtype() == dtype ? operand.strides().copy() : dense_strides_like(operand.sizes(), operand.strides());
    views[i] = {operand.sizes(), strides[i]};
  }
  return result_strides(self.sizes(), views, 3);
}

}  // namespace

Tensor plain::addr(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  check_vector(vec1, "vec1");
  check_vector(vec2, "vec2");
  const Tensor start = self.detach().expand({vec1.size(0), vec2.size(0)});
  const Dtype dtype = dtype_of_result(self, vec1, vec2);
  const Tensor scale = factor(beta, "beta", dtype), share = factor(alpha, "alpha", dtype);
  if (!self.is_meta()) check_has_code(row_of(Op::addr), dtype);
  const Tensor column = vec1.detach().reshape({vec1.size(0), 1}), row = vec2.detach();
  // Factors of 1 change nothing, but for complex numbers with infinite parts.
  const auto is_1 = [&](Scalar number) { return !is_complex(dtype) && number.as_complex() == Complex128{1, 0}; };
  const Tensor wide = column.to(dtype), product = (is_1(alpha) ? wide : share * wide) * row;
  const Tensor sum = beta.as_complex() == Complex128{0, 0} ? product : (is_1(beta) ? start : scale * start) + product;
  const Dims strides = strides_of_result(start, column, row, dtype);
  if (sum.sizes() == start.sizes() && sum.strides() == strides && sum.dtype() == dtype) return sum;
  const Tensor result = new_tensor(start.sizes(), strides, dtype, self.device());
  run_copy(result, sum);
  forget_writes(result);
  return result;
}

Tensor& plain::addr_out(Tensor& out, const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta,
                        Scalar alpha) {
  check_unrecorded(Op::addr, out, self, vec1, vec2);
  check_written(out, self, vec1, vec2);
  return write_result(Op::addr, out, plain::addr(self, vec1, vec2, beta, alpha));
}

void plain::addr_inplace(const Tensor& self, const Tensor& vec1, const Tensor& vec2, Scalar beta, Scalar alpha) {
  check_vector(vec1, "vec1");
  check_vector(vec2, "vec2");
  if (self.dim() != 2) throw Error("2D tensor expected, got " + std::to_string(self.dim()) + "D tensor for input");
  if (!(self.sizes() == Dims{vec1.size(0), vec2.size(0)}))
    throw Error("size mismatch, input: " + to_string(self.sizes()) + ", v1: " + to_string(vec1.sizes()) +
                ", v2: " + to_string(vec2.sizes()));
  check_written(self, self, vec1, vec2);
  run_copy(self, plain::addr(self, vec1, vec2, beta, alpha));
}

}  // namespace tenon
