// tile: brings elements of short loops that lie close together to contiguous memory, by shuffles that are listed once
// for a block of the innermost loops. Takes an operand's loops, innermost first.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "kernel/shuffle.h"

namespace tenon {

/// How many offsets may be written behind a list.
inline constexpr int64_t kListSlack = 8;
/// Repeats a list of `listed` offsets for each turn of the next loop. Returns how many there are then. Up to
/// kListSlack offsets behind the list are written and read; their values are not used.
template <class Offset>
int64_t list_loop(Offset* offsets, int64_t listed, int64_t turns, int64_t stride) {
  static constexpr int64_t kTogether = 32 / static_cast<int64_t>(sizeof(Offset));
  static_assert(kTogether <= kListSlack);
  const auto move = [offsets](const Offset* from, int64_t to, Offset moved) {
    using Unsigned = std::make_unsigned_t<Offset>;  // offsets behind the list may overflow
    Offset sums[kTogether];
    for (int64_t i = 0; i < kTogether; ++i)
      sums[i] = static_cast<Offset>(static_cast<Unsigned>(from[i]) + static_cast<Unsigned>(moved));
    std::copy_n(sums, kTogether, offsets + to);
  };
  if (listed == 1) {
    for (int64_t turn = 1; turn < turns; ++turn) offsets[turn] = static_cast<Offset>(turn * stride);
  } else if (listed <= kTogether) {
    Offset few[kTogether];  // which are not read again: that would wait for the last stores
    std::copy_n(offsets, kTogether, few);
    for (int64_t turn = 1; turn < turns; ++turn) move(few, turn * listed, static_cast<Offset>(turn * stride));
  } else {
    for (int64_t turn = 1; turn < turns; ++turn)
      for (int64_t i = 0; i < listed; i += kTogether)
        move(offsets + i, turn * listed + i, static_cast<Offset>(turn * stride));
  }
  std::fill_n(offsets + listed * turns, kTogether, Offset{0});
  return listed * turns;
}
/// The offsets of the elements of `loops` loops, with `rows` turns of the last one.
template <class Offset>
void list_offsets(const int64_t* counts, const int64_t* strides, int64_t loops, int64_t rows, Offset* offsets) {
  offsets[0] = 0;
  int64_t listed = 1;
  for (int64_t loop = 0; loop < loops; ++loop)
    listed = list_loop(offsets, listed, loop + 1 < loops ? counts[loop] : rows, strides[loop]);
}

/// Elements from an operand's first one to the end of the last one in memory.
inline int64_t extent(const int64_t* counts, const int64_t* strides, int64_t loops) {
  int64_t elements = 1;
  for (int64_t loop = 0; loop < loops; ++loop)
    elements += (counts[loop] - 1) * std::max<int64_t>(strides[loop], 0);  // exact: inside the storage
  return elements;
}

/// The loops of a block whose elements shuffles bring together.
struct ShuffledBlock {
  // Elements of a block, so that calls are few and the list is short. Bench: ./dev bench --sweep, both sides.
  static constexpr int64_t kMost = ShuffleList::kMost, kEnough = 64;

  int64_t inside = 0;    // loops that a block has whole
  int64_t turns = 0;     // of the next loop
  int64_t elements = 0;  // 0: there is no such block

  /// `shift`: of the elements' size.
  static ShuffledBlock of(const int64_t* counts, const int64_t* strides, int64_t loops, int shift) noexcept;
  explicit operator bool() const noexcept { return elements > 0; }
  constexpr int64_t list_bytes(int shift) const noexcept {
    const int64_t places = ShuffleList::most_pieces(elements << shift) * static_cast<int64_t>(sizeof(int32_t));
    return ShuffleList::lanes_bytes(elements << shift) + (places + 63) / 64 * 64;
  }
};

/// An operand over `loops` loops that have a ShuffledBlock.
class Shuffled {
 public:
  Shuffled() = default;
  /// Makes the list in `memory`, on a cache line, of block.list_bytes. The loops have to stay where they are.
  Shuffled(const int64_t* counts, const int64_t* strides, int64_t loops, int shift, const ShuffledBlock& block,
           std::byte* memory);
  /// Whether shuffles can do it.
  explicit operator bool() const noexcept { return run_ != nullptr; }
  /// Copies `rows` turns of the last loop. Nothing is read from `end` on; ShuffleList::kSlack bytes more are written.
  void load(std::byte* to, const std::byte* from, const std::byte* end, int64_t rows) const;

 private:
  static constexpr int64_t kMostLoops = 64;  // a tensor has at most so many dims
  const int64_t* counts_ = nullptr;
  const int64_t* strides_ = nullptr;
  int64_t loops_ = 0;
  int shift_ = 0;
  ShuffledBlock block_;
  ShuffleList list_ = {};
  decltype(ShuffleKernels::run) run_ = nullptr;
};

}  // namespace tenon
