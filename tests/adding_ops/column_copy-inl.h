// A copy of a view: an algorithm, whose body is column_copy.cpp.

struct column_copy {
  static constexpr Row row{.signature = "column_copy(Tensor self, int dim, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .method = false,
                           .strict_out = true,
                           .grad_fn = "ColumnBackward0_copy",
                           .doc = "A copy with another dim of size 1."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().squeeze(g.integer("dim"));
  }
};
