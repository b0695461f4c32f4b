// Derivatives of decompositions and of what is solved by them. PyTorch: FunctionsManual.cpp. For a real loss the
// gradient of a complex matrix is that by the conjugate.
#include <algorithm>
#include <string>
#include <string_view>

#include "autograd/derivative.h"
#include "dispatch/linalg.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::autograd {
namespace {

Tensor transposed(const Tensor& x) { return x.transpose(-2, -1); }
Tensor adjoint(const Tensor& x) { return conj(transposed(x)); }
Tensor diagonal_of(const Tensor& x) { return x.diagonal(0, -2, -1); }
Tensor as_diagonal(const Tensor& x) { return tenon::diag_embed(x); }
Options like(const Tensor& x) { return Options(x.dtype(), x.device()); }
Tensor one_of(const Tensor& x, int64_t size) { return eye(size, like(x)); }
Tensor solve_upper(const Tensor& a, const Tensor& b) { return tenon::linalg_solve_triangular(a, b, true); }
/// b a^-1.
Tensor divided_by_lower(const Tensor& b, const Tensor& a) { return tenon::linalg_solve_triangular(a, b, false, false); }

/// values[j] - values[i] for each pair; 1 on the diagonal, by which nothing is divided.
Tensor differences(const Tensor& values) {
  const Tensor pairs = values.unsqueeze(-2) - values.unsqueeze(-1);
  return pairs + one_of(pairs, pairs.size(-1));
}
Tensor without_diagonal(const Tensor& x) { return x - as_diagonal(diagonal_of(x)); }

/// Throws Error if a loss depends on the phase of complex vectors, which is free: by `parts` of their derivatives.
void check_phases(const Tensor& parts, const char* name, const char* vectors, const char* consequence) {
  if (!is_complex(parts.dtype()) || parts.is_meta()) return;
  const Tensor turns = imag(parts.detach());
  if (!tenon::allclose(turns, zeros_like(turns), 1e-2, 1e-2))
    throw Error(std::string(name) + "_backward: The " + vectors +
                " in the complex case are specified up to multiplication by e^{i phi}. The specified loss "
                "function depends on this " +
                consequence);
}
constexpr const char* kIllDefined = "quantity, so it is ill-defined.";

}  // namespace

Tensor of_lu_factor(const Tensor& grad, const Tensor& lu, const Tensor& pivots) {
  const int64_t rows = lu.size(-2), columns = lu.size(-1), kept = std::min(rows, columns);
  const auto square = [kept](const Tensor& x) { return x.narrow(-2, 0, kept).narrow(-1, 0, kept); };
  const Tensor lower = square(lu).tril(-1) + one_of(lu, kept), upper = square(lu).triu();
  const Tensor of_lower = square(grad).tril(-1);
  Tensor inside = transposed(conj(lower)).matmul(of_lower).tril(-1), rest;
  Tensor of_upper = square(grad).triu();
  if (rows > kept) {  // L2 = A2 U^-1
    const Tensor below = lu.narrow(-2, kept, rows - kept);
    rest = divided_by_lower(grad.narrow(-2, kept, rows - kept), adjoint(upper));
    of_upper = of_upper - adjoint(below).matmul(rest);
    of_upper = of_upper.triu();
  }
  if (columns > kept) {  // U2 = L^-1 A2
    const Tensor beside = lu.narrow(-1, kept, columns - kept);
    rest = tenon::linalg_solve_triangular(adjoint(lower), grad.narrow(-1, kept, columns - kept), true, true, true);
    const Tensor through_lower = (of_lower - rest.matmul(adjoint(beside))).tril(-1);
    inside = adjoint(lower).matmul(through_lower).tril(-1);
  }
  inside = inside + of_upper.matmul(adjoint(upper)).triu();
  const Tensor left = tenon::linalg_solve_triangular(adjoint(lower), inside, true, true, true);
  Tensor whole = divided_by_lower(left, adjoint(upper));
  if (rest.defined()) whole = tenon::cat({whole, rest}, rows > kept ? -2 : -1);
  const Tensor order = tenon::argsort(order_of_pivots(pivots, rows));
  return whole.gather(-2, order.unsqueeze(-1).expand(whole.sizes()));
}

Tensor of_inverse(const Tensor& grad, const Tensor& inverse) {
  const Tensor dual = adjoint(inverse);
  return -dual.matmul(grad.matmul(dual));
}

namespace {

/// The gradient of X as matrices: a batch of vectors has one dim less than A.
Tensor columns_of(const Tensor& x, const Tensor& a) { return x.dim() < a.dim() ? x.unsqueeze(-1) : x; }

}  // namespace

