// A copy of a view: an algorithm, whose body is unsqueeze_copy.cpp.

struct unsqueeze_copy {
  static constexpr Row row{.signature = "unsqueeze_copy(Tensor self, int dim, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .strict_out = true,
                           .grad_fn = "UnsqueezeBackward0_copy",
                           .doc = "A copy with another dim of size 1."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().squeeze(g.integer("dim"));
  }
};
