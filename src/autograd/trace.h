// autograd: formulas as Programs. Takes a formula and its operands; gives the Program and the plan that compute the
// gradient and its sum in one pass. It is traced once for all calls with the same dtypes, sizes, strides and numbers.
#pragma once
#include <memory>
#include <vector>

#include "autograd/derivative.h"
#include "base/small_vector.h"
#include "dispatch/fast_path.h"
#include "plan/plan.h"
#include "tile/program.h"

namespace tenon::autograd {

/// The size of a tensor in a dim of the shape to which it broadcasts.
int64_t size_at(SizesView sizes, int64_t ndim, int64_t dim);

/// The shapes through which a gradient of `shape` is summed to `sizes`.
struct Descent {
  Dims narrow;        // `shape` with size 1 where every operand has stride 0
  Dims summed;        // `narrow` with size 1 in dims that are summed
  int64_t times = 1;  // elements of dims that are summed and have stride 0: a factor
  bool sums = false;  // a dim of `narrow` is summed

  Descent(SizesView shape, SizesView sizes, Dims narrow_shape);
};

/// Whether the gradient has the narrow shape. A custom derivative may return another shape; then it is called again
/// without narrowing, and the engine checks its result.
bool covers(const Tensor& gradient, const Descent& descent);
/// `value` times the number of equal elements. If it is summed further, it stays in the accumulation dtype.
Tensor multiplied(const Tensor& value, const Descent& descent);

struct Trace {
  bool is_program = false;  // false: the formula is called op by op
  Program program;          // its inputs: the gradient, then the values that are tensors, then the numbers
  Plan plan;
  std::vector<Number> numbers;
  Dims sizes, strides;  // of the result
};

/// The trace of formula(given), summed to a gradient of `dtype`; that of an earlier call if one was alike.
std::shared_ptr<const Trace> trace_of(const Derivative::OfArgument& derivative, const Given& given,
                                      const Descent& descent, Dtype dtype);

}  // namespace tenon::autograd