Tensor of_solve_matrix(const CallGiven& given, const Tensor& a, const Tensor& x) {
  const bool left = given.boolean("left", true);
  const Tensor grad = tenon::linalg_solve(adjoint(a), columns_of(given.grad(), a), left);
  const Tensor solution = columns_of(x, a);
  return left ? -grad.matmul(adjoint(solution)) : -adjoint(solution).matmul(grad);
}
Tensor of_solve_right(const CallGiven& given, const Tensor& a) {
  const Tensor grad = tenon::linalg_solve(adjoint(a), columns_of(given.grad(), a), given.boolean("left", true));
  return given.grad().dim() < a.dim() ? grad.squeeze(-1) : grad;
}

Tensor of_solve_triangular_right(const CallGiven& given, const Tensor& a) {
  return tenon::linalg_solve_triangular(adjoint(a), given.grad(), !given.boolean("upper"), given.boolean("left", true),
                                        given.boolean("unitriangular"));
}
Tensor of_solve_triangle(const CallGiven& given, const Tensor& a, const Tensor& x) {
  const bool is_unit = given.boolean("unitriangular");
  const Tensor grad = of_solve_triangular_right(given, a);
  const Tensor whole = given.boolean("left", true) ? -grad.matmul(adjoint(x)) : -adjoint(x).matmul(grad);
  return given.boolean("upper") ? whole.triu(is_unit ? 1 : 0) : whole.tril(is_unit ? -1 : 0);
}

Tensor of_det(const Tensor& grad, const Tensor& a, const Tensor& det) {
  const int64_t n = a.size(-1);
  const auto column = [](const Tensor& x) { return x.unsqueeze(-1).unsqueeze(-1); };
  if (det.is_meta() || !(det == 0).any().item().to<bool>())
    return tenon::linalg_solve(adjoint(a), column(grad * conj(det)) * one_of(a, n));
  // By the matrix of cofactors, which singular matrices have, too.
  const auto [u, s, vh] = tenon::linalg_svd(a);
  const Tensor pairs = s.unsqueeze(-2) * (1 - one_of(s, n)) + one_of(s, n);
  const Tensor phase = conj(tenon::linalg_det(u) * tenon::linalg_det(vh));
  return column(grad * phase) * (u * pairs.prod(-1).unsqueeze(-2)).matmul(vh);
}

Tensor of_slogdet(const CallGiven& given, const Tensor& a, const Tensor& sign) {
  const auto column = [](const Tensor& x) { return x.unsqueeze(-1).unsqueeze(-1); };
  Tensor factor = given.grad(1);
  if (is_complex(a.dtype())) {
    const Tensor turn = given.has_grad(0) ? tenon::neg(imag(conj(given.grad(0)) * sign)) : zeros_like(factor);
    factor = tenon::complex(factor, turn);
  }
  return tenon::linalg_solve(adjoint(a), column(factor) * one_of(a, a.size(-1)));
}

Tensor of_cholesky(const Tensor& grad, const Tensor& factor, bool upper) {
  const Tensor lower = upper ? adjoint(factor) : factor, of_lower = upper ? adjoint(grad) : grad;
  const Tensor half = adjoint(lower).matmul(of_lower).tril();
  const Tensor both = half + adjoint(half.tril(-1));
  return divided_by_lower(solve_upper(adjoint(lower), both), lower) * 0.5;
}

namespace {

/// By a matrix with at least as many rows as columns, of A = Q R.
Tensor of_tall_qr(const Tensor& of_q, const Tensor& of_r, const Tensor& q, const Tensor& r) {
  const Tensor inside = (of_r.matmul(adjoint(r)) - adjoint(q).matmul(of_q)).triu();
  // Hermitian, with this upper triangle.
  const Tensor both = inside + adjoint(inside.triu(1));
  const Tensor diagonal = diagonal_of(both);
  const Tensor hermitian =
      is_complex(both.dtype())
          ? both - as_diagonal(diagonal) + as_diagonal(tenon::complex(real(diagonal), zeros_like(real(diagonal))))
          : both;
  return divided_by_lower(q.matmul(hermitian) + of_q, adjoint(r));
}

}  // namespace

Tensor of_qr(const CallGiven& given, const Tensor& q, const Tensor& r) {
  const std::string_view mode = given.word("mode", "reduced");
  if (mode == "r")
    throw Error(
        "The derivative of linalg.qr depends on Q, which is not computed when mode='r'. Please use linalg.qr(A, "
        "mode='reduced') if you are going to differentiate through linalg.qr.");
  const int64_t rows = given.sizes()[given.sizes().size() - 2], columns = r.size(-1);
  if (mode == "complete" && rows > columns)
    throw Error("The QR decomposition is not differentiable when mode='complete' and nrows > ncols.");
  const Tensor &of_q = given.grad(0), &of_r = given.grad(1);
  if (rows >= columns) return of_tall_qr(of_q, of_r, q, r);
  // The first columns decide Q; the others are Q^H times theirs.
  const int64_t rest = columns - rows;
  const Tensor of_rest = q.matmul(of_r.narrow(-1, rows, rest));
  const Tensor beside = q.matmul(r.narrow(-1, rows, rest));
  const Tensor through_q = of_q + beside.matmul(adjoint(of_r.narrow(-1, rows, rest)));
  const Tensor of_first = of_tall_qr(through_q, of_r.narrow(-1, 0, rows), q, r.narrow(-1, 0, rows));
  return tenon::cat({of_first, of_rest}, -1);
}

