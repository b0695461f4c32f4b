#include "autograd/reduce_grad.h"

#include <algorithm>
#include <utility>

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
int64_t size_at(SizesView sizes, int64_t ndim, int64_t dim) {
  const int64_t own = dim - (ndim - sizes.size());
  return own < 0 ? 1 : sizes[own];
}

/// How a gradient of `shape` comes down to `sizes`.
struct Descent {
  Dims narrow;        // the shape with size 1 where every operand has stride 0
  Dims summed;        // narrow with size 1 where its elements are summed
  int64_t times = 1;  // elements of the dims that are summed and still
  bool sums = false;  // something of narrow is summed

  Descent(SizesView shape, SizesView sizes, Dims narrowed) : narrow(std::move(narrowed)), summed(narrow) {
    for (int64_t dim = 0; dim < shape.size(); ++dim) {
      if (size_at(sizes, shape.size(), dim) != 1) continue;
      summed[dim] = 1;
      if (narrow[dim] == 1)
        times *= shape[dim];  // exact: at most the number of elements
      else
        sums = true;
    }
  }
};

/// The operand with size 1 where its stride is 0: over the narrow shape it broadcasts.
Tensor narrowed(const Tensor& tensor) {
  Dims sizes = tensor.sizes().copy(), strides = tensor.strides().copy();
  int64_t step = 1;  // a dim of size 1 steps as in a dense tensor: the paths for those are open then
  for (int64_t dim = tensor.dim() - 1; dim >= 0; --dim) {
    if (strides[dim] == 0) sizes[dim] = 1;
    if (sizes[dim] == 1) strides[dim] = step;
    step = (Checked(sizes[dim]) * strides[dim]).value_or(1);
  }
  if (tensor.sizes() == sizes) return tensor;
  return new_alias(tensor, sizes, strides, tensor.storage_offset());
}

/// From the summed shape to `sizes`: expanded where its stride was 0, without leading dims.
Tensor finished(const Tensor& tensor, SizesView sizes) {
  if (tensor.sizes() == sizes) return tensor;
  Dims strides;
  const int64_t lead = tensor.dim() - sizes.size();
  for (int64_t dim = 0; dim < sizes.size(); ++dim)
    strides.push_back(tensor.sizes()[lead + dim] == sizes[dim] ? tensor.strides()[lead + dim] : 0);
  return new_alias(tensor, sizes, strides, tensor.storage_offset());
}

/// `value` as often as it would have been added; what is to be summed further stays in the dtype of accumulation.
Tensor multiplied(const Tensor& value, const Descent& descent) {
  if (descent.times == 1) return value;
  const Tensor wide = descent.sums ? value.to(widened(value.dtype())) : value;
  return tenon::mul(wide, descent.times);
}

bool is_constant(const Tensor& grad) {
  for (int64_t dim = 0; dim < grad.dim(); ++dim)
    if (grad.sizes()[dim] != 1 && grad.strides()[dim] != 0) return false;
  return true;
}
/// What such a gradient comes down to: one element again.
/// Bench grad/([3]+[1]).sum() takes 530 ns with it and 620 ns without (two cores, November 2026).
Tensor reduce_constant(const Tensor& grad, SizesView sizes) {
  const int64_t numel = numel_of(sizes), times = grad.numel() / numel;
  const Tensor value = new_tensor(numel == 1 ? sizes : SizesView(), grad.dtype());
  visit_dtype(grad.dtype(), [&]<class T>() {
    if constexpr (is_complex_v<T>) {
      const auto [re, im] = *grad.data<T>();
      const auto factor = static_cast<typename T::value_type>(times);
      *value.data<T>() = {re * factor, im * factor};
    } else {
      using Wide = std::conditional_t<std::is_same_v<T, double>, double, float>;
      *value.data<T>() = element_cast<T>(element_cast<Wide>(*grad.data<T>()) * static_cast<Wide>(times));
    }
  });
  return numel == 1 ? value : new_alias(value, sizes, Dims(sizes.size(), 0), 0);
}

/// A gradient of the narrow shape, brought down to `sizes`; what is summed stays wide to the end.
Tensor brought_down(const Tensor& narrow, const Descent& descent, SizesView sizes, Dtype dtype) {
  Tensor value = multiplied(narrow, descent);
  if (descent.sums) {
    Dims dims;
    for (int64_t dim = 0; dim < value.dim(); ++dim)
      if (descent.summed[dim] == 1) dims.push_back(dim);
    value = run_reduce(Op::sum, value, dims, true, widened(value.dtype()));
  }
  return finished(value.dtype() == dtype ? value : run_to(value, dtype, MemoryFormat::preserve), sizes);
}

/// Without grad mode.
Tensor come_down(const Tensor& grad, SizesView sizes, Dtype dtype) {
  const Tensor narrow = narrowed(grad);
  return brought_down(narrow, Descent(grad.sizes(), sizes, narrow.sizes().copy()), sizes, dtype);
}

StridedView strided_view_of(const Tensor& tensor) { return {tensor.sizes(), tensor.strides()}; }

