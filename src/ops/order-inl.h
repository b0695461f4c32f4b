// ops: the same elements in another order.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct flip {
  static constexpr Row row{.signature = "flip(Tensor self, int[] dims) -> Tensor",
                           .kind = Kind::algorithm,
                           .grad_fn = "FlipBackward0",
                           .doc = "The elements in reverse order along dims."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().flip(g.dims("dims").view());
  }
};
