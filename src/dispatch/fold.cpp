// Reductions with a state of their own: what is refused, what dtypes are folded, and what nothing folds to.
#include "tile/fold.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <limits>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "dispatch/reduce.h"
#include "kernel/kernel.h"
#include "plan/plan.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/shape.h"
#include "tensor/impl.h"
#include "tile/run.h"
#include "type/visit.h"

namespace tenon {
namespace {

/// The dtype of the lanes that are folded: the narrowest that holds every element.
Dtype lanes_of(Op op, Dtype computed) {
  const auto& folds = kernels().state_fold[static_cast<int>(op)];
  const bool is_floating = is_floating_point(computed);
  const Dtype narrow = is_floating ? float32 : int32, wide = is_floating ? float64 : int64;
  const bool is_short = itemsize(computed) < 4 || computed == narrow;
  return is_short && folds[static_cast<int>(narrow)] ? narrow : wide;
}

/// What a fold gives, and of what.
struct Call {
  Op op;
  Dtype computed;
  Dtype results[kMostFolded];             // as many as the op has
  std::optional<double> of_nothing = {};  // where it is not what a state of no elements finishes as
  const double* numbers = nullptr;
};

template <std::size_t count>
using Results = std::array<Tensor, count>;

template <std::size_t count>
Results<count> new_results(const Call& call, SizesView sizes, Device device) {
  Results<count> outs;
  for (std::size_t i = 0; i < count; ++i) outs[i] = new_tensor(sizes, call.results[i], device);
  return outs;
}

template <std::size_t count>
Fold fold_into(const Call& call, const Results<count>& outs, Dtype input) {
  Fold fold{.op = call.op,
            .input = input,
            .lanes = lanes_of(call.op, call.computed),
            .outputs = {},
            .out = {},
            .numbers = call.numbers};
  for (std::size_t i = 0; i < count; ++i) {
    fold.outputs[i] = call.results[i];
    fold.out[i] = outs[i].data_ptr();
  }
  return fold;
}

/// The results where no element is reduced.
template <std::size_t count>
void write_nothing(const Call& call, const Results<count>& outs) {
  if (call.of_nothing) {
    for (const Tensor& out : outs) write_fill(out, *call.of_nothing);
    return;
  }
  const Results<count> one = new_results<count>(call, {}, Device::cpu);
  run_fold_of_nothing(fold_into(call, one, call.computed));
  for (std::size_t i = 0; i < count; ++i) write_fill(outs[i], one[i].item());
}

/// `out_strides`: of each of `outs`.
template <std::size_t count>
void run(const Call& call, const Results<count>& outs, SizesView out_strides, const Tensor& self, SizesView sizes,
         SizesView strides) {
  const StridedView strided[] = {{sizes, out_strides}, {sizes, strides}};
  Plan plan;
  make_reduction_plan(sizes, strided, 2, plan);
  run_fold(plan, fold_into(call, outs, self.dtype()), self.data_ptr());
}

/// The dims of contiguous elements, merged: up to two groups of dims are reduced. None: there are more.
std::optional<Groups> groups_of(SizesView sizes, SizesView mask) {
  Groups groups;
  int64_t* const parts[] = {&groups.outer, &groups.rows, &groups.kept, &groups.inner_rows, &groups.inner};
  int part = 0;
  for (int64_t dim = 0; dim < mask.size(); ++dim) {
    if (sizes[dim] == 1) continue;
    const bool is_reduced = mask[dim] != 0, is_of_reduced = part % 2 == 1;
    if (is_reduced != is_of_reduced) ++part;
    if (part == 5) return {};
    *parts[part] *= sizes[dim];  // exact: a part of the number of elements
  }
  return groups;
}

/// Folds few contiguous elements without a plan. False if the call needs one.
template <std::size_t count>
bool fold_few_elements(const Call& call, const Results<count>& outs, const Tensor& self, SizesView mask) {
  if (self.numel() > kFewNumel || !self.is_contiguous() || CourseRecord::now()) return false;
  const std::optional<Groups> groups = groups_of(self.sizes(), mask);
  if (!groups) return false;
  const Fold fold = fold_into(call, outs, self.dtype());
  if (groups->inner_rows > 1) return fold_few_groups(fold, self.data_ptr(), *groups);
  return fold_few(fold, self.data_ptr(), groups->outer, groups->rows, groups->kept);
}

/// The elements without those that only repeat results; undefined if there are none.
Tensor without_repeated_results(const Tensor& self, SizesView mask) {
  if (self.is_contiguous() || self.is_meta() || CourseRecord::now()) return {};
  Dims sizes = self.sizes().copy();
  for (int64_t dim = 0; dim < self.dim(); ++dim)
    if (!mask[dim] && self.stride(dim) == 0) sizes[dim] = 1;
  if (self.sizes() == sizes) return {};
  return new_alias(self, sizes, self.strides(), self.storage_offset(), self.dtype());
}
template <std::size_t count>
Results<count> folded(const Call& call, const Tensor& self, SizesView mask, bool keepdim);
/// The same results as those of `once`, repeated.
template <std::size_t count>
void repeat(const Call& call, const Results<count>& outs, const Tensor& once, SizesView sizes, SizesView mask) {
  const Results<count> results = folded<count>(call, once, mask, true);
  const Dims shape = reduced_shape(sizes, mask, true);
  for (std::size_t i = 0; i < count; ++i) {
    run_copy(new_alias(outs[i], shape, contiguous_strides(shape), 0, outs[i].dtype()), results[i].expand(shape));
    forget_writes(outs[i]);
  }
}

/// Folds `self` along the dims of `mask` into all results of the op.
template <std::size_t count>
Results<count> folded(const Call& call, const Tensor& self, SizesView mask, bool keepdim) {
  const Results<count> outs = new_results<count>(call, reduced_shape(self.sizes(), mask, keepdim), self.device());
  if (has_no_work(outs[0].numel(), outs[0].data_ptr())) return outs;
  if (self.numel() == 0)
    write_nothing(call, outs);
  else if (const Tensor once = without_repeated_results(self, mask); once.defined())
    repeat(call, outs, once, self.sizes(), mask);
  else if (!fold_few_elements(call, outs, self, mask))
    run(call, outs, spread_strides(outs[0].strides(), mask, keepdim), self, self.sizes(), self.strides());
  return outs;
}
Tensor fold(const Call& call, const Tensor& self, SizesView mask, bool keepdim) {
  return folded<1>(call, self, mask, keepdim)[0];
}
std::tuple<Tensor, Tensor> fold_two(const Call& call, const Tensor& self, SizesView mask, bool keepdim) {
  auto [first, second] = folded<2>(call, self, mask, keepdim);
  return {std::move(first), std::move(second)};
}

/// Of one dim, or of all.
Dims mask_of(std::optional<int64_t> dim, int64_t ndim) {
  Dims dims;
  if (dim) dims.push_back(*dim);
  return reduced_mask(dims, ndim);
}

bool reduces_one_element(SizesView sizes, SizesView mask) {
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    if (mask[dim] && sizes[dim] != 1) return false;
  return true;
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
    if (self.is_meta() && !stands_for_data(self)) throw Error(text);
    throw IndexError(text);
  }
}

/// Before anything is made.
void check_places(Op op, const Tensor& self, std::optional<int64_t> dim) {
  const Row& row = row_of(op);
  if (self.dtype() == bool_ && is_computed(self)) throw Error(row.refuses_bool);
  if (is_complex(self.dtype()) && is_computed(self)) throw Error(row.refuses_complex);
  // On meta PyTorch names argmax for both.
  check_place_exists(self, dim,
                     !is_computed(self) && !stands_for_data(self) ? "argmax" : (std::string(row.name) + "()").c_str());
}

/// The first of the equal elements along a dim that is expanded: it has the place that is asked for.
Tensor first_along(const Tensor& self, int64_t dim) {
  const int64_t along = wrap_dim(dim, self.dim());
  if (self.dim() == 0 || self.numel() == 0 || self.is_meta() || CourseRecord::now()) return self;
  if (self.sizes()[along] == 1 || self.strides()[along] != 0) return self;
  Dims sizes = self.sizes().copy();
  sizes[along] = 1;
  return new_alias(self, sizes, self.strides(), self.storage_offset(), self.dtype());
}

Tensor place_of(Op op, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_places(op, self, dim);
  const Dims mask = mask_of(dim, self.dim());
  Tensor out = new_tensor(reduced_shape(self.sizes(), mask, keepdim), int64, self.device());
  if (has_no_work(out.numel(), out.data_ptr())) return out;
  if (dim && self.dim() > 0 && self.sizes()[wrap_dim(*dim, self.dim())] == 1) {
    write_fill(out, 0);
    return out;
  }
  check_has_code(row_of(op), self.dtype());
  const Call call{op, self.dtype(), {int64}};
  if (dim) return fold(call, first_along(self, *dim), mask, keepdim);
  // Places count through the elements in order.
  const Tensor in_order = self.is_contiguous() ? self : run_clone(self, MemoryFormat::contiguous);
  run<1>(call, {out}, {0}, in_order, {self.numel()}, {1});
  return out;
}

Tensor& write_place(Op op, Tensor& out, const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  check_places(op, self, dim);
  check_strict_out(out, int64);
  return write_result(op, out, place_of(op, self, dim, keepdim));
}

// --- max, min, aminmax

void check_not_empty(Op op, const Tensor& self) {
  if (self.numel() == 0 && is_computed(self))
    throw Error(std::string(row_of(op).name) +
                "(): Expected reduction dim to be specified for input.numel() == 0. Specify the reduction dim with the "
                "'dim' argument.");
}

/// `op` is max or min, `fold` what reduces all dims to it.
Tensor extreme_of(Op op, Op fold, const Tensor& self) {
  check_not_empty(op, self);
  if (!is_computed(self)) return new_tensor({}, self.dtype(), self.device());
  check_has_code(row_of(op), self.dtype());
  return run_reduce(fold, self, {}, false, {});
}

/// The end of the dtype's range from which the search begins: what PyTorch writes for nothing into out=.
Scalar extreme_of_nothing(Op op, Dtype dtype) {
  const bool largest = op == Op::max;
  if (is_floating_point(dtype)) return largest ? -__builtin_inf() : __builtin_inf();
  return visit_dtype(dtype, [&]<class T>() -> Scalar {
    if constexpr (std::is_integral_v<T>)
      return largest ? std::numeric_limits<T>::lowest() : std::numeric_limits<T>::max();
    else
      return 0;
  });
}

Tensor& write_extreme(Op op, Op fold, Tensor& out, const Tensor& self) {
  check_unrecorded(op, out, self);
  if (!can_cast(self.dtype(), out.dtype()))
    throw Error(
        "Expected canCast( typeMetaToScalarType(self.dtype()), typeMetaToScalarType(out.dtype())) to be true, but got "
        "false.  (Could this error message be improved?  If so, please report an enhancement request to PyTorch.)");
  if (self.is_meta()) return write_result(op, out, extreme_of(op, fold, self));
  check_has_code(row_of(op), self.dtype());
  const Scalar extreme = self.numel() > 0 ? extreme_of(op, fold, self).item() : extreme_of_nothing(op, self.dtype());
  check_fill(extreme, out.dtype(), 1);
  Tensor result = new_tensor({}, self.dtype(), self.device());
  write_fill(result, extreme);
  return write_result(op, out, result);
}

std::tuple<Tensor, Tensor> extreme_and_place(Op op, const Tensor& self, int64_t dim, bool keepdim) {
  const Dims mask = mask_of(dim, self.dim());
  const Call call{op, self.dtype(), {self.dtype(), int64}};
  if (is_computed(self)) check_place_exists(self, dim, (std::string(row_of(op).name) + "()").c_str());
  if (is_computed(self) && is_complex(self.dtype())) throw Error(row_of(op).refuses_complex);
  if (self.dim() == 0 && is_computed(self)) {
    Tensor place = new_tensor({}, int64, self.device());
    write_fill(place, 0);
    return {run_clone(self, MemoryFormat::contiguous), std::move(place)};
  }
  if (self.numel() > 0 && is_computed(self)) check_has_code(row_of(op), self.dtype());
  return fold_two(call, first_along(self, dim), mask, keepdim);
}

void check_extremes_exist(const Tensor& self, std::optional<int64_t> dim) {
  const bool is_empty = self.numel() == 0 && (!dim || self.sizes()[wrap_dim(*dim, self.dim())] == 0);
  if (self.is_meta() && is_empty)
    throw Error("reducing over zero-size dimension for reduction operation without identity");
  if (dim) return check_place_exists(self, dim, "aminmax");
  if (is_empty)
    throw Error("aminmax(): cannot compute aminmax over an empty dimension as the operation has no identity.");
}

// --- var, std

double correction_or_one(const std::optional<Scalar>& correction) { return correction ? correction->to<double>() : 1; }
/// What the number of elements is reduced by. NaN leaves no degree of freedom, as in PyTorch.
double reduction_of_count(const std::optional<Scalar>& correction) {
  const double less = correction_or_one(correction);
  return std::isnan(less) ? std::numeric_limits<double>::infinity() : less;
}

void check_spread(const Tensor& self, SizesView dims, const char* names = "std and var") {
  if (!is_inexact(self.dtype())) throw Error(std::string(names) + " only support floating point and complex dtypes");
  mask_in_order(dims, self.dim());
}

Tensor spread_of(Op op, const Tensor& self, const DimsArg& dim, const std::optional<Scalar>& correction, bool keepdim) {
  check_spread(self, dim.view());
  if (is_complex(self.dtype())) {
    const auto of = [&](const Tensor& parts) { return spread_of(Op::var, parts, dim, correction, keepdim); };
    Tensor both = of(real(self.detach())).add_(of(imag(self.detach())));
    if (op == Op::std_) both.sqrt_();
    forget_writes(both);
    return both;
  }
  const double less = reduction_of_count(correction);
  return fold({op, self.dtype(), {self.dtype()}, std::nan(""), &less}, self, reduced_mask(dim.view(), self.dim()),
              keepdim);
}

/// The warning that a result of so many elements deserves; empty: none.
std::string freedom_warning(Op op, const Tensor& self, int64_t results, const std::optional<Scalar>& correction) {
  const double count = results == 0 ? 0 : static_cast<double>(self.numel()) / static_cast<double>(results);
  if (self.is_meta() || !(count - correction_or_one(correction) <= 0)) return {};  // of NaN there is none
  return std::string(row_of(op).name) +
         "(): degrees of freedom is <= 0. Correction should be strictly less than the reduction factor "
         "(input numel divided by output numel).";
}

/// Of complex numbers PyTorch warns twice: of their real and of their imaginary parts.
void warn_of_freedom(const std::string& warning, const Tensor& self) {
  if (warning.empty()) return;
  warn("UserWarning", warning);
  if (is_complex(self.dtype())) warn("UserWarning", warning);
}

Tensor warned_spread(Op op, const Tensor& self, const DimsArg& dim, const std::optional<Scalar>& correction,
                     bool keepdim) {
  const Tensor out = spread_of(op, self, dim, correction, keepdim);
  warn_of_freedom(freedom_warning(op, self, out.numel(), correction), self);
  return out;
}

/// The numbers of such parts.
Tensor of_parts(const Tensor& re, const Tensor& im) {
  const Tensor numbers = new_tensor(re.sizes(), to_complex(re.dtype()), re.device());
  if (!is_computed(numbers)) return numbers;
  run_copy(view_as_real(numbers).select(-1, 0), re);
  run_copy(view_as_real(numbers).select(-1, 1), im);
  forget_writes(numbers);
  return numbers;
}

/// var_mean, std_mean. Of complex numbers by their parts.
std::tuple<Tensor, Tensor> spread_and_mean(Op op, const Tensor& self, const DimsArg& dim,
                                           const std::optional<Scalar>& correction, bool keepdim) {
  check_spread(self, dim.view(), row_of(op).name);
  const double less = reduction_of_count(correction);
  const auto folded = [&](Op fold, const Tensor& given) {
    const Dtype dtype = given.dtype();
    return fold_two({fold, dtype, {dtype, dtype}, std::nan(""), &less}, given, reduced_mask(dim.view(), given.dim()),
                    keepdim);
  };
  const auto folded_parts = [&]() -> std::tuple<Tensor, Tensor> {
    const auto [re_variance, re_mean] = folded(Op::var_mean, real(self.detach()));
    const auto [im_variance, im_mean] = folded(Op::var_mean, imag(self.detach()));
    const Tensor variance = re_variance + im_variance;
    return {op == Op::std_mean ? sqrt(variance) : variance, of_parts(re_mean, im_mean)};
  };
  auto results = is_complex(self.dtype()) ? folded_parts() : folded(op, self);
  warn_of_freedom(freedom_warning(op, self, std::get<0>(results).numel(), correction), self);
  return results;
}

}  // namespace

