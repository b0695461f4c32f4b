// Functions that are traced give the bits of the functions themselves.
#include "tenon/fuse.h"

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "fuse/graph.h"
#include "gtest/gtest.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

using Tensors = List<Tensor>;

void expect_same(const Tensor& fused, const Tensor& eager, const std::string& what) {
  ASSERT_EQ(fused.dtype(), eager.dtype()) << what;
  ASSERT_TRUE(fused.sizes() == eager.sizes()) << what;
  EXPECT_TRUE(fused.strides() == eager.strides()) << what;
  if (eager.numel() == 0) return;
  const Tensor same = eq(fused, eager).logical_or(ne(fused, fused).logical_and(ne(eager, eager)));
  EXPECT_TRUE(all(same).item().as_bool()) << what << "\n" << to_string(fused) << "\n" << to_string(eager);
}
void expect_same(const Tensors& fused, const Tensors& eager, const std::string& what) {
  ASSERT_EQ(fused.size(), eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) expect_same(fused[i], eager[i], what);
}

std::string error_of(const Fused::Function& function, const Tensors& inputs) {
  try {
    Fused{function}(inputs);
    return "none";
  } catch (const Error& error) {
    return error.what();
  }
}

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

TEST(Fuse, LambdasOverTensors) {
  auto normalize = fuse([](auto a, auto mean, auto deviation) { return (a - mean) / deviation; });
  const Tensor a = rand({20, 3}), mean = rand({3}), deviation = rand({20, 1}) + 1;
  expect_same(normalize(a, mean, deviation), (a - mean) / deviation, "normalize");
  expect_same(normalize(a.t(), deviation.t(), a.t()), (a.t() - deviation.t()) / a.t(), "transposed");
}

TEST(Fuse, WhatIsBroadcastIsComputedAtItsOwnSize) {
  const Fused fused([](const Tensors& x) -> Tensors { return {x[0] * x[1].exp().log1p() + x[2].sqrt()}; });
  const Tensor a = rand({50, 40}), row = rand({40}), column = rand({50, 1});
  EXPECT_EQ(fused.passes({a, row, column}), 3);
  expect_same(fused({a, row, column})[0], a * row.exp().log1p() + column.sqrt(), "");
}

TEST(Fuse, WhatIsExpandedIsComputedAtItsOwnSize) {
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor row = x[1].expand({300, 40}), column = x[2].narrow(0, 1, 300).expand({300, 40});
    const Tensor both = row.exp() + column.exp();
    return {x[0] * (row.exp() * 2).log1p() + column.sqrt(), both, (both + x[0]).sum({0}), column.exp().sum({1})};
  };
  const Tensors inputs{rand({300, 40}), rand({40}), rand({302, 1})};
  const Fused fused(function);
  EXPECT_NE(fused.explain(inputs).find("mul, log1p -> float32[1, 40]"), std::string::npos) << fused.explain(inputs);
  const Tensors found = fused(inputs), wanted = function(inputs);
  expect_same({found[0], found[1]}, {wanted[0], wanted[1]}, "elementwise");
  for (const std::size_t sum : {2u, 3u}) EXPECT_TRUE(allclose(found[sum], wanted[sum], 1e-4, 1e-5));
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

/// A fused function and its values without fusing; sums are in another order.
void expect_near(const Tensors& fused, const Tensors& eager, const std::string& what) {
  ASSERT_EQ(fused.size(), eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) {
    EXPECT_TRUE(fused[i].strides() == eager[i].strides()) << what;
    EXPECT_TRUE(allclose(fused[i], eager[i], 1e-4, 1e-5)) << what << ", result " << i;
  }
}

