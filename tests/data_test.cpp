// x.set_data(y): which tensors see the new elements, and how long the old ones live.
#include <gtest/gtest.h>
#include <malloc.h>

#include <cstdint>
#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr int64_t kMany = 1 << 18;  // small blocks are not counted

int64_t live_bytes() { return memory::statistics().in_use; }

/// The bytes of a tensor of that many elements.
int64_t bytes_of_one() {
  const int64_t before = live_bytes();
  const Tensor one = ones({kMany});
  return live_bytes() - before;
}

TEST(Data, ReachesEveryHandle) {
  Tensor x = ones({3}).requires_grad_();
  (x * 2).sum().backward();
  const Tensor other = x.grad();
  x.grad().set_data(zeros({3}));
  EXPECT_EQ(x.grad().sum().item<float>(), 0);
  EXPECT_EQ(other.sum().item<float>(), 0);
  EXPECT_TRUE(other.is(x.grad()));
}

TEST(Data, OldElementsEndWhereNothingSeesThem) {
  const int64_t before = live_bytes();
  Tensor x = ones({kMany}).requires_grad_();
  (x * 2).sum().backward();
  const Tensor second = x, grad = x.grad();
  for (int turn = 0; turn < 100; ++turn) {
    x.set_data(ones({kMany}));
    x.grad().set_data(ones({kMany}));
  }
  EXPECT_LE(live_bytes() - before, 2 * bytes_of_one());
}

TEST(Data, ViewsKeepTheElementsTheyWereTakenOf) {
  const int64_t before = live_bytes();
  Tensor x = zeros({kMany});
  const Tensor second = x;
  {
    std::vector<Tensor> views;
    for (int turn = 0; turn < 10; ++turn) {
      views.push_back(x.select(0, 0));
      views.push_back(views.back().view({1}));
      x.set_data(full({kMany}, turn + 1.0));
    }
    for (std::size_t i = 0; i < views.size(); ++i) EXPECT_EQ(views[i].sum().item<int>(), static_cast<int>(i / 2));
    EXPECT_GE(live_bytes() - before, 11 * bytes_of_one());
    const Tensor late = views[6].view({1, 1});  // a view of elements that only views use
    views.clear();
    EXPECT_EQ(late.item<int>(), 3);
    EXPECT_LE(live_bytes() - before, 2 * bytes_of_one());
  }
  EXPECT_LE(live_bytes() - before, bytes_of_one());
}

TEST(Data, GivenBackAndForth) {
  Tensor x = zeros({kMany});
  const Tensor first = x.detach(), other = ones({kMany}), view = x.select(0, 1);
  const int64_t before = live_bytes();
  for (int turn = 0; turn < 10; ++turn) {
    x.set_data(other);
    EXPECT_EQ(view.item<int>(), turn);
    x.set_data(first);
    x.select(0, 1).add_(1);
    EXPECT_EQ(view.item<int>(), turn + 1);
  }
  EXPECT_EQ(live_bytes(), before);
}

#ifdef __GLIBC__  // others do not say how much of the heap is in use
TEST(Data, OfManyShapesGraphsLeadToNothingOld) {
  Tensor x = ones({1}).requires_grad_();
  const auto turn = [&](int64_t size) {
    x.set_data(ones({0, size}));
    x.set_grad({});
    (x * 2).sum().backward();
    EXPECT_EQ(x.grad().sizes(), SizesView({0, size}));
  };
  for (int64_t size = 1; size < 100; ++size) turn(size);
  const std::size_t before = mallinfo2().uordblks;
  for (int64_t size = 100; size < 4000; ++size) turn(size);
  EXPECT_LE(mallinfo2().uordblks, before + 20'000);
}
#endif

TEST(Data, OfAViewIsItsOwn) {
  Tensor x = zeros({4});
  Tensor view = x.select(0, 1);
  const Tensor inner = view.view({1});
  view.set_data(ones({}));
  EXPECT_FALSE(view.is_view());
  EXPECT_EQ(inner.item<int>(), 0);
  x.set_data(ones({4}));
  EXPECT_EQ(inner.item<int>(), 0);
  EXPECT_EQ(view.item<int>(), 1);
  view.set_data(x);
  EXPECT_EQ(view.sum().item<int>(), 4);
}

TEST(Data, OnMeta) {
  Tensor x = empty({2}, Options(float32, Device::meta));
  const Tensor on_meta = x.select(0, 0);
  x.set_data(ones({2}));
  const Tensor on_cpu = x.select(0, 0);
  x.set_data(on_meta);
  EXPECT_TRUE(on_meta.is_meta() && x.is_meta());
  EXPECT_EQ(on_cpu.item<int>(), 1);
}

/// An older graph still reaches the accumulator of the former dtype.
TEST(Data, OfAnotherDtypeManyTimes) {
  Tensor x = ones({2}).requires_grad_();
  const Tensor before = x * 2;
  for (int turn = 0; turn < 100; ++turn) {
    x.set_data(ones({2}, float64));
    (x * 1).sum();
    x.set_data(ones({2}));
    (x * 1).sum();
  }
  before.sum().backward();
  (x * 3).sum().backward();
  EXPECT_EQ(x.grad().sum().item<int>(), 10);
}

}  // namespace
}  // namespace tenon
