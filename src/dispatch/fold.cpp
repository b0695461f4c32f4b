// Reductions with a state of their own: what is refused, what dtypes are folded, and what nothing folds to.
#include "tile/fold.h"

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "plan/plan.h"
#include "tenon/policy.h"
#include "tenon/shape.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

/// The dtype of the states' lanes: the narrowest that holds every element.
Dtype lanes_of(Op op, Dtype computed) {
  const bool is_short = is_floating_point(computed) ? computed != float64 : itemsize(computed) < 4 || computed == int32;
  const Dtype narrow = is_floating_point(computed) ? float32 : int32,
              wide = is_floating_point(computed) ? float64 : int64;
  return is_short && (row_of(op).lanes & set_of(narrow)) != 0 ? narrow : wide;
}

/// The output seen over the input's dims: stride 0 where reduced.
Dims spread_strides(SizesView strides, SizesView mask, bool keepdim) {
  Dims spread;
  int64_t at = 0;
  for (int64_t reduced : mask) {
    spread.push_back(reduced ? 0 : strides[at]);
    if (!reduced || keepdim) ++at;
  }
  return spread;
}

/// What a fold gives, and of what.
struct Call {
  Op op;
  Dtype computed, result;
  double of_nothing = 0;  // the result where no element is reduced
  const double* numbers = nullptr;
};

void run(const Call& call, const Tensor& out, SizesView out_strides, const Tensor& self, SizesView sizes,
         SizesView strides) {
  const Walk walks[] = {{sizes, out_strides}, {sizes, strides}};
  Plan plan;
  make_reduction_plan(sizes, walks, 2, plan);
  run_fold(plan, {call.op, self.dtype(), lanes_of(call.op, call.computed), call.result, call.numbers}, out.data_ptr(),
           self.data_ptr());
}

