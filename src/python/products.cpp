// Products that are no ops of the table: dot, mv, bmm and matmul, through mm, views and broadcasting.
#include "python/products.h"

#include "autograd/views.h"
#include "base/checked.h"
#include "dispatch/elementwise.h"
#include "python/doors.h"
#include "python/out.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/history.h"
#include "tensor/impl.h"

namespace tenon::python {
namespace {

constexpr Door kBoth = Door::both;

std::string text(int64_t number) { return std::to_string(number); }

[[noreturn]] void fail_dtype(const char* kernel) {
  throw NotImplementedError(std::string("\"") + kernel + "\" not implemented for 'Bool'");
}

[[noreturn]] void fail_without_dims() { throw IndexError("Dimension specified as 0 but tensor has no dimensions"); }

/// The sum of products along `dim`, in the operands' own dtype.
Tensor sum_of_products(const Tensor& a, const Tensor& b, int64_t dim) { return mul(a, b).sum(dim, false, a.dtype()); }

Tensor dot(const Tensor& a, const Tensor& b) {
  if (a.dim() != 1 || b.dim() != 1)
    throw Error("1D tensors expected, but got " + text(a.dim()) + "D and " + text(b.dim()) + "D tensors");
  if (a.dtype() != b.dtype())
    throw Error(std::string("dot : expected both vectors to have same dtype, but found ") +
                scalar_type_name(a.dtype()) + " and " + scalar_type_name(b.dtype()));
  if (a.numel() != b.numel())
    throw Error("inconsistent tensor size, expected tensor [" + text(a.numel()) + "] and src [" + text(b.numel()) +
                "] to have the same number of elements, but got " + text(a.numel()) + " and " + text(b.numel()) +
                " elements respectively");
  if (a.dtype() == bool_) fail_dtype("dot");
  return sum_of_products(a, b, 0);
}

/// A product that nobody else holds, in another shape: no view of it.
Tensor reshaped(const Tensor& product, SizesView sizes) {
  return recorded(product, new_alias(product, sizes, contiguous_strides(sizes), 0), {ViewKind::unsafe_view});
}

/// PyTorch's addmv, which `mv` is: `start` is what the product would be added to.
void check_is_product_of_vector(const Tensor& matrix, const Tensor& vector, SizesView start, Dtype start_dtype) {
  if (matrix.dim() != 2 || vector.dim() != 1 || start.size() > 1)
    throw Error("vector + matrix @ vector expected, got " + text(start.size()) + ", " + text(matrix.dim()) + ", " +
                text(vector.dim()));
  const int64_t numel = numel_of(start);
  if (matrix.size(1) != vector.size(0) || (matrix.size(0) != numel && numel != 1)) {
    if (start.empty()) fail_without_dims();
    throw Error("size mismatch, got input (" + text(start[0]) + "), mat (" + text(matrix.size(0)) + "x" +
                text(matrix.size(1)) + "), vec (" + text(vector.size(0)) + ")");
  }
  if (start_dtype != matrix.dtype() || matrix.dtype() != vector.dtype())
    throw Error(std::string("addmv input tensors must have the same dtype, but got ") + scalar_type_name(start_dtype) +
                ", " + scalar_type_name(matrix.dtype()) + ", and " + scalar_type_name(vector.dtype()));
}

Tensor mv(const Tensor& matrix, const Tensor& vector) {
  if (matrix.dim() == 0) fail_without_dims();
  check_is_product_of_vector(matrix, vector, {matrix.size(0)}, vector.dtype());
  if (matrix.dtype() == bool_ && matrix.numel() > 0) fail_dtype("addmv_impl_cpu");
  return reshaped(mm(matrix, vector.unsqueeze(1)), {matrix.size(0)});
}

/// Matrix by matrix; where gradients are asked for, at once, so that the graph stays small.
Tensor bmm(const Tensor& a, const Tensor& b) {
  if (a.dim() != 3) throw Error("batch1 must be a 3D tensor");
  if (b.dim() != 3) throw Error("batch2 must be a 3D tensor");
  if (a.size(0) != b.size(0) || a.size(2) != b.size(1))
    throw Error("Expected size for first two dimensions of batch2 tensor to be: [" + text(a.size(0)) + ", " +
                text(a.size(2)) + "] but got: [" + text(b.size(0)) + ", " + text(b.size(1)) + "].");
  // Where nothing is added up, nobody looks at dtypes.
  const bool computes = a.numel() > 0 && b.numel() > 0;
  if (computes && a.dtype() == bool_) fail_dtype("bmm");
  if (computes && a.dtype() != b.dtype())
    throw Error(std::string("expected scalar type ") + scalar_type_name(a.dtype()) + " but found " +
                scalar_type_name(b.dtype()));
  if (a.requires_grad() || b.requires_grad() || a.is_meta())
    return mul(a.unsqueeze(3), b.unsqueeze(1)).sum(2, false, b.dtype());
  Tensor result = zeros({a.size(0), a.size(1), b.size(2)}, b.dtype());
  if (!computes) return result;
  for (int64_t i = 0; i < a.size(0); ++i) {
    Tensor place = result.select(0, i);
    mm_out(place, a.select(0, i), b.select(0, i));
  }
  return result;
}

/// The dims before the last `matrix` ones.
SizesView batch_of(const Tensor& tensor, int64_t matrix) { return {tensor.sizes().data(), tensor.dim() - matrix}; }

Dims joined(SizesView batch, std::initializer_list<int64_t> last) {
  Dims sizes = batch.copy();
  for (int64_t size : last) sizes.push_back(size);
  return sizes;
}

/// Of a batch and one matrix or vector: the batch as one matrix, which is a view wherever that is possible.
/// PyTorch: `_matmul_impl`, whose way through mm, mv and bmm decides what a mistake is told.
Tensor fold(const Tensor& batch, const Tensor& one) {
  Dims sizes = batch_of(batch, 1).copy();
  const Tensor rows = batch.reshape({numel_of(sizes), batch.size(-1)});
  if (one.dim() == 1) return reshaped(mv(rows, one), sizes);
  const Tensor result = mm(rows, one);
  sizes.push_back(one.size(1));
  return reshaped(result, sizes);
}

/// Whether rows of all matrices are rows of one matrix.
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
  const SizesView batches[] = {batch_of(a, std::min<int64_t>(a.dim(), 2)), batch_of(b, std::min<int64_t>(b.dim(), 2))};
  const Dims batch = infer_size(batches[0], batches[1]);
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

/// A batch of one that requires grad is no batch: its gradient is summed by the product.
Tensor multiplied_batches(const Tensor& a, const Tensor& b, bool into_out) {
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

Tensor multiplied(const Tensor& a, const Tensor& b, bool into_out) {
  check_have_dims(a, b);
  if (a.dim() == 1 && b.dim() == 1) return dot(a, b);
  if (a.dim() == 2 && b.dim() == 1) return mv(a, b);
  if (a.dim() == 1 && b.dim() == 2) return reshaped(mm(a.unsqueeze(0), b), {b.size(1)});
  if (a.dim() == 2 && b.dim() == 2) return mm(a, b);
  if (!should_fold(a, b, into_out)) return multiplied_batches(a, b, into_out);
  if (a.dim() >= b.dim()) return fold(a, b);
  const Tensor result = fold(b.mT(), a.dim() == 2 ? a.t() : a);
  return a.dim() == 2 ? result.mT().contiguous() : result;
}

}  // namespace

void fail_other_dtype(const char* product, const Call& call) {
  // That one looks at leaves and their views alone.
  const auto is_of_leaf = [](const Tensor& out) {
    return out.is_leaf() || (out.is_view() && autograd::base_of(out).is_leaf());
  };
  if (call.has(Name::out) && is_of_leaf(call.tensor(Name::out)))
    check_unrecorded(std::string("aten::") + product, call.tensor(Name::out), {});
  throw NotImplementedError(std::string("Could not run 'aten::") + product + ".dtype" +
                            (call.has(Name::out) ? "_out" : "") + "' with arguments from the 'CPU' backend.");
}

Tensor matmul(const Tensor& a, const Tensor& b) { return multiplied(a, b, false); }

namespace {

Tensor matmul_into(const Tensor& a, const Tensor& b) { return multiplied(a, b, true); }

void check_dot_out(const Tensor& out, const Tensor& a, const Tensor&) {
  if (out.dtype() != a.dtype())
    throw Error(std::string("result dtype ") + scalar_type_name(out.dtype()) + " does not match input dtype " +
                scalar_type_name(a.dtype()));
}
/// `out` has its shape before anything is multiplied, as in PyTorch: an operand that it is has that shape then.
PyObject* dot_into(const Call& call) {
  const Tensor &a = call.tensor(Name::input), &b = call.tensor(Name::tensor);
  Tensor& out = call.tensor(Name::out);
  check_unrecorded(call.name(), out, {&a, &b});
  check_dot_out(out, a, b);
  ResizedOutput resized(out, {}, {});
  call.run([&] { out.fill_(dot(a, b)); });
  resized.keep();
  return call.returned();
}
void check_result_dtype(const Tensor& out, Dtype wanted) {
  if (out.dtype() != wanted)
    throw Error(std::string("Expected out tensor to have dtype ") + cpp_type_name(wanted) + ", but got " +
                cpp_type_name(out.dtype()) + " instead");
}
/// An `out` that could hold the product is also what that would be added to.
void check_mv_out(const Tensor& out, const Tensor& matrix, const Tensor& vector) {
  if (matrix.dim() == 0) fail_without_dims();
  const int64_t rows = matrix.size(0);
  if (out.dim() <= 1 && (out.numel() == rows || out.numel() == 1))
    check_is_product_of_vector(matrix, vector, out.sizes(), out.dtype());
  else
    check_is_product_of_vector(matrix, vector, {rows}, vector.dtype());
  check_result_dtype(out, vector.dtype());
}
void check_mm_out(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (a.size(-1) == b.size(0)) check_result_dtype(out, a.dtype());  // else mm says so
}
void check_bmm_out(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (a.dim() != 3 || b.dim() != 3 || a.size(0) != b.size(0) || a.size(2) != b.size(1)) return;  // bmm says so
  check_result_dtype(out, b.dtype());
}
/// By the product that makes the result.
void check_matmul_out(const Tensor& out, const Tensor& a, const Tensor& b) {
  if (a.dim() == 1 && b.dim() == 1) return check_dot_out(out, a, b);
  if (a.dim() == 2 && b.dim() == 1) return check_mv_out(out, a, b);
  if (a.dim() <= 2 && b.dim() == 2) return check_mm_out(out, a, b);
  if (should_fold(a, b, true)) {
    const bool first = a.dim() >= b.dim();
    const Tensor &batch = first ? a : b, &one = first ? b : a;
    if (one.dim() == 2) return check_mm_out(out, batch, one);
    const Tensor turned = first ? batch : batch.mT();
    const int64_t rows = numel_of(batch_of(turned, 1));
    return check_is_product_of_vector(turned.reshape({rows, turned.size(-1)}), one, {rows}, out.dtype());
  }
  infer_size(batch_of(a, std::min<int64_t>(a.dim(), 2)), batch_of(b, std::min<int64_t>(b.dim(), 2)));
  if (a.size(-1) == b.size(b.dim() > 1 ? -2 : 0)) check_result_dtype(out, b.dtype());  // else bmm says so
}

/// `out` becomes the product as a matrix, and then loses its first dim.
PyObject* row_times_matrix_into(const Call& call, const Tensor& row, const Tensor& matrix) {
  Tensor& out = call.tensor(Name::out);
  call.run([&] { mm_out(out, row.unsqueeze(0), matrix); });
  autograd::take_layout(out, out.squeeze(0));
  return call.returned();
}

/// Lets other Python threads run while a long product is made.
template <auto product, auto check_dtype>
PyObject* run(const Call& call, Name second) {
  const Tensor &a = call.tensor(Name::input), &b = call.tensor(second);
  if (call.has(Name::out)) {
    if constexpr (product == matmul_into) check_have_dims(a, b);
    check_unrecorded(call.name(), call.tensor(Name::out), {&a, &b});
    check_dtype(call.tensor(Name::out), a, b);
    if constexpr (product == matmul_into)
      if (a.dim() == 1 && b.dim() == 2) return row_times_matrix_into(call, a, b);
  }
  Tensor result;
  {
    const Released released(call.is_long());
    result = product(a, b);
  }
  if (!call.has(Name::out)) return wrap(std::move(result));
  write_out(call.tensor(Name::out), result, contiguous_strides(result.sizes()));
  return call.returned();
}

const Definition kProducts[] = {
    {"bmm", kBoth,
     "(Tensor input, Tensor mat2, *, Tensor out=None)\n(Tensor input, Tensor mat2, dtype out_dtype, *, Tensor "
     "out=None)|function",
     "Matrices times matrices, one by one.",
     [](const Call& call) -> PyObject* {
       if (call.has(Name::out_dtype)) fail_other_dtype("bmm", call);
       return run<bmm, check_bmm_out>(call, Name::mat2);
     }},
    {"dot", kBoth, "(Tensor input, Tensor tensor, *, Tensor out=None)", "The sum of the products of two vectors.",
     [](const Call& call) -> PyObject* {
       return call.has(Name::out) ? dot_into(call) : run<dot, check_dot_out>(call, Name::tensor);
     }},
    {"matmul", kBoth, "(Tensor input, Tensor other, *, Tensor out=None)",
     "The product of vectors, matrices or batches of matrices, whose leading dims broadcast.",
     [](const Call& call) -> PyObject* {
       return call.has(Name::out) ? run<matmul_into, check_matmul_out>(call, Name::other)
                                  : run<matmul, check_matmul_out>(call, Name::other);
     }},
    {"mv", kBoth, "(Tensor input, Tensor vec, *, Tensor out=None)", "A matrix times a vector.",
     [](const Call& call) -> PyObject* { return run<mv, check_mv_out>(call, Name::vec); }},
};

}  // namespace

std::vector<Entry> product_entries() { return entries<kProducts>(); }

}  // namespace tenon::python
