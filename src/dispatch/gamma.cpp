// The multivariate gamma function.
#include <cmath>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon {
namespace {

void check_mvlgamma(const Tensor& self, int64_t p) {
  if (self.dtype() == bool_) throw Error("The input tensor may not be a boolean tensor.");
  if (p < 1) throw Error("p has to be greater than or equal to 1");
}

void check_mvlgamma_cast(const Tensor& self, Dtype result, Dtype out) {
  if (can_cast(result, out)) return;
  // PyTorch's text names the input's dtype first.
  throw Error(std::string("mvlgamma: result type ") + scalar_type_name(self.dtype()) +
              " can't be cast to the desired output type " + scalar_type_name(result));
}

}  // namespace

/// lgamma of p arguments, half apart, which are a dim more of one tensor, as in PyTorch.
Tensor plain::mvlgamma(const Tensor& self, int64_t p) {
  check_mvlgamma(self, p);
  const Dtype dtype = is_inexact(self.dtype()) ? self.dtype() : get_default_dtype();
  const double count = static_cast<double>(p);
  const Tensor steps = arange(-0.5 * count + 0.5, 0.5, 0.5, Options(dtype, self.device()));
  const Tensor terms = steps.add(self.detach().unsqueeze(-1));
  Tensor sum = terms.lgamma().sum(-1);
  sum.add_(count * (count - 1) * std::log(3.14159265358979323846) * 0.25);
  forget_writes(sum);
  return sum;
}

Tensor& plain::mvlgamma_out(Tensor& out, const Tensor& self, int64_t p) {
  check_unrecorded(Op::mvlgamma, out, self);
  const Tensor result = plain::mvlgamma(self, p);
  check_mvlgamma_cast(self, result.dtype(), out.dtype());
  return write_result(Op::mvlgamma, out, result);
}

void plain::mvlgamma_inplace(const Tensor& self, int64_t p) {
  const Tensor result = plain::mvlgamma(self, p);
  check_mvlgamma_cast(self, result.dtype(), self.dtype());
  run_copy(self, result);
}

}  // namespace tenon