/// Folds `self` along the dims of `mask`.
Tensor fold(const Call& call, const Tensor& self, SizesView mask, bool keepdim) {
  Tensor out = new_tensor(reduced_shape(self.sizes(), mask, keepdim), call.result, self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  if (self.numel() == 0) {
    write_fill(out, call.of_nothing);
    return out;
  }
  run(call, out, spread_strides(out.strides(), mask, keepdim), self, self.sizes(), self.strides());
  return out;
}

// --- argmax, argmin

void check_place_exists(const Tensor& self, std::optional<int64_t> dim, const char* name) {
  if (dim) {
    const int64_t along = wrap_dim(*dim, self.dim());
    if (self.numel() == 0 && self.dim() > 0 && self.sizes()[along] == 0)
      throw IndexError(std::string(name) + ": Expected reduction dim " + std::to_string(along) +
                       " to have non-zero size.");
  } else if (self.numel() == 0) {
    const std::string text = std::string(name) + ": Expected reduction dim to be specified for input.numel() == 0.";
    if (self.is_meta()) throw Error(text);
    throw IndexError(text);
  }
}

/// Before anything is made.
void check_places(Op op, const Tensor& self, std::optional<int64_t> dim) {
  const Row& row = row_of(op);
  if (self.dtype() == bool_ && !self.is_meta()) throw Error(row.refuses_bool);
  // On meta PyTorch names argmax for both.
  check_place_exists(self, dim, self.is_meta() ? "argmax" : (std::string(row.name) + "()").c_str());
}

Tensor place_of(Op op, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_places(op, self, dim);
  Dims dims;
  if (dim) dims.push_back(*dim);
  const Dims mask = reduced_mask(dims, self.dim());
  Tensor out = new_tensor(reduced_shape(self.sizes(), mask, keepdim), int64, self.device());
  if (out.is_meta() || out.numel() == 0) return out;
  if (dim && self.dim() > 0 && self.sizes()[wrap_dim(*dim, self.dim())] == 1) {
    write_fill(out, 0);
    return out;
  }
  check_has_code(row_of(op), self.dtype());
  const Call call{op, self.dtype(), int64};
  if (dim) {
    run(call, out, spread_strides(out.strides(), mask, keepdim), self, self.sizes(), self.strides());
    return out;
  }
  // Places count through the elements in order.
  const Tensor in_order = self.is_contiguous() ? self : run_clone(self, MemoryFormat::contiguous);
  run(call, out, {0}, in_order, {self.numel()}, {1});
  return out;
}

Tensor& write_place(Op op, Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_places(op, self, dim);
  check_strict_out(out, int64);
  return write_result(op, out, place_of(op, self, dim, keepdim));
}

// --- var, std

double correction_or_one(const std::optional<Scalar>& correction) { return correction ? correction->to<double>() : 1; }

void check_spread(const Tensor& self, SizesView dims) {
  if (!is_floating_point(self.dtype())) throw Error("std and var only support floating point and complex dtypes");
  mask_in_order(dims, self.dim());
}

Tensor spread_of(Op op, const Tensor& self, const DimsArg& dim, const std::optional<Scalar>& correction, bool keepdim) {
  check_spread(self, dim.view());
  const double less = correction_or_one(correction);
  return fold({op, self.dtype(), self.dtype(), std::nan(""), &less}, self, reduced_mask(dim.view(), self.dim()),
              keepdim);
}

/// The warning that a result of so many elements deserves; empty: none.
std::string freedom_warning(Op op, const Tensor& self, int64_t results, const std::optional<Scalar>& correction) {
  const double count = results == 0 ? 0 : static_cast<double>(self.numel()) / static_cast<double>(results);
  if (self.is_meta() || count - correction_or_one(correction) > 0) return {};
  return std::string(row_of(op).name) +
         "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
         "(input numel divided by output numel).";
}

Tensor warned_spread(Op op, const Tensor& self, const DimsArg& dim, const std::optional<Scalar>& correction,
                     bool keepdim) {
  const Tensor out = spread_of(op, self, dim, correction, keepdim);
  const std::string warning = freedom_warning(op, self, out.numel(), correction);
  if (!warning.empty()) warn("UserWarning", warning);
  return out;
}

/// What PyTorch folds into `out`: the elements in its dtype, unless there is one result. Then 16-bit ones are refused.
Tensor in_dtype_of(const Tensor& out, const Tensor& self, SizesView mask) {
  if (!is_floating_point(out.dtype())) return self;
  const bool is_one = self.numel() != 0 && numel_of(reduced_shape(self.sizes(), mask, false)) == 1;
  if (is_one && itemsize(self.dtype()) == 2 && itemsize(out.dtype()) > 2 && !self.is_meta())
    throw Error(std::string("std_var_all: Unsupported dtype ") + scalar_type_name(self.dtype()));
  return is_one && itemsize(out.dtype()) > 2 ? self : run_to(self, out.dtype(), MemoryFormat::preserve);
}

/// PyTorch warns of the new size first. The text is made before anything is written.
Tensor& write_spread(Op op, Tensor& out, const Tensor& self, const DimsArg& dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  check_unrecorded(op, out, self);
  check_spread(self, dim.view());
  const Dims mask = reduced_mask(dim.view(), self.dim());
  const Tensor result = spread_of(op, in_dtype_of(out, self, mask), dim, correction, keepdim);
  const std::string warning = freedom_warning(op, self, result.numel(), correction);
  write_result(op, out, result);
  if (!warning.empty()) warn("UserWarning", warning);
  return out;
}

// --- logsumexp

Dtype computed_logarithm(const Tensor& self) {
  return is_floating_point(self.dtype()) ? self.dtype() : get_default_dtype();
}

Tensor log_of_sum(const Tensor& self, const DimsArg& dim, bool keepdim, Dtype result) {
  // PyTorch reduces all dims here, and keeps those of the maximum.
  if (dim.view().empty() && !keepdim && self.dim() > 0 && self.numel() != 0)
    throw Error("output with shape [] doesn't match the broadcast shape " + to_string(Dims(self.dim(), 1)));
  return fold({Op::logsumexp, computed_logarithm(self), result, -__builtin_inf()}, self,
              reduced_mask(dim.view(), self.dim()), keepdim);
}

// --- linalg_vector_norm

/// As C++ streams print it.
std::string printed(double ord) {
  char text[32];
  std::snprintf(text, sizeof text, "%g", ord);
  return text;
}

void check_norm_exists(const Tensor& self, double ord, SizesView dims) {
  if (self.numel() != 0 || !(ord < 0 || ord == __builtin_inf())) return;
  const std::string text = "linalg.vector_norm cannot compute the " + printed(ord) + " norm on ";
  if (dims.empty()) throw Error(text + "an empty tensor because the operation does not have an identity");
  for (int64_t dim : dims)
    if (self.size(dim) == 0)
      throw Error(text + "the dimension " + std::to_string(dim) +
                  "because this dimension is empty and the operation does not have an identity");
}

void check_norm_dtypes(Dtype input, std::optional<Dtype> asked) {
  const std::string name = "linalg.vector_norm: ";
  if (!asked) return;
  if (!is_floating_point(*asked))
    throw Error(name + "dtype should be floating point or complex, but got " + scalar_type_name(*asked));
  if (promote_types(input, *asked) != *asked)
    throw Error(name + "the dtype of the input (" + scalar_type_name(input) +
                ") should be convertible without narrowing to the specified dtype (" + scalar_type_name(*asked) + ")");
}

Op norm_of(double ord) {
  if (ord == 2) return Op::linalg_vector_norm;
  if (ord == 1) return Op::norm_1;
  if (ord == 0) return Op::count_nonzero;
  if (ord == __builtin_inf()) return Op::norm_largest;
  return ord == -__builtin_inf() ? Op::norm_smallest : Op::norm_power;
}

}  // namespace

