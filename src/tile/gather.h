// tile: brings the tiles of operands whose elements lie apart to contiguous memory. Takes the loops of a tile; keeps
// lists of where its elements lie, which are made once for all tiles.
#pragma once
#include <algorithm>
#include <cstddef>

#include "plan/plan.h"
#include "tile/shuffled.h"

namespace tenon {

/// How an operand's elements are gathered.
enum class GatherForm : uint8_t {
  block,     // by its strides
  columns,   // dense along the last fused loop: columns that a list names are transposed
  runs,      // dense along the innermost loop: runs that a list names are copied
  shuffles,  // short loops whose elements lie close together: by shuffles of vectors
  list,      // other short loops: element by element from a list
};
/// Whether two loops that are transposed have so few elements that they are taken one by one from a list. Bench: ./dev
/// bench --sweep, copies.
inline bool is_few_transposed(const int64_t* counts) noexcept {
  constexpr int64_t kFew = 96, kFewInShortRows = 40;  // short rows take no transposition
  return counts[0] * counts[1] < (counts[0] <= 4 ? kFewInShortRows : kFew);
}
/// Whether the runs of a contiguous innermost loop, of three loops or more, are copied from a list: if a call copied
/// the runs of the next loop only, they would be few. Two runs that a vector holds are shuffled. Bench: ./dev bench
/// --sweep, copies and both sides.
inline bool copies_runs(const int64_t* counts, const int64_t* strides, int shift) noexcept {
  constexpr int64_t kFewRuns = 16, kFewElements = 256, kVectorBytes = 32;
  const bool are_few = counts[1] < kFewRuns || counts[0] * counts[1] < kFewElements;
  const bool are_close = strides[1] > 0 && (strides[1] + counts[0]) << shift <= kVectorBytes;
  return strides[0] == 1 && strides[1] != 0 && are_few && !are_close;
}
/// `strides` of an operand with AccessPattern::gather over the fused loops of tiles of so many elements, of 1 << shift
/// bytes each.
GatherForm gather_form(const Plan& plan, const int64_t* strides, int shift, int64_t tile) noexcept;
/// Bytes of its list.
int64_t gather_list_bytes(const Plan& plan, const int64_t* strides, int shift, int64_t tile) noexcept;

/// An operand over the fused loops.
class Gather {
 public:
  Gather() = default;
  /// Makes the list in `list`, memory for gather_list_bytes. `data`: the operand's first element.
  Gather(const Plan& plan, const int64_t* strides, int shift, int64_t tile, const std::byte* data, std::byte* list);
  /// Copies `rows` turns of the last fused loop from `from` on.
  void load(std::byte* to, const std::byte* from, int64_t rows) const;
  /// Whether it is read in steps of a few elements; then `load_far` reads it from beyond the second-level cache.
  bool has_short_steps() const noexcept;
  void load_far(std::byte* to, const std::byte* from, int64_t rows) const;
  /// Whether `load` writes up to ShuffleList::kSlack bytes behind what it copies.
  bool writes_behind() const noexcept { return form_ == GatherForm::shuffles; }
  /// Whether it is read in columns that are dense along the last fused loop.
  bool is_transposed() const noexcept;
  /// Prefetches so many bytes of each column.
  void prefetch_columns(const std::byte* from, int64_t bytes) const;

 private:
  const Plan* plan_ = nullptr;
  const int64_t* strides_ = nullptr;
  int shift_ = 0;
  GatherForm form_ = GatherForm::block;
  const std::byte* list_ = nullptr;
  Shuffled shuffled_;
  const std::byte* end_ = nullptr;  // of the operand's memory, for shuffles
};

/// Bytes of the list of a transposed operand's columns.
inline int64_t column_list_bytes(int64_t columns) noexcept {
  return (columns + kListSlack) * static_cast<int64_t>(sizeof(int64_t));
}

}  // namespace tenon
