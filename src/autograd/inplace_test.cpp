// Writes in place that the graph knows of: ops whose derivative is 0, layouts given to the tensor itself, gradients
// that are added to those of before.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "autograd/views.h"
#include "error_text.h"
#include "tenon/autograd.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::autograd {
namespace {

std::vector<double> values(const Tensor& tensor) {
  const Tensor dense = tensor.to(float64).contiguous();
  const double* data = dense.data<double>();
  return {data, data + dense.numel()};
}
using List = std::vector<double>;

Tensor leaf(SizesView sizes) { return ones(sizes, float32).requires_grad_(); }

TEST(ZeroNodes, ComparisonsInPlaceEndGradients) {
  const Tensor x = leaf({3}), other = tensor({1., 2., 3.}, float32).requires_grad_();
  Tensor with_tensor = x * 2, with_number = x * 2;
  with_tensor.eq_(other);
  with_number.lt_(1.5);
  EXPECT_EQ(with_tensor.grad_fn().name(), "EqBackward1");
  EXPECT_EQ(with_number.grad_fn().name(), "LtBackward0");
  (with_tensor + with_number + x).sum().backward();
  EXPECT_EQ(values(x.grad()), (List{1, 1, 1}));
  EXPECT_EQ(values(other.grad()), (List{0, 0, 0}));
}

TEST(ZeroNodes, ThroughAView) {
  const Tensor x = leaf({3});
  Tensor y = x * 2;
  y.slice(0, 1, 3).ge_(2);
  y.sum().backward();
  EXPECT_EQ(values(x.grad()), (List{2, 0, 0}));
}

TEST(TakeLayout, OfATensorInAGraph) {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * 2;
  const uint32_t version = y.version();
  take_layout(y, y.t());
  EXPECT_EQ(to_string(y.sizes()) + to_string(y.strides()), "[3, 2][1, 3]");
  EXPECT_FALSE(y.is_contiguous());
  EXPECT_EQ(y.version(), version + 1);
  EXPECT_EQ(y.grad_fn().name(), "TBackward1");
  (y * tensor({1., 2., 3., 4., 5., 6.}, float32).view({3, 2})).sum().backward();
  EXPECT_EQ(values(x.grad()), (List{2, 6, 10, 4, 8, 12}));
}

TEST(TakeLayout, OfOneThatKeepsItsGradient) {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * 2;
  y.retain_grad();
  take_layout(y, y.unsqueeze(0));
  (y * 3).sum().backward();
  EXPECT_EQ(to_string(y.grad().sizes()), "[2, 3]");
  EXPECT_EQ(values(y.grad()), List(6, 3));
}

TEST(TakeLayout, OfALeafThatHasAGradient) {
  const Tensor x = leaf({1});
  (x * 2).sum().backward();
  {
    const NoGrad no_grad;
    take_layout(x, x.squeeze(0));
  }
  EXPECT_EQ(to_string(autograd::grad({x.amax()}, {x})[0].sizes()), "[]");
}

TEST(TakeLayout, OfALeafThatAnOlderGraphLeadsTo) {
  const Tensor x = leaf({2, 3});
  const Tensor older = x.mean();
  {
    const NoGrad no_grad;
    take_layout(x, x.unsqueeze(0));
  }
  EXPECT_EQ(to_string(autograd::grad({x.mean()}, {x})[0].sizes()), "[1, 2, 3]");
  older.backward();
  EXPECT_EQ(to_string(x.grad().sizes()), "[2, 3]");
}

TEST(TakeLayout, OfAComputedTensorOutsideItsGraph) {
  const Tensor x = leaf({1, 3});
  const Tensor y = x * 2;
  {
    const NoGrad no_grad;
    take_layout(y, y.squeeze(0));
  }
  EXPECT_EQ(error_text([&] { y.mean().backward(); }),
            "Function MeanBackward0 returned an invalid gradient at index 0 - got [3] but expected shape compatible "
            "with [1, 3]");
  EXPECT_FALSE(x.grad().defined());
}

TEST(TakeLayout, OutsideOfGraphs) {
  const Tensor x = ones({2, 3});
  take_layout(x, x.t());
  EXPECT_EQ(to_string(x.sizes()) + to_string(x.strides()), "[3, 2][1, 3]");
  EXPECT_FALSE(x.grad_fn().defined());
}

TEST(ViewModes, AViewMadeAfterAWriteIsUpToDate) {
  const Tensor x = leaf({2, 3});
  Tensor y = x * 1;
  y.add_(1);
  Tensor view;
  {
    const NoGrad no_grad;
    view = y.select(0, 0);
  }
  EXPECT_EQ(error_text([&] { EXPECT_FALSE(view.grad_fn().defined()); }), "no error");
  y.mul_(2);
  EXPECT_NE(error_text([&] { static_cast<void>(view.grad_fn()); }).find("modified inplace"), std::string::npos);
}

TEST(ViewModes, AViewOfOneMadeWithoutGradIsOneToo) {
  const Tensor x = leaf({2, 3});
  const Tensor y = x * 1;
  Tensor view;
  {
    const NoGrad no_grad;
    view = y.select(0, 0);
  }
  Tensor inner = view.slice(0, 0, 2);
  EXPECT_NE(error_text([&] { inner.mul_(2); }).find("created in no_grad mode"), std::string::npos);
}

TEST(ViewModes, AReshapeThatNeedsNoStridesIsAView) {
  EXPECT_EQ(leaf({0, 3}).reshape({0}).grad_fn().name(), "ViewBackward0");
  const Tensor odd = ones({8}).as_strided({1, 3}, {7, 1}).requires_grad_();
  EXPECT_EQ(odd.reshape({3}).grad_fn().name(), "ViewBackward0");
}

/// The node of a write through an index, and the nodes behind it.
std::string nodes_of(Tensor self, std::initializer_list<Index> indices, const Tensor& value) {
  self.index_put_(indices, value);
  std::string text = self.grad_fn().name() + ":";
  for (const Node::Edge& edge : self.grad_fn().next_functions())
    text += " " + (edge.node.defined() ? edge.node.name() : "-");
  return text;
}

TEST(IndexPut, NodesArePyTorchs) {
  const Tensor places = tensor({0, 1, 2}), meta = empty({}, Device::meta).requires_grad_();
  EXPECT_EQ(nodes_of(zeros({3}), {Slice()}, leaf({3})), "torch::autograd::CopyBackwards: - AccumulateGrad");
  EXPECT_EQ(nodes_of(zeros({3}), {Slice(0, 2)}, leaf({2})), "torch::autograd::CopySlices: - AccumulateGrad");
  EXPECT_EQ(nodes_of(zeros({3}), {places}, leaf({3})), "IndexPutBackward0: - AccumulateGrad");
  EXPECT_EQ(nodes_of(zeros({1, 3}), {Slice()}, leaf({3})), "torch::autograd::CopyBackwards: - ExpandBackward0");
  EXPECT_EQ(nodes_of(zeros({3}), {Slice()}, leaf({})), "FillBackward3: - AccumulateGrad");
  EXPECT_EQ(nodes_of(empty({3}, Device::meta), {Slice()}, meta), "torch::autograd::CopyBackwards: - ExpandBackward0");
}

/// Few elements are added in one run, many by several threads; one value may stand for all.
TEST(Accumulation, OfFewAndOfMany) {
  for (const int64_t count : {3, 40000}) {
    const Tensor x = leaf({count});
    x.sum().backward();
    (x * 2).sum().backward();
    const Tensor kept = x.grad();
    (x * x).sum().backward();
    EXPECT_TRUE(x.grad().is(kept)) << count;
    EXPECT_EQ(values(kept), List(static_cast<std::size_t>(count), 5)) << count;
  }
}

TEST(Accumulation, UnderGradModeMakesAnother) {
  const Tensor x = leaf({3});
  (x * x).sum().backward();
  const Tensor kept = x.grad();
  BackwardOptions recorded;
  recorded.create_graph = true;
  backward({(x * x).sum()}, {}, recorded);
  EXPECT_FALSE(x.grad().is(kept));
  EXPECT_TRUE(x.grad().requires_grad());
  EXPECT_EQ(values(x.grad().detach()), (List{4, 4, 4}));
  Tensor(x).set_grad({});  // the gradient holds its graph, and that the leaf
}

}  // namespace
}  // namespace tenon::autograd
