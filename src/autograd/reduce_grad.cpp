#include "autograd/reduce_grad.h"

#include "dispatch/differentiate.h"
#include "dispatch/recorder.h"
#include "plan/plan.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tensor/impl.h"
#include "tile/reduce.h"
#include "tile/run.h"
#include "type/visit.h"

namespace tenon::autograd {
namespace {

// Below this a formula is called op by op: to record it would take longer.
constexpr int64_t kFused = 4096;

/// The size of a tensor at a dim of a shape it broadcasts to.
int64_t size_at(SizesView sizes, SizesView shape, int64_t dim) {
  const int64_t own = dim - (shape.size() - sizes.size());
  return own < 0 ? 1 : sizes[own];
}
bool is_still(const Tensor& tensor, SizesView shape, int64_t dim) {
  const int64_t own = dim - (shape.size() - tensor.dim());
  return own < 0 || tensor.sizes()[own] == 1 || tensor.strides()[own] == 0;
}

/// How a gradient of `shape` comes down to `sizes`.
struct Descent {
  Dims narrow;        // the shape with size 1 where every operand stands still
  Dims summed;        // narrow with size 1 where its elements are summed
  Dims kept;          // the shape with size 1 where summed: what `sizes` is, with leading dims of size 1
  int64_t times = 1;  // elements of the dims that are summed and still
  bool sums = false;  // something of narrow is summed

  Descent(SizesView shape, SizesView sizes, const Tensor* const* operands, int count) {
    narrow = shape.copy();
    kept = shape.copy();
    for (int64_t dim = 0; dim < shape.size(); ++dim) {
      const int64_t size = shape[dim];
      if (size == 1) continue;
      const bool reduced = size_at(sizes, shape, dim) == 1;
      bool constant = true;
      for (int i = 0; i < count; ++i) constant = constant && is_still(*operands[i], shape, dim);
      if (constant) narrow[dim] = 1;
      if (!reduced) continue;
      kept[dim] = 1;
      if (constant)
        times = (Checked(times) * size).value_or(0);  // too many to count only where no gradient has elements
      else
        sums = true;
    }
    summed = narrow;
    for (int64_t dim = 0; dim < shape.size(); ++dim)
      if (kept[dim] == 1) summed[dim] = 1;
  }
};

/// The operand with size 1 where it stands still: over the narrow shape it broadcasts.
Tensor narrowed(const Tensor& tensor) {
  bool still = false;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    still = still || (tensor.sizes()[dim] != 1 && tensor.strides()[dim] == 0);
  if (!still) return tensor;
  Dims sizes = tensor.sizes().copy(), strides = tensor.strides().copy();
  int64_t step = 1;  // a dim of size 1 steps as in a dense tensor: the paths for those are open then
  for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    if (strides[dim] == 0) sizes[dim] = 1;
    if (sizes[dim] == 1) strides[dim] = step;
    step = (Checked(sizes[dim]) * strides[dim]).value_or(1);
  }
  return new_alias(tensor, sizes, strides, tensor.storage_offset());
}

/// From the summed shape to `sizes`: expanded where it stood still, without leading dims.
Tensor finished(const Tensor& tensor, const Descent& descent, SizesView sizes) {
  if (tensor.sizes() == sizes) return tensor;
  Dims strides;
  const int64_t lead = descent.kept.size() - sizes.size();
  for (int64_t dim = lead; dim < descent.kept.size(); ++dim) {
    const bool expanded = tensor.sizes()[dim] == 1 && descent.kept[dim] != 1;
    strides.push_back(expanded ? 0 : tensor.strides()[dim]);
  }
  return new_alias(tensor, sizes, strides, tensor.storage_offset());
}

/// `value` as often as it would have been added; what is to be summed further stays in the dtype of accumulation.
Tensor multiplied(const Tensor& value, int64_t times, bool sums) {
  if (times == 1) return value;
  const Tensor wide = sums ? value.to(widened(value.dtype())) : value;
  return tenon::mul(wide, times);
}

bool is_constant(const Tensor& grad) {
  for (int64_t dim = 0; dim < grad.dim(); ++dim)
    if (grad.sizes()[dim] != 1 && grad.strides()[dim] != 0) return false;
  return true;
}
/// What such a gradient comes down to: one element again.
Tensor reduce_constant(const Tensor& grad, SizesView sizes) {
  const int64_t numel = numel_of(sizes), times = grad.numel() / numel;
  const Tensor value = new_tensor(numel == 1 ? sizes : SizesView(), grad.dtype());
  visit_dtype(grad.dtype(), [&]<class T>() {
    using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
    *value.data<T>() = element_cast<T>(element_cast<Wide>(*grad.data<T>()) * static_cast<Wide>(times));
  });
  return numel == 1 ? value : new_alias(value, sizes, Dims(sizes.size(), 0), 0);
}

Tensor sum_plain(const Tensor& grad, SizesView summed, Dtype accumulated) {
  Dims dims;
  for (int64_t dim = 0; dim < summed.size(); ++dim)
    if (summed[dim] == 1 && grad.sizes()[dim] != 1) dims.push_back(dim);
  return run_reduce(Op::sum, grad, dims, true, accumulated);
}

Walk walk_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }

Dims spread_strides(const Tensor& out, SizesView shape) {
  Dims strides = out.strides().copy();
  for (int64_t dim = 0; dim < shape.size(); ++dim)
    if (out.sizes()[dim] == 1 && shape[dim] != 1) strides[dim] = 0;
  return strides;
}

