// Products that are composed of other ops, which are recorded instead of them. PyTorch: `_matmul_impl`, `tensordot`.
#include <algorithm>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "dispatch/products.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"

namespace tenon {
namespace {

std::string text(int64_t number) { return std::to_string(number); }

bool in_graph(const Tensor& a, const Tensor& b) { return a.impl()->in_graph || b.impl()->in_graph; }

/// Whether bmm takes the operands as they are.
bool is_batch_pair(const Tensor& a, const Tensor& b) {
  if (a.dim() != 3 || b.dim() != 3 || a.dtype() != b.dtype() || a.device() != b.device()) return false;
  const SizesView left = a.sizes(), right = b.sizes();
  return left[0] == right[0] && left[2] == right[1];
}

/// A new product in another shape, not as a view.
Tensor reshaped(const Tensor& product, SizesView sizes) {
  return recorded(product, new_alias(product, sizes, contiguous_strides(sizes), 0), {ViewKind::unsafe_view});
}

/// The dims before the last `matrix` ones.
SizesView batch_of(const Tensor& tensor, int64_t matrix) { return {tensor.sizes().data(), tensor.dim() - matrix}; }
SizesView batch_of(const Tensor& tensor) { return batch_of(tensor, std::min<int64_t>(tensor.dim(), 2)); }

Dims joined(SizesView batch, std::initializer_list<int64_t> last) {
  Dims sizes = batch.copy();
  for (int64_t size : last) sizes.push_back(size);
  return sizes;
}

/// A batch times one matrix or vector: the batch becomes one matrix, as a view if possible. Errors are those of mm and
/// mv.
Tensor fold(const Tensor& batch, const Tensor& one) {
  const SizesView leading = batch_of(batch, 1);
  const Tensor rows = batch.reshape({numel_of(leading), batch.size(-1)});
  if (one.dim() == 1) return reshaped(mv(rows, one), leading);
  const Tensor result = mm(rows, one);
  return reshaped(result, joined(leading, {one.size(1)}));
}

/// Whether the rows of all matrices are the rows of one matrix in memory.
bool is_foldable(const Tensor& batch) {
  if (batch.numel() == 0) return true;
  for (int64_t dim = 0; dim + 2 < batch.dim(); ++dim)
    if (!(Checked(batch.stride(dim + 1)) * batch.size(dim + 1)).is(batch.stride(dim))) return false;
  return true;
}

bool should_fold(const Tensor& a, const Tensor& b, bool into_out) {
  const bool first = a.dim() >= b.dim();
  const Tensor &batch = first ? a : b, &one = first ? b : a;
  if (batch.dim() < 3 || one.dim() > 2) return false;
  if (one.requires_grad() && !into_out) return true;
  return a.dim() != 2 && is_foldable(first ? batch : batch.mT());
}

Tensor batched(const Tensor& a, const Tensor& b) {
  const Dims batch = infer_size(batch_of(a), batch_of(b));
  const auto as_batch = [&](const Tensor& operand, int64_t rows, int64_t columns) {
    return operand.expand(joined(batch, {rows, columns})).reshape({numel_of(batch), rows, columns});
  };
  const Tensor left = as_batch(a, a.dim() > 1 ? a.size(-2) : 1, a.size(-1));
  const Tensor right = b.dim() > 1 ? as_batch(b, b.size(-2), b.size(-1)) : as_batch(b.unsqueeze(1), b.size(0), 1);
  Dims sizes = SizesView(batch).copy();
  if (a.dim() > 1) sizes.push_back(a.size(-2));
  if (b.dim() > 1) sizes.push_back(b.size(-1));
  return reshaped(bmm(left, right), sizes);
}

Tensor multiplied(const Tensor& a, const Tensor& b, bool into_out);

/// Multiplies two batches. A batch of one matrix that requires grad is not expanded, so that the product sums its
/// gradient.
Tensor multiplied_batches(const Tensor& a, const Tensor& b, bool into_out) {
  if (!in_graph(a, b) && is_batch_pair(a, b)) return plain::bmm(a, b);
  if (a.dim() == 3 && b.dim() == 3 && a.size(0) != b.size(0)) {
    if (a.size(0) == 1 && a.requires_grad()) return multiplied(a.squeeze(0), b, into_out);
    if (b.size(0) == 1 && b.requires_grad()) return multiplied(a, b.squeeze(0), into_out);
  }
  return batched(a, b);
}

void check_have_dims(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0)
    throw Error("both arguments to matmul need to be at least 1D, but they are " + text(a.dim()) + "D and " +
                text(b.dim()) + "D");
}

/// A row times a matrix.
Tensor multiplied_row(const Tensor& row, const Tensor& matrix) {
  if (!in_graph(row, matrix) && row.dtype() == matrix.dtype() && row.sizes()[0] == matrix.sizes()[0])
    return multiply_row(row, matrix);
  const Tensor product = mm(row.unsqueeze(0), matrix);
  take_layout(product, product.squeeze(0));
  return product;
}

Tensor multiplied(const Tensor& a, const Tensor& b, bool into_out) {
  check_have_dims(a, b);
  if (a.dim() == 1 && b.dim() == 1) return dot(a, b);
  if (a.dim() == 2 && b.dim() == 1) return mv(a, b);
  if (a.dim() == 1 && b.dim() == 2) return multiplied_row(a, b);
  if (a.dim() == 2 && b.dim() == 2) return mm(a, b);
  if (!should_fold(a, b, into_out)) return multiplied_batches(a, b, into_out);
  if (a.dim() >= b.dim()) return fold(a, b);
  const Tensor result = fold(b.mT(), a.dim() == 2 ? a.t() : a);
  return a.dim() == 2 ? result.mT().contiguous() : result;
}

void check_unrecorded(const char* name, const Tensor& out, const Tensor& a, const Tensor& b) {
  const Arg first(a), second(b);
  const Arg* const args[] = {&first, &second};
  check_out_unrecorded(name, out, args, 2);
}

/// Checks `out` before anything is multiplied, with the error texts of the op that PyTorch calls.
void check_batched_out(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (should_fold(a, b, true)) {
    const bool first = a.dim() >= b.dim();
    const Tensor &batch = first ? a : b, &one = first ? b : a;
    if (one.dim() == 2) {
      if (batch.size(-1) == one.size(0)) check_strict_out(out, batch.dtype());  // otherwise mm throws
      return;
    }
    const Tensor turned = first ? batch : batch.mT();
    const int64_t rows = numel_of(batch_of(turned, 1));
    return check_addmv(turned.reshape({rows, turned.size(-1)}), one, {rows}, out.dtype());
  }
  infer_size(batch_of(a), batch_of(b));
  if (a.size(-1) == b.size(b.dim() > 1 ? -2 : 0)) check_strict_out(out, b.dtype());  // otherwise bmm throws
}

}  // namespace

