// The graph behaves as PyTorch's: names, modes, hooks, in-place rules, the engine's care for memory and threads, and
// every error's text.
#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "spec.h"

namespace {

using namespace tenon;
using autograd::Tensors;

Tensor leaf(SizesView sizes) { return ones(sizes).requires_grad_(); }

std::vector<double> values(const Tensor& tensor) {
  if (!tensor.defined()) return {-1};
  std::vector<double> list;
  const Tensor flat = tensor.detach().to(float64).contiguous();
  for (int64_t i = 0; i < flat.numel(); ++i) list.push_back(flat.data<double>()[i]);
  return list;
}
using List = std::vector<double>;

std::string text_of(const std::function<void()>& call) {
  const spec::Outcome outcome = spec::attempt([&] {
    call();
    return Tensor();
  });
  return outcome.failed() ? outcome.text : outcome.warnings.empty() ? "accepted" : outcome.warnings[0];
}

TEST(Autograd, TheDocumentedExample) {
  Tensor a = tensor({1., 2., 3.}).requires_grad_(), b = tensor({1.}).requires_grad_();
  (a + b).sum().backward();
  EXPECT_EQ(values(a.grad()), (List{1, 1, 1}));
  EXPECT_EQ(values(b.grad()), (List{3}));
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
  EXPECT_EQ(values(first), (List{7, 7}));
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
  EXPECT_EQ(values(x.grad()), (List{4 * 8 + 2 * 2}));
}

TEST(Autograd, SomeInputsOnly) {
  Tensor x = leaf({2}), w = leaf({2});
  const Tensor y = x * w, z = y * 5;
  autograd::backward({z.sum()}, {}, {}, {x});
  EXPECT_EQ(values(x.grad()), (List{5, 5}));
  EXPECT_FALSE(w.grad().defined());
  const Tensor again = (x * w * 5).sum();
  const Tensors both = autograd::grad({again}, {w, x});
  EXPECT_EQ(values(both[0]), (List{5, 5}));
  const Tensor mid = x * 2;
  EXPECT_EQ(values(autograd::grad({(mid * mid).sum()}, {mid})[0]), (List{4, 4}));
  autograd::GradOptions options;
  options.allow_unused = true;
  EXPECT_FALSE(autograd::grad({(x * 2).sum()}, {w}, {}, options)[0].defined());
  options.materialize_grads = true;
  EXPECT_EQ(values(autograd::grad({(x * 2).sum()}, {w}, {}, options)[0]), (List{0, 0}));
}

TEST(Autograd, HigherDerivatives) {
  Tensor x = tensor({2.}).requires_grad_();
  autograd::GradOptions options;
  options.create_graph = true;
  Tensor y = x * x * x;
  const double want[] = {12, 12, 6};
  for (double derivative : want) {
    y = autograd::grad({y}, {x}, {ones({1})}, options)[0];
    EXPECT_EQ(values(y), (List{derivative}));
  }
}

TEST(Autograd, HooksOfTensors) {
  Tensor x = leaf({2});
  Tensor y = x * 2;
  y.retain_grad();
  autograd::HookHandle handle = y.register_hook([](const Tensor& g) { return g * 10; });
  y.sum().backward({}, true);
  EXPECT_EQ(values(y.grad()), (List{10, 10}));
  EXPECT_EQ(values(x.grad()), (List{20, 20}));
  handle.remove();
  handle.remove();
  x.set_grad({});
  int after = 0;
  x.register_hook([](const Tensor& g) { return g + 1; });
  x.register_post_accumulate_grad_hook([&](const Tensor& leaf) { after += static_cast<int>(values(leaf.grad())[0]); });
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (List{3, 3}));
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
  EXPECT_EQ(values(x.grad()), (List{6, 6}));
}

