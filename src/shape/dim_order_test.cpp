// Many dims get the order that plain insertion sort gives, in little time.
#include "shape/dim_order.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <random>
#include <vector>

#include "tenon/shape.h"

namespace tenon {
namespace {

DimOrder last_to_first(int64_t ndim) {
  DimOrder order(ndim);
  for (int64_t i = 0; i < ndim; ++i) order[i] = ndim - 1 - i;
  return order;
}

TEST(DimOrder, ManyAreAsFew) {
  std::mt19937 random(7);
  const auto below = [&](unsigned count) { return static_cast<int64_t>(random() % count); };
  constexpr int kCases = 200'000;
  for (int number = 0; number < kCases; ++number) {
    const int64_t ndim = 1 + below(9), operands = 1 + below(3), kinds = 1 + below(4);
    Dims shape(ndim), strides(operands * ndim);
    for (int64_t& size : shape) size = 1 + below(3);
    for (int64_t& stride : strides) stride = below(4) == 0 ? 0 : 1 + below(static_cast<unsigned>(kinds));
    if (below(2) == 0)
      for (int64_t& stride : strides) stride = std::max<int64_t>(stride, 1);
    DimOrder got = last_to_first(ndim), want;
    reorder_many_dimensions(shape, strides.data(), operands, got);
    reorder_dimensions(shape, strides.data(), operands, want);
    for (int64_t i = 0; i < ndim; ++i)
      ASSERT_EQ(got[i], want[i]) << "case " << number << ": " << to_string(shape) << to_string(strides);
  }
}

// Plain insertion sort of 100,000 dims takes minutes.
TEST(DimOrder, ManyDims) {
  constexpr int64_t kDims = 100'000;
  Dims shape(kDims, 1), strides(2 * kDims, 6), back(kDims);
  shape[kDims - 2] = strides[kDims - 1] = 2;
  shape[kDims - 1] = 3;
  for (int64_t i = 0; i < kDims; ++i) {
    strides[kDims + i] = i + 1 < kDims ? 0 : 1;
    back[i] = i + 1;
  }
  const auto start = std::chrono::steady_clock::now();
  DimOrder order;
  reorder_dimensions(shape, strides.data(), 2, order);
  EXPECT_EQ(order[0], kDims - 1);
  EXPECT_EQ(order[kDims - 1], kDims - 2);
  reorder_dimensions(Dims(kDims, 1), back.data(), 1, order);
  EXPECT_EQ(order[0], 0);
  EXPECT_EQ(order[kDims - 1], kDims - 1);
  // One dim is broadcast, and the sizes' order differs from the strides' order.
  for (int64_t i = 0; i < kDims; ++i) strides[kDims + i] = i == kDims - 2 ? 0 : i + 1 < kDims ? 3 : 1;
  for (const int64_t first : {0, 1}) {
    for (int64_t i = 0; i < kDims; ++i) back[i] = strides[kDims + i];
    if (first == 0) std::swap_ranges(back.begin(), back.end(), strides.begin());
    reorder_dimensions(shape, strides.data(), 2, order);
    EXPECT_EQ(order[0], kDims - 1);
  }
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(10));
}

/// Comparing every pair of dims would take minutes.
TEST(DimOrder, ManyDimsThatDiffer) {
  constexpr int64_t kDims = 100'000;
  using Number = std::function<int64_t(int64_t)>;
  const auto same = [](int64_t value) { return [=](int64_t) { return value; }; };
  const Number rising = [](int64_t i) { return i + 1; }, falling = [](int64_t i) { return 2 * kDims - i; };
  const auto alone = [](int64_t value) { return [=](int64_t i) { return i == kDims / 2 ? value : 0; }; };
  const struct {
    const char* why;
    int64_t operands;  // whose strides decide; operands after them are ignored
    Number size;
    std::vector<Number> strides;
  } cases[] = {
      {"the first operand moves along one dim", 2, same(1), {alone(5), rising}},
      {"none moves along two dims", 1, rising, {alone(5), rising}},
      {"half of the dims have stride 0", 1, same(1), {[](int64_t i) { return i % 2 * i; }, rising}},
      {"the second operand decides, the third contradicts", 3, same(1), {same(5), rising, falling}},
      {"the second operand agrees with the sizes", 2, rising, {same(5), rising, alone(5)}},
      {"the second operand is the same for all sizes", 2, rising, {same(5), same(7)}},
      {"the first operand decides, sizes and the second contradict",
       2,
       [](int64_t i) { return 1 + i % 2; },
       {rising, falling}},
      {"one dim contradicts two kinds that take turns",
       2,
       same(1),
       {[](int64_t i) { return i == kDims / 2 ? 0 : 1 + i % 2; }, alone(3)}},
  };
  for (const auto& c : cases) {
    Dims shape, strides;
    for (int64_t i = 0; i < kDims; ++i) shape.push_back(c.size(i));
    for (const Number& stride : c.strides)
      for (int64_t i = 0; i < kDims; ++i) strides.push_back(stride(i));
    const auto start = std::chrono::steady_clock::now();
    DimOrder order;
    reorder_dimensions(shape, strides.data(), c.operands, order);
    EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(5)) << c.why;
  }
}

}  // namespace
}  // namespace tenon
