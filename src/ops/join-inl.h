// ops: concatenation. Without formulas: dispatch/join.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct atleast_1d {
  static constexpr Row row{
      .signature = "atleast_1d(Tensor self) -> Tensor",
      .numpy = "",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllDtypes,
      .as_input = true,
      .doc = "A tensor without dims as a vector; others unchanged. Of several tensors: each of them."};
};

struct atleast_1d_all {
  static constexpr Row row{.signature = "atleast_1d(Tensor[] tensors) -> Tensor[]",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes};
};

struct atleast_2d {
  static constexpr Row row{
      .signature = "atleast_2d(Tensor self) -> Tensor",
      .numpy = "",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllDtypes,
      .as_input = true,
      .doc = "Tensors of fewer dims as a matrix of one row; others unchanged. Of several tensors: each of them."};
};

struct atleast_2d_all {
  static constexpr Row row{.signature = "atleast_2d(Tensor[] tensors) -> Tensor[]",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes};
};

struct atleast_3d {
  static constexpr Row row{
      .signature = "atleast_3d(Tensor self) -> Tensor",
      .numpy = "",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllDtypes,
      .as_input = true,
      .doc =
          "Tensors of fewer dims with dims of size 1: first for a vector, and last. Of several tensors: each of them."};
};

struct atleast_3d_all {
  static constexpr Row row{.signature = "atleast_3d(Tensor[] tensors) -> Tensor[]",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes};
};

struct block_diag {
  static constexpr Row row{.signature = "block_diag(Tensor[] tensors) -> Tensor",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .grad_fn = "BlockDiagBackward0",
                           .doc = "A matrix with the matrices on its diagonal and 0 elsewhere."};
  template <class G>
  static auto grad_a(const G& g) {
    return blocks_of(g.grad(), g.part_sizes());
  }
};

struct cartesian_prod {
  static constexpr Row row{.signature = "cartesian_prod(Tensor[] tensors) -> Tensor",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .one_dtype = true,
                           .dtypes = kAllDtypes,
                           .doc = "Every combination of an element of each vector, one row each."};
};

struct cat {
  static constexpr Row row{.signature = "cat(Tensor[] tensors, int dim=0, *, Tensor out=None) -> Tensor",
                           .alias = "concat concatenate",
                           .array_api = "concat",
                           .numpy = "concatenate",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .grad_fn = "CatBackward0",
                           .doc = "The tensors joined along dim, in the dtype to which they promote."};
  template <class G>
  static auto grad_a(const G& g) {
    return parts_of(g.grad(), g.part_sizes(), g.integer("dim"));
  }
};

struct column_stack {
  static constexpr Row row{.signature = "column_stack(Tensor[] tensors, *, Tensor out=None) -> Tensor",
                           .numpy = "column_stack",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "The tensors side by side, vectors as columns."};
};

struct combinations {
  static constexpr Row row{.signature = "combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "r: 0 1 2 3 -1",
                           .method = false,
                           .dtypes = kUsual | kComplex,
                           .doc = "Every choice of r elements of a vector, one row each, in the order of the vector."};
};

struct dstack {
  static constexpr Row row{.signature = "dstack(Tensor[] tensors, *, Tensor out=None) -> Tensor",
                           .numpy = "dstack",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "The tensors joined along their third dim, vectors as matrices of one row."};
};

struct hstack {
  static constexpr Row row{.signature = "hstack(Tensor[] tensors, *, Tensor out=None) -> Tensor",
                           .numpy = "hstack",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "The tensors joined along their second dim, vectors along the only one."};
};

struct meshgrid {
  static constexpr Row row{
      .signature = "meshgrid(Tensor[] tensors, *, str? indexing=None) -> Tensor[]",
      .array_api = "meshgrid",
      .numpy = "",
      .python = "",
      .kind = Kind::algorithm,
      .values = "indexing: ij xy",
      .one_dtype = true,
      .dtypes = kAllDtypes,
      .doc = "The coordinates of a grid: each vector as a view with the shape of the grid, one dim for each vector."};
};

struct stack {
  static constexpr Row row{.signature = "stack(Tensor[] tensors, int dim=0, *, Tensor out=None) -> Tensor",
                           .array_api = "stack",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .grad_fn = "StackBackward0",
                           .doc = "Tensors of one shape joined along a new dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return slices_of(g.grad(), g.integer("dim"));
  }
};

struct vander {
  static constexpr Row row{.signature = "vander(Tensor x, int? N=None, bool increasing=False) -> Tensor",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .values = "N: 3 0 1 5 -1",
                           .promotion = Promotion::sum,
                           .dtypes = kUsual | kComplex,
                           .accepts = kUsual | kComplex,
                           .doc =
                               "The powers of the elements of a vector, one row for each: from the power N - 1 down "
                               "to 0, or up. N is the number of elements if it is not given."};
};

struct vstack {
  static constexpr Row row{.signature = "vstack(Tensor[] tensors, *, Tensor out=None) -> Tensor",
                           .alias = "row_stack",
                           .numpy = "vstack",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kAllDtypes,
                           .doc = "The tensors joined along their first dim, vectors as rows."};
};
