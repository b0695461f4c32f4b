#include "dispatch/elementwise.h"

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/fork.h"
#include "dispatch/algorithm.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/differentiate.h"
#include "dispatch/fast_path.h"
#include "dispatch/recorder.h"
#include "dispatch/resolve.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/pool.h"
#include "tile/run.h"
#include "type/overflow.h"

namespace tenon {
namespace {

/// Whether all operands are tensors with dims, of one dtype: nothing is promoted.
bool are_of_one_dtype(Args args, int count) {
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor()) return false;
    const TensorImpl& operand = *args[i]->tensor().impl();
    if (operand.sizes.empty() || operand.dtype != args[0]->tensor().dtype()) return false;
  }
  return true;
}

Dtype promote(Args args, int count) {
  if (are_of_one_dtype(args, count)) return args[0]->tensor().dtype();
  TypedOperand operands[kMaxArgs];
  for (int i = 0; i < count; ++i) operands[i] = typed(*args[i]);
  return result_type(operands, count);
}

Dtype common_dtype(const Row& row, Args args, int count) {
  const int first = row.promotion == Promotion::select ? 1 : 0;
  // PyTorch promotes with a bound's dtype only if it could change the result's.
  if (row.parameters == Parameters::bounds && is_floating_point(args[0]->tensor().dtype()))
    return args[0]->tensor().dtype();
  const Dtype common = promote(args + first, promoted_count(row, count) - first);
  if (row.promotion == Promotion::int_to_float && !is_inexact(common)) return get_default_dtype();
  if (row.promotion == Promotion::bool_to_int && common == bool_) return int64;
  return common;
}

bool has_one_element(const Arg& arg) { return !arg.is_tensor() || arg.tensor().numel() == 1; }

/// Whether all elements are one element in memory.
bool repeats_one(const Arg& arg) {
  if (has_one_element(arg)) return true;
  const Tensor& tensor = arg.tensor();
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.sizes()[dim] != 1 && tensor.strides()[dim] != 0) return false;
  return true;
}

/// Whether an op on 16-bit floats reads argument i without rounding it to 16 bits: PyTorch reads a single-element
/// second operand in float32.
bool keeps_precision(const Row& row, Args args, int i) {
  const bool second = i == 1 || (row.commutative && !args[i]->is_tensor());
  return row.exact_second && second && has_one_element(*args[i]);
}

/// Whether a kernel reads 16-bit floats directly.
bool computes_in_half(const Row& row, Op op, Dtype common, Args args, int count) {
  if (widened(common) == common || !kernel_of(op, common)) return false;
  if (row.stepwise) return !repeats_one(*args[1]);
  for (int i = 0; i < count; ++i)
    if (keeps_precision(row, args, i)) return false;
  return true;
}

Types compute_types(Op op, const Row& row, Args args, int count) {
  const Dtype common = common_dtype(row, args, count);
  if (computes_in_half(row, op, common, args, count))
    return {common, common, row.promotion == Promotion::comparison ? bool_ : common};
  if (row.promotion == Promotion::comparison) return {common, widened(common), bool_};
  if (row.promotion == Promotion::logical) return {common, bool_, bool_};
  return {common, widened(common), row.complex_to_real ? to_real(common) : common};
}

/// The dtype that the kernel writes.
Dtype given_by_kernel(const Types& types) {
  return types.result == bool_ || is_complex(types.compute) ? types.result : types.compute;
}

/// The dtypes of a further result, which reads what the first one reads.
Types types_of_next(const Row& row, Types types) {
  types.result = row.promotion == Promotion::to_int32 ? int32 : types.common;
  return types;
}

/// Dtypes that the op refuses. Comes before every other check.
void check_not_refused(const Row& row, Args args, int count) {
  const auto is = [&](int i, bool (*kind)(Dtype)) { return args[i]->is_tensor() && kind(args[i]->tensor().dtype()); };
  if (row.refuses_others && args[0]->is_tensor() && (row.dtypes & set_of(args[0]->tensor().dtype())) == 0)
    throw Error(row.refuses_others);
  if (row.refuses_bool && is(0, [](Dtype dtype) { return dtype == bool_; })) throw Error(row.refuses_bool);
  if (!row.refuses_complex) return;
  for (int i = 0; i < count; ++i)
    if (is(i, is_complex) && (!args[i]->tensor().is_meta() || CourseRecord::plans_meta())) {
      if (row.complex_lacks_code) throw NotImplementedError(row.refuses_complex);
      throw Error(row.refuses_complex);
    }
}