std::tuple<Tensor, Tensor> wide_var_mean(const Tensor& self, SizesView dims) {
  const double correction = 0;
  const Dtype wide = widened(self.dtype());
  return fold_two({Op::var_mean, self.dtype(), {wide, wide}, std::nan(""), &correction}, self,
                  reduced_mask(dims, self.dim()), false);
}

namespace {

/// What PyTorch folds into `out`: the elements in its dtype, unless there is one result. Then 16-bit ones are refused.
Tensor in_dtype_of(const Tensor& out, const Tensor& self, SizesView mask) {
  if (!is_inexact(out.dtype()) || is_complex(self.dtype())) return self;
  const bool is_one = self.numel() != 0 && numel_of(reduced_shape(self.sizes(), mask, false)) == 1;
  if (is_one && itemsize(self.dtype()) == 2 && itemsize(out.dtype()) > 2 && is_computed(self))
    throw Error(std::string("std_var_all: Unsupported dtype ") + scalar_type_name(self.dtype()));
  if (is_complex(out.dtype())) {
    if (!is_one && self.numel() > 0) fail_no_code("std_cpu", out.dtype());
    return self;
  }
  return is_one && itemsize(out.dtype()) > 2 ? self : run_to(self, out.dtype(), MemoryFormat::preserve);
}

/// PyTorch warns of the new size first, but for complex numbers. The text is made before anything is written.
Tensor& write_spread(Op op, Tensor& out, const Tensor& self, const DimsArg& dim,
                     const std::optional<Scalar>& correction, bool keepdim) {
  check_unrecorded(op, out, self);
  check_spread(self, dim.view());
  const Dims mask = reduced_mask(dim.view(), self.dim());
  // PyTorch adds up the variances of the parts in `out`, and takes their root there.
  const bool roots_out = op == Op::std_ && is_complex(self.dtype()) && is_complex(out.dtype());
  Tensor result = spread_of(roots_out ? Op::var : op, in_dtype_of(out, self, mask), dim, correction, keepdim);
  const std::string warning = freedom_warning(op, self, result.numel(), correction);
  const bool warns_first = is_complex(self.dtype());
  if (warns_first) warn_of_freedom(warning, self);
  write_result(op, out, roots_out ? run_to(result, out.dtype(), MemoryFormat::preserve).sqrt_() : result);
  if (!warns_first) warn_of_freedom(warning, self);
  return out;
}

// --- logsumexp

Dtype computed_logarithm(const Tensor& self) { return is_inexact(self.dtype()) ? self.dtype() : get_default_dtype(); }

/// As PyTorch computes it: by the largest real part, and summed in the dtype of the result, be it a real one.
Tensor log_of_complex_sum(const Tensor& self, SizesView dims, bool keepdim, Dtype result) {
  if (self.numel() == 0) return log(sum(exp(self), dims, keepdim, result));
  const Tensor largest = amax(real(self), dims, true);
  const Tensor finite = where(isfinite(largest), largest, 0);
  const Tensor sums = log(sum(exp(self - finite), dims, true, result)) + finite;
  if (keepdim) return sums;
  const Dims shape = reduced_shape(self.sizes(), reduced_mask(dims, self.dim()), false);
  return sums.reshape(shape).detach();  // not a view
}

Tensor log_of_sum(const Tensor& self, const DimsArg& dim, bool keepdim, Dtype result) {
  // PyTorch reduces all dims here, and keeps those of the maximum.
  if (dim.view().empty() && !keepdim && self.dim() > 0 && self.numel() != 0)
    throw Error("output with shape [] doesn't match the broadcast shape " + to_string(Dims(self.dim(), 1)));
  if (is_complex(self.dtype())) return log_of_complex_sum(self.detach(), dim.view(), keepdim, result);
  return fold({Op::logsumexp, computed_logarithm(self), {result}}, self, reduced_mask(dim.view(), self.dim()), keepdim);
}

// --- nansum, nanmean

void check_sums_numbers(const Tensor& self) {
  if (is_complex(self.dtype()) && is_computed(self)) throw Error("nansum on CPU does not support complex inputs");
}

/// Of floats, in `result`, to which elements are rounded before they are added up.
Tensor sum_of_numbers(const Tensor& self, const DimsArg& dim, bool keepdim, Dtype result) {
  const bool rounds = itemsize(result) == 2 && result != self.dtype();
  const Dims mask = mask_in_order(dim.view(), self.dim());
  if (self.numel() > 0 && is_computed(self)) check_has_code(row_of(Op::nansum), result);
  // An integer result has no states: nothing sums to 0 in any dtype.
  return fold({Op::nansum, result, {result}, 0}, rounds ? run_to(self, result, MemoryFormat::preserve) : self,
              reduced_mask(dim.view(), self.dim()), keepdim);
}

/// What goes into `out`.
Tensor sum_of_numbers_for(const Tensor& out, const Tensor& self, const DimsArg& dim, bool keepdim,
                          std::optional<Dtype> dtype) {
  if (dtype && *dtype != out.dtype())
    throw Error(std::string("nansum: provided dtype must match dtype of result. Got ") + scalar_type_name(out.dtype()) +
                " and " + scalar_type_name(*dtype) + ".");
  return sum_of_numbers(self, dim, keepdim, out.dtype());
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

}  // namespace

void check_norm_dtypes(const char* op, Dtype input, std::optional<Dtype> asked) {
  if (!asked) return;
  const std::string name = std::string(op) + ": ";
  if (!is_inexact(*asked))
    throw Error(name + "dtype should be floating point or complex, but got " + scalar_type_name(*asked));
  if (is_complex(input) != is_complex(*asked)) {
    const std::string kind = is_complex(input) ? "complex" : "real";
    throw Error(name + "dtype should be " + kind + " for " + kind + " inputs, but got " + scalar_type_name(*asked));
  }
  if (promote_types(input, *asked) != *asked)
    throw Error(name + "the dtype of the input (" + scalar_type_name(input) +
                ") should be convertible without narrowing to the specified dtype (" + scalar_type_name(*asked) + ")");
}

namespace {

/// Of one element, the norm is its magnitude, whatever its order but 0. `shape` has the elements of `self`.
Tensor magnitudes_of(const Tensor& self, SizesView shape, Dtype dtype) {
  Tensor result = new_tensor(shape, dtype, self.device()), out = result.view(self.sizes());
  abs_out(out, dtype == self.dtype() ? self.detach() : run_to(self.detach(), dtype, MemoryFormat::preserve));
  forget_writes(result);
  return result;
}

Op norm_of(double ord) {
  if (ord == 0) return Op::count_nonzero;
  if (ord == 1) return Op::norm_1;
  if (ord == 2) return Op::linalg_vector_norm;
  if (ord == __builtin_inf()) return Op::norm_largest;
  return ord == -__builtin_inf() ? Op::norm_smallest : Op::norm_power;
}

}  // namespace

List<Tensor> fold_states(Op op, int results, const Tensor& self, SizesView dims, bool keepdim,
                         std::optional<Dtype> dtype) {
  const Dims mask = reduced_mask(dims, self.dim());
  const Dtype result = reduced_dtype(op, self.dtype(), dtype);
  if (is_computed(self)) check_has_code(row_of(op), result);
  // Elements are rounded to the dtype asked for first, as those of a sum are.
  const bool rounds = result != self.dtype() && (dtype || result == bool_);
  const Tensor elements = rounds ? run_to(self, result, MemoryFormat::preserve) : self;
  const Call call{op, result, {result, result}};
  return results == 1 ? List<Tensor>{fold(call, elements, mask, keepdim)}
                      : as_list(fold_two(call, elements, mask, keepdim));
}

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

Tensor plain::max(const Tensor& self) { return extreme_of(Op::max, Op::amax, self); }
Tensor plain::min(const Tensor& self) { return extreme_of(Op::min, Op::amin, self); }
Tensor& plain::max_out(Tensor& out, const Tensor& self) { return write_extreme(Op::max, Op::amax, out, self); }
Tensor& plain::min_out(Tensor& out, const Tensor& self) { return write_extreme(Op::min, Op::amin, out, self); }

Tensor plain::max_other(const Tensor& self, const Tensor& other) { return maximum(self, other); }
Tensor plain::min_other(const Tensor& self, const Tensor& other) { return minimum(self, other); }
Tensor& plain::max_other_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return maximum_out(out, self, other);
}
Tensor& plain::min_other_out(Tensor& out, const Tensor& self, const Tensor& other) {
  return minimum_out(out, self, other);
}

