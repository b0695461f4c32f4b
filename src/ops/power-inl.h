// ops: powers.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct pow {
  static constexpr Row row{
      .signature = "pow(Tensor|Scalar self, Tensor|Scalar exponent, *, Tensor out=None) -> Tensor",
      .array_api = "pow",
      .numpy = "power",
      .python =
          "(Tensor self, Tensor exponent, *, Tensor out=None)\n"
          "(Scalar self, Tensor exponent, *, Tensor out=None)\n"
          "(Tensor self, Scalar exponent, *, Tensor out=None)",
      .by_hand = true,
      .symbol = "**",
      .dtypes = kNoBool | kComplex,
      .kernel_name = "pow",
      .vectors = true,
      .ulp = 1,
      .domain = "(0, inf)",
      .through_float32 = true,
      .grad_fn = "PowBackward1",
      .grad_fn_of_number = "PowBackward0",
      .doc = "input to the power of exponent. Integers wrap; their exponents must not be negative numbers."};
  template <class T>
  static T forward(T a, T b) {
    return to_power(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    g.result();  // saved and watched for writes, as PyTorch does
    return of_power_base(g.grad(), g.a(), g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_power_exponent(g.grad(), g.a(), g.b(), g.result());
  }
};

/// The power of a number.
struct pow_of_number {
  static constexpr Row row{.name = "pow",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "pow",
                           .gives_row_major = true,
                           .vectors = true,
                           .through_float32 = true,
                           .grad_fn = "PowBackward2"};
  template <class T>
  static T forward(T a, T b) {
    return to_power(a, b);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_power_exponent(g.grad(), g.a(), g.b(), g.result());
  }
};

/// An exponent that is a number.
struct pow_to_number {
  static constexpr Row row{.name = "pow",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "pow",
                           .parameters = Parameters::bounds,
                           .vectors = true,
                           .through_float32 = true,
                           .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a, T b) {
    return to_power(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), g.b());
  }
};

// Exponents for which PyTorch has other formulas.

struct pow_to_0 {
  static constexpr Row row{.name = "pow", .dtypes = kAllDtypes, .through_float32 = true, .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T /*a*/) {
    return T(1);
  }
  template <class G>
  static auto grad_a(const G& g) {
    g.a();  // saved and watched for writes, as PyTorch does
    return g.zero();
  }
};

struct pow_to_1 {
  static constexpr Row row{.name = "pow", .dtypes = kAllDtypes, .through_float32 = true, .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a) {
    return a;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), 1);
  }
};

struct pow_to_2 : square {
  static constexpr Row row{
      .name = "pow", .dtypes = kNoBool | kComplex, .kernel_name = "pow", .grad_fn = "PowBackward0"};
};

struct pow_to_3 {
  static constexpr Row row{.name = "pow",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "pow",
                           .through_float32 = true,
                           .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a) {
    return a * a * a;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), 3);
  }
};

struct pow_to_minus_1 {
  static constexpr Row row{.name = "pow", .dtypes = kInexact, .kernel_name = "pow", .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a) {
    return T(1) / a;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), -1);
  }
};

struct pow_to_minus_2 {
  static constexpr Row row{
      .name = "pow", .dtypes = kInexact, .kernel_name = "pow", .through_float32 = true, .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a) {
    return T(1) / (a * a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), -2);
  }
};

struct pow_to_half {
  static constexpr Row row{
      .name = "pow", .dtypes = kInexact & ~set_of(float16), .kernel_name = "pow", .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a) {
    return square_root(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), 0.5);
  }
};

struct pow_to_minus_half {
  static constexpr Row row{
      .name = "pow", .dtypes = kInexact & ~set_of(float16), .kernel_name = "pow", .grad_fn = "PowBackward0"};
  template <class T>
  static T forward(T a) {
    return T(1) / square_root(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_power_base(g.grad(), g.a(), -0.5);
  }
};

/// 1 to the power of the operand.
struct pow_of_1 {
  static constexpr Row row{
      .name = "pow", .dtypes = kAllDtypes, .gives_row_major = true, .through_float32 = true, .grad_fn = "PowBackward2"};
  template <class T>
  static T forward(T /*a*/) {
    return T(1);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * 0;
  }
};

/// Calls pow.
struct float_power : pow {
  static constexpr Row row{
      .signature = "float_power(Tensor|Scalar self, Tensor|Scalar exponent, *, Tensor out=None) -> Tensor",
      .numpy = "float_power",
      .python =
          "(Tensor self, Tensor exponent, *, Tensor out=None)\n"
          "(Scalar self, Tensor exponent, *, Tensor out=None)\n"
          "(Tensor self, Scalar exponent, *, Tensor out=None)",
      .by_hand = true,
      .promotion = Promotion::to_float64,
      .dtypes = set_of(float64) | set_of(complex128),
      .accepts = kAllDtypes,
      .kernel_name = "pow",
      .vectors = true,
      .ulp = 1,
      .domain = "(0, inf)",
      .grad_fn = "PowBackward1",
      .grad_fn_of_number = "PowBackward0",
      .doc = "input to the power of exponent, computed in float64 or complex128."};
};

struct ldexp {
  static constexpr Row row{.signature = "ldexp(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "ldexp",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .inplace = true,
                           .inplace_functions = "ldexp_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .ulp = 1,
                           .grad_fn = "LdexpBackward0",
                           .doc = "input * 2 ** other."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().ldexp(conj(g.b()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.result()) * kLog2;
  }
};

/// With an integer as exponent.
struct ldexp_integer {
  static constexpr Row row{.name = "ldexp", .dtypes = kFloats, .kernel_name = "ldexp_cpu", .through_float32 = true};
  template <class T>
  static T forward(T a, T b) {
    return times_power_of_2(a, b);
  }
};
