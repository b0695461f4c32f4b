// Products that are composed of others: addbmm, kron, tensordot, cross products, powers and chains of matrices, linear
// and bilinear. PyTorch: LinearAlgebra.cpp, Linear.cpp and Cross.cpp.
#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"
#include "dispatch/products.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"

namespace tenon {
namespace {

std::string text(int64_t number) { return std::to_string(number); }
bool is_zero(Scalar number) { return number.as_complex() == Complex128{0, 0}; }

}  // namespace

Tensor& copy_product(Tensor& out, const Tensor& result) {
  check_out_device(out, result.device());
  ResizedOutput resized(out, result.sizes(), contiguous_strides(result.sizes()));
  out.copy_(result);
  resized.keep();
  return out;
}

Tensor& copy_contraction(Tensor& out, const Tensor& result) {
  if (out.requires_grad() && !(out.sizes() == result.sizes()))
    throw Error(
        "tensordot(): the 'out' tensor was specified and requires gradients, and its shape does not match the "
        "expected result. Either remove the 'out' argument, ensure it does not require gradients, or make sure its "
        "shape matches the expected output.");
  if (result.dtype() != out.dtype())
    throw Error(std::string("tensordot: Expected the output tensor to have dtype ") + scalar_type_name(result.dtype()) +
                ", but got an output tensor with dtype " + scalar_type_name(out.dtype()));
  return copy_product(out, result);
}

// --- addbmm

namespace {

void check_addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2) {
  (void)self.detach().expand({batch1.size(1), batch2.size(2)});
  if (batch1.dim() != 3) throw Error("batch1 must be a 3D tensor");
  if (batch2.dim() != 3) throw Error("batch2 must be a 3D tensor");
  if (batch1.size(0) != batch2.size(0))
    throw Error("batch1 and batch2 must have same number of batches, got " + text(batch1.size(0)) + " and " +
                text(batch2.size(0)));
  if (batch1.size(2) != batch2.size(1))
    throw Error("Incompatible matrix sizes for bmm (" + text(batch1.size(1)) + "x" + text(batch1.size(2)) + " and " +
                text(batch2.size(1)) + "x" + text(batch2.size(2)) + ")");
}

/// Added to `start`, which has the result's sizes and dtype, matrix by matrix: 16-bit floats are rounded each time.
Tensor added_batches(Tensor start, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  if (batch1.size(0) == 0) {
    if (is_zero(beta))
      run_fill(start, 0);
    else
      start.mul_(beta);
  }
  for (int64_t i = 0; i < batch1.size(0); ++i) {
    start = plain::addmm(start, batch1.select(0, i), batch2.select(0, i), beta, alpha);
    beta = 1;
  }
  forget_writes(start);
  return start;
}

/// A new tensor of the result's sizes with what is added to; without a meaning where beta is 0.
Tensor start_of(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Dtype dtype) {
  const Tensor start = new_tensor({batch1.size(1), batch2.size(2)}, dtype, self.device());
  run_copy(start, self.detach().expand(start.sizes()));
  return start;
}

}  // namespace

Tensor plain::addbmm(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  check_addbmm(self, batch1, batch2);
  return added_batches(start_of(self, batch1, batch2, self.dtype()), batch1.detach(), batch2.detach(), beta, alpha);
}
Tensor& plain::addbmm_out(Tensor& out, const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta,
                          Scalar alpha) {
  check_unrecorded(Op::addbmm, out, self, batch1, batch2);
  check_addbmm(self, batch1, batch2);
  if (!is_zero(beta)) warn_of_lost_parts(self.dtype(), out.dtype(), self.numel());
  const Tensor start = start_of(self, batch1, batch2, out.dtype());
  if (!is_zero(beta) && out.sizes() == start.sizes()) check_no_internal_overlap(out);
  const Tensor result = added_batches(start, batch1.detach(), batch2.detach(), beta, alpha);
  if (!(out.sizes() == result.sizes())) out.resize_(result.sizes());  // PyTorch does not warn of it
  if (is_zero(beta) && batch1.size(0) == 0) return write_zeros(out, result);
  return write_result(Op::addbmm, out, result);
}
void plain::addbmm_inplace(const Tensor& self, const Tensor& batch1, const Tensor& batch2, Scalar beta, Scalar alpha) {
  check_addbmm(self, batch1, batch2);
  if (!(self.sizes() == Dims{batch1.size(1), batch2.size(2)}))
    throw Error("self tensor does not match matmul output shape");
  run_copy(self, plain::addbmm(self, batch1, batch2, beta, alpha));
}

