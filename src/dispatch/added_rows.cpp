// dispatch: sums of rows of 16-bit floats by an index. Takes a row-major tensor, a place for each row of `source`; adds
// up all that go to one place in float32, and rounds once. Only the rows that are named are read.
#include <algorithm>
#include <limits>

#include "dispatch/by_index.h"
#include "dispatch/sorted_places.h"

namespace tenon::by_index {
namespace {

/// The places in order, and how to reach the rows.
struct AddedRows {
  const int64_t* places;
  SortedPlaces order;
  int64_t count, size, columns;
  std::byte* to;
  const std::byte* from;
  Dtype dtype;

  int64_t place(int64_t i) const { return places[order[i]]; }
  int64_t end_of_group(int64_t i) const {
    int64_t end = i + 1;
    while (end < count && place(end) == place(i)) ++end;
    return end;
  }
  /// Adds rows [first, end) of the order, which go to the same place.
  void add_group(int64_t first, int64_t end) const {
    const int64_t to_place = place(first), bytes = columns * 2;  // exact: inside the storages
    if (is_outside(to_place, size)) fail_changed();
    // exact: inside the target
    kernels().index.add_rows[static_cast<int>(dtype)](to + to_place * bytes, from, bytes, order.packed(first),
                                                      end - first, columns);
  }
};

/// Whether these are the sizes of `self` but along dim 0.
bool has_rows_of(SizesView sizes, const Tensor& self) {
  if (sizes.size() != self.dim()) return false;
  for (int64_t dim = 1; dim < self.dim(); ++dim)
    if (sizes[dim] != self.sizes()[dim]) return false;
  return true;
}

}  // namespace

bool add_rows_wide(const Tensor& self, int64_t dim, const Tensor& places, const Tensor& source) {
  constexpr int64_t kPartElements = 1 << 15;
  // A run that is recorded takes the general path, as it does without memory.
  if (dim != 0 || self.dim() < 2 || !self.impl()->row_major || self.is_meta() || CourseRecord::now()) return false;
  const int64_t columns = self.numel() / std::max<int64_t>(self.size(0), 1);
  const bool has_rows = has_rows_of(source.sizes(), self) && (places.dim() < 2 || has_rows_of(places.sizes(), self));
  if (columns < kShortestAddedRow || !has_rows) return false;
  Tensor vector = vector_along(places, 0);
  if (!vector.defined()) return false;
  vector = vector.contiguous();
  const int64_t count = vector.numel();
  // Of short rows, of which most are named, the sort takes longer than a pass over the tensor: bench: tenon_bench
  // --filter '^index_add/'.
  if (columns < 64 && count > self.size(0) / 2) return false;
  if (count == 0 || count > source.size(0) || count > std::numeric_limits<uint32_t>::max()) return false;
  const Tensor elements = apart(self, source).contiguous();
  const int64_t* const keys = vector.data<int64_t>();
  AddedRows rows{
      keys,        SortedPlaces(count), count, self.size(0), columns, self.impl()->data(), elements.impl()->data(),
      self.dtype()};
  rows.order.sort(keys, range_of_keys(keys, count));
  const int64_t each = std::max<int64_t>(kPartElements / columns, 1);
  const Uninterrupted whole;
  parallel_for((count + each - 1) / each, [&](int64_t part) {
    const int64_t end = std::min((part + 1) * each, count);
    int64_t first = part * each;
    while (first < end && first > 0 && rows.place(first) == rows.place(first - 1)) ++first;  // of the part before
    for (int64_t next; first < end; first = next) {
      next = rows.end_of_group(first);
      rows.add_group(first, next);
    }
  });
  bump_version(self);
  return true;
}

}  // namespace tenon::by_index
