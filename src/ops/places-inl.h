// ops: elements selected by index or mask. Without formulas: dispatch/gather.cpp, scatter.cpp, masks.cpp. Included by
// blocks-inl.h, inside a namespace: no includes and no guard here.

/// Calls nonzero.
struct argwhere {
  static constexpr Row row{.signature = "argwhere(Tensor self) -> Tensor",
                           .numpy = "argwhere",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::place,
                           .dtypes = kUsual | kComplex,
                           .doc = "The indices of the nonzero elements, one row for each."};
};

struct gather {
  static constexpr Row row{
      .signature = "gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64",
      .by_hand = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "scatter_gather_tensor_cpu",
      .strict_out = true,
      .grad_fn = "GatherBackward0",
      .doc = "The elements along dim that index names. With two dims and dim=0: result[i][j] = input[index[i][j]][j]."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.zeros(g.a().sizes()).scatter_add(g.integer("dim"), g.b(), g.grad());
  }
};

struct index_add {
  static constexpr Row row{
      .signature =
          "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1, Tensor out=None) "
          "-> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .strict_out = true,
      .grad_fn = "IndexAddBackward0",
      .doc = "input with alpha * source added along dim: part i of source to part index[i]."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad().index_select(g.integer("dim"), g.b()).reshape(g.c().sizes()) * g.number("alpha", 1);
  }
};

