// ops: results in which every element sums up those before it.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct cumsum {
  static constexpr Row row{
      .signature = "cumsum(Tensor self, int dim, *, ScalarType? dtype=None, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kNoBool,
      .kernel_name = "cumsum_out_cpu",
      .grad_fn = "CumsumBackward0",
      .doc = "The sums along dim of the elements so far; integers and bool are summed in int64."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto dim = g.integer("dim");
    return g.grad().dim() == 0 ? g.grad() : g.grad().flip({dim}).cumsum(dim).flip({dim});
  }
};
