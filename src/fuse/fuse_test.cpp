// Functions that are traced give the bits of the functions themselves: ops, views, tensors from elsewhere, errors,
// threads.
#include "tenon/fuse.h"

#include <string>
#include <thread>
#include <vector>

#include "fuse/fuse_tests.h"
#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"

namespace tenon {
namespace {

using namespace fuse_tests;

TEST(Fuse, LambdasOverTensors) {
  auto normalize = fuse([](auto a, auto mean, auto deviation) { return (a - mean) / deviation; });
  const Tensor a = rand({20, 3}), mean = rand({3}), deviation = rand({20, 1}) + 1;
  expect_same(normalize(a, mean, deviation), (a - mean) / deviation, "normalize");
  expect_same(normalize(a.t(), deviation.t(), a.t()), (a.t() - deviation.t()) / a.t(), "transposed");
}

TEST(Fuse, OtherOpsViewsAndSeveralResults) {
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor shifted = (x[0] - x[0].amax({1}, true)).exp();
    const Tensor probabilities = shifted / shifted.sum({1}, true);
    const Tensor product = matmul(probabilities, x[1]) + 1;
    return {probabilities,
            product.t(),
            product.select(0, 2) * 2,
            x[0].narrow(1, 1, 2),
            product.argmax(1),
            cat({product, product * 2}, 1),
            x[1]};
  };
  const Tensors inputs{rand({9, 5}), rand({5, 4})};
  expect_same(Fused(function)(inputs), function(inputs), "");
}

TEST(Fuse, LongFunctions) {
  const auto doubled = [](const Tensors& x) -> Tensors {
    Tensor y = x[0];
    for (int i = 0; i < 60; ++i) y = y + y;
    return {y};
  };
  expect_same(Fused(doubled)({ones({4})}), doubled({ones({4})}), "sums of shared values");
  const auto many = [](const Tensors& x) -> Tensors {
    std::vector<Tensor> last{x[0], x[1], x[0] + x[1]};
    for (int i = 0; i < 9000 / kSampled; ++i)
      last[static_cast<std::size_t>(i % 3)] = last[0] * 0.5 + last[1] - last[2] * 0.25;
    return {last[0], last[1]};
  };
  const Tensors inputs{rand({3}), rand({3})};
  expect_same(Fused(many)(inputs), many(inputs), "tens of thousands of ops");
}

TEST(Fuse, TensorsFromElsewhereAreReadInEachCall) {
  const Tensor weight = ones({3});
  const Fused fused([&](const Tensors& x) -> Tensors { return {x[0] * weight}; });
  const Tensor a = rand({2, 3});
  expect_same(fused({a})[0], a, "");
  Tensor(weight).add_(1);
  expect_same(fused({a})[0], a * 2, "");
}

TEST(Fuse, TensorsMadeOfNumbersAreNewInEachCall) {
  const Tensor outside = ones({3});
  const Fused fused([&](const Tensors& x) -> Tensors {
    return {x[0] + 1, ones({3}), zeros({4, 3}).select(0, 1), outside};
  });
  for (int turn = 0; turn < 2; ++turn) {
    const Tensors results = fused({rand({3})});
    expect_same(results[1], ones({3}), "new");
    expect_same(results[2], zeros({3}), "a view of a new one");
    for (const std::size_t i : {1u, 2u}) Tensor(results[i]).add_(5);
    EXPECT_TRUE(results[3].is(outside));
  }
}

TEST(Fuse, OpsWhoseResultNothingReadsAreChecked) {
  const auto is_refused = [](const Fused::Function& dead) {
    const auto function = [&](const Tensors& x) -> Tensors {
      dead(x);
      return {x[0] + 1};
    };
    const Tensors inputs{ones({2, 3}, int64), ones({2, 3}, complex64)};
    std::string eager = "none";
    try {
      function(inputs);
    } catch (const Error& error) {
      eager = error.what();
    }
    EXPECT_NE(eager, "none");
    EXPECT_EQ(error_of(function, inputs), eager);
  };
  is_refused([](const Tensors& x) -> Tensors { return {softmax(x[0], -1)}; });
  is_refused([](const Tensors& x) -> Tensors { return {x[0].mean()}; });
  is_refused([](const Tensors& x) -> Tensors { return {maximum(x[1], x[0])}; });
  is_refused([](const Tensors& x) -> Tensors { return {amax(x[1], {0})}; });
  is_refused([](const Tensors& x) -> Tensors { return {matmul(x[0], x[0])}; });
  is_refused([](const Tensors& x) -> Tensors { return {argmax(x[1])}; });
  is_refused([](const Tensors& x) -> Tensors { return {trace(x[0].to(bool_))}; });
}

TEST(Fuse, PartsOfComplexTensorsInAnyLayout) {
  const auto function = [](const Tensors& x) -> Tensors { return {real(x[0]) + 1, imag(x[0].t()) * 2}; };
  const Tensor z = complex(rand({5, 6}), rand({5, 6}));
  for (const Tensor& each : {z, z.t(), z.narrow(1, 1, 4), z.select(0, 1).expand({3, 6})})
    expect_same(Fused(function)({each}), function({each}), "");
}

TEST(Fuse, ErrorsNameWhatCannotBeTraced) {
  const Tensors one{ones({3})};
  const std::string random = "tenon.fuse: the function draws random numbers";
  EXPECT_EQ(error_of([](const Tensors& x) -> Tensors { return {x[0] + rand({3})}; }, one).find(random), 0u);
  EXPECT_EQ(error_of([](const Tensors& x) -> Tensors { return {bernoulli(x[0])}; }, one).find("tenon.fuse: "), 0u);
  EXPECT_EQ(error_of(
                [](const Tensors& x) -> Tensors {
                  Tensor out = empty({3});
                  cumsum_out(out, x[0], 0);
                  return {out};
                },
                one),
            "tenon.fuse: out= can't be traced; return the result");
  EXPECT_EQ(error_of(
                [](const Tensors& x) -> Tensors {
                  Tensor out = empty({0});
                  return {add_out(out, x[0], 1)};
                },
                one),
            "tenon.fuse: an out= of another shape than the result can't be traced; return the result");
  EXPECT_EQ(error_of(
                [](const Tensors& x) -> Tensors {
                  Tensor own = x[0] * 1;
                  own.select(0, 1).add_(1);
                  return {own};
                },
                one),
            "tenon.fuse: add_() writes to a view, which can't be traced; write to the whole tensor");
  EXPECT_EQ(error_of([](const Tensors& x) -> Tensors { return {x[0] + ones({4})}; }, one),
            "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 0");
  EXPECT_EQ(error_of([](const Tensors& x) -> Tensors { return {x[0] * x[0].item()}; }, {ones({})}),
            "Tensor.item() cannot be called on meta tensors");
  const Fused inner([](const Tensors& x) -> Tensors { return {x[0] + 1}; });
  expect_same(Fused([&](const Tensors& x) -> Tensors { return {inner({x[0]})[0] * 2}; })(one)[0], full({3}, 4.0),
              "a traced function calls another");
}

TEST(Fuse, ThreadsShareAFunction) {
  const auto function = [](const Tensors& x) -> Tensors { return {(x[0] + 1).exp() * x[0].sum()}; };
  const Fused fused(function);
  std::vector<std::thread> threads;
  for (int i = 1; i <= 4; ++i)
    threads.emplace_back([&, i] {
      const Tensor a = full({i, 9}, 0.25);
      for (int turn = 0; turn < 20; ++turn) expect_same(fused({a}), function({a}), "");
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace tenon
