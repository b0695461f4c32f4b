// ops: arithmetic. A block for each op: its row, and its formula, written once for all lane types.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct add {
  static constexpr Row row{.signature = "add(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None) -> Tensor",
                           .array_api = "add",
                           .python =
                               "(Tensor self, Scalar alpha, Tensor other, *, Tensor out=None)|deprecated\n"
                               "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None)",
                           .by_hand = true,
                           .numbers_as_tensors = true,
                           .symbol = "+",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "add_stub",
                           .short_rows = true,
                           .grad_fn = "AddBackward0",
                           .doc = "input + alpha * other."};
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad();
  }
};

/// self + alpha * other, rounded once.
struct add_alpha {
  static constexpr Row row{.name = "add",
                           .symbol = "+",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "add_stub",
                           .parameters = Parameters::alpha,
                           .grad_fn = "AddBackward0"};
  template <class T>
  static T forward(T a, T b, T alpha) {
    return mul_add(alpha, b, a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.c());
  }
};

struct sub {
  static constexpr Row row{.signature = "sub(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None) -> Tensor",
                           .alias = "subtract",
                           .alias_python =
                               "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None)\n"
                               "(Tensor self, Scalar other, Scalar alpha=1)",
                           .array_api = "subtract",
                           .python =
                               "(Tensor self, Scalar alpha, Tensor other, *, Tensor out=None)|deprecated\n"
                               "(Tensor self, Tensor other, *, Scalar alpha=1, Tensor out=None)",
                           .by_hand = true,
                           .numbers_as_tensors = true,
                           .symbol = "-",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "add_stub",
                           .short_rows = true,
                           .grad_fn = "SubBackward0",
                           .doc = "input - alpha * other."};
  template <class T>
  static T forward(T a, T b) {
    return a - b;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -g.grad();
  }
};

/// self + alpha * other; the caller has negated alpha.
struct sub_alpha {
  static constexpr Row row{.name = "sub",
                           .symbol = "-",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "add_stub",
                           .parameters = Parameters::alpha,
                           .grad_fn = "SubBackward0"};
  template <class T>
  static T forward(T a, T b, T alpha) {
    return mul_add(alpha, b, a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.c());
  }
};

struct mul {
  static constexpr Row row{
      .signature = "mul(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .alias = "multiply",
      .alias_python =
          "(Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Tensor self, Scalar other)",
      .array_api = "multiply",
      .numbers_as_tensors = true,
      .symbol = "*",
      .dtypes = kAllDtypes,
      .kernel_name = "mul_cpu",
      .exact_second = true,
      .beside_numbers = true,
      .commutative = true,
      .short_rows = true,
      .grad_fn = "MulBackward0",
      .doc = "input * other.",
  };
  template <class T>
  static T forward(T a, T b) {
    return a * b;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.a());
  }
};

struct div {
  static constexpr Row row{
      .signature = "div(Tensor self, Tensor other, *, str? rounding_mode=None, Tensor out=None) -> Tensor",
      .alias = "divide",
      .alias_python =
          "(Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Tensor self, Tensor other, *, str? rounding_mode, Tensor out=None)\n"
          "(Tensor self, Scalar other)\n"
          "(Tensor self, Scalar other, *, str? rounding_mode)",
      .array_api = "divide",
      .python =
          "(Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Tensor self, Tensor other, *, str? rounding_mode, Tensor out=None)\n"
          "(Tensor self, Scalar other, *, str? rounding_mode)",
      .values = "rounding_mode: floor trunc",
      .by_hand = true,
      .numbers_as_tensors = true,
      .symbol = "/",
      .promotion = Promotion::int_to_float,
      .dtypes = kInexact,
      .kernel_name = "div_cpu",
      .exact_second = true,
      .beside_numbers = true,
      .short_rows = true,
      .grad_fn = "DivBackward0",
      .doc = "input / other. rounding_mode 'trunc' rounds the quotient toward 0, 'floor' rounds it down."};
  template <class T>
  static T forward(T a, T b) {
    return a / b;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -g.grad() * conj((g.a() / g.b()) / g.b());
  }
};

struct true_divide : div {
  static constexpr Row row{.signature = "true_divide(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .python =
                               "(Tensor self, Tensor other, *, Tensor out=None)\n"
                               "(Tensor self, Scalar other)",
                           .by_hand = true,
                           .numbers_as_tensors = true,
                           .promotion = Promotion::int_to_float,
                           .dtypes = 0,
                           .accepts = kAllDtypes,
                           .doc = "input / other: div without a rounding_mode."};
};

