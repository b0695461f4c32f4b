// The engine: memory, threads, hooks, and grads of any layout.
#include <gtest/gtest.h>

#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "autograd_tests.h"

namespace {

using namespace tenon;
using namespace autograd_tests;
using autograd::Tensors;

TEST(AutogradEngine, AChainOfAMillionNodes) {
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = y + 1;
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{1}));
  y = Tensor();
  Tensor unused = x;
  for (int i = 0; i < 1000000; ++i) unused = unused * 2;
}

TEST(AutogradEngine, TheGraphIsFreedAsItIsConsumed) {
  const int64_t before = memory::statistics().in_use;
  {
    Tensor x = leaf({100000});
    const Tensor y = (x * 0.1).exp().exp().mul(x).sum();
    const int64_t held = memory::statistics().in_use;
    y.backward();
    EXPECT_LT(memory::statistics().in_use, held);
  }
  EXPECT_EQ(memory::statistics().in_use, before);
  {
    Tensor x = leaf({100000});
    Tensor y = x * 2;
    y.mul_(y);
    Tensor z = x.exp();
    z.exp_();
    z.slice(0, 0, 3).mul_(x[0]);
  }
  EXPECT_EQ(memory::statistics().in_use, before) << "a graph holds itself";
}

/// In-place ops whose derivative reads a view, or the base, of the tensor that they write.
TEST(AutogradEngine, AWriteDoesNotHoldItsOwnHistory) {
  const Tensor x = leaf({100000});
  const int64_t before = memory::statistics().in_use;
  const auto keeps = [&](const auto& write) {
    {
      Tensor y = x * 2;
      write(y, y.view({100000}));
    }
    return memory::statistics().in_use - before;
  };
  EXPECT_EQ(keeps([](Tensor y, const Tensor& view) { y.mul_(view); }), 0);
  EXPECT_EQ(keeps([](const Tensor& y, Tensor view) { view.mul_(y); }), 0);
  EXPECT_EQ(keeps([](const Tensor& y, Tensor view) { view.mul_(y.view({100000})); }), 0);
  EXPECT_EQ(keeps([](const Tensor& y, Tensor view) { view.clamp_(0, y); }), 0);
}

TEST(AutogradEngine, ReducedGradientsNeedNoFullSizeTemporary) {
  Tensor scale = rand({512}).requires_grad_();
  const Tensor a = rand({512, 512}), weights = rand({512, 512});
  const Tensor y = a * scale;
  memory::reset_peak();
  const int64_t before = memory::statistics().in_use;
  y.backward(weights);
  EXPECT_LT(memory::statistics().peak - before, a.nbytes() / 4);
  const Tensor want = (a * weights).sum(0);
  for (std::size_t i = 0; i < 512; ++i) EXPECT_NEAR(values(scale.grad())[i], values(want)[i], 1e-3);
}

TEST(AutogradEngine, SumsOfBfloat16StayFloat32ToTheEnd) {
  Tensor bias = zeros({1}, bfloat16).requires_grad_();
  const Tensor y = zeros({10000000}, bfloat16) + bias;
  y.backward(ones({10000000}, bfloat16));
  EXPECT_NEAR(bias.grad().item<double>(), 1e7, 65536);  // one ulp
}

TEST(AutogradEngine, ManyThreadsOnSeparateGraphsOverOneLeaf) {
  Tensor x = leaf({8});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) ((x * 2).exp() * 0 + x).sum().backward();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values(x.grad()), Values(8, 2000));
}

TEST(AutogradEngine, BackwardInsideAHook) {
  Tensor x = leaf({2}), w = leaf({2});
  Tensor y = x * 2;
  const Tensor inner = (w * 3).sum();
  y.register_hook([&](const Tensor&) {
    const EnableGrad enable;
    inner.backward({}, true);
    return Tensor();
  });
  y.sum().backward();
  EXPECT_EQ(values(w.grad()), (Values{3, 3}));
  EXPECT_EQ(values(x.grad()), (Values{2, 2}));
}

TEST(AutogradEngine, AFailedBackwardChangesNoGrad) {
  set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  for (const bool create_graph : {false, true}) {
    Tensor x = ones({2}).requires_grad_(), y = ones({2}).requires_grad_(), z = ones({2}).requires_grad_();
    z.set_grad(full({2}, 7.0));
    const auto run = [&](bool fails) {
      const Tensor a = x * 2, b = y * 3, c = a + b + z;
      b.retain_grad();
      a.register_hook([fails](const Tensor&) -> Tensor {
        if (fails) throw Error("no");
        return {};
      });
      const Tensor end = c.sum();
      if (fails)
        EXPECT_THROW(end.backward({}, std::nullopt, create_graph), Error);
      else
        end.backward({}, std::nullopt, create_graph);
      return b;
    };
    EXPECT_FALSE(run(true).grad().defined());
    EXPECT_FALSE(x.grad().defined());
    EXPECT_FALSE(y.grad().defined());
    EXPECT_EQ(z.grad().select(0, 0).item<float>(), 7);
    EXPECT_EQ(run(false).grad().select(0, 0).item<float>(), 1);
    EXPECT_EQ(y.grad().select(0, 0).item<float>(), 3);
    EXPECT_EQ(z.grad().select(0, 0).item<float>(), 8);
    for (Tensor* leaf : {&x, &y, &z}) leaf->set_grad({});
  }
  set_warning_handler(nullptr);
}

