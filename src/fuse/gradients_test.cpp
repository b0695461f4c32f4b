// Gradients of fused functions: their derivatives are fused functions, too.
#include <string>

#include "fuse/fuse_tests.h"
#include "fuse/graph.h"
#include "gtest/gtest.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"

namespace tenon {
namespace {

using namespace fuse_tests;

TEST(Fuse, RecordedTensorsGiveGradients) {
  const Fused fused([](const Tensors& x) -> Tensors { return {(x[0] * x[0]).sum()}; });
  Tensor a = ones({3});
  a.requires_grad_();
  fused({a})[0].backward();
  expect_same(a.grad(), full({3}, 2.0), "");
  const NoGrad unrecorded;
  EXPECT_FALSE(fused({a})[0].requires_grad());
}

Tensors gradients_of(const Fused::Function& function, const Tensors& inputs, bool is_constant) {
  autograd::GradOptions options;
  options.allow_unused = true;
  const Tensor result = function(inputs)[0];
  if (is_constant) return autograd::grad({result.sum()}, inputs, {}, options);
  return autograd::grad({result}, inputs, {result.detach().cos()}, options);
}

TEST(Fuse, TheDerivativeOfAFusedFunctionIsOne) {
  for (const Rows& rows : kRows) {
    const Fused fused(rows.function);
    const auto call = [&](const Tensors& x) { return fused(x); };
    const Tensors inputs{rand({700, 1001}, float64).sub(0.5).requires_grad_(), rand({1001}, float64).requires_grad_()};
    const std::string name = rows.name, node = fused(inputs)[0].grad_fn().name();
    const bool is_fused = name != "ops of rows" && name != "softmax without keepdim, transposed";
    EXPECT_EQ(node == "FusedBackward", is_fused) << name;
    for (const bool is_constant : {false, true}) {
      const Tensors gradients = gradients_of(call, inputs, is_constant);
      const Tensors eager = gradients_of(rows.function, inputs, is_constant);
      for (std::size_t i = 0; i < eager.size(); ++i) {
        ASSERT_EQ(gradients[i].defined(), eager[i].defined()) << rows.name;
        const bool is_close = !eager[i].defined() || allclose(gradients[i], eager[i], 1e-7, 1e-9);
        EXPECT_TRUE(is_close) << rows.name;
      }
    }
  }
}

TEST(Fuse, SecondDerivatives) {
  const Fused fused([](const Tensors& x) -> Tensors {
    const Tensor e = (x[0] - x[0].amax({-1}, true)).exp();
    return {e / e.sum({-1}, true) * x[1], (x[0] * x[1]).tanh().sum({0})};
  });
  const Tensors inputs{rand({3, 4}, float64).requires_grad_(), rand({4}, float64).requires_grad_()};
  const auto call = [&](const Tensors& x) { return fused(x); };
  EXPECT_TRUE(autograd::gradcheck(call, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(call, inputs));
}

TEST(Fuse, WhatCannotBeRepeatedIsCalledAsItIs) {
  const Tensor a = rand({4, 4}).requires_grad_(), outside = rand({4}).requires_grad_();
  const auto node_of = [&](const Fused::Function& function) { return Fused(function)({a})[0].grad_fn().name(); };
  EXPECT_EQ(node_of([](const Tensors& x) -> Tensors { return {matmul(x[0], x[0]) * 2}; }), "FusedBackward");
  EXPECT_EQ(node_of([&](const Tensors& x) -> Tensors { return {x[0] + outside}; }), "AddBackward0");
  EXPECT_EQ(node_of([](const Tensors& x) -> Tensors { return {x[0].exp().add_(1)}; }), "AddBackward0");
  EXPECT_EQ(node_of([](const Tensors& x) -> Tensors { return {x[0].exp().t()}; }), "TBackward0");
  EXPECT_EQ(node_of([](const Tensors& x) -> Tensors { return {x[0].prod(1) * 2}; }), "MulBackward0");
  const Fused several([](const Tensors& x) -> Tensors {
    return {x[0] * 2, (x[0] * 3).detach(), x[0] > 0, (x[0] * x[1]).sum()};
  });
  const Tensors results = several({a, rand({4})});
  EXPECT_TRUE(results[0].requires_grad() && !results[1].requires_grad() && !results[2].requires_grad());
  (results[0].sum() + results[3]).backward();
  EXPECT_TRUE(a.grad().defined());
}

/// What `kept_values` gives for a function and a derivative, by the ops.
std::string names_of_kept(Keep keep, const Fused::Function& function, const Fused::Function& derivative,
                          const Tensors& inputs) {
  const auto both = [&](const Tensors& x) {
    Tensors all = x;
    for (const Tensor& result : function(x)) all.push_back(result);
    fusion::note_forward(Tensors(all.begin() + x.size(), all.end()));
    return derivative(all);
  };
  const fusion::GraphTrace trace = fusion::trace_graph(both, inputs);
  std::string names;
  for (const int id : fusion::kept_values(trace, keep)) {
    const int step = trace.values[static_cast<std::size_t>(id)].step;
    names += (names.empty() ? "" : " ") + trace.steps[static_cast<std::size_t>(step)].name;
  }
  return names;
}

TEST(Fuse, WhatIsKeptForGradientsTakesAPassToCompute) {
  const struct {
    const char* why;
    Fused::Function function, derivative;  // the derivative reads x[0], x[1], then what the function gave
    const char *costly, *everything;
  } cases[] = {
      {"a result, too, is repeated", [](const Tensors& x) -> Tensors { return {(x[0] * 2).exp()}; },
       [](const Tensors& x) -> Tensors { return {x[2] * 3}; }, "", "exp"},
      {"a quotient is no function", [](const Tensors& x) -> Tensors { return {(x[0] / 2) * x[1]}; },
       [](const Tensors& x) -> Tensors { return {x[2] * 3}; }, "", "mul"},
      {"elementwise ops are repeated", [](const Tensors& x) -> Tensors { return {(x[0] * 2).exp()}; },
       [](const Tensors& x) -> Tensors { return {x[0] * 2}; }, "", ""},
      {"a product that a later op reads",
       [](const Tensors& x) -> Tensors {
         return {mm(x[0], x[1]), x[0] * 2};
       },
       [](const Tensors& x) -> Tensors { return {x[2].tanh() + x[3] * x[0]}; }, "mm", "mm mul"},
      {"what two products read", [](const Tensors& x) -> Tensors { return {mm(x[0].exp(), x[1])}; },
       [](const Tensors& x) -> Tensors { return {mm(x[0].exp(), x[2])}; }, "mm", "mm"},
      {"sums of many elements", [](const Tensors& x) -> Tensors { return {x[0].sum({1}, true)}; },
       [](const Tensors& x) -> Tensors { return {x[0] / x[2]}; }, "sum", "sum"},
  };
  const Tensors inputs{rand({600, 600}), rand({600, 600})};  // more than a cache keeps
  for (const auto& c : cases) {
    EXPECT_EQ(names_of_kept(Keep::costly, c.function, c.derivative, inputs), c.costly) << c.why;
    EXPECT_EQ(names_of_kept(Keep::everything, c.function, c.derivative, inputs), c.everything) << c.why;
    EXPECT_EQ(names_of_kept(Keep::nothing, c.function, c.derivative, inputs), "") << c.why;
  }
}

TEST(Fuse, FunctionsInACacheAreKeptForGradients) {
  const auto function = [](const Tensors& x) -> Tensors { return {(x[0] * 2).exp() * x[1]}; };
  const auto derivative = [](const Tensors& x) -> Tensors { return {(x[0] * 2).exp() * x[2]}; };
  const auto kept_of = [&](const Fused::Function& of, int64_t rows) {
    return names_of_kept(Keep::costly, function, of, {rand({rows, 64}), rand({rows, 64})});
  };
  const auto reads_function = [&](const Tensors& x) -> Tensors { return {x[2] * x[0]}; };
  EXPECT_EQ(kept_of(reads_function, 4096), "exp");  // 1 MiB
  EXPECT_EQ(kept_of(reads_function, 4097), "");
  EXPECT_EQ(kept_of([](const Tensors& x) -> Tensors { return {x[0] * 2}; }, 8), "");
  EXPECT_NE(kept_of(derivative, 8).find("exp"), std::string::npos);
}

TEST(Fuse, FunctionsWithProductsHaveFusedDerivatives) {
  const auto network = [](const Tensors& x) -> Tensors {
    const Tensor hidden = (matmul(x[0], x[1]) + x[2]).tanh();
    const Tensor scores = matmul(hidden * hidden, x[1].t());
    return {softmax(scores, -1), (hidden.argmax(1, true) * scores).sum({0}), hidden.narrow(0, 1, 2) * 3};
  };
  const Tensors inputs{rand({5, 4}, float64).requires_grad_(), rand({4, 3}, float64).requires_grad_(),
                       rand({3}, float64).requires_grad_()};
  for (const bool is_constant : {false, true}) {
    const Tensors eager = gradients_of(network, inputs, is_constant);
    for (const Keep keep : {Keep::costly, Keep::nothing, Keep::everything}) {
      const Fused fused(network, keep);
      EXPECT_EQ(fused(inputs)[1].grad_fn().name(), "FusedBackward");
      const Tensors given = gradients_of([&](const Tensors& x) { return fused(x); }, inputs, is_constant);
      for (std::size_t i = 0; i < eager.size(); ++i) EXPECT_TRUE(allclose(given[i], eager[i], 1e-9, 1e-12)) << i;
      const auto call = [&](const Tensors& x) { return fused(x); };
      EXPECT_TRUE(autograd::gradcheck(call, inputs));
      EXPECT_TRUE(autograd::gradgradcheck(call, inputs));
    }
  }
}

TEST(Fuse, DerivativesReadTensorsFromElsewhere) {
  const Tensor weight = rand({4, 2}, float64);
  const auto function = [&](const Tensors& x) -> Tensors {
    return {matmul(x[0] * weight.select(1, 0), weight), linear(x[0], ones({3, 4}, float64)) * 2};
  };
  const Tensors inputs{rand({5, 4}, float64).requires_grad_()};
  const Fused fused(function);
  EXPECT_EQ(fused(inputs)[0].grad_fn().name(), "FusedBackward");
  const auto call = [&](const Tensors& x) { return fused(x); };
  EXPECT_TRUE(autograd::gradcheck(call, inputs));
  EXPECT_TRUE(autograd::gradgradcheck(call, inputs));
}

TEST(Fuse, VectorsTimesMatricesHaveFusedDerivatives) {
  const auto function = [](const Tensors& x) -> Tensors {
    return {matmul(x[0], x[1]), matmul(x[1], x[1].select(0, 1))};
  };
  const Tensors inputs{rand({3}, float64).requires_grad_(), rand({3, 3}, float64).requires_grad_()};
  const Fused fused(function);
  expect_same(fused(inputs), function(inputs), "");
  EXPECT_TRUE(autograd::gradcheck([&](const Tensors& x) { return fused(x); }, inputs));
}

TEST(Fuse, WhatTensorsFromElsewhereGiveIsRecorded) {
  const Tensor weight = ones({3}).requires_grad_();
  const auto function = [&](const Tensors& x) -> Tensors { return {x[0] + weight.sum() + weight.clone() * 2}; };
  EXPECT_TRUE(Fused(function)({ones({3})})[0].requires_grad());
}

TEST(Fuse, WhatTheFunctionReadsIsThatOfTheForwardCall) {
  double factor = 2;
  const Fused fused([&](const Tensors& x) -> Tensors { return {x[0] * factor}; });
  const Tensor a = ones({3}).requires_grad_();
  const Tensor result = fused({a})[0];
  factor = 5;
  result.sum().backward();
  expect_same(a.grad(), full({3}, 2.0), "");
}

}  // namespace
}  // namespace tenon
