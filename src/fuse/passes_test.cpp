// Which passes over memory a traced function takes, and in which blocks they run.
#include <algorithm>
#include <string>
#include <string_view>

#include "fuse/fuse_tests.h"
#include "fuse/graph.h"
#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

using namespace fuse_tests;

TEST(Fuse, FunctionsThatSeveralPassesReadAreComputedOnce) {
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor e = (x[0] * 2).exp(), total = (e * 3).sum({-1}, true);
    return {e / total};
  };
  const Tensors inputs{rand({300, 70})};
  const std::string text = Fused(function).explain(inputs);
  EXPECT_EQ(text.find("exp"), text.rfind("exp")) << text;
  EXPECT_TRUE(allclose(Fused(function)(inputs)[0], function(inputs)[0]));
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

/// A fused function and its values without fusing; sums are in another order.
void expect_near(const Tensors& fused, const Tensors& eager, const std::string& what) {
  ASSERT_EQ(fused.size(), eager.size());
  for (std::size_t i = 0; i < eager.size(); ++i) {
    EXPECT_TRUE(fused[i].strides() == eager[i].strides()) << what;
    EXPECT_TRUE(allclose(fused[i], eager[i], 1e-4, 1e-5)) << what << ", result " << i;
  }
}

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

TEST(Fuse, ExpandedOperandsAreNoShortRuns) {
  const Rows* const softmax = std::find_if(std::begin(kRows), std::end(kRows),
                                           [](const Rows& rows) { return std::string_view(rows.name) == "softmax"; });
  ASSERT_NE(softmax, std::end(kRows));
  const auto function = [&](const Tensors& x) { return softmax->function({x[0] * x[1]}); };
  const Tensors inputs{rand({700, 1001}), rand({1001}).expand({700, 1001})};
  const Fused fused(function);
  EXPECT_EQ(fused.passes(inputs), 1) << fused.explain(inputs);
  expect_near(fused(inputs), function(inputs), "softmax of a product");
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

TEST(Fuse, OneNumberManyTimesIsReadOnce) {
  const auto function = [](const Tensors& x) -> Tensors {
    return {maximum(x[0], zeros({300, 500})) + ones({500}) * 0.5, x[0] * full({300, 500}, 2)};
  };
  const Tensors inputs{rand({300, 500}) - 0.5};
  const Fused fused(function);
  expect_same(fused(inputs), function(inputs), "");
  EXPECT_NE(fused.explain(inputs).find("moves 1.80 MB"), std::string::npos) << fused.explain(inputs);
}

}  // namespace
}  // namespace tenon
