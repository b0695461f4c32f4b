// autograd: formulas as Programs. Takes a formula and its operands; gives the Program and the plan of the one pass that
// computes the gradient and its sum, traced once for all calls with those dtypes, sizes, strides and numbers.
#pragma once
#include <memory>
#include <vector>

#include "autograd/derivative.h"
#include "base/small_vector.h"
#include "dispatch/fast_path.h"
#include "plan/plan.h"
#include "tile/program.h"

namespace tenon::autograd {

/// The size of a tensor at a dim of a shape it broadcasts to.
int64_t size_at(SizesView sizes, int64_t ndim, int64_t dim);

/// How a gradient of `shape` comes down to `sizes`.
struct Descent {
  Dims narrow;        // the shape with size 1 where every operand has stride 0
  Dims summed;        // narrow with size 1 where its elements are summed
  int64_t times = 1;  // elements of the dims that are summed and have stride 0
  bool sums = false;  // something of narrow is summed

  Descent(SizesView shape, SizesView sizes, Dims narrow_shape);
};

/// Whether a gradient has an element for each of the narrow shape. A formula from outside may give anything: what it
/// gives without narrowing, the engine refuses or sums.
bool covers(const Tensor& gradient, const Descent& descent);
/// `value` as often as it would have been added; what is to be summed further stays in the dtype of accumulation.
Tensor multiplied(const Tensor& value, const Descent& descent);

struct Trace {
  bool is_program = false;  // else the formula is called op by op
  Program program;          // its inputs: the gradient, the values that are tensors in their order, the numbers
  Plan plan;
  std::vector<Number> numbers;
  Dims sizes, strides;  // of the result
};

/// The trace of formula(given), brought down to a gradient of that dtype: of an earlier call where one was like it.
std::shared_ptr<const Trace> trace_of(const Derivative::OfArgument& derivative, const Given& given,
                                      const Descent& descent, Dtype dtype);

}  // namespace tenon::autograd