// --- kron

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
      sizes.push_back((Checked(rows) * columns).or_else([] { throw Error("kron: the result is too large"); }));
    }
    self = a.view(outer);
    other = b.view(inner);
  }
};

}  // namespace

Tensor plain::kron(const Tensor& self, const Tensor& other) {
  const Blocks blocks(self, other);
  const Tensor product = blocks.self * blocks.other;
  const Tensor shaped = product.detach().view(blocks.sizes);
  // Not a view of the product, because nothing else holds that.
  return recorded(product, new_alias(product, shaped.sizes(), shaped.strides(), 0), {ViewKind::unsafe_view});
}
Tensor& plain::kron_out(Tensor& out, const Tensor& self, const Tensor& other) {
  check_unrecorded(Op::mul, out, self, other);
  const Blocks blocks(self.detach(), other.detach());
  const Tensor result = run_clone(blocks.self * blocks.other, MemoryFormat::contiguous).view(blocks.sizes);
  for (const Tensor* operand : {&self, &other}) {
    if (result.numel() == 0) break;
    const bool is_same = out.numel() == result.numel() && out.numel() == operand->numel() && out.is_contiguous() &&
                         operand->is_contiguous() && out.data_ptr() == operand->data_ptr();
    if (is_same) continue;  // whatever the dims of size 1
    if (out.numel() == result.numel())
      check_no_partial_overlap(out, *operand);
    else
      check_no_overlap(out, *operand);  // `out` is resized
  }
  return write_result(Op::mul, out, result);
}

// --- tensordot

namespace {

/// The sums over pairs of dims as a product of two matrices.
struct Contraction {
  Tensor left, right;
  Dims sizes;  // of the result
  int64_t rows = 1, depth = 1, columns = 1;

  Contraction(const Tensor& self, const Tensor& other, SizesView dims, SizesView other_dims) {
    if (dims.size() != other_dims.size()) throw Error("both dimension lists should have same length");
    if (self.dtype() != other.dtype()) throw Error("both inputs should have same dtype");
    left = self;
    right = other;
    for (int64_t i = 0; i < dims.size(); ++i) pair(self, other, dims[i], other_dims[i]);
    const Dims mask = mask_in_order(dims, self.dim()), other_mask = mask_in_order(other_dims, other.dim());
    Dims order, other_order;
    add_kept(self.dim(), mask, left, order, rows);
    for (int64_t dim : dims) order.push_back(dim);
    for (int64_t dim : other_dims) other_order.push_back(dim);
    add_kept(other.dim(), other_mask, right, other_order, columns);
    left = left.permute(order);
    right = right.permute(other_order);
  }

 private:
  void pair(const Tensor& self, const Tensor& other, int64_t dim, int64_t other_dim) {
    const int64_t size = self.size(dim), other_size = other.size(other_dim);
    if (other_size == 1)
      left = left.sum(dim, true, left.dtype());
    else if (size == 1)
      right = right.sum(other_dim, true, right.dtype());
    else if (size != other_size)
      throw Error("contracted dimensions need to match, but first has size " + text(size) + " in dim " + text(dim) +
                  " and second has size " + text(other_size) + " in dim " + text(other_dim));
    else
      depth *= size;  // exact: at most the number of elements
  }
  void add_kept(int64_t ndim, const Dims& mask, const Tensor& operand, Dims& order, int64_t& count) {
    for (int64_t dim = 0; dim < ndim; ++dim) {
      if (mask[dim]) continue;
      order.push_back(dim);
      sizes.push_back(operand.size(dim));
      count *= operand.size(dim);  // exact: at most the number of elements
    }
  }
};

}  // namespace

Tensor plain::tensordot(const Tensor& self, const Tensor& other, SizesView dims_self, SizesView dims_other) {
  const Contraction pair(self, other, dims_self, dims_other);
  if (pair.rows == 1 && pair.columns == 1) {
    const Tensor a = pair.left.reshape({pair.depth}), b = pair.right.reshape({pair.depth});
    // PyTorch has a product of bools only where their strides keep it from dot.
    const bool is_any = self.dtype() == bool_ && !(pair.left.is_contiguous() && pair.right.is_contiguous());
    return (is_any ? tenon::any(a & b) : tenon::dot(a, b)).view(pair.sizes);
  }
  const Tensor left = pair.left.reshape({pair.rows, pair.depth}),
               right = pair.right.reshape({pair.depth, pair.columns});
  return tenon::mm(left, right).reshape(pair.sizes);
}
Tensor& plain::tensordot_out(Tensor& out, const Tensor& self, const Tensor& other, SizesView dims_self,
                             SizesView dims_other) {
  const Tensor result = plain::tensordot(self, other, dims_self, dims_other);
  return copy_contraction(out, result);
}

