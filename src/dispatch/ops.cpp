// The public functions of ops in every form, with the checks that PyTorch makes before it looks at shapes.
#include "tenon/ops.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>
#include <optional>
#include <vector>

#include "dispatch/algorithm.h"
#include "dispatch/complex_half.h"
#include "dispatch/differentiate.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "dispatch/reduce.h"
#include "dispatch/resolve.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tenon/random.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "type/complex_half.h"
#include "type/overflow.h"

namespace tenon {
namespace {

/// The destination of a result: a new tensor, `out=`, or self.
struct Target {
  Form form = Form::functional;
  Tensor* tensor = nullptr;

  bool given() const noexcept { return form != Form::functional; }
};

/// Runs an op. Returns the new result of the functional form, otherwise an undefined tensor. Inlined, so that each form
/// calls its own function directly.
[[gnu::always_inline]] inline Tensor run_form(Op op, const Target& target, Args args, int count) {
  if (!target.given()) return elementwise(op, args, count);
  if (target.form == Form::out)
    elementwise_out(op, *target.tensor, args, count);
  else
    elementwise_inplace(op, *target.tensor, args, count);
  return {};
}

/// Checks history before all other checks.
void check_history(Op op, const Target& target, std::initializer_list<const Arg*> args) {
  const bool writes_self = target.form == Form::inplace;
  check_history(op, writes_self ? nullptr : target.tensor, writes_self ? target.tensor : nullptr, args.begin(),
                static_cast<int>(args.size()));
}

bool is_bool(const Arg& arg) { return arg.is_tensor() ? arg.tensor().dtype() == bool_ : arg.number().is_boolean(); }

void check_subtraction(const Target& target, const Arg& self, const Arg& other) {
  if (!is_bool(self) && !is_bool(other)) [[likely]]
    return;
  check_history(Op::sub, target, {&self, &other});
  if (is_bool(self) && is_bool(other))
    throw Error(
        "Subtraction, the `-` operator, with two bool tensors is not supported. Use the `^` or `logical_xor()` "
        "operator instead.");
  throw Error(
      "Subtraction, the `-` operator, with a bool tensor is not supported. If you are trying to invert a mask, use "
      "the `~` or "
      "`logical_not()` operator instead.");
}

bool is_one(Scalar alpha) { return alpha.kind() == Scalar::Kind::integer && alpha.as_int64() == 1; }

Scalar negated(Scalar alpha) {
  if (alpha.is_complex()) return Complex128{-alpha.as_complex().re, -alpha.as_complex().im};
  if (alpha.is_boolean()) return alpha;  // an error later, or -True, which is True
  // 2^63 and more wraps, as in PyTorch.
  return alpha.is_floating() ? Scalar(-alpha.as_double())
                             : Scalar(static_cast<int64_t>(-static_cast<uint64_t>(alpha.as_int64())));
}

[[gnu::always_inline]] inline Tensor binary_alpha(Op op, Op variant, const Target& target, const Arg& self,
                                                  const Arg& other, Scalar alpha) {
  if (op == Op::sub) check_subtraction(target, self, other);
  const Arg* const operands[] = {&self, &other};
  if (is_one(alpha)) [[likely]]
    return run_form(op, target, operands, 2);
  const Arg scale(op == Op::sub ? negated(alpha) : alpha);
  const Arg* const args[] = {&self, &other, &scale};
  return run_form(variant, target, args, 3);
}

Op division_variant(const Target& target, const Arg& self, const Arg& other, const char* rounding_mode) {
  if (!rounding_mode) return Op::div;
  if (std::strcmp(rounding_mode, "trunc") == 0) return Op::div_trunc;
  if (std::strcmp(rounding_mode, "floor") == 0) return Op::div_floor;
  check_history(Op::div, target, {&self, &other});
  throw Error("div expected rounding_mode to be one of None, 'trunc', or 'floor' but found '" +
              std::string(rounding_mode) + "'");
}

/// Checks that number bounds do not change the dtype of `self` in place.
void check_inplace_bounds(const Target& target, const Tensor& self, const Arg* const* args, int count) {
  if (!target.tensor || !target.tensor->is(self) || is_floating_point(self.dtype())) return;
  TypedOperand operands[3];
  for (int i = 0; i < count; ++i) operands[i] = typed(*args[i]);
  const Dtype common = result_type(operands, count);
  if (common == self.dtype()) return;
  check_history(Op::clamp, target, {args[0]});
  throw Error(std::string("result type ") + scalar_type_name(common) + " can't be cast to the desired output type " +
              cpp_type_name(self.dtype()));
}

/// Checks the numbers of where, which become 0-dim tensors of the result's dtype: they must fit, except for 16-bit
/// floats, where they may become infinite.
void check_selected_types(const Target& target, const Arg& self, const Arg& other) {
  const TypedOperand operands[] = {typed(self), typed(other)};
  const bool has_half = operands[0].dtype == float16 || operands[1].dtype == float16;
  if (has_half && is_complex_half(operands, 2)) {
    if (!target.given()) return;  // run_form says that there is no such result
    throw Error(std::string("Expected out type to be ComplexHalf but got ") + scalar_type_name(target.tensor->dtype()));
  }
  const Dtype common = result_type(operands, 2);
  for (const Arg* arg : {&self, &other})
    if (!arg->is_tensor() && widened(common) == common) check_fits(arg->number(), common);
  if (target.given() && target.tensor->dtype() != common)
    throw Error(std::string("Expected out type to be ") + scalar_type_name(common) + " but got " +
                scalar_type_name(target.tensor->dtype()));
}

// --- Algorithms

/// Throws Error for an undefined tensor.
template <class... Operands>
void check_defined(const Operands&... operands) {
  (static_cast<void>(operands.impl()), ...);
}
bool has_history(const Tensor& tensor) { return tensor.impl()->in_graph; }
bool has_history(const List<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return has_history(tensor); });
}
bool has_observer(const List<Tensor>& tensors) {
  return std::any_of(tensors.begin(), tensors.end(), [](const Tensor& tensor) { return tenon::has_observer(tensor); });
}
template <class... Operands>
bool is_in_graph(const Operands&... operands) {
  return (has_history(operands) || ...);
}
template <class... Operands>
bool records(const Operands&... operands) {
  return is_in_graph(operands...) && (has_observer(operands) || ...);
}
/// Of operands that may be left out.
template <class... Operands>
bool records_given(const Operands&... operands) {
  return ((operands.defined() && records(operands)) || ...);
}

