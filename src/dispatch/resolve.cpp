#include "dispatch/resolve.h"

#include <algorithm>
#include <type_traits>

#include "base/checked.h"
#include "dispatch/broadcast_check.h"
#include "dispatch/complex_half.h"
#include "dispatch/execute.h"
#include "dispatch/recorder.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tile/run.h"
#include "type/overflow.h"
#include "type/width.h"

namespace tenon {
namespace {

/// Whether elements are computed, now or when what is planned or recorded runs.
bool is_computed_on(Device device) {
  return device != Device::meta || CourseRecord::plans_meta() || Recorder::current();
}

/// Dtypes that the op refuses. Comes before every other check.
void check_not_refused(const Row& row, Args args, int count) {
  const auto is = [&](int i, bool (*kind)(Dtype)) { return args[i]->is_tensor() && kind(args[i]->tensor().dtype()); };
  if (row.refuses_others && args[0]->is_tensor() && (row.dtypes & set_of(args[0]->tensor().dtype())) == 0)
    throw Error(row.refuses_others);
  if (row.refuses_bool && is(0, [](Dtype dtype) { return dtype == bool_; })) throw Error(row.refuses_bool);
  if (!row.refuses_complex) return;
  for (int i = 0; i < count; ++i)
    if (is(i, is_complex) && is_computed_on(args[i]->tensor().device())) {
      if (row.complex_lacks_code) throw NotImplementedError(row.refuses_complex);
      throw Error(row.refuses_complex);
    }
}

/// Throws if the op has no kernel for the dtype. On meta none is missing.
void check_dtype(const Row& row, Dtype common, Device device) {
  if (is_computed_on(device)) check_has_code(row, common);
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
  if (row.parameters == Parameters::replacements || !is_computed_on(device)) return;
  for (int i = first; row.parameters == Parameters::bounds && i < count; ++i)
    if (is_nan(*args[i])) return;
  const Dtype wanted = keeps_numbers(row) ? widened(common) : common;
  for (int i = first; i < count; ++i) check_fits(args[i]->number(), wanted);
}

bool is_zero(Scalar number, Dtype dtype) {
  Number converted{};
  store_number(number, dtype, converted.bytes);
  // exact: inside the number
  return std::all_of(converted.bytes, converted.bytes + itemsize(dtype),
                     [](std::byte byte) { return byte == std::byte{0}; });
}

// Up to this size integers are looked through one by one. Bench: tenon_bench --filter '^tiny/'.
constexpr int64_t kFewDivisors = 256;
template <class T>
bool any_zero_of_few(const void* data, int64_t count) {
  const T* from = static_cast<const T*>(data);
  bool found = false;
  for (int64_t i = 0; i < count; ++i) found |= from[i] == 0;
  return found;
}
bool any_zero_of_few(const TensorImpl& divisor) {
  return visit_width(itemsize(divisor.dtype), [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      return any_zero_of_few<T>(divisor.data(), divisor.numel);
    else
      return false;  // no integer is as wide
  });
}

/// Whether a divisor is 0. Reduces block by block and stops at the first zero.
bool any_zero(const Tensor& divisor) {
  if (has_no_work(divisor.numel(), divisor.data_ptr())) return false;
  if (const TensorImpl& few = *divisor.impl(); few.contiguous && few.numel <= kFewDivisors)
    return few.data() && any_zero_of_few(few);
  const Arg tensor(divisor), zero(0);
  const Arg* const args[] = {&tensor, &zero};
  const Tensor found = elementwise(Op::eq, args, 2).amax();
  return !found.is_meta() && found.item().as_bool();
}

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

/// The strides of a result: PyTorch makes those of abs and conj_physical like `empty_like`, and copies angle's.
Dims layout_of_parts(const Row& row, SizesView shape, const Tensor& self) {
  return row.strict_out ? strides_like(shape, self.strides(), MemoryFormat::preserve) : contiguous_strides(shape);
}

/// The layout of a new result, or of the output `resized`.
Dims new_layout(Op op, const Row& row, const Resolved& resolved, const Tensor* resized, Args args, int count) {
  const bool is_of_complex = (row.complex_to_real || row.keeps_real) && is_complex(resolved.types.common);
  // PyTorch makes the results of frexp like `empty_like`, but not on meta.
  if (!resized && has_several_results(row) && count == 1 && resolved.device == Device::cpu)
    return strides_like(resolved.shape, args[0]->tensor().strides(), MemoryFormat::preserve);
  if (resized && op == Op::logsigmoid) return contiguous_strides(resolved.shape);
  if (row.gives_row_major && !resized && resolved.device == Device::cpu) return contiguous_strides(resolved.shape);
  if (!resized && is_of_complex) return layout_of_parts(row, resolved.shape, args[0]->tensor());
  // PyTorch computes abs and angle as complex numbers, and copies their real parts.
  if (resized && is_of_complex && row.complex_to_real && !is_complex(resized->dtype()))
    return contiguous_strides(resolved.shape);
  return layout_of_result(row, resolved.types, resolved.shape, args, count);
}

/// The layout of outputs that are resized: those that have the shape decide it before the operands do.
Dims layout_beside(const NamedOut* outs, int results, const Row& row, const Resolved& resolved, Args args, int count) {
  StridedView strided[kMaxResults + kMaxArgs];
  int outputs = 0;
  for (int i = 0; i < results; ++i)
    if (outs[i].tensor->sizes() == resolved.shape) strided[outputs++] = strided_view_of(*outs[i].tensor);
  return layout_after(row, resolved.types, resolved.shape, strided, outputs, args, count);
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

/// Whether `out` must have the result's dtype. lerp with a 0-dim weight promotes, and casts to `out`.
bool is_strict(const Row& row, Args args, int count) {
  const bool promotes = count == 3 && args[2]->is_tensor() && args[2]->tensor().dim() == 0;
  return row.strict_out && !promotes;
}

/// Checks the output of an in-place or out= call before shapes are known.
void check_target(Op op, const Row& row, Form form, Device device, const Tensor& out, Args args, int count) {
  check_out_device(out, device);
  if (op == Op::logsigmoid) check_dtype(row, args[0]->tensor().dtype(), device);
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

/// An output has another dtype than the common one, and the op does not convert.
[[noreturn]] void fail_target_dtype(Op op, Dtype got, Dtype wanted) {
  if (op == Op::logsigmoid)
    throw Error(std::string("expected scalar type ") + scalar_type_name(wanted) + " but found " +
                scalar_type_name(got));
  throw Error(std::string("Found dtype ") + scalar_type_name(got) + " but expected " + scalar_type_name(wanted));
}

void check_target_dtype(Op op, const Row& row, const Types& types, Form form, const Tensor& out, Args args, int count) {
  const bool becomes_real = row.complex_to_real && types.result != types.common;
  if (form == Form::inplace && becomes_real)
    throw Error(std::string("In-place ") + row.name + " is not supported for complex tensors.");
  if (!(becomes_real && !is_complex(out.dtype())) && is_strict(row, args, count) && out.dtype() != types.common)
    fail_target_dtype(op, out.dtype(), types.common);
  check_can_cast(types.result, out.dtype());
}

/// Makes all checks; gives dtypes, shape and layout.
void check_call(Op op, const Row& row, Resolved& resolved, Form form, const Tensor* out, Args args, int count) {
  check_not_refused(row, args, count);
  const Device device = resolved.device = common_device(args, count);
  if (out) check_target(op, row, form, device, *out, args, count);
  BroadcastCheck check(form == Form::inplace);
  resolved.shape = compute_shape(row, args, count, check);
  resolved.is_flat = check.pointwise();
  const bool is_resized = out && !(out->sizes() == resolved.shape);
  if (is_resized && !resolved.is_flat) check_target_shape(form, *out, resolved.shape, args, count);
  if (is_complex_half(row, args, count)) [[unlikely]]
    fail_complex_half(op, form, out);
  const Types types = resolved.types = types_of(op, row, args, count);
  if (out) check_target_dtype(op, row, types, form, *out, args, count);
  check_alpha(row, types.common, args, count);
  check_dtype(row, types.common, device);
  // PyTorch computes logical_not in the output's dtype.
  if (out && op == Op::logical_not) check_dtype(row, out->dtype(), device);
  check_parameters(row, types.common, device, args, count);
  if (resolved.is_flat) return;
  check.check_blow_up(resolved.shape, itemsize(types.result));
  check_divisor(row, types, resolved.shape, device, *args[count - 1]);
  if (!out || is_resized) resolved.strides = new_layout(op, row, resolved, is_resized ? out : nullptr, args, count);
  for (int i = 0; i < count; ++i) resolved.conversions[i] = conversion_of(row, types, args, i);
}

/// Whether a resize gives `out` other memory.
bool moves(const Tensor& out, int64_t numel) {
  const Storage* storage = out.impl()->storage;
  return storage && !((Checked(numel) + out.storage_offset()) * out.itemsize()).is_at_most(storage->nbytes);
}

/// Decides where the pass writes the result that `out` gets.
Output output_for(const Row& row, Resolved& resolved, const Tensor& out, Args args, int count) {
  if (out.sizes() == resolved.shape) {
    resolved.needs_temporary = row.may_throw || needs_temporary(out, args, count);
    if (!resolved.needs_temporary) return {out.strides(), out.dtype(), out.data_ptr()};
    resolved.strides = contiguous_strides(resolved.shape);
    return {resolved.strides, out.dtype(), nullptr};
  }
  const bool is_moved = moves(out, numel_of(resolved.shape));
  resolved.needs_temporary =
      row.may_throw || shares_storage(out, args, count) || (is_moved && out.storage_offset() != 0);
  return {resolved.strides, out.dtype(), resolved.needs_temporary || is_moved ? nullptr : out.data_ptr()};
}

}  // namespace

Resolved resolve(Op op, Args args, int count, Form form, const Tensor* out) {
  const Row& row = row_of(op);
  Resolved resolved;
  check_call(op, row, resolved, form, out, args, count);
  if (resolved.is_flat) return resolved;
  if (out) {
    const Output output = output_for(row, resolved, *out, args, count);
    prepare(op, resolved, args, count, &output);
    return resolved;
  }
  SmallVector<Output, kMaxResults> outputs;
  outputs.push_back({resolved.strides, resolved.types.result, nullptr});
  for (Op next = row.next_result; next != kNoOp; next = row_of(next).next_result)
    outputs.push_back({resolved.strides, types_of_next(row_of(next), resolved.types).result, nullptr});
  prepare(op, resolved, args, count, outputs.data());
  return resolved;
}

Resolved resolve_outs(Op op, Args args, int count, const NamedOut* outs) {
  const Row& row = row_of(op);
  Resolved resolved;
  check_call(op, row, resolved, Form::functional, nullptr, args, count);
  const int results = count_results(row);
  for (int i = 0; i < results; ++i) check_out_device(*outs[i].tensor, resolved.device);
  check_out_dtypes(op, outs, resolved.types);
  for (int i = 0; i < results; ++i) check_overlaps(*outs[i].tensor, args, count);
  resolved.needs_temporary = !can_write(resolved, outs, results, args, count);
  if (resolved.is_flat) return resolved;
  if (resolved.needs_temporary) resolved.strides = layout_beside(outs, results, row, resolved, args, count);
  Output outputs[kMaxResults];
  for (int i = 0; i < results; ++i) {
    const Tensor& out = *outs[i].tensor;
    outputs[i] = {resolved.needs_temporary ? SizesView(resolved.strides) : out.strides(), out.dtype(),
                  resolved.needs_temporary ? nullptr : out.data_ptr()};
  }
  prepare(op, resolved, args, count, outputs);
  return resolved;
}

}  // namespace tenon
