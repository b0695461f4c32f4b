// Decompositions of matrices, and what is computed by them. Checks, their order and texts are PyTorch's
// (aten/src/ATen/native/BatchLinearAlgebra.cpp and LinearAlgebraUtils.h). Every matrix is cast to float64 or
// complex128, decomposed (extension/extension.h), and the results are cast to its dtype.
#include "dispatch/linalg.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <cstring>
#include <numeric>
#include <optional>
#include <string>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/checked.h"
#include "dispatch/algorithm.h"
#include "dispatch/plain.h"
#include "dispatch/text.h"
#include "extension/extension.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tile/pool.h"

namespace tenon {
namespace {

[[noreturn]] void fail(const char* op, const std::string& text) { throw Error(std::string(op) + ": " + text); }

void check_matrices(const Tensor& a, const char* op, const char* name = "A") {
  if (a.dim() < 2) fail(op, std::string("The input tensor ") + name + " must have at least 2 dimensions.");
}
void check_square(const Tensor& a, const char* op) {
  check_matrices(a, op);
  if (a.size(-2) != a.size(-1))
    fail(op, "A must be batches of square matrices, but they are " + std::to_string(a.size(-2)) + " by " +
                 std::to_string(a.size(-1)) + " matrices");
}
bool is_solved(Dtype dtype) { return (kSolved & set_of(dtype)) != 0; }
void check_inexact(const Tensor& a, const char* op) {
  if (!is_inexact(a.dtype()))
    fail(op, std::string("Expected a floating point or complex tensor as input. Got ") + scalar_type_name(a.dtype()));
}
/// The same; 16-bit floats are refused, too.
void check_wide(const Tensor& a, const char* op) {
  check_inexact(a, op);
  if (!is_solved(a.dtype()))
    fail(op, std::string("Low precision dtypes not supported. Got ") + scalar_type_name(a.dtype()));
}
void check_code(const Tensor& a, const char* kernel) {
  if (!is_solved(a.dtype())) fail_no_code(kernel, a.dtype());
}

// --- Batches of matrices

/// The sizes without the last `count`.
Dims batch_of(const Tensor& a, int64_t count = 2) { return SizesView(a.sizes().data(), a.dim() - count).copy(); }
Dims with(Dims batch, std::initializer_list<int64_t> sizes) {
  for (int64_t size : sizes) batch.push_back(size);
  return batch;
}
Tensor transposed(const Tensor& a) { return a.transpose(-2, -1); }
Tensor adjoint(const Tensor& a) { return conj(transposed(a)); }
/// A copy whose matrices are column-major.
Tensor column_major(const Tensor& a, Dtype dtype) {
  return transposed(transposed(a).to(dtype, true, MemoryFormat::contiguous));
}

/// Matrices of float64 or complex128, or of another dtype that is only moved; column-major.
struct Matrices {
  Tensor tensor;
  int64_t count, rows, columns;

