// Limits: more than 2^32 elements and strides beyond 32 bits, with little memory by expanding and sparse mappings;
// sizes near the end of int64; ranks; many views of one storage.
#include <vector>

#include "gtest/gtest.h"
#include "pages.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr int64_t kMany = (int64_t{1} << 32) + 4096;

TEST(Limits, ReductionsOfMoreElementsThan32BitsCount) {
  EXPECT_EQ(sum(ones({1}, float32).expand({kMany}), DimsArg(), false, float64).item<double>(), kMany);
  EXPECT_TRUE(any(tensor({true}).expand({kMany})).item<bool>());
}

/// 48 GiB of addresses, of which only the used pages take memory.
struct SparseMap {
  static constexpr std::size_t kBytes = std::size_t{48} << 30;
  void* memory = take_pages(kBytes);
  ~SparseMap() {
    if (memory) free_pages(memory, kBytes);
  }
};

TEST(Limits, StridesBeyond32Bits) {
  const SparseMap map;
  if (!map.memory) GTEST_SKIP() << "no addresses to be had";
  constexpr int64_t kFar = (int64_t{1} << 32) + 3;
  const Dims strides[] = {{kFar, 7, 1 << 20}, {1, 1 << 20, kFar}, {7, kFar, 1}};
  const Dims sizes{2, 2, 2};
  const Tensor dense = arange(8, float32).add(1).reshape(sizes);
  for (const Dims& far : strides) {
    Tensor x = from_buffer(map.memory, sizes, far, float32);
    x.copy_(dense);
    for (int64_t i = 0; i < 8; ++i) {
      const int64_t place = i / 4 * far[0] + i / 2 % 2 * far[1] + i % 2 * far[2];
      EXPECT_EQ(static_cast<float*>(map.memory)[place], static_cast<float>(i + 1)) << to_string(far);
    }
    const auto same = [](const Tensor& a, const Tensor& b) { return to_string(a) == to_string(b); };
    EXPECT_TRUE(same(add(x, x.transpose(0, 2)), add(dense, dense.transpose(0, 2))));
    EXPECT_TRUE(same(x.to(float64).add(dense), dense.to(float64).add(dense)));
    for (const int64_t dim : {0, 1, 2}) EXPECT_TRUE(same(sum(x, dim), sum(dense, dim))) << to_string(far) << dim;
    const Tensor places = tensor({1, 0, 1});
    EXPECT_TRUE(same(x.index({places}), dense.index({places})));
    EXPECT_TRUE(same(x.index({Ellipsis, places}), dense.index({Ellipsis, places})));
    EXPECT_TRUE(same(mm(x.select(1, 0), x.select(0, 1)), mm(dense.select(1, 0), dense.select(0, 1))));
    x.mul_(x);
    x.index_put_({places, 1}, tensor(0.f));
    EXPECT_TRUE(same(x.contiguous(), dense.mul(dense).index_put_({places, 1}, tensor(0.f))));
  }
}

constexpr int64_t kViews = 100'000;

/// Views of single elements, all alive.
std::vector<Tensor> views_of(const Tensor& base) {
  std::vector<Tensor> views;
  for (int64_t i = 0; i < kViews; ++i) views.push_back(base.select(0, i % base.size(0)));
  return views;
}

// If any of these were quadratic, it would take minutes.
TEST(Limits, ManyViewsOfOneStorage) {
  Tensor base = zeros({kViews});
  std::vector<Tensor> views = views_of(base);
  for (int64_t i = 0; i < kViews; ++i) views[static_cast<std::size_t>(i)].add_(static_cast<double>(i % 7));
  base.mul_(2);
  for (int64_t i = 0; i < kViews; ++i) ASSERT_EQ(views[static_cast<std::size_t>(i)].item<int>(), i % 7 * 2);
  EXPECT_EQ(views[0].version(), kViews + 1);
  base = Tensor();
  EXPECT_EQ(views.back().item<int>(), (kViews - 1) % 7 * 2);
}

