// layer_norm, rms_norm, group_norm and their gradients are those of plain loops in float64: rows and segments of every
// length, with and without weights, in every dtype; large means cost no digits.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

struct Shape {
  int64_t batch, groups, channels, segment;  // channels of a group

  Dims sizes() const { return {batch, groups * channels, segment}; }
  std::string text() const {
    return std::to_string(batch) + " x " + std::to_string(groups) + " groups of " + std::to_string(channels) + " x " +
           std::to_string(segment);
  }
};
constexpr double kEps = 1e-3;

/// What plain loops give for group_norm; layer_norm has segments of one element, and one group.
struct Wanted {
  std::vector<double> result, grad, grad_weight, grad_bias;

  Wanted(const Shape& shape, const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& slope) {
    const int64_t length = shape.channels * shape.segment, weights = shape.groups * shape.channels;
    const Tensor x = input.to(float64).contiguous(), g = slope.to(float64).contiguous();
    const Tensor w = weight.defined() ? weight.to(float64) : ones({weights}, float64);
    const Tensor b = bias.defined() ? bias.to(float64) : zeros({weights}, float64);
    grad_weight.assign(static_cast<std::size_t>(weights), 0);
    grad_bias = grad_weight;
    for (int64_t row = 0; row < shape.batch * shape.groups; ++row)
      add_row(row % shape.groups * shape.channels, length, shape.segment, x.data<double>() + row * length,
              g.data<double>() + row * length, w.data<double>(), b.data<double>());
  }

 private:
  void add_row(int64_t first, int64_t length, int64_t segment, const double* x, const double* g, const double* w,
               const double* b) {
    const auto n = static_cast<double>(length);
    double mean = 0, variance = 0, plain = 0, product = 0;
    for (int64_t i = 0; i < length; ++i) mean += x[i] / n;
    for (int64_t i = 0; i < length; ++i) variance += (x[i] - mean) * (x[i] - mean) / n;
    const double factor = 1 / std::sqrt(variance + kEps);
    const auto at = [&](int64_t i) { return (x[i] - mean) * factor; };
    const auto place = [&](int64_t i) { return static_cast<std::size_t>(first + i / segment); };
    for (int64_t i = 0; i < length; ++i) {
      plain += g[i] * w[place(i)] / n;
      product += g[i] * w[place(i)] * at(i) / n;
    }
    for (int64_t i = 0; i < length; ++i) {
      result.push_back(at(i) * w[place(i)] + b[place(i)]);
      grad.push_back(factor * (g[i] * w[place(i)] - plain - at(i) * product));
      grad_weight[place(i)] += g[i] * at(i);
      grad_bias[place(i)] += g[i];
    }
  }
};

void expect_near(const Tensor& got, const std::vector<double>& wanted, double slack, const std::string& what) {
  const Tensor values = got.to(float64).contiguous();
  ASSERT_EQ(values.numel(), static_cast<int64_t>(wanted.size())) << what;
  for (int64_t i = 0; i < values.numel(); ++i) {
    const double number = wanted[static_cast<std::size_t>(i)];
    ASSERT_NEAR(values.data<double>()[i], number, slack * (1 + std::abs(number))) << what << ", element " << i;
  }
}

double slack_of(Dtype dtype) {
  return dtype == float64 ? 1e-11 : dtype == float32 ? 2e-5 : dtype == float16 ? 4e-3 : 3e-2;
}

