// tile: brings the tiles of operands whose elements lie apart to contiguous memory. Takes the loops of a tile; keeps
// lists of where its elements lie, which are made once for all tiles.
#pragma once
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

/// The offsets of fused loops [first, end), with `rows` turns of the last one.
template <class Offset>
void list_offsets(const Plan& plan, const int64_t* strides, int64_t first, int64_t end, int64_t rows, Offset* offsets) {
  offsets[0] = 0;
  int64_t count = 1;
  for (int64_t dim = first; dim < end; ++dim) {
    const int64_t turns = dim + 1 < end ? plan.sizes[dim] : rows;
    for (int64_t turn = 1; turn < turns; ++turn)
      for (int64_t i = 0; i < count; ++i)
        offsets[turn * count + i] = static_cast<Offset>(offsets[i] + turn * strides[dim]);  // exact: within the operand
    count *= turns;
  }
}

}  // namespace tenon
