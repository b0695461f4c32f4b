// ops: scans.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct cumsum {
  static constexpr Row row{
      .signature = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None, Tensor out=None) -> Tensor",
      .array_api = "cumulative_sum",
      .numpy = "cumsum",
      .kind = Kind::algorithm,
      .by_hand = true,
      .inplace = true,
      .promotion = Promotion::sum,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "cumsum_out_cpu",
      .grad_fn = "CumsumBackward0",
      .doc = "For each element the sum along dim up to it. Integers and bool are summed in int64."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto dim = g.integer("dim");
    return g.grad().dim() == 0 ? g.grad() : g.grad().flip({dim}).cumsum(dim).flip({dim});
  }
};

/// NaN wins; of equal elements the last.
struct cummax {
  static constexpr Row row{
      .signature = "cummax(Tensor self, int dim, *, Tensor[2] out=None) -> (Tensor values, Tensor indices)",
      .kind = Kind::algorithm,
      .by_hand = true,
      .kernel_name = "cummax_cpu",
      .grad_fn = "CummaxBackward0",
      .doc = "For each element the largest one along dim up to it, and the index of that."};
  template <class G>
  static auto grad_a(const G& g) {
    return added_along(g.grad(), g.integer("dim", -1), g.result(1), g.a().sizes());
  }
};

/// NaN wins; of equal elements the last.
struct cummin {
  static constexpr Row row{
      .signature = "cummin(Tensor self, int dim, *, Tensor[2] out=None) -> (Tensor values, Tensor indices)",
      .kind = Kind::algorithm,
      .by_hand = true,
      .kernel_name = "cummin_cpu",
      .grad_fn = "CumminBackward0",
      .doc = "For each element the smallest one along dim up to it, and the index of that."};
  template <class G>
  static auto grad_a(const G& g) {
    return added_along(g.grad(), g.integer("dim", -1), g.result(1), g.a().sizes());
  }
};

/// NaN and infinities as in PyTorch: exp of a difference with the larger one, not of the elements.
struct logcumsumexp {
  static constexpr Row row{.signature = "logcumsumexp(Tensor self, int dim, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kInexact,
                           .kernel_name = "logcumsumexp_out_cpu",
                           .ulp = 4,
                           .grad_fn = "LogcumsumexpBackward0",
                           .doc =
                               "For each element the logarithm of the sum of the exponentials along dim up to it, "
                               "without overflow of these."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_logcumsumexp(g.grad(), g.a(), g.result(), g.integer("dim"));
  }
};

struct cumprod {
  static constexpr Row row{
      .signature = "cumprod(Tensor self, int dim, *, ScalarType? dtype=None, Tensor out=None) -> Tensor",
      .array_api = "cumulative_prod",
      .numpy = "cumprod",
      .kind = Kind::algorithm,
      .by_hand = true,
      .inplace = true,
      .promotion = Promotion::sum,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "cumprod_out_cpu",
      .ulp = 1,
      .grad_fn = "CumprodBackward0",
      .doc = "For each element the product along dim up to it. Integers and bool are multiplied in int64."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_cumprod(g.grad(), g.a(), g.result(), g.integer("dim"));
  }
};
