// ops: copies of views, and copies of a tensor in which a view is replaced. Without formulas: dispatch/copies.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct alias_copy {
  static constexpr Row row{.signature = "alias_copy(Tensor self, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "AliasBackward0_copy",
                           .doc = "A row-major copy."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
};

/// Differentiated through as_strided.
struct as_strided_copy {
  static constexpr Row row{
      .signature =
          "as_strided_copy(Tensor self, int[] size, int[] stride, int? storage_offset=None, *, Tensor out=None) -> "
          "Tensor",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .doc = "A copy of as_strided."};
};

struct as_strided_scatter {
  static constexpr Row row{
      .signature =
          "as_strided_scatter(Tensor self, Tensor src, int[] size, int[] stride, int? storage_offset=None) -> Tensor",
      .kind = Kind::algorithm,
      .dtypes = kAllDtypes,
      .as_input = true,
      .grad_fn = "AsStridedScatterBackward0",
      .doc = "A copy of input in which src replaces what as_strided selects."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().contiguous().as_strided_scatter(g.zeros(g.dims("size").view()), g.dims("size").view(),
                                                    g.dims("stride").view(), g.optional_integer("storage_offset"));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad().contiguous().as_strided(g.dims("size").view(), g.dims("stride").view(),
                                            g.optional_integer("storage_offset"));
  }
};

struct diagonal_scatter {
  static constexpr Row row{
      .signature = "diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
      .kind = Kind::algorithm,
      .dtypes = kAllDtypes,
      .as_input = true,
      .grad_fn = "DiagonalScatterBackward0",
      .doc = "A copy of input in which src replaces a diagonal."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto part = g.grad().diagonal(g.integer("offset"), g.integer("dim1"), g.integer("dim2", 1));
    return g.grad().diagonal_scatter(g.zeros(part.sizes()), g.integer("offset"), g.integer("dim1"),
                                     g.integer("dim2", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad().diagonal(g.integer("offset"), g.integer("dim1"), g.integer("dim2", 1));
  }
};

struct expand_copy {
  static constexpr Row row{
      .signature = "expand_copy(Tensor self, int[] size, *, bool implicit=False, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .grad_fn = "ExpandBackward0_copy",
      .doc = "A copy of expand."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().sum_to_size(g.sizes());
  }
};

struct narrow_copy {
  static constexpr Row row{
      .signature = "narrow_copy(Tensor self, int dim, int start, int length, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .grad_fn = "NarrowCopyBackward0",
      .doc = "A copy of narrow."};
  template <class G>
  static auto grad_a(const G& g) {
    return in_narrow(g.grad(), g.sizes(), g.integer("dim"), g.integer("start"), g.integer("length"));
  }
};

struct permute_copy {
  static constexpr Row row{.signature = "permute_copy(Tensor self, int[] dims, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "PermuteBackward0_copy",
                           .doc = "A copy of permute."};
  template <class G>
  static auto grad_a(const G& g) {
    return permuted_back(g.grad(), g.dims("dims").view());
  }
};

struct select_copy {
  static constexpr Row row{.signature = "select_copy(Tensor self, int dim, int index, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "SelectBackward0_copy",
                           .doc = "A copy of select."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.zeros(g.sizes()).select_scatter(g.grad(), g.integer("dim"), g.integer("index"));
  }
};

struct select_scatter {
  static constexpr Row row{.signature = "select_scatter(Tensor self, Tensor src, int dim, int index) -> Tensor",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .as_input = true,
                           .grad_fn = "SelectScatterBackward0",
                           .doc = "A copy of input in which src replaces one index along dim."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto part = g.grad().select(g.integer("dim"), g.integer("index"));
    return g.grad().select_scatter(g.zeros(part.sizes()), g.integer("dim"), g.integer("index"));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad().select(g.integer("dim"), g.integer("index"));
  }
};

struct slice_copy {
  static constexpr Row row{
      .signature =
          "slice_copy(Tensor self, int dim=0, int? start=None, int? end=None, int step=1, *, Tensor out=None) -> "
          "Tensor",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .grad_fn = "SliceBackward0_copy",
      .doc = "A copy of input[start:end:step] along dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.zeros(g.sizes()).slice_scatter(g.grad(), g.integer("dim"), g.optional_integer("start"),
                                            g.optional_integer("end"), g.integer("step", 1));
  }
};

struct slice_scatter {
  static constexpr Row row{
      .signature =
          "slice_scatter(Tensor self, Tensor src, int dim=0, int? start=None, int? end=None, int step=1, *, Tensor "
          "out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .as_input = true,
      .grad_fn = "SliceScatterBackward0",
      .doc = "A copy of input in which src replaces input[start:end:step] along dim."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto part =
        g.grad().slice(g.integer("dim"), g.optional_integer("start"), g.optional_integer("end"), g.integer("step", 1));
    return g.grad().slice_scatter(g.zeros(part.sizes()), g.integer("dim"), g.optional_integer("start"),
                                  g.optional_integer("end"), g.integer("step", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad().slice(g.integer("dim"), g.optional_integer("start"), g.optional_integer("end"),
                          g.integer("step", 1));
  }
};

struct squeeze_copy {
  static constexpr Row row{.signature = "squeeze_copy(Tensor self, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "SqueezeBackward0_copy",
                           .doc = "A copy of squeeze."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().reshape(g.sizes());
  }
};

struct squeeze_copy_dim : squeeze_copy {
  static constexpr Row row{.signature = "squeeze_copy(Tensor self, int dim, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .name = "squeeze_copy",
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "SqueezeBackward1_copy"};
};

struct squeeze_copy_dims : squeeze_copy {
  static constexpr Row row{.signature = "squeeze_copy(Tensor self, int[] dim, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .name = "squeeze_copy",
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "SqueezeBackward2_copy"};
};

struct t_copy {
  static constexpr Row row{.signature = "t_copy(Tensor self, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "TBackward0_copy",
                           .doc = "A copy of t."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().t();
  }
};

struct transpose_copy {
  static constexpr Row row{.signature = "transpose_copy(Tensor self, int dim0, int dim1, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "TransposeBackward0_copy",
                           .doc = "A copy of transpose."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().transpose(g.integer("dim0"), g.integer("dim1"));
  }
};

struct unfold_copy {
  static constexpr Row row{
      .signature = "unfold_copy(Tensor self, int dimension, int size, int step, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "size: 0 1 2 3 -1; step: 1 2 3 0",
      .method = false,
      .dtypes = kAllDtypes,
      .strict_out = true,
      .grad_fn = "UnfoldBackward0_copy",
      .doc = "A copy of unfold."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_windows(g.grad(), g.sizes(), g.integer("dimension"), g.integer("size"), g.integer("step"));
  }
};

struct unsqueeze_copy {
  static constexpr Row row{.signature = "unsqueeze_copy(Tensor self, int dim, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "UnsqueezeBackward0_copy",
                           .doc = "A copy of unsqueeze."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().squeeze(g.integer("dim"));
  }
};

struct view_copy {
  static constexpr Row row{.signature = "view_copy(Tensor self, int[] size, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "size: -1 3,2 1,-1",
                           .method = false,
                           .dtypes = kAllDtypes,
                           .strict_out = true,
                           .grad_fn = "ViewBackward0_copy",
                           .doc = "A copy of view."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().reshape(g.sizes());
  }
};
