// A compiled function gives the bits, dtypes, strides and errors of its ops one by one.
#include "tenon/compile.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <limits>
#include <string>
#include <vector>

#include "sampled.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

const auto chain = [](auto a, auto m, auto s) { return clamp((a - m) / s * 2 + 1, 0, 5); };
const auto pair = [](auto a, auto b) { return a * b + b * 0.1 - a / 3; };
const auto choice = [](auto a, auto b) {
  return where((a > b) & ~(a <= 0.5), sqrt(abs(a)), minimum(maximum(a, b), 2) - rsqrt(square(b)));
};
const auto bounds = [](auto x, auto low, auto high) { return x.clamp(low, high).relu() * reciprocal(high) - neg(low); };
const auto truth = [](auto a, auto b) { return (a >= b) | (a == 1) | (b != b); };
const auto four = [](auto a, auto b, auto c, auto d) { return (a * b + c) * d; };
const auto one = [](auto a) { return 1 / (a * a + 1); };
const auto first = [](auto a, auto) { return a + a; };

Tensor bits_of(const Tensor& x) {
  if (!is_inexact(x.dtype())) return x;
  return x.view(x.itemsize() == 8 ? int64 : x.itemsize() == 4 ? int32 : int16);
}

/// NaN has the same place; its bits depend on which operand an instruction reads first.
::testing::AssertionResult same(const Tensor& got, const Tensor& wanted) {
  if (got.sizes() != wanted.sizes() || got.strides() != wanted.strides() || got.dtype() != wanted.dtype())
    return ::testing::AssertionFailure() << to_string(got.sizes()) << " " << to_string(got.strides()) << " wanted "
                                         << to_string(wanted.sizes()) << " " << to_string(wanted.strides());
  Tensor equal = got.numel() == 0 ? ones({}, bool_) : bits_of(got) == bits_of(wanted);
  if (is_inexact(got.dtype())) equal = equal | ((got != got) & (wanted != wanted));
  if (equal.all().item<bool>()) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "got " << to_string(got) << " wanted " << to_string(wanted);
}

template <class Function, class... Tensors>
void expect_same(Function function, const std::string& what, const Tensors&... tensors) {
  const auto compiled = compile(function);
  EXPECT_TRUE(same(compiled(tensors...), function(tensors...))) << what;
  Tensor out = empty({0}, function(tensors...).dtype());
  EXPECT_TRUE(same(compiled.out(out, tensors...).contiguous(), function(tensors...).contiguous())) << what << ", out=";
}

/// Zeros of both signs, infinities, NaN, subnormal numbers among ordinary ones.
Tensor values(SizesView sizes, Dtype dtype, int64_t from) {
  const double special[] = {0., -0., 1., -1., HUGE_VAL, -HUGE_VAL, std::nan(""), 1e-40, 2.5, -7.25, 0.5};
  const int64_t numel = numel_of(sizes);
  Tensor result = empty({numel}, float64);
  for (int64_t i = 0; i < numel; ++i)
    result.data<double>()[i] = (i + from) % 3 == 0 ? special[(i * 7 + from) % 11] : std::sin(double(i + from)) * 4;
  return result.to(dtype).view(sizes);
}

void expect_all_same(const std::string& what, const Tensor& a, const Tensor& b, const Tensor& c) {
  expect_same(chain, "chain " + what, a, b, c);
  expect_same(pair, "pair " + what, a, b);
  expect_same(choice, "choice " + what, a, b);
  expect_same(bounds, "bounds " + what, a, b, c);
  expect_same(truth, "truth " + what, a, b);
  expect_same(four, "four " + what, a, b, c, a);
  expect_same(one, "one " + what, b);
  expect_same(first, "first " + what, a, b);
}

TEST(Compile, EveryLength) {
  for (const Dtype dtype : {float32, float64})
    for (int64_t n = 0; n <= 140; ++n)
      expect_all_same(std::to_string(n), values({n}, dtype, 0), values({n}, dtype, 5), values({n}, dtype, 1));
}

TEST(Compile, Broadcasts) {
  int number_of_case = 0;
  for (const Dtype dtype : {float32, float64}) {
    const Tensor matrix = values({33, 67}, dtype, 0), row = values({67}, dtype, 3), column = values({33, 1}, dtype, 4),
                 number = values({}, dtype, 8), turned = values({67, 33}, dtype, 2).t(),
                 sparse = values({66, 134}, dtype, 1).slice(0, 0, 66, 2).slice(1, 0, 134, 2),
                 cube = values({2, 33, 67}, dtype, 7).permute({0, 1, 2}),
                 odd = values({67, 33, 2}, dtype, 9).permute({2, 1, 0});
    const Tensor all[] = {matrix, row, column, number, turned, sparse, cube, odd, row.expand({33, 67})};
    for (const Tensor& a : all)
      for (const Tensor& b : all)
        for (const Tensor& c : {matrix, row, column, number, odd})
          if (++number_of_case % kSampled == 0)
            expect_all_same(to_string(a.sizes()) + to_string(b.sizes()) + to_string(c.sizes()), a, b, c);
  }
}

