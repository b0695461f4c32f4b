// ops: activations of neural networks. In Python most are functions of tenon.nn.functional.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct relu {
  static constexpr Row row{.signature = "relu(Tensor self) -> Tensor",
                           .inplace_functions = "relu_",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_min_scalar_cpu",
                           .refuses_bool = "Boolean inputs not supported for relu",
                           .refuses_complex = "clamp is not supported for complex types",
                           .complex_lacks_code = true,
                           .on_bits = true,
                           .grad_fn = "ReluBackward0",
                           .flat_gradient = true,
                           .doc = "Every element raised to 0; NaN stays."};
  template <class T>
  static T forward(T a) {
    return raised(a, T(0));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.result() <= 0, 0, g.grad());
  }
};

/// Its kernels are those of hardtanh.
struct relu6 {
  static constexpr Row row{.signature = "relu6(Tensor self) -> Tensor",
                           .module = "nn.functional",
                           .by_hand = true,
                           .method = false,
                           .inplace = true,
                           .dtypes = 0,
                           .accepts = kNoBool,
                           .doc = "Every element limited to the range from 0 to 6; NaN stays."};
  template <class T>
  static T forward(T a) {
    return bounded(a, T(0), T(6));
  }
};

struct hardtanh {
  static constexpr Row row{
      .signature = "hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1, *, Tensor out=None) -> Tensor",
      .module = "nn.functional",
      .by_hand = true,
      .method = false,
      .inplace = true,
      .dtypes = kNoBool,
      .accepts = kNoBool & ~set_of(uint8),
      .kernel_name = "clamp_scalar_cpu",
      .refuses_bool = "Bool inputs not supported for hardtanh",
      .refuses_complex = "clamp is not supported for complex types",
      .complex_lacks_code = true,
      .parameters = Parameters::bounds,
      .strict_out = true,
      .through_float32 = true,
      .grad_fn = "HardtanhBackward0",
      .flat_gradient = true,
      .doc = "Every element limited to the range from min_val to max_val; NaN stays."};
  template <class T>
  static T forward(T a, T low, T high) {
    return bounded(a, low, high);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((g.a() <= g.b()) | (g.c() <= g.a()), 0, g.grad());
  }
};

struct leaky_relu {
  static constexpr Row row{
      .signature = "leaky_relu(Tensor self, Scalar negative_slope=0.01, *, Tensor out=None) -> Tensor",
      .module = "nn.functional",
      .method = false,
      .inplace = true,
      .dtypes = kFloats,
      .kernel_name = "leaky_relu_cpu",
      .parameters = Parameters::constants,
      .strict_out = true,
      .beside_numbers = true,
      .grad_fn = "LeakyReluBackward0",
      .grad_fn_inplace = "LeakyReluBackward1",
      .flat_gradient = true,
      .doc = "The elements above 0, and the others times negative_slope."};
  template <class T>
  static T forward(T a, T slope) {
    return choose(T(0) < a, a, a * slope);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(0 < g.a(), g.grad(), g.grad() * g.b());
  }
};

/// In training each slope is drawn, and PyTorch multiplies by it: that is `rrelu_drawn`.
struct rrelu {
  static constexpr Row row{
      .signature =
          "rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False) -> Tensor",
      .python =
          "(Tensor self, Scalar lower=0.125, Scalar upper=0.3333333333333333, bool training=False, Generator "
          "generator=None)",
      .values = "training: False",
      .by_hand = true,
      .method = false,
      .inplace = true,
      .dtypes = kFloats,
      .kernel_name = "leaky_relu_cpu",
      .parameters = Parameters::constants,
      .gives_row_major = true,
      .grad_fn = "RreluWithNoiseBackward0",
      .grad_fn_inplace = "RreluWithNoiseBackward1",
      .flat_gradient = true,
      .doc =
          "The elements above 0, and the others times a slope: in training each its own, drawn between lower and "
          "upper, otherwise the mean of these."};
  template <class T>
  static T forward(T a, T slope) {
    return choose(T(0) < a, a, a * slope);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(0 < g.a(), g.grad(), g.grad() * g.b());
  }
};

struct rrelu_drawn {
  static constexpr Row row{.name = "rrelu",
                           .dtypes = kFloats,
                           .kernel_name = "rrelu_with_noise_out_cpu",
                           .gives_row_major = true,
                           .through_float32 = true,
                           .grad_fn = "RreluWithNoiseBackward0",
                           .grad_fn_inplace = "RreluWithNoiseBackward1",
                           .flat_gradient = true};
  template <class T>
  static T forward(T a, T slope) {
    return a * slope;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * g.b();
  }
};