struct Rows {
  const char* name;
  int passes;
  Fused::Function function;
};
const Rows kRows[] = {
    {"softmax", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor e = (x[0] - x[0].amax({-1}, true)).exp();
       return {e / e.sum({-1}, true)};
     }},
    {"softmax without keepdim, transposed", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor e = (x[0] - x[0].amax({-1}).unsqueeze(1)).exp();
       return {(e / e.sum({-1}).unsqueeze(-1)).t()};
     }},
    {"layer norm", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor d = x[0] - x[0].mean({-1}, true);
       return {d * ((d * d).mean({-1}, true) + 1e-5).rsqrt() * x[1], x[0].mean({-1})};
     }},
    {"a squared error in one pass", 1,
     [](const Tensors& x) -> Tensors { return {((x[0] - x[1]) * (x[0] - x[1])).sum()}; }},
    {"several reductions of the same elements", 3,
     [](const Tensors& x) -> Tensors {
       const Tensor low = x[0].min();
       return {(x[0] - low) / (x[0].max() - low), x[0].sum({0}), (x[0] * x[0]).mean(),
               x[0].to(float16).amax({0}, true)};
     }},
    {"the columns of long rows", 3,
     [](const Tensors& x) -> Tensors { return {(x[0] - x[0].mean({0})) / (x[0] * x[0]).mean({0}).sqrt()}; }},
    {"ops of rows", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor e = x[0].exp(), variance = e.var({1}, {}, true);
       return {(e - x[1]) / variance, e.argmax(1), (softmax(e, 1) * 2).cumsum(1), std::get<0>((e * 2).max(1)) + 1};
     }},
    {"distances", 1,
     [](const Tensors& x) -> Tensors {
       const Tensor d = x[0].narrow(1, 0, 8).unsqueeze(1) - x[0].narrow(1, 8, 8).unsqueeze(0);
       return {(d * d).sum({-1})};
     }},
};

TEST(Fuse, PassesOverTheSameRowsAreOne) {
  const int threads = get_num_threads();
  for (const Rows& rows : kRows) {
    const Tensors inputs{rand({700, 1001}) - 0.5, rand({1001})};
    const Fused fused(rows.function);
    EXPECT_EQ(fused.passes(inputs), rows.passes) << rows.name;
    const Tensors eager = rows.function(inputs);
    set_num_threads(1);
    const Tensors one = fused(inputs);
    expect_near(one, eager, rows.name);
    for (const int count : {2, 3}) {
      set_num_threads(count);
      expect_same(fused(inputs), one, rows.name);
    }
    set_num_threads(threads);
    for (const int64_t bytes : {5000, 20000, 100000})
      expect_near(fusion::Graph(rows.function, inputs, bytes).run(inputs), eager, rows.name);
  }
}

TEST(Fuse, SharedOpsAreComputedOnceAndDeadOnesNever) {
  const Fused shared([](const Tensors& x) -> Tensors {
    const Tensor e = x[0].exp(), dead = matmul(x[0], x[0]).sin();
    return {e + 1, e * 2};
  });
  EXPECT_EQ(shared.passes({rand({6, 6})}), 1);
}

/// Functions in which two dims of a value belong to one axis, or a Program's results lie on others.
TEST(Fuse, BlocksKeepAxesApart) {
  const Fused::Function functions[] = {
      [](const Tensors& x) -> Tensors {
        const Tensor least = (x[0] * x[0]).amin({-1});
        return {((least * -least).unsqueeze(1) - least).to(int32).sum({-1}), least};
      },
      [](const Tensors& x) -> Tensors {
        const Tensor product = x[0] * x[0].cumsum(0), a = -x[0].t();
        return {product, a, a - a.amax({1}, true)};
      },
      [](const Tensors& x) -> Tensors {
        const Tensor pairs = (x[0] * 2).unsqueeze(1) - x[0];
        return {pairs.amax({0}, true) + 1, (pairs * 2).amin({-1}), pairs.tanh()};
      },
  };
  for (const Fused::Function& function : functions)
    for (const Dims& sizes : {Dims{6, 6}, Dims{12, 7}, Dims{5, 5}})
      for (int64_t bytes = 24; bytes < 700; bytes += 20) {
        const Tensors inputs{(rand(sizes) * 9 - 4).floor()};
        Tensors eager;
        try {
          eager = function(inputs);
        } catch (const Error&) {
          continue;  // only square ones
        }
        expect_same(fusion::Graph(function, inputs, bytes).run(inputs), eager, std::to_string(bytes) + " bytes");
      }
}

