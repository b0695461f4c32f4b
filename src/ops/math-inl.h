// ops: functions of the C++ library.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct sin {
  static constexpr Row row{.signature = "sin(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "sin",
                           .inplace_functions = "sin_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "sin_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "SinBackward0",
                           .doc = "The sine of input in radians."};
  template <class T>
  static T forward(T a) {
    return sine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(cosine(g.a()));
  }
};

struct cos {
  static constexpr Row row{.signature = "cos(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "cos",
                           .inplace_functions = "cos_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "cos_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "CosBackward0",
                           .doc = "The cosine of input in radians."};
  template <class T>
  static T forward(T a) {
    return cosine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return -g.grad() * conj(sine(g.a()));
  }
};

struct tan {
  static constexpr Row row{.signature = "tan(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "tan",
                           .inplace_functions = "tan_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "tan_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "TanBackward0",
                           .doc = "The tangent of input in radians."};
  template <class T>
  static T forward(T a) {
    return tangent(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(1 + g.result() * g.result());
  }
};

struct asin {
  static constexpr Row row{.signature = "asin(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "arcsin",
                           .array_api = "asin",
                           .numpy = "arcsin",
                           .inplace_functions = "asin_ arcsin_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "asin_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .domain = "[-1, 1]",
                           .through_float32 = true,
                           .grad_fn = "AsinBackward0",
                           .doc = "The arc sine: the angle from -pi/2 to pi/2, in radians, whose sine is input."};
  template <class T>
  static T forward(T a) {
    return arc_sine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(inverse_root(1 - g.a() * g.a()));
  }
};

struct acos {
  static constexpr Row row{.signature = "acos(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "arccos",
                           .array_api = "acos",
                           .numpy = "arccos",
                           .inplace_functions = "acos_ arccos_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "acos_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .domain = "[-1, 1]",
                           .through_float32 = true,
                           .grad_fn = "AcosBackward0",
                           .doc = "The arc cosine: the angle from 0 to pi, in radians, whose cosine is input."};
  template <class T>
  static T forward(T a) {
    return arc_cosine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return -g.grad() * conj(inverse_root(1 - g.a() * g.a()));
  }
};

struct atan {
  static constexpr Row row{.signature = "atan(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "arctan",
                           .array_api = "atan",
                           .numpy = "arctan",
                           .inplace_functions = "atan_ arctan_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "atan_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "AtanBackward0",
                           .doc = "The arc tangent: the angle from -pi/2 to pi/2, in radians, whose tangent is input."};
  template <class T>
  static T forward(T a) {
    return arc_tangent(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(g.a() * g.a() + 1);
  }
};

struct sinh {
  static constexpr Row row{.signature = "sinh(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "sinh",
                           .inplace_functions = "sinh_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "sinh_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "SinhBackward0",
                           .doc = "The hyperbolic sine of input."};
  template <class T>
  static T forward(T a) {
    return hyperbolic_sine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(hyperbolic_cosine(g.a()));
  }
};

struct cosh {
  static constexpr Row row{.signature = "cosh(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "cosh",
                           .inplace_functions = "cosh_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "cosh_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "CoshBackward0",
                           .doc = "The hyperbolic cosine of input."};
  template <class T>
  static T forward(T a) {
    return hyperbolic_cosine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(hyperbolic_sine(g.a()));
  }
};

struct asinh {
  static constexpr Row row{.signature = "asinh(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "arcsinh",
                           .array_api = "asinh",
                           .numpy = "arcsinh",
                           .inplace_functions = "asinh_ arcsinh_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "asinh_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "AsinhBackward0",
                           .grad_fn_inplace = "AsinhBackward1",
                           .doc = "The inverse hyperbolic sine: the number whose hyperbolic sine is input."};
  template <class T>
  static T forward(T a) {
    return inverse_hyperbolic_sine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(inverse_root(g.a() * g.a() + 1));
  }
};

struct acosh {
  static constexpr Row row{.signature = "acosh(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "arccosh",
                           .array_api = "acosh",
                           .numpy = "arccosh",
                           .inplace_functions = "acosh_ arccosh_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "acosh_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .domain = "[1, inf)",
                           .through_float32 = true,
                           .grad_fn = "AcoshBackward0",
                           .grad_fn_inplace = "AcoshBackward1",
                           .doc = "The inverse hyperbolic cosine: the number >= 0 whose hyperbolic cosine is input."};
  template <class T>
  static T forward(T a) {
    return inverse_hyperbolic_cosine(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(inverse_root_less_1(g.a()));
  }
};

struct atanh {
  static constexpr Row row{.signature = "atanh(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "arctanh",
                           .array_api = "atanh",
                           .numpy = "arctanh",
                           .inplace_functions = "atanh_ arctanh_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "atanh_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .domain = "[-1, 1]",
                           .through_float32 = true,
                           .grad_fn = "AtanhBackward0",
                           .grad_fn_inplace = "AtanhBackward1",
                           .doc = "The inverse hyperbolic tangent: the number whose hyperbolic tangent is input."};
  template <class T>
  static T forward(T a) {
    return inverse_hyperbolic_tangent(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(1 - g.a() * g.a());
  }
};

struct exp2 {
  static constexpr Row row{.signature = "exp2(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_exp2",
                           .numpy = "exp2",
                           .inplace_functions = "exp2_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "exp2_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "Exp2Backward0",
                           .doc = "2 to the power of input."};
  template <class T>
  static T forward(T a) {
    return exponential_of_2(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(g.result()) * kLog2;
  }
};

struct expm1 {
  static constexpr Row row{.signature = "expm1(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_expm1",
                           .array_api = "expm1",
                           .inplace_functions = "expm1_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "expm1_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "Expm1Backward0",
                           .doc = "exp(input) - 1, accurate also for input near 0."};
  template <class T>
  static T forward(T a) {
    return exponential_less_1(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(g.result() + 1);
  }
};

struct log1p {
  static constexpr Row row{.signature = "log1p(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_log1p",
                           .array_api = "log1p",
                           .inplace_functions = "log1p_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "log1p_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .domain = "(-1, inf)",
                           .through_float32 = true,
                           .grad_fn = "Log1PBackward0",
                           .doc = "log(1 + input), accurate also for input near 0."};
  template <class T>
  static T forward(T a) {
    return logarithm_of_1_more(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(g.a() + 1);
  }
};

struct log2 {
  static constexpr Row row{.signature = "log2(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "log2",
                           .inplace_functions = "log2_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "log2_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "Log2Backward0",
                           .doc = "The logarithm of input to base 2."};
  template <class T>
  static T forward(T a) {
    return logarithm_to_2(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(g.a() * kLog2);
  }
};

struct log10 {
  static constexpr Row row{.signature = "log10(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "log10",
                           .inplace_functions = "log10_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "log10_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "Log10Backward0",
                           .doc = "The logarithm of input to base 10."};
  template <class T>
  static T forward(T a) {
    return logarithm_to_10(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(g.a() * kLog10);
  }
};

struct erf {
  static constexpr Row row{
      .signature = "erf(Tensor self, *, Tensor out=None) -> Tensor",
      .alias = "special_erf",
      .inplace_functions = "erf_",
      .promotion = Promotion::int_to_float,
      .dtypes = kFloats,
      .kernel_name = "erf_vml_cpu",
      .vectors = true,
      .ulp = 2,
      .through_float32 = true,
      .grad_fn = "ErfBackward0",
      .doc = "The error function: 2 / sqrt(pi) times the integral of exp(-t * t) from 0 to input."};
  template <class T>
  static T forward(T a) {
    return error_function(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (exponential(-(g.a() * g.a())) * k2BySqrtPi);
  }
};

struct erfc {
  static constexpr Row row{
      .signature = "erfc(Tensor self, *, Tensor out=None) -> Tensor",
      .alias = "special_erfc",
      .inplace_functions = "erfc_",
      .promotion = Promotion::int_to_float,
      .dtypes = kFloats,
      .kernel_name = "erfc_vml_cpu",
      .vectors = true,
      .ulp = 4,
      .through_float32 = true,
      .grad_fn = "ErfcBackward0",
      .doc = "The complementary error function: 1 - erf(input), accurate also where that is near 0."};
  template <class T>
  static T forward(T a) {
    return error_function_rest(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return -g.grad() * (exponential(-(g.a() * g.a())) * k2BySqrtPi);
  }
};

struct atan2 {
  static constexpr Row row{.signature = "atan2(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .alias = "arctan2",
                           .array_api = "atan2",
                           .numpy = "arctan2",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "atan2_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "Atan2Backward0",
                           .doc = "The angle of the point with x = other and y = input, in radians, from -pi to pi."};
  template <class T>
  static T forward(T a, T b) {
    return angle(a, b);
  }
  /// The gradient at 0 is 0.
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * choose(g.a() * g.a() + g.b() * g.b() == 0, 0, g.b() / (g.a() * g.a() + g.b() * g.b()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -g.grad() * choose(g.a() * g.a() + g.b() * g.b() == 0, 0, g.a() / (g.a() * g.a() + g.b() * g.b()));
  }
};

/// After atan2, whose formula uses a function of this name.
struct angle {
  static constexpr Row row{.signature = "angle(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "angle",
                           .inplace = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "angle_cpu",
                           .complex_to_real = true,
                           .grad_fn = "AngleBackward0",
                           .doc =
                               "The angle of a complex number in radians, from -pi to pi. Of a real number: pi if it "
                               "is negative, otherwise 0."};
  template <class T>
  static T forward(T a) {
    const T right = choose(a == a, T(0), a);  // NOLINT(misc-redundant-expression): only a NaN differs from itself
    return choose(a < T(0), T(3.14159265358979323846), right);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_angle(g.grad(), g.a());
  }
};
