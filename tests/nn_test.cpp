// Layers of tenon/nn.h, and other functions that are composed of ops, give PyTorch's values, gradients, random numbers
// and error texts. The values are those of PyTorch 2.13.
#include <gtest/gtest.h>

#include <string>

#include "error_text.h"
#include "tenon/tenon.h"

namespace {

using namespace tenon;

struct Case {
  const char* want;
  Tensor got;
};
#define EXPECT_CASES(...) \
  for (const Case& c : std::initializer_list<Case> __VA_ARGS__) EXPECT_EQ(to_string(c.got), c.want)

Tensor seeded(Tensor (*layer)(const Tensor&, double, bool), SizesView sizes, double p) {
  manual_seed(3);
  return layer(ones(sizes), p, true).reshape({-1});
}
Tensor seeded_inplace(Tensor& (*layer)(Tensor&, double, bool), SizesView sizes, double p) {
  manual_seed(3);
  Tensor input = ones(sizes);
  EXPECT_TRUE(layer(input, p, true).is(input));
  return input.reshape({-1});
}

TEST(Dropout, DrawsTheNumbersOfPyTorch) {
  const char* const zeros_or_2 = "tensor([2., 2., 0., 2., 0., 0., 2., 2.])";
  const char* const alphas = "tensor([ 1.2484,  1.2484, -1.1435,  1.2484, -1.1435,  1.2484])";
  const char* const channels = "tensor([2., 2., 2., 2., 0., 0., 2., 2.])";
  EXPECT_CASES({
      {zeros_or_2, seeded(dropout, {8}, 0.5)},
      {zeros_or_2, seeded_inplace(dropout_, {8}, 0.5)},
      {alphas, seeded(alpha_dropout, {6}, 0.25)},
      {alphas, seeded_inplace(alpha_dropout_, {6}, 0.25)},
      {channels, seeded(feature_dropout, {1, 4, 2}, 0.5)},
      {channels, seeded_inplace(feature_dropout_, {1, 4, 2}, 0.5)},
      {alphas, seeded(feature_alpha_dropout, {1, 6}, 0.25)},
      {alphas, seeded_inplace(feature_alpha_dropout_, {1, 6}, 0.25)},
  });
}

TEST(Dropout, OfNothingIsTheInput) {
  const Tensor x = ones({2, 3});
  EXPECT_TRUE(dropout(x, 0, true).is(x));
  EXPECT_TRUE(alpha_dropout(x, 0.5, false).is(x));
  EXPECT_EQ(to_string(dropout(x, 1, true).sum()), "tensor(0.)");
}

TEST(Normalization, HasPyTorchsValues) {
  const Tensor x = arange(6., Options(float32)).reshape({2, 3}), mean = zeros({3}), variance = ones({3});
  const Tensor in_training = batch_norm(x, {}, {}, mean, variance, true, 0.5, 1.75);
  const Tensor weight = tensor({1., 2., 3.}), bias = tensor({0., 1., 0.});
  const Tensor y = arange(8., Options(float32)).reshape({1, 2, 4});
  EXPECT_CASES({
      {"tensor([[-0.7500, -0.7500, -0.7500],\n        [ 0.7500,  0.7500,  0.7500]])", in_training},
      {"tensor([0.7500, 1.2500, 1.7500])", mean},
      {"tensor([2.7500, 2.7500, 2.7500])", variance},
      {"tensor([[-0.4330,  0.7113,  0.4330],\n        [ 1.2990,  4.1754,  5.6292]])",
       batch_norm(x, weight, bias, mean, variance, false, 0.5, 0.25)},
      {"tensor([[[-1.3416, -0.4472,  0.4472,  1.3416],\n         [-1.3416, -0.4472,  0.4472,  1.3416]]])",
       instance_norm(y, {}, {}, {}, {}, true, 0.1, 1e-5)},
      {"tensor([[0.6000, 0.8000],\n        [0.0000, 0.0000]])", normalize(tensor({3., 4., 0., 0.}).reshape({2, 2}))},
  });
}

TEST(Embedding, HasGradientsOfRows) {
  const Tensor weight = arange(8., Options(float32)).reshape({4, 2}).requires_grad_();
  embedding(weight, tensor({1, 1, 3, 0}).reshape({2, 2}), 0, true).sum().backward();
  Tensor table = tensor({3., 4., 0.3, 0.4, 6., 8.}).reshape({3, 2});
  EXPECT_CASES({
      {"tensor([[0., 0.],\n        [1., 1.],\n        [0., 0.],\n        [1., 1.]])", weight.grad()},
      {"tensor([[0.6000, 0.8000],\n        [0.3000, 0.4000],\n        [6.0000, 8.0000]])",
       embedding_renorm_(table, tensor({0, 1}), 1, 2)},
  });
}

TEST(Attention, LooksWhereItMay) {
  const Tensor q = tensor({1., 0., 0., 1., 1., 1.}).reshape({3, 2});
  const Tensor mask = tensor({1, 0, 0, 0, 0, 0, 1, 1, 1}).to(bool_).reshape({3, 3});
  EXPECT_CASES({
      {"tensor([[1.0000, 0.0000],\n        [0.2689, 0.7311],\n        [0.7881, 0.7881]])",
       scaled_dot_product_attention(q, q, q, {}, 0, true, 1.0)},
      {"tensor([[1.0000, 0.0000],\n        [0.0000, 0.0000],\n        [0.7517, 0.7517]])",
       scaled_dot_product_attention(q, q, q, mask)},
  });
}

TEST(Layers, AreDifferentiated) {
  const Tensor x = randn({4, 3}, float64).requires_grad_(), w = rand({3}, float64).requires_grad_();
  const auto layers = [](const autograd::Tensors& given) -> autograd::Tensors {
    const Tensor &a = given[0], &b = given[1];
    const Tensor mean = full({3}, 0.25, float64), variance = full({3}, 2, float64);
    return {batch_norm(a, b, b, {}, {}, true, 0.1, 1e-5),
            batch_norm(a, b, b, mean, variance, false, 0.1, 1e-5),
            normalize(a),
            scaled_dot_product_attention(a, a * 2, a * b),
            embedding(a, tensor({1, 1, 2})),
            chain_matmul({a, a.t(), a})};
  };
  EXPECT_TRUE(autograd::gradcheck(layers, {x, w}));
}

TEST(ClipGradNorm, LimitsTheNormOfAll) {
  Tensor a = ones({2}).requires_grad_(), b = ones({3}).requires_grad_(), without = ones({1}).requires_grad_();
  a.set_grad(tensor({3., 0.}));
  b.set_grad(tensor({0., 4., 0.}));
  EXPECT_EQ(autograd::clip_grad_norm_({a, b, without}, 1), 5);
  EXPECT_CASES({{"tensor([0.6000, 0.0000])", a.grad()}, {"tensor([0.0000, 0.8000, 0.0000])", b.grad()}});
  autograd::clip_grad_value_({a, b, without}, 0.5);
  EXPECT_CASES({{"tensor([0.5000, 0.0000])", a.grad()}, {"tensor([0.0000, 0.5000, 0.0000])", b.grad()}});
  a.set_grad(tensor({1. / 0., 0.}));
  EXPECT_EQ(
      error_text([&] { autograd::clip_grad_norm_({a}, 1, 2, true); }),
      "The total norm of order 2 for gradients from `parameters` is non-finite, so it cannot be clipped. To disable "
      "this error and scale the gradients with the non-finite norm anyway, set `error_if_nonfinite=false`");
}

TEST(IndexPut, TakesTensorsAndAdds) {
  const Tensor x = zeros({3}), places = tensor({1, 1}), values = tensor({2., 5.});
  EXPECT_CASES({{"tensor([0., 7., 0.])", index_put(x, {places}, values, true)}, {"tensor([0., 0., 0.])", x}});
  Tensor y = x.clone();
  EXPECT_TRUE(index_put_(y, {places}, values).is(y));
  EXPECT_EQ(to_string(y), "tensor([0., 5., 0.])");
}

TEST(Layers, RefuseInPyTorchsWords) {
  const Tensor x = ones({2, 3}), q = ones({3, 2}), three = ones({3});
  const auto normalized = [&](const Tensor& input, const Tensor& weight, const Tensor& mean, bool training) {
    return [=] { batch_norm(input, weight, {}, mean, {}, training, 0.1, 1e-5); };
  };
  const struct {
    const char* want;
    std::string got;
  } cases[] = {
      {"dropout probability has to be between 0 and 1, but got 1.5", error_text([&] { dropout(x, 1.5, true); })},
      {"Feature dropout requires at least 2 dimensions in the input",
       error_text([&] { feature_dropout(three, 0.5, true); })},
      {"weight should contain 3 elements not 2", error_text(normalized(x, ones({2}), {}, true))},
      {"running_mean must be defined in evaluation mode", error_text(normalized(x, {}, {}, false))},
      {"running_mean and running_var must either both be None or neither be None",
       error_text(normalized(x, {}, three, true))},
      {"\"batch_norm\" not implemented for 'Long'", error_text(normalized(x.to(int64), {}, {}, true))},
      {"mixed dtype (CPU): expect parameter to have scalar type of Float",
       error_text(normalized(x, three.to(float64), {}, true))},
      {"Expected running_mean and running_var to be defined when use_input_stats is false",
       error_text([&] { instance_norm(x, {}, {}, {}, {}, false, 0.1, 1e-5); })},
      {"Dimension specified as 0 but tensor has no dimensions",
       error_text([&] { instance_norm(scalar_tensor(1), {}, {}, {}, {}, true, 0.1, 1e-5); })},
      {"'weight' must be 2-D", error_text([&] { embedding(three, tensor({0})); })},
      {"Expected tensor for argument #1 'indices' to have one of the following scalar types: Long, Int; but got "
       "torch.FloatTensor instead (while checking arguments for embedding)",
       error_text([&] { embedding(x, three); })},
      {"Expected query, key, and value to have the same dtype, but got query.dtype: float key.dtype: double and "
       "value.dtype: float instead.",
       error_text([&] { scaled_dot_product_attention(q, q.to(float64), q); })},
      {"Expected query, key, and value to all be  at least 2 dimensional, but got query.dim: 1 key.dim: 2 and "
       "value.dim: "
       "2 instead.",
       error_text([&] { scaled_dot_product_attention(three, q, q); })},
      {"_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True", error_text([&] {
         scaled_dot_product_attention(q, q, q, ones({3, 3}), 0, true);
       })},
      {"Tensor dimension is 1, expected 2 instead.", error_text([&] {
         chain_matmul({three, q});
       })},
      {"chain_matmul(): Expected one or more matrices", error_text([&] { chain_matmul({}); })},
  };
  for (const auto& c : cases) EXPECT_EQ(c.got, c.want);
}

}  // namespace