Tensor plain::matmul(const Tensor& self, const Tensor& other) { return multiplied(self, other, false); }

Tensor& plain::matmul_out(Tensor& out, const Tensor& self, const Tensor& other) {
  check_have_dims(self, other);
  check_unrecorded("matmul", out, self, other);
  if (self.dim() == 1 && other.dim() == 1) return tenon::dot_out(out, self, other);
  if (self.dim() == 2 && other.dim() == 1) return tenon::mv_out(out, self, other);
  if (self.dim() == 2 && other.dim() == 2) return tenon::mm_out(out, self, other);
  if (self.dim() == 1 && other.dim() == 2) {
    // `out` gets the product as a matrix, then loses its first dim.
    tenon::mm_out(out, self.unsqueeze(0), other);
    take_layout(out, out.squeeze(0));
    return out;
  }
  if (is_batch_pair(self, other) && out.dtype() == self.dtype() && out.device() == self.device() &&
      out.is_contiguous() && out.sizes() == SizesView(Dims{self.sizes()[0], self.sizes()[1], other.sizes()[2]}))
    return plain::bmm_out(out, self, other);
  check_batched_out(out, self, other);
  return copy_product(out, multiplied(self, other, true));
}

// --- inner, outer

namespace {

void check_inner(const Tensor& self, const Tensor& other) {
  for (const Tensor* operand : {&self, &other})
    if (operand->device() != self.device())
      throw Error(std::string("Expected tensor to have ") + device_name(self.device()) +
                  " DeviceType, but got tensor with " + device_name(operand->device()) +
                  " DeviceType (while checking arguments for inner())");
  if (self.dim() == 0 || other.dim() == 0 || self.size(-1) == other.size(-1)) return;
  throw Error("inner() the last dimension must match on both input tensors but got shapes " + to_string(self.sizes()) +
              " and " + to_string(other.sizes()));
}

/// The operand of tensordot's product; with `dim_first` the last dim comes first.
Tensor permuted(const Tensor& tensor, bool dim_first) {
  Dims order;
  const int64_t last = tensor.dim() - 1;
  if (dim_first) order.push_back(last);
  for (int64_t dim = 0; dim < last; ++dim) order.push_back(dim);
  if (!dim_first) order.push_back(last);
  return tensor.permute(order);
}

}  // namespace