TEST(Autograd, RetainedGradientFollowsInPlaceWrites) {
  Tensor x = leaf({2});
  Tensor y = x * 2;
  y.retain_grad();
  y.mul_(3);
  y.sum().backward();
  EXPECT_EQ(values(y.grad()), (List{1, 1}));
  EXPECT_EQ(values(x.grad()), (List{6, 6}));
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
  EXPECT_EQ(values(x.grad()), (List{0, 1}));
  p.sum().backward();
  EXPECT_EQ(values(x.grad()), (List{1, 2}));
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

/// Every text of the specification's chapter that C++ can reach.
TEST(Autograd, Errors) {
  const std::string twice =
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
      "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
      "saved tensors after calling backward.";
  const std::string out =
      "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
      "grad.";
  const auto version = [](const char* of, const char* shape) {
    return std::string(
               "one of the variables needed for gradient computation has been modified by an inplace "
               "operation: [torch.FloatTensor ") +
           shape + "]" + of +
           " is at version 1; expected version 0 instead. Hint: enable anomaly detection to find the operation that "
           "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).";
  };
  const auto mode = [](const char* made, const char* found, const char* block) {
    return std::string("A view was created in ") + made + " mode and is being modified inplace " + found +
           ". Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
           "moving both the view and the inplace either both inside the " +
           block +
           " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
           "tracked).";
  };
  const std::string view_of_leaf =
      "a view of a leaf Variable that requires grad is being used in an in-place operation.";
  struct Case {
    const char* name;
    std::string want;
    std::function<void()> call;
  };
  const Case cases[] = {
      {"leaf_inplace", "a leaf Variable that requires grad is being used in an in-place operation.",
       [] { leaf({2}).add_(1); }},
      {"leaf_inplace_view", view_of_leaf, [] { leaf({2}).slice(0, 0, 1).add_(1); }},
      {"leaf_setitem", view_of_leaf, [] { leaf({2})[0].fill_(1); }},
      {"leaf_copy", "a leaf Variable that requires grad is being used in an in-place operation.",
       [] { leaf({2}).copy_(ones({2})); }},
      {"leaf_out", "neg" + out,
       [] {
         Tensor o = leaf({2});
         neg_out(o, ones({2}));
       }},
      {"out.input", "add" + out,
       [] {
         Tensor o = empty({2});
         add_out(o, leaf({2}), ones({2}));
       }},
      {"sum.out", "sum" + out,
       [] {
         Tensor o = empty({});
         sum_out(o, leaf({2}));
       }},
      {"mm.out", "mm" + out,
       [] {
         Tensor o = empty({2, 2});
         mm_out(o, leaf({2, 2}), ones({2, 2}));
       }},
      {"leaf_inplace_no_grad_ok", "accepted",
       [] {
         Tensor x = leaf({2});
         const NoGrad no_grad;
         x.add_(1);
       }},
      {"version", version(", which is output 0 of Exp,", "[2]"),
       [] {
         Tensor y = leaf({2}).exp();
         y.add_(1);
         y.sum().backward();
       }},
      {"version_input", version(", which is output 0 of Add,", "[2]"),
       [] {
         Tensor y = leaf({2}) * 1;
         const Tensor w = y * y;
         y.add_(1);
         w.sum().backward();
       }},
      {"version_zero_dim", version(", which is output 0 of Exp,", "[]"),
       [] {
         Tensor y = leaf({}).exp();
         y.add_(1);
         y.backward();
       }},
      {"version_leaf", version("", "[2]"),
       [] {
         Tensor x = leaf({2});
         const Tensor w = x * x;
         {
           const NoGrad no_grad;
           x.add_(1);
         }
         w.sum().backward();
       }},
      {"version_view", version(", which is output 0 of Exp,", "[3]"),
       [] {
         const Tensor x = leaf({3});
         const Tensor w = (x * 1).exp();
         w.slice(0, 0, 1).add_(1);
         w.sum().backward();
       }},
      {"scalar_only", "grad can be implicitly created only for scalar outputs", [] { (leaf({2}) * 2).backward(); }},
      {"no_grad_fn", "element 0 of tensors does not require grad and does not have a grad_fn",
       [] { ones({}).backward(); }},
      {"no_grad_fn_many", "element 0 of tensors does not require grad and does not have a grad_fn",
       [] { ones({2}).backward(); }},
      {"twice", twice,
       [] {
         const Tensor y = leaf({2}).exp().sum();
         y.backward();
         y.backward();
       }},
      {"twice_add_ok", "accepted",
       [] {
         const Tensor y = (leaf({2}) + 1).sum();
         y.backward();
         y.backward();
       }},
      {"grad_shape",
       "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of torch.Size([2]).",
       [] { (leaf({2}) * 2).backward(ones({3})); }},
      {"grad_shape_broadcastable",
       "Mismatch in shape: grad_output[0] has a shape of torch.Size([1]) and output[0] has a shape of torch.Size([2]).",
       [] { (leaf({2}) * 2).backward(ones({1})); }},
      {"grad_dtype_ok", "accepted", [] { (leaf({2}) * 2).backward(ones({2}, float64)); }},
      {"grad_unused",
       "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this "
       "is the desired behavior.",
       [] { autograd::grad({leaf({2}).sum()}, {leaf({2})}); }},
      {"grad_no_requires", "One of the differentiated Tensors does not require grad",
       [] { autograd::grad({leaf({2}).sum()}, {ones({2})}); }},
      {"grad_no_inputs", "`inputs` argument to `grad()` cannot be empty.",
       [] { autograd::grad({leaf({2}).sum()}, {}); }},
      {"requires_grad_int", "only Tensors of floating point dtype can require gradients",
       [] { ones({2}, int32).requires_grad_(); }},
      {"requires_grad_nonleaf",
       "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
       "subgraph "
       "that doesn't require differentiation use var_no_grad = var.detach().",
       [] { (leaf({2}) * 2).requires_grad_(false); }},
      {"nonleaf_grad",
       "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
       "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
       "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
       "sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
       [] {
         const Tensor y = leaf({2}) * 2;
         y.sum().backward();
         y.grad();
       }},
      {"retain_grad", "can't retain_grad on Tensor that has requires_grad=False", [] { ones({2}).retain_grad(); }},
      {"set_grad_shape",
       "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure that the gradient and "
       "the tensor are the same size",
       [] { leaf({2}).set_grad(ones({3})); }},
      {"set_grad_dtype",
       "attempting to assign a gradient with dtype 'double' to a tensor with grad_dtype 'Float'. The gradient must "
       "match "
       "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
       "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
       "its gradient may break downstream systems that assume they match.",
       [] { leaf({2}).set_grad(ones({2}, float64)); }},
      {"set_grad_self", "can't assign Variable as its own grad",
       [] {
         Tensor x = leaf({2});
         x.set_grad(x);
       }},
      {"detach_inplace",
       "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
       "training, "
       "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
       "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
       "torch/optim/optimizer.py as the solution.",
       [] { (leaf({2}) * 2).slice(0, 0, 1).detach_(); }},
      {"no_grad_view_inplace", mode("no_grad", "with grad mode enabled", "no_grad"),
       [] {
         const Tensor x = leaf({2}) * 1;
         Tensor y;
         {
           const NoGrad no_grad;
           y = x.slice(0, 0, 1);
         }
         y.add_(1);
       }},
      {"inference_view_inplace", mode("inference", "in normal mode", "inference_mode"),
       [] {
         const Tensor x = leaf({2}) * 1;
         Tensor y;
         {
           const InferenceMode inference;
           y = x.slice(0, 0, 1);
         }
         y.add_(1);
       }},
      {"inference_inplace",
       "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
       "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
       [] {
         Tensor x;
         {
           const InferenceMode inference;
           x = ones({2});
         }
         x.add_(leaf({2}));
       }},
      {"inference_saved",
       "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
       "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
       "in "
       "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
       [] {
         Tensor x;
         {
           const InferenceMode inference;
           x = ones({2});
         }
         leaf({2}) * x;
       }},
      {"inference_version", "Inference tensors do not track version counter.",
       [] {
         const InferenceMode inference;
         ones({2}).version();
       }},
      {"inference_requires_grad",
       "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
       [] {
         Tensor x;
         {
           const InferenceMode inference;
           x = ones({2});
         }
         x.requires_grad_();
       }},
      {"expanded_inplace",
       "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
       "Please clone() the tensor before performing the operation.",
       [] { (leaf({1}) * 1).expand({3}).add_(1); }},
      {"create_graph",
       "UserWarning: Using backward() with create_graph=True will create a reference cycle between the parameter and "
       "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
       "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None after "
       "use to break the cycle and avoid the leak.",
       [] {
         Tensor x = leaf({2});
         x.exp().sum().backward({}, {}, true);
         x.set_grad({});
       }},
      {"hook_not_required", "cannot register a hook on a tensor that doesn't require gradient",
       [] { ones({2}).register_hook([](const Tensor& g) { return g; }); }},
      {"post_hook_of_nonleaf", "post accumulate grad hooks cannot be registered on non-leaf tensors",
       [] { (leaf({2}) * 2).register_post_accumulate_grad_hook([](const Tensor&) {}); }},
      {"hook_shape", "hook has changed the size of value",
       [] {
         Tensor x = leaf({2});
         x.register_hook([](const Tensor&) { return ones({3}); });
         x.sum().backward();
       }},
      {"resize.requires_grad", "cannot resize variables that require grad", [] { leaf({2}).resize_({3}); }},
  };
  for (const Case& c : cases) EXPECT_EQ(text_of(c.call), c.want) << c.name;
}

// --- functions of one's own

struct Cube : autograd::Function<Cube> {
  static constexpr const char* name = "CubeBackward";
  static Tensors forward(autograd::Context& ctx, const Tensors& inputs) {
    const Tensor y = inputs[0] * inputs[0] * inputs[0];
    ctx.save_for_backward({inputs[0], y});
    ctx.save<int>(3);
    return {y};
  }
  static Tensors backward(autograd::Context& ctx, const Tensors& grads) {
    const Tensors saved = ctx.saved_tensors();
    return {grads[0] * ctx.saved<int>() * saved[0] * saved[0] + 0 * saved[1]};
  }
};

TEST(AutogradFunction, IsANodeLikeAnyOther) {
  Tensor x = tensor({2., 3.}, float64).requires_grad_();
  const Tensor y = Cube::apply({x})[0];
  EXPECT_EQ(to_string(y), "tensor([ 8., 27.], dtype=torch.float64, grad_fn=<CubeBackward>)");
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (List{12, 27}));
  const auto call = [](const Tensors& in) { return Cube::apply(in); };
  EXPECT_TRUE(autograd::gradcheck(call, {x}));
  EXPECT_TRUE(autograd::gradgradcheck(call, {x}));
  EXPECT_NE(text_of([&] { y.sum().backward(); }).find("a second time"), std::string::npos);
}