void check(const Shape& shape, Dtype dtype, bool has_weight, bool has_bias, double mean = 0) {
  const bool is_layer = shape.segment == 1 && shape.groups == 1;
  const int64_t weights = shape.groups * shape.channels;
  const Tensor input = randn(shape.sizes()).add(mean).to(dtype).requires_grad_();
  const Tensor slope = randn(shape.sizes()).to(dtype);
  const Tensor weight = has_weight ? randn({weights}).to(dtype).requires_grad_() : Tensor();
  const Tensor bias = has_bias ? randn({weights}).to(dtype).requires_grad_() : Tensor();
  const Tensor given = is_layer ? input.detach().squeeze(-1).requires_grad_() : input;
  const Tensor result =
      is_layer ? layer_norm(given, {weights}, weight, bias, kEps) : group_norm(given, shape.groups, weight, bias, kEps);
  result.backward(is_layer ? slope.squeeze(-1) : slope);

  const Wanted wanted(shape, input.detach(), has_weight ? weight.detach() : weight, has_bias ? bias.detach() : bias,
                      slope);
  const std::string what =
      shape.text() + ", " + dtype_name(dtype) + (has_weight ? ", weight" : "") + (has_bias ? ", bias" : "");
  const double slack = slack_of(dtype), terms = std::sqrt(static_cast<double>(shape.batch * shape.segment));
  expect_near(result.detach(), wanted.result, slack, what);
  expect_near(given.grad(), wanted.grad, slack * 4, what + ", gradient");
  if (has_weight) expect_near(weight.grad(), wanted.grad_weight, slack * terms, what + ", gradient of weight");
  if (has_bias) expect_near(bias.grad(), wanted.grad_bias, slack * terms, what + ", gradient of bias");
}

void check_all(const Shape& shape) {
  for (const Dtype dtype : {float32, float64, bfloat16, float16})
    for (const bool has_weight : {false, true})
      for (const bool has_bias : {false, true}) check(shape, dtype, has_weight, has_bias);
}

TEST(Normalize, RowsOfEveryLength) {
  manual_seed(1);
  for (const int64_t length : {2, 3, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 47, 63, 64, 65, 127, 128, 129, 300})
    check_all({5, 1, length, 1});
}

