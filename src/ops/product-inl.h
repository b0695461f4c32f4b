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
