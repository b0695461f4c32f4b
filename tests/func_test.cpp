// func::grad gives what tenon.func.grad gives in Python: gradients as functions, which have gradients, too.
#include <gtest/gtest.h>

#include <string>
#include <tuple>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

const auto cube = [](const Tensor& x) { return pow(x, 3).sum(); };
const auto product = [](const Tensor& a, const Tensor& b) { return (a * a * b).sum(); };

template <class Work>
std::string error_of(const Work& work) {
  try {
    work();
    return {};
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(Func, GradIsAFunction) {
  const Tensor x = tensor({1., 2., 3.});
  const Tensor slope = func::grad(cube)(x);
  EXPECT_TRUE(equal(slope, 3 * x * x));
  EXPECT_FALSE(slope.requires_grad());
  EXPECT_FALSE(x.requires_grad());
}

TEST(Func, GradientsHaveGradients) {
  const auto slope = func::grad(cube);
  const auto curve = func::grad([&](const Tensor& x) { return slope(x).sum(); });
  const auto third = func::grad([&](const Tensor& x) { return curve(x).sum(); });
  const Tensor x = tensor({1., 2., 3.});
  EXPECT_TRUE(equal(curve(x), 6 * x));
  EXPECT_TRUE(equal(third(x), tensor({6., 6., 6.})));
}

TEST(Func, ByOtherArgumentsAndByBroadcastOnes) {
  const Tensor a = tensor({1., 2., 3.}), b = tensor({5.});
  EXPECT_TRUE(equal(func::grad(product)(a, b), 2 * a * b));
  EXPECT_TRUE(equal(func::grad<1>(product)(a, b), tensor({14.})));
  const auto [by_a, by_b] = func::grad<0, 1>(product)(a, b);
  EXPECT_TRUE(equal(by_a, 2 * a * b));
  EXPECT_TRUE(equal(by_b, tensor({14.})));
}

TEST(Func, ValueBesideTheGradient) {
  const Tensor x = tensor({1., 2.});
  const auto [slope, value] = func::grad_and_value(cube)(x);
  EXPECT_TRUE(equal(slope, 3 * x * x));
  EXPECT_EQ(value.item<double>(), 9);
  EXPECT_FALSE(value.requires_grad());
}

TEST(Func, ArgumentsInAGraphStayInIt) {
  Tensor x = tensor({1., 2.}).requires_grad_();
  Tensor slope;
  {
    const NoGrad unrecorded;  // func::grad records all the same
    slope = func::grad(cube)(x);
  }
  ASSERT_TRUE(slope.requires_grad());
  slope.sum().backward();
  EXPECT_TRUE(equal(x.grad(), 6 * x.detach()));
}

TEST(Func, ZerosWhereNothingDepends) {
  const Tensor x = ones({2, 3}), y = ones({4});
  EXPECT_TRUE(equal(func::grad([](const Tensor&) { return tensor(1.); })(x), zeros({2, 3})));
  EXPECT_TRUE(equal(func::grad<1>([](const Tensor& a, const Tensor&) { return a.sum(); })(x, y), zeros({4})));
}

TEST(Func, ErrorsArePyTorchs) {
  EXPECT_EQ(error_of([] { func::grad([](const Tensor& x) { return x; })(ones({3})); }),
            "grad_and_value(f)(*args): Expected f(*args) to return a scalar Tensor, got tensor with 1 dims. Maybe you "
            "wanted to use the vjp or jacrev APIs instead?");
  EXPECT_EQ(error_of([] { func::grad(cube)(arange(3)); }),
            "only Tensors of floating point dtype can require gradients");
}

}  // namespace
