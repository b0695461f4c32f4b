// The graph behaves like PyTorch's: names, edges, modes, accumulated gradients, hooks and in-place writes.
#include <gtest/gtest.h>

#include <string>
#include <thread>
#include <utility>

#include "autograd_tests.h"

namespace {

using namespace tenon;
using namespace autograd_tests;
using autograd::Tensors;

TEST(Autograd, TheDocumentedExample) {
  Tensor a = tensor({1., 2., 3.}).requires_grad_(), b = tensor({1.}).requires_grad_();
  (a + b).sum().backward();
  EXPECT_EQ(values(a.grad()), (Values{1, 1, 1}));
  EXPECT_EQ(values(b.grad()), (Values{3}));
  EXPECT_EQ(to_string(b.grad().sizes()), "[1]");
}

TEST(Autograd, NodesHaveTheirNamesAndPrint) {
  const Tensor x = leaf({2, 3}), z = leaf({2, 3, 1});
  const std::pair<const char*, Tensor> cases[] = {
      {"AddBackward0", x + x},
      {"AddBackward0", x + 1},
      {"SubBackward0", sub(x, x, 2)},
      {"MulBackward0", x * 2},
      {"DivBackward0", x / x},
      {"DivBackward2", div(x, x, "floor")},
      {"NegBackward0", -x},
      {"AbsBackward0", x.abs()},
      {"ReciprocalBackward0", x.reciprocal()},
      {"PowBackward0", x.square()},
      {"SqrtBackward0", x.sqrt()},
      {"ExpBackward0", x.exp()},
      {"LogBackward0", x.log()},
      {"TanhBackward0", x.tanh()},
      {"MaximumBackward0", maximum(x, x)},
      {"MinimumBackward0", minimum(x, x)},
      {"ClampBackward1", x.clamp(0, 1)},
      {"ClampBackward0", x.clamp(x)},
      {"WhereBackward0", where(x > 0, x, 1)},
      {"SumBackward0", x.sum()},
      {"SumBackward1", x.sum(0)},
      {"MeanBackward0", x.mean()},
      {"MeanBackward1", x.mean(0)},
      {"AmaxBackward0", x.amax()},
      {"AminBackward0", x.amin(0)},
      {"MmBackward0", x.mm(x.t())},
      {"ExpandBackward0", x.expand({4, 2, 3})},
      {"ViewBackward0", x.view({6})},
      {"ViewBackward0", x.reshape({6})},
      {"ReshapeAliasBackward0", x.expand({4, 2, 3}).reshape({4, 2, 3, 1})},
      {"UnsafeViewBackward0", x.t().reshape({6})},
      {"UnsqueezeBackward0", x.unsqueeze(0)},
      {"IndexBackward0", x.index({tensor({0, 0})})},
      {"IndexPutBackward0", (x * 1).index_put_({x > 0}, tensor(2.))},
      {"SqueezeBackward0", z.squeeze()},
      {"SqueezeBackward1", z.squeeze(2)},
      {"SqueezeBackward2", z.squeeze(Dims{2})},
      {"TransposeBackward0", x.transpose(0, 1)},
      {"TBackward0", x.t()},
      {"PermuteBackward0", x.permute({1, 0})},
      {"PermuteBackward0", x.movedim(0, 1)},
      {"SelectBackward0", x[0]},
      {"SliceBackward0", x.narrow(1, 0, 2)},
      {"AliasBackward0", x.index({Ellipsis})},
      {"AliasBackward0", x.index({Slice(), Slice(0, 3)})},
      {"SliceBackward0", x.index({Slice()})},
      {"UnsqueezeBackward0", x.index({None})},
      {"AsStridedBackward0", x.as_strided({2}, {1})},
      {"DiagonalBackward0", x.diagonal()},
      {"UnfoldBackward0", x.unfold(1, 2, 1)},
      {"CloneBackward0", x.clone()},
      {"CloneBackward0", x.t().contiguous()},
      {"ToCopyBackward0", x.to(float64)},
      {"torch::autograd::CopyBackwards", zeros({2, 3}).copy_(x)},
      {"ZeroBackward0", (x * 1).zero_()},
      {"FillBackward2", (x * 1).fill_(1)},
      {"AddBackward0", (x * 1).add_(x)},
  };
  for (const auto& [name, result] : cases) EXPECT_EQ(result.grad_fn().name(), name);
  EXPECT_EQ(to_string(tensor({1., 2.}).requires_grad_()), "tensor([1., 2.], requires_grad=True)");
  EXPECT_EQ(to_string(tensor({1., 2.}).requires_grad_() + 1), "tensor([2., 3.], grad_fn=<AddBackward0>)");
}

TEST(Autograd, AsStridedOfATensorThatRepeatsElements) {
  autograd::GradOptions options;
  options.create_graph = true;
  for (Dtype dtype : {float16, float32, float64}) {
    const Tensor x = ones({2}, dtype).requires_grad_().expand({3, 2});
    const Tensor weight = tensor({{1, 2}, {3, 4}}, dtype).requires_grad_();
    const Tensor grad = autograd::grad({x.as_strided({2, 2}, {1, 0})}, {x}, {weight}, options)[0];
    EXPECT_EQ(grad.grad_fn().name(), "AsStridedBackward0");
    EXPECT_EQ(values(grad.select(0, 2) * 3), (Values{3, 7}))
        << dtype_name(dtype);  // three equal extremes: each gets a third
    EXPECT_EQ(values(autograd::grad({grad.sum()}, {weight})[0]), (Values{1, 1, 1, 1})) << dtype_name(dtype);
  }
}

TEST(Autograd, EdgesLeadToTheInputs) {
  const Tensor x = leaf({2});
  const Tensor y = x * 2;
  const auto next = (y + x).grad_fn().next_functions();
  ASSERT_EQ(next.size(), 2u);
  EXPECT_TRUE(next[0].node.is(y.grad_fn()));
  EXPECT_EQ(next[1].node.name(), "AccumulateGrad");
  EXPECT_FALSE((y + 1).grad_fn().next_functions()[1].node.defined());
  EXPECT_TRUE(x.is_leaf());
  EXPECT_FALSE(y.is_leaf());
  EXPECT_FALSE((x > 0).requires_grad());
  EXPECT_FALSE(x.detach().requires_grad());
}

TEST(Autograd, ModesAreScopes) {
  const Tensor x = leaf({2});
  {
    const NoGrad no_grad;
    EXPECT_FALSE((x * 2).requires_grad());
    {
      const EnableGrad enable;
      EXPECT_TRUE((x * 2).requires_grad());
    }
    const SetGradEnabled set(true);
    EXPECT_TRUE(is_grad_enabled());
  }
  EXPECT_TRUE(is_grad_enabled());
  Tensor made, seen;
  {
    const InferenceMode inference;
    made = ones({2});
    seen = x.view({2});
    EXPECT_FALSE((x * 2).requires_grad());
    std::thread([&] { EXPECT_FALSE(is_inference_mode_enabled()); }).join();
  }
  EXPECT_TRUE(made.is_inference());
  EXPECT_FALSE(seen.is_inference());
  EXPECT_TRUE((made + x).requires_grad());
}

TEST(Autograd, GradientsAddUpInPlace) {
  Tensor x = leaf({2});
  (x * 3).sum().backward();
  const Tensor first = x.grad();
  (x * 4).sum().backward();
  EXPECT_TRUE(first.is(x.grad()));
  EXPECT_EQ(values(first), (Values{7, 7}));
  const Tensor weights = ones({2});
  x.set_grad({});
  x.backward(weights);
  EXPECT_NE(x.grad().data_ptr(), weights.data_ptr());
  const Tensor wide = leaf({2, 3});
  EXPECT_EQ(to_string(autograd::grad({wide.sum()}, {wide})[0].strides()), "[0, 0]");
  wide.sum().backward();
  EXPECT_EQ(to_string(wide.grad().strides()), "[3, 1]");
}

TEST(Autograd, SharedSubexpressions) {
  Tensor x = tensor({2.}).requires_grad_();
  const Tensor y = x * x;
  (y * y + y).sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{4 * 8 + 2 * 2}));
}