bool is_in_graph_if_given(const Tensor& tensor) { return tensor.defined() && has_history(tensor); }
bool is_in_graph_if_given(const List<Tensor>& tensors) { return has_history(tensors); }
/// Of an op without derivative: whether a function is traced that calls it.
template <class... Operands>
bool is_traced(const Operands&... operands) {
  return thread_modes.traced && (is_in_graph_if_given(operands) || ...);
}

/// For ops without promotion.
void check_same_dtype(const Arg& self, const Arg& other, const char* name) {
  if (!self.is_tensor() || !other.is_tensor() || self.tensor().dtype() == other.tensor().dtype()) [[likely]]
    return;
  throw Error(std::string("expected dtype ") + cpp_type_name(self.tensor().dtype()) + " for `" + name +
              "` but got dtype " + cpp_type_name(other.tensor().dtype()));
}

[[noreturn]] void fail_complex_clamp() { throw NotImplementedError("clamp is not supported for complex types"); }

/// Public functions that choose one of several ops.
namespace by_hand {

Tensor addcdiv(const Target& target, const Arg& self, const Arg& tensor1, const Arg& tensor2, Scalar value) {
  const auto is_integer = [](const Arg& arg) { return arg.is_tensor() && !is_inexact(arg.tensor().dtype()); };
  if (is_integer(tensor1) && is_integer(tensor2)) {
    check_history(Op::addcdiv, target, {&self, &tensor1, &tensor2});
    throw Error(
        "Integer division with addcdiv is no longer supported, and in a future  release addcdiv will perform a true "
        "division of tensor1 and tensor2. The historic addcdiv behavior can be implemented as (input + value * "
        "torch.trunc(tensor1 / tensor2)).to(input.dtype) for integer inputs and as (input + value * tensor1 / tensor2) "
        "for float inputs. The future addcdiv behavior is just the latter implementation: (input + value * tensor1 / "
        "tensor2), for all dtypes.");
  }
  const Arg factor(value);
  const Arg* const args[] = {&self, &tensor1, &tensor2, &factor};
  return run_form(Op::addcdiv, target, args, 4);
}

Tensor lerp(const Target& target, const Arg& self, const Arg& end, const Arg& weight) {
  const Op variant = weight.is_tensor() ? Op::lerp : Op::lerp_scalar;
  if (target.given()) check_history(variant, target, {&self, &end, &weight});
  check_same_dtype(self, end, "end");
  if (!weight.is_tensor() || weight.tensor().dim() > 0) check_same_dtype(self, weight, "weight");
  // A bool as 0 or 1: the derivative subtracts it.
  if (self.is_tensor() && is_inexact(self.tensor().dtype())) {
    if (!weight.is_tensor() && weight.number().is_boolean()) return lerp(target, self, end, weight.number().as_int64());
    if (weight.is_tensor() && weight.tensor().dtype() == bool_)
      return lerp(target, self, end, weight.tensor().to(int64));
  }
  const Arg* const args[] = {&self, &end, &weight};
  return run_form(variant, target, args, 3);
}

/// Rounds to decimals. The scale is computed in the compute dtype, where it may be infinite.
Tensor round_to(const Target& target, const Arg& self, int64_t decimals) {
  const double power = std::pow(10.0, std::abs(static_cast<double>(decimals)));
  const bool is_too_large = self.tensor().dtype() != float64 && power > std::numeric_limits<float>::max();
  const double scale = is_too_large ? kInfinity : power;
  const Arg number(decimals < 0 ? -scale : scale);
  const Arg* const args[] = {&self, &number};
  return run_form(Op::round_decimals, target, args, 2);
}

/// Whether an op on a tensor has the errors of computing it: it is computed, or planned as if it were.
bool is_run(const Tensor& tensor) { return is_computed(tensor) || CourseRecord::plans_meta(); }

/// PyTorch's error for integers rounded to 0 decimals. A wrong dtype of the output is reported before it.
void check_no_places(const Target& target, const Tensor& self) {
  const bool casts = target.given() && target.tensor->dtype() != self.dtype();
  if (casts || !is_run(self) || is_floating_point(self.dtype())) return;
  const Arg arg(self);
  check_history(Op::round, target, {&arg});
  if (target.given()) check_no_internal_overlap(*target.tensor);
  fail_no_code(row_of(Op::round).kernel_name, self.dtype());
}

Tensor round(const Target& target, const Tensor& input, std::optional<int64_t> decimals) {
  const Arg self(input);
  if (decimals && *decimals == 0) check_no_places(target, input);
  // To no places is round itself, but in a graph, where PyTorch names the node after decimals.
  const bool is_plain = decimals == 0 && is_floating_point(input.dtype()) && !is_recorded(input);
  if (decimals && !is_plain) return round_to(target, self, *decimals);
  const Arg* const args[] = {&self};
  return run_form(Op::round, target, args, 1);
}

/// Copies `self` to a new tensor, or to `out`, which gets these strides if it is resized. In place nothing is copied.
Tensor copied(const Target& target, const Tensor& self, SizesView strides) {
  if (!target.given()) return self.clone();
  if (target.form == Form::inplace) {
    bump_version(self);
    return {};
  }
  ResizedOutput resized(*target.tensor, self.sizes(), strides);
  run_copy(*target.tensor, self);
  resized.keep();
  return {};
}

/// A new result with the strides of empty_like, which can differ in dims of size 1 and without elements.
Tensor like_input(Tensor result, const Tensor& input) {
  if (result.defined())
    set_sizes_and_strides(result, input.sizes(), dense_strides_like(input.sizes(), input.strides()));
  return result;
}

Tensor nan_to_num(const Target& target, const Tensor& input, std::optional<double> nan, std::optional<double> posinf,
                  std::optional<double> neginf) {
  const Arg self(input);
  const Dtype dtype = input.dtype();
  if (target.given() && input.defined()) check_out_device(*target.tensor, input.device());
  if (target.given() && !input.is_meta() && target.tensor->dtype() != dtype) {
    check_history(Op::nan_to_num, target, {&self});
    throw Error(std::string("nan_to_num: dtype of out: ") + scalar_type_name(target.tensor->dtype()) +
                " should be same as input: " + scalar_type_name(dtype));
  }
  if (!is_inexact(dtype)) return copied(target, input, contiguous_strides(input.sizes()));
  if (is_complex(dtype)) {  // for each part
    if (target.given()) check_history(Op::nan_to_num, target, {&self});
    if (!target.given() && is_recorded(input))
      throw Error("nan_to_num does not support automatic differentiation for outputs with complex dtype.");
    const bool inplace = target.form == Form::inplace;
    if (target.form == Form::out && target.tensor->sizes() == input.sizes() && !share_memory(*target.tensor, input) &&
        !input.impl()->in_graph) {
      Tensor parts = view_as_real(*target.tensor);
      nan_to_num({Form::out, &parts}, view_as_real(input), nan, posinf, neginf);
      return {};
    }
    const StridedView view{input.sizes(), input.strides()};
    const Dims strides = result_strides(input.sizes(), &view, 1);
    const Tensor copy = inplace ? Tensor() : copied(target, input, strides);
    const Tensor whole = target.given() ? *target.tensor : copy;
    Tensor parts = view_as_real(whole);
    nan_to_num({Form::inplace, &parts}, parts, nan, posinf, neginf);
    if (!target.given()) forget_writes(copy);
    return copy;
  }
  const double largest = largest_finite(dtype);
  const Arg values[] = {nan.value_or(0), posinf.value_or(largest), neginf.value_or(-largest)};
  const Arg* const args[] = {&self, &values[0], &values[1], &values[2]};
  return like_input(run_form(Op::nan_to_num, target, args, 4), input);
}

/// Runs an op with bool results. `out=` must be bool.
Tensor truths(Op op, const Target& target, const Tensor& input, Op variant) {
  const Arg self(input);
  const bool is_refused = row_of(op).refuses_complex && input.defined() && is_complex(input.dtype());
  if (input.defined() && !is_refused && target.given() && target.tensor->dtype() != bool_) {
    check_history(op, target, {&self});
    throw Error(std::string(row_of(op).name) + " does not support non-boolean outputs.");
  }
  const Arg* const args[] = {&self};
  return run_form(variant, target, args, 1);
}
Tensor signbit(const Target& target, const Tensor& self) {
  // Unsigned integers have no negative values: isneginf gives False for all.
  return truths(Op::signbit, target, self, is_wide_unsigned(self.dtype()) ? Op::isneginf : Op::signbit);
}
Tensor isposinf(const Target& target, const Tensor& self) { return truths(Op::isposinf, target, self, Op::isposinf); }
Tensor isneginf(const Target& target, const Tensor& self) { return truths(Op::isneginf, target, self, Op::isneginf); }

/// Those of the result of one operand, or of one and a number.
Dims strides_behind(SizesView sizes, SizesView strides, int operands) {
  const StridedView views[] = {{sizes, strides}, {}};
  return result_strides(sizes, views, operands);
}
// PyTorch computes isinf and isfinite from abs, which decides the strides of dims of size 1 and of tensors without
// elements.
Dims strides_behind_abs(const Tensor& self) {
  return strides_behind(self.sizes(), strides_behind(self.sizes(), self.strides(), 1), 2);
}
Tensor isinf(const Target& target, const Tensor& self) {
  if (is_complex(self.dtype())) {
    Tensor either = isinf(target, real(self));
    either.logical_or_(isinf(target, imag(self)));
    forget_writes(either);
    return either;
  }
  if (!is_floating_point(self.dtype())) return zeros_like(self, bool_);
  Tensor result = truths(Op::isinf, target, self, Op::isinf);
  set_sizes_and_strides(result, self.sizes(), strides_behind_abs(self));
  return result;
}
Tensor isfinite(const Target& target, const Tensor& self) {
  if (is_complex(self.dtype())) return isfinite(target, real(self)).logical_and_(isfinite(target, imag(self)));
  if (!is_floating_point(self.dtype())) return ones_like(self, bool_);
  Tensor result = truths(Op::isfinite, target, self, Op::isfinite);
  const StridedView view{self.sizes(), self.strides()}, itself[] = {view, view};
  const Dims equal = result_strides(self.sizes(), itself, 2), finite = strides_behind_abs(self);
  const StridedView both[] = {{self.sizes(), equal}, {self.sizes(), finite}};
  set_sizes_and_strides(result, self.sizes(), result_strides(self.sizes(), both, 2));
  return result;
}

/// Multiplies by a number. As in PyTorch a new result has the input's layout.
Tensor times(Op op, const Target& target, const Tensor& input, double factor) {
  const Arg self(input), number(factor);
  const Arg* const args[] = {&self, &number};
  return like_input(run_form(op, target, args, 2), input);
}
Tensor deg2rad(const Target& target, const Tensor& self) {
  return times(Op::deg2rad, target, self, 0.017453292519943295);
}
Tensor rad2deg(const Target& target, const Tensor& self) { return times(Op::rad2deg, target, self, 57.29577951308232); }

Tensor special_round(const Target& target, const Tensor& self, int64_t decimals) {
  return round(target, self, decimals);
}

/// Gives a new result the layout that PyTorch's has after its steps, x * a, erf, + 1 and * 0.5.
void set_layout_of_steps(const Tensor& result, const Tensor& self) {
  // Integers are converted first.
  Dims strides =
      is_floating_point(self.dtype()) ? self.strides().copy() : dense_strides_like(self.sizes(), self.strides());
  for (const int operands : {2, 1, 2, 2}) strides = strides_behind(self.sizes(), strides, operands);
  set_sizes_and_strides(result, self.sizes(), strides);
  if (result.is_contiguous()) set_sizes_and_strides(result, self.sizes(), contiguous_strides(self.sizes()));
}
/// 16-bit floats are rounded after each step.
Tensor new_ndtr(const Tensor& input) {
  if (widened(input.dtype()) != input.dtype()) return (tenon::erf(input * kSqrtHalf) + 1) * 0.5;
  const Arg self(input);
  const Arg* const args[] = {&self};
  const Tensor result = tenon::elementwise(Op::special_ndtr, args, 1);
  set_layout_of_steps(result, input);
  return result;
}
Tensor special_ndtr(const Target& target, const Tensor& input) {
  if (!target.given()) return new_ndtr(input);
  const Arg self(input);
  check_history(Op::special_ndtr, target, {&self});
  Tensor result = new_ndtr(input);
  // As in PyTorch a resized output is contiguous.
  if (!(target.tensor->sizes() == result.sizes())) result = result.contiguous();
  write_result(Op::special_ndtr, *target.tensor, result);
  return {};
}

Tensor polygamma(const Target& target, int64_t n, const Tensor& input) {
  const Arg self(input), number(static_cast<double>(n));
  const Arg* const args[] = {&self, &number};
  if (n < 0) {
    check_history(Op::polygamma, target, {&self});
    throw Error("polygamma(n, x) does not support negative n.");
  }
  if (n < 2 && is_complex(input.dtype()) && is_run(input)) {
    check_history(Op::polygamma, target, {&self});
    if (target.given()) {
      check_no_internal_overlap(*target.tensor);
      check_can_cast(input.dtype(), target.tensor->dtype());
    }
    fail_no_code(n == 0 ? "digamma" : "trigamma", input.dtype());
  }
  return run_form(Op::polygamma, target, args, 2);
}

[[gnu::always_inline]] inline Tensor add(const Target& target, const Arg& self, const Arg& other, Scalar alpha) {
  return binary_alpha(Op::add, Op::add_alpha, target, self, other, alpha);
}
[[gnu::always_inline]] inline Tensor sub(const Target& target, const Arg& self, const Arg& other, Scalar alpha) {
  return binary_alpha(Op::sub, Op::sub_alpha, target, self, other, alpha);
}

/// other - alpha * self.
Tensor rsub(const Target& target, const Arg& self, const Arg& other, Scalar alpha) {
  const Arg &minuend = other, &subtrahend = self;
  check_subtraction(target, minuend, subtrahend);
  const Arg scale(negated(alpha));
  const Arg* const args[] = {&other, &self, &scale};
  return is_one(alpha) ? run_form(Op::rsub, target, args, 2) : run_form(Op::rsub_alpha, target, args, 3);
}

Tensor div(const Target& target, const Arg& self, const Arg& other, const char* rounding_mode) {
  const Arg* const args[] = {&self, &other};
  return run_form(division_variant(target, self, other, rounding_mode), target, args, 2);
}

Tensor true_divide(const Target& target, const Arg& self, const Arg& other) {
  return div(target, self, other, nullptr);
}

Tensor clamp(const Target& target, const Tensor& self, const std::optional<Arg>& min, const std::optional<Arg>& max) {
  const Arg clamped_self(self);
  if (!min && !max) {
    check_history(Op::clamp, target, {&clamped_self});
    throw Error("torch.clamp: At least one of 'min' or 'max' must not be None");
  }
  const int count = min && max ? 3 : 2;
  if (is_complex(self.dtype()) && (!self.is_meta() || stands_for_data(self))) fail_complex_clamp();
  const Arg* args[] = {&clamped_self, min ? &*min : &*max, count == 3 ? &*max : nullptr};
  const bool numbers = !args[1]->is_tensor() && (count == 2 || !max->is_tensor());
  std::optional<Arg> real_bounds[2];
  const auto is_refused = [&] {  // by run_form, before the bounds
    return target.tensor &&
           (target.tensor->dtype() != self.dtype() || internal_overlap(*target.tensor) == InternalOverlap::yes);
  };
  for (int i = 1; numbers && is_floating_point(self.dtype()) && i < count; ++i)
    if (args[i]->number().is_complex())  // must be real, but the dtype stays
      args[i] = &real_bounds[i - 1].emplace(is_refused() ? 0 : args[i]->number().to<double>());
  if (numbers) check_inplace_bounds(target, self, args, count);
  for (int i = 1; numbers && i < count; ++i)
    if (args[i]->number().is_complex()) fail_complex_clamp();
  if (count == 3) return run_form(numbers ? Op::clamp_scalar : Op::clamp, target, args, 3);
  if (min) return run_form(numbers ? Op::clamp_low_scalar : Op::clamp_low, target, args, 2);
  return run_form(numbers ? Op::clamp_high_scalar : Op::clamp_high, target, args, 2);
}
/// clamp_min and clamp_max: `variant` for a number.
Tensor one_bound(Op op, Op variant, const Target& target, const Arg& self, const Arg& bound) {
  const Arg* const args[] = {&self, &bound};
  if (bound.is_tensor() || !self.is_tensor()) return run_form(op, target, args, 2);
  if (is_complex(self.tensor().dtype()) || bound.number().is_complex()) {
    check_history(variant, target, {&self});
    fail_complex_clamp();
  }
  check_inplace_bounds(target, self.tensor(), args, 2);
  return run_form(variant, target, args, 2);
}
Tensor clamp_min(const Target& target, const Arg& self, const Arg& min) {
  return one_bound(Op::clamp_min, Op::clamp_min_scalar, target, self, min);
}
Tensor clamp_max(const Target& target, const Arg& self, const Arg& max) {
  return one_bound(Op::clamp_max, Op::clamp_max_scalar, target, self, max);
}

Tensor heaviside(const Target& target, const Arg& self, const Arg& values) {
  const Arg* const args[] = {&self, &values};
  const auto dtype_of = [](const Arg& arg) { return arg.is_tensor() ? arg.tensor().dtype() : typed(arg).dtype; };
  const Dtype dtype = dtype_of(self), given = target.given() ? target.tensor->dtype() : dtype;
  const bool has_complex = is_complex(dtype) || is_complex(dtype_of(values)) || is_complex(given);
  if (has_complex || dtype_of(values) != dtype || given != dtype) {
    check_history(Op::heaviside, target, {&self, &values});
    throw Error(has_complex ? row_of(Op::heaviside).refuses_complex
                            : "heaviside is not yet implemented for tensors with different dtypes.");
  }
  return run_form(Op::heaviside, target, args, 2);
}

Tensor logit(const Target& target, const Tensor& input, std::optional<double> eps) {
  const Arg self(input), limit(eps.value_or(-1));
  const Arg* const args[] = {&self, &limit};
  return run_form(Op::logit, target, args, 2);
}

// --- Powers

/// Whether a number is the real number `value`, as PyTorch compares: bool is no number.
bool equals(Scalar number, double value) { return !number.is_boolean() && number.as_complex() == Complex128{value, 0}; }
/// The op of a power whose exponent is a number: those of special exponents compute something simpler. kNoOp: none of
/// them.
Op op_of_exponent(Scalar exponent, Dtype common) {
  if (exponent.is_boolean()) return exponent.as_bool() ? Op::pow_to_1 : Op::pow_to_0;
  const Complex128 number = exponent.as_complex();
  const double value = number.re;
  if (number.im != 0) return kNoOp;
  if (value == 0) return Op::pow_to_0;
  if (value == 1) return Op::pow_to_1;
  if (value == 2) return Op::pow_to_2;
  if (value == 3) return Op::pow_to_3;
  if (value == -1) return Op::pow_to_minus_1;
  if (value == -2) return Op::pow_to_minus_2;
  const bool has_roots = is_inexact(common) && common != float16;
  if (has_roots && value == 0.5) return Op::pow_to_half;
  if (has_roots && value == -0.5) return Op::pow_to_minus_half;
  return kNoOp;
}

/// Throws for a negative exponent of integers, and for a write in place whose result has another dtype.
void check_exponent(const Target& target, const Tensor& self, Scalar exponent, Dtype common) {
  const bool is_integer = !exponent.is_floating() && !exponent.is_complex();
  const bool is_refused = is_integer && exponent.as_int64() < 0 && !is_inexact(self.dtype());
  const bool becomes_other = target.form == Form::inplace && common != self.dtype();
  if (!is_refused && !becomes_other) return;
  const Arg arg(self);
  if (target.given()) check_history(Op::pow, target, {&arg});
  if (is_refused) throw Error("Integers to negative integer powers are not allowed.");
  check_no_internal_overlap(self);
  check_can_cast(common, self.dtype());
}
/// An exponent whose parts fit those of the dtype: larger ones are infinite in float32 and complex64.
Scalar in_range(Scalar exponent, Dtype common) {
  constexpr double kLargest = std::numeric_limits<float>::max();
  const auto fitting = [](double part) { return std::abs(part) > kLargest ? std::copysign(kInfinity, part) : part; };
  if (to_real(common) != float32 || !overflows(exponent, common)) return exponent;
  const Complex128 parts = exponent.as_complex();
  return is_complex(common) ? Scalar(Complex128{fitting(parts.re), fitting(parts.im)}) : Scalar(fitting(parts.re));
}

Tensor power_in_dtype(const Target& target, const Arg& base, Scalar exponent, Dtype common) {
  const Arg power(in_range(exponent, common));
  const Op special = op_of_exponent(exponent, common);
  const Arg* const args[] = {&base, &power};
  return special == kNoOp ? run_form(Op::pow_to_number, target, args, 2) : run_form(special, target, args, 1);
}
Tensor power_by_number(const Target& target, const Arg& base, Scalar exponent) {
  const Tensor& self = base.tensor();
  const bool stays = is_inexact(self.dtype()) && !exponent.is_complex();
  const Arg power(exponent);
  const Arg* const args[] = {&base, &power};
  if (!stays && is_complex_half(row_of(Op::pow), args, 2)) return run_form(Op::pow, target, args, 2);  // fails
  const Dtype common = stays ? self.dtype() : result_type(base, exponent);
  check_exponent(target, self, exponent, common);
  if (common != self.dtype()) {
    const Tensor promoted = self.to(common);
    return power_in_dtype(target, Arg(promoted), exponent, common);
  }
  return power_in_dtype(target, base, exponent, common);
}

/// 1 to the power of `exponent`: the output may have any dtype.
Tensor power_of_1(const Target& target, const Arg& base, const Tensor& exponent) {
  if (!target.given()) {
    const Tensor promoted = exponent.to(result_type(base, exponent));
    const Arg operand(promoted);
    const Arg* const args[] = {&operand};
    return run_form(Op::pow_of_1, target, args, 1);
  }
  const Arg arg(exponent);
  check_history(Op::pow, target, {&arg});
  check_out_device(*target.tensor, exponent.device());
  ResizedOutput resized(*target.tensor, exponent.sizes(), contiguous_strides(exponent.sizes()));
  run_fill(*target.tensor, 1);
  resized.keep();
  return {};
}

Tensor pow(const Target& target, const Arg& self, const Arg& exponent) {
  if (self.is_tensor() && !exponent.is_tensor()) return power_by_number(target, self, exponent.number());
  const Arg* const args[] = {&self, &exponent};
  if (self.is_tensor() || !exponent.is_tensor()) return run_form(Op::pow, target, args, 2);
  if (equals(self.number(), 1)) return power_of_1(target, self, exponent.tensor());
  if (!target.given()) return run_form(Op::pow_of_number, target, args, 2);
  // PyTorch resizes `out=` before it compares the memory of both.
  check_history(Op::pow_of_number, target, {&self, &exponent});
  const SizesView sizes = exponent.tensor().sizes();
  ResizedOutput resized(*target.tensor, sizes, contiguous_strides(sizes));
  Tensor result = run_form(Op::pow_of_number, target, args, 2);
  resized.keep();
  return result;
}

/// An operand of float_power in its dtype.
Scalar in_wide(Scalar number, Dtype dtype) {
  return dtype == complex128 ? Scalar(number.as_complex()) : Scalar(number.as_double());
}
Tensor float_power(const Target& target, const Arg& self, const Arg& exponent) {
  const auto is_complex_arg = [](const Arg& arg) {
    return arg.is_tensor() ? is_complex(arg.tensor().dtype()) : arg.number().is_complex();
  };
  const Dtype dtype = is_complex_arg(self) || is_complex_arg(exponent) ? complex128 : float64;
  if (target.given() && target.tensor->dtype() != dtype) {
    const bool inplace = target.form == Form::inplace;
    throw Error(std::string(inplace ? "the base given to float_power_ has dtype "
                                    : "the output given to float_power has dtype ") +
                scalar_type_name(target.tensor->dtype()) + " but the operation's result requires dtype " +
                scalar_type_name(dtype));
  }
  const Arg* const args[] = {&self, &exponent};
  if (!target.given() && self.is_tensor() && exponent.is_tensor() && !in_graph(args, 2))
    if (Tensor result = small_elementwise(Op::pow, dtype, args); result.defined()) return result;
  const Tensor base = self.is_tensor() ? self.tensor().to(dtype) : Tensor();
  const Tensor power = exponent.is_tensor() ? exponent.tensor().to(dtype) : Tensor();
  return pow(target, self.is_tensor() ? Arg(base) : Arg(in_wide(self.number(), dtype)),
             exponent.is_tensor() ? Arg(power) : Arg(in_wide(exponent.number(), dtype)));
}

Tensor where(const Target& target, const Tensor& condition, const Arg& self, const Arg& other) {
  const Arg choice(condition);
  if (target.given()) check_history(Op::where, target, {&self, &other});
  check_selected_types(target, self, other);
  if (condition.dtype() == uint8)
    warn("UserWarning",
         "where received a uint8 condition tensor. This behavior is deprecated and will be removed in a future version "
         "of "
         "PyTorch. Use a boolean condition instead.");
  else if (condition.dtype() != bool_)
    throw Error(std::string("where expected condition to be a boolean tensor, but got a tensor with dtype ") +
                scalar_type_name(condition.dtype()));
  const Arg* const args[] = {&choice, &self, &other};
  return run_form(Op::where, target, args, 3);
}

// --- Activations

/// A bound beside floats must be real, but out= and overlaps are checked first.
Scalar real_bound(const Target& target, const Tensor& input, Scalar bound) {
  if (target.form == Form::out && target.tensor->dtype() != input.dtype()) return bound.as_double();
  if (bound.is_complex() && target.given()) check_no_internal_overlap(*target.tensor);
  return bound.to<double>();
}

Tensor hardtanh(const Target& target, const Tensor& input, Scalar min_val, Scalar max_val) {
  if (is_floating_point(input.dtype())) {
    min_val = real_bound(target, input, min_val);
    max_val = real_bound(target, input, max_val);
  } else if (!is_complex(input.dtype()) && input.dtype() != bool_) {
    min_val = min_val.to<int64_t>();
    max_val = max_val.to<int64_t>();
    if (input.dtype() == uint8 && (min_val.as_int64() < 0 || max_val.as_int64() < 0))
      throw Error("cannot do hardtanh on an unsigned type with negative limits");
  }
  const Arg self(input), low(min_val), high(max_val);
  const Arg* const args[] = {&self, &low, &high};
  return like_input(run_form(Op::hardtanh, target, args, 3), input);
}
Tensor relu6(const Target& target, const Tensor& self) { return hardtanh(target, self, 0, 6); }

Tensor selu(const Target& target, const Tensor& input) {
  const Arg self(input), alpha(1.6732632423543772848), scale(1.0507009873554804934), one(1);
  const Arg* const args[] = {&self, &alpha, &scale, &one};
  return run_form(Op::elu, target, args, 4);
}

Tensor celu(const Target& target, const Tensor& input, Scalar alpha) {
  const double size = alpha.to<double>();
  if (size == 0) throw Error("ZeroDivisionError: alpha cannot be 0 for CELU");
  const Arg self(input), factor(alpha), scale(1), inverse(1 / size);
  const Arg* const args[] = {&self, &factor, &scale, &inverse};
  return run_form(Op::celu, target, args, 4);
}

Tensor gelu(const Target& target, const Tensor& input, const char* approximate) {
  const Arg self(input);
  const Arg* const args[] = {&self};
  const bool by_tanh = std::strcmp(approximate, "tanh") == 0;
  const bool fits = target.form != Form::out || target.tensor->dtype() == input.dtype();  // PyTorch checks that first
  if (!by_tanh && std::strcmp(approximate, "none") != 0 && fits) {
    if (target.given()) check_no_internal_overlap(*target.tensor);
    throw Error("approximate argument must be either none or tanh.");
  }
  return run_form(by_tanh ? Op::gelu_tanh : Op::gelu, target, args, 1);
}

Tensor softshrink(const Target& target, const Tensor& input, Scalar lambd) {
  const Arg self(input), number(lambd);
  const Arg* const args[] = {&self, &number};
  const Dtype dtype = input.dtype();
  if (target.given()) check_history(Op::softshrink, target, {&self});
  const double size = lambd.to<double>();
  if (!is_floating_point(dtype)) fail_no_code(row_of(Op::softshrink).kernel_name, dtype);
  if (!(size >= 0 && size <= largest_finite(dtype))) {
    char text[96];
    std::snprintf(text, sizeof text, "[0, %g] for input dtype %s, but found %g", largest_finite(dtype),
                  scalar_type_name(dtype), size);
    throw Error("lambda must be in range " + std::string(text));
  }
  return run_form(Op::softshrink, target, args, 2);
}

/// With 16-bit floats PyTorch compares with the threshold in float32, but rounds the value.
Tensor threshold(const Target& target, const Tensor& input, Scalar threshold, Scalar value) {
  const bool casts = !target.given() || can_cast(input.dtype(), target.tensor->dtype());
  if (widened(input.dtype()) != input.dtype() && !input.is_meta() && casts) {
    check_fits(threshold, float32);
    check_fits(value, input.dtype());
  }
  const Arg self(input), limit(threshold), instead(value);
  const Arg* const args[] = {&self, &limit, &instead};
  return run_form(Op::threshold, target, args, 3);
}

/// A bound of slopes. In place, PyTorch asks only of drawn ones that they are finite.
double slope_bound(const char* name, Scalar bound, bool is_finite) {
  const double value = bound.to<double>();
  if (!is_finite || std::isfinite(value)) return value;
  char text[32];
  std::snprintf(text, sizeof text, "%g", value);
  throw Error(std::string("rrelu: ") + name + " bound must be finite, got " + text);
}
/// The mean of two slopes. PyTorch adds truths as truths and integers with wrapping, and divides both in float32.
double mean_slope(Scalar lower, Scalar upper) {
  const double sum = lower.as_double() + upper.as_double();
  if (lower.is_floating() || upper.is_floating()) return sum / 2;
  if (lower.is_boolean() && upper.is_boolean()) return sum > 0 ? 0.5 : 0;
  const auto wrapped =
      static_cast<int64_t>(static_cast<uint64_t>(lower.as_int64()) + static_cast<uint64_t>(upper.as_int64()));
  return static_cast<double>(static_cast<float>(wrapped) / 2);
}

/// 1 where `self` is above 0, elsewhere a number between the bounds.
Tensor drawn_slopes(const Tensor& self, double lower, double upper) {
  const Tensor drawn = rand(self.sizes(), Options(self.dtype(), self.device()));
  return tenon::where(self.detach() <= 0, drawn * (upper - lower) + lower, 1);
}

Tensor rrelu(const Target& target, const Tensor& input, Scalar lower, Scalar upper, bool training) {
  const bool are_finite = training || !target.given();
  const double low = slope_bound("lower", lower, are_finite), high = slope_bound("upper", upper, are_finite);
  if (!(low <= high)) throw Error("Lower bound should be less than or equal to the upper bound");
  const Arg self(input);
  if (training) {
    if (!input.is_meta() && (input.dtype() == float16 || !is_floating_point(input.dtype())))
      fail_no_code(row_of(Op::rrelu_drawn).kernel_name, input.dtype());
    const Tensor slopes = drawn_slopes(input, low, high);
    const Arg drawn(slopes);
    const Arg* const args[] = {&self, &drawn};
    return run_form(Op::rrelu_drawn, target, args, 2);
  }
  const Arg slope(mean_slope(lower, upper));
  const Arg* const args[] = {&self, &slope};
  return run_form(Op::rrelu, target, args, 2);
}

}  // namespace by_hand

