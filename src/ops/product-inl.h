// ops: products of vectors and matrices. Without formulas: dispatch/product.cpp, dispatch/matmul.cpp. Included by
// blocks-inl.h, inside a namespace: no includes and no guard here.

struct mm {
  static constexpr Row row{.signature = "mm(Tensor self, Tensor mat2, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "ij,jk",
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "addmm_impl_cpu_",
                           .strict_out = true,
                           .grad_fn = "MmBackward0",
                           .doc = "The product of two matrices."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.is_column_major(0) ? conj(g.b()).mm(g.grad().t()).t() : g.grad().mm(conj(g.b().t()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.is_column_major(1) ? g.grad().t().mm(conj(g.a())).t() : conj(g.a().t()).mm(g.grad());
  }
};

/// With a result of another dtype: PyTorch has this overload, but no code for the cpu.
struct mm_dtype {
  static constexpr Row row{
      .signature = "mm(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .dtypes = 0};
};

struct bmm {
  static constexpr Row row{.signature = "bmm(Tensor self, Tensor mat2, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "bij,bjk",
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "bmm",
                           .strict_out = true,
                           .grad_fn = "BmmBackward0",
                           .doc = "The matrix product of each pair of matrices in two batches."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().bmm(conj(g.b().transpose(1, 2)));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return conj(g.a().transpose(1, 2)).bmm(g.grad());
  }
};

struct bmm_dtype {
  static constexpr Row row{
      .signature = "bmm(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .dtypes = 0};
};

struct mv {
  static constexpr Row row{.signature = "mv(Tensor self, Tensor vec, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "ij,j",
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "addmv_impl_cpu",
                           .grad_fn = "MvBackward0",
                           .doc = "The product of a matrix and a vector."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().outer(conj(g.b()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return conj(g.a().t()).mv(g.grad());
  }
};

struct dot {
  static constexpr Row row{.signature = "dot(Tensor self, Tensor tensor, *, Tensor out=None) -> Tensor",
                           .numpy = "dot",
                           .kind = Kind::algorithm,
                           .shapes = "i,i",
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "dot",
                           .grad_fn = "DotBackward0",
                           .doc = "The sum of the products of two vectors' elements."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.a());
  }
};

struct vdot {
  static constexpr Row row{.signature = "vdot(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "vdot",
                           .kind = Kind::algorithm,
                           .shapes = "i,i",
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "dot",
                           .grad_fn = "VdotBackward0",
                           .doc = "The dot product of two vectors, the first one conjugated."};
  template <class G>
  static auto grad_a(const G& g) {
    return conj(g.grad()) * g.b();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * g.a();
  }
};

struct addmm {
  static constexpr Row row{
      .signature =
          "addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None) -> Tensor",
      .python =
          "(Scalar beta, Tensor self, Scalar alpha, Tensor mat1, Tensor mat2, *, Tensor out=None)|deprecated\n"
          "(Scalar beta, Tensor self, Tensor mat1, Tensor mat2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)",
      .kind = Kind::algorithm,
      .shapes = "*ik,ij,jk",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "addmm_impl_cpu_",
      .strict_out = true,
      .no_overlap = 0b01,
      .grad_fn = "AddmmBackward0",
      .doc = "beta * input + alpha * (mat1 @ mat2)."};
  template <class G>
  static auto grad_a(const G& g) {
    return times(g.grad(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return times(g.is_column_major(1) ? conj(g.c()).mm(g.grad().t()).t() : g.grad().mm(conj(g.c().t())),
                 g.number("alpha", 1));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return times(g.is_column_major(2) ? g.grad().t().mm(conj(g.b())).t() : conj(g.b().t()).mm(g.grad()),
                 g.number("alpha", 1));
  }
};

struct addmm_dtype {
  static constexpr Row row{
      .signature =
          "addmm(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
          "alpha=1, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .dtypes = 0};
};

struct addmv {
  static constexpr Row row{
      .signature =
          "addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor out=None) -> Tensor",
      .python =
          "(Scalar beta, Tensor self, Scalar alpha, Tensor mat, Tensor vec, *, Tensor out=None)|deprecated\n"
          "(Scalar beta, Tensor self, Tensor mat, Tensor vec, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)",
      .kind = Kind::algorithm,
      .shapes = "*i,ij,j",
      .by_hand = true,
      .inplace = true,
      .inplace_functions = "addmv_",
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "addmv_impl_cpu",
      .strict_out = true,
      .no_overlap = 0b01,
      .grad_fn = "AddmvBackward0",
      .doc = "beta * input + alpha * (mat @ vec)."};
  template <class G>
  static auto grad_a(const G& g) {
    return times(g.grad(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return times(g.grad().outer(conj(g.c())), g.number("alpha", 1));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return times(conj(g.b().t()).mv(g.grad()), g.number("alpha", 1));
  }
};

struct baddbmm {
  static constexpr Row row{
      .signature =
          "baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor "
          "out=None) -> Tensor",
      .python =
          "(Scalar beta, Tensor self, Scalar alpha, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated\n"
          "(Scalar beta, Tensor self, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)",
      .kind = Kind::algorithm,
      .shapes = "*bik,bij,bjk",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "baddbmm",
      .strict_out = true,
      .no_overlap = 0b01,
      .grad_fn = "BaddbmmBackward0",
      .doc = "beta * input + alpha * (batch1 @ batch2), for each pair of matrices in two batches."};
  template <class G>
  static auto grad_a(const G& g) {
    return times(g.grad(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return times(g.grad().bmm(conj(g.c().transpose(1, 2))), g.number("alpha", 1));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return times(conj(g.b().transpose(1, 2)).bmm(g.grad()), g.number("alpha", 1));
  }
};

struct baddbmm_dtype {
  static constexpr Row row{
      .signature =
          "baddbmm(Tensor self, Tensor batch1, Tensor batch2, ScalarType out_dtype, *, Scalar beta=1, Scalar "
          "alpha=1, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .dtypes = 0};
};

// Ops composed of the products above, which have the derivatives.

struct matmul {
  static constexpr Row row{
      .signature = "matmul(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .array_api = "matmul",
      .kind = Kind::algorithm,
      .shapes = "*bij,*bjk",
      .by_hand = true,
      .symbol = "@",
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .doc = "The product of vectors, matrices or batches of matrices. The dims of batches broadcast."};
};

struct inner {
  static constexpr Row row{.signature = "inner(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "inner",
                           .kind = Kind::algorithm,
                           .shapes = "ij,kj",
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .doc = "The sums of products along the last dims. If one has no dims: input * other."};
};

struct outer {
  static constexpr Row row{.signature = "outer(Tensor self, Tensor vec2, *, Tensor out=None) -> Tensor",
                           .numpy = "outer",
                           .kind = Kind::algorithm,
                           .shapes = "i,j",
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "Every element of input times every element of vec2, as a matrix."};
};

struct ger {
  static constexpr Row row{.signature = "ger(Tensor self, Tensor vec2, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "i,j",
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "Another name of outer. Deprecated."};
};

struct addr {
  static constexpr Row row{
      .signature =
          "addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None) -> Tensor",
      .python =
          "(Scalar beta, Tensor self, Scalar alpha, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated\n"
          "(Scalar beta, Tensor self, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)",
      .kind = Kind::algorithm,
      .shapes = "*ij,i,j",
      .by_hand = true,
      .inplace = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "addr_cpu",
      .grad_fn = "AddrBackward0",
      .doc = "beta * input + alpha * the outer product of two vectors."};
  template <class G>
  static auto grad_a(const G& g) {
    return times(g.grad(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return times(g.grad().mv(conj(g.c())), g.number("alpha", 1));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return times(g.grad().t().mv(conj(g.b())), g.number("alpha", 1));
  }
};

struct addbmm {
  static constexpr Row row{
      .signature =
          "addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None) "
          "-> Tensor",
      .python =
          "(Scalar beta, Tensor self, Scalar alpha, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated\n"
          "(Scalar beta, Tensor self, Tensor batch1, Tensor batch2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)",
      .kind = Kind::algorithm,
      .shapes = "*ik,bij,bjk",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "addbmm",
      .strict_out = true,
      .grad_fn = "AddbmmBackward0",
      .doc = "beta * input + alpha * the sum of the products of each pair of matrices in two batches."};
  template <class G>
  static auto grad_a(const G& g) {
    return times(g.grad(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return times(g.grad().matmul(conj(g.c().transpose(1, 2))), g.number("alpha", 1));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return times(conj(g.b().transpose(1, 2)).matmul(g.grad()), g.number("alpha", 1));
  }
};

// Composed as well.

struct kron {
  static constexpr Row row{.signature = "kron(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "kron",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "The Kronecker product: every element of input times the whole of other."};
};

/// Python's function also takes a number of dims.
struct tensordot {
  static constexpr Row row{
      .signature =
          "tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .doc = "The sum of products along pairs of dims."};
};

struct linalg_vecdot {
  static constexpr Row row{.signature = "linalg_vecdot(Tensor x, Tensor y, *, int dim=-1, Tensor out=None) -> Tensor",
                           .array_api = "vecdot",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kInexact,
                           .ulp = 4,
                           .doc = "The dot products of vectors along dim, those of x conjugated."};
};

struct linalg_cross {
  static constexpr Row row{
      .signature = "linalg_cross(Tensor self, Tensor other, *, int dim=-1, Tensor out=None) -> Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "cross",
      .strict_out = true,
      .grad_fn = "LinalgCrossBackward0",
      .doc = "The cross products of vectors with three elements along dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return crossed(conj(g.b()), g.grad(), g.integer("dim", -1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return crossed(g.grad(), conj(g.a()), g.integer("dim", -1));
  }
};

/// Calls linalg_cross.
struct cross {
  static constexpr Row row{.signature = "cross(Tensor self, Tensor other, int? dim=None, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .doc =
                               "The cross products of vectors with three elements along dim, by default the first "
                               "dim of size 3."};
};

struct matrix_power {
  static constexpr Row row{.signature = "matrix_power(Tensor self, int n, *, Tensor out=None) -> Tensor",
                           .numpy = "linalg.matrix_power",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .values = "n: 2 0 1 3 4 5 7",
                           .by_hand = true,
                           .dtypes = kNoBool | kComplex,
                           .doc = "The product of n times the same square matrix, for each of a batch."};
};

struct linalg_matrix_power {
  static constexpr Row row{.signature = "linalg_matrix_power(Tensor self, int n, *, Tensor out=None) -> Tensor",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .shapes = "bii",
                           .values = "n: 2 0 1 3 4 5 7",
                           .by_hand = true,
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .doc = "matrix_power."};
};

struct linalg_multi_dot {
  static constexpr Row row{.signature = "linalg_multi_dot(Tensor[] tensors, *, Tensor out=None) -> Tensor",
                           .module = "linalg",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .doc = "The product of matrices, in the order of the fewest multiplications."};
};

/// Python's function is given all operands and a text, or lists of numbers.
struct einsum {
  static constexpr Row row{.signature = "einsum(Tensor[] tensors, str equation) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "equation: i,i-> i->i i-> i,i->i i,i i,j->ij ...,...->... i,i,i->i i,j,j->i",
                           .one_dtype = true,
                           .dtypes = kNoBool | kComplex,
                           .doc =
                               "Sums of products by Einstein's convention: \"ij,jk->ik\" is the product of two "
                               "matrices. Several operands are multiplied from the left. Where no product is summed, "
                               "dtypes are as with mul and sum."};
};

struct linear {
  static constexpr Row row{
      .signature = "linear(Tensor input, Tensor weight, Tensor? bias=None, *, Tensor out=None) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .shapes = "ij,kj,k",
      .by_hand = true,
      .method = false,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .doc = "input @ weight.T + bias, for vectors in the last dim of input."};
};

struct bilinear {
  static constexpr Row row{
      .signature = "bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor",
      .kind = Kind::algorithm,
      .shapes = "ij,ik,bjk,b",
      .method = false,
      .one_dtype = true,
      .dtypes = kNoBool | kComplex,
      .doc = "input1 @ weight[i] @ input2 + bias[i] for each matrix i, for vectors in the last dims of the inputs."};
};