struct Scale : autograd::Function<Scale> {
  static constexpr const char* name = "ScaleBackward";
  static Tensors forward(autograd::Context& ctx, const Tensors& inputs) {
    EXPECT_EQ(ctx.needs_input_grad(0), inputs[0].requires_grad());
    Tensor x = inputs[0];
    x.mul_(2);
    ctx.mark_dirty({x});
    ctx.set_once_differentiable();
    return {x};
  }
  static Tensors backward(autograd::Context&, const Tensors& grads) { return {grads[0] * 2}; }
};

TEST(AutogradFunction, MayWriteToItsInput) {
  const Tensor x = leaf({2});
  const Tensor y = x * 1, z = Scale::apply({y})[0];
  EXPECT_TRUE(z.is(y));
  EXPECT_EQ(y.grad_fn().name(), "ScaleBackward");
  autograd::GradOptions options;
  options.create_graph = true;
  const Tensor g = autograd::grad({z.sum()}, {x}, {}, options)[0];
  EXPECT_EQ(values(g), (List{2, 2}));
  EXPECT_FALSE(g.requires_grad());
  EXPECT_EQ(text_of([&] { Scale::apply({x}); }),
            "a leaf Variable that requires grad has been used in an in-place operation.");
}

template <int kKind>
struct Wrong : autograd::Function<Wrong<kKind>> {
  static constexpr const char* name = "WrongBackward";
  static Tensors forward(autograd::Context&, const Tensors& inputs) { return {inputs[0] * 2}; }
  static Tensors backward(autograd::Context&, const Tensors& grads) {
    if (kKind == 0) return {ones({2, 2})};
    if (kKind == 1) return {grads[0], grads[0]};
    return {ones({2, 3})};
  }
};

