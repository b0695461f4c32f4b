// tensor: takes two tensors; gives whether they share memory.
#pragma once
#include "tensor/impl.h"

namespace tenon {

/// Whether two tensors have the same memory. Two storages can: `x.data` has a storage with a version of its own.
[[gnu::always_inline]] inline bool share_memory(const TensorImpl& a, const TensorImpl& b) noexcept {
  return a.storage == b.storage || (a.storage && b.storage && a.storage->data == b.storage->data);
}
inline bool share_memory(const Tensor& a, const Tensor& b) noexcept { return share_memory(*a.impl(), *b.impl()); }

enum class InternalOverlap { no, yes, unknown };
InternalOverlap internal_overlap_of_strided(const Tensor& tensor);
/// Whether two elements of `tensor` share memory: `yes` for an expanded dim, `unknown` if only a search could tell.
inline InternalOverlap internal_overlap(const Tensor& tensor) {
  return tensor.is_contiguous() ? InternalOverlap::no : internal_overlap_of_strided(tensor);
}

enum class Overlap { none, full, partial, unknown };
/// How two tensors overlap; `full`: element by element.
Overlap overlap_of(const Tensor& a, const Tensor& b);

[[noreturn]] void fail_overlap();

/// Whether two storages share memory. Different ones can, if the caller made them over one buffer.
inline bool storages_meet(const Storage* a, const Storage* b) noexcept {
  return a && b && a->data < b->data + b->nbytes && b->data < a->data + a->nbytes;  // exact: inside the storages
}
/// Whether the byte ranges from first to last element overlap.
bool ranges_meet(const Tensor& a, const Tensor& b);

/// Error "unsupported operation: more than one element of the written-to tensor refers to a single memory location.
/// ..."
void check_no_internal_overlap(const Tensor& written);
/// Error "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory
/// location. ..."
inline void check_no_partial_overlap(const Tensor& written, const Tensor& input) {
  if (share_memory(written, input) && overlap_of(written, input) == Overlap::partial) fail_overlap();
}
/// Throws the same text if the two overlap at all.
void check_no_overlap(const Tensor& written, const Tensor& input);
bool reads_what_it_wrote(const Tensor& written, const Tensor& input);
/// Whether an element could be read after it was written, although the checks above passed.
inline bool may_read_what_it_wrote(const Tensor& written, const Tensor& input) {
  return storages_meet(written.impl()->storage, input.impl()->storage) && reads_what_it_wrote(written, input);
}

}  // namespace tenon
