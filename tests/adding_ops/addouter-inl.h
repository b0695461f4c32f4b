// An algorithm of operands whose sizes are told by letters, with numbers; its body is addouter.cpp.

struct addouter {
  static constexpr Row row{
      .signature =
          "addouter(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None) -> "
          "Tensor",
      .python =
          "(Scalar beta, Tensor self, Scalar alpha, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated\n"
          "(Scalar beta, Tensor self, Tensor vec1, Tensor vec2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1, Tensor out=None)",
      .kind = Kind::algorithm,
      .shapes = "*ij,i,j",
      .by_hand = true,
      .inplace = true,
      .dtypes = kUsual | kComplex,
      .kernel_name = "addouter_cpu",
      .grad_fn = "AddouterBackward0",
      .doc = "beta * input + alpha * the outer product of two vectors."};
  template <class G>
  static auto grad_a(const G& g) {
    return times(g.grad(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return times(g.grad().mv(conj(g.c())), g.number("alpha", 1));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return times(g.grad().t().mv(conj(g.b())), g.number("alpha", 1));
  }
};
