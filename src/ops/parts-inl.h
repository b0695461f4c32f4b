// ops: a tensor split into parts along a dim, as views. Without formulas: dispatch/parts.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct chunk {
  static constexpr Row row{.signature = "chunk(Tensor self, int chunks, int dim=0) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .values = "chunks: 1 2 3 5 0 -1",
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .doc = "Views of `chunks` equal parts along dim, the last one smaller, or fewer parts."};
};

struct dsplit {
  static constexpr Row row{.signature = "dsplit(Tensor self, int sections) -> Tensor[]",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .values = "sections: 1 2 3 0",
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .doc = "tensor_split along the third dim, into equal parts or at the given places."};
};

struct dsplit_places {
  static constexpr Row row{.signature = "dsplit(Tensor self, int[] indices) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .as_input = true};
};

struct hsplit {
  static constexpr Row row{
      .signature = "hsplit(Tensor self, int sections) -> Tensor[]",
      .numpy = "",
      .kind = Kind::algorithm,
      .values = "sections: 1 2 3 0",
      .dtypes = kAllDtypes,
      .as_input = true,
      .doc = "tensor_split along the second dim, or the only one, into equal parts or at the given places."};
};

struct hsplit_places {
  static constexpr Row row{.signature = "hsplit(Tensor self, int[] indices) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .as_input = true};
};

struct split {
  static constexpr Row row{
      .signature = "split(Tensor self, int split_size, int dim=0) -> Tensor[]",
      .numpy = "",
      .kind = Kind::algorithm,
      .values = "split_size: 1 2 3 7 0 -1",
      .dtypes = kAllDtypes,
      .as_input = true,
      .grad_fn = "SplitBackward0",
      .doc = "Views of parts of `split_size` along dim, the last one smaller, or of the given sizes."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.joined_grads(g.integer("dim"));
  }
};

/// Calls split_with_sizes.
struct split_sizes {
  static constexpr Row row{.signature = "split(Tensor self, int[] split_size, int dim=0) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .values = "split_size: 1,1 2,0 1,2",
                           .dtypes = kAllDtypes,
                           .as_input = true};
};

struct split_with_sizes {
  static constexpr Row row{.signature = "split_with_sizes(Tensor self, int[] split_sizes, int dim=0) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .values = "split_sizes: 1,1 2,0 1,2",
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .grad_fn = "SplitWithSizesBackward0",
                           .doc = "Views of parts along dim whose sizes are given."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.joined_grads(g.integer("dim"));
  }
};

struct tensor_split {
  static constexpr Row row{.signature = "tensor_split(Tensor self, int[] indices, int dim=0) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .doc =
                               "Views of parts along dim: `sections` parts of almost one size, or those between the "
                               "given places."};
};

struct tensor_split_tensor {
  static constexpr Row row{
      .signature = "tensor_split(Tensor self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor[]",
      .kind = Kind::algorithm,
      .values = "tensor_indices_or_sections: int64",
      .dtypes = kAllDtypes,
      .as_input = true};
};

struct tensor_split_sections {
  static constexpr Row row{.signature = "tensor_split(Tensor self, int sections, int dim=0) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .values = "sections: 1 2 3 5 0 -1",
                           .dtypes = kAllDtypes,
                           .as_input = true};
};

struct unbind {
  static constexpr Row row{.signature = "unbind(Tensor self, int dim=0) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .grad_fn = "UnbindBackward0",
                           .doc = "A view of each index along dim, without that dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.stacked_grads(g.integer("dim"));
  }
};

struct vsplit {
  static constexpr Row row{.signature = "vsplit(Tensor self, int sections) -> Tensor[]",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .values = "sections: 1 2 3 0",
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .doc = "tensor_split along the first dim, into equal parts or at the given places."};
};

struct vsplit_places {
  static constexpr Row row{.signature = "vsplit(Tensor self, int[] indices) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .as_input = true};
};
