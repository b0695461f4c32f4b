// A gradient comes down to the shape of what was broadcast: against plain sums over indices, whatever its layout.
#include "autograd/reduce_grad.h"

#include <gtest/gtest.h>

#include <cmath>
#include <functional>
#include <random>
#include <string>
#include <vector>

#include "tenon/autograd.h"
#include "tenon/custom_op.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/storage.h"

namespace tenon::autograd {
namespace {

int64_t product(SizesView sizes) { return numel_of(sizes); }

/// Row-major values of a tensor.
std::vector<double> values(const Tensor& tensor) {
  const Tensor dense = tensor.to(float64).contiguous();
  const double* data = dense.data<double>();
  return {data, data + dense.numel()};
}

/// The sums that `sum_to` promises, index by index.
std::vector<double> sums(const Tensor& grad, SizesView sizes) {
  const std::vector<double> from = values(grad);
  std::vector<double> to(static_cast<std::size_t>(product(sizes)), 0);
  for (std::size_t i = 0; i < from.size(); ++i) {
    int64_t rest = static_cast<int64_t>(i), place = 0, step = 1;
    for (int64_t dim = grad.dim() - 1, own = sizes.size() - 1; dim >= 0; --dim, --own) {
      const int64_t index = rest % grad.sizes()[dim];
      rest /= grad.sizes()[dim];
      if (own < 0) continue;
      if (sizes[own] != 1) place += index * step;
      step *= sizes[own];
    }
    to[static_cast<std::size_t>(place)] += from[i];
  }
  return to;
}

/// Small whole numbers, so that sums are exact.
Tensor counted(SizesView sizes) {
  Tensor counted = empty(sizes, float64);
  for (int64_t i = 0; i < counted.numel(); ++i) counted.data<double>()[i] = static_cast<double>(i * 7 % 5 - 1);
  return counted;
}

/// Some dims expanded, some transposed, some with gaps.
Tensor random_gradient(SizesView shape, Dtype dtype, std::mt19937& random) {
  Dims sizes = shape.copy();
  for (int64_t& size : sizes)
    if (random() % 3 == 0) size = 1;
  const bool gaps = !sizes.empty() && random() % 4 == 0;
  if (gaps) sizes[0] *= 2;
  Tensor grad = counted(sizes).to(dtype);
  if (sizes.size() > 1 && random() % 3 == 0) grad = grad.transpose(0, -1).contiguous().transpose(0, -1);
  if (gaps) grad = grad.slice(0, 0, {}, 2);
  return grad.expand(shape);
}

TEST(ReduceGrad, SumsOverWhatABroadcastRepeated) {
  const NoGrad no_grad;
  std::mt19937 random(7);
  for (int round = 0; round < 4000; ++round) {
    Dims shape, sizes;
    for (unsigned dims = random() % 5; dims > 0; --dims) shape.push_back(1 + random() % 4);
    const Dtype dtype = std::vector<Dtype>{float32, float64, float16, bfloat16}[random() % 4];
    const Tensor grad = random_gradient(shape, dtype, random);
    for (int64_t dim = random() % (shape.size() + 1); dim < shape.size(); ++dim)
      sizes.push_back(random() % 2 ? 1 : shape[dim]);
    const Tensor reduced = reduce_grad(grad, sizes);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + to_string(shape) + ", strides " + to_string(grad.strides()) +
                 ", to " + to_string(sizes));
    ASSERT_EQ(to_string(reduced.sizes()), to_string(sizes));
    ASSERT_EQ(reduced.dtype(), dtype);
    ASSERT_EQ(values(reduced), sums(grad, sizes));
  }
}

/// What is left of `shape` when some of its dims are broadcast.
Dims some_of(SizesView shape, std::mt19937& random) {
  Dims sizes;
  for (int64_t dim = random() % 3 == 0 ? 1 : 0; dim < shape.size(); ++dim)
    sizes.push_back(random() % 2 ? 1 : shape[dim]);
  return sizes;
}

/// Rounded to a dtype, as a gradient is.
std::vector<double> rounded(const std::vector<double>& exact, Dtype dtype) {
  Tensor wide = empty({static_cast<int64_t>(exact.size())}, float64);
  for (std::size_t i = 0; i < exact.size(); ++i) wide.data<double>()[i] = exact[i];
  return values(wide.to(dtype));
}

TEST(ReduceGrad, OfAProductOfAnySize) {
  std::mt19937 random(11);
  for (int round = 0; round < 300; ++round) {
    const Dims shape = round % 2 ? Dims{2, 3, 4} : Dims{20, 30, 8};
    const Dtype dtype = std::vector<Dtype>{float32, float64, bfloat16}[random() % 3];
    const Tensor a = counted(some_of(shape, random)).to(dtype).requires_grad_();
    const Tensor b = counted(some_of(shape, random)).to(dtype).requires_grad_();
    const Tensor product = a * b;
    const Tensor grad = random_gradient(product.sizes(), dtype, random);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + to_string(a.sizes()) + " * " + to_string(b.sizes()) +
                 ", strides of the gradient " + to_string(grad.strides()));
    backward({product}, {grad});
    ASSERT_EQ(to_string(a.grad().sizes()), to_string(a.sizes()));
    ASSERT_EQ(to_string(b.grad().sizes()), to_string(b.sizes()));
    ASSERT_EQ(a.grad().dtype(), dtype);
    const NoGrad no_grad;
    ASSERT_EQ(values(a.grad()), rounded(sums(grad.to(float64) * b.to(float64), a.sizes()), dtype));
    ASSERT_EQ(values(b.grad()), rounded(sums(grad.to(float64) * a.to(float64), b.sizes()), dtype));
  }
}

