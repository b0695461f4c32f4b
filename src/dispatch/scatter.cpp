// dispatch: scatter and scatter_add. Takes a tensor, an index and elements; writes the elements to the
// places that the index selects along one dim, in the tensor or in a row-major copy. Checks, their order and texts are
// PyTorch's (aten/src/ATen/native/TensorAdvancedIndexing.cpp, ScatterGatherChecks.h).
#include <cstring>

#include "dispatch/by_index.h"
#include "dispatch/plain.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon {
using namespace by_index;
namespace {

Join join_of(Op op, const char* reduce) {
  if (op == Op::scatter_add) return Join::add;
  if (!reduce) return Join::replace;
  const bool adds = std::strcmp(reduce, "add") == 0;
  if (!adds && std::strcmp(reduce, "multiply") != 0) throw Error("reduce argument must be either add or multiply.");
  return adds ? Join::add : Join::multiply;
}
/// PyTorch's warning, before all checks.
void warn_of_reduce(Op op, const char* reduce) {
  if (op == Op::scatter && reduce)
    warn("UserWarning",
         "The reduce argument of torch.scatter with Tensor src is deprecated and will be removed in a future PyTorch "
         "release. Use torch.scatter_reduce instead for more reduction options.");
}

const Tensor* tensor_or_null(const Arg& arg) { return arg.is_tensor() ? &arg.tensor() : nullptr; }

/// A tensor of the caller stays as it is if a place is outside. A copy is dropped, so it need not be checked before it
/// is written: that would read the index twice.
enum class Target : uint8_t { given, copy };

/// Scatters into `self` after all checks except those of the indices. There is at least one index.
void write_scattered(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, Join join,
                     Target target) {
  check_has_code(row_of(op), self.dtype());
  if (src.is_tensor()) check_readable(src.tensor());
  const Tensor places = apart(self, as_places(index));
  const ByteView of_index(places);
  const int64_t size = size_along(self, dim);
  // PyTorch converts a number at the first place.
  if (!src.is_tensor() && of_index.data && is_outside(place_at(of_index.data), size))
    fail_first_place(of_index, dim, size);
  const Tensor elements = src.is_tensor() ? src.tensor() : as_element(src.number(), self.dtype());
  // Parts of a tensor that is joined wide are converted before anything is written.
  const bool selects_parts = join != Join::replace && is_joined_wide(self.dtype());
  if ((target == Target::given || selects_parts) && of_index.data && is_any_outside(of_index, size))
    fail_first_place(of_index, dim, size);
  if (join == Join::add && selects_parts && add_rows_wide(self, dim, places, elements)) return;
  const auto write = [&](const Tensor& to, const Tensor& at) { write_elements(to, dim, ByteView(at), elements, join); };
  write_counted(self, dim, places, join != Join::replace, write);
}
void scatter_checked(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, const char* reduce,
                     Target target) {
  const Join join = join_of(op, reduce);
  if (index.numel() == 0 || !is_computed(self)) return bump_version(self);
  write_scattered(op, self, dim, index, src, join, target);
}
Tensor scattered_copy(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src, const char* reduce) {
  const Tensor result = run_clone(self, MemoryFormat::contiguous);
  scatter_checked(op, result, dim, index, src, reduce, Target::copy);
  forget_writes(result);
  return result;
}

Tensor scattered(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                 const char* reduce = nullptr) {
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  return scattered_copy(op, self, along, index, src, reduce);
}
void scatter_in_place(Op op, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                      const char* reduce = nullptr) {
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  check_no_overlaps(self, index, tensor_or_null(src));
  scatter_checked(op, self, along, index, src, reduce, Target::given);
}
void check_scatter_history(Op op, const Tensor& out, const Tensor& self, const Tensor* src, const char* reduce) {
  if (reduce)  // not differentiable: PyTorch checks only `out`
    check_out_unrecorded("aten::scatter", out, nullptr, 0);
  else if (src)
    check_unrecorded(op, out, self, *src);
  else
    check_unrecorded(op, out, self);
}
Tensor& scattered_into(Op op, Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Arg& src,
                       const char* reduce = nullptr) {
  check_scatter_history(op, out, self, tensor_or_null(src), reduce);
  warn_of_reduce(op, reduce);
  const int64_t along = wrap_dim(dim, self.dim());
  check_scatter(self, along, index, tensor_or_null(src));
  check_no_overlaps(out, index, tensor_or_null(src));
  check_strict_out(out, self.dtype());
  return write_result(op, out, scattered_copy(op, self, along, index, src, reduce));
}

}  // namespace

Tensor plain::scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, const char* reduce) {
  return scattered(Op::scatter, self, dim, index, src, reduce);
}
Tensor& plain::scatter_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                           const char* reduce) {
  return scattered_into(Op::scatter, out, self, dim, index, src, reduce);
}
void plain::scatter_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src,
                            const char* reduce) {
  scatter_in_place(Op::scatter, self, dim, index, src, reduce);
}

Tensor plain::scatter_value(const Tensor& self, int64_t dim, const Tensor& index, Scalar value, const char* reduce) {
  return scattered(Op::scatter_value, self, dim, index, value, reduce);
}
Tensor& plain::scatter_value_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                                 const char* reduce) {
  return scattered_into(Op::scatter_value, out, self, dim, index, value, reduce);
}
void plain::scatter_value_inplace(const Tensor& self, int64_t dim, const Tensor& index, Scalar value,
                                  const char* reduce) {
  scatter_in_place(Op::scatter_value, self, dim, index, value, reduce);
}

Tensor plain::scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered(Op::scatter_add, self, dim, index, src);
}
Tensor& plain::scatter_add_out(Tensor& out, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  return scattered_into(Op::scatter_add, out, self, dim, index, src);
}
void plain::scatter_add_inplace(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_in_place(Op::scatter_add, self, dim, index, src);
}

}  // namespace tenon
