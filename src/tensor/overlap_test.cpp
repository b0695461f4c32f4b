// internal_overlap against a search through all pairs of elements.
#include "tensor/overlap.h"

#include <random>
#include <set>

#include "gtest/gtest.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

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
      {"expanded to nothing", {0, 3}, {1, 0}, InternalOverlap::no},
      {"a dim of size 1 with stride 0", {1, 5}, {0, 2}, InternalOverlap::no},
      {"windows", {4, 3}, {1, 1}, InternalOverlap::unknown},
      {"two dims with stride 0", {2, 3}, {0, 5}, InternalOverlap::yes},
      {"a step just beyond what smaller ones reach", {2, 2}, {4, 3}, InternalOverlap::no},
      {"a step onto what smaller ones reach", {2, 2}, {3, 3}, InternalOverlap::unknown},
      {"rows with a gap", {2, 2}, {5, 1}, InternalOverlap::no},
  };
  for (const auto& c : cases) EXPECT_EQ(internal_overlap(base.as_strided(c.sizes, c.strides)), c.want) << c.why;
}

TEST(Overlap, Table) {
  float memory[4] = {};
  const Tensor base = empty({24}), other = empty({24}), meta = empty({24}, Device::meta);
  const auto part = [&](int64_t start, int64_t length) { return base.narrow(0, start, length); };
  const struct {
    const char* why;
    Tensor a, b;
    Overlap want;
  } cases[] = {
      {"a tensor and itself, with gaps", base.slice(0, 0, {}, 2), {}, Overlap::full},
      {"the same layout twice", base.view({4, 6}), base.view({4, 6}), Overlap::full},
      {"the same bytes in another order", base.view({4, 6}), base.view({4, 6}).t(), Overlap::partial},
      {"the same bytes in another shape", base, base.view({4, 6}), Overlap::partial},
      {"the same begin", base, part(0, 12), Overlap::partial},
      {"the same end", base, part(12, 12), Overlap::partial},
      {"one element inside", base, part(5, 1), Overlap::partial},
      {"the end of one in the other", part(0, 13), part(12, 12), Overlap::partial},
      {"side by side", part(0, 12), part(12, 12), Overlap::none},
      {"far apart", part(0, 3), part(20, 4), Overlap::none},
      {"no elements, inside", base, part(5, 0), Overlap::none},
      {"no elements, twice", part(5, 0), part(5, 0).view({0, 2}), Overlap::none},
      {"one with gaps", base, base.slice(0, 0, {}, 2), Overlap::unknown},
      {"another storage", base, other, Overlap::none},
      {"another storage, with gaps", base.slice(0, 0, {}, 2), other.slice(0, 0, {}, 2), Overlap::none},
      {"another storage of the same memory", from_buffer(memory, {4}, float32), from_buffer(memory, {4}, float32),
       Overlap::full},
      {"no storage", meta, meta.view({24}), Overlap::none},
      {"no storage, with gaps", meta.slice(0, 0, {}, 2), meta.slice(0, 0, {}, 3), Overlap::none},
  };
  for (const auto& c : cases) {
    const Tensor& b = c.b.defined() ? c.b : c.a;
    EXPECT_EQ(overlap_of(c.a, b), c.want) << c.why;
    EXPECT_EQ(overlap_of(b, c.a), c.want) << c.why;
    const bool partial = c.want == Overlap::partial, any = partial || c.want == Overlap::full;
    if (partial)
      EXPECT_THROW(check_no_partial_overlap(c.a, b), Error) << c.why;
    else
      EXPECT_NO_THROW(check_no_partial_overlap(c.a, b)) << c.why;
    if (any)
      EXPECT_THROW(check_no_overlap(c.a, b), Error) << c.why;
    else
      EXPECT_NO_THROW(check_no_overlap(c.a, b)) << c.why;
  }
}

TEST(Overlap, MayReadWhatItWrote) {
  float memory[4] = {};
  const Tensor base = empty({24}), other = empty({24}), meta = empty({24}, Device::meta);
  const auto part = [&](int64_t start, int64_t length) { return base.narrow(0, start, length); };
  const struct {
    const char* why;
    Tensor written, input;
    bool want;
  } cases[] = {
      {"the same layout", base.view({4, 6}), base.view({4, 6}), false},
      {"the same layout, with gaps", base.slice(0, 0, {}, 2), base.slice(0, 0, {}, 2), false},
      {"the same layout, which meets itself", base.as_strided({3}, {0}), base.as_strided({3}, {0}), true},
      {"transposed", base.view({4, 6}), base.as_strided({4, 6}, {1, 4}), true},
      {"one element further", part(0, 5), part(1, 5), true},
      {"one element less", part(0, 6), part(0, 5), true},
      {"other strides", base.as_strided({2, 2}, {2, 1}), base.as_strided({2, 2}, {1, 2}), true},
      {"side by side", part(0, 12), part(12, 12), false},
      {"another storage", base, other, false},
      {"another storage of the same memory", from_buffer(memory, {4}, float32), from_buffer(memory, {2}, float32),
       true},
      {"another storage that begins inside it", from_buffer(memory, {3}, float32),
       from_buffer(memory + 1, {3}, float32), true},
      {"another dtype", new_tensor_over(base.impl()->storage, {4}, {1}, 0, int32), part(0, 4), true},
      {"no storage, one with gaps", meta, meta.slice(0, 0, {}, 2), false},
      {"no storage", meta, meta.view({24}), false},
      {"none beside some", meta, base, false},
  };
  for (const auto& c : cases) {
    EXPECT_EQ(may_read_what_it_wrote(c.written, c.input), c.want) << c.why;
    EXPECT_EQ(may_read_what_it_wrote(c.input, c.written), c.want) << c.why;
  }
}

}  // namespace
}  // namespace tenon