/// Throws if the op has no kernel for the dtype. On meta none is missing, unless a run is planned.
void check_dtype(const Row& row, Dtype common, Device device) {
  if (device != Device::meta || CourseRecord::plans_meta()) check_has_code(row, common);
}

void check_alpha(const Row& row, Dtype common, Args args, int count) {
  if (row.parameters != Parameters::alpha) return;
  const Scalar alpha = args[count - 1]->number();
  if (alpha.is_boolean() && common != bool_) throw Error("Boolean alpha only supported for Boolean results.");
  if ((alpha.is_floating() || alpha.is_complex()) && !is_inexact(common))
    throw Error("For integral input tensors, argument alpha must not be a floating point number.");
  if (alpha.is_complex() && !is_complex(common))
    throw Error("For non-complex input tensors, argument alpha must not be a complex number.");
}

bool is_nan(const Arg& arg) {
  const Complex128 number = arg.number().as_complex();
  return number.re != number.re || number.im != number.im;
}

/// Numbers that are parameters, not operands, must fit the compute dtype. If one bound is NaN, bounds are not checked.
void check_parameters(const Row& row, Dtype common, Device device, Args args, int count) {
  const int first = operand_count(row, count);
  if (row.parameters == Parameters::replacements || (device == Device::meta && !CourseRecord::plans_meta())) return;
  for (int i = first; row.parameters == Parameters::bounds && i < count; ++i)
    if (is_nan(*args[i])) return;
  const Dtype wanted = row.parameters == Parameters::factor ? widened(common) : common;
  for (int i = first; i < count; ++i) check_fits(args[i]->number(), wanted);
}

void convert_number(Scalar value, Dtype through, Dtype wanted, Number& number) {
  if (through == wanted) return store_number(value, wanted, number.bytes);
  Number rounded;
  store_number(value, through, rounded.bytes);
  const Lanes from{rounded.bytes, 1};
  kernels().cast[static_cast<int>(through)][static_cast<int>(wanted)](number.bytes, &from, 1);
}

bool is_condition(const Row& row, int i) { return row.promotion == Promotion::select && i == 0; }

/// The dtype in which the kernel reads argument i.
Dtype argument_dtype(const Row& row, const Types& types, int i) { return is_condition(row, i) ? bool_ : types.compute; }

/// The dtype to which argument i is cast first, so that a number or a wider operand is rounded to the common dtype.
Dtype first_cast(const Row& row, const Types& types, Args args, int i) {
  if (is_condition(row, i)) return bool_;
  const bool is_precise = keeps_numbers(row) && !args[i]->is_tensor();
  return is_precise || keeps_precision(row, args, i) ? types.compute : types.common;
}

void add_next_results(Program& program, const Row& row, const Types& types, int count, const int* regs,
                      const Tensor* outs) {
  const int first = program.result();
  for (Op op = row.next_result; op != kNoOp; op = row_of(op).next_result) {
    const Types own = types_of_next(row_of(op), types);
    const int result = program.op(op, own.compute, given_by_kernel(own), count, regs);
    program.add_result(program.cast(program.cast(result, own.result), (++outs)->dtype()));
  }
  program.finish(first);
}

/// The Program of one op: casts arguments to the compute dtype and each result to the dtype of its output.
Program make_program(Op op, const Row& row, const Types& types, Args args, int count, const Tensor* outs) {
  Program program;
  int regs[kMaxArgs] = {};
  for (int i = 0; i < count; ++i)
    regs[i] = program.input(args[i]->is_tensor() ? args[i]->tensor().dtype() : argument_dtype(row, types, i));
  for (int i = 0; i < count; ++i) {
    if (args[i]->is_tensor()) regs[i] = program.cast(regs[i], first_cast(row, types, args, i));
    regs[i] = program.cast(regs[i], argument_dtype(row, types, i));
  }
  int result = program.op(op, types.compute, given_by_kernel(types), count, regs);
  result = program.cast(result, types.result);
  program.cast(result, outs->dtype());
  if (has_several_results(row)) [[unlikely]]
    add_next_results(program, row, types, count, regs, outs);
  return program;
}

bool is_zero(Scalar number, Dtype dtype) {
  Number converted{};
  store_number(number, dtype, converted.bytes);
  // exact: inside the number
  return std::all_of(converted.bytes, converted.bytes + itemsize(dtype),
                     [](std::byte byte) { return byte == std::byte{0}; });
}
bool any_zero(const Tensor& divisor);

