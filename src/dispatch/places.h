// dispatch: index tensors of gather, scatter and related ops. Takes an index and the size of the dim in which it
// selects; gives int64 places in range, or throws PyTorch's error.
#pragma once
#include <algorithm>

#include "dispatch/planes.h"

namespace tenon {

/// Whether an index is out of range.
bool is_any_outside(const ByteView& index, int64_t size);
/// The first index out of range, in row-major order. There was one when they were checked.
int64_t first_outside(const ByteView& index, int64_t size);
/// Throws for the first index out of range, in the order of PyTorch's loop.
[[noreturn]] void fail_first_place(const ByteView& index, int64_t dim, int64_t size);
/// Throws if another thread changed the index between the check and its use.
[[noreturn]] void fail_changed();

inline bool is_index(Dtype dtype) noexcept { return dtype == int64 || dtype == int32; }
/// Throws "OP(): Expected dtype int32/int64 for index". An index without elements may have any dtype.
void check_index_dtype(const Tensor& index, const char* op);
/// The index as int64. Throws for a meta tensor.
Tensor as_places(const Tensor& index);

/// A row-major copy of int64 places in which those counted from the end, as negative numbers, are counted from the
/// start. Calls `fail(place, size)`, which throws, for the first one out of range.
Tensor wrapped_places(const Tensor& index, int64_t size, void (*fail)(int64_t place, int64_t size));
/// The Error of take and put for a place out of range.
[[noreturn]] void fail_out_of_elements(int64_t place, int64_t count);

/// out[..., i, ...] = self[..., index[i], ...] along `dim`, for places in range.
void gather_by_index(const Tensor& out, const Tensor& self, const ByteView& index, int64_t dim);
/// self[..., index[i], ...] = src[..., i, ...] along `dim`, for places in range and elements of `width` bytes.
void replace_by_index(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, int64_t width);
/// The same, with `alpha` times the elements of `src` added.
void add_by_index(const ByteView& self, int64_t dim, const ByteView& index, const ByteView& src, Dtype dtype,
                  Scalar alpha);

/// A 0-dim tensor counts as one dim of size 1.
inline int64_t size_along(const Tensor& tensor, int64_t dim) { return tensor.dim() == 0 ? 1 : tensor.size(dim); }
inline int64_t dims_of(const Tensor& tensor) { return std::max<int64_t>(tensor.dim(), 1); }
/// The first dim other than `except` along which `index` is larger than `tensor`; -1: none.
int64_t first_larger_dim(const Tensor& index, const Tensor& tensor, int64_t except);
/// The index of the parts of `source` along `dim`, for each of its elements, as scatter takes it.
Tensor spread_index(const Tensor& index, int64_t dim, const Tensor& source);

}  // namespace tenon