TEST(Fuse, EqualCallsAreOne) {
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor scaled = (x[0] - x[0].min()) / (x[0].max() - x[0].min()), again = (x[0] * 2).exp();
    return {scaled, again, (x[0] * 2).exp(), (x[0] * 2.5).exp() + again.sum({0}) - (x[0] * 2).exp().sum({0})};
  };
  const Tensors inputs{rand({6, 6})};
  expect_same(Fused(function)(inputs), function(inputs), "");
  EXPECT_FALSE(Fused(function)(inputs)[1].is(Fused(function)(inputs)[2]));
  const std::string text = Fused(function).explain(inputs);
  std::size_t count = 0;
  for (std::size_t at = text.find("min ->"); at != std::string::npos; at = text.find("min ->", at + 1)) ++count;
  EXPECT_EQ(count, 1u) << text;
}

TEST(Fuse, WritesInPlace) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor own = x[0] * 2;
    own.add_(1);
    own.mul_(own);
    Tensor zero = zeros_like(own);
    zero.copy_(own.sum({0}));
    return {own, zero};
  };
  const Tensor a = rand({4, 3});
  expect_same(Fused(function)({a}), function({a}), "");
}

TEST(Fuse, TensorsMadeOfNumbersAreWrittenInPlace) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor sum = zeros({3}), count = ones({3}) * 2, last = empty({2, 3}), places = full({4}, 1.5);
    const Tensor before = x[0] + sum;
    for (int64_t row = 0; row < 2; ++row) sum.add_(x[0].select(0, row));
    count.mul_(sum).clamp_(-1, 1);
    last.copy_(x[0]);
    places.scatter_add_(0, x[1], sum);
    return {sum, before, count, last, places, zeros({3})};
  };
  const Tensors inputs{rand({2, 3}) - 0.5, tensor({0, 3, 3})};
  const Fused fused(function);
  for (int call = 0; call < 3; ++call) {
    const Tensors results = fused(inputs);
    expect_same(results, function(inputs), "call " + std::to_string(call));
    for (Tensor result : results) result.fill_(7);
  }
  EXPECT_EQ(error_of(
                [](const Tensors& x) -> Tensors {
                  Tensor own = zeros({3});
                  own.select(0, 1).add_(x[0].select(0, 0));
                  return {own};
                },
                {ones({3})}),
            "tenon.fuse: add_() writes to a view, which can't be traced; write to the whole tensor");
  EXPECT_EQ(
      error_of(
          [](const Tensors& x) -> Tensors {
            Tensor own = zeros({3});
            const Tensor view = own.select(0, 1);
            own.add_(x[0]);
            return {view};
          },
          {ones({3})}),
      "tenon.fuse: a write to a tensor that has views or shares its memory can't be traced; write before they are "
      "made");
  Tensor elsewhere = zeros({3});
  EXPECT_EQ(error_of(
                [&](const Tensors& x) -> Tensors {
                  elsewhere.add_(x[0]);
                  return {x[0]};
                },
                {ones({3})})
                .find("tenon.fuse: add_() writes to a tensor that is no argument"),
            0u);
  EXPECT_FALSE(elsewhere.is_meta());
}

TEST(Fuse, WritesOfNumbersComeAfterWhatReadTheTensor) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor sum = zeros({3}), filled = zeros({3}), copied = zeros({3}), put = zeros({3}), clamped = zeros({3});
    Tensors before;
    for (const Tensor& own : {sum, filled, copied, put, clamped}) before.push_back(x[0] + own);
    sum.add_(1);
    filled.fill_(2);
    copied.copy_(ones({3}));
    put.index_add_(0, tensor({0, 2}), ones({2}));
    clamped.zero_();
    before.push_back(x[0] * sum);
    sum.add_(1);
    for (const Tensor& own : {sum, filled, copied, put, clamped}) before.push_back(own);
    return before;
  };
  const Tensors inputs{rand({3})};
  const Fused fused(function);
  for (int call = 0; call < 2; ++call) expect_same(fused(inputs), function(inputs), "call " + std::to_string(call));
  EXPECT_EQ(error_of(
                [](const Tensors& x) -> Tensors {
                  Tensor own = zeros({3});
                  const Tensor before = x[0] + own;
                  own.select(0, 1).fill_(5);
                  return {before, own};
                },
                {ones({3})}),
            "tenon.fuse: fill_() writes to a view, which can't be traced; write to the whole tensor");
}