/// Throws for a zero among integer divisors, before anything is resized or written.
void check_divisor(const Row& row, const Types& types, SizesView shape, Device device, const Arg& divisor) {
  if (!row.divides_integers || is_inexact(types.common)) return;
  if ((device == Device::meta && !CourseRecord::plans_meta()) || numel_of(shape) == 0) return;
  // As an int8, 256 is 0.
  if (divisor.is_tensor() ? any_zero(divisor.tensor().to(types.common)) : is_zero(divisor.number(), types.common))
    throw Error("ZeroDivisionError");
}

Dims compute_shape(const Row& row, Args args, int count, BroadcastCheck& check) {
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor()) check.add(args[i]->tensor());
  return check.shape(row.name);
}

StridedView strided_view_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }

/// The strides that decide the result's layout: PyTorch first copies an operand that has another dtype than the compute
/// dtype.
Dims strides_seen(const Row& row, const Types& types, const Tensor& operand, int i) {
  const Dtype wanted = is_condition(row, i) ? bool_ : types.common;
  return operand.dtype() == wanted ? operand.strides().copy() : dense_strides_like(operand.sizes(), operand.strides());
}

bool is_cpu_scalar(const Tensor& tensor) { return !tensor.is_meta() && tensor.dim() == 0; }

/// The device of the operands, which must be the same, except that a 0-dim cpu tensor goes with any device.
Device common_device(Args args, int count) {
  Device common = Device::cpu;
  bool seen = false;
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor() || is_cpu_scalar(args[i]->tensor())) continue;
    const Device device = args[i]->tensor().device();
    if (seen) check_device(args[i]->tensor(), common);
    common = device;
    seen = true;
  }
  return common;
}

/// Whether all operands are contiguous tensors of that shape. Then so is the result.
bool are_contiguous(SizesView shape, Args args, int count) {
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor()) return false;
    const TensorImpl& operand = *args[i]->tensor().impl();
    if (!operand.contiguous || !(operand.sizes == shape)) return false;
  }
  return true;
}

/// The result's strides, which the outputs in `strided` decide before the operands, which are added to them.
Dims layout_after(const Row& row, const Types& types, SizesView shape, StridedView* strided, int outputs, Args args,
                  int count) {
  Dims strides[kMaxArgs];
  const int operands = operand_count(row, count);
  for (int i = 0; i < operands; ++i) {
    if (!args[i]->is_tensor()) continue;  // numbers are operands without dims
    strides[i] = strides_seen(row, types, args[i]->tensor(), i);
    strided[outputs + i] = {args[i]->tensor().sizes(), strides[i]};
  }
  return result_strides(shape, strided, outputs + operands);
}

Dims layout_of_result(const Row& row, const Types& types, SizesView shape, Args args, int count) {
  if (are_contiguous(shape, args, operand_count(row, count))) return contiguous_strides(shape);
  StridedView strided[kMaxArgs];
  return layout_after(row, types, shape, strided, 0, args, count);
}

/// The layout of outputs that are resized: those that have the shape decide it before the operands do.
Dims layout_beside(const NamedOut* outs, int results, const Row& row, const Resolved& resolved, Args args, int count) {
  StridedView strided[kMaxResults + kMaxArgs];
  int outputs = 0;
  for (int i = 0; i < results; ++i)
    if (outs[i].tensor->sizes() == resolved.shape) strided[outputs++] = strided_view_of(*outs[i].tensor);
  return layout_after(row, resolved.types, resolved.shape, strided, outputs, args, count);
}

// Results of fewer elements are computed sooner than an operand is cast by itself. Bench: ./dev bench --sweep, mixed
// dtypes.
constexpr int64_t kManyElements = 4096;
// A call takes little memory besides its result's.
constexpr int64_t kCastBytes = 64 << 10;

/// Whether an operand of another dtype is broadcast so far that it is cast once, not for each element of the result.
bool is_cast_first(const Row& row, const Types& types, int64_t numel, Args args, int i) {
  if (numel < kManyElements || !args[i]->is_tensor()) return false;
  const Tensor& operand = args[i]->tensor();
  const Dtype wanted = argument_dtype(row, types, i);
  if (operand.dtype() == wanted || first_cast(row, types, args, i) != wanted) return false;
  return operand.numel() <= std::min(numel / 4, kCastBytes / itemsize(wanted));
}