TEST(Autograd, SomeInputsOnly) {
  Tensor x = leaf({2}), w = leaf({2});
  const Tensor y = x * w, z = y * 5;
  autograd::backward({z.sum()}, {}, {}, {x});
  EXPECT_EQ(values(x.grad()), (Values{5, 5}));
  EXPECT_FALSE(w.grad().defined());
  const Tensor again = (x * w * 5).sum();
  const Tensors both = autograd::grad({again}, {w, x});
  EXPECT_EQ(values(both[0]), (Values{5, 5}));
  const Tensor mid = x * 2;
  EXPECT_EQ(values(autograd::grad({(mid * mid).sum()}, {mid})[0]), (Values{4, 4}));
  autograd::GradOptions options;
  options.allow_unused = true;
  EXPECT_FALSE(autograd::grad({(x * 2).sum()}, {w}, {}, options)[0].defined());
  options.materialize_grads = true;
  EXPECT_EQ(values(autograd::grad({(x * 2).sum()}, {w}, {}, options)[0]), (Values{0, 0}));
}

TEST(Autograd, HigherDerivatives) {
  Tensor x = tensor({2.}).requires_grad_();
  autograd::GradOptions options;
  options.create_graph = true;
  Tensor y = x * x * x;
  const double want[] = {12, 12, 6};
  for (double derivative : want) {
    y = autograd::grad({y}, {x}, {ones({1})}, options)[0];
    EXPECT_EQ(values(y), (Values{derivative}));
  }
}

