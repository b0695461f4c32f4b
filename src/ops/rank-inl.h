// ops: elements by their rank along a dim: medians, quantiles, the k-th, the most frequent.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

/// NaN wins.
struct median {
  static constexpr Row row{.signature = "median(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .dtypes = kNoBool,
                           .kernel_name = "median_cpu",
                           .grad_fn = "MedianBackward0",
                           .doc =
                               "The middle of the elements in ascending order, the lower one of two; NaN if one is "
                               "NaN. With dim: along it, and its index."};
  template <class G>
  static auto grad_a(const G& g) {
    return shared_among(g.grad(), g.a(), g.result());
  }
};

struct median_dim {
  static constexpr Row row{
      .signature =
          "median(Tensor self, int dim, bool keepdim=False, *, Tensor[2] out=None) -> (Tensor values, Tensor indices)",
      .kind = Kind::algorithm,
      .values = "indices: any",
      .by_hand = true,
      .name = "median",
      .dtypes = kNoBool,
      .kernel_name = "median_out",
      .grad_fn = "MedianBackward1"};
  template <class G>
  static auto grad_a(const G& g) {
    return at_places(g, g.grad(), g.result(1));
  }
};

struct nanmedian {
  static constexpr Row row{.signature = "nanmedian(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .dtypes = kNoBool,
                           .kernel_name = "median_cpu",
                           .grad_fn = "NanmedianBackward0",
                           .doc = "The median of the elements that are not NaN. With dim: along it, and its index."};
  template <class G>
  static auto grad_a(const G& g) {
    return shared_among(g.grad(), g.a(), g.result());
  }
};

struct nanmedian_dim {
  static constexpr Row row{
      .signature =
          "nanmedian(Tensor self, int dim, bool keepdim=False, *, Tensor[2] out=None) -> (Tensor values, Tensor "
          "indices)",
      .kind = Kind::algorithm,
      .values = "indices: any",
      .by_hand = true,
      .name = "nanmedian",
      .dtypes = kNoBool,
      .kernel_name = "median_out",
      .grad_fn = "NanmedianBackward1"};
  template <class G>
  static auto grad_a(const G& g) {
    return at_places(g, g.grad(), g.result(1));
  }
};

struct mode {
  static constexpr Row row{
      .signature =
          "mode(Tensor self, int dim=-1, bool keepdim=False, *, Tensor[2] out=None) -> (Tensor values, Tensor indices)",
      .kind = Kind::algorithm,
      .values = "indices: any",
      .by_hand = true,
      .dtypes = kUsual,
      .kernel_name = "mode_cpu",
      .grad_fn = "ModeBackward0",
      .doc = "The most frequent element along dim, the smallest of several, and an index of it."};
  template <class G>
  static auto grad_a(const G& g) {
    return at_places(g, g.grad(), g.result(1));
  }
};

struct kthvalue {
  static constexpr Row row{
      .signature =
          "kthvalue(Tensor self, int k, int dim=-1, bool keepdim=False, *, Tensor[2] out=None) -> (Tensor values, "
          "Tensor indices)",
      .kind = Kind::algorithm,
      .values = "indices: any; k: 1 1 1 2 3 0 -1",
      .by_hand = true,
      .dtypes = kNoBool,
      .kernel_name = "kthvalue_cpu",
      .grad_fn = "KthvalueBackward0",
      .doc = "The k-th element along dim in ascending order, and its index; NaN is larger than every number."};
  template <class G>
  static auto grad_a(const G& g) {
    return at_places(g, g.grad(), g.result(1));
  }
};

/// Calls sort.
struct msort {
  static constexpr Row row{.signature = "msort(Tensor self, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "order: any",
                           .by_hand = true,
                           .dtypes = kAllReal,
                           .doc = "The elements sorted along the first dim."};
};

struct quantile {
  static constexpr Row row{
      .signature =
          "quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear', "
          "Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "q: share; interpolation: linear lower higher midpoint nearest",
      .by_hand = true,
      .one_dtype = true,
      .dtypes = kWideFloats,
      .ulp = 2,
      .doc =
          "The element that the share q of the elements along dim does not exceed, between two by interpolation; for "
          "each share in a vector q. Without dim: of all elements."};
};

struct quantile_number {
  static constexpr Row row{
      .signature =
          "quantile(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear', "
          "Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "q: 0.5 0 1 0.25 0.3 0.9 1.5 -0.1; interpolation: linear lower higher midpoint nearest",
      .by_hand = true,
      .dtypes = kWideFloats,
      .ulp = 2};
};

struct nanquantile {
  static constexpr Row row{
      .signature =
          "nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation='linear', "
          "Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "q: share; interpolation: linear lower higher midpoint nearest",
      .by_hand = true,
      .one_dtype = true,
      .dtypes = kWideFloats,
      .ulp = 2,
      .doc = "quantile of the elements that are not NaN."};
};

struct nanquantile_number {
  static constexpr Row row{
      .signature =
          "nanquantile(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation='linear', "
          "Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "q: 0.5 0 1 0.25 0.3 0.9 1.5 -0.1; interpolation: linear lower higher midpoint nearest",
      .by_hand = true,
      .dtypes = kWideFloats,
      .ulp = 2};
};
