// shape: the broadcasting rule and related functions. Takes sizes, gives sizes. Pure integers: no memory, no dtypes, no
// tensors.
#pragma once
#include <initializer_list>
#include <string>

#include "tenon/dims.h"
#include "tenon/export.h"

namespace tenon {

/// "[5, 3, 4, 1]".
TENON_API std::string to_string(SizesView sizes);

/// The number of elements. Throws Error "numel: integer multiplication overflow" if the product overflows before a size
/// of 0. A negative size counts as an overflow, too, unless another size is 0.
TENON_API int64_t checked_numel(SizesView sizes);
/// The number of elements of sizes that are known not to overflow.
constexpr int64_t numel_of(SizesView sizes) noexcept {
  uint64_t n = 1;
  // exact: with a size of 0 the product is 0, even if it wraps before
  for (int64_t size : sizes) n *= static_cast<uint64_t>(size);
  return static_cast<int64_t>(n);
}

/// The broadcasting rule for one dim: sizes are equal, or one of them is 1. broadcast_size gives their common size.
constexpr bool sizes_broadcast(int64_t a, int64_t b) noexcept { return a == b || a == 1 || b == 1; }
constexpr int64_t broadcast_size(int64_t a, int64_t b) noexcept { return a == 1 ? b : a; }

/// Shape of an elementwise result: aligned at the right, sizes equal, or 1, or absent. Error names the last mismatching
/// dim: "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1".
/// https://docs.pytorch.org/docs/stable/notes/broadcasting.html
TENON_API Dims infer_size(SizesView a, SizesView b);
/// Broadcasts `shape` in place with `other`; the same rule and text.
TENON_API void broadcast_into(Dims& shape, SizesView other);
/// Shape of any number of shapes together, with the text of torch.broadcast_shapes.
TENON_API Dims broadcast_shapes(const SizesView* shapes, int64_t count);
inline Dims broadcast_shapes(std::initializer_list<SizesView> shapes) {
  return broadcast_shapes(shapes.begin(), static_cast<int64_t>(shapes.size()));
}
/// Whether shapes broadcast together. Never fails.
TENON_API bool is_broadcastable(SizesView a, SizesView b) noexcept;
/// Whether a tensor of `shape` can be expanded to `desired`.
TENON_API bool is_expandable_to(SizesView shape, SizesView desired) noexcept;

/// Sizes and strides (in elements) of an expanded tensor. A size of -1 keeps the existing one; texts of Tensor.expand.
TENON_API void expand_layout(SizesView sizes, SizesView strides, SizesView desired, Dims& new_sizes, Dims& new_strides,
                             const char* type_name = "torch.FloatTensor");

/// The dims to sum to reduce `sizes` to `target`: the added ones, then those of size 1 in `target`.
TENON_API Dims sum_to_dims(SizesView sizes, SizesView target);

/// A negative `dim` counts from the end. IndexError "Dimension out of range (expected to be in range of [-2, 1], but
/// got 2)".
TENON_API int64_t wrap_dim_slow(int64_t dim, int64_t ndim);
inline int64_t wrap_dim(int64_t dim, int64_t ndim) { return dim >= 0 && dim < ndim ? dim : wrap_dim_slow(dim, ndim); }
/// The same for a dim that must exist; IndexError "Dimension specified as 0 but tensor has no dimensions".
TENON_API int64_t wrap_existing_dim(int64_t dim, int64_t ndim);
/// A 1 for each dim to reduce, 0 for the others (empty `dims`: all are reduced). Error "dim 0 appears multiple times in
/// the list of dims".
TENON_API Dims reduced_mask(SizesView dims, int64_t ndim);
/// Shape of a reduction over the marked dims.
TENON_API Dims reduced_shape(SizesView sizes, SizesView mask, bool keepdim);

/// `sizes` with -1 replaced, so that there are `numel` elements; error texts of Tensor.view.
TENON_API Dims infer_view_sizes(SizesView sizes, int64_t numel);
/// Strides of a view with new sizes over the same memory; Error "Stride calculation overflowed". False when the memory
/// would have to be copied.
TENON_API bool view_strides(SizesView sizes, SizesView strides, SizesView desired, Dims& result);

/// How the dims of a dense tensor lie in memory.
enum class MemoryFormat : unsigned char { contiguous, channels_last, channels_last_3d, preserve };
/// Throws Error "Stride calculation overflowed": if one size is 0, the others may be huge.
TENON_API Dims contiguous_strides(SizesView sizes);
/// Strides of a dense layout in a memory format; the same error, and "required rank 4 tensor to use channels_last
/// format".
TENON_API Dims format_strides(SizesView sizes, MemoryFormat format);
TENON_API bool is_contiguous(SizesView sizes, SizesView strides,
                             MemoryFormat format = MemoryFormat::contiguous) noexcept;
/// Whether the elements fill one block of memory without gaps or overlap, in any order of dims.
TENON_API bool is_non_overlapping_and_dense(SizesView sizes, SizesView strides);

}  // namespace tenon
