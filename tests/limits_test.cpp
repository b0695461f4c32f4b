// More elements than 32 bits count, and strides longer than that: with little memory, by expanding and by sparse maps.
#include <sys/mman.h>

#include "gtest/gtest.h"
#include "tenon/tenon.h"

namespace tenon {
namespace {

constexpr int64_t kMany = (int64_t{1} << 32) + 4096;

TEST(Limits, ReductionsOfMoreElementsThan32BitsCount) {
  EXPECT_EQ(sum(ones({1}, float32).expand({kMany}), DimsArg(), false, float64).item<double>(), kMany);
  EXPECT_TRUE(any(tensor({true}).expand({kMany})).item<bool>());
}

/// 48 GiB of addresses of which only the pages that are touched take memory.
struct SparseMap {
  static constexpr std::size_t kBytes = std::size_t{48} << 30;
  void* memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  ~SparseMap() {
    if (memory != MAP_FAILED) munmap(memory, kBytes);
  }
};

TEST(Limits, StridesBeyond32Bits) {
  const SparseMap map;
  if (map.memory == MAP_FAILED) GTEST_SKIP() << "no addresses to be had";
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

}  // namespace
}  // namespace tenon