/// grad is accumulated in place for every layout, several in one run; values and identity as in PyTorch.
TEST(AutogradEngine, GradsOfAnyLayoutAreAddedToInPlace) {
  const Tensor gaps = leaf({4}), columns = leaf({2, 4}), reversed = leaf({2, 4}), plain = leaf({4});
  const Tensor weight = arange(8).to(float32).reshape({2, 4});
  const Tensor memory = ones({8});
  const Tensor grads[] = {memory.slice(0, 0, {}, 2), ones({4, 2}).t(), ones({4, 2}).t(), ones({4})};
  const Tensor leaves[] = {gaps, columns, reversed, plain};
  for (int i = 0; i < 4; ++i) Tensor(leaves[i]).set_grad(grads[i]);
  for (int turn = 0; turn < 2; ++turn) ((gaps + columns + reversed + plain) * weight).sum().backward();
  for (int i = 0; i < 4; ++i) {
    EXPECT_TRUE(leaves[i].grad().is(grads[i])) << i;
    EXPECT_EQ(grads[i].version(), 2u) << i;
  }
  EXPECT_EQ(values(gaps.grad()), (Values{9, 13, 17, 21}));
  EXPECT_EQ(values(memory), (Values{9, 1, 13, 1, 17, 1, 21, 1}));
  EXPECT_EQ(values(plain.grad()), values(gaps.grad()));
  EXPECT_EQ(values(columns.grad()), (Values{1, 3, 5, 7, 9, 11, 13, 15}));
  EXPECT_EQ(values(reversed.grad()), values(columns.grad()));
}

TEST(AutogradEngine, AGradThatCannotBeAddedToLeavesTheOthers) {
  const Tensor overlapping = leaf({2, 4}), gaps = leaf({2, 4}), plain = leaf({2, 4});
  Tensor(overlapping).set_grad(ones({4}).expand({2, 4}));
  Tensor(gaps).set_grad(ones({2, 8}).slice(1, 0, {}, 2));
  Tensor(plain).set_grad(ones({2, 4}));
  for (const Tensor& first : {overlapping, gaps, plain}) {
    const Tensor sum = first * 2 + overlapping * 2 + gaps * 2 + plain * 2;
    EXPECT_EQ(text_of([&] { sum.sum().backward(); }),
              "unsupported operation: more than one element of the written-to tensor refers to a single memory "
              "location. Please clone() the tensor before performing the operation.");
    for (const Tensor& each : {overlapping, gaps, plain}) EXPECT_EQ(values(each.grad()), Values(8, 1));
  }
}

/// `data` may have got another dtype since.
TEST(AutogradEngine, AGradOfAnotherDtypeKeepsIt) {
  Tensor x = leaf({3});
  x.sum().backward();
  const Tensor grad = x.grad();
  x.set_data(ones({3}, float64));
  x.sum().backward();
  EXPECT_TRUE(x.grad().is(grad));
  EXPECT_EQ(grad.dtype(), float32);
  EXPECT_EQ(values(grad), (Values{2, 2, 2}));
}

/// The view itself is in no graph, so nothing gets a gradient, as in PyTorch.
TEST(AutogradEngine, AViewOfWhatBecameALeafLater) {
  Tensor base = ones({2, 2});
  const Tensor view = base.view({4});
  base.requires_grad_();
  EXPECT_TRUE(view.requires_grad() && view.is_leaf());
  for (const Tensor& result : {view.sum(), view.amax(), view.exp().mean(), view.view({2, 2}).select(0, 1).mean(0),
                               (view * view).sum(), view.to(float64).sum()})
    result.backward();
  EXPECT_FALSE(base.grad().defined());
  EXPECT_FALSE(view.grad().defined());
}

TEST(AutogradEngine, HooksAfterALeafSeeAllGrads) {
  const Tensor x = ones({2}).requires_grad_(), y = ones({2}).requires_grad_();
  int calls = 0;
  for (const Tensor& leaf : {x, y})
    leaf.register_post_accumulate_grad_hook([&](const Tensor&) { calls += x.grad().defined() && y.grad().defined(); });
  const autograd::Node node = (x * 1).grad_fn().next_functions()[0].node;
  EXPECT_EQ(node.name(), "AccumulateGrad");
  Tensor seen;
  node.register_hook([&](const Tensors& given, const Tensors& got) {
    EXPECT_TRUE(given.empty());
    seen = got[0];
    return Tensors();
  });
  (x * 2 + y).sum().backward();
  EXPECT_EQ(calls, 2);
  EXPECT_EQ(seen.select(0, 0).item<float>(), 2);
}

}  // namespace
