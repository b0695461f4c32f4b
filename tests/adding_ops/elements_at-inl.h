// By index: an algorithm with a tensor of places. Its body is elements_at.cpp.

struct elements_at {
  static constexpr Row row{.signature = "elements_at(Tensor self, Tensor index) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "index: int64",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "elements_at_cpu",
                           .grad_fn = "ElementsAtBackward0",
                           .doc = "The elements at places of the tensor as one row."};
  template <class G>
  static auto grad_a(const G& g) {
    const auto places = g.b().reshape({-1}).remainder(numel_of(g.sizes()));
    return g.zeros(g.sizes()).reshape({-1}).index_add(0, places, g.grad().reshape({-1})).reshape(g.sizes());
  }
};