std::tuple<Tensor, Tensor> plain::max_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_and_place(Op::max_dim, self, dim, keepdim);
}
std::tuple<Tensor, Tensor> plain::min_dim(const Tensor& self, int64_t dim, bool keepdim) {
  return extreme_and_place(Op::min_dim, self, dim, keepdim);
}

std::tuple<Tensor, Tensor> plain::aminmax(const Tensor& self, std::optional<int64_t> dim, bool keepdim) {
  const Dims mask = mask_of(dim, self.dim());
  check_extremes_exist(self, dim);
  if (dim && self.dim() == 0 && is_complex(self.dtype()) && is_computed(self))
    throw Error(std::string("aminmax not implemented for ") + scalar_type_name(self.dtype()));
  if (dim && self.dim() == 0 && !self.is_meta())
    return {run_clone(self, MemoryFormat::contiguous), run_clone(self, MemoryFormat::contiguous)};
  if (is_computed(self)) check_has_code(row_of(Op::aminmax), self.dtype());
  // Bytes of bool may have any value.
  if (self.dtype() != bool_ && self.numel() > 0 && is_computed(self) && reduces_one_element(self.sizes(), mask)) {
    const Tensor extremes = run_clone(self, MemoryFormat::contiguous);
    const Tensor result = extremes.view(reduced_shape(self.sizes(), mask, keepdim));
    return {result, run_clone(result, MemoryFormat::contiguous)};
  }
  return fold_two({Op::aminmax, self.dtype(), {self.dtype(), self.dtype()}}, self, mask, keepdim);
}