/// The quotient rounded toward zero; integers stay integers.
struct div_trunc {
  static constexpr Row row{.name = "div",
                           .dtypes = kNoBool,
                           .kernel_name = "div_trunc_cpu",
                           .exact_second = true,
                           .stepwise = true,
                           .divides_integers = true,
                           .vectors = true,
                           .grad_fn = "DivBackward2"};
  template <class T>
  static T forward(T a, T b) {
    return quotient_trunc(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    g.b();  // saved and watched for writes, as PyTorch does
    return g.zero();
  }
  template <class G>
  static auto grad_b(const G& g) {
    g.a();
    g.b();
    return g.zero();
  }
};

/// The quotient rounded down; integers stay integers.
struct div_floor {
  static constexpr Row row{.name = "div",
                           .dtypes = kNoBool,
                           .kernel_name = "div_floor_cpu",
                           .exact_second = true,
                           .stepwise = true,
                           .divides_integers = true,
                           .vectors = true,
                           .grad_fn = "DivBackward2"};
  template <class T>
  static T forward(T a, T b) {
    return quotient_floor(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    g.b();  // saved and watched for writes, as PyTorch does
    return g.zero();
  }
  template <class G>
  static auto grad_b(const G& g) {
    g.a();
    g.b();
    return g.zero();
  }
};

struct floor_divide {
  static constexpr Row row{.signature = "floor_divide(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .array_api = "floor_divide",
                           .python =
                               "(Tensor self, Tensor other, *, Tensor out=None)\n"
                               "(Tensor self, Scalar other)",
                           .numbers_as_tensors = true,
                           .symbol = "//",
                           .dtypes = kNoBool,
                           .kernel_name = "div_floor_cpu",
                           .exact_second = true,
                           .stepwise = true,
                           .divides_integers = true,
                           .vectors = true,
                           .grad_fn = "torch::autograd::NotImplemented",
                           .doc = "input / other, rounded down."};
  template <class T>
  static T forward(T a, T b) {
    return quotient_floor(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return lacks_derivative(g.grad(), "floor_divide");
  }
  template <class G>
  static auto grad_b(const G& g) {
    return lacks_derivative(g.grad(), "floor_divide");
  }
};

/// Its arguments in reversed order: other - self.
struct rsub : sub {
  static constexpr Row row{.signature = "rsub(Tensor self, Tensor|Scalar other, *, Scalar alpha=1) -> Tensor",
                           .python =
                               "(Tensor self, Tensor other, *, Scalar alpha=1)\n"
                               "(Tensor self, Scalar other, Scalar alpha=1)",
                           .by_hand = true,
                           .method = false,
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "add_stub",
                           .grad_fn = "RsubBackward0",
                           .grad_fn_of_first_number = "RsubBackward1",
                           .doc = "other - alpha * input."};
};

/// other + alpha * self; the caller has negated alpha.
struct rsub_alpha : sub_alpha {
  static constexpr Row row{.name = "rsub",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "add_stub",
                           .parameters = Parameters::alpha,
                           .grad_fn = "RsubBackward0",
                           .grad_fn_of_first_number = "RsubBackward1"};
};

struct neg {
  static constexpr Row row{.signature = "neg(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "negative",
                           .array_api = "negative",
                           .inplace_functions = "neg_ negative_",
                           .symbol = "-",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "neg_cpu",
                           .refuses_bool =
                               "Negation, the `-` operator, on a bool tensor is not supported. If you are trying "
                               "to invert a mask, use the `~` or `logical_not()` operator instead.",
                           .strict_out = true,
                           .on_bits = true,
                           .grad_fn = "NegBackward0",
                           .doc = "-input."};
  template <class T>
  static T forward(T a) {
    return -a;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return -g.grad();
  }
};

struct abs {
  static constexpr Row row{.signature = "abs(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "absolute",
                           .array_api = "abs",
                           .inplace_functions = "abs_",
                           .dtypes = kNoBool | kComplex,
                           .kernel_name = "abs_cpu",
                           .strict_out = true,
                           .complex_to_real = true,
                           .on_bits = true,
                           .grad_fn = "AbsBackward0",
                           .doc = "The absolute value. Of a complex number: its magnitude, which is real."};
  template <class T>
  static T forward(T a) {
    return magnitude(a);
  }
  /// The gradient at 0 is 0.
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * signum(g.a());
  }
};

/// The remainder of floor division.
struct remainder {
  static constexpr Row row{
      .signature = "remainder(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "remainder",
      .symbol = "%",
      .dtypes = kNoBool,
      .kernel_name = "remainder_cpu",
      .divides_integers = true,
      .vectors = true,
      .through_float32 = true,
      .grad_fn = "RemainderBackward1",
      .grad_fn_of_number = "RemainderBackward0",
      .doc = "The remainder of input / other, with the sign of other."};
  template <class T>
  static T forward(T a, T b) {
    return remainder_floor(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -g.grad() * quotient_floor(g.a(), g.b());
  }
};

/// The remainder of truncated division.
struct fmod {
  static constexpr Row row{.signature = "fmod(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .numpy = "fmod",
                           .dtypes = kNoBool,
                           .kernel_name = "fmod_cpu",
                           .divides_integers = true,
                           .vectors = true,
                           .through_float32 = true,
                           .grad_fn = "FmodBackward1",
                           .grad_fn_of_number = "FmodBackward0",
                           .doc = "The remainder of input / other, with the sign of input."};
  template <class T>
  static T forward(T a, T b) {
    return remainder_trunc(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -g.grad() * quotient_trunc(g.a(), g.b());
  }
};

struct deg2rad {
  static constexpr Row row{.signature = "deg2rad(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "deg2rad",
                           .by_hand = true,
                           .inplace_functions = "deg2rad_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "mul_cpu",
                           .refuses_complex = "deg2rad is not supported for complex tensors.",
                           .exact_second = true,
                           .through_float32 = true,
                           .grad_fn = "Deg2RadBackward0",
                           .doc = "Degrees converted to radians: input * pi / 180."};
  template <class T>
  static T forward(T a, T factor) {
    return a * factor;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * g.b();
  }
};

struct rad2deg {
  static constexpr Row row{.signature = "rad2deg(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "rad2deg",
                           .by_hand = true,
                           .inplace_functions = "rad2deg_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "mul_cpu",
                           .refuses_complex = "rad2deg is not supported for complex tensors.",
                           .exact_second = true,
                           .through_float32 = true,
                           .grad_fn = "Rad2DegBackward0",
                           .doc = "Radians converted to degrees: input * 180 / pi."};
  template <class T>
  static T forward(T a, T factor) {
    return a * factor;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * g.b();
  }
};

struct reciprocal {
  static constexpr Row row{.signature = "reciprocal(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "reciprocal",
                           .inplace_functions = "reciprocal_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "reciprocal_cpu",
                           .domain = "(0, inf)",
                           .grad_fn = "ReciprocalBackward0",
                           .doc = "1 / input."};
  template <class T>
  static T forward(T a) {
    return T(1) / a;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return -g.grad() * conj(g.result() * g.result());
  }
};

struct square {
  static constexpr Row row{.signature = "square(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "square",
                           .inplace_functions = "square_",
                           .promotion = Promotion::bool_to_int,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "pow",
                           .grad_fn = "PowBackward0",
                           .doc = "input * input."};
  template <class T>
  static T forward(T a) {
    return a * a;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (conj(g.a()) * 2);
  }
};

struct sqrt {
  static constexpr Row row{.signature = "sqrt(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "sqrt",
                           .inplace_functions = "sqrt_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "sqrt_cpu",
                           .vectors = true,
                           .domain = "(0, inf)",
                           .grad_fn = "SqrtBackward0",
                           .doc = "The square root of input."};
  template <class T>
  static T forward(T a) {
    return square_root(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / (conj(g.result()) * 2);
  }
};

struct exp {
  static constexpr Row row{.signature = "exp(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "exp",
                           .inplace_functions = "exp_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "exp_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "ExpBackward0",
                           .doc = "e to the power of input."};
  template <class T>
  static T forward(T a) {
    return exponential(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(g.result());
  }
};

struct tanh {
  static constexpr Row row{.signature = "tanh(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "tanh",
                           .inplace_functions = "tanh_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "tanh_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "TanhBackward0",
                           .doc = "The hyperbolic tangent of input."};
  template <class T>
  static T forward(T a) {
    return hyperbolic_tangent(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(1 - g.result() * g.result());
  }
};

struct log {
  static constexpr Row row{.signature = "log(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "log",
                           .inplace_functions = "log_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "log_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "LogBackward0",
                           .doc = "The natural logarithm of input."};
  template <class T>
  static T forward(T a) {
    return logarithm(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(g.a());
  }
};

struct rsqrt {
  static constexpr Row row{.signature = "rsqrt(Tensor self, *, Tensor out=None) -> Tensor",
                           .inplace_functions = "rsqrt_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "rsqrt_cpu",
                           .ulp = 1,
                           .domain = "(0, inf)",
                           .grad_fn = "RsqrtBackward0",
                           .doc = "1 / sqrt(input)."};
  template <class T>
  static T forward(T a) {
    return T(1) / square_root(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(g.result() * g.result() * g.result()) * -0.5;
  }
};

struct addcmul {
  static constexpr Row row{
      .signature = "addcmul(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None) -> Tensor",
      .python =
          "(Tensor self, Scalar value, Tensor tensor1, Tensor tensor2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None)",
      .dtypes = kNoBool | kComplex,
      .kernel_name = "addcmul_cpu_out",
      .parameters = Parameters::factor,
      .beside_numbers = true,
      .grad_fn = "AddcmulBackward0",
      .doc = "input + value * tensor1 * tensor2."};
  template <class T>
  static T forward(T a, T b, T c, T value) {
    return mul_add(value * b, c, a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.c() * g.d());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad() * conj(g.b() * g.d());
  }
};

struct addcdiv {
  static constexpr Row row{
      .signature = "addcdiv(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None) -> Tensor",
      .python =
          "(Tensor self, Scalar value, Tensor tensor1, Tensor tensor2, *, Tensor out=None)|deprecated\n"
          "(Tensor self, Tensor tensor1, Tensor tensor2, *, Scalar value=1, Tensor out=None)",
      .by_hand = true,
      .dtypes = kInexact,
      .kernel_name = "addcdiv_cpu_out",
      .parameters = Parameters::factor,
      .beside_numbers = true,
      .grad_fn = "AddcdivBackward0",
      .doc = "input + value * tensor1 / tensor2."};
  template <class T>
  static T forward(T a, T b, T c, T value) {
    return a + value * b / c;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad();
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(1 / g.c() * g.d());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return -g.grad() * conj(g.b() * g.d() / (g.c() * g.c()));
  }
};

struct lerp {
  static constexpr Row row{
      .signature = "lerp(Tensor self, Tensor end, Tensor|Scalar weight, *, Tensor out=None) -> Tensor",
      .by_hand = true,
      .one_dtype = true,
      .dtypes = kInexact,
      .kernel_name = "lerp_kernel_tensor",
      .strict_out = true,
      .grad_fn = "LerpBackward1",
      .doc = "Linear interpolation: input + weight * (end - input)."};
  template <class T>
  static T forward(T a, T end, T weight) {
    return between(a, end, weight);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(1 - g.c());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.c());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return g.grad() * conj(g.b() - g.a());
  }
};

/// lerp with a number as weight.
struct lerp_scalar {
  static constexpr Row row{.name = "lerp",
                           .dtypes = kInexact,
                           .kernel_name = "lerp_kernel_scalar",
                           .parameters = Parameters::factor,
                           .beside_numbers = true,
                           .grad_fn = "LerpBackward0"};
  template <class T>
  static T forward(T a, T end, T weight) {
    return between(a, end, weight);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj(1 - g.c());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * conj(g.c());
  }
};

struct hypot {
  static constexpr Row row{.signature = "hypot(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .array_api = "hypot",
                           .dtypes = kFloats,
                           .kernel_name = "hypot_cpu",
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "HypotBackward0",
                           .doc = "sqrt(input * input + other * other), without overflow of the squares."};
  template <class T>
  static T forward(T a, T b) {
    return hypotenuse(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (g.a() / g.result());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * (g.b() / g.result());
  }
};

struct frexp {
  static constexpr Row row{
      .signature = "frexp(Tensor self, *, Tensor[2] out=None) -> (Tensor mantissa, Tensor exponent)",
      .numpy = "frexp",
      .next_result = Op::frexp_exponent,
      .dtypes = kFloats,
      .refuses_others = "torch.frexp() only supports floating-point dtypes",
      .through_float32 = true,
      .grad_fn = "FrexpBackward0",
      .doc = "input as mantissa * 2 ** exponent, with the magnitude of mantissa in [0.5, 1)."};
  template <class T>
  static T forward(T a) {
    return mantissa_of(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / g.result(1).exp2();
  }
};

struct frexp_exponent {
  static constexpr Row row{.promotion = Promotion::to_int32, .dtypes = kFloats, .through_float32 = true};
  template <class T>
  static T forward(T a) {
    return exponent_of(a);
  }
};

struct conj_physical {
  static constexpr Row row{.signature = "conj_physical(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "conjugate",
                           .inplace_functions = "conj_physical_",
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "conj_cpu",
                           .strict_out = true,
                           .keeps_real = true,
                           .grad_fn = "ConjPhysicalBackward0",
                           .grad_fn_inplace = "ConjPhysicalBackward1",
                           .doc = "The complex conjugate. A real input is returned itself."};
  template <class T>
  static T forward(T a) {
    return conjugated(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return conjugated(g.grad());
  }
};
