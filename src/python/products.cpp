// Products that are no ops of the table: dot, mv, bmm and matmul, through mm, views and broadcasting.
#include "python/products.h"

#include "python/doors.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::python {
namespace {

constexpr Door kBoth = Door::both;

std::string text(int64_t number) { return std::to_string(number); }

[[noreturn]] void fail_dtype(const char* kernel) {
  throw NotImplementedError(std::string("\"") + kernel + "\" not implemented for 'Bool'");
}

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

Tensor mv(const Tensor& matrix, const Tensor& vector) {
  if (matrix.dim() != 2 || vector.dim() != 1)
    throw Error("vector + matrix @ vector expected, got 1, " + text(matrix.dim()) + ", " + text(vector.dim()));
  if (matrix.size(1) != vector.size(0))
    throw Error("size mismatch, got input (" + text(matrix.size(0)) + "), mat (" + text(matrix.size(0)) + "x" +
                text(matrix.size(1)) + "), vec (" + text(vector.size(0)) + ")");
  if (matrix.dtype() != vector.dtype())
    throw Error(std::string("addmv input tensors must have the same dtype, but got ") +
                scalar_type_name(vector.dtype()) + ", " + scalar_type_name(matrix.dtype()) + ", and " +
                scalar_type_name(vector.dtype()));
  if (matrix.dtype() == bool_) fail_dtype("addmv_impl_cpu");
  return mm(matrix, vector.unsqueeze(1)).squeeze(1);
}

/// Matrix by matrix; where gradients are asked for, at once, so that the graph stays small.
Tensor bmm(const Tensor& a, const Tensor& b) {
  if (a.dim() != 3) throw Error("batch1 must be a 3D tensor");
  if (b.dim() != 3) throw Error("batch2 must be a 3D tensor");
  if (a.size(0) != b.size(0) || a.size(2) != b.size(1))
    throw Error("Expected size for first two dimensions of batch2 tensor to be: [" + text(a.size(0)) + ", " +
                text(a.size(2)) + "] but got: [" + text(b.size(0)) + ", " + text(b.size(1)) + "].");
  if (a.dtype() != b.dtype())
    throw Error(std::string("expected scalar type ") + scalar_type_name(a.dtype()) + " but found " +
                scalar_type_name(b.dtype()));
  if (a.dtype() == bool_) fail_dtype("bmm");
  if (a.requires_grad() || b.requires_grad() || a.is_meta()) return sum_of_products(a.unsqueeze(3), b.unsqueeze(1), 2);
  Tensor result = empty({a.size(0), a.size(1), b.size(2)}, a.dtype());
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

/// Many matrices times one: their rows as one matrix.
Tensor fold(const Tensor& a, const Tensor& b) {
  const Tensor rows = a.reshape({-1, a.size(-1)});
  return mm(rows, b).view(joined(batch_of(a, 1), {b.size(1)}));
}

Tensor batched(const Tensor& a, const Tensor& b) {
  const SizesView batches[] = {batch_of(a, 2), batch_of(b, 2)};
  const Dims batch = broadcast_shapes(batches, 2);
  const auto as_batch = [&](const Tensor& operand) {
    const int64_t rows = operand.size(-2), columns = operand.size(-1);
    return operand.expand(joined(batch, {rows, columns})).reshape({numel_of(batch), rows, columns});
  };
  return bmm(as_batch(a), as_batch(b)).view(joined(batch, {a.size(-2), b.size(-1)}));
}

}  // namespace

Tensor matmul(const Tensor& a, const Tensor& b) {
  if (a.dim() == 0 || b.dim() == 0)
    throw Error("both arguments to matmul need to be at least 1D, but they are " + text(a.dim()) + "D and " +
                text(b.dim()) + "D");
  if (a.dim() == 1 && b.dim() == 1) return dot(a, b);
  if (a.dim() == 2 && b.dim() == 1) return mv(a, b);
  if (a.dim() == 2 && b.dim() == 2) return mm(a, b);
  if (a.dim() == 1) return matmul(a.unsqueeze(0), b).squeeze(-2);
  if (b.dim() == 1) return matmul(a, b.unsqueeze(1)).squeeze(-1);
  return b.dim() == 2 ? fold(a, b) : batched(a, b);
}

namespace {

/// Lets other Python threads run while a long product is made.
template <auto product>
PyObject* run(const Call& call, Name second) {
  const Tensor &a = call.tensor(Name::input), &b = call.tensor(second);
  Tensor result;
  {
    const Released released(call.is_long());
    result = product(a, b);
  }
  if (!call.has(Name::out)) return wrap(std::move(result));
  call.tensor(Name::out).resize_(result.sizes());
  call.tensor(Name::out).copy_(result);
  return call.returned();
}

const Definition kProducts[] = {
    {"bmm", kBoth,
     "(Tensor input, Tensor mat2, *, Tensor out=None)\n(Tensor input, Tensor mat2, dtype out_dtype, *, Tensor "
     "out=None)|function",
     "Matrices times matrices, one by one.",
     [](const Call& call) -> PyObject* {
       if (call.has(Name::out_dtype))
         throw NotImplementedError("Could not run 'aten::bmm.dtype' with arguments from the 'CPU' backend.");
       return run<bmm>(call, Name::mat2);
     }},
    {"dot", kBoth, "(Tensor input, Tensor tensor, *, Tensor out=None)", "The sum of the products of two vectors.",
     [](const Call& call) -> PyObject* { return run<dot>(call, Name::tensor); }},
    {"matmul", kBoth, "(Tensor input, Tensor other, *, Tensor out=None)",
     "The product of vectors, matrices or batches of matrices, whose leading dims broadcast.",
     [](const Call& call) -> PyObject* { return run<matmul>(call, Name::other); }},
    {"mv", kBoth, "(Tensor input, Tensor vec, *, Tensor out=None)", "A matrix times a vector.",
     [](const Call& call) -> PyObject* { return run<mv>(call, Name::vec); }},
};

}  // namespace

std::vector<Entry> product_entries() { return entries<kProducts>(); }

}  // namespace tenon::python