Tensor plain::count_nonzero(const Tensor& self, const DimsArg& dim) {
  const Dims mask = reduced_mask(dim.view(), self.dim());
  // Where dims are named PyTorch sums comparisons, which know every dtype.
  if (dim.view().empty() && is_computed(self)) check_has_code(row_of(Op::count_nonzero), self.dtype());
  const Tensor real = is_complex(self.dtype()) ? run_to(self, bool_, MemoryFormat::preserve) : self;
  if (itemsize(real.dtype()) == 1) return run_reduce(Op::sum, with_bytes_of(real, bool_), dim.view(), false, {});
  return fold({Op::count_nonzero, real.dtype(), {int64}}, real, mask, false);
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

std::tuple<Tensor, Tensor> plain::var_mean(const Tensor& self, const DimsArg& dim, std::optional<Scalar> correction,
                                           bool keepdim) {
  return spread_and_mean(Op::var_mean, self, dim, correction, keepdim);
}
std::tuple<Tensor, Tensor> plain::std_mean(const Tensor& self, const DimsArg& dim, std::optional<Scalar> correction,
                                           bool keepdim) {
  return spread_and_mean(Op::std_mean, self, dim, correction, keepdim);
}

Tensor plain::logsumexp(const Tensor& self, const DimsArg& dim, bool keepdim) {
  return log_of_sum(self, dim, keepdim, computed_logarithm(self));
}
Tensor& plain::logsumexp_out(Tensor& out, const Tensor& self, const DimsArg& dim, bool keepdim) {
  check_unrecorded(Op::logsumexp, out, self);
  if (!is_inexact(out.dtype()))
    throw Error(std::string("logsumexp(): Expected floating point type for result tensor, but got: ") +
                scalar_type_name(out.dtype()));
  const bool becomes_complex = is_complex(out.dtype()) && !is_complex(self.dtype());
  const Tensor given = becomes_complex ? run_to(self, out.dtype(), MemoryFormat::preserve) : self;
  return write_result(Op::logsumexp, out, log_of_sum(given, dim, keepdim, out.dtype()));
}

namespace {

/// What is summed in integers: they know no NaN.
Tensor without_nan(const Tensor& self) {
  // PyTorch also replaces infinities by the largest number, which is too large for an integer, too, except in float16.
  const Tensor plain = self.dtype() == float16 ? tenon::clamp(self.detach(), -65504, 65504) : self.detach();
  return where(isnan(plain), Scalar(0), plain);
}

}  // namespace

Tensor plain::nansum(const Tensor& self, const DimsArg& dim, bool keepdim, std::optional<Dtype> dtype) {
  mask_in_order(dim.view(), self.dim());
  check_sums_numbers(self);
  if (!is_inexact(self.dtype())) return run_reduce(Op::sum, self, dim.view(), keepdim, dtype);
  if (!dtype || is_inexact(*dtype)) return sum_of_numbers(self, dim, keepdim, dtype.value_or(self.dtype()));
  return tenon::sum(without_nan(self), dim, keepdim, dtype);
}
Tensor& plain::nansum_out(Tensor& out, const Tensor& self, const DimsArg& dim, bool keepdim,
                          std::optional<Dtype> dtype) {
  check_unrecorded(Op::nansum, out, self);
  check_sums_numbers(self);
  if (!is_inexact(self.dtype())) return tenon::sum_out(out, self, dim, keepdim, dtype);
  if (dtype && !is_inexact(*dtype)) return tenon::sum_out(out, without_nan(self), dim, keepdim, dtype);
  return write_result(Op::nansum, out, sum_of_numbers_for(out, self, dim, keepdim, dtype));
}

Tensor plain::nanmean(const Tensor& self, const DimsArg& dim, bool keepdim, std::optional<Dtype> dtype) {
  if (!is_inexact(self.dtype()))
    throw Error(std::string("nanmean(): expected input to have floating point or complex dtype but got ") +
                scalar_type_name(self.dtype()));
  if (dtype && !is_inexact(*dtype)) fail_mean("nanmean", "Optional", *dtype);
  const Tensor count = tenon::sum(isnan(self.detach()).logical_not(), dim, keepdim);
  return tenon::nansum(self, dim, keepdim, dtype) / count;
}
Tensor& plain::nanmean_out(Tensor& out, const Tensor& self, const DimsArg& dim, bool keepdim,
                           std::optional<Dtype> dtype) {
  if (!is_inexact(self.dtype()))
    throw Error("nanmean(): integral types and 'Bool' are not supported for nanmean, even for empty tensors.");
  if (dtype && !is_inexact(*dtype)) fail_mean("nanmean", "Optional", *dtype);
  const Tensor count = tenon::sum(isnan(self.detach()).logical_not(), dim, keepdim);
  check_unrecorded(Op::nansum, out, self);
  check_sums_numbers(self);
  write_result(Op::nansum, out, sum_of_numbers_for(out, self, dim, keepdim, dtype).div_(count));
  bump_version(out);  // PyTorch divides in `out`
  return out;
}

namespace {

Tensor vector_norm(const Tensor& self, Scalar ord, const DimsArg& dim, bool keepdim, std::optional<Dtype> dtype) {
  if (!is_inexact(self.dtype()))
    throw Error(std::string("linalg.vector_norm: Expected a floating point or complex tensor as input. Got ") +
                scalar_type_name(self.dtype()));
  if (ord.is_complex()) throw Error("linalg.vector_norm: Expected a non-complex scalar as the order of norm.");
  const double power = ord.to<double>();
  check_norm_exists(self, power, dim.view());
  check_norm_dtypes("linalg.vector_norm", self.dtype(), dtype);
  mask_in_order(dim.view(), self.dim());
  const Dtype result = to_real(dtype.value_or(self.dtype()));
  // Of complex numbers the norm of the magnitudes.
  if (is_complex(self.dtype())) return vector_norm(abs(self.detach()), ord, dim, keepdim, result);
  const Dims mask = reduced_mask(dim.view(), self.dim());
  if (power != 0 && self.numel() > 0 && is_computed(self) && reduces_one_element(self.sizes(), mask))
    return magnitudes_of(self, reduced_shape(self.sizes(), mask, keepdim), result);
  return fold({norm_of(power), result, {result}, 0, &power}, self, mask, keepdim);
}

/// PyTorch compares complex numbers with 0, and copies what it has nothing to add to, but for a dim that a 0-dim tensor
/// is said to have.
void warn_of_compared_parts(const Tensor& self, Scalar ord, const DimsArg& dim, const Tensor& result) {
  const bool copies = result.numel() == self.numel() && (self.dim() > 0 || dim.view().empty());
  if (ord.to<double>() == 0 && copies) warn_of_lost_parts(self.dtype(), result.dtype(), self.numel());
}

/// Whether PyTorch computes the norm as an elementwise op that reads `self` itself.
bool is_elementwise_norm(const Tensor& self, Scalar ord, std::optional<Dtype> dtype, const Tensor& result) {
  if (result.numel() != self.numel() || dtype.value_or(self.dtype()) != self.dtype()) return false;
  return !is_complex(self.dtype()) || ord.to<double>() == 0;  // the magnitudes of complex numbers are copied into out=
}

}  // namespace

Tensor plain::linalg_vector_norm(const Tensor& self, Scalar ord, const DimsArg& dim, bool keepdim,
                                 std::optional<Dtype> dtype) {
  const Tensor result = vector_norm(self, ord, dim, keepdim, dtype);
  warn_of_compared_parts(self, ord, dim, result);
  return result;
}
Tensor& plain::linalg_vector_norm_out(Tensor& out, const Tensor& self, Scalar ord, const DimsArg& dim, bool keepdim,
                                      std::optional<Dtype> dtype) {
  check_unrecorded(Op::linalg_vector_norm, out, self);
  const Tensor result = vector_norm(self, ord, dim, keepdim, dtype);
  check_strict_out(out, result.dtype());
  warn_of_compared_parts(self, ord, dim, result);
  if (!is_elementwise_norm(self, ord, dtype, result)) return write_result(Op::linalg_vector_norm, out, result);
  const Tensor operand = self.reshape(result.sizes());
  return write_result(Op::linalg_vector_norm, out, result, &operand);
}

namespace {

/// Of a norm that is named, its ord; in Python the name is left out where it is "fro". Others are norms of matrices.
Scalar ord_of(const char* given, const Tensor& self, SizesView dims) {
  const std::string name = given ? given : "fro", matrix_norm = "linalg.matrix_norm: ";
  if (name == "fro" && dims.size() <= 2) return 2;
  if (name != "fro" && name != "nuc") throw Error(matrix_norm + "Order " + name + " not supported.");
  if (self.dim() < 2) throw Error(matrix_norm + "The input tensor A must have at least 2 dimensions.");
  if (!is_inexact(self.dtype()))
    throw Error(matrix_norm + "Expected a floating point or complex tensor as input. Got " +
                scalar_type_name(self.dtype()));
  Dims all;
  for (int64_t dim = 0; dim < self.dim(); ++dim) all.push_back(dim);
  const SizesView named = dims.data() ? dims : SizesView(all);
  if (named.size() == 2)
    throw NotImplementedError(
        matrix_norm + "Order nuc needs singular values, which are not in Tenon; numpy.linalg.norm(x, 'nuc') works");
  std::string text = matrix_norm + "dim must be a 2-tuple. Got";
  for (int64_t dim : named) text += " " + std::to_string(dim);
  throw Error(text);
}

}  // namespace

Tensor plain::norm(const Tensor& self, std::optional<Scalar> p, const DimsArg& dim, bool keepdim,
                   std::optional<Dtype> dtype) {
  return tenon::linalg_vector_norm(self, p.value_or(2), dim, keepdim, dtype);
}
Tensor& plain::norm_out(Tensor& out, const Tensor& self, std::optional<Scalar> p, const DimsArg& dim, bool keepdim,
                        std::optional<Dtype> dtype) {
  return tenon::linalg_vector_norm_out(out, self, p.value_or(2), dim, keepdim, dtype);
}
Tensor plain::norm_named(const Tensor& self, const char* p, const DimsArg& dim, bool keepdim,
                         std::optional<Dtype> dtype) {
  return tenon::linalg_vector_norm(self, ord_of(p, self, dim.view()), dim, keepdim, dtype);
}
Tensor& plain::norm_named_out(Tensor& out, const Tensor& self, const char* p, const DimsArg& dim, bool keepdim,
                              std::optional<Dtype> dtype) {
  return tenon::linalg_vector_norm_out(out, self, ord_of(p, self, dim.view()), dim, keepdim, dtype);
}

}  // namespace tenon
