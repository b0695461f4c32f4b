// Clones and *_like tensors keep the order of dims that PyTorch keeps.
#include "shape/dense_strides.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>
#include <string>

#include "spec.h"
#include "tenon/error.h"

namespace tenon {
namespace {

TEST(DenseStrides, Table) {
  const struct {
    const char* why;
    Dims sizes, strides, want;
  } cases[] = {
      {"dense: kept as it is", {3, 2}, {1, 3}, {1, 3}},
      {"a gap closes", {2, 3}, {8, 2}, {3, 1}},
      {"transposed with gaps stays so", {3, 2}, {2, 8}, {1, 3}},
      {"an expanded dim is row-major", {2, 3}, {0, 1}, {3, 1}},
      {"channels last with a gap", {1, 2, 2, 2}, {16, 1, 8, 2}, {8, 1, 4, 2}},
      {"no elements: kept as it is", {0, 3}, {7, 5}, {7, 5}},
      {"no dims", {}, {}, {}},
  };
  for (const auto& c : cases) EXPECT_EQ(dense_strides_like(c.sizes, c.strides), c.want) << c.why;
}

TEST(DenseStrides, FormatsReplaceTheOrder) {
  EXPECT_EQ(strides_like({3, 2}, {1, 3}, MemoryFormat::contiguous), Dims({2, 1}));
  EXPECT_EQ(strides_like({2, 3, 4, 5}, {60, 20, 5, 1}, MemoryFormat::channels_last), Dims({60, 1, 15, 3}));
  EXPECT_THROW(strides_like({2, 3}, {3, 1}, MemoryFormat::channels_last), Error);
}

TEST(DenseStrides, TheFormatThatPyTorchTakesThemFor) {
  using enum MemoryFormat;
  constexpr int64_t kHalf = int64_t{1} << 62;
  const struct {
    const char* why;
    Dims sizes, strides;
    MemoryFormat want;
  } cases[] = {
      {"row-major", {2, 3, 4, 5}, {60, 20, 5, 1}, contiguous},
      {"channels last", {2, 3, 4, 5}, {60, 1, 15, 3}, channels_last},
      {"channels last with gaps", {2, 3, 4, 5}, {100, 1, 20, 4}, channels_last},
      {"channels that step", {2, 3, 4, 5}, {120, 2, 30, 6}, channels_last},
      {"columns meet channels", {2, 3, 4, 5}, {60, 1, 15, 2}, contiguous},
      {"rows meet columns", {2, 3, 4, 5}, {60, 1, 14, 3}, contiguous},
      {"pictures meet rows", {2, 3, 4, 5}, {59, 1, 15, 3}, contiguous},
      {"expanded along the channels", {2, 3, 4, 5}, {60, 0, 15, 3}, contiguous},
      {"no channels", {2, 0, 4, 5}, {20, 1, 5, 1}, contiguous},
      {"no pictures", {0, 3, 4, 5}, {60, 1, 15, 3}, contiguous},
      {"one channel", {2, 1, 1, 3}, {3, 1, 3, 1}, channels_last},
      {"dims of size 1 leave it open", {2, 1, 1, 1}, {1, 1, 1, 1}, contiguous},
      {"a reach that overflows", {1, 3, 1, 1}, {5, kHalf, 5, 5}, contiguous},
      {"three dims", {2, 3, 4}, {12, 1, 3}, contiguous},
      {"five dims, row-major", {2, 3, 4, 5, 6}, {360, 120, 30, 6, 1}, contiguous},
      {"five dims, channels last", {2, 3, 4, 5, 6}, {360, 1, 90, 18, 3}, channels_last_3d},
      {"five dims, rows meet columns", {2, 3, 4, 5, 6}, {360, 1, 90, 17, 3}, contiguous},
      {"six dims", {2, 3, 4, 5, 6, 7}, {2520, 1, 630, 126, 21, 3}, contiguous},
  };
  for (const auto& c : cases) EXPECT_EQ(format_of(c.sizes, c.strides), c.want) << c.why;
}

TEST(DenseStrides, SpecOfClone) {
  TENON_NEEDS_SPEC();
  int checked = 0;
  for (const auto& c : spec::read_cases("strides")) {
    if (c[0].size() != 1) continue;  // several inputs: an op's result, not a clone's
    EXPECT_EQ(dense_strides_like(spec::to_dims(c[0][0][0]), spec::to_dims(c[0][0][1])), spec::to_dims(c[2])) << c;
    ++checked;
  }
  EXPECT_GT(checked, 100);
}

}  // namespace
}  // namespace tenon