/// The shortest run that is computed by itself. What is cast comes in tiles, which join all runs.
int64_t fair_run_of(const Row& row, const Types& types, const Tensor& out, Args args, int count) {
  int64_t narrowest = itemsize(out.dtype());
  for (int i = 0; i < count; ++i) {
    if (!args[i]->is_tensor()) continue;
    const Dtype dtype = args[i]->tensor().dtype();
    if (dtype != argument_dtype(row, types, i)) return std::numeric_limits<int64_t>::max();
    narrowest = std::min<int64_t>(narrowest, itemsize(dtype));
  }
  return kFairRunBytes / narrowest;
}

void compute(Op op, const Row& row, const Types& types, const Tensor* outs, Args args, int count);
/// Casts such operands, then computes.
[[gnu::noinline]] void compute_after_casts(Op op, const Row& row, const Types& types, const Tensor* outs, Args args,
                                           int count) {
  Tensor casts[kMaxArgs];
  Arg changed[kMaxArgs] = {0, 0, 0, 0};
  const Arg* pointers[kMaxArgs];
  for (int i = 0; i < count; ++i) {
    const bool is_cast = is_cast_first(row, types, outs->numel(), args, i);
    if (is_cast) casts[i] = run_to(args[i]->tensor(), argument_dtype(row, types, i), MemoryFormat::preserve);
    changed[i] = is_cast ? Arg(casts[i]) : *args[i];
    pointers[i] = &changed[i];
  }
  compute(op, row, types, outs, pointers, count);
}

/// `outs`: a tensor for each result.
void compute(Op op, const Row& row, const Types& types, const Tensor* outs, Args args, int count) {
  if (has_no_work(outs->numel(), outs->data_ptr())) return;
  for (int i = 0; i < count; ++i)
    if (is_cast_first(row, types, outs->numel(), args, i))
      return compute_after_casts(op, row, types, outs, args, count);
  StridedView strided[kMaxResults + kMaxArgs];
  void* to[kMaxResults];
  int outputs = 0;
  for (Op each = op; each != kNoOp; each = row_of(each).next_result, ++outputs) {
    strided[outputs] = strided_view_of(outs[outputs]);
    to[outputs] = outs[outputs].data_ptr();
  }
  const void* inputs[kMaxArgs];
  Number numbers[kMaxArgs];
  for (int i = 0; i < count; ++i) {
    if (args[i]->is_tensor()) {
      strided[outputs + i] = strided_view_of(args[i]->tensor());
      inputs[i] = args[i]->tensor().data_ptr();
    } else {
      convert_number(args[i]->number(), first_cast(row, types, args, i), argument_dtype(row, types, i), numbers[i]);
      inputs[i] = numbers[i].bytes;
    }
  }
  Plan plan;
  make_plan(outs->sizes(), strided, outputs + count, plan, outputs, fair_run_of(row, types, *outs, args, count));
  run(plan, make_program(op, row, types, args, count, outs), to, inputs);
}

/// Adds a call on meta tensors to the recorder's Program. A call that has to look at data first, or has no kernel,
/// makes the Program incomplete.
void record(Recorder& recorder, Op op, const Row& row, const Types& types, const Tensor& result, Args args, int count) {
  Recorder::Call call{};
  call.op = op;
  call.count = count;
  call.compute = types.compute;
  call.given = given_by_kernel(types);
  call.result = types.result;
  bool fits = (row.dtypes & set_of(types.common)) != 0 && (!row.divides_integers || is_inexact(types.common));
  for (int i = 0; i < count; ++i) {
    Recorder::Argument& argument = call.arguments[i];
    argument.through = first_cast(row, types, args, i);
    argument.wanted = argument_dtype(row, types, i);
    if (args[i]->is_tensor()) {
      argument.value = recorder.find(args[i]->tensor());
      fits = fits && argument.value >= 0;
    } else {
      Number number;
      convert_number(args[i]->number(), argument.through, argument.wanted, number);
      std::memcpy(argument.number, number.bytes, sizeof(number.bytes));
    }
  }
  recorder.add(call, result, fits);
}

/// Whether the result must be computed into a temporary, because an input could read what was written.
bool needs_temporary(const Tensor& out, Args args, int count) {
  if (internal_overlap(out) == InternalOverlap::unknown) return true;
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor() && may_read_what_it_wrote(out, args[i]->tensor())) return true;
  return false;
}

void check_overlaps(const Tensor& out, Args args, int count) {
  check_no_internal_overlap(out);
  for (int i = 0; i < count; ++i)
    if (args[i]->is_tensor()) check_no_partial_overlap(out, args[i]->tensor());
}

