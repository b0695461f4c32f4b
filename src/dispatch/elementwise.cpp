#include "dispatch/elementwise.h"

#include "base/fork.h"
#include "dispatch/algorithm.h"
#include "dispatch/complex_half.h"
#include "dispatch/differentiate.h"
#include "dispatch/execute.h"
#include "dispatch/fast_path.h"
#include "dispatch/recorder.h"
#include "dispatch/traced_out.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {
namespace {

/// Adds a call on meta tensors to the recorder's Program. A call that has to look at data first, or has no kernel,
/// makes the Program incomplete.
void record(Recorder& recorder, Op op, const Types& types, const Resolved& resolved, const Tensor& result, Args args,
            int count) {
  const Row& row = row_of(op);
  Recorder::Call call{};
  call.op = op;
  call.count = count;
  call.compute = types.compute;
  call.given = given_by_kernel(types);
  call.result = types.result;
  bool fits = (row.dtypes & set_of(types.common)) != 0 && (!row.divides_integers || is_inexact(types.common));
  for (int i = 0; i < count; ++i) {
    Recorder::Argument& argument = call.arguments[i];
    argument.through = resolved.conversions[i].through;
    argument.wanted = resolved.conversions[i].wanted;
    if (args[i]->is_tensor()) {
      argument.value = recorder.find(args[i]->tensor());
      fits = fits && argument.value >= 0;
    } else {
      const Number number = converted(args[i]->number(), resolved.conversions[i]);
      std::memcpy(argument.number, number.bytes, sizeof(number.bytes));
    }
  }
  recorder.add(call, result, fits);
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

/// Writes the result of the 1-D fallback, as a copy.
void write_flat(Op op, const Resolved& resolved, Form form, Tensor& out, Args args, int count) {
  Tensor result = pointwise(op, args, count);
  std::optional<ResizedOutput> resized;
  if (form == Form::out) resized.emplace(out, resolved.shape, contiguous_strides(resolved.shape));
  run_copy(out, result.view(out.sizes()));
  if (resized) resized->keep();
}

/// Writes the result to an output of any shape. What may fail, or read what was written, is computed before the output
/// changes.
void write_result(const Resolved& resolved, Tensor& out, Args args, int count) {
  if (resolved.needs_temporary) {
    const Tensor temporary = new_tensor(resolved.shape, resolved.strides, out.dtype(), out.device());
    execute(resolved, &temporary, args, count);
    ResizedOutput resized(out, resolved.shape, resolved.strides);
    run_copy(out, temporary);
    return resized.keep();
  }
  const Uninterrupted whole;
  std::optional<ResizedOutput> resized;
  if (!(out.sizes() == resolved.shape)) resized.emplace(out, resolved.shape, resolved.strides);
  execute(resolved, &out, args, count);
  bump_version(out);
  if (resized) resized->keep();
}

Tensor& write(Op op, Form form, Tensor& out, Args args, int count) {
  if (is_complex_half(row_of(op), args, count) && complex_half_into(op, form, out, args, count)) [[unlikely]]
    return out;
  const Resolved resolved = resolve(op, args, count, form, &out);
  const Types& types = resolved.types;
  resolved.is_flat ? write_flat(op, resolved, form, out, args, count) : write_result(resolved, out, args, count);
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

Tensor run_resolved(Op op, Args args, int count) {
  if (is_complex_half(row_of(op), args, count)) [[unlikely]]
    if (Tensor result = complex_half_result(op, args, count); result.defined()) return result;
  const Resolved resolved = resolve(op, args, count, Form::functional);
  if (resolved.is_flat) return pointwise(op, args, count).view(resolved.shape);
  Tensor result = new_tensor(resolved.shape, resolved.strides, resolved.types.result, resolved.device);
  if (Recorder* recorder = resolved.device == Device::meta ? Recorder::current() : nullptr)
    record(*recorder, op, resolved.types, resolved, result, args, count);
  execute(resolved, &result, args, count);
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
    if (recorder) record(*recorder, each, types, resolved, results[results.size() - 1], args, count);
  }
  execute(resolved, results.data(), args, count);
  return results;
}

}  // namespace

List<Tensor> run_results(Op op, Args args, int count) {
  if (!CourseRecord::now() && BroadcastCheck::is_silent())
    if (List<Tensor> results = small_results(op, args, count); !results.empty()) return results;
  return new_results(op, resolve(op, args, count, Form::functional), args, count);
}

void run_results_out(const NamedOut* outs, Op op, Args args, int count) {
  Tensor* pointers[kMaxResults];
  Tensor written[kMaxResults];
  const int results = count_results(row_of(op));
  for (int i = 0; i < results; ++i) {
    const Tensor& out = *(pointers[i] = outs[i].tensor);
    written[i] = out;
    if (out.impl()->in_graph || in_graph(args, count)) [[unlikely]]
      check_out_unrecorded(op, out, args, count);
  }
  const Resolved resolved = resolve_outs(op, args, count, outs);
  if (resolved.is_flat || resolved.needs_temporary)
    return write_results(op, pointers, new_results(op, resolved, args, count));
  const Uninterrupted whole;
  execute(resolved, written, args, count);
  for (int i = 0; i < results; ++i) bump_version(written[i]);
}

Tensor small_elementwise(Op op, Dtype dtype, Args args) {
  return small_result_of<2>(op, args, static_cast<const Dtype*>(&dtype));
}

Tensor run_elementwise(Op op, Args args, int count) {
  if (Tensor result = fast_result(op, args, count); result.defined()) return result;
  if (Tensor result = small_result(op, args, count); result.defined()) return result;
  if (is_result(row_of(op), *args[0])) return args[0]->tensor();
  return run_resolved(op, args, count);
}

Tensor& run_inplace(Op op, Tensor& self, Args args, int count) {
  if (fast_into(op, self, args, count) || small_into(op, self, args, count)) return self;
  if (is_result(row_of(op), *args[0])) {
    bump_version(self);
    return self;
  }
  return write(op, Form::inplace, self, args, count);
}

Tensor elementwise(Op op, Args args, int count) {
  if (in_graph(args, count) && has_observer(args, count)) [[unlikely]]
    return is_result(row_of(op), *args[0]) ? args[0]->tensor() : with_history().elementwise(op, args, count);
  return run_elementwise(op, args, count);
}

bool is_traced(const Tensor& out, Args args, int count) {
  return thread_modes.traced && (out.is_meta() || std::any_of(args, args + count, [](const Arg* arg) {
                                   return arg->is_tensor() && arg->tensor().is_meta();
                                 }));
}

Tensor& write_traced(Op op, Tensor& out, const Tensor& result) {
  if (row_of(op).strict_out) check_strict_out(out, result.dtype());
  check_can_cast(result.dtype(), out.dtype());
  if (!(out.sizes() == result.sizes()))
    throw Error("tenon.fuse: an out= of another shape than the result can't be traced; return the result");
  return out.copy_(result);
}

Tensor& elementwise_out(Op op, Tensor& out, Args args, int count) {
  if (out.impl()->in_graph || in_graph(args, count)) [[unlikely]] {
    if (is_traced(out, args, count)) return write_traced(op, out, elementwise(op, args, count));
    check_out_unrecorded(op, out, args, count);
  }
  if (fast_into(op, out, args, count) || small_into(op, out, args, count)) return out;
  return write(op, Form::out, out, args, count);
}

Tensor& elementwise_inplace(Op op, Tensor& self, Args args, int count) {
  if (in_graph(args, count)) [[unlikely]]
    return with_history().inplace(op, self, args, count);
  return run_inplace(op, self, args, count);
}

}  // namespace tenon
