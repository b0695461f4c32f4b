#include "tile/shuffled.h"

#include "kernel/kernel.h"

namespace tenon {

namespace {

/// Whether a call that moves so many blocks takes less time than to move their elements one by one. Bench: ./dev bench
/// --sweep, permuted and copies.
bool is_worthwhile(const ShuffledBlock& block, int64_t blocks, int64_t lanes) {
  constexpr int64_t kElementsOfCall = 16, kElementsOfPiece = 6;  // that are moved one by one meanwhile
  const int64_t pieces = (block.elements + lanes - 1) / lanes;
  return block.elements * blocks >= kElementsOfCall + kElementsOfPiece * pieces * blocks;
}

}  // namespace

ShuffledBlock ShuffledBlock::of(const int64_t* counts, const int64_t* strides, int64_t loops, int shift) noexcept {
  const int64_t lanes = kernels().shuffle[shift].lanes;
  if (lanes == 0 || std::any_of(strides, strides + loops, [](int64_t stride) { return stride < 0; })) return {};
  int64_t joined = 0;                // loops that a piece may run across
  int64_t elements = 1, extent = 0;  // of these: elements, offset of the last one
  // The lanes of a piece that may start anywhere; `next`: where a turn would begin without a gap.
  int64_t span = 1, apart = lanes - 1, next = loops > 0 ? strides[0] : 0;
  for (; joined < loops; ++joined) {
    const int64_t count = counts[joined], stride = strides[joined], jump = stride - extent;
    if (jump > lanes || (jump <= 0 && extent >= lanes)) break;
    if (apart > 0) span += std::max<int64_t>(stride - next, 0) + apart % count * stride;
    apart /= count;
    next = count * stride;
    elements *= count;
    extent += (count - 1) * stride;
  }
  if (elements < lanes / 2 || span > 2 * lanes) return {};

  ShuffledBlock block;
  block.elements = 1;
  for (; block.inside < joined; block.elements *= counts[block.inside++])
    if (block.elements >= kEnough || block.elements * counts[block.inside] > kMost) break;
  if (block.inside == loops) {
    block.turns = counts[--block.inside];
  } else {
    block.turns = block.inside == joined ? 1 : std::clamp(kEnough / block.elements, int64_t{1}, counts[block.inside]);
    block.elements *= block.turns;
  }
  return is_worthwhile(block, counts[block.inside] / block.turns, lanes) ? block : ShuffledBlock();
}

Shuffled::Shuffled(const int64_t* counts, const int64_t* strides, int64_t loops, int shift, const ShuffledBlock& block,
                   std::byte* memory)
    : counts_(counts), strides_(strides), loops_(loops), shift_(shift), block_(block) {
  list_.lanes = memory;
  list_.places = reinterpret_cast<int32_t*>(memory + ShuffleList::lanes_bytes(block.elements << shift));
  list_.elements = block.elements;
  const ShuffleKernels& kernels = tenon::kernels().shuffle[shift];
  if (kernels.make(list_, counts, strides, block.inside + 1, block.turns)) run_ = kernels.run;
}

void Shuffled::load(std::byte* to, const std::byte* from, const std::byte* end, int64_t rows) const {
  const int64_t inside = block_.inside, last = loops_ - 1;
  const auto count_of = [&](int64_t loop) { return loop == last ? rows : counts_[loop]; };
  const int64_t whole = block_.turns == 1 ? count_of(inside) : count_of(inside) / block_.turns;
  const int64_t rest = (count_of(inside) - whole * block_.turns) * (block_.elements / block_.turns);
  const int64_t step = strides_[inside] * block_.turns;
  int64_t index[kMostLoops];
  std::fill(index + inside, index + loops_, 0);
  for (;;) {
    run_(to, from, end, list_, block_.elements, step, whole);
    to += (whole * block_.elements) << shift_;
    if (rest > 0) run_(to, from + ((whole * step) << shift_), end, list_, rest, 0, 1);
    to += rest << shift_;
    int64_t loop = inside + 1;
    for (; loop < loops_; ++loop) {
      from += strides_[loop] << shift_;
      if (++index[loop] < count_of(loop)) break;
      from -= (index[loop] * strides_[loop]) << shift_;
      index[loop] = 0;
    }
    if (loop >= loops_) return;
  }
}

}  // namespace tenon