void write_result(Op op, const Row& row, const Types& types, Tensor& out, Args args, int count) {
  if (row.may_throw || needs_temporary(out, args, count)) {
    const Tensor temporary = new_tensor(out.sizes(), out.dtype(), out.device());
    compute(op, row, types, &temporary, args, count);
    run_copy(out, temporary);
    return;
  }
  const Uninterrupted whole;
  compute(op, row, types, &out, args, count);
  bump_version(out);
}

bool is_input(const Tensor& out, Args args, int count) {
  return std::any_of(args, args + count, [&](const Arg* arg) { return arg->is_tensor() && arg->tensor().is(out); });
}
bool shares_storage(const Tensor& out, Args args, int count) {
  return std::any_of(args, args + count,
                     [&](const Arg* arg) { return arg->is_tensor() && share_memory(arg->tensor(), out); });
}

/// Throws if `out` is an input and would be resized: the input would lose its shape.
void check_resized_is_no_input(const Tensor& out, SizesView shape, Args args, int count) {
  if (out.sizes() == shape || out.is_meta() || !is_input(out, args, count)) return;
  throw Error("output with shape " + to_string(out.sizes()) + " doesn't match the broadcast shape " + to_string(shape));
}

/// Writes to an output that is resized. If it shares memory with an input, the result is computed before the resize.
void write_resized(Op op, const Row& row, const Resolved& resolved, Tensor& out, Args args, int count) {
  const Types& types = resolved.types;
  const SizesView shape = resolved.shape, strides = resolved.strides;
  if (row.may_throw || shares_storage(out, args, count)) {
    const Tensor temporary = new_tensor(shape, strides, out.dtype(), out.device());
    compute(op, row, types, &temporary, args, count);
    ResizedOutput resized(out, shape, strides);
    run_copy(out, temporary);
    return resized.keep();
  }
  const Uninterrupted whole;
  ResizedOutput resized(out, shape, strides);
  compute(op, row, types, &out, args, count);
  bump_version(out);
  resized.keep();
}

/// Throws unless each output has the dtype of its result: nothing is cast.
void check_out_dtypes(Op op, const NamedOut* outs, const Types& types) {
  const std::string name = row_of(op).name;
  for (Op each = op; each != kNoOp; each = row_of(each).next_result, ++outs) {
    const bool is_integer = row_of(each).promotion == Promotion::to_int32;
    const Dtype wanted = is_integer ? int32 : types.common, got = outs->tensor->dtype();
    if (got == wanted) continue;
    throw Error("torch." + name + "() expects " + outs->name + " to have " +
                (is_integer ? "int dtype" : std::string("dtype ") + cpp_type_name(wanted)) + " but got " +
                cpp_type_name(got));
  }
}

/// Whether the pass itself may write the outputs: they have the results' shape, and their memory holds nothing else.
bool can_write(const Resolved& resolved, const NamedOut* outs, int results, Args args, int count) {
  for (int i = 0; i < results; ++i) {
    const Tensor& out = *outs[i].tensor;
    if (!(out.sizes() == resolved.shape) || out.device() != resolved.device) return false;
    const auto meets = [&](const Tensor& other) { return storages_meet(out.impl()->storage, other.impl()->storage); };
    if (internal_overlap(out) != InternalOverlap::no) return false;
    for (int arg = 0; arg < count; ++arg)
      if (args[arg]->is_tensor() && meets(args[arg]->tensor())) return false;
    for (int other = 0; other < i; ++other)
      if (meets(*outs[other].tensor)) return false;
  }
  return true;
}

/// The deprecated fallback for operands that do not broadcast: calls `run(args)` with all of them as 1-D.
template <class Run>
auto with_flat(Args args, int count, const Run& run) {
  Tensor views[kMaxArgs];
  Arg flat[kMaxArgs] = {0, 0, 0, 0};
  const Arg* pointers[kMaxArgs];
  for (int i = 0; i < count; ++i) {
    if (args[i]->is_tensor()) views[i] = args[i]->tensor().reshape({-1});
    flat[i] = args[i]->is_tensor() ? Arg(views[i]) : *args[i];
    pointers[i] = &flat[i];
  }
  return run(pointers);
}
Tensor pointwise(Op op, Args args, int count) {
  return with_flat(args, count, [&](Args flat) { return elementwise(op, flat, count); });
}
List<Tensor> flat_results(Op op, SizesView shape, Args args, int count) {
  List<Tensor> results = with_flat(args, count, [&](Args flat) { return run_results(op, flat, count); });
  for (Tensor& result : results) result = result.view(shape);
  return results;
}

