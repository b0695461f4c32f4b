// ops: elements on, above and below the diagonals of matrices.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

/// Calls diag_embed or diagonal_copy.
struct diag {
  static constexpr Row row{
      .signature = "diag(Tensor self, int diagonal=0, *, Tensor out=None) -> Tensor",
      .numpy = "diag",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .doc = "Of a vector: a matrix with the vector on a diagonal. Of a matrix: a diagonal as a vector."};
};

struct diag_embed {
  static constexpr Row row{
      .signature = "diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor",
      .kind = Kind::algorithm,
      .dtypes = kAllDtypes,
      .grad_fn = "DiagEmbedBackward0",
      .doc = "Matrices, in two new dims, with the last dim of input on a diagonal and 0 elsewhere."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().diagonal(g.integer("offset"), g.integer("dim1", -2), g.integer("dim2", -1));
  }
};

struct diagflat {
  static constexpr Row row{.signature = "diagflat(Tensor self, int offset=0) -> Tensor",
                           .numpy = "diagflat",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .doc = "A matrix with all elements on a diagonal and 0 elsewhere."};
};

struct diagonal_copy {
  static constexpr Row row{
      .signature = "diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .grad_fn = "DiagonalBackward0_copy",
      .doc = "A copy of the diagonal of two dims, as the last dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.on_diagonal(g.integer("offset"), g.integer("dim1"), g.integer("dim2", 1));
  }
};

struct tril {
  static constexpr Row row{.signature = "tril(Tensor self, int diagonal=0, *, Tensor out=None) -> Tensor",
                           .array_api = "tril",
                           .kind = Kind::algorithm,
                           .inplace = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "tril",
                           .strict_out = true,
                           .grad_fn = "TrilBackward0",
                           .doc = "Matrices with 0 above a diagonal, the other elements unchanged."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().tril(g.integer("diagonal"));
  }
};

struct triu {
  static constexpr Row row{.signature = "triu(Tensor self, int diagonal=0, *, Tensor out=None) -> Tensor",
                           .array_api = "triu",
                           .kind = Kind::algorithm,
                           .inplace = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "triu",
                           .strict_out = true,
                           .grad_fn = "TriuBackward0",
                           .doc = "Matrices with 0 below a diagonal, the other elements unchanged."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().triu(g.integer("diagonal"));
  }
};
