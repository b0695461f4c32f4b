// Gradients, and gradients of gradients, equal finite differences: every differentiable op over every pair of shapes
// that broadcast (0-dim and zero-size included), every view, in place.
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

#include "declared.h"
#include "tenon/tenon.h"

namespace {

using namespace tenon;
using autograd::Tensors;

/// Distinct values, away from 0 and from each other, where all ops below are smooth.
Tensor leaf(SizesView sizes, double first) {
  const int64_t numel = numel_of(sizes);
  Tensor values = (arange(numel).to(float64) * 0.37 + first).reshape(sizes);
  return values.clone().requires_grad_();
}

const std::vector<Dims> kShapes = {{}, {1}, {3}, {0}, {2, 1}, {1, 3}, {2, 3}, {2, 0}, {2, 1, 3}};

struct Binary {
  const char* name;
  std::function<Tensor(const Tensor&, const Tensor&)> call;
};
const std::vector<Binary> kBinary = {
    {"add", [](const Tensor& a, const Tensor& b) { return add(a, b); }},
    {"add, alpha", [](const Tensor& a, const Tensor& b) { return add(a, b, 1.5); }},
    {"sub", [](const Tensor& a, const Tensor& b) { return sub(a, b); }},
    {"sub, alpha", [](const Tensor& a, const Tensor& b) { return sub(a, b, 2); }},
    {"mul", [](const Tensor& a, const Tensor& b) { return mul(a, b); }},
    {"div", [](const Tensor& a, const Tensor& b) { return div(a, b); }},
    {"maximum", [](const Tensor& a, const Tensor& b) { return maximum(a, b); }},
    {"minimum", [](const Tensor& a, const Tensor& b) { return minimum(a, b); }},
    {"clamp, min", [](const Tensor& a, const Tensor& b) { return a.clamp(b); }},
    {"clamp, max", [](const Tensor& a, const Tensor& b) { return a.clamp(std::nullopt, b); }},
    {"clamp", [](const Tensor& a, const Tensor& b) { return a.clamp(b, b + 0.9); }},
    {"where", [](const Tensor& a, const Tensor& b) { return where(a < b, a, b); }},
    {"copy_", [](const Tensor& a, const Tensor& b) { return (a + b).mul_(1.0).copy_(b); }},
    {"mul_", [](const Tensor& a, const Tensor& b) { return (a + b).mul_(b); }},
    {"div_", [](const Tensor& a, const Tensor& b) { return (a * b).div_(b).exp_(); }},
};

TEST(Gradcheck, EveryFold) {
  int checked = 0;
  for (const Schema& schema : schemas()) {
    if (!schema.is_fold()) continue;
    for (const Dims& sizes : {Dims{2, 3}, Dims{2, 2, 2}, Dims{5}}) {
      for (declared::Call& call : declared::calls(schema, [](int) { return Value(Tensor()); })) {
        const auto function = [&](const Tensors& in) {
          call.values[0] = in[0];
          return Tensors{schema.function(call.values.data())[0]};
        };
        const Tensors inputs{leaf(sizes, -0.9)};
        try {
          if (!function(inputs)[0].requires_grad()) continue;
        } catch (const Error&) {  // a dim that does not exist, or prod over several dims
          continue;
        }
        ++checked;
        const std::string where = schema.name + call.says + " of " + to_string(sizes);
        ASSERT_NO_THROW(autograd::gradcheck(function, inputs)) << where;
        ASSERT_NO_THROW(autograd::gradgradcheck(function, inputs)) << where;
      }
    }
  }
  EXPECT_GT(checked, 100);
}

TEST(Gradcheck, AProductWithZeros) {
  for (const std::initializer_list<double> values :
       {std::initializer_list<double>{2, 0, 3}, {0, 2, 0, 3}, {0, 0, 0, 1}}) {
    Tensor x = empty({static_cast<int64_t>(values.size())}, float64);
    std::copy(values.begin(), values.end(), x.data<double>());
    x.requires_grad_();
    const auto call = [](const Tensors& in) { return Tensors{prod(in[0])}; };
    EXPECT_NO_THROW(autograd::gradcheck(call, {x}));
    EXPECT_NO_THROW(autograd::gradgradcheck(call, {x}));
  }
}

TEST(Gradcheck, BinaryOpsOverBroadcastPairs) {
  int pairs = 0;
  for (const Binary& op : kBinary) {
    for (const Dims& x : kShapes) {
      for (const Dims& y : kShapes) {
        if (!is_broadcastable(x, y)) continue;
        ++pairs;
        const auto call = [&](const Tensors& in) { return Tensors{op.call(in[0], in[1])}; };
        const Tensors inputs{leaf(x, 0.55), leaf(y, 0.9)};
        const std::string where = std::string(op.name) + " of " + to_string(x) + " and " + to_string(y);
        ASSERT_NO_THROW(autograd::gradcheck(call, inputs)) << where;
        ASSERT_NO_THROW(autograd::gradgradcheck(call, inputs)) << where;
      }
    }
  }
  EXPECT_EQ(pairs, 65 * static_cast<int>(kBinary.size()));
}

struct Unary {
  const char* name;
  std::function<Tensor(const Tensor&)> call;
};

void check(const std::vector<Unary>& ops, const std::vector<Dims>& shapes) {
  for (const Unary& op : ops) {
    for (const Dims& shape : shapes) {
      const auto call = [&](const Tensors& in) { return Tensors{op.call(in[0])}; };
      const std::string where = std::string(op.name) + " of " + to_string(shape);
      ASSERT_NO_THROW(autograd::gradcheck(call, {leaf(shape, 0.3)})) << where;
      ASSERT_NO_THROW(autograd::gradgradcheck(call, {leaf(shape, 0.3)})) << where;
    }
  }
}

TEST(Gradcheck, UnaryOpsAndReductions) {
  check(
      {
          {"neg", [](const Tensor& x) { return -x; }},
          {"abs", [](const Tensor& x) { return (x - 1).abs(); }},
          {"reciprocal", [](const Tensor& x) { return x.reciprocal(); }},
          {"square", [](const Tensor& x) { return x.square(); }},
          {"sqrt", [](const Tensor& x) { return x.sqrt(); }},
          {"exp", [](const Tensor& x) { return x.exp(); }},
          {"log", [](const Tensor& x) { return x.log(); }},
          {"tanh", [](const Tensor& x) { return x.tanh(); }},
          {"a number first", [](const Tensor& x) { return 2 / (3 - x * 0.25); }},
          {"clamp", [](const Tensor& x) { return x.clamp(0.5, 1.4); }},
          {"clamp, min", [](const Tensor& x) { return x.clamp(0.5); }},
          {"clamp, max", [](const Tensor& x) { return x.clamp(std::nullopt, 1.4); }},
          {"where with a number", [](const Tensor& x) { return where(x < 0.8, x * x, 3.0); }},
          {"sum", [](const Tensor& x) { return (x * x).sum(); }},
          {"mean", [](const Tensor& x) { return (x * x).mean(); }},
          {"clone", [](const Tensor& x) { return x.clone() * x; }},
          {"exp_", [](const Tensor& x) { return (x * 0.5).exp_(); }},
          {"square_", [](const Tensor& x) { return (x * 0.5).square_(); }},
          {"fill_", [](const Tensor& x) { return (x * 1).fill_(2) * x; }},
          {"zero_", [](const Tensor& x) { return (x * 1).zero_() + x; }},
      },
      {{}, {3}, {2, 3}, {2, 1, 3}});
  check(
      {
          {"sum of rows", [](const Tensor& x) { return (x * x).sum(-1); }},
          {"sum, keepdim", [](const Tensor& x) { return (x * x).sum(0, true); }},
          {"sum of two dims",
           [](const Tensor& x) {
             return (x * x).sum({0, 1});
           }},
          {"mean of rows", [](const Tensor& x) { return (x * x).mean(-1); }},
          {"amax", [](const Tensor& x) { return x.amax(-1); }},
          {"amax of all", [](const Tensor& x) { return (x * x).amax(); }},
          {"amin, keepdim", [](const Tensor& x) { return x.amin(0, true); }},
          {"sum_to_size",
           [](const Tensor& x) {
             return (x * x).sum_to_size({1, 3});
           }},
          {"softmax",
           [](const Tensor& x) {
             const Tensor e = (x - x.amax(-1, true)).exp();
             return e / e.sum(-1, true);
           }},
          {"mm", [](const Tensor& x) { return x.mm(x.t()).mm(x); }},
      },
      {{2, 3}});
}

TEST(Gradcheck, Views) {
  const auto squares = [](const Tensor& x) { return x * x; };
  check(
      {
          {"expand",
           [&](const Tensor& x) {
             return squares(x.expand({4, 2, 3}));
           }},
          {"expand of a size 1",
           [&](const Tensor& x) {
             return squares(x.select(0, 0).unsqueeze(1).expand({3, 4}));
           }},
          {"view",
           [&](const Tensor& x) {
             return squares(x.view({3, 2}));
           }},
          {"reshape of a transpose", [&](const Tensor& x) { return squares(x.t().reshape({6})); }},
          {"unsqueeze", [&](const Tensor& x) { return squares(x.unsqueeze(1)); }},
          {"squeeze", [&](const Tensor& x) { return squares(x.unsqueeze(1).squeeze()); }},
          {"squeeze of a dim", [&](const Tensor& x) { return squares(x.unsqueeze(1).squeeze(1)); }},
          {"transpose", [&](const Tensor& x) { return squares(x.transpose(0, 1)); }},
          {"permute",
           [&](const Tensor& x) {
             return squares(x.unsqueeze(0).permute({2, 0, 1}));
           }},
          {"movedim", [&](const Tensor& x) { return squares(x.unsqueeze(0).movedim(0, 2)); }},
          {"select", [&](const Tensor& x) { return squares(x.select(1, -1)); }},
          {"slice", [&](const Tensor& x) { return squares(x.slice(1, 0, 3, 2)); }},
          {"narrow", [&](const Tensor& x) { return squares(x.narrow(1, 1, 2)); }},
          {"empty slice", [&](const Tensor& x) { return squares(x.slice(1, 2, 2)); }},
          {"unfold", [&](const Tensor& x) { return squares(x.unfold(-1, 2, 1)); }},
          {"diagonal", [&](const Tensor& x) { return squares(x.diagonal(1)); }},
          {"as_strided",
           [&](const Tensor& x) {
             return squares(x.as_strided({2, 2}, {1, 2}, 1));
           }},
          {"as_strided that overlaps",
           [&](const Tensor& x) {
             return squares(x.as_strided({3, 3}, {1, 1}));
           }},
          {"index",
           [&](const Tensor& x) {
             return squares(x.index({Ellipsis, Slice(1), None}));
           }},
          {"index with places, one of them twice",
           [&](const Tensor& x) {
             return squares(x.index({tensor({1, 0, 1})}));
           }},
          {"index with places that are apart",
           [&](const Tensor& x) {
             return squares(x.unsqueeze(1).index({tensor({1, 0}), None, Slice(), tensor({{2}, {2}})}));
           }},
          {"index with a mask", [&](const Tensor& x) { return squares(x.index({x > 0.7})); }},
          {"a write at places",
           [&](const Tensor& x) {
             Tensor y = x * 2;
             y.index_put_({Slice(), tensor({2, 0})}, x.index({Slice(), Slice(0, 1)}));
             return squares(y);
           }},
          {"a write at places of a view",
           [&](const Tensor& x) {
             Tensor y = x * 2;
             y.t().index_put_({1, tensor({1})}, x[0].index({0}));
             return squares(y);
           }},
          {"operator[]", [&](const Tensor& x) { return squares(x[1]); }},
          {"flatten", [&](const Tensor& x) { return squares(x.flatten()); }},
          {"contiguous", [&](const Tensor& x) { return squares(x.t().contiguous()); }},
          {"mT", [&](const Tensor& x) { return squares(x.mT()); }},
          {"a write into a slice",
           [&](const Tensor& x) {
             Tensor y = x * 2;
             y.slice(1, 0, 2).mul_(x.select(1, 2).unsqueeze(1));
             return squares(y);
           }},
          {"a write into a view of a view",
           [&](const Tensor& x) {
             Tensor y = x * 2;
             y.t().select(0, 1).copy_(x.select(1, 0).exp());
             return y * x;
           }},
          {"a write into zeros",
           [&](const Tensor& x) {
             Tensor y = zeros({3, 2}, float64);
             y.t().add_(x);
             y[0].mul_(x.select(1, 0));
             return squares(y);
           }},
          {"a fill of a part",
           [&](const Tensor& x) {
             Tensor y = x * x;
             y[0].fill_(3);
             return y * x;
           }},
      },
      {{2, 3}});
}

TEST(Gradcheck, DtypesMeet) {
  const Tensor x = leaf({3}, 0.4), y = (arange(3).to(float32) + 1).requires_grad_();
  (x * y).sum().backward();
  EXPECT_EQ(y.grad().dtype(), float32);
  EXPECT_EQ(x.grad().dtype(), float64);
  const auto call = [](const Tensors& in) {
    return Tensors{(in[0].to(float64) * tensor({1, 2, 3})).to(float64) * in[0]};
  };
  EXPECT_TRUE(autograd::gradcheck(call, {leaf({2, 3}, 0.4)}));
}

TEST(Gradcheck, AWrongGradientIsReportedWithBothJacobians) {
  const auto wrong = [](const Tensors& in) { return Tensors{in[0].detach() * in[0]}; };
  try {
    autograd::gradcheck(wrong, {ones({2}, float64).requires_grad_()});
    FAIL() << "the wrong gradient passed";
  } catch (const autograd::GradcheckError& error) {
    EXPECT_STREQ(error.what(),
                 "Jacobian mismatch for output 0 with respect to input 0,\n"
                 "numerical:tensor([[2.0000, 0.0000],\n        [0.0000, 2.0000]], dtype=torch.float64)\n"
                 "analytical:tensor([[1., 0.],\n        [0., 1.]], dtype=torch.float64)\n");
  }
  EXPECT_THROW(autograd::gradcheck(wrong, {ones({2}, float64)}), ValueError);
  EXPECT_THROW(autograd::gradcheck(wrong, {ones({2}).requires_grad_()}), ValueError);
}

}  // namespace
