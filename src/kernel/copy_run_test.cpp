// Runs of every length and alignment, and none copied beyond its end.
#include "kernel/copy_run.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace tenon {
namespace {

TEST(CopyRun, CopiesTheBytesAndNoOthers) {
  std::vector<uint8_t> from(3 << 20);
  for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<uint8_t>(i * 7 % 251);
  for (const std::size_t n : {0, 1, 63, 64, 2047, 2048, 2049, 2111, 4096, 5000, 70'001, (2 << 20) + 1})
    for (const std::size_t to_at : {0, 1, 4, 31, 63, 64})
      for (const std::size_t from_at : {0, 3}) {
        std::vector<uint8_t> to(n + 200, 255);
        copy_run(to.data() + to_at, from.data() + from_at, static_cast<int64_t>(n));
        EXPECT_TRUE(std::equal(to.begin() + static_cast<int64_t>(to_at), to.begin() + static_cast<int64_t>(to_at + n),
                               from.begin() + static_cast<int64_t>(from_at)));
        const auto is_untouched = [](uint8_t byte) { return byte == 255; };
        EXPECT_TRUE(std::all_of(to.begin(), to.begin() + static_cast<int64_t>(to_at), is_untouched));
        EXPECT_TRUE(std::all_of(to.begin() + static_cast<int64_t>(to_at + n), to.end(), is_untouched));
      }
}

}  // namespace
}  // namespace tenon