TEST(AutogradFunction, ShapesAreValidated) {
  Tensor x = leaf({3});
  EXPECT_EQ(text_of([&] { Wrong<0>::apply({x})[0].sum().backward(); }),
            "Function WrongBackward returned an invalid gradient at index 0 - got [2, 2] but expected shape compatible "
            "with [3]");
  EXPECT_EQ(text_of([&] { Wrong<1>::apply({x})[0].sum().backward(); }),
            "Function WrongBackward returned an incorrect number of gradients (expected 1, got 2)");
  Wrong<2>::apply({x})[0].sum().backward();
  EXPECT_EQ(values(x.grad()), (List{2, 2, 2}));
  autograd::set_strict_shapes(true);
  const std::string text = text_of([&] { Wrong<2>::apply({x})[0].sum().backward(); });
  autograd::set_strict_shapes(false);
  EXPECT_EQ(text,
            "Function WrongBackward returned a gradient at index 0 of shape [2, 3] for an input of shape [3], which "
            "set_strict_shapes(true) does not sum down");
}

TEST(Autograd, AnomalyModeNamesTheForwardCall) {
  const autograd::DetectAnomaly anomaly;
  const Tensor x = zeros({2}).requires_grad_();
  const Tensor y = ((x - 1).sqrt() * 0).sum();
  try {
    y.backward();
    FAIL() << "a NaN passed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Function 'SqrtBackward0' returned nan values in its 0th output.");
    ASSERT_EQ(error.notes().size(), 1u);
    EXPECT_EQ(error.notes()[0],
              "Error detected in SqrtBackward0. Forward call that caused the error: sqrt(float32[2])");
  }
}

