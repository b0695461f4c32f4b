// ops: reordering and sorting.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct flip {
  static constexpr Row row{.signature = "flip(Tensor self, int[] dims) -> Tensor",
                           .array_api = "flip",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .grad_fn = "FlipBackward0",
                           .doc = "The elements in reverse order along dims."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().flip(g.dims("dims").view());
  }
};

/// NaN is larger than every number.
struct sort {
  static constexpr Row row{
      .signature =
          "sort(Tensor self, int dim=-1, bool descending=False, *, bool? stable=None, Tensor[2] out=None) -> (Tensor "
          "values, Tensor indices)",
      .array_api = "sort",
      .python =
          "(Tensor self, *, bool? stable, int dim=-1, bool descending=False, Tensor[2] out=None)\n"
          "(Tensor self, int dim=-1, bool descending=False, *, Tensor[2] out=None)",
      .kind = Kind::algorithm,
      .values = "indices: any",
      .dtypes = kAllReal,
      .strict_out = true,
      .no_overlap = 0b01,
      .grad_fn = "SortBackward0",
      .grad_fn_of_keyword = "SortBackward1",
      .doc = "The elements sorted along dim, and the index that each had. Equal elements keep their order."};
  template <class G>
  static auto grad_a(const G& g) {
    return added_along(g.grad(), g.integer("dim", -1), g.result(1), g.sizes());
  }
};

struct argsort {
  static constexpr Row row{
      .signature =
          "argsort(Tensor self, int dim=-1, bool descending=False, *, bool? stable=None, Tensor out=None) -> Tensor",
      .array_api = "argsort",
      .python =
          "(Tensor self, *, bool stable, int dim=-1, bool descending=False, Tensor out=None)\n"
          "(Tensor self, int dim=-1, bool descending=False)",
      .kind = Kind::algorithm,
      .values = "out: any",
      .by_hand = true,
      .promotion = Promotion::place,
      .dtypes = kAllReal,
      .strict_out = true,
      .doc = "The indices that sort the elements along dim."};
};

struct topk {
  static constexpr Row row{
      .signature =
          "topk(Tensor self, int k, int dim=-1, bool largest=True, bool sorted=True, *, Tensor[2] out=None) -> (Tensor "
          "values, Tensor indices)",
      .kind = Kind::algorithm,
      .values = "indices: any",
      .dtypes = kNoBool,
      .kernel_name = "topk_cpu",
      .strict_out = true,
      .no_overlap = 0b11,
      .grad_fn = "TopkBackward0",
      .doc = "The k largest (or smallest) elements along dim, and their indices."};
  template <class G>
  static auto grad_a(const G& g) {
    return added_along(g.grad(), g.integer("dim", -1), g.result(1), g.sizes());
  }
};

struct roll {
  static constexpr Row row{.signature = "roll(Tensor self, int[1] shifts, int[1] dims=()) -> Tensor",
                           .array_api = "roll",
                           .python = "(Tensor self, int[1] shifts, int[1]? dims=None)",
                           .kind = Kind::algorithm,
                           .dtypes = kAllDtypes,
                           .grad_fn = "RollBackward0",
                           .doc =
                               "The elements moved by shifts along dims; those moved beyond the end return at the "
                               "start. Without dims: as one vector."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().roll(g.negative("shifts"), g.dims("dims"));
  }
};
