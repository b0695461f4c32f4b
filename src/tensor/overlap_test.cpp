// Whether two indices of one tensor name one place, against a search through all of them.
#include "tensor/overlap.h"

#include <random>
#include <set>

#include "gtest/gtest.h"
#include "tenon/factories.h"

namespace tenon {
namespace {

bool meets_itself(SizesView sizes, SizesView strides) {
  std::set<int64_t> places;
  for (int64_t i = 0; i < numel_of(sizes); ++i) {
    int64_t rest = i, place = 0;
    for (int64_t dim = sizes.size() - 1; dim >= 0; --dim) place += rest % sizes[dim] * strides[dim], rest /= sizes[dim];
    if (!places.insert(place).second) return true;
  }
  return false;
}

TEST(InternalOverlap, NeverSaysNoWhereIndicesMeet) {
  std::mt19937 random(3);
  const Tensor base = empty({1000});
  int certain = 0;
  for (int round = 0; round < 20000; ++round) {
    Dims sizes, strides;
    for (unsigned dims = random() % 4; dims > 0; --dims)
      sizes.push_back(1 + random() % 4), strides.push_back(random() % 13);
    const bool meets = meets_itself(sizes, strides);
    const InternalOverlap answer = internal_overlap(base.as_strided(sizes, strides));
    if (answer == InternalOverlap::no) ++certain;
    EXPECT_FALSE(meets && answer == InternalOverlap::no) << to_string(sizes) << to_string(strides);
    EXPECT_FALSE(!meets && answer == InternalOverlap::yes) << to_string(sizes) << to_string(strides);
  }
  EXPECT_GT(certain, 2000);
}

TEST(InternalOverlap, Table) {
  const Tensor base = empty({1000});
  const struct {
    const char* why;
    Dims sizes, strides;
    InternalOverlap want;
  } cases[] = {
      {"dense", {2, 3}, {3, 1}, InternalOverlap::no},
      {"every other column", {4, 5}, {10, 2}, InternalOverlap::no},
      {"transposed, with gaps", {4, 5}, {2, 9}, InternalOverlap::no},
      {"expanded", {4, 5}, {0, 1}, InternalOverlap::yes},
      {"a dim of size 1 that stands still", {1, 5}, {0, 2}, InternalOverlap::no},
      {"windows", {4, 3}, {1, 1}, InternalOverlap::unknown},
  };
  for (const auto& c : cases) EXPECT_EQ(internal_overlap(base.as_strided(c.sizes, c.strides)), c.want) << c.why;
}

}  // namespace
}  // namespace tenon