/// Whether `out` must have the result's dtype. lerp with a 0-dim weight promotes, and casts to `out`.
bool is_strict(const Row& row, Args args, int count) {
  const bool promotes = count == 3 && args[2]->is_tensor() && args[2]->tensor().dim() == 0;
  return row.strict_out && !promotes;
}

/// Checks the output of an in-place or out= call before shapes are known.
void check_target(Op op, const Row& row, Form form, Device device, const Tensor& out, Args args, int count) {
  check_out_device(out, device);
  if (form == Form::out && row.complex_to_real && is_complex(args[0]->tensor().dtype()))
    check_can_cast(to_real(args[0]->tensor().dtype()), out.dtype());
  // If the dtype changes, PyTorch clamps, or squares, a copy.
  const bool copied = (row.strict_out || op == Op::square) && args[0]->is_tensor() &&
                      args[0]->tensor().dtype() != common_dtype(row, args, count);
  copied ? check_no_internal_overlap(out) : check_overlaps(out, args, count);
}

void check_target_shape(Form form, const Tensor& out, SizesView shape, Args args, int count) {
  form == Form::inplace ? check_inplace_shape(out.sizes(), shape) : check_resized_is_no_input(out, shape, args, count);
}

void check_target_dtype(const Row& row, const Types& types, Form form, const Tensor& out, Args args, int count) {
  const bool becomes_real = row.complex_to_real && types.result != types.common;
  if (form == Form::inplace && becomes_real)
    throw Error(std::string("In-place ") + row.name + " is not supported for complex tensors.");
  if (!(becomes_real && !is_complex(out.dtype())) && is_strict(row, args, count) && out.dtype() != types.common)
    throw Error(std::string("Found dtype ") + scalar_type_name(out.dtype()) + " but expected " +
                scalar_type_name(types.common));
  check_can_cast(types.result, out.dtype());
}

/// Writes the result of the 1-D fallback, as a copy.
void write_flat(Op op, const Resolved& resolved, Form form, Tensor& out, Args args, int count) {
  Tensor result = pointwise(op, args, count);
  std::optional<ResizedOutput> resized;
  if (form == Form::out) resized.emplace(out, resolved.shape, contiguous_strides(resolved.shape));
  run_copy(out, result.view(out.sizes()));
  if (resized) resized->keep();
}

Tensor& write(Op op, Form form, Tensor& out, Args args, int count) {
  const Resolved resolved = resolve(op, args, count, form, &out);
  const Types& types = resolved.types;
  if (resolved.is_flat)
    write_flat(op, resolved, form, out, args, count);
  else if (resolved.is_new_shape)
    write_resized(op, row_of(op), resolved, out, args, count);
  else
    write_result(op, row_of(op), types, out, args, count);
  if (types.result == bool_ && out.dtype() != bool_ && op != Op::logical_not && !resolved.is_flat)
    warn_of_lost_parts(types.common, out.dtype(), out.numel());
  return out;
}

}  // namespace

static const AtLoad fast_kernels_at_load(make_fast_kernels);

TypedOperand typed(const Arg& arg) {
  if (!arg.is_tensor()) return typed(arg.number());
  return {arg.tensor().dtype(), arg.tensor().dim() > 0 ? Category::dimensioned : Category::zero_dim};
}

void fail_cast(Dtype result, Dtype output) {
  throw Error(std::string("result type ") + scalar_type_name(result) + " can't be cast to the desired output type " +
              scalar_type_name(output));
}

const char* device_name(Device device) noexcept { return device == Device::meta ? "meta" : "cpu"; }

void fail_device(Device device, Device expected) {
  throw Error(std::string("Tensor on device ") + device_name(device) + " is not on the expected device " +
              device_name(expected) + "!");
}

void fail_out_device(Device out, Device device) {
  throw Error(std::string("Attempting to copy from device ") + device_name(device) + " to device " + device_name(out) +
              ", but cross-device copies are not allowed!");
}

