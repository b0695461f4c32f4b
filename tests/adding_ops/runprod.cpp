// runprod: row by row, in a wider dtype.
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

/// In which products are rounded and may overflow: PyTorch's.
Dtype wider(Dtype dtype) {
  if (is_complex(dtype)) return complex128;
  if (!is_floating_point(dtype)) return int64;
  return itemsize(dtype) == 2 ? float32 : float64;
}

}  // namespace

Tensor plain::runprod(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  const int64_t along = wrap_dim(dim, self.dim());
  const Dtype result = dtype ? *dtype : is_inexact(self.dtype()) ? self.dtype() : int64;
  if (!self.is_meta()) warn_of_lost_parts(self.dtype(), result, self.numel());
  const Tensor products = run_to(self, result, MemoryFormat::contiguous);
  if (self.dim() == 0 || self.numel() == 0 || self.is_meta()) return products;
  check_has_code(row_of(Op::runprod), result);
  Tensor so_far = run_to(products.select(along, 0), wider(result), MemoryFormat::contiguous);
  for (int64_t i = 1; i < self.size(along); ++i) {
    const Tensor row = products.select(along, i);
    so_far.mul_(row);
    run_copy(row, so_far);
  }
  forget_writes(products);
  return products;
}

Tensor& plain::runprod_out(Tensor& out, const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  check_unrecorded(Op::runprod, out, self);
  wrap_dim(dim, self.dim());
  if (dtype) check_strict_out(out, *dtype);
  return write_result(Op::runprod, out, plain::runprod(self, dim, out.dtype()));
}

void plain::runprod_inplace(const Tensor& self, int64_t dim, std::optional<Dtype> dtype) {
  wrap_dim(dim, self.dim());
  if (dtype && *dtype != self.dtype())
    throw Error(std::string("Bad in-place call: input tensor dtype ") + cpp_type_name(self.dtype()) +
                " and output tensor dtype " + cpp_type_name(*dtype) + " should match");
  run_copy(self, plain::runprod(self, dim, self.dtype()));
}

}  // namespace tenon
