// Rolled rows hold the bytes of the given ones, each at its new place, and nothing beside them is written.
#include "tile/rolled_rows.h"

#include <gtest/gtest.h>

#include <vector>

namespace tenon {
namespace {

TEST(RolledRows, HaveEachByteAtItsPlace) {
  for (const int64_t rows : {1, 2, 3, 100, 40000})
    for (const int64_t length : {2, 3, 8, 20, 33, 132, 1000})
      for (const int64_t start : {int64_t{1}, int64_t{2}, length / 2, length - 4, length - 1}) {
        if (start < 1 || start >= length || rows * length > 2'000'000) continue;
        const auto count = static_cast<std::size_t>(rows * length);
        std::vector<std::byte> from(count), got(count + 2, std::byte{0xA5});
        for (std::size_t i = 0; i < count; ++i) from[i] = static_cast<std::byte>(i * 37 % 251);
        roll_rows(got.data() + 1, from.data(), rows, length, start);
        ASSERT_EQ(got.front(), std::byte{0xA5});
        ASSERT_EQ(got.back(), std::byte{0xA5});
        for (int64_t row = 0; row < rows; ++row)
          for (int64_t i = 0; i < length; ++i)
            ASSERT_EQ(got[static_cast<std::size_t>(1 + row * length + (i + start) % length)],
                      from[static_cast<std::size_t>(row * length + i)])
                << rows << " rows of " << length << " from " << start << ": row " << row << ", byte " << i;
      }
}

}  // namespace
}  // namespace tenon
