// tile: brings the tiles of operands whose elements lie apart to contiguous memory. Takes the loops of a tile; keeps
// lists of where its elements lie, which are made once for all tiles.
#pragma once
#include <algorithm>
#include <cstddef>

#include "plan/plan.h"

namespace tenon {

/// How an operand's elements are gathered.
enum class GatherForm : uint8_t {
  block,    // by its strides
  columns,  // dense along the last fused loop: columns that a list names are transposed
  runs,     // dense along the innermost loop: runs that a list names are copied
  list,     // short loops: element by element from a list
};
/// `strides` of an operand with AccessPattern::gather over the fused loops of tiles of so many elements, of 1 << shift
/// bytes each.
GatherForm gather_form(const Plan& plan, const int64_t* strides, int shift, int64_t tile) noexcept;
/// Bytes of its list.
int64_t gather_list_bytes(const Plan& plan, const int64_t* strides, int shift, int64_t tile) noexcept;

/// An operand over the fused loops.
class Gather {
 public:
  Gather() = default;
  /// Makes the list in `list`, memory for gather_list_bytes.
  Gather(const Plan& plan, const int64_t* strides, int shift, int64_t tile, std::byte* list);
  /// Copies `rows` turns of the last fused loop from `from` on.
  void load(std::byte* to, const std::byte* from, int64_t rows) const;
  /// Whether it is read in many columns that are dense along the last fused loop.
  bool is_transposed() const noexcept;
  /// Prefetches so many bytes of each column.
  void prefetch_columns(const std::byte* from, int64_t bytes) const;

 private:
  const Plan* plan_ = nullptr;
  const int64_t* strides_ = nullptr;
  int shift_ = 0;
  GatherForm form_ = GatherForm::block;
  const std::byte* list_ = nullptr;
};

/// Repeats a list of `listed` offsets for each turn of the next loop. Returns how many there are then.
template <class Offset>
int64_t list_loop(Offset* offsets, int64_t listed, int64_t turns, int64_t stride) {
  constexpr int64_t kTogether = 32 / static_cast<int64_t>(sizeof(Offset));
  for (int64_t turn = 1; turn < turns; ++turn) {
    const Offset moved = static_cast<Offset>(turn * stride);  // exact: within the operand
    Offset* const to = offsets + turn * listed;
    int64_t i = 0;
    for (; i + kTogether <= listed; i += kTogether) {
      Offset part[kTogether];
      std::copy_n(offsets + i, kTogether, part);
      for (Offset& offset : part) offset += moved;
      std::copy_n(part, kTogether, to + i);
    }
    for (; i < listed; ++i) to[i] = offsets[i] + moved;
  }
  return listed * turns;
}
/// The offsets of fused loops [first, end), with `rows` turns of the last one.
template <class Offset>
void list_offsets(const Plan& plan, const int64_t* strides, int64_t first, int64_t end, int64_t rows, Offset* offsets) {
  offsets[0] = 0;
  int64_t listed = 1;
  for (int64_t dim = first; dim < end; ++dim)
    listed = list_loop(offsets, listed, dim + 1 < end ? plan.sizes[dim] : rows, strides[dim]);
}
/// The offsets of the elements of `loops` loops, innermost first.
template <class Offset>
void list_offsets(const int64_t* counts, const int64_t* strides, int64_t loops, Offset* offsets) {
  offsets[0] = 0;
  int64_t listed = 1;
  for (int64_t loop = 0; loop < loops; ++loop) listed = list_loop(offsets, listed, counts[loop], strides[loop]);
}

}  // namespace tenon