Tensor plain::inner(const Tensor& self, const Tensor& other) {
  check_inner(self, other);
  if (self.dim() == 0 || other.dim() == 0) return mul(self, other);
  if (self.dtype() != other.dtype()) throw Error("both inputs should have same dtype");
  const int64_t depth = self.size(-1);
  const Tensor left = permuted(depth == 1 ? self.sum(-1, true, self.dtype()) : self, false);
  const Tensor right = permuted(other, true);
  const SizesView rows = batch_of(self, 1), columns = batch_of(other, 1);
  Dims sizes = rows.copy();
  for (int64_t size : columns) sizes.push_back(size);
  if (numel_of(rows) == 1 && numel_of(columns) == 1) {
    // PyTorch has a product of bools only where its strides keep it from dot.
    if (self.dtype() == bool_ && !(self.is_contiguous() && other.is_contiguous()))
      return tenon::any(left.reshape({depth}) & right.reshape({depth})).view(sizes);
    const auto as_vector = [depth](const Tensor& x) { return x.dim() == 1 ? x : x.reshape({depth}); };
    return tenon::dot(as_vector(left), as_vector(right)).view(sizes);
  }
  const Tensor product = tenon::mm(left.reshape({numel_of(rows), depth}), right.reshape({depth, numel_of(columns)}));
  return product.reshape(sizes);
}

Tensor& plain::inner_out(Tensor& out, const Tensor& self, const Tensor& other) {
  if (out.device() != self.device())
    throw Error(std::string("Expected tensor to have ") + device_name(out.device()) +
                " DeviceType, but got tensor with " + device_name(self.device()) +
                " DeviceType (while checking arguments for inner())");
  check_inner(self, other);
  if (self.dim() == 0 || other.dim() == 0) return mul_out(out, self, other);
  const Tensor result = plain::inner(self, other);
  return copy_contraction(out, result);
}

namespace {

void check_outer(const Tensor& self, const Tensor& vec2) {
  for (const auto& [name, vector] : {std::pair{"self", &self}, std::pair{"vec2", &vec2}})
    if (vector->dim() != 1)
      throw Error(std::string("outer: Expected 1-D argument ") + name + ", but got " + text(vector->dim()) + "-D");
}

}  // namespace

Tensor plain::outer(const Tensor& self, const Tensor& vec2) {
  check_outer(self, vec2);
  return mul(self.reshape({self.size(0), 1}), vec2);
}

Tensor& plain::outer_out(Tensor& out, const Tensor& self, const Tensor& vec2) {
  check_outer(self, vec2);
  return mul_out(out, self.reshape({self.size(0), 1}), vec2);
}

Tensor plain::ger(const Tensor& self, const Tensor& vec2) { return plain::outer(self, vec2); }

Tensor& plain::ger_out(Tensor& out, const Tensor& self, const Tensor& vec2) {
  warn("UserWarning",
       "torch.ger is deprecated and will be removed in a future PyTorch release. Use torch.outer instead.");
  return plain::outer_out(out, self, vec2);
}

}  // namespace tenon