constexpr auto kOut = Form::out;
constexpr auto kInplace = Form::inplace;

template <class... Operands>
List<Tensor> elementwise_results(Op op, const Operands&... operands) {
  const Arg* const args[] = {&operands...};
  return run_results(op, args, sizeof...(operands));
}
template <class... Operands>
void elementwise_results_out(const NamedOut* outs, Op op, const Operands&... operands) {
  const Arg* const args[] = {&operands...};
  run_results_out(outs, op, args, sizeof...(operands));
}
template <class... Operands>
[[gnu::always_inline]] inline Tensor elementwise(Op op, const Operands&... operands) {
  const Arg* const args[] = {&operands...};
  return tenon::elementwise(op, args, sizeof...(operands));
}
template <class... Operands>
[[gnu::always_inline]] inline void elementwise_out(Op op, Tensor& out, const Operands&... operands) {
  const Arg* const args[] = {&operands...};
  tenon::elementwise_out(op, out, args, sizeof...(operands));
}
template <class... Operands>
[[gnu::always_inline]] inline void elementwise_inplace(Op op, Tensor& self, const Operands&... operands) {
  const Arg* const args[] = {&operands...};
  tenon::elementwise_inplace(op, self, args, sizeof...(operands));
}

}  // namespace

#include "dispatch/ops.inc"