ResizedOutput::ResizedOutput(Tensor& out, SizesView shape, SizesView strides) : impl_(out.impl()) {
  if (out.sizes() == shape) return;
  if (impl_->in_graph) check_resizable(out, shape);
  if (out.numel() > 0)
    warn("UserWarning",
         "An output with one or more elements was resized since it had shape " + to_string(out.sizes()) +
             ", which does not match the required output shape " + to_string(shape) +
             ". This behavior is deprecated, and in a future PyTorch release outputs will not be resized "
             "unless they have zero elements. You can explicitly reuse an out tensor t by resizing it, "
             "inplace, to zero elements with t.resize_(0).");
  Layout before{impl_->sizes, impl_->strides, impl_->numel, impl_->contiguous, impl_->row_major};
  set_sizes_and_strides(out, shape, strides);
  before_ = std::move(before);
}

ResizedOutput::~ResizedOutput() {
  if (!before_) return;
  impl_->sizes = std::move(before_->sizes);
  impl_->strides = std::move(before_->strides);
  impl_->numel = before_->numel;
  impl_->contiguous = before_->contiguous;
  impl_->row_major = before_->row_major;
}

void fail_no_code(const char* kernel, Dtype dtype) {
  throw NotImplementedError(std::string("\"") + kernel + "\" not implemented for '" + scalar_type_name(dtype) + "'");
}

void check_inplace_shape(SizesView self, SizesView shape) {
  if (self == shape) return;
  const std::string live =
      "output with shape " + to_string(self) + " doesn't match the broadcast shape " + to_string(shape);
  if (self.size() != shape.size()) throw Error(live);
  int64_t dim = self.size() - 1;
  while (self[dim] == shape[dim]) --dim;
  Error error("The expanded size of the tensor (" + std::to_string(self[dim]) + ") must match the existing size (" +
              std::to_string(shape[dim]) + ") at non-singleton dimension " + std::to_string(dim) + ".");
  error.add_note(live);
  throw error;
}

/// Whether the result is the operand itself.
bool is_result(const Row& row, const Arg& self) {
  return row.keeps_real && self.is_tensor() && !is_complex(self.tensor().dtype());
}

/// The strides of a result: PyTorch makes those of abs and conj_physical like `empty_like`, and copies angle's.
Dims layout_of_parts(const Row& row, SizesView shape, const Tensor& self) {
  return row.strict_out ? strides_like(shape, self.strides(), MemoryFormat::preserve) : contiguous_strides(shape);
}

Resolved resolve(Op op, Args args, int count, Form form, const Tensor* out) {
  const Row& row = row_of(op);
  check_not_refused(row, args, count);
  const Device device = common_device(args, count);
  if (out) check_target(op, row, form, device, *out, args, count);
  BroadcastCheck check(form == Form::inplace);
  Resolved resolved{.types = {},
                    .device = device,
                    .shape = compute_shape(row, args, count, check),
                    .strides = {},
                    .is_flat = check.pointwise(),
                    .is_new_shape = false};
  resolved.is_new_shape = out && !(out->sizes() == resolved.shape);
  if (resolved.is_new_shape && !resolved.is_flat) check_target_shape(form, *out, resolved.shape, args, count);
  const Types types = resolved.types = compute_types(op, row, args, count);
  if (out) check_target_dtype(row, types, form, *out, args, count);
  check_alpha(row, types.common, args, count);
  check_dtype(row, types.common, device);
  // PyTorch computes logical_not in the output's dtype.
  if (out && op == Op::logical_not) check_dtype(row, out->dtype(), device);
  check_parameters(row, types.common, device, args, count);
  if (resolved.is_flat) return resolved;
  check.check_blow_up(resolved.shape, itemsize(types.result));
  check_divisor(row, types, resolved.shape, device, *args[count - 1]);
  const bool is_of_complex = (row.complex_to_real || row.keeps_real) && is_complex(types.common);
  // PyTorch makes the results of frexp like `empty_like`, but not on meta.
  if (!out && has_several_results(row) && count == 1 && device == Device::cpu)
    resolved.strides = strides_like(resolved.shape, args[0]->tensor().strides(), MemoryFormat::preserve);
  else if (!out && is_of_complex)
    resolved.strides = layout_of_parts(row, resolved.shape, args[0]->tensor());
  else if (!out || resolved.is_new_shape)
    resolved.strides = layout_of_result(row, types, resolved.shape, args, count);
  return resolved;
}

Tensor run_resolved(Op op, Args args, int count) {
  const Row& row = row_of(op);
  const Resolved resolved = resolve(op, args, count, Form::functional);
  if (resolved.is_flat) return pointwise(op, args, count).view(resolved.shape);
  Tensor result = new_tensor(resolved.shape, resolved.strides, resolved.types.result, resolved.device);
  if (Recorder* recorder = resolved.device == Device::meta ? Recorder::current() : nullptr)
    record(*recorder, op, row, resolved.types, result, args, count);
  compute(op, row, resolved.types, &result, args, count);
  return result;
}

