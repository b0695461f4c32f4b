// ops: losses, which are functions of tenon.nn.functional in Python. Those with a formula compute one element each.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct squared_error {
  static constexpr Row row{.name = "mse_loss",
                           .dtypes = kFloats,
                           .kernel_name = "mse_cpu",
                           .through_float32 = true,
                           .grad_fn = "MseLossBackward0"};
  template <class T>
  static T forward(T a, T b) {
    const T error = a - b;
    return error * error;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * ((g.a() - g.b()) * 2);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * ((g.b() - g.a()) * 2);
  }
};

struct mse_loss {
  static constexpr Row row{
      .signature = "mse_loss(Tensor self, Tensor target, str reduction='mean', Tensor? weight=None) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "mse_cpu",
      .ulp = 4,
      .grad_fn = "MseLossBackward0",
      .composite_if = "weight.defined()",
      .doc = "The squares of input - target: their mean, their sum, or each; times weight if it is given."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_loss(g, Op::squared_error, 0, g.a(), g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_loss(g, Op::squared_error, 1, g.a(), g.b());
  }
};

struct l1_loss {
  static constexpr Row row{
      .signature = "l1_loss(Tensor self, Tensor target, str reduction='mean', Tensor? weight=None) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum",
      .method = false,
      .dtypes = kInexact,
      .complex_to_real = true,
      .ulp = 4,
      .doc = "The magnitudes of input - target: their mean, their sum, or each; times weight if it is given."};
};

struct smooth_l1_error {
  static constexpr Row row{.name = "smooth_l1_loss",
                           .dtypes = kFloats,
                           .kernel_name = "smooth_l1_cpu",
                           .parameters = Parameters::factor,
                           .grad_fn = "SmoothL1LossBackward0"};
  template <class T>
  static T forward(T a, T b, T beta) {
    const T size = magnitude(a - b);
    return choose(size < beta, T(0.5) * size * size / beta, size - T(0.5) * beta);
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto error = g.a() - g.b();
    return choose(error <= -g.c(), -g.grad(), choose(g.c() <= error, g.grad(), g.grad() * error / g.c()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    const auto error = g.b() - g.a();
    return choose(error <= -g.c(), -g.grad(), choose(g.c() <= error, g.grad(), g.grad() * error / g.c()));
  }
};

struct smooth_l1_loss {
  static constexpr Row row{
      .signature = "smooth_l1_loss(Tensor self, Tensor target, str reduction='mean', float beta=1.0) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum; beta: 1 0.5 0 3",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "smooth_l1_cpu",
      .ulp = 4,
      .grad_fn = "SmoothL1LossBackward0",
      .composite_if = "beta == 0",
      .doc =
          "Where |input - target| is below beta its square over 2 beta, elsewhere itself less beta / 2: their mean, "
          "their sum, or each."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_loss(g, Op::smooth_l1_error, 0, g.a(), g.b(), g.number("beta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_loss(g, Op::smooth_l1_error, 1, g.a(), g.b(), g.number("beta", 1));
  }
};

struct huber_error {
  static constexpr Row row{.name = "huber_loss",
                           .dtypes = kFloats,
                           .kernel_name = "huber_cpu",
                           .parameters = Parameters::factor,
                           .grad_fn = "HuberLossBackward0"};
  template <class T>
  static T forward(T a, T b, T delta) {
    const T size = magnitude(a - b);
    return choose(size < delta, T(0.5) * size * size, delta * (size - T(0.5) * delta));
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto error = g.a() - g.b();
    return choose(error <= -g.c(), g.grad() * -g.c(), choose(g.c() <= error, g.grad() * g.c(), g.grad() * error));
  }
  template <class G>
  static auto grad_b(const G& g) {
    const auto error = g.b() - g.a();
    return choose(error <= -g.c(), g.grad() * -g.c(), choose(g.c() <= error, g.grad() * g.c(), g.grad() * error));
  }
};

struct huber_loss {
  static constexpr Row row{
      .signature =
          "huber_loss(Tensor self, Tensor target, str reduction='mean', float delta=1.0, Tensor? "
          "weight=None) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum; delta: 1 0.5 3",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "huber_cpu",
      .as_input = true,
      .ulp = 4,
      .grad_fn = "HuberLossBackward0",
      .composite_if = "weight.defined()",
      .doc =
          "Where |input - target| is below delta half its square, elsewhere delta * (itself - delta / 2): their mean, "
          "their sum, or each; times weight if it is given."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_loss(g, Op::huber_error, 0, g.a(), g.b(), g.number("delta", 1));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_loss(g, Op::huber_error, 1, g.a(), g.b(), g.number("delta", 1));
  }
};

/// Both logarithms are at least -100.
struct binary_cross_entropy_element {
  static constexpr Row row{.name = "binary_cross_entropy",
                           .dtypes = kFloats,
                           .kernel_name = "binary_cross_entropy",
                           .vectors = true,
                           .ulp = 4,
                           .through_float32 = true,
                           .grad_fn = "BinaryCrossEntropyBackward0"};
  template <class T>
  static T forward(T a, T b) {
    const T absent = larger(logarithm_of_1_more(-a), T(-100)), present = larger(logarithm(a), T(-100));
    return (b - T(1)) * absent - b * present;
  }
  template <class G>
  static auto grad_a(const G& g) {
    const auto spread = (1 - g.a()) * g.a();
    return g.grad() * (g.a() - g.b()) / choose(spread < 1e-12, 1e-12, spread);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.grad() * (logarithm_of_1_more(-g.a()) - logarithm(g.a()));
  }
};

struct binary_cross_entropy {
  static constexpr Row row{
      .signature =
          "binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean') -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum",
      .method = false,
      .one_dtype = true,
      .dtypes = kFloats,
      .kernel_name = "binary_cross_entropy",
      .ulp = 4,
      .domain = "(0, 1)",
      .grad_fn = "BinaryCrossEntropyBackward0",
      .doc =
          "-(target * log(input) + (1 - target) * log(1 - input)), each logarithm at least -100: their mean, their "
          "sum, or each; times weight if it is given."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_loss(g, Op::binary_cross_entropy_element, 0, g.a(), g.b(), {}, g.c());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_loss(g, Op::binary_cross_entropy_element, 1, g.a(), g.b(), {}, g.c());
  }
};

/// (1 - b) a - log(sigmoid(a)).
struct logits_cross_entropy {
  static constexpr Row row{.name = "binary_cross_entropy_with_logits",
                           .dtypes = kFloats,
                           .kernel_name = "log_sigmoid_cpu",
                           .vectors = true,
                           .ulp = 4,
                           .through_float32 = true,
                           .grad_fn = "BinaryCrossEntropyWithLogitsBackward0"};
  template <class T>
  static T forward(T a, T b) {
    return (T(1) - b) * a - (smaller(a, T(0)) - logarithm_of_1_plus(exponential(-magnitude(a))));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (logistic(g.a()) - g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -(g.grad() * g.a());
  }
};

struct binary_cross_entropy_with_logits {
  static constexpr Row row{
      .signature =
          "binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, str reduction='mean', "
          "Tensor? pos_weight=None) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "log_sigmoid_cpu",
      .ulp = 8,
      .grad_fn = "BinaryCrossEntropyWithLogitsBackward0",
      .composite_if = "pos_weight.defined() || !is_floating_point(target.dtype())",
      .doc =
          "binary_cross_entropy of sigmoid(input), with its first logarithm times pos_weight, computed without "
          "overflow."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_loss(g, Op::logits_cross_entropy, 0, g.a(), g.b(), {}, g.c());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_loss(g, Op::logits_cross_entropy, 1, g.a(), g.b(), {}, g.c());
  }
};

/// 0 where `a` is 0. Its derivative is NaN there, as PyTorch's.
struct times_own_logarithm {
  static constexpr Row row{.name = "kl_div",
                           .dtypes = kFloats,
                           .kernel_name = "xlogy_cpu",
                           .vectors = true,
                           .ulp = 2,
                           .through_float32 = true,
                           .grad_fn = "XlogyBackward0"};
  template <class T>
  static T forward(T a) {
    return choose(a == T(0), T(0), a * logarithm(a));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * (logarithm(g.a()) + g.a() / g.a());
  }
};

struct kl_div {
  static constexpr Row row{
      .signature = "kl_div(Tensor self, Tensor target, str reduction='mean', bool log_target=False) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum",
      .method = false,
      .dtypes = kFloats,
      .ulp = 4,
      .doc =
          "target * (log(target) - input), or exp(target) * (target - input) with log_target: their mean, their sum, "
          "each, or their sum over the size of the first dim (batchmean)."};
};

struct nll_loss {
  static constexpr Row row{
      .signature =
          "nll_loss(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
          "reduction='mean') -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .shapes = "ij,i,j",
      .values = "target: int64; reduction: none mean sum",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "nll_loss_out_frame",
      .ulp = 4,
      .grad_fn = "NllLossBackward0",
      .composite_if = "self.dim() > 2",
      .flat_gradient = true,
      .doc =
          "The negative elements of input at the class along dim 1 that target says, times the weight of that class: "
          "their weighted mean, their sum, or each; 0 where target is ignore_index."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_nll_loss(g, g.a(), g.b(), g.c());
  }
};

struct cross_entropy {
  static constexpr Row row{
      .signature =
          "cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int ignore_index=-100, str "
          "reduction='mean', float label_smoothing=0.0) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .shapes = "ij,i,j",
      .values = "target: int64; reduction: none mean sum; label_smoothing: 0 0.1",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "log_softmax_lastdim_kernel_impl",
      .ulp = 8,
      .doc =
          "nll_loss of the logarithm of the softmax along dim 1; target holds classes, or their probabilities if it "
          "has the shape of input."};
};

struct gaussian_nll_loss {
  static constexpr Row row{
      .signature =
          "gaussian_nll_loss(Tensor self, Tensor target, Tensor|Scalar var, bool full=False, float "
          "eps=1e-06, str reduction='mean') -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum; eps: 1e-6",
      .method = false,
      .dtypes = kFloats,
      .ulp = 8,
      .doc =
          "(log(var) + (input - target)^2 / var) / 2 with var at least eps, and log(2 pi) / 2 more if full: their "
          "mean, their sum, or each."};
};

struct poisson_nll_loss {
  static constexpr Row row{
      .signature =
          "poisson_nll_loss(Tensor self, Tensor target, bool log_input=True, bool full=False, float "
          "eps=1e-08, str reduction='mean') -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum; eps: 1e-8",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kInexact,
      .accepts = kAllDtypes & ~1u,
      .ulp = 8,
      .doc =
          "exp(input) - target * input, or input - target * log(input + eps) without log_input, and Stirling's "
          "approximation of log(target!) more if full: their mean, their sum, or each."};
};

struct hinge_embedding_loss {
  static constexpr Row row{
      .signature = "hinge_embedding_loss(Tensor self, Tensor target, float margin=1.0, str reduction='mean') -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .values = "reduction: none mean sum; margin: 1 0.5",
      .method = false,
      .dtypes = kFloats,
      .as_input = true,
      .ulp = 4,
      .doc =
          "input where target is 1, and margin - input, at least 0, where it is -1: their mean, their sum, or each."};
};

struct margin_ranking_loss {
  static constexpr Row row{.signature =
                               "margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, str "
                               "reduction='mean') -> Tensor",
                           .module = "nn.functional",
                           .kind = Kind::algorithm,
                           .values = "reduction: none mean sum; margin: 0 0.5",
                           .method = false,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kFloats,
                           .accepts = kNoBool,
                           .ulp = 4,
                           .doc = "margin - target * (input1 - input2), at least 0: their mean, their sum, or each."};
};

struct soft_margin_loss {
  static constexpr Row row{.signature = "soft_margin_loss(Tensor self, Tensor target, str reduction='mean') -> Tensor",
                           .module = "nn.functional",
                           .kind = Kind::algorithm,
                           .values = "reduction: none mean sum",
                           .method = false,
                           .dtypes = kInexact,
                           .as_input = true,
                           .ulp = 4,
                           .grad_fn = "SoftMarginLossBackward0",
                           .doc = "log(1 + exp(-target * input)): their mean, their sum, or each."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_soft_margin_loss(g, g.a(), g.b());
  }
};

struct cosine_embedding_loss {
  static constexpr Row row{
      .signature =
          "cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0.0, str "
          "reduction='mean') -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .shapes = "ij,ij,i",
      .values = "reduction: none mean sum; margin: 0 0.5",
      .method = false,
      .promotion = Promotion::int_to_float,
      .dtypes = kFloats,
      .accepts = kAllReal,
      .ulp = 8,
      .doc =
          "1 - cosine of the angle between rows of input1 and input2 where target is 1, and cosine - margin, at least "
          "0, where it is -1: their mean, their sum, or each."};
};
