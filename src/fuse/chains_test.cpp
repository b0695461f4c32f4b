// Chains of elementwise ops that one kernel call computes have the bits of each op.
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include "fuse/fuse_tests.h"
#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"

namespace tenon {
namespace {

using namespace fuse_tests;

TEST(Fuse, ElementwiseOpsAreOnePass) {
  const auto chain = [](auto a, auto m, auto s) { return clamp((a - m) / s * 2 + 1, Scalar(0), Scalar(5)); };
  const Fused fused([&](const Tensors& x) -> Tensors { return {chain(x[0], x[1], x[2])}; });
  for (const Dims& sizes : {Dims{7}, Dims{300, 41}, Dims{3, 1, 5}, Dims{0, 4}, Dims{}}) {
    const Tensor a = rand(sizes), m = rand(sizes), s = rand(sizes) + 1;
    EXPECT_EQ(fused.passes({a, m, s}), 1);
    expect_same(fused({a, m, s})[0], chain(a, m, s), to_string(SizesView(sizes)));
  }
}

/// The bits are the same, signs of zeros included; one NaN is like another.
void expect_same_bits(const Tensor& fused, const Tensor& eager, const std::string& what) {
  const Dtype bits = eager.dtype() == float32 ? int32 : int64;
  const Tensor both_nan = ne(fused, fused).logical_and(ne(eager, eager));
  EXPECT_TRUE(all(eq(fused.view(bits), eager.view(bits)).logical_or(both_nan)).item().as_bool())
      << what << "\n"
      << to_string(fused) << "\n"
      << to_string(eager);
}

/// Values between which ops round, and those that are no ordinary numbers.
Tensor special_values(SizesView sizes, Dtype dtype) {
  const Tensor values = (rand(sizes, Options(dtype)) * 8 - 4).reshape({-1});
  const double special[] = {-0.0, 0.0, INFINITY, -INFINITY, NAN, 1e-40};
  for (int64_t i = 0; i < values.numel(); i += 7) values.select(0, i).fill_(special[i / 7 % 6]);
  return values.view(sizes);
}

/// One op of a chain, of a value, another operand and the number `number`.
Tensor changed(int op, const Tensor& value, const Tensor& other, double number) {
  switch (op) {
    case 0:
      return value + other;
    case 1:
      return value - other;
    case 2:
      return other - value;
    case 3:
      return value * other;
    case 4:
      return value / other;
    case 5:
      return other / value;
    case 6:
      return value * value;
    case 7:
      return -value;
    case 8:
      return clamp(value, Scalar(number), Scalar(2.0));
    case 9:
      return clamp(value, Scalar(number), {});
    case 10:
      return clamp(value, {}, Scalar(number));
    case 11:
      return value * number + 1;
    case 12:
      return number - value;
    default:
      return value.exp();
  }
}

TEST(Fuse, ChainsOfOpsHaveTheBitsOfEachOp) {
  std::mt19937 random(7);
  const auto below = [&](int bound) { return static_cast<int>(random() % static_cast<unsigned>(bound)); };
  constexpr int kOps = 14;
  for (int round = 0; round < 600; ++round) {
    const Dtype dtype = below(2) == 0 ? float32 : float64;
    static constexpr int64_t kLengths[] = {1, 63, 64, 65, 127, 200, 1000, 5003};
    const int64_t n = kLengths[below(8)], rows = 1 + below(3);
    const Tensors inputs{special_values({rows, n}, dtype), special_values({rows, n}, dtype), special_values({n}, dtype),
                         special_values({rows, 1}, dtype), special_values({}, dtype)};
    const double number = below(8) == 0 ? NAN : below(4) == 0 ? -0.0 : 0.75;
    std::vector<std::pair<int, std::size_t>> calls;
    for (int call = 2 + below(24); call > 0; --call) calls.emplace_back(below(kOps), below(5));
    const auto function = [&](const Tensors& x) -> Tensors {
      Tensor value = x[below(2) == 0 ? 0 : 3];
      for (const auto& [op, other] : calls) value = changed(op, value, x[other], number);
      return {value};
    };
    const std::mt19937 start = random;
    const Tensor eager = function(inputs)[0];
    random = start;
    const Tensor fused = Fused(function)(inputs)[0];
    expect_same_bits(fused, eager, "round " + std::to_string(round));
    if (HasFailure()) return;
  }
}

TEST(Fuse, NumbersThatChainsReadStayUntilTheirEnd) {
  // The number is converted, so that it lies in a slot, which is free for results after its last use.
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor first = (x[0] * x[1] + x[0]) * x[0] - 3, second = x[0] - 3;
    return {first / second - 1};
  };
  for (const int64_t n : {64, 200, 1000, 5003}) {
    const Tensors inputs{rand({3, n}), tensor({2, 5, 7}).view({3, 1})};
    expect_same_bits(Fused(function)(inputs)[0], function(inputs)[0], std::to_string(n));
  }
}

TEST(Fuse, ChainsOfManyRowsHaveTheBitsOfEachOp) {
  const auto function = [](const Tensors& x) -> Tensors {
    return {clamp((x[0] - x[1]) / x[2] * x[3] + 1, Scalar(-1), Scalar(2))};
  };
  for (const Dtype dtype : {float32, float64}) {
    for (const int64_t n : {32, 33, 50, 63, 64, 71, 80, 128, 143, 250, 2049, 4500}) {
      // Operands that stay in other loops than the innermost one, and rows with gaps in another order.
      const Tensors inputs{special_values({5, 6, n + 2}, dtype).narrow(2, 1, n), special_values({5, 1, n}, dtype),
                           special_values({6, 1}, dtype), special_values({5, 1, 1}, dtype)};
      expect_same_bits(Fused(function)(inputs)[0], function(inputs)[0], std::to_string(n) + " in order");
      const Tensors turned{special_values({6, 5, n}, dtype).transpose(0, 1), inputs[1], inputs[2], inputs[3]};
      expect_same_bits(Fused(function)(turned)[0], function(turned)[0], std::to_string(n) + " turned");
    }
  }
}

TEST(Fuse, ShortRowsOfSeveralStepsHaveTheBitsOfEachOp) {
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor e = ((x[0] - x[1]) / x[2]).exp(), scaled = (e * x[3] + x[4]) / (x[5] + x[2] * x[4]);
    return {scaled.tanh() + x[2], e.lt(x[3]).logical_or(scaled.gt(x[1])), (x[0] * x[6] - 1).to(float64)};
  };
  for (const Dtype dtype : {float32, float64}) {
    for (const int64_t n : {33, 64, 71, 100, 256, 333, 600}) {
      const Tensor matrix = special_values({5, 9, n}, dtype), numbers = special_values({9, 3}, dtype);
      // Columns without and with gaps, of another dtype, and numbers that stay in some loop.
      const Tensors inputs{matrix,
                           special_values({5, 1, n}, dtype),
                           special_values({9, 1}, dtype),
                           numbers.narrow(1, 1, 1),
                           special_values({5, 1, 1}, dtype),
                           arange(9).view({9, 1}),
                           special_values({5, 9, n + 2}, dtype).narrow(2, 1, n)};
      const auto check = [&](const Tensors& in, const char* what) {
        const Tensors found = Fused(function)(in), wanted = function(in);
        const std::string name = std::to_string(n) + what;
        expect_same_bits(found[0], wanted[0], name);
        expect_same(found[1], wanted[1], name);
        expect_same_bits(found[2], wanted[2], name);
      };
      check(inputs, " in order");
      Tensors turned = inputs;
      turned[0] = special_values({9, 5, n}, dtype).transpose(0, 1);
      check(turned, " turned");
      Tensors few;
      for (const Tensor& input : inputs) few.push_back(input.dim() == 3 ? input.narrow(0, 0, 1) : input);
      check(few, " of one loop");
    }
  }
}

