// Long and wide graphs of a million nodes are made, run and freed quickly and without recursion.
#include <gtest/gtest.h>

#include <vector>

#include "tenon/tenon.h"

namespace {

using namespace tenon;

// With sanitizers tests are slow, and stack frames larger.
#ifdef TENON_SANITIZED
constexpr int kMany = 50'000;
#else
constexpr int kMany = 1'000'000;
#endif

TEST(AutogradSize, AChainThatSavesIsFreedUnused) {
  const Tensor x = ones({1}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < kMany; ++i) y = y * x;
  y = Tensor();
  EXPECT_FALSE(x.grad().defined());
}

TEST(AutogradSize, AChainOfWritesInPlace) {
  const Tensor x = ones({1}).requires_grad_();
  Tensor y = x * 1;
  for (int i = 0; i < kMany; ++i) y.add_(x);
  y.backward();
  EXPECT_EQ(x.grad().item<float>(), kMany + 1);
}

TEST(AutogradSize, ViewsOfViews) {
  const Tensor x = ones({2, 2}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < kMany; ++i) y = y.t();
  y.sum().backward();
  EXPECT_EQ(x.grad().sum().item<float>(), 4);
}

TEST(AutogradSize, WritesThroughViews) {
  const Tensor w = ones({}).requires_grad_();
  Tensor base = zeros({4});
  for (int i = 0; i < kMany / 10; ++i) base.select(0, i % 4).add_(w);
  base.sum().backward();
  EXPECT_EQ(w.grad().item<float>(), kMany / 10);
}

// The gradient's graph is three times as long.
TEST(AutogradSize, AGradientOfALongGradient) {
  const Tensor x = ones({1}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < kMany / 4; ++i) y = y * x;
  autograd::GradOptions options;
  options.create_graph = true;
  const Tensor first = autograd::grad({y}, {x}, {}, options)[0];
  EXPECT_EQ(first.item<float>(), kMany / 4 + 1);
  EXPECT_TRUE(autograd::grad({first}, {x})[0].defined());
}

TEST(AutogradSize, ALongGraphIsPrintedAndReleasedByBackward) {
  const Tensor x = ones({1}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < kMany; ++i) y = (y * x).view({1});
  EXPECT_EQ(to_string(y), "tensor([1.], grad_fn=<ViewBackward0>)");
  EXPECT_EQ(y.grad_fn().name(), "ViewBackward0");
  y.backward();
  EXPECT_THROW(y.backward(), Error);
  EXPECT_EQ(x.grad().item<float>(), kMany + 1);
}

TEST(AutogradSize, AnErrorAtTheEndOfALongGraph) {
  const autograd::DetectAnomaly anomaly;
  const Tensor x = zeros({1}).requires_grad_();
  Tensor y = x.sqrt() * 0;  // the gradient of sqrt at 0 is infinite; times 0 it is NaN
  for (int i = 0; i < kMany; ++i) y = -y;
  EXPECT_THROW(y.backward(), Error);
  EXPECT_FALSE(x.grad().defined());
}

TEST(AutogradSize, WideWithOneRoot) {
  std::vector<Tensor> leaves;
  Tensor sum = zeros({1});
  for (int i = 0; i < kMany / 2; ++i) {
    leaves.push_back(ones({1}).requires_grad_());
    sum = sum + leaves.back();
  }
  sum.backward();
  for (const Tensor& leaf : leaves) ASSERT_EQ(leaf.grad().item<float>(), 1);
}

TEST(AutogradSize, ManyInputsAreAskedFor) {
  std::vector<Tensor> leaves;
  Tensor sum = zeros({1});
  for (int i = 0; i < 100'000; ++i) {
    leaves.push_back(ones({1}).requires_grad_());
    sum = sum + leaves.back();
  }
  EXPECT_EQ(autograd::grad({sum}, leaves, {}, {{true}}).size(), leaves.size());
  autograd::backward({sum}, {}, {}, leaves);
  EXPECT_EQ(leaves.back().grad().item<float>(), 1);
}

TEST(AutogradSize, ManyRoots) {
  const Tensor x = ones({1}).requires_grad_();
  std::vector<Tensor> roots;
  for (int i = 0; i < kMany / 2; ++i) roots.push_back(x * 1);
  autograd::backward(roots);
  EXPECT_EQ(x.grad().item<float>(), kMany / 2);
}

TEST(AutogradSize, ManyUsesOfOneResult) {
  const Tensor x = ones({1}).requires_grad_(), y = x * 1;
  Tensor sum = zeros({1});
  for (int i = 0; i < kMany; ++i) sum = sum + y;
  sum.backward();
  EXPECT_EQ(x.grad().item<float>(), kMany);
}

TEST(AutogradSize, TheGraphIsWalkedByHand) {
  const Tensor x = ones({1}).requires_grad_();
  Tensor y = x;
  for (int i = 0; i < kMany; ++i) y = -y;
  int length = 0;
  for (autograd::Node node = y.grad_fn(); node.defined(); ++length) {
    const std::vector<autograd::Node::Edge> next = node.next_functions();
    node = next.empty() ? autograd::Node() : next[0].node;
  }
  EXPECT_EQ(length, kMany + 1);
}

TEST(AutogradSize, GradientsThatHaveGradients) {
  Tensor first = ones({1});
  Tensor last = first;
  for (int i = 0; i < kMany; ++i) {
    Tensor next = ones({1});
    last.set_grad(next);
    last = next;
  }
  last = first = Tensor();
  SUCCEED() << "freed without recursion";
}

TEST(AutogradSize, DataOfDataOfData) {
  Tensor x = ones({1}).requires_grad_();
  for (int i = 0; i < kMany; ++i) x = x.variable_data().requires_grad_();
  EXPECT_EQ(x.item<float>(), 1);
}

}  // namespace
