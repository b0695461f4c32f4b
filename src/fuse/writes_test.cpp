// Writes of a traced function: in place, to its arguments, to out=, and where memory is shared.
#include "fuse/fuse_tests.h"
#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"

namespace tenon {
namespace {

using namespace fuse_tests;

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

TEST(Fuse, ResultsAreWrittenToOut) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor out = x[0], made = empty({3}), sums = zeros({2});
    add_out(out, out, x[1]);
    exp_out(made, x[1]);
    sum_out(sums, out, {1});
    mul_out(out, out, 2);
    return {made, sums, out * 3};
  };
  const Tensor a = rand({2, 3}), b = rand({3}), other = a.clone();
  expect_same(Fused(function)({a, b}), function({other, b}), "");
  expect_same(a, other, "the argument");
  const auto wrong = [](const Tensors& x) -> Tensors {
    Tensor out = empty({3}, int32);
    return {add_out(out, x[0], 0.5)};
  };
  EXPECT_EQ(error_of(wrong, {ones({3})}), "result type Float can't be cast to the desired output type Int");
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

TEST(Fuse, ViewsShowWhatIsWrittenWithGaps) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor self = x[0];
    const Tensor view = self.narrow(0, 0, 2), column = self.select(1, 3);
    self.masked_fill_(self > 0.5, Scalar(7));
    self.index_fill_(1, zeros({1}, int64), Scalar(3));
    return {view * 2, column.exp()};
  };
  const auto inputs = [] { return Tensors{arange(120).to(float32).div(120).view({2, 6, 5, 2}).select(3, 0)}; };
  const Tensors fused = inputs(), eager = inputs();
  expect_same(Fused(function)(fused), function(eager), "");
  expect_same(fused[0], eager[0], "");
}

TEST(Fuse, CopiesOfAViewToItselfWriteNothing) {
  const auto function = [](const Tensors& x) -> Tensors {
    const Tensor doubled = x[0] * 2;
    Tensor expanded = doubled.expand({2, 3}), row = doubled.narrow(0, 1, 2);
    expanded.copy_(expanded.permute({0, 1}));
    row.copy_(row);
    return {expanded + row.sum()};
  };
  const Tensors inputs{rand({3})};
  expect_same(Fused(function)(inputs), function(inputs), "");
}

TEST(Fuse, WritesToExpandedArguments) {
  const auto function = [](const Tensors& x) -> Tensors {
    Tensor self = x[0];
    return {self.fill_(2) * 3};
  };
  const Tensors inputs{ones({1, 3}).expand({2, 3})};
  expect_same(Fused(function)(inputs)[0], full({2, 3}, 6.0), "");
  expect_same(inputs[0], full({2, 3}, 2.0).to(float32).narrow(0, 0, 1).expand({2, 3}), "");
}

}  // namespace
}  // namespace tenon
