// Custom ops behave like built-in ops.
#include <gtest/gtest.h>

#include <atomic>
#include <cmath>
#include <cstdlib>
#include <string>
#include <vector>

#include "tenon/tenon.h"

namespace {

using namespace tenon;
using autograd::Tensors;

struct Hypot {
  static constexpr const char* name = "hypot";
  template <class T>
  static T forward(T a, T b) {
    return std::sqrt(a * a + b * b);
  }
  static Tensor grad_a(const CustomGiven& g) { return g.grad() * (g.a() / g.result()); }
  static Tensor grad_b(const CustomGiven& g) { return g.grad() * (g.b() / g.result()); }
};
struct Twice {
  static constexpr const char* name = "twice";
  static constexpr bool integers = true;
  template <class T>
  static T forward(T a) {
    return static_cast<T>(a + a);
  }
  static Tensor grad_a(const CustomGiven& g) { return g.grad() * 2; }
};
struct Between {
  static constexpr const char* name = "between";
  static constexpr bool integers = true;
  template <class T>
  static bool forward(T x, T low, T high) {
    return low <= x && x < high;
  }
};
const CustomOp<Hypot> hypot_op;
const CustomOp<Twice> twice_op;
const CustomOp<Between> between_op;

bool same(const Tensor& a, const Tensor& b) {
  return a.sizes() == b.sizes() && a.dtype() == b.dtype() && !(a != b).amax().item<bool>();
}

TEST(CustomOp, BroadcastsAndPromotes) {
  const Tensor a = rand({5, 1, 33}), b = rand({7, 1}), strided = rand({33, 7}).t();
  EXPECT_TRUE(same(hypot_op(a, b), (a * a + b * b).sqrt()));
  EXPECT_TRUE(same(hypot_op(strided, b), (strided * strided + b * b).sqrt()));
  EXPECT_TRUE(same(hypot_op(a, 2), (a * a + 4).sqrt()));
  EXPECT_EQ(hypot_op(tensor({3}), tensor({4})).dtype(), float32);
  EXPECT_EQ(hypot_op(a.to(float16), b.to(float16)).dtype(), float16);
  EXPECT_TRUE(same(hypot_op(a.to(bfloat16), b), (a.to(bfloat16).to(float32).square() + b * b).sqrt()));
  EXPECT_EQ(twice_op(tensor({100}).to(int8)).item<int>(), -56);
  EXPECT_EQ(twice_op(ones({3}, Device::meta)).sizes(), (SizesView{3}));
  const Tensor found = between_op(arange(6), 1, tensor({2, 5}).unsqueeze(1));
  EXPECT_TRUE(same(found, tensor({{false, true, false, false, false, false}, {false, true, true, true, true, false}})));
}

TEST(CustomOp, WritesWhereItIsTold) {
  Tensor a = tensor({3., 6.}), out = empty({0});
  EXPECT_TRUE(hypot_op.out(out, a, tensor({{4.}, {8.}})).sizes() == (SizesView{2, 2}));
  EXPECT_EQ(out.index({1, 1}).item<double>(), 10);
  hypot_op.inplace(a, 4);
  EXPECT_EQ(a[0].item<double>(), 5);
  EXPECT_THROW(hypot_op.inplace(a, ones({3, 2})), Error);
  EXPECT_THROW(hypot_op(ones({3}), ones({2})), Error);
  try {
    twice_op(tensor({true}));
    FAIL();
  } catch (const NotImplementedError& error) {
    EXPECT_STREQ(error.what(), "\"twice\" not implemented for 'Bool'");
  }
}

TEST(CustomOp, IsDifferentiatedLikeAnyOther) {
  const Tensor a = (rand({3, 1}, float64) + 1).requires_grad_(), b = (rand({2}, float64) + 1).requires_grad_();
  const auto call = [](const Tensors& in) { return Tensors{hypot_op(twice_op(in[0]), in[1])}; };
  EXPECT_TRUE(autograd::gradcheck(call, {a, b}));
  EXPECT_TRUE(autograd::gradgradcheck(call, {a, b}));
  EXPECT_EQ(hypot_op(a, b).grad_fn().name(), "HypotBackward0");
  EXPECT_FALSE(between_op(a, 0, b).requires_grad());
  const auto inplace = [](const Tensors& in) {
    Tensor x = in[0] * 1;
    hypot_op.inplace(x, in[1]);
    return Tensors{x};
  };
  EXPECT_TRUE(autograd::gradcheck(inplace, {(rand({3, 2}, float64) + 1).requires_grad_(), b}));
}

// Streaming stores for kernels that have none themselves.
TEST(CustomOp, LargeOperandsHoweverTheyLie) {
  const int64_t rows = 2100;
  for (const int64_t cols : {2048, 2051}) {
    const Tensor a = rand({rows, cols}), column = rand({rows, 1}), row = rand({cols}), turned = rand({cols, rows}).t();
    for (const Tensor& b : {a, column, row, turned})
      EXPECT_TRUE(same(hypot_op(a, b), (a * a + b * b).sqrt())) << to_string(b.sizes());
  }
  const Tensor triples = rand({rows * 700, 3}), triple = rand({3}), ends = rand({rows * 700, 1});
  for (const Tensor& b : {triple, ends})
    EXPECT_TRUE(same(hypot_op(triples, b), (triples * triples + b * b).sqrt())) << to_string(b.sizes());
}

std::atomic<bool> stop{false};
std::atomic<int64_t> calls{0};

/// Sets the stop flag in its first call.
struct Stopping {
  static constexpr const char* name = "stopping";
  template <class T>
  static T forward(T a) noexcept {
    stop.store(true, std::memory_order_relaxed);
    calls.fetch_add(1, std::memory_order_relaxed);
    return a;
  }
};

TEST(CustomOp, LongRunsEndEarlyOnOneThreadToo) {
  const CustomOp<Stopping> stopping;
  const int before = get_num_threads();
  set_num_threads(1);
  const InterruptGuard guard(stop);
  // One run, and rows with gaps.
  for (const Tensor& a : {ones({int64_t{1} << 24}), ones({1 << 14, 1000}).slice(1, 0, 900)}) {
    EXPECT_THROW(stopping(a), Interrupted);
    EXPECT_LT(calls.exchange(0), a.numel());
    stop = false;
    // A write to `out=` finishes first.
    Tensor out = zeros(a.sizes());
    stopping.out(out, a);
    EXPECT_TRUE(stop);
    EXPECT_THROW(stopping.out(out, a), Interrupted);
    EXPECT_GE(calls.exchange(0), a.numel());  // lanes that fill a vector are computed twice
    stop = false;
    EXPECT_TRUE((out == 1).all().item<bool>());
  }
  set_num_threads(before);
}

struct Picky {
  static constexpr const char* name = "picky";
  template <class T>
  static T forward(T a) {
    if (a == 1000) throw ValueError("1000 is refused");
    return a + 1;
  }
};

TEST(CustomOp, AKernelThatThrowsLeavesOperandsAlone) {
  const CustomOp<Picky> picky;
  const Tensor some = arange(2000, float32), many = arange(1 << 20, float32);
  for (const Tensor& a : {some, many, many.view({1024, 1024}).t()}) {
    Tensor self = a.clone(), out = zeros(a.sizes()), small = zeros({1});
    EXPECT_THROW(picky(a), ValueError);
    EXPECT_THROW(picky.inplace(self), ValueError);
    EXPECT_THROW(picky.out(out, a), ValueError);
    EXPECT_THROW(picky.out(small, a), ValueError);
    EXPECT_TRUE(same(self, a));
    EXPECT_TRUE(same(out, zeros(a.sizes())));
    EXPECT_TRUE(same(small, zeros({1})));
    EXPECT_EQ(picky(a + 2000).sizes(), a.sizes());
  }
}

/// A gradient of any shape.
template <int kind>
struct Odd {
  static constexpr const char* name = "odd";
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
  static Tensor grad_a(const CustomGiven& g) {
    if (kind == 0) return full({2}, 5);
    if (kind == 1) return full({2, g.grad().sizes()[0]}, 5);
    if (kind == 2) return g.grad();  // the gradient may be narrower than the result
    return {};
  }
};
template <int kind>
Tensor gradient_of_odd(int64_t size) {
  static const CustomOp<Odd<kind>> odd;
  const Tensor x = zeros({size}).requires_grad_();
  odd(x, arange(size)).sum().backward();
  return x.grad();
}

TEST(CustomOp, GradientsOfTheWrongShapeAreRefusedOrSummed) {
  for (const int64_t size : {4, 100000}) {
    try {
      gradient_of_odd<0>(size);
      FAIL() << size;
    } catch (const Error& error) {
      EXPECT_EQ(std::string(error.what()),
                "Function OddBackward0 returned an invalid gradient at index 0 - got [2] but expected shape compatible "
                "with [" +
                    std::to_string(size) + "]");
    }
    EXPECT_TRUE(same(gradient_of_odd<1>(size), full({size}, 10.0f)));
    EXPECT_TRUE(same(gradient_of_odd<2>(size), ones({size})));
    EXPECT_FALSE(gradient_of_odd<3>(size).defined());
  }
}

TEST(CustomOp, LargeGradientsRunInOnePass) {
  const Tensor a = rand({512, 256}).requires_grad_(), b = (rand({256}) + 1).requires_grad_();
  hypot_op(a, b).sum().backward();
  const Tensor expected = (b / (a.detach().square() + b.detach().square()).sqrt()).detach().sum(0);
  EXPECT_LT(((b.grad() - expected).abs() / expected).amax().item<double>(), 1e-5);
}

TEST(CustomOp, ObjectsOfOneBlockAreOneOp) {
  for (int i = 0; i < 1000; ++i) static_cast<void>(CustomOp<Twice>());
  EXPECT_EQ(CustomOp<Twice>()(2.5f).item<float>(), 5);
}

/// A family of custom ops: each has its own name and adds its own number.
template <int kAdded>
struct Adds {
  static constexpr const char* name = "adds";
  template <class T>
  static T forward(T a) noexcept {
    return a * (kAdded + 2) + kAdded;
  }
  static Tensor grad_a(const CustomGiven& g) { return g.grad() * (kAdded + 2); }
};

// 13 formulas in turn, so that confusing an op with one 256 numbers away gives a wrong result.
template <int... kAdded>
int define_numbered(int number, const std::string& name, std::integer_sequence<int, kAdded...>) {
  static const CustomDefinition definitions[] = {custom::definition_of<Adds<kAdded>>()...};
  CustomDefinition definition = definitions[static_cast<std::size_t>(number) % sizeof...(kAdded)];
  definition.name = name.c_str();
  return custom::define(definition);
}
int define_numbered(int number) {
  return define_numbered(number, "numbered" + std::to_string(number), std::make_integer_sequence<int, 13>());
}

Tensor call_numbered(int op, const Tensor& a) {
  const Arg argument(a);
  const Arg* const arguments[] = {&argument};
  return custom::call(op, arguments, 1);
}

void expect_numbered(int op, int number) {
  const int added = number % 13;
  const Tensor x = full({3}, 5, float32).requires_grad_();
  const Tensor y = call_numbered(op, x * 1);
  ASSERT_EQ(y[2].item<int>(), 5 * (added + 2) + added) << number;
  ASSERT_EQ(y.grad_fn().name(), "Numbered" + std::to_string(number) + "Backward0");
  y.sum().backward();
  ASSERT_EQ(x.grad()[1].item<int>(), added + 2) << number;
}

TEST(CustomOp, ThousandsOfDifferentOnes) {
  std::vector<int> ops;
  for (int number = 0; number < 2000; ++number) ops.push_back(define_numbered(number));
  for (int number = 0; number < 2000; ++number) expect_numbered(ops[static_cast<std::size_t>(number)], number);
}

/// Whether the error comes when all numbers are used, and the earlier ops still work.
int define_all_there_are() {
  std::vector<int> ops;
  try {
    while (ops.size() < 100000) ops.push_back(define_numbered(static_cast<int>(ops.size())));
    return 1;
  } catch (const Error& error) {
    if (!std::string(error.what()).starts_with("no more than 65")) return 2;
    if (!std::string(error.what()).ends_with(" ops can be defined")) return 3;
  }
  for (const int number : {0, 255, 256, 30000, static_cast<int>(ops.size()) - 1}) {
    const int added = number % 13;
    if (call_numbered(ops[static_cast<std::size_t>(number)], ones({1})).item<int>() != 2 * added + 2) return 4;
  }
  return ops.size() > 60000 ? 0 : 5;
}

// In a separate process, because afterwards no op can be defined.
TEST(CustomOp, AnErrorWhenAllNumbersAreTaken) {
  EXPECT_EXIT(std::_Exit(define_all_there_are()), testing::ExitedWithCode(0), "");
}

}  // namespace
