// ops: decompositions of matrices, and what is computed by them. Without formulas: dispatch/linalg.cpp; derivatives:
// autograd/linalg.h. Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct linalg_lu_factor_ex {
  static constexpr Row row{
      .signature =
          "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False, Tensor[3] out=None) -> (Tensor "
          "LU, Tensor pivots, Tensor info)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bij",
      .method = false,
      .dtypes = kSolved,
      .grad_fn = "LinalgLuFactorExBackward0",
      .doc = "linalg.lu_factor, whose info is 0 or the first diagonal element of U that is 0, counted from 1."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_lu_factor(g.grad(), g.result(0), g.result(1));
  }
};

struct linalg_lu_factor {
  static constexpr Row row{
      .signature = "linalg_lu_factor(Tensor A, *, bool pivot=True, Tensor[2] out=None) -> (Tensor LU, Tensor pivots)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bij",
      .method = false,
      .dtypes = kSolved,
      .doc =
          "L and U of the matrix A = P L U in one, without the ones of L's diagonal, and for each row the one that it "
          "was exchanged with, counted from 1."};
};

struct linalg_lu {
  static constexpr Row row{
      .signature = "linalg_lu(Tensor A, *, bool pivot=True, Tensor[3] out=None) -> (Tensor P, Tensor L, Tensor U)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bij",
      .method = false,
      .dtypes = kSolved,
      .doc = "The matrix A = P L U: a permutation, a lower triangle with ones, an upper triangle."};
};

struct linalg_lu_solve {
  static constexpr Row row{
      .signature =
          "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False, Tensor out=None) "
          "-> Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "ii,i,ij",
      .method = false,
      .one_dtype = true,
      .dtypes = kSolved,
      .doc = "The X of A X = B, of A as linalg.lu_factor gives it."};
};

struct linalg_inv_ex {
  static constexpr Row row{
      .signature =
          "linalg_inv_ex(Tensor A, *, bool check_errors=False, Tensor[2] out=None) -> (Tensor inverse, Tensor info)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bii",
      .method = false,
      .dtypes = kSolved,
      .grad_fn = "LinalgInvExBackward0",
      .doc = "linalg.inv without its error: info is 0 or the place, counted from 1, of a 0 on the diagonal of U."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_inverse(g.grad(), g.result(0));
  }
};

struct linalg_inv {
  static constexpr Row row{.signature = "linalg_inv(Tensor A, *, Tensor out=None) -> Tensor",
                           .numpy = "linalg.inv",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .method = false,
                           .dtypes = kSolved,
                           .doc = "The inverses of square matrices."};
};

struct linalg_solve_ex {
  static constexpr Row row{
      .signature =
          "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False, Tensor[2] out=None) -> "
          "(Tensor result, Tensor info)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "ii,ij",
      .method = false,
      .one_dtype = true,
      .dtypes = kSolved,
      .grad_fn = "LinalgSolveExBackward0",
      .doc = "linalg.solve without its error: info is 0 or the place, counted from 1, of a 0 on the diagonal of U."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_solve_matrix(g, g.a(), g.result(0));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_solve_right(g, g.a());
  }
};

struct linalg_solve {
  static constexpr Row row{
      .signature = "linalg_solve(Tensor A, Tensor B, *, bool left=True, Tensor out=None) -> Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "ii,ij",
      .method = false,
      .one_dtype = true,
      .dtypes = kSolved,
      .doc = "The X of A X = B, or of X A = B. B is a batch of vectors if it has A's sizes but the last."};
};

struct linalg_solve_triangular {
  static constexpr Row row{
      .signature =
          "linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False, "
          "Tensor out=None) -> Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "ii,ij",
      .method = false,
      .one_dtype = true,
      .dtypes = kSolved,
      .kernel_name = "triangular_solve_cpu",
      .grad_fn = "LinalgSolveTriangularBackward0",
      .doc =
          "linalg.solve of a triangle: the other elements of A, and of a unitriangular one the diagonal, are not "
          "read."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_solve_triangle(g, g.a(), g.result());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_solve_triangular_right(g, g.a());
  }
};

struct linalg_det {
  static constexpr Row row{.signature = "linalg_det(Tensor A, *, Tensor out=None) -> Tensor",
                           .numpy = "linalg.det",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .method = false,
                           .dtypes = kSolved,
                           .grad_fn = "LinalgDetBackward0",
                           .doc = "The determinants of square matrices."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_det(g.grad(), g.a(), g.result());
  }
};

struct linalg_slogdet {
  static constexpr Row row{
      .signature = "linalg_slogdet(Tensor A, *, Tensor[2] out=None) -> (Tensor sign, Tensor logabsdet)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bii",
      .method = false,
      .dtypes = kSolved,
      .grad_fn = "LinalgSlogdetBackward0",
      .doc = "The sign of a determinant and the logarithm of its magnitude."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_slogdet(g, g.a(), g.result(0));
  }
};