TEST(Compile, OtherDtypesRunAsTheOpsDo) {
  const Tensor a = values({5, 7}, float32, 0);
  for (const Dtype dtype : {uint8, int32, int64, float16, bfloat16, float64}) {
    const Tensor whole = (arange(7) + 1).to(dtype);
    expect_same(chain, "chain", a, whole, whole);
    expect_same(pair, "pair", whole, whole);
    expect_same(truth, "truth", whole, a);
    expect_same(one, "one", whole);
    expect_same(chain, "number", a, whole[0], whole[1]);
  }
}

TEST(Compile, LargeResultsPastTheCaches) {
  for (const int64_t columns : {4096, 4099}) {
    const Tensor a = rand({2100, columns}), row = rand({columns}), column = rand({2100, 1}) + 1;
    EXPECT_TRUE(same(compile(chain)(a, row, column), chain(a, row, column))) << columns;
    EXPECT_TRUE(same(compile(pair)(a, a), pair(a, a))) << columns;
  }
}

TEST(Compile, RowsOfAnyLengthInPlaceAndApart) {
  // Lanes behind whole vectors are computed twice where that changes nothing.
  for (const Dtype dtype : {float32, float64}) {
    for (int64_t n = 1; n <= 130; ++n) {
      const Tensor a = values({3, n}, dtype, 0), row = values({n}, dtype, 1), column = values({3, 1}, dtype, 2);
      const Tensor wanted = chain(a, row, column);
      EXPECT_TRUE(same(compile(chain)(a, row, column), wanted)) << n;
      EXPECT_TRUE(same(compile(truth)(a, row), truth(a, row))) << n;
      Tensor written = a.clone();
      compile(chain).out(written, written, row, column);
      EXPECT_TRUE(same(written, wanted)) << n << " in place";
    }
  }
}

TEST(Compile, WritesWhatItIsGiven) {
  const auto compiled = compile(pair);
  Tensor a = values({300}, float32, 0);
  const Tensor b = values({300}, float32, 1), wanted = pair(a, b);
  compiled.out(a, a, b);
  EXPECT_TRUE(same(a, wanted));
  Tensor wide = empty({300}, float64), whole = empty({300}, int32);
  EXPECT_TRUE(same(compiled.out(wide, b, b), pair(b, b).to(float64)));
  EXPECT_THROW(compiled.out(whole, b, b), Error);
}

TEST(Compile, ErrorsAreThoseOfTheOp) {
  const Tensor a = ones({4, 3}), b = ones({3}), c = ones({5});
  const auto text = [](const auto& call) {
    try {
      call();
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  const std::string wanted =
      "The size of tensor a (3) must match the size of tensor b (5) at non-singleton dimension 1";
  EXPECT_EQ(text([&] { chain(a, b, c); }), wanted);
  EXPECT_EQ(text([&] { compile(chain)(a, b, c); }), wanted);
  EXPECT_EQ(text([&] { compile(chain)(a.t().contiguous().t(), b, c); }), wanted);
  const PolicyGuard strict(parse_broadcast_policy("raise"));
  EXPECT_EQ(text([&] { compile(chain)(a, b, b); }), text([&] { chain(a, b, b); }));
}

TEST(Compile, IsDifferentiatedByItsOps) {
  const auto compiled = compile(pair);
  const Tensor a = (rand({3, 1}, float64) + 1).requires_grad_(), b = (rand({2}, float64) + 1).requires_grad_();
  const auto call = [&](const autograd::Tensors& in) { return autograd::Tensors{compiled(in[0], in[1])}; };
  EXPECT_TRUE(autograd::gradcheck(call, {a, b}));
  EXPECT_TRUE(autograd::gradgradcheck(call, {a, b}));
  const NoGrad unrecorded;
  EXPECT_FALSE(compiled(a, b).requires_grad());
}

TEST(Compile, InsideAFusedFunction) {
  auto fused = fuse([](const Tensor& a, const Tensor& b) { return compile(pair)(a, b) * 2; });
  const Tensor a = values({40}, float32, 0), b = values({40}, float32, 1);
  EXPECT_TRUE(same(fused(a, b), pair(a, b) * 2));
  EXPECT_EQ(compile(pair)(a.to(Device::meta), b.to(Device::meta)).sizes(), a.sizes());
}

}  // namespace
}  // namespace tenon
