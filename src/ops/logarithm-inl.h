// ops: sums and products with logarithms, and the logistic function.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct sigmoid {
  static constexpr Row row{.signature = "sigmoid(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_expit",
                           .inplace_functions = "sigmoid_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "sigmoid_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .through_float32 = true,
                           .grad_fn = "SigmoidBackward0",
                           .doc = "The logistic function: 1 / (1 + exp(-input))."};
  template <class T>
  static T forward(T a) {
    return logistic(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * conj((1 - g.result()) * g.result());
  }
};

/// A negative eps limits nothing: beyond eps and 1 - eps the result is NaN without it, too.
struct logit {
  static constexpr Row row{.signature = "logit(Tensor self, float? eps=None, *, Tensor out=None) -> Tensor",
                           .alias = "special_logit",
                           .by_hand = true,
                           .inplace_functions = "logit_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "logit_cpu",
                           .parameters = Parameters::numbers,
                           .stepwise = true,
                           .vectors = true,
                           .ulp = 2,
                           .domain = "(0, 1)",
                           .grad_fn = "LogitBackward0",
                           .doc =
                               "log(input / (1 - input)), the inverse of sigmoid. With eps, input is limited to the "
                               "range from eps to 1 - eps first."};
  template <class T>
  static T forward(T a, T eps) {
    return logarithm_of_odds(a, eps);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_logit(g.grad(), g.a(), g.b());
  }
};

struct logaddexp {
  static constexpr Row row{.signature = "logaddexp(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .array_api = "logaddexp",
                           .inplace = false,
                           .dtypes = kInexact,
                           .kernel_name = "logaddexp_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "LogaddexpBackward0",
                           .doc = "log(exp(input) + exp(other)), without overflow of the powers."};
  template <class T>
  static T forward(T a, T b) {
    return logarithm_of_sum(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / conj(exponential(g.b() - g.a()) + 1);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() / conj(exponential(g.a() - g.b()) + 1);
  }
};

struct logaddexp2 {
  static constexpr Row row{.signature = "logaddexp2(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "logaddexp2",
                           .inplace = false,
                           .dtypes = kFloats,
                           .kernel_name = "logaddexp2_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "Logaddexp2Backward0",
                           .doc = "log2(2 ** input + 2 ** other), without overflow of the powers."};
  template <class T>
  static T forward(T a, T b) {
    return logarithm_to_2_of_sum(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / (exponential_of_2(g.b() - g.a()) + 1);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() / (exponential_of_2(g.a() - g.b()) + 1);
  }
};

struct xlogy {
  static constexpr Row row{.signature = "xlogy(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .alias = "special_xlogy",
                           .python =
                               "(Tensor self, Tensor other, *, Tensor out=None)\n"
                               "(Scalar self, Tensor other, *, Tensor out=None)\n"
                               "(Tensor self, Scalar other, *, Tensor out=None)",
                           .inplace_functions = "xlogy_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "xlogy_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "XlogyBackward0",
                           .grad_fn_of_number = "XlogyBackward2",
                           .grad_fn_of_first_number = "XlogyBackward1",
                           .doc = "input * log(other); NaN where other is NaN, otherwise 0 where input is 0."};
  template <class T>
  static T forward(T a, T b) {
    return times_logarithm(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((g.a() == 0) & (g.b() <= 0), 0, times_logarithm(g.grad(), g.b()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * g.a() / g.b();
  }
};

struct sinc {
  static constexpr Row row{.signature = "sinc(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_sinc",
                           .numpy = "sinc",
                           .inplace_functions = "sinc_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .kernel_name = "sinc_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "SincBackward0",
                           .doc = "sin(pi * input) / (pi * input); 1 at 0."};
  template <class T>
  static T forward(T a) {
    return sine_by_angle(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_sinc(g.grad(), g.a());
  }
};
