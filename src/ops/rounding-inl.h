// ops: rounding to integers, and signs.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct floor {
  static constexpr Row row{.signature = "floor(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "floor",
                           .inplace_functions = "floor_",
                           .dtypes = kAllNumbers,
                           .kernel_name = "floor_vml_cpu",
                           .refuses_complex = "floor is not supported for complex inputs",
                           .complex_lacks_code = true,
                           .strict_out = true,
                           .grad_fn = "FloorBackward0",
                           .doc = "The largest integer <= input."};
  template <class T>
  static T forward(T a) {
    return rounded_down(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.zero();
  }
};

struct ceil {
  static constexpr Row row{.signature = "ceil(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "ceil",
                           .inplace_functions = "ceil_",
                           .dtypes = kAllNumbers,
                           .kernel_name = "ceil_vml_cpu",
                           .refuses_complex = "ceil is not supported for complex inputs",
                           .complex_lacks_code = true,
                           .strict_out = true,
                           .grad_fn = "CeilBackward0",
                           .doc = "The smallest integer >= input."};
  template <class T>
  static T forward(T a) {
    return rounded_up(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.zero();
  }
};

struct trunc {
  static constexpr Row row{.signature = "trunc(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "fix",
                           .array_api = "trunc",
                           .numpy = "trunc fix",
                           .inplace_functions = "trunc_ fix_",
                           .dtypes = kAllNumbers,
                           .kernel_name = "trunc_vml_cpu",
                           .refuses_complex = "trunc is not supported for complex inputs",
                           .complex_lacks_code = true,
                           .strict_out = true,
                           .grad_fn = "TruncBackward0",
                           .doc = "input rounded toward 0."};
  template <class T>
  static T forward(T a) {
    return rounded_to_zero(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.zero();
  }
};

struct frac {
  static constexpr Row row{.signature = "frac(Tensor self, *, Tensor out=None) -> Tensor",
                           .inplace_functions = "frac_",
                           .dtypes = kFloats,
                           .kernel_name = "frac_cpu",
                           .strict_out = true,
                           .through_float32 = true,
                           .grad_fn = "FracBackward0",
                           .doc = "The fractional part: input - trunc(input)."};
  template <class T>
  static T forward(T a) {
    return a - rounded_to_zero(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
};

struct round {
  static constexpr Row row{.signature = "round(Tensor self, *, int? decimals=None, Tensor out=None) -> Tensor",
                           .array_api = "round",
                           .python =
                               "(Tensor self, *, Tensor out=None)\n"
                               "(Tensor self, *, int decimals, Tensor out=None)",
                           .by_hand = true,
                           .inplace_functions = "round_",
                           .dtypes = kAllNumbers,
                           .kernel_name = "round_vml_cpu",
                           .strict_out = true,
                           .grad_fn = "RoundBackward0",
                           .doc =
                               "The nearest integer, the even one if two are equally near. decimals: the number of "
                               "decimal places, for floats."};
  template <class T>
  static T forward(T a) {
    return nearest(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.zero();
  }
};

/// Rounds to a multiple of 1 / scale, or of -scale if scale is negative.
struct round_decimals {
  static constexpr Row row{.name = "round",
                           .dtypes = kFloats,
                           .kernel_name = "round_cpu",
                           .parameters = Parameters::factor,
                           .strict_out = true,
                           .grad_fn = "RoundBackward1"};
  template <class T>
  static T forward(T a, T scale) {
    // One division for both: it takes longer than all else. Two conditions, because for one GCC makes two divisions.
    const T size = magnitude(scale), quotient = choose(T(0) < scale, nearest(a * size), a) / size;
    return choose(scale < T(0), nearest(quotient) * size, quotient);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.zero();
  }
};

struct sign {
  static constexpr Row row{.signature = "sign(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "sign",
                           .kernel_name = "sign_cpu",
                           .refuses_complex =
                               "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use "
                               "torch.sgn instead.",
                           .complex_lacks_code = true,
                           .strict_out = true,
                           .on_bits = true,
                           .grad_fn = "SignBackward0",
                           .doc = "1 for positive, -1 for negative elements, 0 for 0 and NaN."};
  template <class T>
  static T forward(T a) {
    return signum(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.zero();
  }
};

struct sgn {
  static constexpr Row row{.signature = "sgn(Tensor self, *, Tensor out=None) -> Tensor",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "sign_cpu",
                           .strict_out = true,
                           .grad_fn = "SgnBackward0",
                           .doc = "input divided by its magnitude; 0 for 0. Of real numbers: sign."};
  template <class T>
  static T forward(T a) {
    return signum(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_sgn(g.grad(), g.a(), g.result());
  }
};

struct signbit {
  static constexpr Row row{
      .signature = "signbit(Tensor self, *, Tensor out=None) -> Tensor",
      .array_api = "signbit",
      .by_hand = true,
      .inplace = false,
      .promotion = Promotion::comparison,
      .dtypes = kAllReal,
      .refuses_complex = "signbit is not implemented for complex tensors.",
      .complex_lacks_code = true,
      .on_bits = true,
      .doc = "Whether the sign bit is set: for negative elements, also for -0 and NaN with a minus sign."};
  template <class T>
  static TruthOf<T> forward(T a) {
    return is_marked_negative(a);
  }
};

struct copysign {
  static constexpr Row row{.signature = "copysign(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .array_api = "copysign",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "copysign_cpu",
                           .on_bits = true,
                           .grad_fn = "CopysignBackward0",
                           .grad_fn_of_number = "CopysignBackward1",
                           .doc = "The magnitude of input with the sign of other."};
  template <class T>
  static T forward(T a, T b) {
    return with_sign(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * choose(g.a() == 0, 0, g.result() / g.a());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.zero();
  }
};