void check_unrecorded(Op op, const Tensor& out, const List<Tensor>& operands) {
  if (!has_history(out) && !has_history(operands)) return;
  std::vector<Arg> all;
  std::vector<const Arg*> args;
  all.reserve(operands.size());
  for (const Tensor& operand : operands) args.push_back(&all.emplace_back(operand));
  check_out_unrecorded(op, out, args.data(), static_cast<int>(args.size()));
}

void check_strict_out(const Tensor& out, Dtype result) {
  if (out.dtype() == result) return;
  throw Error(std::string("Expected out tensor to have dtype ") + cpp_type_name(result) + ", but got " +
              cpp_type_name(out.dtype()) + " instead");
}

namespace {

void check_fits(Op op, const Tensor& out, const Tensor& result) {
  if (row_of(op).strict_out) check_strict_out(out, result.dtype());
  check_can_cast(result.dtype(), out.dtype());
  check_out_device(out, result.device());
}

}  // namespace

Tensor& write_result(Op op, Tensor& out, const Tensor& result, const Tensor* first) {
  if (result.is(out)) return out;
  check_fits(op, out, result);
  ResizedOutput resized(out, result.sizes(), result.strides());
  if (first && (row_of(op).no_overlap & 1)) check_no_partial_overlap(out, *first);
  run_copy(out, result);
  resized.keep();
  return out;
}

