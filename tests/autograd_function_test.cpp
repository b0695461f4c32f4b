// Custom functions: saved values, in-place writes to inputs, validated shapes.
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

/// Two results of four inputs, and one without a gradient.
struct Several : autograd::Function<Several> {
  static constexpr const char* name = "SeveralBackward";
  static inline bool materialize = true;
  static inline std::vector<bool> defined;
  static Tensors forward(autograd::Context& ctx, const Tensors& inputs) {
    ctx.set_materialize_grads(materialize);
    const Tensor constant = inputs[0] * 0;
    ctx.mark_non_differentiable({constant});
    return {inputs[0] * 2 + inputs[1] + inputs[2], inputs[0] * 3 + inputs[3], constant};
  }
  static Tensors backward(autograd::Context&, const Tensors& grads) {
    defined.clear();
    for (const Tensor& grad : grads) defined.push_back(grad.defined());
    const Tensor zero = zeros({2}), first = grads[0].defined() ? grads[0] : zero,
                 second = grads[1].defined() ? grads[1] : zero;
    return {first * 2 + second * 3, first, first, second};
  }
};

TEST(AutogradFunction, OfSeveralResults) {
  const Tensors x = {leaf({2}), leaf({2}), leaf({2}), leaf({2})};
  const auto gradients = [&](const Tensors& of) {
    Tensor sum = zeros({});
    for (const Tensor& result : of) sum = sum + result.sum();
    std::vector<Values> all;
    for (const Tensor& grad : autograd::grad({sum}, x)) all.push_back(values(grad));
    return all;
  };
  Tensors y = Several::apply(x);
  EXPECT_FALSE(y[2].requires_grad());
  EXPECT_EQ(y[1].output_nr(), 1);
  EXPECT_EQ(gradients({y[0], y[1]}), (std::vector<Values>{{5, 5}, {1, 1}, {1, 1}, {1, 1}}));
  y = Several::apply(x);
  EXPECT_EQ(gradients({y[1]}), (std::vector<Values>{{3, 3}, {0, 0}, {0, 0}, {1, 1}}));
  EXPECT_EQ(Several::defined, (std::vector<bool>{true, true, true})) << "zeros stand for what has no gradient";
  Several::materialize = false;
  y = Several::apply(x);
  Several::materialize = true;
  EXPECT_EQ(gradients({y[1]}), (std::vector<Values>{{3, 3}, {0, 0}, {0, 0}, {1, 1}}));
  EXPECT_EQ(Several::defined, (std::vector<bool>{false, true, false}));
}

template <int kResults>
struct WriteToView : autograd::Function<WriteToView<kResults>> {
  static constexpr const char* name = "WriteToViewBackward";
  static Tensors forward(autograd::Context& ctx, const Tensors& inputs) {
    Tensor x = inputs[0];
    x.fill_(7);
    ctx.mark_dirty({x});
    return kResults == 1 ? Tensors{x} : Tensors{x, x * 2};
  }
  static Tensors backward(autograd::Context&, const Tensors&) { return {Tensor()}; }
};

TEST(AutogradFunction, WritesToAView) {
  const Tensor x = leaf({2, 2});
  Tensor y = x * 3;
  WriteToView<1>::apply({y[0]});
  EXPECT_EQ(values(y), (Values{7, 7, 3, 3}));
  EXPECT_EQ(values(autograd::grad({y.sum()}, {x})[0]), (Values{0, 0, 3, 3})) << "an undefined gradient counts as zeros";
  const std::string refused = text_of([&] { WriteToView<2>::apply({(x * 3)[0]}); });
  EXPECT_EQ(refused.substr(0, refused.find('.')),
            "If your Function modifies inplace an input that is a view of another Tensor, your Function cannot return "
            "more than one Tensor");
}

struct Elsewhere : autograd::Function<Elsewhere> {
  static constexpr const char* name = "ElsewhereBackward";
  static Tensors forward(autograd::Context&, const Tensors& inputs) { return {inputs[0] * 2}; }
  static Tensors backward(autograd::Context&, const Tensors&) { return {ones({2}, {float32, Device::meta})}; }
};

TEST(AutogradFunction, GradientsLieWhereTheirTensorsDo) {
  EXPECT_EQ(text_of([] { Elsewhere::apply({leaf({2})})[0].sum().backward(); }),
            "Function ElsewhereBackward returned an invalid gradient at index 0 - expected device cpu but got meta");
}

}  // namespace
