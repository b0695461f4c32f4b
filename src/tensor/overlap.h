// tensor: takes two tensors; says whether writing to one can be seen through the other.
#pragma once
#include "tensor/impl.h"

namespace tenon {

/// Whether two tensors lie in one memory. Storages may share it: that of `x.data` counts its writes apart.
[[gnu::always_inline]] inline bool share_memory(const TensorImpl& a, const TensorImpl& b) noexcept {
  return a.storage == b.storage || (a.storage && b.storage && a.storage->data == b.storage->data);
}
inline bool share_memory(const Tensor& a, const Tensor& b) noexcept { return share_memory(*a.impl(), *b.impl()); }

enum class InternalOverlap { no, yes, unknown };
/// Whether two indices of `tensor` name one place: `yes` for an expanded dim, `unknown` where only a search could tell.
InternalOverlap internal_overlap(const Tensor& tensor);

enum class Overlap { none, full, partial, unknown };
/// How the places of two tensors meet; `full` means element by element the same.
Overlap overlap_of(const Tensor& a, const Tensor& b);

/// Whether the bytes between the first and the last element of each meet, whoever owns them.
bool ranges_meet(const Tensor& a, const Tensor& b);

/// Error "unsupported operation: more than one element of the written-to tensor refers to a single memory location.
/// ..."
void check_no_internal_overlap(const Tensor& written);
/// Error "unsupported operation: some elements of the input tensor and the written-to tensor refer to a single memory
/// location. ..."
void check_no_partial_overlap(const Tensor& written, const Tensor& input);
/// The same text where the two meet at all.
void check_no_overlap(const Tensor& written, const Tensor& input);
/// Whether the byte ranges meet in a way the checks above let through and an element could be read after it was
/// written.
bool may_read_what_it_wrote(const Tensor& written, const Tensor& input);

}  // namespace tenon