// --- size and threads

TEST(AutogradEngine, AChainOfAMillionNodes) {
  Tensor x = leaf({1});
  Tensor y = x;
  for (int i = 0; i < 1000000; ++i) y = y + 1;
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (List{1}));
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
  EXPECT_NEAR(bias.grad().item<double>(), 1e7, 65536);  // one unit in the last place
}

TEST(AutogradEngine, ManyThreadsOnSeparateGraphsOverOneLeaf) {
  Tensor x = leaf({8});
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i)
    threads.emplace_back([&] {
      for (int k = 0; k < 500; ++k) ((x * 2).exp() * 0 + x).sum().backward();
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(values(x.grad()), List(8, 2000));
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
  EXPECT_EQ(values(w.grad()), (List{3, 3}));
  EXPECT_EQ(values(x.grad()), (List{2, 2}));
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

/// In place whatever the grad's layout, several of them in one run; values and identity as PyTorch has them.
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
  EXPECT_EQ(values(gaps.grad()), (List{9, 13, 17, 21}));
  EXPECT_EQ(values(memory), (List{9, 1, 13, 1, 17, 1, 21, 1}));
  EXPECT_EQ(values(plain.grad()), values(gaps.grad()));
  EXPECT_EQ(values(columns.grad()), (List{1, 3, 5, 7, 9, 11, 13, 15}));
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
    for (const Tensor& each : {overlapping, gaps, plain}) EXPECT_EQ(values(each.grad()), List(8, 1));
  }
}

/// `data` may have become another dtype since.
TEST(AutogradEngine, AGradOfAnotherDtypeKeepsIt) {
  Tensor x = leaf({3});
  x.sum().backward();
  const Tensor grad = x.grad();
  x.set_data(ones({3}, float64));
  x.sum().backward();
  EXPECT_TRUE(x.grad().is(grad));
  EXPECT_EQ(grad.dtype(), float32);
  EXPECT_EQ(values(grad), (List{2, 2, 2}));
}

/// The view itself is in no graph: nothing gets a gradient, as in PyTorch.
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
