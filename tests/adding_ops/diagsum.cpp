// diagsum: the sum of a diagonal.
#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::diagsum(const Tensor& self) {
  if (!self.is_meta()) check_has_code(row_of(Op::diagsum), self.dtype());
  if (self.dim() != 2) throw Error("diagsum: expected a matrix, but got tensor with dim " + std::to_string(self.dim()));
  const Dtype dtype = self.dtype(), wide = is_complex(dtype) ? complex128 : is_inexact(dtype) ? float64 : int64;
  const Tensor diagonal = self.detach().diagonal();
  const Dtype result = is_inexact(dtype) ? dtype : int64;
  if (diagonal.numel() == 0) return zeros({}, Options(result, self.device()));
  return tenon::cumsum(diagonal, 0, wide).select(0, -1).to(result, true);  // one after the other, as PyTorch adds them
}

}  // namespace tenon
