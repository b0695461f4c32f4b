// dispatch: every op as a function and as an operator (tenon/functions.h), and functions that are not declared ops.
#pragma once
#include "tenon/functions.h"

namespace tenon {

/// The dtype an op over these operands computes in.
TENON_API Dtype result_type(const Arg& a, const Arg& b);
/// All tensors expanded to their common shape, as views.
TENON_API void broadcast_tensors(Tensor* tensors, int64_t count);

/// Whether both have one shape and the same elements.
TENON_API bool equal(const Tensor& self, const Tensor& other);
/// Whether isclose is true for all elements.
TENON_API bool allclose(const Tensor& self, const Tensor& other, double rtol = 1e-5, double atol = 1e-8,
                        bool equal_nan = false);

/// einsum with the arguments in PyTorch's order.
inline Tensor einsum(const char* equation, const List<Tensor>& tensors) { return einsum(tensors, equation); }

/// linalg_multi_dot of matrices; of one, itself. Errors "Tensor dimension is 1, expected 2 instead.", "chain_matmul():
/// Expected one or more matrices".
TENON_API Tensor chain_matmul(const List<Tensor>& matrices);
TENON_API Tensor& chain_matmul_out(Tensor& out, const List<Tensor>& matrices);

/// The softmax of the negative elements.
inline Tensor softmin(const Tensor& self, int64_t dim, std::optional<Dtype> dtype = {}) {
  return softmax(neg(self), dim, dtype);
}

// Other names of views.

/// All elements in one dim: a view if the tensor is contiguous, otherwise a copy.
inline Tensor ravel(const Tensor& self) { return self.contiguous().reshape({-1}); }
inline Tensor swapaxes(const Tensor& self, int64_t axis0, int64_t axis1) { return self.transpose(axis0, axis1); }
inline Tensor swapdims(const Tensor& self, int64_t dim0, int64_t dim1) { return self.transpose(dim0, dim1); }
inline Tensor moveaxis(const Tensor& self, SizesView source, SizesView destination) {
  return self.movedim(source, destination);
}

/// `values`, broadcast, written to the elements of `self` that the indices select, one for each of the first dims; an
/// undefined one selects all. If an element is selected twice, the last value stays; with `accumulate` all are added to
/// it. Tensor::index_put_ takes slices, too.
/// https://docs.pytorch.org/docs/stable/generated/torch.Tensor.index_put_.html
TENON_API Tensor& index_put_(Tensor& self, const List<Tensor>& indices, const Tensor& values, bool accumulate = false);
/// The same in a copy.
TENON_API Tensor index_put(const Tensor& self, const List<Tensor>& indices, const Tensor& values,
                           bool accumulate = false);

/// The indices of the nonzero elements: one int64 tensor for each dim.
TENON_API List<Tensor> nonzero_places(const Tensor& self);

}  // namespace tenon
