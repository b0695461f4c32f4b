// ops: special functions, most of them in torch.special.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct erfinv {
  static constexpr Row row{.signature = "erfinv(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_erfinv",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "erfinv_vml_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .domain = "(-1, 1)",
                           .through_float32 = true,
                           .grad_fn = "ErfinvBackward0",
                           .doc = "The inverse error function: the number whose erf is input."};
  template <class T>
  static T forward(T a) {
    return inverse_error_function(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (exponential(g.result() * g.result()) * kSqrtPiBy2);
  }
};

struct special_erfcx {
  static constexpr Row row{
      .signature = "special_erfcx(Tensor self, *, Tensor out=None) -> Tensor",
      .module = "special",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "erfcx_cpu",
      .compiled_once = true,
      .ulp = 2,
      .grad_fn = "SpecialErfcxBackward0",
      .doc = "The scaled complementary error function exp(input * input) * erfc(input), which does not underflow."};
  template <class T>
  static T forward(T a) {
    return erfcx(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (2 * g.a() * g.result() - k2BySqrtPi);
  }
};

struct special_ndtr {
  static constexpr Row row{
      .signature = "special_ndtr(Tensor self, *, Tensor out=None) -> Tensor",
      .module = "special",
      .by_hand = true,
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kFloats,
      .kernel_name = "erf_vml_cpu",
      .vectors = true,
      .ulp = 4,
      .through_float32 = true,
      .grad_fn = "MulBackward1",
      .doc = "The part of the standard normal distribution below input: (1 + erf(input / sqrt(2))) / 2."};
  template <class T>
  static T forward(T a) {
    return normal_distribution(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (exponential(g.a() * g.a() * -0.5) / kSqrt2Pi);
  }
};

struct special_ndtri {
  static constexpr Row row{
      .signature = "special_ndtri(Tensor self, *, Tensor out=None) -> Tensor",
      .module = "special",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "ndtri_cpu",
      .compiled_once = true,
      .ulp = 2,
      .domain = "(0, 1)",
      .grad_fn = "SpecialNdtriBackward0",
      .doc = "The inverse of ndtr: the number below which this part of the standard normal distribution is."};
  template <class T>
  static T forward(T a) {
    return ndtri(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (exponential(g.result() * g.result() * 0.5) * kSqrt2Pi);
  }
};

struct special_log_ndtr {
  static constexpr Row row{.signature = "special_log_ndtr(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "log_ndtr_cpu",
                           .compiled_once = true,
                           .ulp = 2,
                           .grad_fn = "SpecialLogNdtrBackward0",
                           .doc = "The logarithm of ndtr(input), accurate also where that is near 0."};
  template <class T>
  static T forward(T a) {
    return log_ndtr(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() / erfcx(g.a() * -kSqrtHalf) * kSqrt2ByPi;
  }
};

struct special_entr {
  static constexpr Row row{.signature = "special_entr(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "entr_cpu",
                           .vectors = true,
                           .ulp = 1,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "SpecialEntrBackward0",
                           .doc = "The entropy -input * log(input); 0 for 0, and -inf for negative numbers."};
  template <class T>
  static T forward(T a) {
    return entropy(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (-1 - logarithm(g.a()));
  }
};

struct special_xlog1py {
  static constexpr Row row{
      .signature = "special_xlog1py(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Scalar self, Tensor other, *, Tensor out=None)\n"
          "(Tensor self, Scalar other, *, Tensor out=None)",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kFloats,
      .kernel_name = "xlog1py_cpu",
      .vectors = true,
      .ulp = 2,
      .through_float32 = true,
      .grad_fn = "SpecialXlog1PyBackward0",
      .grad_fn_of_number = "SpecialXlog1PyBackward2",
      .grad_fn_of_first_number = "SpecialXlog1PyBackward1",
      .doc = "input * log1p(other): 0 where input is 0, unless other is NaN."};
  template <class T>
  static T forward(T a, T b) {
    return product_or_0(a, b, logarithm_of_1_more(b));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((g.a() == 0) & (g.b() <= -1), 0, g.grad() * logarithm_of_1_more(g.b()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * (g.a() / (g.b() + 1));
  }
};

// --- The gamma function and its kin

struct lgamma {
  static constexpr Row row{.signature = "lgamma(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_gammaln",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "lgamma_vml_cpu",
                           .vectors = true,
                           .ulp = 4,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "LgammaBackward0",
                           .doc = "The logarithm of the magnitude of the gamma function."};
  template <class T>
  static T forward(T a) {
    return log_gamma(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * psi(g.a());
  }
};

struct digamma {
  static constexpr Row row{.signature = "digamma(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_digamma special_psi",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "digamma",
                           .compiled_once = true,
                           .ulp = 8,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "DigammaBackward0",
                           .doc = "The derivative of lgamma."};
  template <class T>
  static T forward(T a) {
    return psi(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * psi_derivative(g.a(), 1);
  }
};

struct polygamma {
  static constexpr Row row{.signature = "polygamma(int n, Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_polygamma",
                           .values = "n: 0 1 2 3 5 10",
                           .by_hand = true,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "polygamma",
                           .parameters = Parameters::numbers,
                           .compiled_once = true,
                           .ulp = 16,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "PolygammaBackward0",
                           .doc = "The n-th derivative of digamma."};
  template <class T>
  static T forward(T a, T b) {
    return psi_derivative(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * psi_derivative(g.a(), g.b() + 1);
  }
};

struct mvlgamma {
  static constexpr Row row{.signature = "mvlgamma(Tensor self, int p, *, Tensor out=None) -> Tensor",
                           .alias = "special_multigammaln",
                           .kind = Kind::algorithm,
                           .values = "p: 1 2 3 5",
                           .by_hand = true,
                           .inplace = true,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .refuses_bool = "The input tensor may not be a boolean tensor.",
                           .ulp = 4,
                           .domain = "(4, inf)",
                           .grad_fn = "MvlgammaBackward0",
                           .doc = "The logarithm of the multivariate gamma function of dimension p."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * sum_of_digammas(g.a(), g.integer("p"));
  }
};

struct special_zeta {
  static constexpr Row row{
      .signature = "special_zeta(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Scalar self, Tensor other, *, Tensor out=None)\n"
          "(Tensor self, Scalar other, *, Tensor out=None)",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "zeta_cpu",
      .compiled_once = true,
      .ulp = 2,
      .domain = "(1, inf)",
      .grad_fn = "SpecialZetaBackward0",
      .grad_fn_of_number = "SpecialZetaBackward2",
      .grad_fn_of_first_number = "SpecialZetaBackward1",
      .doc = "The Hurwitz zeta function: the sum of (k + other) to the power of -input over all k >= 0."};
  template <class T>
  static T forward(T a, T b) {
    return zeta(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return not_implemented(g.grad(), "zeta");
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * -g.a() * zeta(g.a() + 1, g.b());
  }
};

struct igamma {
  static constexpr Row row{.signature = "igamma(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .alias = "special_gammainc",
                           .promotion = Promotion::common,
                           .dtypes = kFloats,
                           .kernel_name = "igamma_cpu",
                           .compiled_once = true,
                           .ulp = 16,
                           .domain = "(0, inf)",
                           .through_float32 = true,
                           .grad_fn = "IgammaBackward0",
                           .doc = "The regularized lower incomplete gamma function of input, from 0 to other."};
  template <class T>
  static T forward(T a, T b) {
    return lower_gamma(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return not_implemented(g.grad(), "igamma: input");
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * exponential((g.a() - 1) * logarithm(g.b()) - g.b() - log_gamma(g.a()));
  }
};

struct igammac {
  static constexpr Row row{
      .signature = "igammac(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .alias = "special_gammaincc",
      .promotion = Promotion::common,
      .dtypes = kFloats,
      .kernel_name = "igammac_cpu",
      .compiled_once = true,
      .ulp = 16,
      .domain = "(0, inf)",
      .through_float32 = true,
      .grad_fn = "IgammacBackward0",
      .doc = "The regularized upper incomplete gamma function of input, from other to infinity: 1 - igamma."};
  template <class T>
  static T forward(T a, T b) {
    return upper_gamma(a, b);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return not_implemented(g.grad(), "igammac: input");
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -g.grad() * exponential((g.a() - 1) * logarithm(g.b()) - g.b() - log_gamma(g.a()));
  }
};

// --- Bessel and Airy functions

struct i0 {
  static constexpr Row row{.signature = "i0(Tensor self, *, Tensor out=None) -> Tensor",
                           .alias = "special_i0",
                           .numpy = "i0",
                           .inplace_functions = "i0_",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "i0_vml_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "I0Backward0",
                           .doc = "The modified Bessel function of the first kind of order 0."};
  template <class T>
  static T forward(T a) {
    return bessel_i0(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * i1(g.a());
  }
};

struct special_i0e {
  static constexpr Row row{.signature = "special_i0e(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "i0e_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "SpecialI0EBackward0",
                           .doc = "exp(-abs(input)) * i0(input)."};
  template <class T>
  static T forward(T a) {
    return i0e(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (i1e(g.a()) - signum(g.a()) * g.result());
  }
};

struct special_i1 {
  static constexpr Row row{.signature = "special_i1(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "i1_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "SpecialI1Backward0",
                           .doc = "The modified Bessel function of the first kind of order 1."};
  template <class T>
  static T forward(T a) {
    return i1(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_i1(g.grad(), g.a(), g.result());
  }
};

struct special_i1e {
  static constexpr Row row{.signature = "special_i1e(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .kernel_name = "i1e_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "SpecialI1EBackward0",
                           .doc = "exp(-abs(input)) * i1(input)."};
  template <class T>
  static T forward(T a) {
    return i1e(a);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_i1e(g.grad(), g.a(), g.result());
  }
};

struct special_bessel_j0 {
  static constexpr Row row{.signature = "special_bessel_j0(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "bessel_j0_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The Bessel function of the first kind of order 0."};
  template <class T>
  static T forward(T a) {
    return bessel_j0(a);
  }
};

struct special_bessel_j1 {
  static constexpr Row row{.signature = "special_bessel_j1(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "bessel_j1_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The Bessel function of the first kind of order 1."};
  template <class T>
  static T forward(T a) {
    return bessel_j1(a);
  }
};

struct special_bessel_y0 {
  static constexpr Row row{.signature = "special_bessel_y0(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "bessel_y0_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The Bessel function of the second kind of order 0."};
  template <class T>
  static T forward(T a) {
    return bessel_y0(a);
  }
};

struct special_bessel_y1 {
  static constexpr Row row{.signature = "special_bessel_y1(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "bessel_y1_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The Bessel function of the second kind of order 1."};
  template <class T>
  static T forward(T a) {
    return bessel_y1(a);
  }
};

struct special_modified_bessel_i0 {
  static constexpr Row row{.signature = "special_modified_bessel_i0(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "modified_bessel_i0_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The modified Bessel function of the first kind of order 0."};
  template <class T>
  static T forward(T a) {
    return modified_bessel_i0(a);
  }
};

struct special_modified_bessel_i1 {
  static constexpr Row row{.signature = "special_modified_bessel_i1(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "modified_bessel_i1_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The modified Bessel function of the first kind of order 1."};
  template <class T>
  static T forward(T a) {
    return modified_bessel_i1(a);
  }
};

/// Up to 2, a difference of two numbers: PyTorch's result, too, is up to 12 ulp off.
struct special_modified_bessel_k0 {
  static constexpr Row row{.signature = "special_modified_bessel_k0(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "modified_bessel_k0_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 12,
                           .doc = "The modified Bessel function of the second kind of order 0."};
  template <class T>
  static T forward(T a) {
    return modified_bessel_k0(a);
  }
};

struct special_modified_bessel_k1 {
  static constexpr Row row{.signature = "special_modified_bessel_k1(Tensor self, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "modified_bessel_k1_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The modified Bessel function of the second kind of order 1."};
  template <class T>
  static T forward(T a) {
    return modified_bessel_k1(a);
  }
};

/// Up to 2, a difference of two numbers: PyTorch's result, too, is up to 12 ulp off.
struct special_scaled_modified_bessel_k0 {
  static constexpr Row row{.signature = "special_scaled_modified_bessel_k0(Tensor x, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "scaled_modified_bessel_k0_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 12,
                           .doc = "exp(x) times the modified Bessel function of the second kind of order 0."};
  template <class T>
  static T forward(T a) {
    return scaled_modified_bessel_k0(a);
  }
};

struct special_scaled_modified_bessel_k1 {
  static constexpr Row row{.signature = "special_scaled_modified_bessel_k1(Tensor x, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "scaled_modified_bessel_k1_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "exp(x) times the modified Bessel function of the second kind of order 1."};
  template <class T>
  static T forward(T a) {
    return scaled_modified_bessel_k1(a);
  }
};

struct special_spherical_bessel_j0 {
  static constexpr Row row{.signature = "special_spherical_bessel_j0(Tensor x, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "spherical_bessel_j0_cpu",
                           .vectors = true,
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The spherical Bessel function of the first kind of order 0: sin(x) / x."};
  template <class T>
  static T forward(T a) {
    return spherical_bessel_j0(a);
  }
};

struct special_airy_ai {
  static constexpr Row row{.signature = "special_airy_ai(Tensor x, *, Tensor out=None) -> Tensor",
                           .module = "special",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kWideFloats,
                           .kernel_name = "airy_ai_cpu",
                           .compiled_once = true,
                           .ulp = 1,
                           .doc = "The Airy function Ai."};
  template <class T>
  static T forward(T a) {
    return airy_ai(a);
  }
};

// --- Orthogonal polynomials of degree n

struct special_chebyshev_polynomial_t {
  static constexpr Row row{
      .signature = "special_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "chebyshev_polynomial_t_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The Chebyshev polynomial of the first kind of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return chebyshev_polynomial_t(a, b);
  }
};

struct special_chebyshev_polynomial_u {
  static constexpr Row row{
      .signature = "special_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "chebyshev_polynomial_u_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The Chebyshev polynomial of the second kind of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return chebyshev_polynomial_u(a, b);
  }
};

struct special_chebyshev_polynomial_v {
  static constexpr Row row{
      .signature = "special_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "chebyshev_polynomial_v_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The Chebyshev polynomial of the third kind of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return chebyshev_polynomial_v(a, b);
  }
};

struct special_chebyshev_polynomial_w {
  static constexpr Row row{
      .signature = "special_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "chebyshev_polynomial_w_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The Chebyshev polynomial of the fourth kind of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return chebyshev_polynomial_w(a, b);
  }
};

struct special_shifted_chebyshev_polynomial_t {
  static constexpr Row row{
      .signature =
          "special_shifted_chebyshev_polynomial_t(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "shifted_chebyshev_polynomial_t_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc =
          "The Chebyshev polynomial of the first kind at 2x - 1, of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return shifted_chebyshev_polynomial_t(a, b);
  }
};

struct special_shifted_chebyshev_polynomial_u {
  static constexpr Row row{
      .signature =
          "special_shifted_chebyshev_polynomial_u(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "shifted_chebyshev_polynomial_u_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc =
          "The Chebyshev polynomial of the second kind at 2x - 1, of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return shifted_chebyshev_polynomial_u(a, b);
  }
};

struct special_shifted_chebyshev_polynomial_v {
  static constexpr Row row{
      .signature =
          "special_shifted_chebyshev_polynomial_v(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "shifted_chebyshev_polynomial_v_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc =
          "The Chebyshev polynomial of the third kind at 2x - 1, of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return shifted_chebyshev_polynomial_v(a, b);
  }
};

struct special_shifted_chebyshev_polynomial_w {
  static constexpr Row row{
      .signature =
          "special_shifted_chebyshev_polynomial_w(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "shifted_chebyshev_polynomial_w_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc =
          "The Chebyshev polynomial of the fourth kind at 2x - 1, of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return shifted_chebyshev_polynomial_w(a, b);
  }
};

struct special_hermite_polynomial_h {
  static constexpr Row row{
      .signature = "special_hermite_polynomial_h(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "hermite_polynomial_h_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The physicist's Hermite polynomial of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return hermite_polynomial_h(a, b);
  }
};

struct special_hermite_polynomial_he {
  static constexpr Row row{
      .signature = "special_hermite_polynomial_he(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "hermite_polynomial_he_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The probabilist's Hermite polynomial of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return hermite_polynomial_he(a, b);
  }
};

struct special_laguerre_polynomial_l {
  static constexpr Row row{
      .signature = "special_laguerre_polynomial_l(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "laguerre_polynomial_l_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The Laguerre polynomial of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return laguerre_polynomial_l(a, b);
  }
};

struct special_legendre_polynomial_p {
  static constexpr Row row{
      .signature = "special_legendre_polynomial_p(Tensor|Scalar x, Tensor|Scalar n, *, Tensor out=None) -> Tensor",
      .module = "special",
      .python =
          "(Tensor x, Tensor n, *, Tensor out=None)\n"
          "(Scalar x, Tensor n, *, Tensor out=None)\n"
          "(Tensor x, Scalar n, *, Tensor out=None)",
      .values = "n: degree",
      .promotion = Promotion::int_to_float,
      .dtypes = kWideFloats,
      .kernel_name = "legendre_polynomial_p_cpu",
      .vectors = true,
      .compiled_once = true,
      .ulp = 1,
      .doc = "The Legendre polynomial of degree n, rounded toward 0; 0 for a negative n."};
  template <class T>
  static T forward(T a, T b) {
    return legendre_polynomial_p(a, b);
  }
};

struct special_round : round {
  static constexpr Row row{.signature = "special_round(Tensor self, *, int decimals=0, Tensor out=None) -> Tensor",
                           .module = "special",
                           .by_hand = true,
                           .method = false,
                           .name = "round",
                           .dtypes = kFloats,
                           .kernel_name = "round_vml_cpu",
                           .strict_out = true,
                           .grad_fn = "RoundBackward1",
                           .doc = "round(input, decimals=decimals)."};
};
