// ops: divisors and multiples of integers, and neighbours of floats.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct gcd {
  static constexpr Row row{.signature = "gcd(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "gcd",
                           .inplace_functions = "gcd_",
                           .dtypes = kUsualIntegers,
                           .kernel_name = "gcd_cpu",
                           .doc = "The greatest common divisor."};
  template <class T>
  static T forward(T a, T b) {
    return common_divisor(a, b);
  }
};

struct lcm {
  static constexpr Row row{.signature = "lcm(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "lcm",
                           .inplace_functions = "lcm_",
                           .dtypes = kUsualIntegers,
                           .kernel_name = "lcm_cpu",
                           .doc = "The least common multiple. It wraps."};
  template <class T>
  static T forward(T a, T b) {
    return common_multiple(a, b);
  }
};

struct nextafter {
  static constexpr Row row{.signature = "nextafter(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .array_api = "nextafter",
                           .dtypes = kFloats,
                           .kernel_name = "nextafter_cpu",
                           .stepwise = true,
                           .grad_fn = "NextafterBackward0",
                           .doc = "The neighbour of input in the dtype, towards other."};
  template <class T>
  static T forward(T a, T b) {
    return neighbour(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() == g.b(), 0, g.grad());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.zero();
  }
};
