// A formula that was traced once serves the calls that are like it, and no others.
#include "autograd/trace.h"

#include <gtest/gtest.h>

#include <vector>

#include "tenon/autograd.h"
#include "tenon/factories.h"

namespace tenon::autograd {
namespace {

constexpr int64_t kSize = 5000;  // large enough for one Program

Derivative::OfArgument tanh_derivative() { return derivative_of(Op::tanh).arguments[0]; }

std::shared_ptr<const Trace> trace_of_tanh(SizesView shape, Dtype dtype) {
  const NoGrad no_grad;
  Given given;
  given.gradient = ones(shape, dtype);
  given.values[kResult] = zeros(shape, dtype);
  return trace_of(tanh_derivative(), given, Descent(shape, shape, shape.copy()), dtype);
}

TEST(Trace, IsTheSameForCallsThatAreAlike) {
  const auto first = trace_of_tanh({kSize}, float32);
  EXPECT_TRUE(first->is_program);
  EXPECT_EQ(trace_of_tanh({kSize}, float32), first);
  EXPECT_NE(trace_of_tanh({kSize}, float64), first);
  EXPECT_NE(trace_of_tanh({kSize + 1}, float32), first);
  EXPECT_NE(trace_of_tanh({1, kSize}, float32), first);
}

TEST(Trace, OfAnotherNumberIsAnother) {
  Tensor x = ones({kSize}).requires_grad_();
  const Tensor one = ones({kSize});
  for (const double value : {2.0, 3.0, 2.0}) {
    const Tensor y = addcmul(one, x, x, value);
    backward({y}, {one});
    EXPECT_EQ(x.grad()[kSize - 1].item<double>(), 2 * value) << value;
    x.set_grad(Tensor());
  }
}

TEST(Trace, OfAnotherDefaultDtypeIsAnother) {
  const auto first = trace_of_tanh({kSize}, float32);
  set_default_dtype(float64);
  const auto second = trace_of_tanh({kSize}, float32);
  set_default_dtype(float32);
  EXPECT_NE(first, second);
}

TEST(Trace, AFormulaSaysWhatItReads) {
  const Derivative& mul = derivative_of(Op::mul);
  EXPECT_EQ(mul.arguments[0].reads, 1u << 1);
  EXPECT_EQ(mul.arguments[0].steps, 1);
  EXPECT_EQ(derivative_of(Op::add).arguments[0].steps, 0);
  EXPECT_EQ(derivative_of(Op::conj_physical).arguments[0].steps, 1);
  EXPECT_EQ(tanh_derivative().reads, 1u << kResult);
  EXPECT_EQ(tanh_derivative().steps, 3);
}

}  // namespace
}  // namespace tenon::autograd