// --- vecdot, cross

namespace {

void check_vecdot(const Tensor& x, const Tensor& y) {
  if (!is_inexact(x.dtype()))
    throw Error(std::string("linalg.vecdot: Expected a floating point or complex tensor as input. Got ") +
                scalar_type_name(x.dtype()));
  if (x.dtype() != y.dtype())
    throw Error(std::string("linalg.vecdot: Expected x and y to have the same dtype, but found x of type ") +
                scalar_type_name(x.dtype()) + " and y of type " + scalar_type_name(y.dtype()) + " instead");
}
Tensor conjugated(const Tensor& x) { return is_complex(x.dtype()) ? conj(x) : x; }

}  // namespace

Tensor plain::linalg_vecdot(const Tensor& x, const Tensor& y, int64_t dim) {
  check_vecdot(x, y);
  if (x.dim() == 1 && y.dim() == 1) return tenon::vdot(x, y);
  return (conjugated(x) * y).sum(dim);
}
Tensor& plain::linalg_vecdot_out(Tensor& out, const Tensor& x, const Tensor& y, int64_t dim) {
  check_vecdot(x, y);
  if (out.dtype() != x.dtype())
    throw Error(std::string("linalg.vecdot: Expected out of dtype") + scalar_type_name(x.dtype()) + " but found " +
                scalar_type_name(out.dtype()));
  if (x.dim() == 1 && y.dim() == 1) return tenon::vdot_out(out, x, y);
  return tenon::sum_out(out, conjugated(x) * y, dim);
}

namespace {

/// The dims of the result.
Dims check_cross(const Tensor& self, const Tensor& other, int64_t dim) {
  if (self.dim() != other.dim()) throw Error("linalg.cross: inputs must have the same number of dimensions.");
  const int64_t size = self.size(dim), other_size = other.size(dim);
  if (size != 3 || other_size != 3)
    throw Error("linalg.cross: inputs dimension " + text(dim) + " must have length 3. Got " + text(size) + " and " +
                text(other_size));
  return infer_size(self.sizes(), other.sizes());
}

Tensor cross_of(const Tensor& self, const Tensor& other, int64_t dim) {
  const Dims sizes = check_cross(self, other, dim);
  const Tensor result = new_tensor(sizes, self.dtype(), self.device());
  if (!is_computed(self)) return result;
  check_has_code(row_of(Op::linalg_cross), self.dtype());
  if (self.dtype() != other.dtype())
    throw Error(std::string("expected scalar type ") + scalar_type_name(self.dtype()) + " but found " +
                scalar_type_name(other.dtype()));
  const Tensor a = self.detach(), b = other.detach();
  const auto product = [&](int64_t i, int64_t k) { return a.select(dim, i % 3) * b.select(dim, k % 3); };
  for (int64_t i = 0; i < 3; ++i) run_copy(result.select(dim, i), product(i + 1, i + 2) - product(i + 2, i + 1));
  forget_writes(result);
  return result;
}

int64_t cross_dim(std::optional<int64_t> dim, const Tensor& self) {
  if (dim) return *dim;
  for (int64_t i = 0; i < self.dim(); ++i)
    if (self.size(i) == 3) return i;
  throw Error("no dimension of size 3 in input");
}

}  // namespace

Tensor plain::linalg_cross(const Tensor& self, const Tensor& other, int64_t dim) { return cross_of(self, other, dim); }
Tensor& plain::linalg_cross_out(Tensor& out, const Tensor& self, const Tensor& other, int64_t dim) {
  check_unrecorded(Op::linalg_cross, out, self, other);
  check_cross(self, other, dim);
  check_strict_out(out, self.dtype());
  return write_result(Op::linalg_cross, out, cross_of(self, other, dim));
}
Tensor plain::cross(const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  if (!dim)  // PyTorch does not warn where an output is given
    warn("UserWarning",
         "Using torch.cross without specifying the dim arg is deprecated.\nPlease either pass the dim explicitly or "
         "simply use torch.linalg.cross.\nThe default value of dim will change to agree with that of linalg.cross in a "
         "future release.");
  return tenon::linalg_cross(self, other, cross_dim(dim, self));
}
Tensor& plain::cross_out(Tensor& out, const Tensor& self, const Tensor& other, std::optional<int64_t> dim) {
  return tenon::linalg_cross_out(out, self, other, cross_dim(dim, self));
}

