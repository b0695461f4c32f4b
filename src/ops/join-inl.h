// ops: concatenation. Without formulas: dispatch/join.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

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