struct linalg_cholesky_ex {
  static constexpr Row row{
      .signature =
          "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False, Tensor[2] out=None) -> "
          "(Tensor "
          "L, Tensor info)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bii",
      .method = false,
      .dtypes = kSolved,
      .kernel_name = "cholesky_cpu",
      .grad_fn = "LinalgCholeskyExBackward0",
      .doc = "linalg.cholesky without its error: info is 0 or the order of a leading minor that is not positive."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_cholesky(g.grad(), g.result(0), g.boolean("upper"));
  }
};

struct linalg_cholesky {
  static constexpr Row row{
      .signature = "linalg_cholesky(Tensor self, *, bool upper=False, Tensor out=None) -> Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bii",
      .method = false,
      .dtypes = kSolved,
      .doc = "The lower triangle L of A = L L^H, or the upper one; A is Hermitian and positive definite."};
};

struct linalg_qr {
  static constexpr Row row{
      .signature = "linalg_qr(Tensor A, str mode='reduced', *, Tensor[2] out=None) -> (Tensor Q, Tensor R)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bij",
      .values = "mode: reduced complete r",
      .method = false,
      .dtypes = kSolved,
      .kernel_name = "geqrf_cpu",
      .grad_fn = "LinalgQrBackward0",
      .doc = "A = Q R: columns that are orthonormal, and an upper triangle."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_qr(g, g.result(0), g.result(1));
  }
};

struct linalg_eigh {
  static constexpr Row row{
      .signature =
          "linalg_eigh(Tensor self, str UPLO='L', *, Tensor[2] out=None) -> (Tensor eigenvalues, Tensor eigenvectors)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bii",
      .values = "UPLO: L U",
      .method = false,
      .dtypes = kSolved,
      .kernel_name = "linalg_eigh_cpu",
      .grad_fn = "LinalgEighBackward0",
      .doc = "The eigenvalues of Hermitian matrices, ascending, and the eigenvectors as columns."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_eigh(g, g.result(0), g.result(1));
  }
};

struct linalg_eigvalsh {
  static constexpr Row row{.signature = "linalg_eigvalsh(Tensor self, str UPLO='L', *, Tensor out=None) -> Tensor",
                           .numpy = "linalg.eigvalsh",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .values = "UPLO: L U",
                           .method = false,
                           .dtypes = kSolved,
                           .kernel_name = "linalg_eigh_cpu",
                           .complex_to_real = true,
                           .doc = "The eigenvalues of Hermitian matrices, ascending."};
};

struct linalg_eig {
  static constexpr Row row{
      .signature = "linalg_eig(Tensor self, *, Tensor[2] out=None) -> (Tensor eigenvalues, Tensor eigenvectors)",
      .numpy = "",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bii",
      .method = false,
      .promotion = Promotion::to_complex,
      .dtypes = kSolved,
      .kernel_name = "linalg_eig_out_cpu",
      .grad_fn = "LinalgEigBackward0",
      .doc = "The eigenvalues of square matrices and the eigenvectors as columns, complex."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_eig(g, g.a(), g.result(0), g.result(1));
  }
};

struct linalg_eigvals {
  static constexpr Row row{.signature = "linalg_eigvals(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .method = false,
                           .promotion = Promotion::to_complex,
                           .dtypes = kSolved,
                           .kernel_name = "linalg_eig_out_cpu",
                           .doc = "The eigenvalues of square matrices, complex."};
};

struct linalg_svd {
  static constexpr Row row{
      .signature =
          "linalg_svd(Tensor A, bool full_matrices=True, *, str? driver=None, Tensor[3] out=None) -> (Tensor U, Tensor "
          "S, "
          "Tensor Vh)",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bij",
      .values = "driver: gesvd",
      .method = false,
      .dtypes = kSolved,
      .kernel_name = "linalg_svd_cpu",
      .grad_fn = "LinalgSvdBackward0",
      .doc = "A = U diag(S) Vh: orthonormal columns, singular values, descending, and orthonormal rows."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_svd(g, g.result(0), g.result(1), g.result(2));
  }
};

struct linalg_svdvals {
  static constexpr Row row{.signature = "linalg_svdvals(Tensor A, *, str? driver=None, Tensor out=None) -> Tensor",
                           .numpy = "linalg.svdvals",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bij",
                           .values = "driver: gesvd",
                           .method = false,
                           .dtypes = kSolved,
                           .kernel_name = "linalg_svd_cpu",
                           .complex_to_real = true,
                           .doc = "The singular values of matrices, descending."};
};

struct linalg_pinv {
  static constexpr Row row{
      .signature =
          "linalg_pinv(Tensor self, *, Scalar? atol=None, Scalar? rtol=None, bool hermitian=False, Tensor out=None) -> "
          "Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .shapes = "bij",
      .method = false,
      .dtypes = kSolved,
      .grad_fn = "LinalgPinvBackward0",
      .doc = "The pseudoinverses of matrices. Singular values up to max(atol, rtol * the largest) count as 0."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_pinv(g.grad(), g.result(), g.a());
  }
};

struct linalg_matrix_exp {
  static constexpr Row row{.signature = "linalg_matrix_exp(Tensor self) -> Tensor",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .method = false,
                           .dtypes = kInexact,
                           .grad_fn = "LinalgMatrixExpBackward0",
                           .doc = "The exponentials of square matrices."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_matrix_exp(g.grad(), g.a());
  }
};
