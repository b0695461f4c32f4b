// blockprod: the products of all elements, as blocks.
#include <algorithm>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {
namespace {

/// The operands as blocks that broadcast to the result, and the sizes of that.
struct Blocks {
  Tensor self, other;
  Dims sizes;

  Blocks(const Tensor& a, const Tensor& b) {
    const int64_t ndim = std::max(a.dim(), b.dim());
    Dims outer, inner;
    for (int64_t dim = -ndim; dim < 0; ++dim) {
      const int64_t rows = dim < -a.dim() ? 1 : a.size(dim), columns = dim < -b.dim() ? 1 : b.size(dim);
      for (int64_t size : {rows, int64_t{1}}) outer.push_back(size);
      for (int64_t size : {int64_t{1}, columns}) inner.push_back(size);
      sizes.push_back((Checked(rows) * columns).or_else([] { throw Error("blockprod: the result is too large"); }));
    }
    self = a.view(outer);
    other = b.view(inner);
  }
};

}  // namespace

Tensor plain::blockprod(const Tensor& self, const Tensor& other) {
  const Blocks blocks(self, other);
  return (blocks.self * blocks.other).view(blocks.sizes);
}

Tensor& plain::blockprod_out(Tensor& out, const Tensor& self, const Tensor& other) {
  check_unrecorded(Op::mul, out, self, other);
  const Blocks blocks(self.detach(), other.detach());
  return write_result(Op::mul, out, run_clone(blocks.self * blocks.other, MemoryFormat::contiguous).view(blocks.sizes));
}

}  // namespace tenon
