// An algorithm whose body is diagsum.cpp.

struct diagsum {
  static constexpr Row row{.signature = "diagsum(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "diagsum",
                           .grad_fn = "DiagsumBackward0",
                           .doc = "The sum of the diagonal of a matrix."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.on_diagonal(0, 0, 1);
  }
};
