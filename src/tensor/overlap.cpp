#include "tensor/overlap.h"

#include <algorithm>
#include <cstdint>

#include "base/checked.h"
#include "tensor/history.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

struct ByteRange {
  std::uintptr_t begin, end;
};

/// The bytes from the tensor's first element to its last; empty if it has none. Without data they begin at 0, and may
/// be more than any memory has.
ByteRange byte_range(const Tensor& tensor) {
  const auto size = static_cast<std::uintptr_t>(tensor.itemsize());
  // exact: inside the storage, or a number that only stands for a place
  const auto begin = tensor.impl()->storage ? reinterpret_cast<std::uintptr_t>(tensor.impl()->data())
                                            : static_cast<std::uintptr_t>(tensor.impl()->offset) * size;
  // exact: inside the storage
  return {begin, begin + static_cast<std::uintptr_t>(storage_extent(tensor.sizes(), tensor.strides())) * size};
}

/// Views without data know their bases and offsets: where a function is traced, they overlap as they will with data.
bool stand_for_shared_memory(const Tensor& a, const Tensor& b) {
  return thread_modes.share_memory && a.is_meta() && b.is_meta() && thread_modes.share_memory(a, b);
}

bool is_dense(const Tensor& tensor) {
  return tensor.is_contiguous() || is_non_overlapping_and_dense(tensor.sizes(), tensor.strides());
}

/// Whether every dim's stride is larger than all that dims of smaller strides reach. Then no two elements overlap.
bool steps_beyond(const Tensor& tensor) {
  const SizesView sizes = tensor.sizes(), strides = tensor.strides();
  Dims order;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (sizes[dim] > 1) order.push_back(dim);
  std::ranges::sort(order, {}, [&](int64_t dim) { return strides[dim]; });
  Checked reach = 0;
  for (int64_t dim : order) {
    if (!reach.is_at_most(strides[dim] - 1)) return false;
    reach += (Checked(sizes[dim]) - 1) * strides[dim];
  }
  return true;
}

}  // namespace

bool ranges_meet(const Tensor& a, const Tensor& b) {
  const ByteRange x = byte_range(a), y = byte_range(b);
  return x.begin < y.end && y.begin < x.end;
}

InternalOverlap internal_overlap_of_strided(const Tensor& tensor) {
  if (is_dense(tensor)) return InternalOverlap::no;
  for (int64_t dim = 0; dim < tensor.dim(); ++dim)
    if (tensor.strides()[dim] == 0 && tensor.sizes()[dim] > 1) return InternalOverlap::yes;
  return steps_beyond(tensor) ? InternalOverlap::no : InternalOverlap::unknown;
}

Overlap overlap_of(const Tensor& a, const Tensor& b) {
  if (a.is(b)) return Overlap::full;
  if (!(a.impl()->storage ? share_memory(a, b) : stand_for_shared_memory(a, b))) return Overlap::none;
  if (a.numel() == 0) return Overlap::none;  // an empty range meets none
  if (!is_dense(a) || !is_dense(b)) return Overlap::unknown;
  const ByteRange x = byte_range(a), y = byte_range(b);
  if (x.begin == y.begin && x.end == y.end) return a.strides() == b.strides() ? Overlap::full : Overlap::partial;
  return x.begin < y.end && y.begin < x.end ? Overlap::partial : Overlap::none;
}

void check_no_internal_overlap(const Tensor& written) {
  if (internal_overlap(written) != InternalOverlap::yes) return;
  throw Error(
      "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
      "Please clone() the tensor before performing the operation.");
}

void fail_overlap() {
  throw Error(
      "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory "
      "location. Please clone() the tensor before performing the operation.");
}

void check_no_overlap(const Tensor& written, const Tensor& input) {
  const Overlap overlap = overlap_of(written, input);
  if (overlap == Overlap::partial || overlap == Overlap::full) fail_overlap();
}

bool reads_what_it_wrote(const Tensor& written, const Tensor& input) {
  if (!ranges_meet(written, input)) return false;
  // Same layout at the same address: each element is read before it is written, unless the layout overlaps itself.
  const bool same = written.impl()->data() == input.impl()->data() && written.dtype() == input.dtype() &&
                    written.sizes() == input.sizes() && written.strides() == input.strides();
  return !same || internal_overlap(written) != InternalOverlap::no;
}

}  // namespace tenon
