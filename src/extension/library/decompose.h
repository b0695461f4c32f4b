// extension: matrix decompositions by Eigen (https://eigen.tuxfamily.org), of real or of complex numbers.
#pragma once
#include <Eigen/Cholesky>
#include <Eigen/Eigenvalues>
#include <Eigen/LU>
#include <Eigen/QR>
#include <Eigen/SVD>
#include <algorithm>
#include <complex>
#include <type_traits>

#include "extension/library/library.h"

namespace Eigen::internal {

/// Pivots of complex matrices are chosen as LAPACK chooses them: by |re| + |im|.
template <>
struct scalar_score_coeff_op<std::complex<double>> {
  using result_type = double;
  double operator()(const std::complex<double>& a) const { return std::abs(a.real()) + std::abs(a.imag()); }
};
template <>
struct functor_traits<scalar_score_coeff_op<std::complex<double>>> {
  enum { Cost = 3, PacketAccess = false };
};

/// Eigen's own destroys its decomposition and makes another in its place: if there is no memory for that, the first one
/// is freed twice.
template <>
class qr_preconditioner_impl<MatrixXd, ColPivHouseholderQRPreconditioner, PreconditionIfMoreRowsThanCols, true> {
 public:
  using Svd = JacobiSVD<MatrixXd, ColPivHouseholderQRPreconditioner>;

  void allocate(const Svd& svd) {
    if (svd.rows() != qr_.rows() || svd.cols() != qr_.cols())
      qr_ = ColPivHouseholderQR<MatrixXd>(svd.rows(), svd.cols());
    workspace_.resize(svd.m_computeFullU ? svd.rows() : svd.m_computeThinU ? svd.cols() : 0);
  }
  bool run(Svd& svd, const MatrixXd& matrix) {
    if (matrix.rows() <= matrix.cols()) return false;
    qr_.compute(matrix);
    svd.m_workMatrix = qr_.matrixQR().block(0, 0, matrix.cols(), matrix.cols()).template triangularView<Upper>();
    if (svd.m_computeFullU) {
      qr_.householderQ().evalTo(svd.m_matrixU, workspace_);
    } else if (svd.m_computeThinU) {
      svd.m_matrixU.setIdentity(matrix.rows(), matrix.cols());
      qr_.householderQ().applyThisOnTheLeft(svd.m_matrixU, workspace_);
    }
    if (svd.computeV()) svd.m_matrixV = qr_.colsPermutation();
    return true;
  }

 private:
  ColPivHouseholderQR<MatrixXd> qr_;
  VectorXd workspace_;
};

}  // namespace Eigen::internal

namespace tenon {

template <class T>
struct Decompose {
  using Index = Eigen::Index;
  using Real = typename Eigen::NumTraits<T>::Real;
  using Complex = std::complex<Real>;
  static constexpr bool kIsComplex = !std::is_same_v<T, Real>;
  using Matrix = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  using Map = Eigen::Map<Matrix>;
  using ConstMap = Eigen::Map<const Matrix>;
  using ComplexMatrix = Eigen::Matrix<Complex, Eigen::Dynamic, Eigen::Dynamic>;
  using ComplexMap = Eigen::Map<ComplexMatrix>;
  using RealColumn = Eigen::Map<Eigen::Matrix<Real, Eigen::Dynamic, 1>>;
  using ComplexColumn = Eigen::Map<Eigen::Matrix<Complex, Eigen::Dynamic, 1>>;

  static Map map(void* a, int64_t rows, int64_t columns) { return {static_cast<T*>(a), rows, columns}; }
  static ConstMap map(const void* a, int64_t rows, int64_t columns) {
    return {static_cast<const T*>(a), rows, columns};
  }

  static int64_t lu(int64_t rows, int64_t columns, void* a, int32_t* pivots) {
    const Index square = std::min(rows, columns);
    if (square == 0) return 0;
    Map whole = map(a, rows, columns);
    int exchanges;
    const Index zero = Eigen::internal::partial_lu_impl<T, Eigen::ColMajor, int32_t>::blocked_lu(
        rows, square, whole.data(), rows, pivots, exchanges);
    const Index rest = columns - square;
    for (Index i = 0; i < square; ++i) {
      if (rest > 0 && pivots[i] != i) whole.rightCols(rest).row(i).swap(whole.rightCols(rest).row(pivots[i]));
      ++pivots[i];  // counted from 1, as in LAPACK
    }
    if (rest > 0)
      whole.leftCols(square).template triangularView<Eigen::UnitLower>().solveInPlace(whole.rightCols(rest));
    return zero + 1;
  }

  static int64_t cholesky(int64_t n, void* a) {
    Map lower = map(a, n, n);
    lower.template triangularView<Eigen::StrictlyUpper>().setZero();
    return Eigen::internal::llt_inplace<T, Eigen::Lower>::blocked(lower) + 1;
  }