Tensor plain::argmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place_of(Op::argmax, self, dim, keepdim);
}
Tensor& plain::argmax_out(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return write_place(Op::argmax, out, self, dim, keepdim);
}
Tensor plain::argmin(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return place_of(Op::argmin, self, dim, keepdim);
}
Tensor& plain::argmin_out(Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  return write_place(Op::argmin, out, self, dim, keepdim);
}

Tensor plain::count_nonzero(const Tensor& self, const DimsArg& dim) {
  const Dims mask = reduced_mask(dim.view(), self.dim());
  // Where dims are named PyTorch sums comparisons, which know every dtype.
  if (dim.view().empty() && !self.is_meta()) check_has_code(row_of(Op::count_nonzero), self.dtype());
  return fold({Op::count_nonzero, self.dtype(), int64}, self, mask, false);
}

Tensor plain::var(const Tensor& self, const DimsArg& dim, std::optional<Scalar> correction, bool keepdim) {
  return warned_spread(Op::var, self, dim, correction, keepdim);
}
Tensor& plain::var_out(Tensor& out, const Tensor& self, const DimsArg& dim, std::optional<Scalar> correction,
                       bool keepdim) {
  return write_spread(Op::var, out, self, dim, correction, keepdim);
}
Tensor plain::std_(const Tensor& self, const DimsArg& dim, std::optional<Scalar> correction, bool keepdim) {
  return warned_spread(Op::std_, self, dim, correction, keepdim);
}
Tensor& plain::std_out(Tensor& out, const Tensor& self, const DimsArg& dim, std::optional<Scalar> correction,
                       bool keepdim) {
  return write_spread(Op::std_, out, self, dim, correction, keepdim);
}

Tensor plain::logsumexp(const Tensor& self, const DimsArg& dim, bool keepdim) {
  return log_of_sum(self, dim, keepdim, computed_logarithm(self));
}
Tensor& plain::logsumexp_out(Tensor& out, const Tensor& self, const DimsArg& dim, bool keepdim) {
  check_unrecorded(Op::logsumexp, out, self);
  if (!is_floating_point(out.dtype()))
    throw Error(std::string("logsumexp(): Expected floating point type for result tensor, but got: ") +
                scalar_type_name(out.dtype()));
  return write_result(Op::logsumexp, out, log_of_sum(self, dim, keepdim, out.dtype()));
}

Tensor plain::linalg_vector_norm(const Tensor& self, Scalar ord, const DimsArg& dim, bool keepdim,
                                 std::optional<Dtype> dtype) {
  if (!is_floating_point(self.dtype()))
    throw Error(std::string("linalg.vector_norm: Expected a floating point or complex tensor as input. Got ") +
                scalar_type_name(self.dtype()));
  const double power = ord.to<double>();
  check_norm_exists(self, power, dim.view());
  check_norm_dtypes(self.dtype(), dtype);
  mask_in_order(dim.view(), self.dim());
  const Dtype result = dtype.value_or(self.dtype());
  return fold({norm_of(power), result, result, 0, &power}, self, reduced_mask(dim.view(), self.dim()), keepdim);
}

}  // namespace tenon
