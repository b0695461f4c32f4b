#include "tenon/compile.h"

#include <algorithm>
#include <utility>

#include "dispatch/differentiate.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tenon/threads.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

using Inputs = const Tensor* const*;

List<Tensor> as_list(Inputs inputs, int count) {
  List<Tensor> list;
  for (int i = 0; i < count; ++i) list.push_back(*inputs[i]);
  return list;
}

Tensor without_data(const Tensor& tensor) {
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}

/// Whether every operand reaches the result's shape: operand i is given two elements along dim i.
bool uses_all(const Fused::Function& function, int count) {
  List<Tensor> inputs;
  for (int i = 0; i < count; ++i) {
    Dims sizes;
    for (int dim = 0; dim < count; ++dim) sizes.push_back(dim == i ? 2 : 1);
    inputs.push_back(empty(sizes, Options(float32, Device::meta)));
  }
  const NoGrad unrecorded;
  const PolicyGuard any_broadcast(BroadcastPolicy{});
  const Tensor result = function(inputs)[0];
  return result.dim() == count && result.numel() == int64_t{1} << count;
}

/// Whether broadcasts are neither reported nor refused: the ops would do that one by one.
bool are_broadcasts_free() {
  const BroadcastPolicy policy = broadcast_policy();
  return policy.rank == Policy::allow && policy.outer == Policy::allow && policy.blow_up == 0 &&
         !backcompat::broadcast_warning() && !backcompat::pointwise_1d();
}

}  // namespace

struct CompiledFunction::State {
  State(const CustomDefinition& definition, const Fused::Function& given)
      : op(custom::define(definition)), reaches_all(uses_all(given, definition.arity)), function(given), fused(given) {}

  int op;
  bool reaches_all;
  Fused::Function function;
  Fused fused;

  /// Whether the loop computes what the ops would, one by one: in the one dtype of all operands.
  bool has_loop(Inputs inputs, int count) const {
    const Dtype dtype = inputs[0]->dtype();
    if (!reaches_all || thread_modes.traced || (dtype != float32 && dtype != float64)) return false;
    for (int i = 0; i < count; ++i)
      if (inputs[i]->dtype() != dtype || inputs[i]->is_meta() || is_recorded(*inputs[i])) return false;
    return are_broadcasts_free();
  }
  template <class Call>
  static auto with_args(Inputs inputs, int count, const Call& call) {
    const Arg args[] = {*inputs[0], *inputs[count > 1 ? 1 : 0], *inputs[count > 2 ? 2 : 0], *inputs[count > 3 ? 3 : 0]};
    const Arg* const pointers[] = {&args[0], &args[1], &args[2], &args[3]};
    return call(pointers);
  }
  Tensor run_loop(Inputs inputs, int count) const {
    return with_args(inputs, count, [&](const Arg* const* args) { return custom::call(op, args, count); });
  }
  void run_loop_into(Tensor& out, Inputs inputs, int count) const {
    with_args(inputs, count, [&](const Arg* const* args) { custom::call_out(op, out, args, count); });
  }
  /// The result's layout is the ops', which look at the operands one after the other.
  Tensor run_loop_in_layout(Inputs inputs, int count) const {
    List<Tensor> layouts;
    for (int i = 0; i < count; ++i) layouts.push_back(without_data(*inputs[i]));
    const Tensor layout = function(layouts)[0];
    Tensor out = empty_strided(layout.sizes(), layout.strides(), layout.dtype());
    run_loop_into(out, inputs, count);
    return out;
  }
};

CompiledFunction::CompiledFunction(const CustomDefinition& definition, const Fused::Function& function)
    : state_(std::make_shared<const State>(definition, function)) {}

Tensor CompiledFunction::operator()(const Tensor* const* inputs, int count) const {
  if (!state_->has_loop(inputs, count)) return std::move(state_->fused(as_list(inputs, count))[0]);
  const bool is_plain =
      std::all_of(inputs, inputs + count, [](const Tensor* input) { return input->impl()->row_major; });
  if (!is_plain) return state_->run_loop_in_layout(inputs, count);
  try {
    return state_->run_loop(inputs, count);
  } catch (const Interrupted&) {
    throw;
  } catch (const Error&) {
    // The op that fails names its own operands.
    return std::move(state_->function(as_list(inputs, count))[0]);
  }
}

Tensor& CompiledFunction::out(Tensor& out, const Tensor* const* inputs, int count) const {
  if (state_->has_loop(inputs, count)) {
    state_->run_loop_into(out, inputs, count);
    return out;
  }
  const Tensor result = (*this)(inputs, count);
  if (is_recorded(result) || is_recorded(out))
    throw Error(
        "compiled(): functions with out=... arguments don't support automatic differentiation, but one of the "
        "arguments requires grad.");
  check_out_device(out, result.device());
  check_can_cast(result.dtype(), out.dtype());
  ResizedOutput resized(out, result.sizes(), result.strides());
  run_copy(out, result);
  bump_version(out);
  resized.keep();
  return out;
}

}  // namespace tenon