  template <unsigned Mode>
  static void solve(const ConstMap& a, Map b) {
    a.template triangularView<Mode>().solveInPlace(b);
  }
  static void solve_triangular(int64_t n, int64_t columns, const void* a, void* b, bool upper, bool unit) {
    const ConstMap triangle = map(a, n, n);
    const Map right = map(b, n, columns);
    if (upper) return unit ? solve<Eigen::UnitUpper>(triangle, right) : solve<Eigen::Upper>(triangle, right);
    return unit ? solve<Eigen::UnitLower>(triangle, right) : solve<Eigen::Lower>(triangle, right);
  }

  static void qr(int64_t rows, int64_t columns, int64_t kept, void* a, void* q) {
    Map both = map(a, rows, columns);
    Eigen::HouseholderQR<Eigen::Ref<Matrix>> parts(both);
    if (q) {
      Map basis = map(q, rows, kept);
      basis.setIdentity();
      basis.applyOnTheLeft(parts.householderQ());
    }
    both.template triangularView<Eigen::StrictlyLower>().setZero();
  }

  static int64_t info(Eigen::ComputationInfo of) { return of == Eigen::Success ? 0 : 1; }

  static int64_t eigh(int64_t n, const void* a, void* values, void* vectors) {
    Eigen::SelfAdjointEigenSolver<Matrix> parts;
    parts.compute(map(a, n, n), vectors ? Eigen::ComputeEigenvectors : Eigen::EigenvaluesOnly);
    if (parts.info() != Eigen::Success) return 1;
    RealColumn(static_cast<Real*>(values), n) = parts.eigenvalues();
    if (vectors) map(vectors, n, n) = parts.eigenvectors();
    return 0;
  }

  /// As LAPACK's: the element of the largest magnitude is real.
  static void make_largest_real(ComplexMap vectors) {
    for (Index i = 0; i < vectors.cols(); ++i) {
      Index place;
      vectors.col(i).cwiseAbs2().maxCoeff(&place);
      const Complex largest = vectors(place, i);
      if (largest.imag() == 0) continue;
      vectors.col(i) *= std::conj(largest) / std::abs(largest);
      vectors(place, i).imag(0);
    }
  }
  static int64_t eig(int64_t n, const void* a, void* values, void* vectors) {
    std::conditional_t<kIsComplex, Eigen::ComplexEigenSolver<Matrix>, Eigen::EigenSolver<Matrix>> parts;
    parts.compute(map(a, n, n), vectors != nullptr);
    if (parts.info() != Eigen::Success) return 1;
    ComplexColumn(static_cast<Complex*>(values), n) = parts.eigenvalues();
    if (!vectors) return 0;
    ComplexMap to(static_cast<Complex*>(vectors), n, n);
    to = parts.eigenvectors();
    make_largest_real(to);
    return 0;
  }

  /// U and V of a square matrix; none if `u` is null.
  static int64_t square_svd(const Matrix& a, Matrix* u, void* s, Matrix* v) {
    const Eigen::BDCSVD<Matrix> parts(a, u ? Eigen::ComputeThinU | Eigen::ComputeThinV : 0u);
    if (parts.info() != Eigen::Success) return 1;
    RealColumn(static_cast<Real*>(s), a.cols()) = parts.singularValues();
    if (!u) return 0;
    *u = parts.matrixU();
    *v = parts.matrixV();
    return 0;
  }
  /// Of a matrix with at least as many rows as columns: that of its R, multiplied by Q.
  static int64_t tall_svd(const Matrix& a, void* u, void* s, void* v, bool full) {
    const Index rows = a.rows(), columns = a.cols(), kept = full ? rows : columns;
    Matrix left, right;
    Matrix* const wanted = u ? &left : nullptr;
    if (rows == columns) {
      if (square_svd(a, wanted, s, &right) != 0) return 1;
      if (u) map(u, rows, kept) = left;
    } else {
      const Eigen::HouseholderQR<Matrix> qr(a);
      const Matrix triangle = qr.matrixQR().topRows(columns).template triangularView<Eigen::Upper>();
      if (square_svd(triangle, wanted, s, &right) != 0) return 1;
      if (u) {
        Map whole = map(u, rows, kept);
        whole.setIdentity();
        whole.topLeftCorner(columns, columns) = left;
        whole.applyOnTheLeft(qr.householderQ());
      }
    }
    if (u) map(v, columns, columns) = right;
    return 0;
  }
  static int64_t svd(int64_t rows, int64_t columns, const void* a, void* u, void* s, void* v, bool full) {
    const ConstMap whole = map(a, rows, columns);
    if (!whole.allFinite()) return 1;
    if (rows >= columns) return tall_svd(whole, u, s, v, full);
    return tall_svd(whole.adjoint(), v, s, u, full);
  }

  static constexpr Decompositions all() { return {lu, cholesky, solve_triangular, qr, eigh, eig, svd}; }
};

}  // namespace tenon
