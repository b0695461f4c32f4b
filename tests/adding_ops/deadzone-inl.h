// A map of a tensor and a number that has no part in promotion: PyTorch's hardshrink.

struct deadzone {
  static constexpr Row row{.signature = "deadzone(Tensor self, Scalar lambd=0.5, *, Tensor out=None) -> Tensor",
                           .inplace = false,
                           .dtypes = kFloats,
                           .kernel_name = "deadzone_cpu",
                           .parameters = Parameters::numbers,
                           .strict_out = true,
                           .grad_fn = "DeadzoneBackward0",
                           .doc = "The elements, but 0 where they are from -lambd to lambd."};
  template <class T>
  static T forward(T a, T lambd) {
    return choose((-lambd <= a) & (a <= lambd), T(0), a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((-g.b() <= g.a()) & (g.a() <= g.b()), 0, g.grad());
  }
};
