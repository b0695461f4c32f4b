// Elements of drawn loops are brought together by shuffles as a loop over single elements does it; nothing beside the
// operand is read, and what is written ends soon.
#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "kernel/kernel.h"

namespace tenon {
namespace {

constexpr std::byte kUntouched{0xA5};

class DrawnLoops {
 public:
  explicit DrawnLoops(uint64_t seed) : random_(seed) {
    int64_t elements = 1, extent = 0;
    for (loops_ = 0; loops_ < 4; ++loops_) {
      const int64_t count = between(1, 20);
      if (elements * count > ShuffleList::kMost) break;
      // From the last element to the next turn: the next element, one behind a gap, the first or a former one.
      const int64_t jumps[] = {0, 0, 1, extent + 1, extent + 1, extent + between(2, 4)};
      counts_[loops_] = count;
      strides_[loops_] = jumps[between(0, 5)];
      elements *= count;
      extent += (count - 1) * strides_[loops_];
    }
    rows_ = counts_[loops_ - 1];
    offsets_ = {0};
    for (int64_t loop = 0; loop < loops_; ++loop) {
      const std::vector<int64_t> before = offsets_;
      for (int64_t turn = 1; turn < counts_[loop]; ++turn)
        for (const int64_t offset : before) offsets_.push_back(offset + turn * strides_[loop]);
    }
  }
  int64_t between(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random_() % static_cast<uint64_t>(most - least + 1));
  }

  /// False if there are no such shuffles.
  bool check(int shift) {
    const ShuffleKernels& kernels = tenon::kernels().shuffle[shift];
    if (kernels.lanes == 0) return false;
    const int64_t elements = static_cast<int64_t>(offsets_.size()), width = int64_t{1} << shift;
    std::vector<std::byte> memory(static_cast<std::size_t>(ShuffleList::lanes_bytes(elements * width)) + 64);
    std::vector<int32_t> places(static_cast<std::size_t>(ShuffleList::most_pieces(elements * width)));
    ShuffleList list{};
    list.lanes = memory.data() + (-static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.data())) & 63);
    list.places = places.data();
    list.elements = elements;
    if (!kernels.make(list, counts_, strides_, loops_, rows_)) return false;
    EXPECT_LE(list.pieces, static_cast<int64_t>(places.size()));
    for (const int64_t n : {elements, between(1, elements)}) check_run(kernels, list, n, shift);
    return true;
  }

 private:
  void check_run(const ShuffleKernels& kernels, const ShuffleList& list, int64_t n, int shift) {
    const int64_t width = int64_t{1} << shift, turns = between(1, 6), step = between(0, 9);
    const int64_t extent = *std::max_element(offsets_.begin(), offsets_.end()) + (turns - 1) * step + 1;
    // Memory of exactly so many bytes, so that a sanitizer finds what is read beside it.
    const std::unique_ptr<std::byte[]> from(new std::byte[static_cast<std::size_t>(extent * width)]);
    for (int64_t i = 0; i < extent * width; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
    const int64_t place = between(0, 3) * width, written = n * turns * width;
    std::vector<std::byte> to(static_cast<std::size_t>(place + written + 2 * ShuffleList::kSlack), kUntouched);
    kernels.run(to.data() + place, from.get(), from.get() + extent * width, list, n, step, turns);
    for (int64_t turn = 0; turn < turns; ++turn)
      for (int64_t i = 0; i < n; ++i)
        ASSERT_EQ(0, std::memcmp(to.data() + place + (turn * n + i) * width,
                                 from.get() + (turn * step + offsets_[static_cast<std::size_t>(i)]) * width,
                                 static_cast<std::size_t>(width)))
            << width << " bytes, turn " << turn << " of " << turns << ", element " << i << " of " << n;
    const auto is_untouched = [](std::byte byte) { return byte == kUntouched; };
    EXPECT_TRUE(std::all_of(to.begin(), to.begin() + place, is_untouched));
    EXPECT_TRUE(std::all_of(to.end() - ShuffleList::kSlack, to.end(), is_untouched));
  }

  std::mt19937_64 random_;
  int64_t loops_ = 0, rows_ = 1;
  int64_t counts_[4], strides_[4];
  std::vector<int64_t> offsets_;
};

TEST(Shuffle, IsWhatEachElementAloneGives) {
  int64_t checked = 0;
  for (int shift = 0; shift < 4; ++shift)
    for (uint64_t seed = 0; seed < 4000; ++seed) {
      SCOPED_TRACE(testing::Message() << "seed " << seed);
      checked += DrawnLoops(seed).check(shift);
      if (HasFatalFailure()) return;
    }
  if (kernels().shuffle[0].lanes > 0) {
    EXPECT_GT(checked, 3000);
  }
}

TEST(Shuffle, RefusesElementsThatLieApart) {
  if (kernels().shuffle[2].lanes == 0) GTEST_SKIP() << "without vectors";
  alignas(64) std::byte lanes[ShuffleList::lanes_bytes(64)];
  int32_t places[ShuffleList::most_pieces(64)];
  ShuffleList list{};
  list.lanes = lanes;
  list.places = places;
  list.elements = 16;
  const int64_t counts[] = {2, 8}, strides[] = {100, 1};
  EXPECT_FALSE(kernels().shuffle[2].make(list, counts, strides, 2, 8));
}

}  // namespace
}  // namespace tenon