Tensor of_eigh(const CallGiven& given, const Tensor& values, const Tensor& vectors) {
  const Tensor of_values = as_diagonal(given.grad(0));
  if (!given.has_grad(1)) return (vectors * given.grad(0).unsqueeze(-2)).matmul(adjoint(vectors));
  const Tensor inside = adjoint(vectors).matmul(given.grad(1));
  check_phases(diagonal_of(inside), "linalg_eigh", "eigenvectors", kIllDefined);
  const Tensor turned = without_diagonal(inside) / differences(values);
  return vectors.matmul(turned + of_values).matmul(adjoint(vectors));
}

Tensor of_eig(const CallGiven& given, const Tensor& a, const Tensor& values, const Tensor& vectors) {
  const Tensor dual = adjoint(vectors);
  Tensor inside = as_diagonal(given.grad(0));
  if (given.has_grad(1)) {
    const Tensor turned = dual.matmul(given.grad(1));
    check_phases(diagonal_of(turned), "linalg_eig", "eigenvectors", kIllDefined);
    const Tensor scale = tenon::complex(real(diagonal_of(turned)), zeros_like(real(diagonal_of(turned))));
    const Tensor through_norm = dual.matmul(vectors * scale.unsqueeze(-2));
    inside = inside + without_diagonal(turned - through_norm) / conj(differences(values));
  }
  const Tensor grad = tenon::linalg_solve(dual, inside.matmul(dual));
  return is_complex(a.dtype()) ? grad : real(grad);
}

Tensor of_svd(const CallGiven& given, const Tensor& u_given, const Tensor& s, const Tensor& vh_given) {
  const int64_t rows = u_given.size(-2), columns = vh_given.size(-1), kept = s.size(-1);
  const Tensor u = u_given.narrow(-1, 0, kept), vh = vh_given.narrow(-2, 0, kept);
  if (!given.has_grad(0) && !given.has_grad(2)) return (u * given.grad(1).unsqueeze(-2)).matmul(vh);
  const Tensor of_u = given.grad(0).narrow(-1, 0, kept), of_vh = given.grad(2).narrow(-2, 0, kept);
  const auto skew = [](const Tensor& x) { return x - adjoint(x); };
  const Tensor left = skew(adjoint(u).matmul(of_u)), right = skew(vh.matmul(adjoint(of_vh)));
  check_phases(diagonal_of(left + right), "svd", "singular vectors", "phase term, making it ill-defined.");
  const Tensor pairs = differences(s * s);
  Tensor inside = left / pairs * s.unsqueeze(-2) + s.unsqueeze(-1) * (right / pairs);
  inside = without_diagonal(inside) + as_diagonal(given.grad(1).to(u.dtype()));
  if (is_complex(u.dtype())) inside = inside + as_diagonal(diagonal_of(left) / (s * 2));
  Tensor grad = u.matmul(inside).matmul(vh);
  if (rows > kept) grad = grad + (of_u - u.matmul(adjoint(u).matmul(of_u))).matmul(vh / s.unsqueeze(-1));
  if (columns > kept) grad = grad + (u / s.unsqueeze(-2)).matmul(of_vh - of_vh.matmul(adjoint(vh)).matmul(vh));
  return grad;
}

Tensor of_pinv(const Tensor& grad, const Tensor& inverse, const Tensor& a) {
  const Tensor dual = adjoint(inverse), of_dual = adjoint(grad);
  if (a.size(-2) <= a.size(-1)) {
    const Tensor k = of_dual.matmul(inverse), times = k.matmul(dual);
    return -adjoint(inverse.matmul(k)) + times - a.matmul(inverse).matmul(times) +
           dual.matmul(inverse).matmul(of_dual - k.matmul(a));
  }
  const Tensor k = inverse.matmul(of_dual), times = dual.matmul(k);
  return -adjoint(k.matmul(inverse)) + (of_dual - a.matmul(k)).matmul(inverse).matmul(dual) + times -
         times.matmul(inverse).matmul(a);
}

Tensor of_matrix_exp(const Tensor& grad, const Tensor& a) {
  // The exponential of [[A^H, G], [0, A^H]] has the derivative in the direction G at the upper right. Source: N. J.
  // Higham, Functions of Matrices (2008), 3.2.
  const int64_t n = a.size(-1);
  const Tensor dual = adjoint(a);
  const Tensor above = tenon::cat({dual, grad}, -1), below = tenon::cat({zeros_like(dual), dual}, -1);
  return tenon::linalg_matrix_exp(tenon::cat({above, below}, -2)).narrow(-2, 0, n).narrow(-1, n, n);
}

}  // namespace tenon::autograd
