// tensor: takes a list of indices; gives the view that integers, slices, None and Ellipsis make, and the index tensors
// by dim of that view. Never reads an element.
#pragma once
#include <algorithm>
#include <optional>
#include <vector>

#include "tenon/error.h"
#include "tenon/tensor.h"

namespace tenon {

struct Indexed {
  Tensor view;
  std::vector<Tensor> tensors;  // for each dim; undefined: none
};
/// Throws IndexError for too many indices and for integers out of range. A slice of a whole dim makes no view of its
/// own, except when it is the only index of a read.
Indexed index_view(const Tensor& self, const Index* indices, int64_t count, bool reads);

/// The last view of the chain that index_view makes, without the others. Undefined if there are index tensors, less
/// than two entries, an error in their number, or a history, which has a link for each view.
Tensor view_at_once(const Tensor& self, const Index* indices, int64_t count);

/// IndexError "index 3 is out of bounds for dimension 0 with size 3".
[[noreturn]] void fail_out_of_bounds(int64_t index, int64_t dim, int64_t size);
/// IndexError "too many indices for tensor of dimension 1".
[[noreturn]] void fail_too_many_indices(const Tensor& tensor);

/// The elements of a dim that a slice names: the first one, and the place behind the last.
struct SlicedRange {
  int64_t first, last;
  int64_t count(int64_t step) const {
    // exact: inside the dim
    return last == first ? 0 : step == 1 ? last - first : (last - first - 1) / step + 1;
  }
};
/// Throws ValueError for a step that is not positive.
inline void check_step(int64_t step) {
  if (step <= 0) throw ValueError(step == 0 ? "slice step cannot be zero" : "step must be greater than zero");
}
/// The range of `start:stop` in a dim of `size`.
inline SlicedRange sliced_range(std::optional<int64_t> start, std::optional<int64_t> stop, int64_t size) {
  // exact: of different signs
  const auto clamped = [size](int64_t bound) { return std::clamp<int64_t>(bound < 0 ? bound + size : bound, 0, size); };
  const int64_t first = clamped(start.value_or(0));
  return {first, std::max(first, clamped(stop.value_or(size)))};
}

/// Whether an index tensor is a mask.
bool is_mask(const Tensor& index);

}  // namespace tenon
