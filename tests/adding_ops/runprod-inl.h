// A scan: an algorithm, whose body is runprod.cpp.

struct runprod {
  static constexpr Row row{
      .signature = "runprod(Tensor self, int dim, *, ScalarType? dtype=None, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .inplace = true,
      .dtypes = kNoBool | kComplex,
      .kernel_name = "runprod_out_cpu",
      .grad_fn = "RunprodBackward0",
      .doc = "The products along dim of the elements so far; integers and bool are multiplied in int64."};
  /// Of elements that are not 0.
  template <class G>
  static auto grad_a(const G& g) {
    const auto dim = g.integer("dim");
    return g.grad().dim() == 0 ? g.grad() : (g.grad() * g.result()).flip({dim}).cumsum(dim).flip({dim}) / g.a();
  }
};
