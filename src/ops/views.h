// ops: the views. Tensor's methods compute them (tensor/); this table says how they are called and what they give.
// tools/ops.py makes Python's signatures and docstrings, `tenon ops` and the reference page from it.
#pragma once

namespace tenon {

struct ViewRow {
  const char* signature;               // as in a Row (ops/row.h)
  bool function = true;                // whether Python has a function
  bool method = true;                  // whether Python has a method
  bool inplace = false;                // whether there is a method NAME_
  const char* inplace_functions = "";  // those of Python, as in a Row
  const char* doc = "";                // one line of documentation
};

// Neighbours of one name are overloads, which Python tries in this order.
inline constexpr ViewRow declared_views[] = {
    {.signature = "adjoint(Tensor self) -> Tensor", .doc = "The last two dims swapped, and every element conjugated."},
    {.signature = "as_strided(Tensor self, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
     .inplace = true,
     .inplace_functions = "as_strided_",
     .doc = "A view with any sizes and strides over the same storage."},
    {.signature = "broadcast_to(Tensor self, int[] size) -> Tensor", .doc = "The same as expand."},
    {.signature = "conj(Tensor self) -> Tensor",
     .doc = "The complex conjugate, computed at once. A real input is returned itself."},
    {.signature = "diagonal(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor",
     .doc = "A view of the diagonal of two dims, as the last dim."},
    {.signature = "expand(Tensor self, int[] size, *, bool implicit=False) -> Tensor",
     .function = false,
     .doc = "A view in which dims of size 1 repeat to the given sizes; -1 keeps a size."},
    {.signature = "expand_as(Tensor self, Tensor other) -> Tensor",
     .function = false,
     .doc = "The same as expand(other.size())."},
    {.signature = "flatten(Tensor self, int start_dim=0, int end_dim=-1) -> Tensor",
     .doc = "Dims start_dim to end_dim joined into one: a view if strides allow it, otherwise a copy."},
    {.signature = "imag(Tensor self) -> Tensor", .method = false, .doc = "A view of the imaginary parts."},
    {.signature = "movedim(Tensor self, int source, int destination) -> Tensor",
     .doc = "A view with the source dims moved to the destination positions."},
    {.signature = "movedim(Tensor self, int[] source, int[] destination) -> Tensor"},
    {.signature = "moveaxis(Tensor self, int source, int destination) -> Tensor", .doc = "The same as movedim."},
    {.signature = "moveaxis(Tensor self, int[] source, int[] destination) -> Tensor"},
    {.signature = "narrow(Tensor self, int dim, Tensor start, int length) -> Tensor",
     .doc = "A view of `length` indices along dim, from start on."},
    {.signature = "narrow(Tensor self, int dim, int start, int length) -> Tensor"},
    {.signature = "permute(Tensor self, int[] dims) -> Tensor", .doc = "A view with the dims in the given order."},
    {.signature = "positive(Tensor self) -> Tensor", .doc = "input itself, which must not be bool."},
    {.signature = "ravel(Tensor self) -> Tensor",
     .doc = "All elements in one dim: a view if the tensor is contiguous, otherwise a copy."},
    {.signature = "real(Tensor self) -> Tensor",
     .method = false,
     .doc = "A view of the real parts. A real input is returned itself."},
    {.signature = "reshape(Tensor self, int[] shape) -> Tensor",
     .doc = "The elements in another shape: a view if strides allow it, otherwise a copy."},
    {.signature = "reshape_as(Tensor self, Tensor other) -> Tensor",
     .function = false,
     .doc = "The same as reshape(other.size())."},
    {.signature = "resolve_conj(Tensor self) -> Tensor", .doc = "input itself: conj computes its result at once."},
    {.signature = "select(Tensor self, int dim, int index) -> Tensor",
     .doc = "A view of one index along dim; the result does not have that dim."},
    {.signature = "squeeze(Tensor self) -> Tensor",
     .inplace = true,
     .doc = "A view without the dims of size 1, or without those among the given ones."},
    {.signature = "squeeze(Tensor self, int dim) -> Tensor", .inplace = true},
    {.signature = "squeeze(Tensor self, int[] dim) -> Tensor", .inplace = true},
    {.signature = "swapaxes(Tensor self, int axis0, int axis1) -> Tensor",
     .inplace = true,
     .doc = "The same as transpose."},
    {.signature = "swapdims(Tensor self, int dim0, int dim1) -> Tensor",
     .inplace = true,
     .doc = "The same as transpose."},
    {.signature = "t(Tensor self) -> Tensor",
     .inplace = true,
     .doc = "A view of a matrix with its two dims swapped. Tensors of fewer dims stay."},
    {.signature = "transpose(Tensor self, int dim0, int dim1) -> Tensor",
     .inplace = true,
     .doc = "A view with two dims swapped."},
    {.signature = "unflatten(Tensor self, int dim, int[] sizes) -> Tensor",
     .doc = "A view with one dim split into several."},
    {.signature = "unfold(Tensor self, int dimension, int size, int step) -> Tensor",
     .function = false,
     .doc = "A view of windows along a dim: `size` elements each, `step` apart, in a new last dim."},
    {.signature = "unsqueeze(Tensor self, int dim) -> Tensor",
     .inplace = true,
     .doc = "A view with a new dim of size 1 at position dim."},
    {.signature = "view(Tensor self, ScalarType dtype) -> Tensor",
     .function = false,
     .doc = "A view with another shape, or of the same bytes as another dtype. An error if strides do not allow it."},
    {.signature = "view(Tensor self, int[] size) -> Tensor", .function = false},
    {.signature = "view_as(Tensor self, Tensor other) -> Tensor",
     .function = false,
     .doc = "The same as view(other.size())."},
    {.signature = "view_as_complex(Tensor self) -> Tensor",
     .method = false,
     .doc = "A view in which each pair of floats in the last dim is a complex number."},
    {.signature = "view_as_real(Tensor self) -> Tensor",
     .method = false,
     .doc = "A view with the real and the imaginary parts in a new last dim of size 2."},
};

}  // namespace tenon
