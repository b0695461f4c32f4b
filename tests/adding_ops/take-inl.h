// By index: an algorithm with a tensor of places. Its body is take.cpp.

struct take {
  static constexpr Row row{.signature = "take(Tensor self, Tensor index) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "index: int64",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "take_cpu",
                           .grad_fn = "TakeBackward0",
                           .doc = "The elements at places of the tensor as one row."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto places = g.b().reshape({-1}).remainder(numel_of(g.sizes()));
    return g.zeros(g.sizes()).reshape({-1}).index_add(0, places, g.grad().reshape({-1})).reshape(g.sizes());
  }
};
