// ops: complex numbers from their parts. Without formulas: dispatch/complex.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct complex {
  static constexpr Row row{.signature = "complex(Tensor real, Tensor imag, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .promotion = Promotion::to_complex,
                           .one_dtype = true,
                           .dtypes = kWideFloats,
                           .grad_fn = "ComplexBackward0",
                           .doc = "Complex numbers with these real and imaginary parts."};
  template <class G>
  static auto grad_a(const G& g) {
    return real(g.grad());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return imag(g.grad());
  }
};

struct polar {
  static constexpr Row row{.signature = "polar(Tensor abs, Tensor angle, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .promotion = Promotion::to_complex,
                           .one_dtype = true,
                           .dtypes = kWideFloats,
                           .grad_fn = "PolarBackward0",
                           .doc = "Complex numbers with these magnitudes and angles."};
  template <class G>
  static auto grad_a(const G& g) {
    return real(g.grad().conj_physical() * g.result().sgn());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return real(g.grad().conj_physical() * g.result() * Complex128{0, 1});
  }
};

struct isreal {
  static constexpr Row row{.signature = "isreal(Tensor self) -> Tensor",
                           .numpy = "isreal",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::comparison,
                           .dtypes = kAllDtypes,
                           .doc = "Whether the imaginary part is 0."};
};