// --- matrix_power

namespace {

void check_square(const Tensor& self) {
  if (self.dim() < 2) throw Error("linalg.matrix_power: The input tensor A must have at least 2 dimensions.");
  if (self.size(-1) != self.size(-2))
    throw Error("linalg.matrix_power: A must be batches of square matrices, but they are " + text(self.size(-2)) +
                " by " + text(self.size(-1)) + " matrices");
}

Tensor identity_like(const Tensor& self) {
  Tensor result = self.clone(MemoryFormat::contiguous);
  return result.copy_(eye(self.size(-2), Options(self.dtype(), self.device())));
}

Tensor power_of(const Tensor& self, int64_t n) {
  check_square(self);
  if (n == -1) return tenon::linalg_inv(self);
  // exact: the largest number stands for its successor, whose powers are the same but for 1 and -1
  if (n < 0) return power_of(tenon::linalg_inv(self), -std::max(n, -std::numeric_limits<int64_t>::max()));
  if (n == 0) return identity_like(self);
  if (n == 1) return self.clone(MemoryFormat::contiguous);
  if (n == 3) return tenon::matmul(tenon::matmul(self, self), self);
  Tensor square = self, result;
  for (int64_t left = n; left > 0; left /= 2) {
    if (left != n) square = tenon::matmul(square, square);
    if (left % 2 == 1) result = result.defined() ? tenon::matmul(result, square) : square;
  }
  return result;
}

Tensor& write_power(Tensor& out, const Tensor& self, int64_t n) {
  check_square(self);
  if (!can_cast(self.dtype(), out.dtype()))
    throw Error(std::string("matrix_power: Expected result to be safely castable from ") +
                scalar_type_name(self.dtype()) + " dtype, but got result with dtype " + scalar_type_name(out.dtype()));
  // PyTorch's last step is a product with out=, but for powers of 2 above 2.
  const bool is_copied = n < 2 || (n != 2 && (n & (n - 1)) == 0);
  if (!is_copied) check_strict_out(out, self.dtype());
  return copy_product(out, power_of(self, n));
}

}  // namespace

Tensor plain::matrix_power(const Tensor& self, int64_t n) { return power_of(self, n); }
Tensor& plain::matrix_power_out(Tensor& out, const Tensor& self, int64_t n) { return write_power(out, self, n); }
Tensor plain::linalg_matrix_power(const Tensor& self, int64_t n) { return power_of(self, n); }
Tensor& plain::linalg_matrix_power_out(Tensor& out, const Tensor& self, int64_t n) { return write_power(out, self, n); }

// --- multi_dot

namespace {

/// The operands as matrices, and the sizes of the result.
struct Chain {
  std::vector<Tensor> matrices;
  Dims sizes;

  explicit Chain(const List<Tensor>& tensors) {
    const auto count = static_cast<int64_t>(tensors.size());
    if (count < 2) throw Error("multi_dot(): expected at least 2 tensors but got " + text(count));
    for (const Tensor& tensor : tensors) matrices.push_back(tensor);
    widen(tensors[0], "first", 0, matrices.front());
    widen(tensors[tensors.size() - 1], "last", -1, matrices.back());
    for (std::size_t i = 1; i + 1 < matrices.size(); ++i)
      if (tensors[i].dim() != 2)
        throw Error("multi_dot(): tensor " + std::to_string(i) + " must be 2D but got " + text(tensors[i].dim()) + "D");
    for (std::size_t i = 1; i < matrices.size(); ++i) check(tensors, i);
  }

