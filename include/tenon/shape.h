// shape: the broadcasting rule and its kin. Takes sizes, gives sizes. Pure integers: no memory, no dtypes, no tensors.
#pragma once
#include <initializer_list>
#include <string>

#include "tenon/dims.h"
#include "tenon/export.h"

namespace tenon {

/// "[5, 3, 4, 1]".
TENON_API std::string to_string(SizesView sizes);

/// The number of elements; Error "numel: integer multiplication overflow" where the product overflows before a 0
/// comes. A negative size overflows, too, unless a 0 stands beside it.
TENON_API int64_t checked_numel(SizesView sizes);
/// The number of elements of sizes that are known to be sound.
constexpr int64_t numel_of(SizesView sizes) noexcept {
  uint64_t n = 1;
  // exact: what wraps round beside a size of 0 still ends at 0
  for (int64_t size : sizes) n *= static_cast<uint64_t>(size);
  return static_cast<int64_t>(n);
}

/// Shape of an elementwise result: aligned at the right, sizes equal, or 1, or absent. Error names the last mismatching
/// dim: "The size of tensor a (3) must match the size of tensor b (4) at non-singleton dimension 1".
/// https://docs.pytorch.org/docs/stable/notes/broadcasting.html
TENON_API Dims infer_size(SizesView a, SizesView b);
/// Widens `shape` in place by `other`; the same rule and text.
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

/// The dims of `sizes` summed to bring them back to `target`: the added ones, then those of size 1 in `target`.
TENON_API Dims sum_to_dims(SizesView sizes, SizesView target);

/// `dim` counted from the end when negative; IndexError "Dimension out of range (expected to be in range of [-2, 1],
/// but got 2)".
TENON_API int64_t wrap_dim_slow(int64_t dim, int64_t ndim);
inline int64_t wrap_dim(int64_t dim, int64_t ndim) { return dim >= 0 && dim < ndim ? dim : wrap_dim_slow(dim, ndim); }
/// The same for a dim that must exist; IndexError "Dimension specified as 0 but tensor has no dimensions".
TENON_API int64_t wrap_existing_dim(int64_t dim, int64_t ndim);
/// Marks of the dims to reduce (none given: all); Error "dim 0 appears multiple times in the list of dims".
TENON_API Dims reduced_mask(SizesView dims, int64_t ndim);
/// Shape of a reduction over the marked dims.
TENON_API Dims reduced_shape(SizesView sizes, SizesView mask, bool keepdim);

/// Sizes with -1 filled in, for `numel` elements; texts of Tensor.view.
TENON_API Dims infer_view_sizes(SizesView sizes, int64_t numel);
/// Strides of a view with new sizes over the same memory; Error "Stride calculation overflowed". False when the memory
/// would have to be copied.
TENON_API bool view_strides(SizesView sizes, SizesView strides, SizesView desired, Dims& result);

/// How the dims of a dense tensor lie in memory.
enum class MemoryFormat : unsigned char { contiguous, channels_last, channels_last_3d, preserve };
/// Error "Stride calculation overflowed": beside a size of 0 the others may be huge.
TENON_API Dims contiguous_strides(SizesView sizes);
/// Strides of a dense layout in a memory format; the same error, and "required rank 4 tensor to use channels_last
/// format".
TENON_API Dims format_strides(SizesView sizes, MemoryFormat format);
TENON_API bool is_contiguous(SizesView sizes, SizesView strides,
                             MemoryFormat format = MemoryFormat::contiguous) noexcept;
/// Whether the elements fill one block of memory, each place once, in any order of dims.
TENON_API bool is_non_overlapping_and_dense(SizesView sizes, SizesView strides);

}  // namespace tenon