TEST(Limits, ManyViewsWrittenInPlaceWithGradients) {
  const Tensor w = ones({}, float64).requires_grad_();
  Tensor base = zeros({8}, float64);
  std::vector<Tensor> views = views_of(base);
  for (int64_t i = 0; i < kViews; i += 3) views[static_cast<std::size_t>(i)].add_(w);
  base.mul_(2);  // changes the history of every view
  Tensor sum = zeros({}, float64);
  for (const Tensor& view : views) sum = sum + view;
  sum.backward();
  EXPECT_EQ(sum.item<int64_t>(), (kViews + 2) / 3 * 2 * (kViews / 8));
  EXPECT_EQ(w.grad().item<int64_t>(), sum.item<int64_t>());
}

TEST(Limits, ManyViewsOfALeaf) {
  const Tensor leaf = zeros({8}).requires_grad_();
  const std::vector<Tensor> views = views_of(leaf);
  autograd::backward(views);
  EXPECT_EQ(leaf.grad().sum().item<int64_t>(), kViews);
}

// Sums and products of sizes that overflow an int64, and the largest that do not.
TEST(Limits, SizesNearTheEndOfInt64) {
  constexpr int64_t kLargest = INT64_MAX, kHalf = int64_t{1} << 62;
  EXPECT_EQ(empty({kLargest}, Options(Dtype::int8, Device::meta)).numel(), kLargest);
  EXPECT_EQ(add(empty({kHalf, 1}, Options(Dtype::int8, Device::meta)), 1).sizes(), (SizesView{kHalf, 1}));
  EXPECT_EQ(sum(ones({1}).expand({kHalf, 0}), 0).sizes(), (SizesView{0}));
  EXPECT_EQ(add(empty_strided({0, 8, 2}, {kHalf, kHalf, kHalf}), ones({8, 2})).sizes(), (SizesView{0, 8, 2}));
  EXPECT_THROW(empty({kHalf, 2}, Device::meta), Error);
  EXPECT_THROW(add(ones({1}).expand({kHalf}), ones({4, 1})), Error);
  EXPECT_THROW(ones({1}).expand({kHalf}).clone(), Error);
  EXPECT_THROW(empty({kLargest}), Error);
  EXPECT_THROW(ones({2}).as_strided({2}, {kLargest}), Error);
  EXPECT_THROW(arange(0., 1e19, 1.), Error);
}

// PyTorch's only limit of the rank: reductions over given dims accept 64 dims.
TEST(Limits, AnyRankButForReductionsOfSomeDims) {
  for (const int64_t rank : {64, 65, 1000, 100'000}) {
    Dims sizes(rank, 1);
    sizes[rank - 1] = 3;
    sizes[0] = 2;
    const Tensor x = arange(6, float32).reshape(sizes).requires_grad_(), y = x.detach().transpose(0, -1);
    const Tensor product = x.transpose(0, -1) * y + x.detach().reshape({6})[5];
    EXPECT_EQ(product.sizes(), y.sizes());
    EXPECT_EQ(sum(product).item<int>(), 55 + 30);
    product.sum().backward();
    EXPECT_EQ(x.grad().sum().item<int>(), 15);
    EXPECT_EQ(where(y > 2, y, 0.f).clone().contiguous().dim(), rank);
    EXPECT_EQ(y.to(float64).exp().squeeze().sizes(), (SizesView{3, 2}));
    Tensor out = empty({0});
    EXPECT_EQ(add_out(out, y, y).strides(), (y + y).strides());
    EXPECT_EQ(x.detach().index({Ellipsis, tensor({0, 2})}).numel(), 4);
    if (rank <= 64)
      EXPECT_EQ(sum(y, 0).dim(), rank - 1);
    else
      EXPECT_THROW(sum(y, 0), Error);
  }
}

}  // namespace
}  // namespace tenon