TEST(Normalize, LongRowsAndManyRows) {
  manual_seed(2);
  for (const int64_t length : {2047, 2048, 2049, 5000, 20'000}) check_all({2, 1, length, 1});
  check_all({300, 1, 70, 1});
  check_all({50, 1, 5000, 1});  // in blocks of fewer rows
}

TEST(Normalize, GroupsWithSegmentsOfEveryLength) {
  manual_seed(3);
  for (const int64_t segment : {1, 2, 3, 9, 15, 16, 17, 40, 100, 2049})
    for (const int64_t groups : {1, 2, 3}) check_all({3, groups, 2, segment});
  check_all({70, 2, 3, 1});
  check_all({70, 3, 40, 3});
  check_all({5, 2, 3, 40});  // the images share a weight for each element
}

TEST(Normalize, OneGradientIsThatOfAll) {
  manual_seed(7);
  for (const int64_t segment : {1, 5, 40}) {
    const Tensor input = randn({90, 6, segment}), slope = randn({90, 6, segment}), weight = randn({6}),
                 bias = randn({6});
    const auto gradients = [&](unsigned wanted) {
      std::vector<Tensor> leaves = {input.clone(), weight.clone(), bias.clone()}, result;
      for (std::size_t i = 0; i < 3; ++i) leaves[i].requires_grad_((wanted >> i & 1u) != 0);
      group_norm(leaves[0], 2, leaves[1], leaves[2], kEps).backward(slope);
      for (const Tensor& leaf : leaves) result.push_back(leaf.grad());
      return result;
    };
    const std::vector<Tensor> all = gradients(7);
    for (unsigned wanted = 1; wanted < 7; ++wanted) {
      const std::vector<Tensor> some = gradients(wanted);
      for (std::size_t i = 0; i < 3; ++i) {
        ASSERT_EQ(some[i].defined(), (wanted >> i & 1u) != 0) << segment << ", " << wanted << ", " << i;
        if (!some[i].defined()) continue;
        EXPECT_LT((some[i] - all[i]).abs().max().item<double>(), 2e-4) << segment << ", " << i;
      }
    }
  }
}

TEST(Normalize, BitsDoNotDependOnThreads) {
  manual_seed(8);
  for (const Shape& shape : {Shape{1000, 1, 300, 1}, {300, 2, 30, 7}, {64, 2, 3, 500}}) {
    const Tensor input = randn(shape.sizes()), slope = randn(shape.sizes());
    const Tensor weight = randn({shape.groups * shape.channels});
    const auto gradients = [&](int threads) {
      set_num_threads(threads);
      std::vector<Tensor> leaves = {input.clone().requires_grad_(), weight.clone().requires_grad_(),
                                    weight.clone().requires_grad_()};
      group_norm(leaves[0], shape.groups, leaves[1], leaves[2], kEps).backward(slope);
      return leaves;
    };
    const int before = get_num_threads();
    const std::vector<Tensor> one = gradients(1), four = gradients(4);
    set_num_threads(before);
    for (std::size_t i = 0; i < 3; ++i)
      EXPECT_EQ((one[i].grad() - four[i].grad()).abs().max().item<double>(), 0) << shape.text() << ", " << i;
  }
}

TEST(Normalize, LargeMeansCostNoDigits) {
  manual_seed(4);
  for (const int64_t length : {64, 5000}) {
    const Tensor input = randn({3, length}).add(1000);
    const Tensor wanted = layer_norm(input.to(float64), {length}), got = layer_norm(input, {length});
    EXPECT_LT((got.to(float64) - wanted).abs().max().item<double>(), 2e-4) << length;
  }
}

TEST(Normalize, NumbersThatAreCloseTogether) {
  for (const int64_t length : {7, 2048, 4096, 10000}) {
    const Tensor input = remainder(arange(length, float64), 3).add(1e6).view({1, length, 1});
    const Tensor wanted = layer_norm(input.view({1, length}), {length}), single = input.to(float32);
    for (const Tensor& got : {layer_norm(single.view({1, length}), {length}), group_norm(single, 1).view({1, length})})
      // A mean of float32 is off by 0.02 of the deviation.
      EXPECT_LT((got.to(float64) - wanted).abs().max().item<double>(), 0.03) << length;
  }
  EXPECT_EQ(group_norm(full({1, 4, 10}, 1e38), 2).abs().max().item<double>(), 0);
}

TEST(Normalize, GroupsWithoutElementsHaveGradients) {
  Tensor input = ones({2, 4, 0}), weight = ones({4});
  weight.requires_grad_();
  group_norm(input, 2, weight).sum().backward();
  EXPECT_EQ(weight.grad().numel(), 4);
}

TEST(Normalize, ByTheRootOfTheMeanSquare) {
  manual_seed(5);
  for (const Dtype dtype : {float32, float64, bfloat16, float16})
    for (const int64_t length : {1, 5, 16, 33, 3000}) {
      const Tensor input = randn({4, length}).to(dtype), weight = randn({length}).to(dtype), x = input.to(float64);
      const Tensor wanted = x * rsqrt((x * x).mean(1, true) + kEps) * weight.to(float64);
      const Tensor got = rms_norm(input, {length}, weight, kEps).to(float64);
      EXPECT_LT((got - wanted).abs().max().item<double>(), slack_of(dtype) * 3) << length << dtype_name(dtype);
    }
}

TEST(Normalize, SecondDerivativesAreThoseOfOps) {
  manual_seed(6);
  const Tensor input = randn({4, 6}).to(float64).requires_grad_();
  const Tensor weight = randn({6}).to(float64).requires_grad_();
  const auto by_ops = [&] {
    const Tensor apart = input - input.mean(1, true);
    return apart * rsqrt((apart * apart).mean(1, true) + kEps) * weight;
  };
  const auto second = [&](const Tensor& result) {
    autograd::GradOptions options;
    options.create_graph = true;
    const Tensor first = autograd::grad({(result * result * result).sum()}, {input}, {}, options)[0];
    return autograd::grad({(first * first).sum()}, {input, weight});
  };
  const auto got = second(layer_norm(input, {6}, weight, {}, kEps)), wanted = second(by_ops());
  for (std::size_t i = 0; i < 2; ++i) EXPECT_LT((got[i] - wanted[i]).abs().max().item<double>(), 1e-9) << i;
}

}  // namespace
}  // namespace tenon