/// Whether the gradient has an element for each of the narrow shape. A formula from outside may give anything: what
/// it gives without narrowing, the engine refuses or sums.
bool covers(const Tensor& gradient, const Descent& descent) {
  return gradient.defined() && gradient.sizes() == descent.narrow;
}

/// The Program of a formula over operands that lie in `inputs`.
struct Recorded {
  Recorder recorder;
  Given metas;
  Tensor result;
  std::vector<Tensor> inputs;

  void declare(const Value& value, Value& meta) {
    const Tensor& tensor = value.tensor();
    meta = empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
    recorder.input(meta.tensor());
    inputs.push_back(tensor);
  }
};

void record_formula(Recorded& recorded, const Given& given, unsigned reads, const Derivative::OfArgument& formula,
                    const Descent& descent) {
  recorded.declare(given.gradient, recorded.metas.gradient);
  for (int i = 0; i <= kResult; ++i) {
    if (given.values[i].is_tensor() && (reads >> i & 1u))
      recorded.declare(given.values[i], recorded.metas.values[i]);
    else
      recorded.metas.values[i] = given.values[i];
  }
  recorded.result = formula(recorded.metas);
  if (covers(recorded.result, descent)) recorded.result = multiplied(recorded.result, descent.times, descent.sums);
}

Tensor run_recorded(const Recorded& recorded, const Descent& descent, Dtype dtype) {
  const Dtype own = recorded.result.dtype();
  std::vector<const void*> numbers;
  const Program program = recorded.recorder.program(recorded.result, descent.sums ? widened(own) : dtype, numbers);
  Tensor out = descent.sums ? new_tensor(descent.summed, dtype)
                            : new_tensor(recorded.result.sizes(), recorded.result.strides(), dtype);
  const Dims strides = spread_strides(out, descent.narrow);
  std::vector<Walk> walks{{descent.narrow, strides}};
  std::vector<const void*> data;
  for (const Tensor& input : recorded.inputs) {
    walks.push_back(walk_of(input));
    data.push_back(input.data_ptr());
  }
  for (const void* number : numbers) {
    walks.push_back({});
    data.push_back(number);
  }
  Plan plan;
  const int64_t count = static_cast<int64_t>(walks.size());
  if (descent.sums) {
    make_reduction_plan(descent.narrow, walks.data(), count, plan);
    run_reduction(plan, program, {Op::sum, 0, dtype}, out.data_ptr(), data.data());
  } else {
    make_plan(descent.narrow, walks.data(), count, plan);
    run(plan, program, out.data_ptr(), data.data());
  }
  return out;
}

/// Op by op; what is summed stays wide to the end.
Tensor stepwise_gradient(const Given& given, const Given& narrow, const Derivative::OfArgument& formula,
                         const Descent& descent, SizesView sizes, Dtype dtype) {
  Tensor value = formula(narrow);
  if (!covers(value, descent) || value.is_meta()) return formula(given);
  value = multiplied(value, descent.times, descent.sums);
  if (descent.sums) value = sum_plain(value, descent.summed, widened(value.dtype()));
  return finished(value.to(dtype), descent, sizes);
}

}  // namespace

Tensor reduce_grad(const Tensor& grad, SizesView sizes) {
  if (grad.sizes() == sizes) return grad;
  if (thread_modes.grad || grad.is_meta() || grad.numel() == 0) return grad.sum_to_size(sizes);
  if (is_constant(grad)) return reduce_constant(grad, sizes);
  const Tensor* const operands[] = {&grad};
  const Descent descent(grad.sizes(), sizes, operands, 1);
  Tensor value = multiplied(narrowed(grad), descent.times, descent.sums);
  if (descent.sums) value = sum_plain(value, descent.summed, widened(value.dtype()));
  return finished(value.to(grad.dtype()), descent, sizes);
}

Tensor cast_grad(const Tensor& grad, Dtype dtype) {
  if (thread_modes.grad || grad.is_meta() || grad.numel() == 0) return grad.to(dtype);
  const Tensor* const operands[] = {&grad};
  const Descent descent(grad.sizes(), grad.sizes(), operands, 1);
  return finished(narrowed(grad).to(dtype), descent, grad.sizes());
}

Tensor fused_gradient(const Given& given, unsigned reads, const Derivative::OfArgument& derivative, SizesView sizes,
                      Dtype dtype) {
  const Tensor* operands[kMaxArguments + 2] = {&given.gradient.tensor()};
  int count = 1;
  for (int i = 0; i <= kResult; ++i)
    if (given.values[i].is_tensor() && (reads >> i & 1u)) operands[count++] = &given.values[i].tensor();
  const Descent descent(given.gradient.tensor().sizes(), sizes, operands, count);
  Given narrow = given;
  narrow.gradient = narrowed(given.gradient.tensor());
  for (int i = 0; i <= kResult; ++i)
    if (given.values[i].is_tensor()) narrow.values[i] = narrowed(given.values[i].tensor());
  const bool one_pass = derivative.steps <= 1 && !descent.sums;
  if (numel_of(descent.narrow) < kFused || one_pass)
    return stepwise_gradient(given, narrow, derivative, descent, sizes, dtype);
  Recorded recorded;
  record_formula(recorded, narrow, reads, derivative, descent);
  if (!covers(recorded.result, descent) || !recorded.recorder.is_complete() ||
      recorded.recorder.find(recorded.result) < 0)
    return stepwise_gradient(given, narrow, derivative, descent, sizes, dtype);
  return finished(run_recorded(recorded, descent, dtype), descent, sizes);
}

}  // namespace tenon::autograd
