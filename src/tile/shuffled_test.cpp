// Drawn loops, of which a block is listed, against a loop over single elements.
#include "tile/shuffled.h"

#include <cstring>
#include <memory>
#include <random>
#include <vector>

#include "gtest/gtest.h"
#include "kernel/kernel.h"
#include "sampled.h"

namespace tenon {
namespace {

constexpr int64_t kMost = 6;

struct DrawnLoops {
  int64_t loops = 0, elements = 1, extent = 1;
  int64_t counts[kMost], strides[kMost];

  explicit DrawnLoops(std::mt19937_64& random) {
    const auto between = [&](int64_t least, int64_t most) {
      return least + static_cast<int64_t>(random() % static_cast<uint64_t>(most - least + 1));
    };
    for (const int64_t most = between(2, kMost); loops < most; ++loops) {
      const int64_t count = elements > 3000 ? between(1, 2) : between(1, 5) == 1 ? between(20, 300) : between(2, 9);
      const int64_t others[] = {0, 1, extent, extent, extent + 1, between(0, 40)};
      counts[loops] = count;
      strides[loops] = others[between(0, 5)];
      elements *= count;
      extent += (count - 1) * strides[loops];
    }
  }
  int64_t place(int64_t element) const {
    int64_t offset = 0;
    for (int64_t loop = 0; loop < loops; ++loop) {
      offset += element % counts[loop] * strides[loop];
      element /= counts[loop];
    }
    return offset;
  }
};

/// False if there is no block.
bool check(uint64_t seed, int shift) {
  std::mt19937_64 random(seed);
  const DrawnLoops drawn(random);
  const ShuffledBlock block = ShuffledBlock::of(drawn.counts, drawn.strides, drawn.loops, shift);
  if (!block) return false;
  std::vector<std::byte> memory(static_cast<std::size_t>(block.list_bytes(shift)) + 64);
  std::byte* const on_line = memory.data() + (-static_cast<int64_t>(reinterpret_cast<uintptr_t>(memory.data())) & 63);
  const Shuffled shuffled(drawn.counts, drawn.strides, drawn.loops, shift, block, on_line);
  if (!shuffled) return false;
  const int64_t width = int64_t{1} << shift, last = drawn.counts[drawn.loops - 1];
  const int64_t rows = 1 + static_cast<int64_t>(random() % static_cast<uint64_t>(last));
  const int64_t elements = drawn.elements / last * rows;
  const std::unique_ptr<std::byte[]> from(new std::byte[static_cast<std::size_t>(drawn.extent * width)]);
  for (int64_t i = 0; i < drawn.extent * width; ++i) from[i] = static_cast<std::byte>(i * 7 + i / 251);
  std::vector<std::byte> to(static_cast<std::size_t>(elements * width + ShuffleList::kSlack + 1), std::byte{0xA5});
  shuffled.load(to.data(), from.get(), from.get() + drawn.extent * width, rows);
  for (int64_t i = 0; i < elements; ++i)
    if (std::memcmp(to.data() + i * width, from.get() + drawn.place(i) * width, static_cast<std::size_t>(width)) != 0) {
      ADD_FAILURE() << "seed " << seed << ", " << width << " bytes, element " << i << " of " << elements;
      return true;
    }
  EXPECT_EQ(to.back(), std::byte{0xA5});
  return true;
}

TEST(Shuffled, IsWhatEachElementAloneGives) {
  int64_t checked = 0;
  for (int shift = 0; shift < 5; ++shift)
    for (uint64_t seed = 0; seed < 4000 / kSampled; ++seed) checked += check(seed, shift);
  if (kernels().shuffle[0].lanes > 0) {
    EXPECT_GT(checked, 1000 / kSampled);
  }
}

}  // namespace
}  // namespace tenon
