// A scan: an algorithm, whose body is cumprod.cpp.

struct cumprod {
  static constexpr Row row{
      .signature = "cumprod(Tensor self, int dim, *, ScalarType? dtype=None, Tensor out=None) -> Tensor",
      .numpy = "cumprod",
      .kind = Kind::algorithm,
      .by_hand = true,
      .inplace = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "cumprod_out_cpu",
      .grad_fn = "CumprodBackward0",
      .doc = "The products along dim of the elements so far; integers and bool are multiplied in int64."};
  /// Of elements that are not 0.
  template <class G>
  static auto grad_a(const G& g) {
    const auto dim = g.integer("dim");
    return g.grad().dim() == 0 ? g.grad() : (g.grad() * g.result()).flip({dim}).cumsum(dim).flip({dim}) / g.a();
  }
};