/// Formulas of one step and of several, that read operands, numbers and results.
const std::vector<std::function<Tensor(const Tensor&, const Tensor&)>> kFormulas = {
    [](const Tensor& a, const Tensor& b) { return a / b; },
    [](const Tensor& a, const Tensor& b) { return (a * b).tanh(); },
    [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
    [](const Tensor& a, const Tensor& b) { return where(a > b, a * 2, b); },
    [](const Tensor& a, const Tensor& b) { return clamp(a, b, 3.0); },
    [](const Tensor& a, const Tensor& b) { return (a * 0.5).exp() + b; },
    [](const Tensor& a, const Tensor& b) { return b.reciprocal() - a.abs(); },
};

/// Between 1 and 2, where no formula is 0, infinite or on an edge.
Tensor between(SizesView sizes, double seed) {
  Tensor tensor = empty(sizes, float64);
  for (int64_t i = 0; i < tensor.numel(); ++i)
    tensor.data<double>()[i] = 1.5 + 0.49 * std::sin(seed + 1.7 * static_cast<double>(i));
  return tensor;
}

void expect_near(const Tensor& got, const Tensor& wanted) {
  ASSERT_EQ(to_string(got.sizes()), to_string(wanted.sizes()));
  ASSERT_EQ(got.dtype(), wanted.dtype());
  const std::vector<double> a = values(got), b = values(wanted);
  for (std::size_t i = 0; i < a.size(); ++i) ASSERT_NEAR(a[i], b[i], 1e-12 * (1 + std::abs(b[i]))) << "element " << i;
}

/// In one pass (large) or op by op over what stands still, as under grad mode, where every op is called as it is.
TEST(ReduceGrad, OfFormulasAsUnderGradMode) {
  std::mt19937 random(13);
  for (int round = 0; round < 420; ++round) {
    const auto& formula = kFormulas[static_cast<std::size_t>(round) % kFormulas.size()];
    const Dims shape = round % 3 == 0 ? Dims{2, 3, 4} : round % 3 == 1 ? Dims{33, 40, 7} : Dims{5, 1, 1100};
    const bool same = random() % 3 == 0;
    const Tensor a = between(same ? shape : some_of(shape, random), 0.1).requires_grad_();
    const Tensor b = between(same ? shape : some_of(shape, random), 0.7).requires_grad_();
    const Tensor result = formula(a, b);
    const Tensor grad = random_gradient(result.sizes(), float64, random);
    SCOPED_TRACE("round " + std::to_string(round) + ": " + to_string(a.sizes()) + " and " + to_string(b.sizes()) +
                 ", strides of the gradient " + to_string(grad.strides()));
    GradOptions recorded;
    recorded.create_graph = true;
    recorded.retain_graph = true;
    const Tensors wanted = autograd::grad({result}, {a, b}, {grad}, recorded);
    const Tensors got = autograd::grad({result}, {a, b}, {grad});
    for (std::size_t i = 0; i < 2; ++i) expect_near(got[i], wanted[i].detach());
  }
}

std::string layout(const Tensor& tensor) { return to_string(tensor.sizes()) + " " + to_string(tensor.strides()); }

TEST(ReduceGrad, WhatIsExpandedStaysSo) {
  const NoGrad no_grad;
  const struct {
    const char* why;
    Dims own, shape, sizes;  // of the gradient, as expanded, and what it comes down to
    const char* want;
  } cases[] = {
      {"one value for all", {1, 1}, {3, 4}, {4}, "[4] [0]"},
      {"one value for one", {1, 1}, {3, 4}, {1, 1}, "[1, 1] [1, 1]"},
      {"one value for a number", {1, 1}, {3, 4}, {}, "[] []"},
      {"rows, each of one value", {3, 1}, {3, 4}, {1, 4}, "[1, 4] [1, 0]"},
      {"rows, each of one value, to a column", {3, 1}, {3, 4}, {3, 1}, "[3, 1] [1, 1]"},
      {"one row", {1, 4}, {3, 4}, {4}, "[4] [1]"},
      {"one row to a column", {1, 4}, {3, 4}, {3, 1}, "[3, 1] [0, 1]"},
      {"a dim of size 1 that is nothing's", {2, 1, 3}, {2, 1, 3}, {1, 3}, "[1, 3] [3, 1]"},
      {"rows as they are, without the first dim", {1, 3, 1}, {1, 3, 4}, {3, 4}, "[3, 4] [1, 0]"},
  };
  for (const auto& c : cases) {
    const Tensor grad = counted(c.own).expand(c.shape), reduced = reduce_grad(grad, c.sizes);
    EXPECT_EQ(layout(reduced), c.want) << c.why;
    EXPECT_EQ(values(reduced), sums(grad, c.sizes)) << c.why;
  }
}

/// A dim of size 1 steps as it did, or as in a dense tensor where others were left out.
TEST(ReduceGrad, StridesOfDimsOfSize1) {
  const NoGrad no_grad;
  const Tensor ones = counted({8});
  EXPECT_EQ(layout(reduce_grad(ones.as_strided({1, 2, 1}, {7, 1, 9}), {2, 1})), "[2, 1] [1, 9]");
  EXPECT_EQ(layout(reduce_grad(ones.as_strided({1, 1, 3, 4, 1}, {7, 9, 2, 0, 9}), {1, 3, 4, 1})),
            "[1, 3, 4, 1] [6, 2, 0, 1]");
}

TEST(ReduceGrad, NothingToDoIsNoCopy) {
  const NoGrad no_grad;
  const Tensor grad = counted({1, 3});
  EXPECT_TRUE(cast_grad(grad, float64).is(grad));
  EXPECT_EQ(reduce_grad(grad, {3}).data_ptr(), grad.data_ptr());
}

/// Bytes held while `work` runs beyond those held before.
int64_t peak_of(const std::function<void()>& work) {
  memory::reset_peak();
  const int64_t before = memory::statistics().in_use;
  work();
  return memory::statistics().peak - before;
}

struct Quotient {
  static constexpr const char* name = "quotient";
  template <class T>
  static T forward(T a, T b) {
    return a / b;
  }
  static Tensor grad_b(const CustomGiven& g) { return -g.grad() * g.result() / g.b(); }
};

TEST(ReduceGrad, NoElementIsHeldTwice) {
  const CustomOp<Quotient> quotient;
  const auto product = [](const Tensor& a, const Tensor& b) { return a * b; };
  const struct {
    const char* why;
    std::function<Tensor(const Tensor&, const Tensor&)> formula;
    Dims own, grad;  // sizes of what the gradient is for, and of the gradient before it was expanded
    double most;     // bytes beside, in tensors of the whole shape
  } cases[] = {
      {"a product is summed as it is computed", product, {200}, {4, 100, 200}, 0.1},
      {"one row of a gradient", product, {200}, {1, 1, 200}, 0.1},
      {"four times the same, summed",
       [](const Tensor& a, const Tensor& b) { return a - b; },
       {100, 1},
       {1, 100, 200},
       0.1},
      {"a formula reads the result", quotient, {200}, {4, 100, 200}, 0.1},
      {"two steps", [](const Tensor&, const Tensor& b) { return b.clamp(1.4); }, {4, 100, 200}, {4, 100, 200}, 1.1},
  };
  for (const auto& c : cases) {
    const Tensor a = between({4, 100, 200}, 0.1), b = between(c.own, 0.7).requires_grad_();
    const Tensor result = c.formula(a, b), grad = between(c.grad, 0.4).expand({4, 100, 200});
    const double whole = static_cast<double>(result.nbytes());
    const GradOptions kept{{.retain_graph = true}}, recorded{{.retain_graph = true, .create_graph = true}};
    Tensors got;
    EXPECT_LT(static_cast<double>(peak_of([&] { got = autograd::grad({result}, {b}, {grad}, kept); })), c.most * whole)
        << c.why;
    expect_near(got[0], autograd::grad({result}, {b}, {grad}, recorded)[0].detach());
  }
  const NoGrad no_grad;
  const Tensor one = ones({1}), halves = ones({1, 50000}, float16).expand({3, 50000});
  EXPECT_EQ(peak_of([&] { reduce_grad(one.expand({3, 50000}), {50000}); }), 0) << "one value";
  EXPECT_LT(peak_of([&] { reduce_grad(halves, {50000}); }), 3 * 50000) << "what is only multiplied is not widened";
}

TEST(ReduceGrad, OnlyWhatIsReadDecidesWhatIsExpanded) {
  const Tensor column = between({400, 1}, 0.1).requires_grad_(), b = between({400, 1}, 0.7).requires_grad_();
  const Tensor a = column + between({400, 200}, 0.4), result = a * b, grad = ones({1, 1}, float64).expand({400, 200});
  const auto work = [&] { autograd::grad({result}, {column, b}, {grad}); };
  EXPECT_LT(peak_of(work), result.nbytes() / 10) << "the gradient of a reads b alone";
}

TEST(ReduceGrad, ManyElementsOfNoSum) {
  const Tensor x = ones({64, 100}, float16).t().requires_grad_(), zero = zeros({64, 100}, float16).t();
  const Tensor grad = autograd::grad({x.sqrt()}, {x}, {-zero})[0];
  EXPECT_EQ(layout(grad), "[100, 64] [1, 100]");
  EXPECT_EQ(values(1 / grad), std::vector<double>(6400, -INFINITY)) << "-0 stays";
}

enum class Unusual { gives_back, copies, adds_to_a_copy, goes_on, gives_meta };
/// Formulas that no Program can hold, or that need none.
template <Unusual kind>
struct UnusualOp {
  static constexpr const char* name = "unusual";
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
  static Tensor grad_a(const CustomGiven& g) {
    if (kind == Unusual::gives_meta) return empty(g.grad().sizes(), Device::meta);
    Tensor grad = kind == Unusual::goes_on || kind == Unusual::gives_back ? g.grad() : g.grad().clone();
    const int steps = kind == Unusual::goes_on ? 3000 : kind == Unusual::adds_to_a_copy ? 1 : 0;
    for (int i = 0; i < steps; ++i) grad = grad + g.b();
    return grad;
  }
};
template <Unusual kind>
Tensor gradient_of_unusual(SizesView own, SizesView shape) {
  static const CustomOp<UnusualOp<kind>> op;
  const Tensor a = zeros(own).requires_grad_(), b = ones(shape);
  return autograd::grad({op(a, b)}, {a}, {ones(shape)})[0];
}

TEST(ReduceGrad, FormulasThatAreNoProgram) {
  for (const int64_t size : {2, 2048}) {
    for (const Dims& own : {Dims{3, size}, Dims{size}, Dims{3, 1}}) {
      const auto numel = static_cast<std::size_t>(product(own));
      const double times = static_cast<double>(3 * size) / static_cast<double>(numel);
      EXPECT_EQ(values(gradient_of_unusual<Unusual::copies>(own, {3, size})), std::vector<double>(numel, times));
      EXPECT_EQ(values(gradient_of_unusual<Unusual::adds_to_a_copy>(own, {3, size})),
                std::vector<double>(numel, 2 * times));
      EXPECT_EQ(values(gradient_of_unusual<Unusual::goes_on>(own, {3, size})),
                std::vector<double>(numel, 3001 * times));
      EXPECT_THROW(gradient_of_unusual<Unusual::gives_meta>(own, {3, size}), Error);
    }
  }
}

TEST(ReduceGrad, AFormulaThatGivesBackTheGradientMakesNoCopy) {
  const CustomOp<UnusualOp<Unusual::gives_back>> op;
  for (const int64_t size : {2, 8192}) {
    const Tensor a = zeros({size}).requires_grad_(), grad = ones({size});
    EXPECT_EQ(autograd::grad({op(a, a.detach())}, {a}, {grad})[0].data_ptr(), grad.data_ptr());
  }
}

struct GivesB {
  static constexpr const char* name = "gives_b";
  template <class T>
  static T forward(T a, T b, T c) {
    return a + b + c;
  }
  static Tensor grad_a(const CustomGiven& g) { return g.b() + 0; }
};

TEST(ReduceGrad, AFormulaThatLeavesOutDimsIsNotRepeatedAlongThem) {
  const CustomOp<GivesB> op;
  for (const int64_t size : {2, 8192}) {
    const Tensor a = zeros({1}).requires_grad_(), result = op(a, ones({size}), ones({3, 1}));
    EXPECT_EQ(values(autograd::grad({result}, {a}, {ones({3, size})})[0]),
              std::vector<double>{static_cast<double>(size)});
  }
}

TEST(ReduceGrad, WithoutElementsWithoutDataAndUnderGradMode) {
  const Tensor grad = counted({2, 3}), meta = empty({2, 3}, Device::meta), one = counted({1, 1});
  EXPECT_TRUE(reduce_grad(grad, {2, 3}).is(grad)) << "nothing to sum";
  {
    const NoGrad no_grad;
    EXPECT_TRUE(reduce_grad(grad, {2, 3}).is(grad)) << "nothing to sum";
    EXPECT_EQ(layout(reduce_grad(meta, {3})), "[3] [1]");
    EXPECT_TRUE(reduce_grad(meta, {3}).is_meta());
    EXPECT_TRUE(reduce_grad(empty({1, 1}, Device::meta).expand({2, 3}), {3}).is_meta());
    EXPECT_EQ(values(reduce_grad(counted({0, 3}), {3})), (std::vector<double>{0, 0, 0}));
    EXPECT_EQ(layout(reduce_grad(one.expand({0, 3}), {0, 1})), "[0, 1] [1, 1]");
    EXPECT_EQ(layout(cast_grad(meta, float64)), "[2, 3] [3, 1]");
    EXPECT_EQ(layout(cast_grad(counted({0, 1}).expand({0, 3}), float32)), "[0, 3] [1, 0]");
  }
  const Tensor leaf = counted({1, 3}).requires_grad_();
  EXPECT_TRUE(reduce_grad(leaf.expand({2, 3}), {3}).requires_grad());
  EXPECT_TRUE(cast_grad(leaf.expand({2, 3}), float32).requires_grad());
}

TEST(ReduceGrad, WhatIsSummedFurtherStaysWide) {
  const NoGrad no_grad;
  // 5 * 1.0009765625 needs more bits than float16 has, and what is rounded off shows in the sum.
  const Tensor odd = tensor({1.0009765625, 1.0}).to(float16).unsqueeze(1).expand({2, 5});
  const Tensor wide = reduce_grad(odd, {1, 1});
  EXPECT_EQ(values(wide), values(tensor({10.0048828125}).to(float16)));
}

TEST(ReduceGrad, ACastKeepsWhatIsExpanded) {
  const NoGrad no_grad;
  const Tensor grad = counted({3, 1}).expand({3, 4});
  const Tensor cast = cast_grad(grad, float32);
  EXPECT_EQ(cast.dtype(), float32);
  EXPECT_EQ(to_string(cast.sizes()), "[3, 4]");
  EXPECT_EQ(to_string(cast.strides()), "[1, 0]");
  EXPECT_EQ(values(cast), values(grad));
}

}  // namespace
}  // namespace tenon::autograd
