// Padding by the border's elements: against the places that its rules name, for sides that add and sides that cut off.
#include <algorithm>
#include <string>

#include "gtest/gtest.h"
#include "sampled.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

int64_t reflected(int64_t place, int64_t size) {
  if (place < 0) return -place;
  return place < size ? place : 2 * (size - 1) - place;
}

/// The elements of `padded`, which came from 0, 1, ..., size - 1.
void expect_places(const Tensor& padded, int64_t size, int64_t left, bool reflects) {
  for (int64_t row = 0; row < padded.size(0); ++row)
    for (int64_t i = 0; i < padded.size(1); ++i) {
      const int64_t place = i - left;
      const int64_t from = reflects ? reflected(place, size) : std::clamp<int64_t>(place, 0, size - 1);
      ASSERT_EQ(padded.select(0, row).select(0, i).item<float>(), static_cast<float>(row * size + from))
          << row << " " << i;
    }
}

TEST(Padding, OfSidesThatAddAndCutOff) {
  for (int64_t size = 1; size <= 5; ++size)
    for (int64_t left = -6; left <= 6; ++left)
      for (int64_t right = -6; right <= 6; ++right) {
        if (size + left + right < 1) continue;
        SCOPED_TRACE(std::to_string(size) + ": " + std::to_string(left) + ", " + std::to_string(right));
        const Tensor x = arange(3 * size, float32).view({3, size});
        expect_places(replication_pad1d(x, {left, right}), size, left, false);
        if (left < size && right < size) expect_places(reflection_pad1d(x, {left, right}), size, left, true);
      }
}

/// The same by a result that is filled first.
Tensor filled_and_copied(const Tensor& x, const Dims& pad, Scalar value) {
  Dims sizes = x.sizes().copy();
  for (int64_t i = 0; i < pad.size() / 2; ++i) sizes[x.dim() - 1 - i] += pad[2 * i] + pad[2 * i + 1];
  Tensor result = full(sizes, value, x.dtype()), to = result, from = x;
  for (int64_t i = 0; i < pad.size() / 2; ++i) {
    const int64_t dim = x.dim() - 1 - i, before = pad[2 * i], after = pad[2 * i + 1];
    from = from.narrow(dim, std::max<int64_t>(-before, 0),
                       x.size(dim) + std::min<int64_t>(before, 0) + std::min<int64_t>(after, 0));
    to = to.narrow(dim, std::max<int64_t>(before, 0), from.size(dim));
  }
  to.copy_(from);
  return result;
}

bool are_equal(const Tensor& a, const Tensor& b) { return a.sizes() == b.sizes() && all(a == b).item().as_bool(); }

TEST(Padding, BordersOfLargeResultsAreFilledAlone) {
  int number = 0;
  const Dims pads[] = {{1, 2},         {0, 3},  {4, 0, 0, 1},   {0, 0, 2, 3},       {1, 1, 1, 1},
                       {-5, 2, 3, -1}, {2, -7}, {-1, -1, 0, 2}, {1, 0, 2, 1, 0, 3}, {0, 0, 0, 0, 1, 0}};
  for (const Dtype dtype : {uint8, bool_, int16, float32, float64, complex128})
    for (const Dims& sizes : {Dims{9, 40, 701}, Dims{3, 900, 33}, Dims{2, 1, 90001}, Dims{1, 3, 3}})
      for (const Dims& pad : pads) {
        if (++number % kSampled != 0) continue;
        const Tensor row_major = arange(sizes[0] * sizes[1] * sizes[2], int64).remainder(251).reshape(sizes).to(dtype);
        for (const Tensor& x : {row_major, row_major.mT(), row_major.slice(1, 0, sizes[1], 2)}) {
          if (x.size(-1) + std::min<int64_t>(pad[0], 0) + std::min<int64_t>(pad[1], 0) < 0) continue;
          if (pad.size() > 2 && x.size(-2) + std::min<int64_t>(pad[2], 0) + std::min<int64_t>(pad[3], 0) < 0) continue;
          ASSERT_TRUE(are_equal(constant_pad_nd(x, pad, 7), filled_and_copied(x, pad, 7)))
              << dtype_name(dtype) << to_string(x.sizes()) << to_string(pad);
        }
      }
}

TEST(Padding, BordersOfChannelsLast) {
  const Tensor x = arange(2 * 5 * 90 * 91, float32).reshape({2, 5, 90, 91}).contiguous(MemoryFormat::channels_last);
  const Tensor padded = constant_pad_nd(x, {1, 2, 3, 0, 1, 1}, -1);
  EXPECT_TRUE(padded.is_contiguous(MemoryFormat::channels_last));
  EXPECT_TRUE(are_equal(padded, filled_and_copied(x, {1, 2, 3, 0, 1, 1}, -1)));
}

}  // namespace
}  // namespace tenon
