// Once a Checked number has overflowed, every result computed from it has overflowed, too.
#include "base/checked.h"

#include <gtest/gtest.h>

namespace tenon {
namespace {

constexpr int64_t kMax = INT64_MAX, kMin = INT64_MIN;

TEST(Checked, SaysWhatOverflows) {
  EXPECT_TRUE((Checked(kMax) - 1 + 1).is(kMax));
  EXPECT_TRUE((Checked(kMin) + 1 - 1).is(kMin));
  EXPECT_TRUE((Checked(kMax) * 1 * -1).is(-kMax));
  for (const Checked over : {Checked(kMax) + 1, Checked(kMin) - 1, Checked(kMax) * 2, Checked(kMin) * -1})
    EXPECT_FALSE(over.fits());
}

TEST(Checked, StaysOverflowed) {
  const Checked over = Checked(kMax) + 1;  // wraps round to the least number
  for (const Checked later : {over, over + 1, over - 1, over * 1, over * 0, 1 + over, 1 - over, 0 * over}) {
    EXPECT_FALSE(later.fits());
    EXPECT_EQ(later.value_or(7), 7);
    EXPECT_THROW(later.or_throw("too large"), Error);
    EXPECT_FALSE(later.is_at_most(kMax));
    for (const int64_t number : {kMin, kMin + 1, kMax, int64_t{0}}) EXPECT_FALSE(later.is(number)) << number;
  }
}

TEST(Checked, IsItsNumberElse) {
  const Checked three = 3;
  EXPECT_TRUE(three.fits());
  EXPECT_EQ(three.value_or(7), 3);
  EXPECT_EQ(three.or_throw("too large"), 3);
  EXPECT_TRUE(three.is(3));
  EXPECT_FALSE(three.is(4));
  EXPECT_TRUE(three.is_at_most(3));
  EXPECT_FALSE(three.is_at_most(2));
}

}  // namespace
}  // namespace tenon