 private:
  void widen(const Tensor& tensor, const char* name, int64_t side, Tensor& matrix) {
    if (tensor.dim() != 1 && tensor.dim() != 2)
      throw Error(std::string("multi_dot(): the ") + name + " tensor must be 1D or 2D but got " + text(tensor.dim()) +
                  "D");
    if (tensor.dim() == 1)
      matrix = tensor.unsqueeze(side);
    else
      sizes.push_back(tensor.size(side));
  }
  void check(const List<Tensor>& tensors, std::size_t i) const {
    const std::string number = std::to_string(i), before = std::to_string(i - 1);
    if (tensors[i].dtype() != tensors[0].dtype())
      throw Error(std::string("multi_dot(): all tensors must have be the same dtype but tensor 0 is ") +
                  cpp_type_name(tensors[0].dtype()) + " and tensor " + number + " " +
                  cpp_type_name(tensors[i].dtype()));
    if (matrices[i - 1].size(-1) != matrices[i].size(0))
      throw Error("multi_dot(): tensors " + before + " and " + number + " with shapes " +
                  to_string(tensors[i - 1].sizes()) + " and " + to_string(tensors[i].sizes()) +
                  " cannot be multiplied");
  }
};

/// Where a chain is divided, so that the numbers of multiplications are least.
class ChainOrder {
 public:
  explicit ChainOrder(const std::vector<Tensor>& matrices) : matrices_(matrices), n_(matrices.size()) {
    costs_.resize(n_ * n_, 0);
    splits_.resize(n_ * n_, 0);
    for (std::size_t length = 1; length < n_; ++length)
      for (std::size_t first = 0; first + length < n_; ++first) choose(first, first + length);
  }
  Tensor product(std::size_t first, std::size_t last) const {
    if (first == last) return matrices_[first];
    const std::size_t split = splits_[first * n_ + last];
    return tenon::mm(product(first, split), product(split + 1, last));
  }

 private:
  double size(std::size_t i, int64_t dim) const { return static_cast<double>(matrices_[i].size(dim)); }
  void choose(std::size_t first, std::size_t last) {
    double least = std::numeric_limits<double>::infinity();
    for (std::size_t split = first; split < last; ++split) {
      // exact: in floating point; indices of a list
      const double cost = costs_[first * n_ + split] + costs_[(split + 1) * n_ + last] +
                          size(first, 0) * size(split, 1) * size(last, 1);
      if (cost >= least) continue;
      least = costs_[first * n_ + last] = cost;
      splits_[first * n_ + last] = split;
    }
  }

  const std::vector<Tensor>& matrices_;
  std::size_t n_;
  std::vector<double> costs_;
  std::vector<std::size_t> splits_;
};

Tensor chain_product(const Chain& chain) {
  return ChainOrder(chain.matrices).product(0, chain.matrices.size() - 1).view(chain.sizes);
}

}  // namespace

Tensor plain::linalg_multi_dot(const List<Tensor>& tensors) { return chain_product(Chain(tensors)); }
Tensor& plain::linalg_multi_dot_out(Tensor& out, const List<Tensor>& tensors) {
  const Chain chain(tensors);
  if (out.dtype() != tensors[0].dtype())
    throw Error(std::string("multi_dot(): expected out tensor to have dtype ") + cpp_type_name(tensors[0].dtype()) +
                " but got " + cpp_type_name(out.dtype()));
  return copy_product(out, chain_product(chain));
}

namespace {

/// The first of a chain that is a single matrix; undefined for others.
Tensor only_matrix(const List<Tensor>& matrices) {
  for (const Tensor& matrix : matrices)
    if (matrix.dim() != 2) throw Error("Tensor dimension is " + text(matrix.dim()) + ", expected 2 instead.");
  if (matrices.size() == 0) throw Error("chain_matmul(): Expected one or more matrices");
  return matrices.size() == 1 ? matrices[0] : Tensor();
}

}  // namespace

Tensor chain_matmul(const List<Tensor>& matrices) {
  const Tensor only = only_matrix(matrices);
  return only.defined() ? only.clone() : linalg_multi_dot(matrices);
}
Tensor& chain_matmul_out(Tensor& out, const List<Tensor>& matrices) {
  const Tensor only = only_matrix(matrices);
  return only.defined() ? copy_product(out, only) : linalg_multi_dot_out(out, matrices);
}

// --- linear, bilinear

namespace {

/// A dense bias is added by the product itself if it is a vector, dims of size 1 aside, and if the vectors are the rows
/// of one matrix in memory.
bool adds_bias_to_rows(const Tensor& input, const Tensor& bias) {
  const SizesView sizes = bias.sizes();
  const bool is_vector = sizes.size() == 1 || std::count(sizes.begin(), sizes.end(), 1) + 1 == sizes.size();
  return input.dim() != 2 && is_vector && bias.is_contiguous() && input.is_contiguous();
}

Tensor linear_of(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  if (input.dim() == 0 || weight.dim() == 0)
    throw Error("both arguments to linear need to be at least 1D, but they are " + text(input.dim()) + "D and " +
                text(weight.dim()) + "D");
  const Tensor turned = weight.t();
  if (!bias.defined()) return tenon::matmul(input, turned);
  if (input.dim() == 2) return tenon::addmm(bias, input, turned);
  if (!adds_bias_to_rows(input, bias)) return tenon::matmul(input, turned).add_(bias);
  const int64_t depth = input.size(-1);
  int64_t rows = 1;
  Dims sizes;
  for (int64_t dim = 0; dim + 1 < input.dim(); ++dim) {
    sizes.push_back(input.size(dim));
    rows *= input.size(dim);  // exact: at most the number of elements
  }
  const Tensor result = tenon::addmm(bias, input.reshape({rows, depth}), turned);
  sizes.push_back(result.size(1));
  return result.view(sizes);
}

}  // namespace