TEST(Fuse, ChainsOfShortRowsBeyondTheCachesHaveTheSameBits) {
  const auto chain = [](const Tensor& a, const Tensor& m, const Tensor& s) { return (a - m) / s * 2 + 1; };
  const auto steps = [&](const Tensors& x) -> Tensors {
    const Tensor e = chain(x[0], x[1], x[2]).exp();
    return {e / x[2], e * x[1] - x[2]};
  };
  for (const int64_t n : {33, 63, 100, 128, 250}) {
    const int64_t rows = (int64_t{5} << 20) / n;
    const Tensor a = rand({rows, n}), m = rand({n}), s = rand({rows, 1}) + 0.5;
    expect_same_bits(fuse(chain)(a, m, s), chain(a, m, s), std::to_string(n));
    const Tensors found = Fused(steps)({a, m, s}), wanted = steps({a, m, s});
    for (std::size_t i = 0; i < 2; ++i) expect_same_bits(found[i], wanted[i], std::to_string(n) + ", several steps");
  }
}

TEST(Fuse, ChainsBeyondTheCachesAreStreamedWithTheSameBits) {
  const auto chain = [](const Tensor& a, const Tensor& m, const Tensor& s) {
    return clamp((a - m) / s * 2 + 1, Scalar(0), Scalar(5));
  };
  const Tensor a = rand({2501, 2603}).narrow(1, 1, 2601), m = rand({2601}), s = rand({2501, 1});
  expect_same_bits(fuse(chain)(a, m, s), chain(a, m, s), "rows with gaps");
  const Tensor dense = a.contiguous();
  expect_same_bits(fuse(chain)(dense, m, s), chain(dense, m, s), "rows that end within lines");
  const auto several = [&](const Tensors& x) -> Tensors {
    const Tensor y = chain(x[0], x[1], x[2]);
    return {y, y.sqrt(), (y * 2 + 1) - x[1]};
  };
  const Tensors found = Fused(several)({dense, m, s}), wanted = several({dense, m, s});
  for (std::size_t i = 0; i < 3; ++i) expect_same_bits(found[i], wanted[i], "results that others are computed of");
}

}  // namespace
}  // namespace tenon