/// Whether the gradient has an element for each of the narrow shape. A formula from outside may give anything: what
/// it gives without narrowing, the engine refuses or sums.
bool covers(const Tensor& gradient, const Descent& descent) {
  return gradient.defined() && gradient.sizes() == descent.narrow;
}

/// The Program of a formula over operands that lie in `inputs`.
struct RecordedFormula {
  Recorder recorder;
  const Recording recording{recorder};
  Given metas;
  Tensor result;
  std::vector<Tensor> inputs;

  void declare(const Term& value, Term& meta) {
    const Tensor& tensor = value.tensor();
    meta = empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
    recorder.input(meta.tensor());
    inputs.push_back(tensor);
  }
};

/// False where the formula is no Program, or gives back what it was given.
bool record_formula(RecordedFormula& recorded, const Given& given, const Derivative::OfArgument& formula,
                    const Descent& descent) {
  recorded.declare(given.gradient, recorded.metas.gradient);
  for (int i = 0; i <= kResult; ++i) {
    if (given.values[i].is_tensor())
      recorded.declare(given.values[i], recorded.metas.values[i]);
    else
      recorded.metas.values[i] = given.values[i];
  }
  recorded.result = formula(recorded.metas);
  if (!covers(recorded.result, descent)) return false;
  recorded.result = multiplied(recorded.result, descent);
  const int computed = static_cast<int>(recorded.inputs.size());
  return recorded.recorder.is_complete() && recorded.recorder.find(recorded.result) >= computed;
}

Tensor run_recorded(const RecordedFormula& recorded, const Descent& descent, Dtype dtype) {
  const Dtype own = recorded.result.dtype();
  std::vector<const void*> numbers;
  const Program program =
      recorded.recorder.program(recorded.recorder.find(recorded.result), descent.sums ? widened(own) : dtype, numbers);
  Tensor out = descent.sums ? new_tensor(descent.summed, dtype)
                            : new_tensor(recorded.result.sizes(), recorded.result.strides(), dtype);
  std::vector<StridedView> strided{strided_view_of(out)};
  std::vector<const void*> data;
  for (const Tensor& input : recorded.inputs) {
    strided.push_back(strided_view_of(input));
    data.push_back(input.data_ptr());
  }
  for (const void* number : numbers) {
    strided.push_back({});
    data.push_back(number);
  }
  Plan plan;
  const int64_t count = static_cast<int64_t>(strided.size());
  if (descent.sums) {
    make_reduction_plan(descent.narrow, strided.data(), count, plan);
    run_reduction(plan, program, {Op::sum, 0, dtype}, out.data_ptr(), data.data());
  } else {
    make_plan(descent.narrow, strided.data(), count, plan);
    run(plan, program, out.data_ptr(), data.data());
  }
  return out;
}

/// Op by op.
Tensor stepwise_gradient(const Given& given, const Given& narrow, const Derivative::OfArgument& formula,
                         const Descent& descent, SizesView sizes, Dtype dtype) {
  const Tensor value = formula(narrow);
  if (!covers(value, descent)) return formula(given);
  return brought_down(value, descent, sizes, dtype);
}

}  // namespace

Tensor reduce_grad(const Tensor& grad, SizesView sizes) {
  if (thread_modes.grad || grad.is_meta() || grad.numel() == 0) return grad.sum_to_size(sizes);
  if (is_constant(grad)) return reduce_constant(grad, sizes);
  return come_down(grad, sizes, grad.dtype());
}

Tensor cast_grad(const Tensor& grad, Dtype dtype) {
  if (thread_modes.grad) return is_complex(dtype) ? grad.to(dtype) : real(grad).to(dtype);
  return come_down(grad, grad.sizes(), dtype);
}

Tensor fused_gradient(const Given& given, unsigned reads, const Derivative::OfArgument& derivative, SizesView sizes,
                      Dtype dtype) {
  Given narrow;
  narrow.gradient = narrowed(given.gradient.tensor());
  Dims shape = narrow.gradient.tensor().sizes().copy();
  for (int i = 0; i <= kResult; ++i) {
    const Term& value = given.values[i];
    if (!value.is_tensor()) {
      narrow.values[i] = value;
    } else if (reads >> i & 1u) {
      const Tensor operand = narrowed(value.tensor());
      for (int64_t dim = 0; dim < shape.size(); ++dim)
        shape[dim] = std::max(shape[dim], size_at(operand.sizes(), shape.size(), dim));
      narrow.values[i] = operand;
    }
  }
  const Descent descent(given.gradient.tensor().sizes(), sizes, std::move(shape));
  const bool one_pass = derivative.steps <= 1 && !descent.sums;
  if (numel_of(descent.narrow) < kFused || one_pass)
    return stepwise_gradient(given, narrow, derivative, descent, sizes, dtype);
  RecordedFormula recorded;
  if (!record_formula(recorded, narrow, derivative, descent))
    return stepwise_gradient(given, narrow, derivative, descent, sizes, dtype);
  return finished(run_recorded(recorded, descent, dtype), sizes);
}

}  // namespace tenon::autograd