  explicit Matrices(Tensor of) : tensor(std::move(of)), rows(tensor.size(-2)), columns(tensor.size(-1)) {
    Checked batch = 1;  // matrices without elements may be any number
    for (int64_t i = 0; i < tensor.dim() - 2; ++i) batch *= tensor.sizes()[i];
    count = batch.or_throw("numel: integer multiplication overflow");
  }
  void* at(int64_t i) const {
    return tensor.impl()->data() + i * rows * columns * tensor.itemsize();  // exact: in the storage
  }
};
Dtype solved(Dtype dtype) { return is_complex(dtype) ? complex128 : float64; }
Matrices copy_of(const Tensor& a) { return Matrices(column_major(a.detach(), solved(a.dtype()))); }
Matrices new_matrices(const Tensor& beside, int64_t rows, int64_t columns, Dtype dtype) {
  return Matrices(transposed(new_tensor(with(batch_of(beside), {columns, rows}), dtype, beside.device())));
}
/// Row i of each is for matrix i.
void* row_at(const Tensor& rows, int64_t i) {
  return rows.impl()->data() + i * rows.size(-1) * rows.itemsize();  // exact: in the storage
}
Tensor as(Dtype dtype, const Matrices& matrices) {
  forget_writes(matrices.tensor);
  return matrices.tensor.to(dtype);
}
Tensor as(Dtype dtype, const Tensor& tensor) {
  forget_writes(tensor);
  return tensor.to(dtype);
}
Tensor new_infos(const Tensor& a) { return zeros(batch_of(a), Options(int32, a.device())); }
void set_info(const Tensor& infos, int64_t i, int64_t info) {
  infos.data<int32_t>()[i] = static_cast<int32_t>(info);  // exact: in the storage
}

// Multiplications that one thread takes at least.
constexpr int64_t kPartWork = 1 << 16;

/// Calls body(i) for every matrix.
template <class Body>
void for_each(const Matrices& matrices, const Body& body) {
  const Tensor& tensor = matrices.tensor;
  const int64_t count = matrices.count;
  if (!is_computed(tensor) || count == 0) return;
  const double work = static_cast<double>(matrices.rows) * static_cast<double>(matrices.columns) *
                      static_cast<double>(std::min(matrices.rows, matrices.columns));
  const int64_t each = static_cast<int64_t>(std::max(1., static_cast<double>(kPartWork) / std::max(1., work)));
  const int64_t parts = (count - 1) / each + 1;  // exact: no more than `count`
  run_or_plan(tensor.is_meta() ? nullptr : tensor.impl()->storage, parts, [&](int64_t part) {
    const int64_t end = std::min(count, (part + 1) * each);  // exact: no more than `count` and a part
    for (int64_t i = part * each; i < end; ++i) body(i);
  });
}

/// Throws for the first info that is not 0: `text` says what it means.
template <class Exception = LinAlgError, class Text>
void check_infos(const Tensor& infos, const char* op, const Text& text) {
  if (infos.is_meta()) return;
  const int32_t* const info = infos.data<int32_t>();
  for (int64_t i = 0; i < infos.numel(); ++i) {
    if (info[i] == 0) continue;
    const std::string where = infos.dim() > 0 ? "(Batch element " + std::to_string(i) + "): " : "";
    throw Exception(std::string(op) + ": " + where + text(info[i]));
  }
}

// --- LU, and what is solved by it

struct Lu {
  Matrices matrices;
  Tensor pivots, infos;
};

Lu lu_of(const Tensor& a) {
  const Matrices matrices = copy_of(a);
  const int64_t kept = std::min(matrices.rows, matrices.columns);
  Lu lu{matrices, new_tensor(with(batch_of(a), {kept}), int32, a.device()), new_infos(a)};
  const auto& by = decompositions("an LU decomposition", is_complex(a.dtype()));
  for_each(matrices, [&](int64_t i) {
    auto* const pivots = static_cast<int32_t*>(row_at(lu.pivots, i));
    set_info(lu.infos, i, by.lu(matrices.rows, matrices.columns, matrices.at(i), pivots));
  });
  return lu;
}

/// The order of rows that exchanges make of 0, 1, 2, ... The pivots may be anybody's, and change meanwhile.
void write_order(const int32_t* pivots, int64_t count, int64_t* order, int64_t rows) {
  std::iota(order, order + rows, 0);  // exact: in the storage
  for (int64_t i = 0; i < count; ++i) {
    const int64_t row = pivots[i];
    if (row <= i || row > rows)
      throw Error("pivots must be between " + std::to_string(i + 1) + " and " + std::to_string(rows));
    std::swap(order[i], order[row - 1]);
  }
}

/// The solutions of A X = B, over `right`.
void solve_by(const Lu& lu, const Matrices& right, bool is_complex) {
  const auto& by = decompositions("a solution", is_complex);
  const int64_t n = lu.matrices.rows;
  const int64_t width = right.tensor.itemsize();
  for_each(right, [&](int64_t i) {
    const int64_t own = lu.matrices.count == 1 ? 0 : i;
    const auto* const pivots = static_cast<const int32_t*>(row_at(lu.pivots, own));
    for (int64_t column = 0; column < right.columns; ++column) {
      // exact: in the storage
      auto* const elements = static_cast<std::byte*>(right.at(i)) + column * n * width;
      for (int64_t k = 0; k < n; ++k)
        if (pivots[k] != k + 1)
          std::swap_ranges(elements + k * width, elements + (k + 1) * width, elements + (pivots[k] - 1) * width);
    }
    by.solve_triangular(n, right.columns, lu.matrices.at(own), right.at(i), false, true);
    by.solve_triangular(n, right.columns, lu.matrices.at(own), right.at(i), true, false);
  });
}

std::string singular_text(int64_t info) {
  return "The diagonal element " + std::to_string(info) +
         " is zero, the inversion could not be completed because the input matrix is singular.";
}

/// The matrices of a call A X = B, broadcast to one batch.
struct Equation {
  Tensor a, b;
  bool is_vector;
};
Equation equation_of(const Tensor& a, const Tensor& b, bool left, const char* op, bool may_be_vector) {
  const bool is_vector =
      may_be_vector &&
      (b.dim() == 1 || (b.dim() == a.dim() - 1 && b.sizes() == SizesView(a.sizes().data(), a.dim() - 1)));
  const Tensor columns = is_vector ? b.unsqueeze(-1) : b;
  check_square(a, op);
  check_matrices(columns, op, "B");
  if (a.size(-1) != columns.size(left ? -2 : -1))
    fail(op, std::string("Incompatible shapes of A and B for the equation ") + (left ? "AX = B" : "XA = B") + " (" +
                 std::to_string(a.size(-2)) + "x" + std::to_string(a.size(-1)) + " and " +
                 std::to_string(columns.size(-2)) + "x" + std::to_string(columns.size(-1)) + ")");
  if (is_vector && !left)
    fail(op,
         "Vector broadcasting of the left hand side is not supported for left=False. In this case linalg.solve is "
         "equivalent to B / A.squeeze(-1)");
  const Dims batch = infer_size(batch_of(columns), batch_of(a));
  return {a.detach().expand(with(batch, {a.size(-2), a.size(-1)})),
          columns.detach().expand(with(batch, {columns.size(-2), columns.size(-1)})), is_vector};
}

}  // namespace

Tensor order_of_pivots(const Tensor& pivots, int64_t rows) {
  const Tensor given = pivots.detach().contiguous();
  const Tensor orders = new_tensor(with(batch_of(given, 1), {rows}), int64, given.device());
  if (given.is_meta()) return orders;
  const int64_t count = given.size(-1);
  for (int64_t i = 0; i < (rows == 0 ? 0 : orders.numel() / rows); ++i)
    write_order(static_cast<const int32_t*>(row_at(given, i)), count, static_cast<int64_t*>(row_at(orders, i)), rows);
  forget_writes(orders);
  return orders;
}

std::tuple<Tensor, Tensor, Tensor> plain::linalg_lu_factor_ex(const Tensor& A, bool pivot, bool check_errors) {
  if (A.dim() < 2)
    fail("torch.lu_factor",
         "Expected tensor with 2 or more dimensions. Got size: " + to_string(A.sizes()) + " instead");
  if (!pivot) fail("linalg.lu_factor", "LU without pivoting is not implemented on the CPU");
  check_code(A, "lu_cpu");
  const Lu lu = lu_of(A);
  if (check_errors)
    check_infos(lu.infos, "torch.linalg.lu_factor_ex", [](int64_t info) { return singular_text(info); });
  return {as(A.dtype(), lu.matrices), as(int32, lu.pivots), lu.infos};
}

std::tuple<Tensor, Tensor> plain::linalg_lu_factor(const Tensor& A, bool pivot) {
  const auto [lu, pivots, infos] = tenon::linalg_lu_factor_ex(A, pivot, false);
  check_infos<Error>(infos, "torch.linalg.lu_factor", [](int64_t info) {
    const std::string place = std::to_string(info);
    return "U[" + place + "," + place +
           "] is zero and using it on lu_solve would result in a division by zero. If you still want to perform the "
           "factorization, consider calling linalg.lu(A, pivot) or linalg.lu_factor_ex(A, pivot)";
  });
  return {lu, pivots};
}

std::tuple<Tensor, Tensor, Tensor> plain::linalg_lu(const Tensor& A, bool pivot) {
  if (A.dim() < 2)
    fail("linalg.lu", "Expected tensor with 2 or more dimensions. Got size: " + to_string(A.sizes()) + " instead");
  if (!pivot) fail("linalg.lu", "LU without pivoting is not implemented on the CPU");
  const auto [lu, pivots, infos] = tenon::linalg_lu_factor_ex(A, true, false);
  const int64_t rows = A.size(-2), kept = std::min(rows, A.size(-1));
  const Options options(A.dtype(), A.device());
  const Tensor places = arange(rows, Options(int64, A.device()));
  const Tensor permutation = (order_of_pivots(pivots, rows).unsqueeze(-2) == places.unsqueeze(-1)).to(A.dtype());
  const Tensor lower = lu.narrow(-1, 0, kept).tril(-1) + eye(rows, kept, options);
  return {permutation, lower, lu.narrow(-2, 0, kept).triu()};
}

Tensor plain::linalg_lu_solve(const Tensor& LU, const Tensor& pivots, const Tensor& B, bool left, bool adjoint) {
  constexpr const char* op = "linalg.lu_solve";
  check_inexact(LU, op);
  if (LU.dtype() != B.dtype())
    fail(op, std::string("Expected LU and B to have the same dtype, but found LU of type ") +
                 scalar_type_name(LU.dtype()) + " and B of type " + scalar_type_name(B.dtype()) + " instead");
  if (pivots.dtype() != int32) fail(op, "pivots should be a Tensor of scalar type torch.int32");
  equation_of(LU, B, left, op, false);
  if (pivots.dim() < 1 || pivots.size(-1) != LU.size(-1) || batch_of(pivots, 1) != batch_of(LU))
    fail(op, "Number of pivots per batch should be same as the dimension of the matrix");
  if (!left) {
    const Tensor dual = plain::linalg_lu_solve(LU, pivots, tenon::conj(transposed(B)), true, !adjoint);
    return transposed(tenon::conj(dual).contiguous());
  }
  const int64_t n = LU.size(-1);
  const Tensor order = order_of_pivots(pivots, n);
  const Dims batch = infer_size(batch_of(B), batch_of(LU));
  const Dims sizes = with(batch, {n, B.size(-1)});
  const Tensor right = B.expand(sizes);
  const auto along = [&](const Tensor& rows) { return rows.unsqueeze(-1).expand(sizes); };
  if (adjoint) {
    const Tensor dual = tenon::conj(transposed(LU));
    const Tensor upper = tenon::linalg_solve_triangular(dual, right, false);
    const Tensor solution = tenon::linalg_solve_triangular(dual, upper, true, true, true);
    return transposed(transposed(solution.gather(-2, along(tenon::argsort(order)))).contiguous());
  }
  const Tensor lower = tenon::linalg_solve_triangular(LU, right.gather(-2, along(order)), false, true, true);
  return tenon::linalg_solve_triangular(LU, lower, true);
}

std::tuple<Tensor, Tensor> plain::linalg_inv_ex(const Tensor& A, bool check_errors) {
  check_square(A, "linalg.inv");
  check_wide(A, "linalg.inv");
  const Lu lu = lu_of(A);
  const Matrices result = new_matrices(A, A.size(-2), A.size(-1), solved(A.dtype()));
  if (!A.is_meta()) Tensor(result.tensor).zero_().diagonal(0, -2, -1).fill_(1);
  solve_by(lu, result, is_complex(A.dtype()));
  if (check_errors) check_infos(lu.infos, "linalg.inv_ex", singular_text);
  return {as(A.dtype(), result), lu.infos};
}

Tensor plain::linalg_inv(const Tensor& A) {
  const auto [inverse, infos] = tenon::linalg_inv_ex(A, false);
  check_infos(infos, "linalg.inv", singular_text);
  return inverse;
}

std::tuple<Tensor, Tensor> plain::linalg_solve_ex(const Tensor& A, const Tensor& B, bool left, bool check_errors) {
  constexpr const char* op = "linalg.solve";
  check_wide(A, op);
  if (A.dtype() != B.dtype())
    fail(op, std::string("Expected A and B to have the same dtype, but found A of type ") +
                 scalar_type_name(A.dtype()) + " and B of type " + scalar_type_name(B.dtype()) + " instead");
  const auto [expanded, b, is_vector] = equation_of(A, B, left, op, true);
  // One matrix for a batch of right sides is decomposed once.
  const Tensor a = A.dim() == 2 ? A.detach() : expanded;
  const Lu lu = lu_of(left ? a : transposed(a));
  const Matrices solution = copy_of(left ? b : transposed(b));
  solve_by(lu, solution, is_complex(A.dtype()));
  const auto text = [](int64_t) { return "The solver failed because the input matrix is singular."; };
  if (check_errors) check_infos(lu.infos, "torch.linalg.solve_ex", text);
  const Tensor result = as(A.dtype(), solution);
  if (is_vector) {
    const Tensor vectors = result.squeeze(-1);
    return {vectors.dim() > 1 ? column_major(vectors, A.dtype()) : vectors, lu.infos};
  }
  return {left ? result : transposed(result), lu.infos};
}

Tensor plain::linalg_solve(const Tensor& A, const Tensor& B, bool left) {
  const auto [result, infos] = tenon::linalg_solve_ex(A, B, left, false);
  check_infos(infos, "torch.linalg.solve",
              [](int64_t) { return "The solver failed because the input matrix is singular."; });
  return result;
}

Tensor plain::linalg_solve_triangular(const Tensor& self, const Tensor& B, bool upper, bool left, bool unitriangular) {
  constexpr const char* op = "linalg.solve_triangular";
  const auto [a, b, is_vector] = equation_of(self, B, left, op, false);
  if (self.dtype() != B.dtype())
    fail(op, std::string("Expected A and B to have the same dtype, but found A of type ") +
                 scalar_type_name(self.dtype()) + " and B of type " + scalar_type_name(B.dtype()) + " instead");
  check_code(self, "triangular_solve_cpu");
  // One triangle for a batch of right sides is copied once.
  const Tensor own = self.dim() == 2 ? self.detach() : a;
  const Matrices triangle = copy_of(left ? own : transposed(own)), solution = copy_of(left ? b : transposed(b));
  const auto& by = decompositions(op, is_complex(self.dtype()));
  for_each(solution, [&](int64_t i) {
    by.solve_triangular(triangle.rows, solution.columns, triangle.at(triangle.count == 1 ? 0 : i), solution.at(i),
                        upper == left, unitriangular);
  });
  const Tensor result = as(self.dtype(), solution);
  return left ? result : column_major(transposed(result), self.dtype());
}

namespace {

/// Whether rows were exchanged an odd number of times, for each matrix: -1 or 1.
Tensor parity_of(const Lu& lu, Dtype dtype) {
  const Tensor places = arange(1, lu.pivots.size(-1) + 1, 1, Options(int32, lu.pivots.device()));  // exact: a size
  const Tensor exchanges = (lu.pivots != places).sum({-1});
  return (exchanges % 2 * -2 + 1).to(dtype);
}

}  // namespace

Tensor plain::linalg_det(const Tensor& A) {
  check_square(A, "linalg.det");
  check_inexact(A, "linalg.det");
  check_code(A, "lu_cpu");
  const Lu lu = lu_of(A);
  const Tensor diagonal = lu.matrices.tensor.diagonal(0, -2, -1);
  return as(A.dtype(), diagonal.prod(-1) * parity_of(lu, diagonal.dtype()));
}

std::tuple<Tensor, Tensor> plain::linalg_slogdet(const Tensor& A) {
  check_square(A, "linalg.slogdet");
  check_wide(A, "linalg.slogdet");
  const Lu lu = lu_of(A);
  const Tensor diagonal = lu.matrices.tensor.diagonal(0, -2, -1);
  return {as(A.dtype(), tenon::sgn(diagonal).prod(-1) * parity_of(lu, diagonal.dtype())),
          as(to_real(A.dtype()), tenon::log(tenon::abs(diagonal)).sum({-1}))};
}

// --- Cholesky, QR

namespace {

std::string minor_text(int64_t info) {
  return "The factorization could not be completed because the input is not positive-definite (the leading minor of "
         "order " +
         std::to_string(info) + " is not positive-definite).";
}

}  // namespace

std::tuple<Tensor, Tensor> plain::linalg_cholesky_ex(const Tensor& self, bool upper, bool check_errors) {
  check_square(self, "linalg.cholesky");
  check_inexact(self, "linalg.cholesky");
  check_code(self, "cholesky_cpu");
  const Matrices lower = copy_of(upper ? adjoint(self.detach()) : self);
  const Tensor infos = new_infos(self);
  const auto& by = decompositions("linalg.cholesky", is_complex(self.dtype()));
  for_each(lower, [&](int64_t i) { set_info(infos, i, by.cholesky(lower.rows, lower.at(i))); });
  if (check_errors) check_infos(infos, "linalg.cholesky_ex", minor_text);
  const Tensor result = as(self.dtype(), lower);
  return {upper ? column_major(adjoint(result), self.dtype()) : result, infos};
}

Tensor plain::linalg_cholesky(const Tensor& self, bool upper) {
  const auto [factor, infos] = tenon::linalg_cholesky_ex(self, upper, false);
  check_infos(infos, "linalg.cholesky", minor_text);
  return factor;
}

std::tuple<Tensor, Tensor> plain::linalg_qr(const Tensor& A, const char* mode) {
  check_matrices(A, "linalg.qr");
  check_inexact(A, "linalg.qr");
  const std::string_view name = mode;
  if (name != "reduced" && name != "complete" && name != "r")
    throw Error("qr received unrecognized mode '" + std::string(name) +
                "' but expected one of 'reduced' (default), 'r', or 'complete'");
  check_code(A, "geqrf_cpu");
  const Dtype dtype = A.dtype();
  const Matrices both = copy_of(A);
  const int64_t kept = name == "complete" ? both.rows : std::min(both.rows, both.columns);
  const Matrices q = new_matrices(A, both.rows, kept, solved(dtype));
  const bool wants_q = name != "r";
  const auto& by = decompositions("linalg.qr", is_complex(dtype));
  for_each(both, [&](int64_t i) { by.qr(both.rows, both.columns, kept, both.at(i), wants_q ? q.at(i) : nullptr); });
  const Tensor r = both.tensor.narrow(-2, 0, kept);
  return {wants_q ? as(dtype, q) : new_tensor({0}, dtype, A.device()), column_major(r, dtype)};
}

// --- Eigenvalues

namespace {

struct Eigen {
  Tensor values, vectors;  // vectors may be undefined
};

Eigen hermitian_eigen(const Tensor& self, const char* UPLO, bool wants_vectors) {
  check_square(self, "linalg.eigh");
  const std::string_view half = UPLO;
  const char letter = half.size() == 1 ? static_cast<char>(std::toupper(static_cast<unsigned char>(half[0]))) : ' ';
  if (letter != 'L' && letter != 'U')
    throw Error("Expected UPLO argument to be 'L' or 'U', but got " + std::string(half));
  check_code(self, "linalg_eigh_cpu");
  const Dtype dtype = self.dtype();
  const Matrices matrices = copy_of(letter == 'U' ? adjoint(self.detach()) : self);
  const int64_t n = matrices.rows;
  const Tensor values = new_tensor(with(batch_of(self), {n}), float64, self.device()), infos = new_infos(self);
  const Matrices vectors = new_matrices(self, n, n, solved(dtype));
  const auto& by = decompositions("linalg.eigh", is_complex(dtype));
  for_each(matrices, [&](int64_t i) {
    if (n > 0)
      set_info(infos, i, by.eigh(n, matrices.at(i), row_at(values, i), wants_vectors ? vectors.at(i) : nullptr));
  });
  check_infos(infos, "linalg.eigh", [](int64_t info) {
    return "The algorithm failed to converge because the input matrix is ill-conditioned or has too many repeated "
           "eigenvalues (error code: " +
           std::to_string(info) + ").";
  });
  return {as(to_real(dtype), values), wants_vectors ? as(dtype, vectors) : Tensor()};
}

Eigen general_eigen(const Tensor& self, const char* op, bool wants_vectors) {
  if (!is_inexact(self.dtype())) to_complex(self.dtype());  // throws
  check_square(self, op);
  check_code(self, "linalg_eig_out_cpu");
  const Dtype dtype = to_complex(self.dtype());
  const Matrices matrices = copy_of(self);
  if (!self.is_meta() && !tenon::isfinite(matrices.tensor).all().item().to<bool>())
    throw Error(std::string("torch.") + op + ": input tensor should not contain infs or NaNs.");
  const int64_t n = matrices.rows;
  const Tensor values = new_tensor(with(batch_of(self), {n}), complex128, self.device()), infos = new_infos(self);
  const Matrices vectors = new_matrices(self, n, n, complex128);
  const auto& by = decompositions(op, is_complex(self.dtype()));
  for_each(matrices, [&](int64_t i) {
    if (n > 0)
      set_info(infos, i, by.eig(n, matrices.at(i), row_at(values, i), wants_vectors ? vectors.at(i) : nullptr));
  });
  check_infos(infos, op, [](int64_t info) {
    return "The algorithm failed to converge (error code: " + std::to_string(info) + ").";
  });
  return {as(dtype, values), wants_vectors ? as(dtype, vectors) : Tensor()};
}

}  // namespace

std::tuple<Tensor, Tensor> plain::linalg_eigh(const Tensor& self, const char* UPLO) {
  const Eigen eigen = hermitian_eigen(self, UPLO, true);
  return {eigen.values, eigen.vectors};
}
Tensor plain::linalg_eigvalsh(const Tensor& self, const char* UPLO) {
  // A derivative needs the vectors.
  if (is_recorded(self)) return std::get<0>(tenon::linalg_eigh(self, UPLO));
  return hermitian_eigen(self, UPLO, false).values;
}
std::tuple<Tensor, Tensor> plain::linalg_eig(const Tensor& self) {
  const Eigen eigen = general_eigen(self, "linalg.eig", true);
  return {eigen.values, eigen.vectors};
}
Tensor plain::linalg_eigvals(const Tensor& self) {
  if (is_recorded(self)) return std::get<0>(tenon::linalg_eig(self));
  return general_eigen(self, "linalg.eigvals", false).values;
}

// --- Singular values

namespace {

struct Singular {
  Tensor u, s, vh;  // u and vh may be undefined
};

void check_driver(const char* driver) {
  if (driver)
    throw Error("torch.linalg.svd: keyword argument `driver=` is only supported on CUDA inputs with cuSOLVER backend.");
}

Singular singular_of(const Tensor& a, bool full, bool wants_vectors) {
  check_matrices(a, "linalg.svd");
  check_inexact(a, "linalg.svd");
  check_code(a, "linalg_svd_cpu");
  const Dtype dtype = a.dtype();
  const Matrices matrices = copy_of(a);
  const int64_t rows = matrices.rows, columns = matrices.columns, kept = std::min(rows, columns);
  const Tensor s = new_tensor(with(batch_of(a), {kept}), float64, a.device()), infos = new_infos(a);
  const Matrices u = new_matrices(a, rows, full ? rows : kept, solved(dtype)),
                 v = new_matrices(a, columns, full ? columns : kept, solved(dtype));
  if (kept == 0 && !a.is_meta())  // any orthonormal columns
    for (const Matrices& any : {u, v}) Tensor(any.tensor).zero_().diagonal(0, -2, -1).fill_(1);
  const auto& by = decompositions("linalg.svd", is_complex(dtype));
  for_each(matrices, [&](int64_t i) {
    if (kept == 0) return;
    set_info(infos, i,
             by.svd(rows, columns, matrices.at(i), wants_vectors ? u.at(i) : nullptr, row_at(s, i),
                    wants_vectors ? v.at(i) : nullptr, full));
  });
  check_infos(infos, "linalg.svd", [](int64_t) {
    return "The algorithm failed to converge because the input matrix contained non-finite values.";
  });
  if (!wants_vectors) return {{}, as(to_real(dtype), s), {}};
  return {as(dtype, u), as(to_real(dtype), s), column_major(adjoint(v.tensor), dtype)};
}

}  // namespace

std::tuple<Tensor, Tensor, Tensor> plain::linalg_svd(const Tensor& A, bool full_matrices, const char* driver) {
  check_matrices(A, "linalg.svd");
  check_driver(driver);
  const Singular singular = singular_of(A, full_matrices, true);
  return {singular.u, singular.s, singular.vh};
}
Tensor plain::linalg_svdvals(const Tensor& A, const char* driver) {
  check_matrices(A, "linalg.svd");
  check_driver(driver);
  if (is_recorded(A)) return std::get<1>(tenon::linalg_svd(A, false));
  return singular_of(A, false, false).s;
}

Tensor plain::linalg_pinv(const Tensor& self, std::optional<Scalar> atol, std::optional<Scalar> rtol, bool hermitian) {
  if (self.dim() < 2 || !is_solved(self.dtype()))
    throw Error(std::string("linalg.pinv(") + scalar_type_name(self.dtype()) + "{" + to_string(self.sizes()) +
                "}): expected a tensor with 2 or more dimensions of float, double, cfloat or cdouble types");
  const int64_t rows = self.size(-2), columns = self.size(-1);
  if (self.numel() == 0) return zeros(with(batch_of(self), {columns, rows}), Options(self.dtype(), self.device()));
  const double epsilon = to_real(self.dtype()) == float64 ? 0x1p-52 : 0x1p-23;
  const double absolute = atol ? atol->to<double>() : 0;
  const double relative = rtol           ? rtol->to<double>()
                          : absolute > 0 ? 0
                                         : epsilon * static_cast<double>(std::max(rows, columns));
  const auto inverted = [&](const Tensor& values) {
    const Tensor magnitudes = tenon::abs(values);
    const Tensor least = (magnitudes.amax({-1}, true) * relative).clamp_min(absolute);
    return tenon::where(magnitudes > least, tenon::reciprocal(values), 0).unsqueeze(-2);
  };
  const Tensor a = self.detach();
  if (hermitian) {
    const auto [values, vectors] = plain::linalg_eigh(a, "L");
    return (vectors * inverted(values)).matmul(adjoint(vectors));
  }
  const auto [u, s, vh] = plain::linalg_svd(a, false, nullptr);
  return (adjoint(vh) * inverted(s)).matmul(adjoint(u));
}

// --- The exponential

namespace {

/// The Padé approximant of degree 13. Source: N. J. Higham, "The Scaling and Squaring Method for the Matrix Exponential
/// Revisited", SIAM J. Matrix Anal. Appl. 26 (2005).
Tensor pade_13(const Tensor& a) {
  constexpr std::array<double, 14> b = {64764752532480000.,
                                        32382376266240000.,
                                        7771770303897600.,
                                        1187353796428800.,
                                        129060195264000.,
                                        10559470521600.,
                                        670442572800.,
                                        33522128640.,
                                        1323241920.,
                                        40840800.,
                                        960960.,
                                        16380.,
                                        182.,
                                        1.};
  const Tensor one = eye(a.size(-1), Options(a.dtype(), a.device()));
  const Tensor a2 = a.matmul(a), a4 = a2.matmul(a2), a6 = a4.matmul(a2);
  const auto sum = [&](int from) { return a6 * b[from + 6] + a4 * b[from + 4] + a2 * b[from + 2] + one * b[from]; };
  const auto high = [&](int from) { return a6.matmul(a6 * b[from + 12] + a4 * b[from + 10] + a2 * b[from + 8]); };
  const Tensor odd = a.matmul(high(1) + sum(1)), even = high(0) + sum(0);
  return std::get<0>(plain::linalg_solve_ex(even - odd, even + odd, true, false));
}
constexpr double kPade13Norm = 5.371920351148152;  // up to this norm the approximant is exact to float64

}  // namespace

Tensor plain::linalg_matrix_exp(const Tensor& self) {
  check_square(self, "linalg.matrix_exp");
  check_inexact(self, "linalg.matrix_exp");
  if (self.numel() == 0 || self.is_meta()) return new_tensor(self.sizes(), self.dtype(), self.device());
  const Tensor a = self.detach().to(solved(self.dtype()));
  const Tensor norm = tenon::abs(a).sum({-2}).amax({-1});
  const Tensor halvings =
      tenon::ceil(tenon::log2(norm / kPade13Norm)).clamp_min(0).nan_to_num(0, 0).view(with(batch_of(a), {1, 1}));
  Tensor result = pade_13(a * tenon::exp2(-halvings));
  const auto most = halvings.max().item().to<int64_t>();
  for (int64_t i = 0; i < most; ++i) result = tenon::where(halvings > i, result.matmul(result), result);
  return as(self.dtype(), result.contiguous());
}

}  // namespace tenon