struct index_copy {
  static constexpr Row row{
      .signature = "index_copy(Tensor self, int dim, Tensor index, Tensor source, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "index_copy_cpu",
      .strict_out = true,
      .grad_fn = "IndexCopyBackward0",
      .doc = "input with the parts of source along dim written to the places in index."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().index_fill(g.integer("dim"), g.b(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad().index_select(g.integer("dim"), g.b()).reshape(g.c().sizes());
  }
};

struct index_fill {
  static constexpr Row row{.signature = "index_fill(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "index: int64",
                           .inplace = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "index_fill_cpu",
                           .as_input = true,
                           .grad_fn = "IndexFillBackward1",
                           .doc = "input with value, a number or a 0-dim tensor, at the places in index along dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().index_fill(g.integer("dim"), g.b(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return sum_at_places(g.grad(), g.integer("dim"), g.b());
  }
};

struct index_fill_value {
  static constexpr Row row{.signature = "index_fill(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "index: int64",
                           .inplace = true,
                           .name = "index_fill",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "index_fill_cpu",
                           .as_input = true,
                           .grad_fn = "IndexFillBackward0"};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().index_fill(g.integer("dim"), g.b(), 0);
  }
};

struct index_reduce {
  static constexpr Row row{
      .signature =
          "index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True, "
          "Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64; reduce: prod mean amax amin",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .accepts = kAllDtypes,
      .kernel_name = "index_func_",
      .strict_out = true,
      .grad_fn = "IndexReduceBackward0",
      .doc =
          "input with the parts of source along dim joined with those that index names: their prod, mean, amax or "
          "amin, without those of input if include_self is false. Of uint16, uint32 and uint64 only the prod."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_scatter_reduce_self(g, g.a(), spread_index(g.b(), g.integer("dim"), g.c()), g.c(), g.result());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return of_scatter_reduce_source(g, g.a(), spread_index(g.b(), g.integer("dim"), g.c()), g.c(), g.result());
  }
};

struct index_select {
  static constexpr Row row{
      .signature = "index_select(Tensor self, int dim, Tensor index, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64",
      .by_hand = true,
      .dtypes = kUsual | kComplex,
      .accepts = kAllDtypes,
      .kernel_name = "index_select",
      .grad_fn = "IndexSelectBackward0",
      .doc =
          "The parts of input along dim whose indices are in index. Vectors of uint16, uint32 and uint64 are refused, "
          "as in PyTorch."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.zeros(g.sizes()).index_add(g.integer("dim"), g.b(), g.grad());
  }
};

struct masked_fill {
  static constexpr Row row{.signature = "masked_fill(Tensor self, Tensor mask, Tensor value) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "mask: bool",
                           .inplace = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "masked_fill",
                           .as_input = true,
                           .grad_fn = "MaskedFillBackward1",
                           .doc = "input with value, a number or a 0-dim tensor, where mask is true."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().masked_fill(g.b(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad().where(g.b(), 0).sum();
  }
};

struct masked_fill_value {
  static constexpr Row row{.signature = "masked_fill(Tensor self, Tensor mask, Scalar value) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "mask: bool",
                           .inplace = true,
                           .name = "masked_fill",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "masked_fill",
                           .grad_fn = "MaskedFillBackward0"};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().masked_fill(g.b(), 0);
  }
};

struct masked_scatter {
  static constexpr Row row{.signature = "masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "mask: bool",
                           .inplace = true,
                           .one_dtype = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "masked_scatter",
                           .grad_fn = "MaskedScatterBackward0",
                           .doc = "input with the elements of source, in their order, where mask is true."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().masked_fill(g.b(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return of_scattered(g.grad(), g.b(), g.c());
  }
};

struct masked_select {
  static constexpr Row row{.signature = "masked_select(Tensor self, Tensor mask, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "mask: bool",
                           .by_hand = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "masked_select",
                           .grad_fn = "MaskedSelectBackward0",
                           .doc = "The elements where mask is true, as a vector."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.at_mask(g.a(), g.b());
  }
};

struct nonzero {
  static constexpr Row row{.signature = "nonzero(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "nonzero",
                           .python = "",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .promotion = Promotion::place,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "nonzero_count_cpu",
                           .doc = "The indices of the nonzero elements, one row for each."};
};

struct put {
  static constexpr Row row{
      .signature = "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor",
      .numpy = "",
      .kind = Kind::algorithm,
      .values = "index: int64",
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "take_put_cpu",
      .grad_fn = "PutBackward0",
      .doc = "input with the elements of source written, or added, to places in all elements as one vector."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.boolean("accumulate") ? g.grad() : g.grad().put(g.b(), g.zeros(g.b().sizes()), false);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad().take(g.b()).reshape(g.c().sizes());
  }
};

struct scatter {
  static constexpr Row row{
      .signature =
          "scatter(Tensor self, int dim, Tensor index, Tensor src, *, str? reduce=None, Tensor out=None) -> "
          "Tensor",
      .python =
          "(Tensor self, int dim, Tensor index, Tensor src, *, Tensor out=None)\n"
          "(Tensor self, int dim, Tensor index, Tensor src, *, str reduce, Tensor out=None)",
      .kind = Kind::algorithm,
      .values = "index: int64; reduce: add multiply",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "scatter_gather_tensor_cpu",
      .strict_out = true,
      .grad_fn = "ScatterBackward0",
      .doc =
          "input with elements of src written along dim. With two dims and dim=0: result[index[i][j]][j] = src[i][j]."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad_unless("reduce").scatter(g.integer("dim"), g.b(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad_unless("reduce").gather(g.integer("dim"), g.b());
  }
};

struct scatter_value {
  static constexpr Row row{
      .signature =
          "scatter(Tensor self, int dim, Tensor index, Scalar value, *, str? reduce=None, Tensor out=None) -> "
          "Tensor",
      .python =
          "(Tensor self, int dim, Tensor index, Scalar value, *, Tensor out=None)\n"
          "(Tensor self, int dim, Tensor index, Scalar value, *, str reduce, Tensor out=None)",
      .kind = Kind::algorithm,
      .values = "index: int64; reduce: add multiply",
      .by_hand = true,
      .inplace = true,
      .name = "scatter",
      .dtypes = kUsual | kComplex,
      .kernel_name = "scatter_gather_scalar_cpu",
      .strict_out = true,
      .grad_fn = "ScatterBackward1"};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad_unless("reduce").scatter(g.integer("dim"), g.b(), 0);
  }
};

struct scatter_add {
  static constexpr Row row{
      .signature = "scatter_add(Tensor self, int dim, Tensor index, Tensor src, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "scatter_gather_tensor_cpu",
      .strict_out = true,
      .grad_fn = "ScatterAddBackward0",
      .doc =
          "input with elements of src added along dim. With two dims and dim=0: result[index[i][j]][j] += src[i][j]."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad().gather(g.integer("dim"), g.b());
  }
};

struct scatter_reduce {
  static constexpr Row row{
      .signature =
          "scatter_reduce(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True, "
          "Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "index: int64; reduce: sum prod mean amax amin",
      .by_hand = true,
      .inplace = true,
      .one_dtype = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "scatter_gather_tensor_cpu",
      .strict_out = true,
      .grad_fn = "ScatterReduceBackward0",
      .doc =
          "input with elements of src joined with those along dim that index names: their sum, prod, mean, amax or "
          "amin, without those of input if include_self is false."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_scatter_reduce_self(g, g.a(), g.b(), g.c(), g.result());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return of_scatter_reduce_source(g, g.a(), g.b(), g.c(), g.result());
  }
};

struct take {
  static constexpr Row row{.signature = "take(Tensor self, Tensor index, *, Tensor out=None) -> Tensor",
                           .numpy = "",
                           .kind = Kind::algorithm,
                           .values = "index: int64",
                           .by_hand = true,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "take_cpu",
                           .grad_fn = "TakeBackward0",
                           .doc = "The elements at places in all elements as one vector."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.zeros(g.sizes()).put(g.b(), g.grad(), true);
  }
};

/// Calls gather.
struct take_along_dim {
  static constexpr Row row{
      .signature = "take_along_dim(Tensor self, Tensor indices, int? dim=None, *, Tensor out=None) -> Tensor",
      .array_api = "take_along_axis",
      .kind = Kind::algorithm,
      .values = "indices: int64",
      .by_hand = true,
      .dtypes = kUsual | kComplex,
      .doc = "gather with indices that broadcast with input. Without dim: indices into all elements as one vector."};
};
