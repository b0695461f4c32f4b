// Products with an `out_dtype`: PyTorch has these overloads, but no code for the cpu.
#include <atomic>
#include <string>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

[[noreturn]] void fail_other_dtype(const char* op, const char* form) {
  throw NotImplementedError(std::string("Could not run 'aten::") + op + "." + form +
                            "' with arguments from the 'CPU' backend.");
}

/// Whether `out` is a leaf or a view of one. PyTorch checks only such an `out` before it throws.
bool is_of_leaf(const Tensor& out) {
  if (out.is_leaf() || !out.is_view()) return out.is_leaf();
  out.impl()->base->references.fetch_add(1, std::memory_order_relaxed);
  return Tensor(out.impl()->base).is_leaf();
}
[[noreturn]] void fail_other_dtype_out(const char* op, const Tensor& out) {
  if (is_of_leaf(out)) check_out_unrecorded((std::string("aten::") + op).c_str(), out, nullptr, 0);
  fail_other_dtype(op, "dtype_out");
}

}  // namespace

namespace plain {

Tensor mm_dtype(const Tensor&, const Tensor&, Dtype) { fail_other_dtype("mm", "dtype"); }
Tensor bmm_dtype(const Tensor&, const Tensor&, Dtype) { fail_other_dtype("bmm", "dtype"); }
Tensor addmm_dtype(const Tensor&, const Tensor&, const Tensor&, Dtype, Scalar, Scalar) {
  fail_other_dtype("addmm", "dtype");
}
Tensor baddbmm_dtype(const Tensor&, const Tensor&, const Tensor&, Dtype, Scalar, Scalar) {
  fail_other_dtype("baddbmm", "dtype");
}
Tensor& mm_dtype_out(Tensor& out, const Tensor&, const Tensor&, Dtype) { fail_other_dtype_out("mm", out); }
Tensor& bmm_dtype_out(Tensor& out, const Tensor&, const Tensor&, Dtype) { fail_other_dtype_out("bmm", out); }
Tensor& addmm_dtype_out(Tensor& out, const Tensor&, const Tensor&, const Tensor&, Dtype, Scalar, Scalar) {
  fail_other_dtype_out("addmm", out);
}
Tensor& baddbmm_dtype_out(Tensor& out, const Tensor&, const Tensor&, const Tensor&, Dtype, Scalar, Scalar) {
  fail_other_dtype_out("baddbmm", out);
}

}  // namespace plain
}  // namespace tenon