void write_results(Op op, Tensor* const* outs, const List<Tensor>& results, const Tensor* first) {
  for (std::size_t i = 0; i < results.size(); ++i) check_fits(op, *outs[i], results[i]);
  std::optional<ResizedOutput> resized[kMostResults];
  for (std::size_t i = 0; i < results.size(); ++i) {
    resized[i].emplace(*outs[i], results[i].sizes(), results[i].strides());
    check_no_internal_overlap(*outs[i]);
    if (first && (row_of(op).no_overlap >> i & 1)) check_no_partial_overlap(*outs[i], *first);
  }
  const Uninterrupted uninterrupted;
  for (std::size_t i = 0; i < results.size(); ++i) {
    try {
      run_copy(*outs[i], results[i]);
    } catch (const std::bad_alloc&) {
      if (i == 0) throw;
      copy_without_memory(*outs[i], results[i]);  // cannot fail: the first result is already written
    }
  }
  for (std::size_t i = 0; i < results.size(); ++i) resized[i]->keep();
}

Tensor positive(const Tensor& self) {
  if (self.dtype() == bool_) throw Error("The `+` operator, on a bool tensor is not supported.");
  return self;
}

Tensor conj(const Tensor& self) { return is_complex(self.dtype()) ? conj_physical(self) : self; }

Dtype result_type(const Arg& a, const Arg& b) {
  const TypedOperand operands[] = {typed(a), typed(b)};
  return result_type(operands, 2);
}

void broadcast_tensors(Tensor* tensors, int64_t count) {
  if (count == 0) return;
  Dims shape = tensors[0].sizes().copy();
  for (int64_t i = 1; i < count; ++i) broadcast_into(shape, tensors[i].sizes());
  for (int64_t i = 0; i < count; ++i)
    if (!(tensors[i].sizes() == shape)) tensors[i] = tensors[i].expand(shape);
}

}  // namespace tenon
