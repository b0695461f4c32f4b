// Random functions have the bits and the gradients of eager calls.
#include <random>
#include <string>
#include <tuple>
#include <vector>

#include "fuse/fuse_tests.h"
#include "fuse/graph.h"
#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

using namespace fuse_tests;

/// A function of random ops over its inputs and what it has computed. Ops that these inputs refuse are left out, but
/// for one at the end of some functions.
class RandomFunction {
 public:
  RandomFunction(std::mt19937& engine, const Tensors& inputs) {
    std::vector<Tensor> values(inputs.begin(), inputs.end());
    const std::size_t wanted = 1 + engine() % 30;
    const bool may_fail = engine() % 8 == 0;
    results_ = 1 + engine() % 3;
    for (int tries = 0; tries < 100 && ops_.size() < wanted; ++tries) {
      const Choice choice{engine(), engine(), engine(), engine()};
      try {
        values.push_back(apply(choice, values));
        ops_.push_back(choice);
      } catch (const Error&) {
        if (!may_fail) continue;
        ops_.push_back(choice);
        return;
      }
    }
  }

  Tensors operator()(const Tensors& inputs) const {
    std::vector<Tensor> values(inputs.begin(), inputs.end());
    for (const Choice& choice : ops_) values.push_back(apply(choice, values));
    return Tensors(values.end() - static_cast<std::ptrdiff_t>(std::min(results_, values.size())), values.end());
  }

 private:
  struct Choice {
    std::mt19937::result_type op, first, second, number;
  };

  static Tensor apply(const Choice& choice, const std::vector<Tensor>& values) {
    const Tensor a = values[choice.first % values.size()], b = values[choice.second % values.size()];
    const auto number = static_cast<double>(choice.number % 7) - 3;
    switch (choice.op % 30) {
      case 0:
        return a + b;
      case 1:
        return a * b;
      case 2:
        return a - number;
      case 3:
        return maximum(a, b);
      case 4:
        return where(a > b, a, b);
      case 5:
        return clamp(a, Scalar(-1.5), Scalar(1.5));
      case 6:
        return a.tanh();
      case 7:
        return a.abs() + 1;
      case 8:
        return a / (b.abs() + 1);
      case 9:
        return a.to(choice.number % 2 == 0 ? float64 : float16);
      case 10:
        return (clamp(a, Scalar(-9), Scalar(9)) * 8).to(int32).sum({-1}, choice.number % 2 == 0);  // in any order
      case 11:
        return a.amax({0}, true);
      case 12:
        return a.t();
      case 13:
        return a.unsqueeze(0);
      case 14:
        return a.narrow(0, 0, a.size(0) / 2 + 1);
      case 15:
        return a.lt(b).logical_or(a.gt(2));
      case 16:
        return a.expand({2, -1, -1});
      case 17:
        return lerp(a, b, Scalar(0.25));
      case 18:
        return (a * 8).to(int32);
      case 19:
        return a.remainder(3);
      case 20:
        return a.select(0, 0);
      case 21: {
        Tensor own = a + 0;
        return own.mul_(b);
      }
      case 22:
        return a.cumsum(0);
      case 23:
        return (a * b).amin({choice.number % 2 == 0 ? -1 : 0}, choice.number % 4 < 2);
      case 24:
        return (a + b).amax({}, choice.number % 2 == 0);
      case 25:
        return (a * b).unsqueeze(1) - a;
      case 26:
        return matmul(a, b.transpose(-1, -2));
      case 27:
        return std::get<0>(sort(a, -1));
      case 28: {  // one after the other: both may be refused, and compilers choose the order of operands
        const Tensor large = softmax(b, -1).gt(0.3);
        return a.index_select(0, arange(1)) + large;
      }
      default:
        return -a;
    }
  }

  std::vector<Choice> ops_;
  std::size_t results_;
};

Tensor random_input(uint32_t choice) {
  constexpr Dtype kDtypes[] = {float32, float32, float64, float16, bfloat16, int32, int64, uint8, bool_};
  const Dims sizes[] = {{6, 5}, {1, 5}, {6, 1}, {5}, {}, {2, 6, 5}, {6, 6}, {0, 5}};
  const Tensor values = (rand(sizes[choice % 8]) * 6 - 2).to(kDtypes[choice / 8 % 9]);
  return choice / 128 % 3 == 0 && values.dim() == 2 ? values.t().contiguous().t() : values;
}

TEST(Fuse, RandomFunctionsHaveTheBitsOfEagerCalls) {
  const int threads = get_num_threads();
  int cut_in_blocks = 0;
  for (uint32_t seed = 0; seed < 4000 / kSampled && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 engine(seed);
    Tensors inputs;
    for (int i = 0; i < 3; ++i) inputs.push_back(random_input(static_cast<uint32_t>(engine())));
    const RandomFunction function(engine, inputs);
    set_num_threads(1 + static_cast<int>(seed % 3));
    const std::string what = "seed " + std::to_string(seed);
    Tensors eager;
    try {
      eager = function(inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error_of(function, inputs), error.what()) << what;
      continue;
    }
    const Fused fused(function);
    expect_same(fused(inputs), eager, what);
    const fusion::Graph in_blocks(function, inputs, 40 + static_cast<int64_t>(engine() % 400));
    expect_same(in_blocks.run(inputs), eager, what + ", in blocks");
    cut_in_blocks += in_blocks.passes() < fused.passes(inputs);
  }
  EXPECT_GT(cut_in_blocks, 200 / kSampled);
  set_num_threads(threads);
}

TEST(Fuse, RandomFunctionsHaveTheGradientsOfEagerCalls) {
  int fused_nodes = 0;
  for (uint32_t seed = 0; seed < 2000 / kSampled && !testing::Test::HasFailure(); ++seed) {
    std::mt19937 engine(seed);
    Tensors inputs;
    for (int i = 0; i < 3; ++i) {
      inputs.push_back(random_input(static_cast<uint32_t>(engine())));
      if (is_inexact(inputs[static_cast<std::size_t>(i)].dtype()))
        inputs[static_cast<std::size_t>(i)] = inputs[static_cast<std::size_t>(i)].to(float64).requires_grad_();
    }
    const RandomFunction function(engine, inputs);
    const Fused fused(function);
    const std::string what = "seed " + std::to_string(seed);
    Tensors eager;
    try {
      eager = function(inputs);
    } catch (const Error&) {
      continue;
    }
    const Tensors results = fused(inputs);
    expect_same(results, eager, what);
    Tensors wanted;
    for (const Tensor& input : inputs)
      if (input.requires_grad()) wanted.push_back(input);
    autograd::GradOptions options;
    options.allow_unused = true;
    for (std::size_t i = 0; i < eager.size(); ++i) {
      EXPECT_EQ(results[i].requires_grad(), eager[i].requires_grad()) << what;
      if (!eager[i].requires_grad()) continue;
      fused_nodes += results[i].grad_fn().defined() && results[i].grad_fn().name() == "FusedBackward";
      options.retain_graph = true;
      const Tensors seeds{eager[i].detach().cos()};
      const Tensors expected = autograd::grad({eager[i]}, wanted, seeds, options);
      const Tensors given = autograd::grad({results[i]}, wanted, seeds, options);
      for (std::size_t j = 0; j < expected.size(); ++j) {
        ASSERT_EQ(given[j].defined(), expected[j].defined()) << what;
        const bool is_close = !expected[j].defined() || allclose(given[j], expected[j], 1e-3, 1e-3, true);
        EXPECT_TRUE(is_close) << what;
      }
    }
  }
  EXPECT_GT(fused_nodes, 200);
}

}  // namespace
}  // namespace tenon
