// Running sums are those of a plain loop for any number of rows and columns, wherever they are written.
#include <gtest/gtest.h>
#include <cmath>
#include <limits>
#include <vector>

#include "last_page.h"
#include "tenon/tenon.h"
#include "tile/run.h"

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
  for (const Dtype dtype : {float32, float64, float16, bfloat16, int64, uint8})
    for (const int64_t inner : {1, 2, 3, 4, 5, 8, 9, 16, 17, 20, 25, 32, 33, 50, 64, 65, 90})
      for (const int64_t length : {1, 2, 3, 7, 70})
        for (const int64_t outer : {1, 3, 5}) {
          const Tensor values = drawn({outer, length, inner}, dtype);
          const Tensor want = summed_plainly(values).to(dtype).to(float64);
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

// Rows that are scanned several together or as they lie, with any last columns, and long ones, whose successors are
// prefetched. Sums that are larger than 16-bit floats hold exactly are rounded once.
TEST(Scan, SumsOfManyRows) {
  manual_seed(4);
  for (const Dtype dtype : {float32, float64, float16, bfloat16, uint8, int16, int32, int64})
    for (const int64_t rows : {1, 2, 7, 8, 9, 15, 31, 33, 100})
      for (const int64_t length : {2, 3, 5, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16, 18, 31, 128, 200, 512, 1100}) {
        if (rows * length > 20'000) continue;
        const Tensor values = drawn({rows, length}, dtype);
        const Tensor want = summed_plainly(values.view({rows, length, 1})).view({rows, length}).to(dtype);
        const std::string where = dtype_name(dtype) + to_string(values.sizes());
        EXPECT_TRUE(same(cumsum(values, 1, dtype), want)) << where;
        Tensor own = values.clone();
        EXPECT_TRUE(same(cumsum_out(own, own, 1), want)) << where << " in place";
      }
}

/// A tensor that ends with the page.
Tensor last_of(const LastPage& page, SizesView sizes, Dtype dtype) {
  int64_t nbytes = itemsize(dtype);
  for (const int64_t size : sizes) nbytes *= size;
  return from_buffer(page.last(nbytes), sizes, dtype);
}

TEST(Scan, TouchesNothingBehindItsOperands) {
  const LastPage in, out;
  for (const Dtype dtype : {float32, float64, float16, bfloat16, int32, int64})
    for (int64_t rows = 1; rows < 20; ++rows)
      for (int64_t length = 1; length < 24; ++length) {
        Tensor values = last_of(in, {rows, length}, dtype);
        values.copy_(drawn({rows, length}, dtype));
        const Tensor want = summed_plainly(values.view({rows, length, 1})).view({rows, length}).to(dtype);
        Tensor sums = last_of(out, {rows, length}, dtype);
        EXPECT_TRUE(same(cumsum_out(sums, values, 1), want)) << dtype_name(dtype) << to_string(values.sizes());
      }
}
TEST(Scan, TouchesNothingBehindColumns) {
  const LastPage in(1 << 17), out(1 << 17);
  for (const Dtype dtype : {float32, float16, bfloat16})
    for (int64_t columns = 2; columns < 70; ++columns)
      for (const int64_t length : {1, 2, 4, 7, 12, 25, 51, 100})
        for (const int64_t blocks : {1, 2}) {
          const Dims sizes{blocks, length, columns};
          Tensor values = last_of(in, sizes, dtype), sums = last_of(out, sizes, dtype);
          values.copy_(drawn(sizes, dtype));
          EXPECT_TRUE(same(cumsum_out(sums, values, 1), summed_plainly(values).to(dtype)))
              << dtype_name(dtype) << to_string(sizes);
        }
}
// Runs and narrow columns, of which a vector holds several rows.
TEST(Scan, SumsOfRunsOfAnyLength) {
  const LastPage in(1 << 17), out(1 << 17);
  for (const Dtype dtype : {float32, float16, bfloat16})
    for (const int64_t columns : {1, 2, 3, 4, 5, 8})
      for (int64_t length = 1; length < 150; ++length)
        for (const int64_t rows : {1, 2, 3}) {
          const Dims sizes{rows, length, columns};
          Tensor values = last_of(in, sizes, dtype), sums = last_of(out, sizes, dtype);
          values.copy_(drawn(sizes, dtype));
          const Tensor want = summed_plainly(values).to(dtype);
          EXPECT_TRUE(same(cumsum_out(sums, values, 1), want)) << dtype_name(dtype) << to_string(sizes);
          EXPECT_TRUE(same(cumsum(values.to(float64), 1, dtype), want)) << dtype_name(dtype) << to_string(sizes);
        }
}

/// Whether numbers are equal, or both NaN.
bool same_or_nan(const Tensor& a, const Tensor& b) {
  return all(logical_or(eq(a, b), logical_and(isnan(a), isnan(b)))).item<bool>();
}
TEST(Scan, SumsOfInfinitiesAndNan) {
  constexpr double kInfinite = std::numeric_limits<double>::infinity();
  for (const Dtype dtype : {float32, float64, float16, bfloat16})
    for (const int64_t columns : {1, 2, 3, 5})
      for (const int64_t at : {0, 1, 5, 37, 98})
        for (const double first : {kInfinite, -kInfinite, std::nan("")}) {
          Tensor values = drawn({1, 100, columns}, dtype);
          values.narrow(1, at, 1).fill_(first);
          values.select(1, at + 1).narrow(1, columns - 1, 1).fill_(-kInfinite);
          EXPECT_TRUE(same_or_nan(cumsum(values, 1), summed_plainly(values).to(dtype))) << dtype_name(dtype) << at;
        }
}
// Sums in another order would overflow in between.
TEST(Scan, LargeNumbersThatCancel) {
  for (const int64_t columns : {1, 2, 3})
    for (const int64_t start : {0, 1, 2, 3}) {
      Tensor values = zeros({1, 200, columns}, Options(bfloat16));
      const double large = 2.5e38, sequence[] = {large, -large, -large, large};
      for (int64_t row = start; row < 200; ++row) values.select(1, row).fill_(sequence[(row - start) % 4]);
      EXPECT_TRUE(same(cumsum(values, 1), summed_plainly(values).to(bfloat16))) << columns << " from " << start;
      EXPECT_TRUE(same(cumsum(values.to(float64), 1, bfloat16), summed_plainly(values).to(bfloat16)));
    }
}

TEST(Scan, SingleElementsAreSumsOfTheirOwn) {
  for (const Dtype dtype : {float16, bfloat16, float32, float64, complex64}) {
    const Tensor values = full({3, 1, 50}, -0.0, Options(dtype)), sums = cumsum(values, 1);
    const Tensor parts = dtype == complex64 ? view_as_real(sums) : sums;
    EXPECT_TRUE(all(eq(parts, 0)).item<bool>() && !any(signbit(parts)).item<bool>()) << dtype_name(dtype);
  }
  for (const Dtype dtype : {uint8, int16, int64}) {
    const Tensor values = drawn({3, 1, 50}, dtype);
    EXPECT_TRUE(same(cumsum(values, 1, dtype), values)) << dtype_name(dtype);
  }
}

// Results that exceed the caches go to memory by whole lines.
TEST(Scan, SumsOfFarRows) {
  manual_seed(5);
  for (const Dtype dtype : {float32, float64, bfloat16})
    for (const int64_t length : {3, 13, 100, 700}) {
      const int64_t rows = 3 * streaming_threshold() / 2 / itemsize(dtype) / length + 11;
      const Tensor values = drawn({rows, length}, dtype);
      const Tensor want = summed_plainly(values.view({rows, length, 1})).view({rows, length}).to(dtype);
      EXPECT_TRUE(same(cumsum(values, 1), want)) << dtype_name(dtype) << to_string(values.sizes());
    }
}

// Each product is the one before, in float32, times an element; each result is rounded once.
TEST(Scan, ProductsOf16BitFloats) {
  manual_seed(6);
  for (const Dtype dtype : {float16, bfloat16})
    for (const int64_t inner : {1, 2, 3, 17, 100, 300})
      for (const int64_t length : {1, 2, 5, 33, 64, 65, 300, 600})
        for (const int64_t outer : {1, 3, 9, 50}) {
          if (outer * length * inner > 40'000) continue;
          const Tensor values = rand({outer, length, inner}).mul(0.2).add(0.9).to(dtype);
          const Tensor wide = values.to(float32);
          auto* at = wide.data<float>();
          for (int64_t block = 0; block < outer; ++block)
            for (int64_t i = inner; i < length * inner; ++i)
              at[block * length * inner + i] *= at[block * length * inner + i - inner];
          Tensor own = values.clone();
          const std::string where = dtype_name(dtype) + to_string(values.sizes());
          EXPECT_TRUE(same(cumprod(values, 1), wide.to(dtype))) << where;
          EXPECT_TRUE(same(cumprod_out(own, own, 1), wide.to(dtype))) << where;
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

// Rows without gaps, with gaps, that are one row again and again; an odd number of them, so that pairs leave one.
TEST(Scan, ExtremesOfRowsWithGaps) {
  manual_seed(6);
  for (const Dtype dtype : {float32, float64, float16, uint8, int32, int64})
    for (const int64_t rows : {1, 2, 3, 8, 9})
      for (const int64_t length : {1, 2, 17, 150}) {
        const Tensor wide = drawn({rows, length + 5}, dtype), row = wide.narrow(0, 0, 1).narrow(1, 2, length);
        for (const Tensor& values : {wide.narrow(1, 3, length), row.expand({rows, length})}) {
          const auto [want, places] = cummax(values.t().clone(MemoryFormat::contiguous), 0);
          const auto [got, at] = cummax(values, 1);
          const std::string where = dtype_name(dtype) + to_string(values.sizes());
          EXPECT_TRUE(same(got, want.t())) << where;
          EXPECT_TRUE(same(at, places.t())) << where;
        }
      }
}

}  // namespace
}  // namespace tenon