TEST(Autograd, HooksOfTensors) {
  Tensor x = leaf({2});
  Tensor y = x * 2;
  y.retain_grad();
  autograd::HookHandle handle = y.register_hook([](const Tensor& g) { return g * 10; });
  y.sum().backward({}, true);
  EXPECT_EQ(values(y.grad()), (Values{10, 10}));
  EXPECT_EQ(values(x.grad()), (Values{20, 20}));
  handle.remove();
  handle.remove();
  x.set_grad({});
  int after = 0;
  x.register_hook([](const Tensor& g) { return g + 1; });
  x.register_post_accumulate_grad_hook([&](const Tensor& leaf) { after += static_cast<int>(values(leaf.grad())[0]); });
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{3, 3}));
  EXPECT_EQ(after, 3);
}

TEST(Autograd, HooksOfNodes) {
  Tensor x = leaf({2});
  const Tensor y = x * 2;
  std::string order;
  y.grad_fn().register_prehook([&](const Tensors& grads) {
    order += "pre " + std::to_string(grads.size()) + " ";
    return Tensors{grads[0] * 3};
  });
  y.grad_fn().register_hook([&](const Tensors& inputs, const Tensors& outputs) {
    order += "post " + std::to_string(inputs.size()) + " " + std::to_string(outputs.size());
    return Tensors{};
  });
  y.sum().backward();
  EXPECT_EQ(order, "pre 1 post 2 1");
  EXPECT_EQ(values(x.grad()), (Values{6, 6}));
}

TEST(Autograd, RetainedGradientFollowsInPlaceWrites) {
  Tensor x = leaf({2});
  Tensor y = x * 2;
  y.retain_grad();
  y.mul_(3);
  y.sum().backward();
  EXPECT_EQ(values(y.grad()), (Values{1, 1}));
  EXPECT_EQ(values(x.grad()), (Values{6, 6}));
}

TEST(Autograd, WritesThroughViewsRebaseTheBase) {
  Tensor p = zeros({3}), x = tensor({2., 5.}).requires_grad_();
  Tensor v = p.slice(0, 0, 2);
  const Tensor other = p.slice(0, 1, 3);
  v.mul_(x[0]);
  v.add_(x);
  EXPECT_EQ(p.grad_fn().name(), "torch::autograd::CopySlices");
  EXPECT_EQ(v.grad_fn().name(), "AsStridedBackward0");
  EXPECT_EQ(other.grad_fn().name(), "AsStridedBackward0");
  EXPECT_EQ(to_string(p), "tensor([2., 5., 0.], grad_fn=<CopySlices>)");
  other.sum().backward({}, true);
  EXPECT_EQ(values(x.grad()), (Values{0, 1}));
  p.sum().backward();
  EXPECT_EQ(values(x.grad()), (Values{1, 2}));
}

TEST(Autograd, VersionsAreSharedByViews) {
  Tensor x = ones({2});
  const Tensor view = x.slice(0, 0, 1), cut = x.detach();
  x.add_(1);
  EXPECT_EQ(view.version(), 1u);
  EXPECT_EQ(cut.version(), 1u);
  EXPECT_TRUE(view.is_view());
  EXPECT_FALSE(cut.is_view());
}

TEST(Autograd, DetachInPlace) {
  Tensor x = leaf({2});
  Tensor y = x * 2;
  y.detach_();
  EXPECT_FALSE(y.requires_grad());
  EXPECT_TRUE(y.is_leaf());
}

}  // namespace
