// A map of three tensors and a number.

struct subcmul {
  static constexpr Row row{
      .signature = "subcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None) -> Tensor",
      .dtypes = kNoBool | kComplex,
      .kernel_name = "subcmul_cpu",
      .parameters = Parameters::factor,
      .grad_fn = "SubcmulBackward0",
      .doc = "input - value * tensor1 * tensor2."};
  template <class T>
  static T forward(T a, T b, T c, T value) {
    return mul_add(-(value * b), c, a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -(g.grad() * conj(g.c() * g.d()));
  }
  template <class G>
  static auto grad_c(const G& g) {
    return -(g.grad() * conj(g.b() * g.d()));
  }
};