TEST(Fuse, TensorsFromElsewhereAreNotTakenForThoseThatWereFreed) {
  float numbers[3] = {};
  const auto function = [&](const Tensors& x) -> Tensors {
    for (int i = 0; i < 3; ++i) zeros({3});
    Tensor elsewhere = from_buffer(numbers, {3}, float32);
    elsewhere.add_(x[0]);
    return {elsewhere};
  };
  EXPECT_NE(error_of(function, {ones({3})}), "");
}

TEST(Fuse, WritesToArgumentsComeAtTheEnd) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor self = x[0];
    self.add_(x[1]);
    self.exp_();
    return {self * 2};
  };
  const Tensor a = rand({5}), b = rand({5}), other = a.clone();
  const Tensors fused = Fused(function)({a, b}), eager = function({other, b});
  expect_same(fused, eager, "");
  expect_same(a, other, "the argument");
}

TEST(Fuse, WritesAreSeenWhereMemoryIsShared) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor self = x[0];
    const Tensor part = self.chunk(2)[0], row = self.select(0, 1);
    self.add_(1);
    return {self, x[1] * 2, part * 3, row};
  };
  for (const bool shares : {false, true}) {
    const Tensor a = rand({4, 3}), other = a.clone(), b = rand({4, 3});
    expect_same(Fused(function)({a, shares ? a : b}), function({other, shares ? other : b}), "");
    expect_same(a, other, "the argument");
    const Tensor whole = rand({5, 3}), copy = whole.clone();
    expect_same(Fused(function)({whole.narrow(0, 0, 4), whole.narrow(0, 1, 4)}),
                function({copy.narrow(0, 0, 4), copy.narrow(0, 1, 4)}), "views that overlap");
  }
  const Tensor a = ones({3});
  EXPECT_TRUE(Fused([](const Tensors& x) -> Tensors { return {Tensor(x[0]).add_(1)}; })({a})[0].is(a));
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
    for (int i = 0; i < 9000; ++i) last[static_cast<std::size_t>(i % 3)] = last[0] * 0.5 + last[1] - last[2] * 0.25;
    return {last[0], last[1]};
  };
  const Tensors inputs{rand({3}), rand({3})};
  expect_same(Fused(many)(inputs), many(inputs), "36,000 ops");
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
  EXPECT_EQ(node_of([](const Tensors& x) -> Tensors { return {matmul(x[0], x[0]) * 2}; }), "MulBackward0");
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

TEST(Fuse, WhatTheFunctionReadsIsThatOfTheForwardCall) {
  double factor = 2;
  const Fused fused([&](const Tensors& x) -> Tensors { return {x[0] * factor}; });
  const Tensor a = ones({3}).requires_grad_();
  const Tensor result = fused({a})[0];
  factor = 5;
  result.sum().backward();
  expect_same(a.grad(), full({3}, 2.0), "");
}

TEST(Fuse, ErrorsNameWhatCannotBeTraced) {
  const Tensors one{ones({3})};
  const std::string random = "tenon.fuse: the function draws random numbers";
  EXPECT_EQ(error_of([](const Tensors& x) -> Tensors { return {x[0] + rand({3})}; }, one).find(random), 0u);
  EXPECT_EQ(error_of([](const Tensors& x) -> Tensors { return {bernoulli(x[0])}; }, one).find("tenon.fuse: "), 0u);
  EXPECT_EQ(error_of(
                [](const Tensors& x) -> Tensors {
                  Tensor out = empty({3});
                  add_out(out, x[0], 1);
                  return {out};
                },
                one),
            "tenon.fuse: out= can't be traced; return the result");
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
    switch (choice.op % 27) {
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
  for (uint32_t seed = 0; seed < 4000 && !testing::Test::HasFailure(); ++seed) {
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
  EXPECT_GT(cut_in_blocks, 200);
  set_num_threads(threads);
}

TEST(Fuse, RandomFunctionsHaveTheGradientsOfEagerCalls) {
  int fused_nodes = 0;
  for (uint32_t seed = 0; seed < 2000 && !testing::Test::HasFailure(); ++seed) {
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
