// A map of two operands, each a tensor or a number.

struct scaledlog {
  static constexpr Row row{
      .signature = "scaledlog(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .python =
          "(Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Scalar self, Tensor other, *, Tensor out=None)\n"
          "(Tensor self, Scalar other, *, Tensor out=None)",
      .promotion = Promotion::int_to_float,
      .dtypes = kFloats,
      .kernel_name = "xlogy_cpu",
      .ulp = 2,
      .grad_fn = "ScaledlogBackward0",
      .grad_fn_of_number = "ScaledlogBackward2",
      .grad_fn_of_first_number = "ScaledlogBackward1",
      .doc = "input * log(other); 0 where input is 0, but for a NaN."};
  template <class T>
  static T forward(T a, T b) {
    return choose(b == b, choose(a == T(0), T(0), a * logarithm(b)), b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((g.a() == 0) & (g.b() <= 0), 0, g.grad() * logarithm(g.b()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * g.a() / g.b();
  }
};
