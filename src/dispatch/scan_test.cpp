// Running sums are those of a plain loop for any number of rows and columns, wherever they are written.
#include <gtest/gtest.h>

#include <vector>

#include "tenon/tenon.h"

namespace tenon {
namespace {

/// Whole numbers, so that sums are exact in any order.
Tensor drawn(SizesView sizes, Dtype dtype) { return rand(sizes).mul(9).floor().to(dtype); }

bool same(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && all(eq(a, b)).item<bool>(); }

/// The running sums over the middle dim of [outer, length, inner], element by element.
Tensor summed_plainly(const Tensor& values) {
  const Tensor sums = values.to(float64).clone(MemoryFormat::contiguous);
  const int64_t outer = sums.size(0), length = sums.size(1), inner = sums.size(2);
  auto* at = sums.data<double>();
  for (int64_t block = 0; block < outer; ++block)
    for (int64_t row = 1; row < length; ++row)
      for (int64_t i = 0; i < inner; ++i)
        at[(block * length + row) * inner + i] += at[(block * length + row - 1) * inner + i];
  return sums;
}

TEST(Scan, SumsOfAnyNumberOfRowsAndColumns) {
  manual_seed(3);
  for (const Dtype dtype : {float32, float64, float16, int64, uint8})
    for (const int64_t inner : {1, 2, 3, 5, 8, 9, 20})
      for (const int64_t length : {1, 2, 3, 7})
        for (const int64_t outer : {1, 3, 5}) {
          const Tensor values = drawn({outer, length, inner}, dtype), want = summed_plainly(values);
          const std::string where = dtype_name(dtype) + to_string(values.sizes());
          EXPECT_TRUE(same(cumsum(values, 1, dtype).to(float64), want)) << where;
          Tensor out = empty({outer, length, inner}, Options(dtype));
          const uint32_t version = out.version();
          EXPECT_TRUE(same(cumsum_out(out, values, 1).to(float64), want)) << where;
          EXPECT_GT(out.version(), version) << where;
          Tensor strided = empty({inner, outer, length}, Options(dtype)).permute({1, 2, 0});
          EXPECT_TRUE(same(cumsum_out(strided, values, 1).to(float64), want)) << where;
          Tensor own = values.clone();
          EXPECT_TRUE(same(cumsum_out(own, own, 1).to(float64), want)) << where;
        }
}

// Rows that are scanned several together or as they lie, and long ones, whose successors are prefetched.
TEST(Scan, SumsOfManyRows) {
  manual_seed(4);
  for (const Dtype dtype : {float32, float64, float16, int16, int32, int64})
    for (const int64_t rows : {1, 7, 8, 31, 33, 100})
      for (const int64_t length : {7, 8, 9, 31, 128, 200, 1100}) {
        if (rows * length > 20'000) continue;
        const Tensor values = drawn({rows, length}, dtype), want = summed_plainly(values.view({rows, length, 1}));
        const std::string where = dtype_name(dtype) + to_string(values.sizes());
        const Dtype wide = dtype == int16 || dtype == float16 ? Dtype(int32) : dtype;  // holds every sum
        EXPECT_TRUE(same(cumsum(values, 1, wide).to(float64), want.view({rows, length}))) << where;
        Tensor own = values.to(wide).clone();
        EXPECT_TRUE(same(cumsum_out(own, own, 1).to(float64), want.view({rows, length}))) << where << " in place";
      }
}

TEST(Scan, AnOutputOverTheInputsBufferIsWrittenAtTheEnd) {
  std::vector<float> memory(12);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<float>(i + 1);
  const Tensor input = from_buffer(memory.data(), {8}, float32);
  Tensor out = from_buffer(memory.data() + 1, {8}, float32);
  const Tensor want = summed_plainly(input.view({1, 8, 1})).view({8});
  EXPECT_TRUE(same(cumsum_out(out, input, 0).to(float64), want));
}

}  // namespace
}  // namespace tenon