/// With a slope for each channel, which plain::prelu brings into the shape of `self`.
struct prelu_kernel {
  static constexpr Row row{.name = "prelu",
                           .dtypes = kFloats,
                           .kernel_name = "prelu_cpu",
                           .through_float32 = true,
                           .grad_fn = "PreluKernelBackward0",
                           .flat_gradient = true};
  template <class T>
  static T forward(T a, T slope) {
    return choose(T(0) < a, a, slope * a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(0 < g.a(), g.grad(), g.b() * g.grad());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(0 < g.a(), 0, g.a() * g.grad());
  }
};

struct prelu {
  static constexpr Row row{.signature = "prelu(Tensor self, Tensor weight) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "ij,j",
                           .one_dtype = true,
                           .dtypes = kFloats,
                           .kernel_name = "prelu_cpu",
                           .doc =
                               "The elements above 0, and the others times weight: one number, or one for each place "
                               "along the second dim."};
};

/// `scale` times: the elements above 0, and `alpha` * (exp(input_scale * input) - 1) of the others.
struct elu {
  static constexpr Row row{
      .signature =
          "elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1, *, Tensor out=None) -> Tensor",
      .module = "nn.functional",
      .method = false,
      .inplace = true,
      .dtypes = kFloats,
      .kernel_name = "elu_cpu",
      .parameters = Parameters::constants,
      .strict_out = true,
      .beside_numbers = true,
      .vectors = true,
      .ulp = 4,
      .grad_fn = "EluBackward0",
      .grad_fn_inplace = "EluBackward1",
      .doc = "The elements above 0, and alpha * (exp(input) - 1) of the others."};
  template <class T>
  static T forward(T a, T alpha, T scale, T input_scale) {
    const auto below = a < T(0);
    return choose(below, exponential_less_1_where(below, a * input_scale) * (alpha * scale), a * scale);
  }
  /// The exponential of what is above 0 might be infinite, and its derivative NaN.
  template <class G>
  static auto grad_a(const G& g) {
    const auto slope = g.d() * g.b() * g.c();
    const auto below = choose(g.a() <= 0, g.a(), 0);
    return choose(g.a() <= 0, g.grad() * (exponential(below * g.d()) * slope), g.grad() * g.c());
  }
};

/// Its kernels are those of elu.
struct selu {
  static constexpr Row row{
      .signature = "selu(Tensor self) -> Tensor",
      .by_hand = true,
      .method = false,
      .inplace = true,
      .dtypes = 0,
      .accepts = kFloats,
      .ulp = 4,
      .doc = "1.0507... times: the elements above 0, and 1.6732... * (exp(input) - 1) of the others."};
  template <class T>
  static T forward(T a) {
    return choose(a < T(0), exponential_less_1(a) * T(1.7580993408473768), a * T(1.0507009873554805));
  }
};

/// Its kernels are those of elu, with a scale of 1.
struct celu : elu {
  static constexpr Row row{.signature = "celu(Tensor self, Scalar alpha=1) -> Tensor",
                           .by_hand = true,
                           .method = false,
                           .inplace = true,
                           .dtypes = kFloats,
                           .kernel_name = "elu_cpu",
                           .parameters = Parameters::constants,
                           .beside_numbers = true,
                           .vectors = true,
                           .ulp = 4,
                           .grad_fn = "CeluBackward0",
                           .grad_fn_inplace = "CeluBackward1",
                           .doc = "The elements above 0, and alpha * (exp(input / alpha) - 1) of the others."};
};

struct silu {
  static constexpr Row row{.signature = "silu(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .method = false,
                           .inplace = true,
                           .dtypes = kInexact,
                           .kernel_name = "silu_cpu",
                           .strict_out = true,
                           .vectors = true,
                           .ulp = 3,
                           .through_float32 = true,
                           .grad_fn = "SiluBackward0",
                           .doc = "input / (1 + exp(-input))."};
  template <class T>
  static T forward(T a) {
    return times_logistic(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto share = logistic(g.a());
    return g.grad() * conj(share * (1 + g.a() * (1 - share)));
  }
};

/// Where PyTorch adds 1 to an error function near -1, its result is 0 or has few correct digits; this one's has all.
struct gelu {
  static constexpr Row row{.signature = "gelu(Tensor self, *, str approximate='none', Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .values = "approximate: none tanh",
                           .by_hand = true,
                           .method = false,
                           .inplace = true,
                           .dtypes = kFloats,
                           .kernel_name = "GeluKernelImpl",
                           .strict_out = true,
                           .vectors = true,
                           .ulp = 6,
                           .through_float32 = true,
                           .grad_fn = "GeluBackward0",
                           .doc = "input times the share of the standard normal distribution below it."};
  template <class T>
  static T forward(T a) {
    return times_normal_distribution(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto share = error_function_rest(g.a() * -kSqrtHalf) * 0.5;
    const auto density = exponential(g.a() * g.a() * -0.5) * (kSqrt2ByPi / 2);
    return g.grad() * (share + g.a() * density);
  }
};

/// 0.5 * a * (1 + tanh(u)) with u = sqrt(2 / pi) * (a + 0.044715 * a^3).
struct gelu_tanh {
  static constexpr Row row{.name = "gelu",
                           .dtypes = kFloats,
                           .kernel_name = "GeluKernelImpl",
                           .strict_out = true,
                           .vectors = true,
                           .ulp = 6,
                           .through_float32 = true,
                           .grad_fn = "GeluBackward0"};
  template <class T>
  static T forward(T a) {
    return a / (T(1) + exponential(a * mul_add(a * a, T(-2 * kSqrt2ByPi * 0.044715), T(-2 * kSqrt2ByPi))));
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto square = g.a() * g.a();
    const auto share = logistic(g.a() * (square * (2 * kSqrt2ByPi * 0.044715) + 2 * kSqrt2ByPi));
    const auto slope = square * (6 * kSqrt2ByPi * 0.044715) + 2 * kSqrt2ByPi;
    return g.grad() * (share + g.a() * (share * (1 - share)) * slope);
  }
};

/// tanh(log(1 + e)) = (e^2 + 2 e) / (e^2 + 2 e + 2), e = exp(a); 1 where a is above 20.
struct mish {
  static constexpr Row row{.signature = "mish(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .method = false,
                           .inplace = true,
                           .dtypes = kFloats,
                           .kernel_name = "mish_cpu",
                           .strict_out = true,
                           .vectors = true,
                           .ulp = 6,
                           .through_float32 = true,
                           .grad_fn = "MishBackward0",
                           .doc = "input * tanh(log(1 + exp(input)))."};
  template <class T>
  static T forward(T a) {
    const T e = exponential(choose(a < T(20), a, T(20)));
    const T more = e * (e + T(2));
    return a * (more / (more + T(2)));
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto bend = hyperbolic_tangent(softened(g.a()));
    return g.grad() * (bend + g.a() * logistic(g.a()) * (1 - bend * bend));
  }
};

struct softplus {
  static constexpr Row row{
      .signature = "softplus(Tensor self, Scalar beta=1, Scalar threshold=20, *, Tensor out=None) -> Tensor",
      .module = "nn.functional",
      .method = false,
      .inplace = false,
      .dtypes = kFloats,
      .kernel_name = "softplus_cpu",
      .parameters = Parameters::constants,
      .strict_out = true,
      .vectors = true,
      .ulp = 4,
      .grad_fn = "SoftplusBackward0",
      .doc = "log(1 + exp(beta * input)) / beta, and input where beta * input is above threshold."};
  template <class T>
  static T forward(T a, T beta, T limit) {
    const T scaled = a * beta;
    return choose(limit < scaled, a, softened(scaled) / beta);
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto scaled = g.a() * g.b();
    return choose(g.c() < scaled, g.grad(), g.grad() * logistic(scaled));
  }
};

struct logsigmoid {
  static constexpr Row row{.signature = "logsigmoid(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .method = false,
                           .inplace = false,
                           .dtypes = kFloats,
                           .kernel_name = "log_sigmoid_cpu",
                           .strict_out = true,
                           .gives_row_major = true,
                           .vectors = true,
                           .ulp = 4,
                           .through_float32 = true,
                           .grad_fn = "LogSigmoidBackward0",
                           .doc = "log(1 / (1 + exp(-input)))."};
  template <class T>
  static T forward(T a) {
    return logistic_logarithm(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * logistic(-g.a());
  }
};

struct hardsigmoid {
  static constexpr Row row{.signature = "hardsigmoid(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .method = false,
                           .inplace = true,
                           .dtypes = kFloats,
                           .kernel_name = "hardsigmoid_cpu",
                           .strict_out = true,
                           .grad_fn = "HardsigmoidBackward0",
                           .flat_gradient = true,
                           .doc = "input + 3, limited to the range from 0 to 6, over 6."};
  template <class T>
  static T forward(T a) {
    return bounded(a + T(3), T(0), T(6)) / T(6);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((-3 < g.a()) & (g.a() < 3), g.grad() * (1.0 / 6), 0);
  }
};

struct hardswish {
  static constexpr Row row{.signature = "hardswish(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .method = false,
                           .inplace = true,
                           .dtypes = kFloats,
                           .kernel_name = "hardswish_cpu",
                           .strict_out = true,
                           .grad_fn = "HardswishBackward0",
                           .doc = "input times (input + 3, limited to the range from 0 to 6), over 6."};
  template <class T>
  static T forward(T a) {
    return a * bounded(a + T(3), T(0), T(6)) / T(6);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() <= -3, 0, choose(g.a() < 3, g.grad() * (g.a() / 3 + 0.5), g.grad()));
  }
};

struct hardshrink {
  static constexpr Row row{.signature = "hardshrink(Tensor self, Scalar lambd=0.5, *, Tensor out=None) -> Tensor",
                           .inplace = false,
                           .dtypes = kFloats,
                           .kernel_name = "hardshrink_cpu",
                           .parameters = Parameters::numbers,
                           .strict_out = true,
                           .through_float32 = true,
                           .grad_fn = "HardshrinkBackward0",
                           .flat_gradient = true,
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

struct softshrink {
  static constexpr Row row{.signature = "softshrink(Tensor self, Scalar lambd=0.5, *, Tensor out=None) -> Tensor",
                           .module = "nn.functional",
                           .by_hand = true,
                           .method = false,
                           .inplace = false,
                           .dtypes = kFloats,
                           .kernel_name = "softshrink_check",
                           .parameters = Parameters::numbers,
                           .strict_out = true,
                           .through_float32 = true,
                           .grad_fn = "SoftshrinkBackward0",
                           .flat_gradient = true,
                           .doc = "The elements moved towards 0 by lambd, and 0 where they are from -lambd to lambd."};
  template <class T>
  static T forward(T a, T lambd) {
    return choose(lambd < a, a - lambd, choose(a < -lambd, a + lambd, a * T(0)));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((-g.b() <= g.a()) & (g.a() <= g.b()), 0, g.grad());
  }
};

struct threshold {
  static constexpr Row row{
      .signature = "threshold(Tensor self, Scalar threshold, Scalar value, *, Tensor out=None) -> Tensor",
      .by_hand = true,
      .method = false,
      .inplace = true,
      .dtypes = kNoBool,
      .kernel_name = "threshold_cpu",
      .parameters = Parameters::constants,
      .beside_numbers = true,
      .grad_fn = "ThresholdBackward0",
      .grad_fn_inplace = "ThresholdBackward1",
      .flat_gradient = true,
      .doc = "The elements above threshold, and value instead of the others; NaN stays."};
  template <class T>
  static T forward(T a, T limit, T value) {
    return choose(a <= limit, value, a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() <= g.b(), 0, g.grad());
  }
};

// Compositions, differentiated through the functions that they call.

struct tanhshrink {
  static constexpr Row row{.signature = "tanhshrink(Tensor self) -> Tensor",
                           .module = "nn.functional",
                           .kind = Kind::algorithm,
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kAllDtypes & ~1u,
                           .ulp = 4,
                           .doc = "input - tanh(input)."};
};

struct softsign {
  static constexpr Row row{.signature = "softsign(Tensor self) -> Tensor",
                           .module = "nn.functional",
                           .kind = Kind::algorithm,
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 4,
                           .doc = "input / (1 + abs(input))."};
};

/// a * sigmoid(b), of which plain::glu makes the halves.
struct glu_halves {
  static constexpr Row row{.name = "glu",
                           .dtypes = kFloats,
                           .kernel_name = "glu_cpu",
                           .vectors = true,
                           .ulp = 3,
                           .through_float32 = true,
                           .grad_fn = "GluBackward0"};
  template <class T>
  static T forward(T a, T b) {
    return a / (T(1) + exponential(-b));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * logistic(g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    const auto share = logistic(g.b());
    return g.grad() * g.a() * (share * (1 - share));
  }
};

struct glu {
  static constexpr Row row{.signature = "glu(Tensor self, int dim=-1) -> Tensor",
                           .module = "nn.functional",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kFloats,
                           .kernel_name = "glu_cpu",
                           .ulp = 4,
                           .doc = "The first half along dim times the sigmoid of the second half."};
};