namespace {

List<Tensor> new_results(Op op, const Resolved& resolved, Args args, int count) {
  if (resolved.is_flat) return flat_results(op, resolved.shape, args, count);
  Recorder* const recorder = resolved.device == Device::meta ? Recorder::current() : nullptr;
  List<Tensor> results;
  for (Op each = op; each != kNoOp; each = row_of(each).next_result) {
    const Types types = each == op ? resolved.types : types_of_next(row_of(each), resolved.types);
    results.push_back(new_tensor(resolved.shape, resolved.strides, types.result, resolved.device));
    if (recorder) record(*recorder, each, row_of(each), types, results[results.size() - 1], args, count);
  }
  compute(op, row_of(op), resolved.types, results.data(), args, count);
  return results;
}

}  // namespace

List<Tensor> run_results(Op op, Args args, int count) {
  return new_results(op, resolve(op, args, count, Form::functional), args, count);
}

void run_results_out(const NamedOut* outs, Op op, Args args, int count) {
  Tensor* pointers[kMaxResults];
  Tensor written[kMaxResults];
  int results = 0;
  for (Op each = op; each != kNoOp; each = row_of(each).next_result, ++results) {
    const Tensor& out = *(pointers[results] = outs[results].tensor);
    written[results] = out;
    if (out.impl()->in_graph || in_graph(args, count)) [[unlikely]]
      check_out_unrecorded(op, out, args, count);
  }
  Resolved resolved = resolve(op, args, count, Form::functional);
  for (int i = 0; i < results; ++i) check_out_device(written[i], resolved.device);
  check_out_dtypes(op, outs, resolved.types);
  for (int i = 0; i < results; ++i) check_overlaps(written[i], args, count);
  if (resolved.is_flat || !can_write(resolved, outs, results, args, count)) {
    if (!resolved.is_flat) resolved.strides = layout_beside(outs, results, row_of(op), resolved, args, count);
    return write_results(op, pointers, new_results(op, resolved, args, count));
  }
  const Uninterrupted whole;
  compute(op, row_of(op), resolved.types, written, args, count);
  for (int i = 0; i < results; ++i) bump_version(written[i]);
}

Tensor run_elementwise(Op op, Args args, int count) {
  if (Tensor result = fast_result(op, args, count); result.defined()) return result;
  if (count == 2)
    if (Tensor result = small_result(op, args); result.defined()) return result;
  if (is_result(row_of(op), *args[0])) return args[0]->tensor();
  return run_resolved(op, args, count);
}

Tensor& run_inplace(Op op, Tensor& self, Args args, int count) {
  if (fast_into(op, self, args, count) || (count == 2 && small_into(op, self, args))) return self;
  if (is_result(row_of(op), *args[0])) {
    bump_version(self);
    return self;
  }
  return write(op, Form::inplace, self, args, count);
}

Tensor elementwise(Op op, Args args, int count) {
  if (in_graph(args, count) && is_recorded(args, count)) [[unlikely]]
    return is_result(row_of(op), *args[0]) ? args[0]->tensor() : with_history().elementwise(op, args, count);
  return run_elementwise(op, args, count);
}

Tensor& elementwise_out(Op op, Tensor& out, Args args, int count) {
  if (out.impl()->in_graph || in_graph(args, count)) [[unlikely]]
    check_out_unrecorded(op, out, args, count);
  if (fast_into(op, out, args, count) || (count == 2 && small_into(op, out, args))) return out;
  return write(op, Form::out, out, args, count);
}

Tensor& elementwise_inplace(Op op, Tensor& self, Args args, int count) {
  if (in_graph(args, count)) [[unlikely]]
    return with_history().inplace(op, self, args, count);
  return run_inplace(op, self, args, count);
}

namespace {

/// Whether a divisor is 0. Reduces block by block and stops at the first zero.
bool any_zero(const Tensor& divisor) {
  if (has_no_work(divisor.numel(), divisor.data_ptr())) return false;
  const Arg tensor(divisor), zero(0);
  const Arg* const args[] = {&tensor, &zero};
  const Tensor found = elementwise(Op::eq, args, 2).amax();
  return !found.is_meta() && found.item().as_bool();
}

}  // namespace
}  // namespace tenon
