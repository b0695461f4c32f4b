// Functions of one's own are nodes like any other: saved values, writes to inputs, shapes that are validated.
#include <gtest/gtest.h>

#include <string>

#include "autograd_tests.h"

namespace {

using namespace tenon;
using namespace autograd_tests;
using autograd::Tensors;

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
  EXPECT_EQ(values(x.grad()), (Values{12, 27}));
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
  EXPECT_EQ(values(g), (Values{2, 2}));
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
  EXPECT_EQ(values(x.grad()), (Values{2, 2, 2}));
  autograd::set_strict_shapes(true);
  const std::string text = text_of([&] { Wrong<2>::apply({x})[0].sum().backward(); });
  autograd::set_strict_shapes(false);
  EXPECT_EQ(text,
            "Function WrongBackward returned a gradient at index 0 of shape [2, 3] for an input of shape [3], which "
            "set_strict_shapes(true) does not sum down");
}

}  // namespace