Tensor plain::linear(const Tensor& input, const Tensor& weight, const Tensor& bias) {
  return linear_of(input, weight, bias);
}
Tensor& plain::linear_out(Tensor& out, const Tensor& input, const Tensor& weight, const Tensor& bias) {
  const Tensor turned = weight.t();
  if (!bias.defined()) return tenon::matmul_out(out, input, turned);
  if (input.dim() == 2) return tenon::addmm_out(out, bias, input, turned);
  // Of wrong dtypes PyTorch gives the error of the product without a bias, which throws here.
  if (input.dtype() != turned.dtype() || input.dtype() != out.dtype()) return tenon::matmul_out(out, input, turned);
  const Tensor result = tenon::matmul(input, turned).add_(bias);
  if (input.dim() != 1 || turned.dim() != 2) return copy_product(out, result);
  // As in `matmul`, `out` gets a matrix, then loses its first dim.
  copy_product(out, result.unsqueeze(0));
  take_layout(out, out.squeeze(0));
  return out;
}

namespace {

void check_bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  const bool has_bias = bias.defined() && bias.dtype() != input1.dtype();
  if (input1.dtype() != input2.dtype() || input1.dtype() != weight.dtype() || has_bias)
    throw Error(std::string("All tensors must have the same dtype, got input1: ") + cpp_type_name(input1.dtype()) +
                ", input2: " + cpp_type_name(input2.dtype()) + ", weight: " + cpp_type_name(weight.dtype()) +
                (bias.defined() ? std::string(", bias: ") + cpp_type_name(bias.dtype()) : ""));
  if (input1.dim() != input2.dim())
    throw Error("bilinear(): input dimensions do not match: got " + text(input1.dim()) + " and " + text(input2.dim()));
  for (int64_t dim = 0; dim + 1 < input1.dim(); ++dim)
    if (input1.size(dim) != input2.size(dim))
      throw Error("bilinear(): input batch dimensions do not match at dim " + text(dim) + ": got " +
                  text(input1.size(dim)) + " and " + text(input2.size(dim)));
  if (input1.size(-1) != weight.size(1))
    throw Error("bilinear(): input1 size does not match weight size: got " + text(input1.size(-1)) + " but expected " +
                text(weight.size(1)));
  if (input2.size(-1) != weight.size(2))
    throw Error("bilinear(): input2 size does not match weight size: got " + text(input2.size(-1)) + " but expected " +
                text(weight.size(2)));
  if (bias.defined() && bias.size(0) != weight.size(0))
    throw Error("bilinear(): bias size does not match weight size: got " + text(bias.size(0)) + " but expected " +
                text(weight.size(0)));
}

}  // namespace

Tensor plain::bilinear(const Tensor& input1, const Tensor& input2, const Tensor& weight, const Tensor& bias) {
  check_bilinear(input1, input2, weight, bias);
  const int64_t outs = weight.size(0), first = weight.size(1), second = weight.size(2);
  Dims sizes;
  for (int64_t dim = 0; dim + 1 < input1.dim(); ++dim) sizes.push_back(input1.size(dim));
  sizes.push_back(outs);
  const Tensor rows1 = input1.reshape({-1, first}), rows2 = input2.reshape({-1, second});
  const int64_t rows = rows1.size(0);
  if (rows > 0 && !input1.is_meta()) check_has_code(row_of(Op::bmm), input1.dtype());
  // weight @ input2 for each row, then its products with input1.
  const Tensor half = tenon::mm(rows2, weight.reshape({outs * first, second}).t());
  const Tensor columns = rows1.reshape({rows, first, 1});
  const Tensor result = tenon::bmm(half.reshape({rows, outs, first}), columns).reshape(sizes);
  return bias.defined() ? result + bias : result;
}

}  // namespace tenon
