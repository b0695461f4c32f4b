// Norms of matrices, as reductions of vector norms. PyTorch: linalg_matrix_norm and linalg_norm of LinearAlgebra.cpp.
#include <cmath>
#include <optional>
#include <string>
#include <utility>

#include "dispatch/algorithm.h"
#include "dispatch/elementwise.h"
#include "dispatch/plain.h"
#include "dispatch/text.h"
#include "tenon/ops.h"
#include "type/overflow.h"

namespace tenon {
namespace {

[[noreturn]] void fail(const std::string& text) { throw Error("linalg.matrix_norm: " + text); }

void check_matrix(const Tensor& self) {
  if (self.dim() < 2) fail("The input tensor A must have at least 2 dimensions.");
  if (!is_inexact(self.dtype()))
    fail(std::string("Expected a floating point or complex tensor as input. Got ") + scalar_type_name(self.dtype()));
}

struct Plane {
  int64_t rows, columns;
};

/// The two dims of the matrices, counted from the front.
Plane plane_of(const Tensor& self, SizesView dims) {
  if (dims.size() != 2) {
    std::string text = "dim must be a 2-tuple. Got ";
    for (int64_t i = 0; i < dims.size(); ++i) text += (i > 0 ? " " : "") + std::to_string(dims[i]);
    fail(text);
  }
  const Plane plane{wrap_dim(dims[0], self.dim()), wrap_dim(dims[1], self.dim())};
  if (plane.rows == plane.columns)
    fail("dims must be different. Got (" + std::to_string(plane.rows) + ", " + std::to_string(plane.columns) + ")");
  return plane;
}

constexpr int64_t kLastDims[] = {-2, -1}, kFirstDims[] = {0, 1};
SizesView dims_or(const DimsArg& dim, const int64_t (&fallback)[2]) {
  return dim.view().data() ? dim.view() : SizesView(fallback, 2);
}

/// The singular values along the last dim, which the matrices' dims are not.
Tensor singular_values(const Tensor& self, const Plane& plane, std::optional<Dtype> dtype) {
  const Tensor matrices = self.movedim({plane.rows, plane.columns}, {-2, -1});
  return tenon::linalg_svdvals(dtype ? matrices.to(*dtype) : matrices);
}
/// What was reduced along the last dim, with the matrices' dims back as size 1 if `keepdim`.
Tensor with_plane(const Tensor& reduced, const Plane& plane, bool keepdim) {
  return keepdim ? reduced.unsqueeze(-1).unsqueeze(-1).movedim({-2, -1}, {plane.rows, plane.columns}) : reduced;
}

Tensor matrix_norm(const Tensor& self, Scalar ord, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  if (ord.is_complex()) fail("Expected a non-complex scalar as the order of norm.");
  const double order = ord.to<double>(), magnitude = std::abs(order);
  if (magnitude != 1 && magnitude != 2 && !std::isinf(magnitude)) fail("Order " + text_of(order) + " not supported.");
  check_matrix(self);
  Plane plane = plane_of(self, dims);
  check_norm_dtypes("linalg.matrix_norm", self.dtype(), dtype);
  if (magnitude == 2) {
    const Tensor values = singular_values(self, plane, dtype);
    const bool is_empty = order > 0 && values.size(-1) == 0;  // the largest of none is 0
    const Tensor extreme = is_empty    ? tenon::sum(values, {-1}, false)
                           : order > 0 ? tenon::amax(values, {-1}, false)
                                       : tenon::amin(values, {-1}, false);
    return with_plane(extreme, plane, keepdim);
  }
  if (std::isinf(magnitude)) std::swap(plane.rows, plane.columns);
  // Without keepdim the first reduction removes its dim.
  if (!keepdim && plane.rows < plane.columns) --plane.columns;
  const Tensor sums = tenon::linalg_vector_norm(self, 1., {plane.rows}, keepdim, dtype);
  if (order < 0) return tenon::amin(sums, {plane.columns}, keepdim);
  const bool is_empty = sums.size(plane.columns) == 0;  // the largest of no sums is 0
  return is_empty ? tenon::sum(sums, {plane.columns}, keepdim) : tenon::amax(sums, {plane.columns}, keepdim);
}

Tensor matrix_norm(const Tensor& self, const char* ord, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  const std::string name = ord;
  if (name != "fro" && name != "nuc") fail("Order " + name + " not supported.");
  check_matrix(self);
  const Plane plane = plane_of(self, dims);
  check_norm_dtypes("linalg.matrix_norm", self.dtype(), dtype);
  if (name == "nuc") return with_plane(tenon::sum(singular_values(self, plane, dtype), {-1}, false), plane, keepdim);
  return tenon::linalg_vector_norm(self, 2., {plane.rows, plane.columns}, keepdim, dtype);
}

/// `has_ord`: whether the norm may be one of matrices.
void check_norm_dims(const Tensor& self, const DimsArg& dim, bool has_ord) {
  const SizesView dims = dim.view();
  if (dims.data()) {
    if (dims.size() != 1 && dims.size() != 2)
      throw Error("linalg.norm: If dim is specified, it must be of length 1 or 2. Got " + to_string(dims));
  } else if (has_ord && self.dim() != 1 && self.dim() != 2) {
    throw Error("linalg.norm: If dim is not specified but ord is, the input must be 1D or 2D. Got " +
                std::to_string(self.dim()) + "D.");
  }
}

Tensor& write(const char* op, Tensor& out, const Tensor& result) {
  if (out.dtype() != result.dtype())
    throw Error(std::string(op) + " expected out tensor dtype " + scalar_type_name(result.dtype()) +
                " but got: " + scalar_type_name(out.dtype()));
  return tenon::alias_copy_out(out, result);
}

}  // namespace

Tensor plain::linalg_matrix_norm(const Tensor& self, Scalar ord, const DimsArg& dim, bool keepdim,
                                 std::optional<Dtype> dtype) {
  return matrix_norm(self, ord, dims_or(dim, kLastDims), keepdim, dtype);
}
Tensor& plain::linalg_matrix_norm_out(Tensor& out, const Tensor& self, Scalar ord, const DimsArg& dim, bool keepdim,
                                      std::optional<Dtype> dtype) {
  return write("linalg.matrix_norm", out, plain::linalg_matrix_norm(self, ord, dim, keepdim, dtype));
}

Tensor plain::linalg_matrix_norm_named(const Tensor& self, const char* ord, const DimsArg& dim, bool keepdim,
                                       std::optional<Dtype> dtype) {
  return matrix_norm(self, ord, dims_or(dim, kLastDims), keepdim, dtype);
}
Tensor& plain::linalg_matrix_norm_named_out(Tensor& out, const Tensor& self, const char* ord, const DimsArg& dim,
                                            bool keepdim, std::optional<Dtype> dtype) {
  return write("linalg.matrix_norm", out, plain::linalg_matrix_norm_named(self, ord, dim, keepdim, dtype));
}

Tensor plain::linalg_norm(const Tensor& self, std::optional<Scalar> ord, const DimsArg& dim, bool keepdim,
                          std::optional<Dtype> dtype) {
  check_norm_dims(self, dim, ord.has_value());
  const bool is_of_matrix = dim.view().data() ? dim.view().size() == 2 : self.dim() == 2;
  if (ord && is_of_matrix) return matrix_norm(self, *ord, dims_or(dim, kFirstDims), keepdim, dtype);
  return tenon::linalg_vector_norm(self, ord.value_or(2), dim, keepdim, dtype);
}
Tensor& plain::linalg_norm_out(Tensor& out, const Tensor& self, std::optional<Scalar> ord, const DimsArg& dim,
                               bool keepdim, std::optional<Dtype> dtype) {
  return write("linalg.norm", out, plain::linalg_norm(self, ord, dim, keepdim, dtype));
}

Tensor plain::linalg_norm_named(const Tensor& self, const char* ord, const DimsArg& dim, bool keepdim,
                                std::optional<Dtype> dtype) {
  check_norm_dims(self, dim, true);
  return matrix_norm(self, ord, dims_or(dim, kFirstDims), keepdim, dtype);
}
Tensor& plain::linalg_norm_named_out(Tensor& out, const Tensor& self, const char* ord, const DimsArg& dim, bool keepdim,
                                     std::optional<Dtype> dtype) {
  return write("linalg.norm", out, plain::linalg_norm_named(self, ord, dim, keepdim, dtype));
}

}  // namespace tenon
