// Padding by the border's elements: against the places that its rules name, for sides that add and sides that cut off.
#include <algorithm>
#include <string>

#include "gtest/gtest.h"
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

}  // namespace
}  // namespace tenon
