// ops: reductions with a State.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

/// The initial state is the lowest value at index 0. That is also the result if no element is higher.
struct argmax {
  static constexpr Row row{
      .signature = "argmax(Tensor self, int? dim=None, bool keepdim=False, *, Tensor out=None) -> Tensor",
      .array_api = "argmax",
      .kind = Kind::fold,
      .by_hand = true,
      .promotion = Promotion::place,
      .dtypes = kUsual,
      .lanes = kWideNumbers,
      .kernel_name = "argmax_cpu",
      .refuses_bool = "argmax(): does not support bool input",
      .refuses_complex = "argmax(): does not support complex input",
      .doc =
          "The index of the largest element along dim, or of all without dim: the first of equal ones. NaN is the "
          "largest."};
  template <class V>
  struct State {
    V value, index;
  };
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.lowest(), at.number(0)};
  }
  /// Takes a later element. `beyond`: it is more extreme than the state.
  template <class V, class At, class Mask>
  static void take(State<V>& s, V value, const Mask& beyond, const At& at) {
    const auto wins = beyond | (is_nan(value) & !is_nan(s.value));
    s = {choose(wins, value, s.value), choose(wins, at.index(), s.index)};
  }
  template <class V, class Mask>
  static void take(State<V>& s, const State<V>& other, const Mask& beyond) {
    const auto tie = (s.value == other.value) | (is_nan(s.value) & is_nan(other.value));
    const auto wins = beyond | (is_nan(other.value) & !is_nan(s.value)) | (tie & (other.index < s.index));
    s = {choose(wins, other.value, s.value), choose(wins, other.index, s.index)};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    take(s, value, s.value < value, at);
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    take(s, other, s.value < other.value);
  }
  template <class V>
  static void shift(State<V>& s, V start) {
    s.index = s.index + start;
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At&) {
    return s.index;
  }
};

/// The initial state is the highest value at index 0.
struct argmin : argmax {
  static constexpr Row row{
      .signature = "argmin(Tensor self, int? dim=None, bool keepdim=False, *, Tensor out=None) -> Tensor",
      .array_api = "argmin",
      .kind = Kind::fold,
      .by_hand = true,
      .promotion = Promotion::place,
      .dtypes = kUsual,
      .lanes = kWideNumbers,
      .kernel_name = "argmin_cpu",
      .refuses_bool = "argmin(): does not support bool input",
      .refuses_complex = "argmin(): does not support complex input",
      .doc =
          "The index of the smallest element along dim, or of all without dim: the first of equal ones. NaN is the "
          "smallest."};
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.highest(), at.number(0)};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    take(s, value, value < s.value, at);
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    take(s, other, other.value < s.value);
  }
};

/// NaN wins.
struct max {
  static constexpr Row row{.signature = "max(Tensor self, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .kernel_name = "max_all",
                           .grad_fn = "MaxBackward1",
                           .doc = "The largest element; NaN if one is NaN."};
  template <class G>
  static auto grad_a(const G& g) {
    return shared_among(g.grad(), g.a(), g.result());
  }
};

struct max_other {
  static constexpr Row row{.signature = "max(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .doc = "The same as maximum(input, other)."};
};

/// By index, like argmax.
struct max_dim : argmax {
  static constexpr Row row{
      .signature =
          "max(Tensor self, int dim, bool keepdim=False, *, Tensor[2] out=None) -> (Tensor values, Tensor indices)",
      .kind = Kind::fold,
      .name = "max",
      .lanes = kWideNumbers,
      .kernel_name = "max_cpu",
      .refuses_complex = "max(): does not support complex input",
      .strict_out = true,
      .no_overlap = 0b11,
      .grad_fn = "MaxBackward0",
      .doc = "The largest element along dim and its index, the first of equal ones; NaN if one is NaN."};
  using Steps = argmax;
  template <class V>
  using Results = State<V>;
  template <class V, class At>
  static State<V> finish(const State<V>& s, const At&) {
    return s;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return at_places(g, g.grad(), g.result(1));
  }
};

/// NaN wins.
struct min {
  static constexpr Row row{.signature = "min(Tensor self, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .kernel_name = "min_all",
                           .grad_fn = "MinBackward1",
                           .doc = "The smallest element; NaN if one is NaN."};
  template <class G>
  static auto grad_a(const G& g) {
    return shared_among(g.grad(), g.a(), g.result());
  }
};

struct min_other {
  static constexpr Row row{.signature = "min(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .doc = "The same as minimum(input, other)."};
};

/// By index, like argmin.
struct min_dim : argmin {
  static constexpr Row row{
      .signature =
          "min(Tensor self, int dim, bool keepdim=False, *, Tensor[2] out=None) -> (Tensor values, Tensor indices)",
      .kind = Kind::fold,
      .name = "min",
      .lanes = kWideNumbers,
      .kernel_name = "min_cpu",
      .refuses_complex = "min(): does not support complex input",
      .strict_out = true,
      .no_overlap = 0b11,
      .grad_fn = "MinBackward0",
      .doc = "The smallest element along dim and its index, the first of equal ones; NaN if one is NaN."};
  using Steps = argmin;
  template <class V>
  using Results = State<V>;
  template <class V, class At>
  static State<V> finish(const State<V>& s, const At&) {
    return s;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return at_places(g, g.grad(), g.result(1));
  }
};

/// NaN wins.
struct aminmax {
  static constexpr Row row{
      .signature =
          "aminmax(Tensor self, *, int? dim=None, bool keepdim=False, Tensor[2] out=None) -> (Tensor min, Tensor max)",
      .kind = Kind::fold,
      .lanes = kWideNumbers,
      .kernel_name = "aminmax_cpu",
      .strict_out = true,
      .no_overlap = 0b11,
      .grad_fn = "AminmaxBackward0",
      .doc = "The smallest and the largest element along dim, or of all without dim; NaN if one is NaN."};
  template <class V>
  struct State {
    V low, high;
  };
  template <class V>
  using Results = State<V>;
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.highest(), at.lowest()};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At&) {
    s = {smaller(s.low, value), larger(s.high, value)};
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    s = {smaller(s.low, other.low), larger(s.high, other.high)};
  }
  template <class V, class At>
  static State<V> finish(const State<V>& s, const At&) {
    return s;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_extremes(g, g.a(), g.result(0), g.result(1));
  }
};

/// The base of reductions that sum a function of the elements.
struct Sum {
  template <class V>
  struct State {
    V sum;
  };
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.number(0)};
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    s.sum = s.sum + other.sum;
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At&) {
    return s.sum;
  }
};

struct count_nonzero : Sum {
  static constexpr Row row{.signature = "count_nonzero(Tensor self, int[1]? dim=None) -> Tensor",
                           .array_api = "count_nonzero",
                           .python =
                               "(Tensor self, int? dim=None)\n"
                               "(Tensor self, int[] dim)",
                           .kind = Kind::fold,
                           .promotion = Promotion::place,
                           .dtypes = kUsual | kComplex,
                           .lanes = kWideNumbers,
                           .kernel_name = "nonzero_count_cpu",
                           .doc = "The number of nonzero elements along dim."};
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    s.sum = s.sum + choose(value == at.number(0), at.number(0), at.number(1));
  }
};

struct nansum : Sum {
  static constexpr Row row{
      .signature =
          "nansum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None) -> "
          "Tensor",
      .numpy = "nansum",
      .kind = Kind::fold,
      .by_hand = true,
      .promotion = Promotion::sum,
      .dtypes = kFloats,
      .lanes = kWideFloats,
      .kernel_name = "nansum_cpu",
      .ulp = 1,
      .grad_fn = "NansumBackward0",
      .doc = "The sum along dim of the elements that are not NaN."};
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    s.sum = s.sum + choose(is_nan(value), at.number(0), value);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.over_dims(g.grad()).to(g.a().dtype()) * g.a().isnan().logical_not();
  }
};

/// B. P. Welford, "Note on a method for calculating corrected sums of squares and products" (1962); joined as by
/// T. F. Chan, G. H. Golub, R. J. LeVeque, "Algorithms for computing the sample variance" (1983).
struct var {
  static constexpr Row row{
      .signature =
          "var(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor out=None) -> "
          "Tensor",
      .array_api = "var",
      .python =
          "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor out=None)\n"
          "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor out=None)\n"
          "(Tensor self, bool unbiased=True)",
      .kind = Kind::fold,
      .values = "correction: 1 0 2 0.5",
      .by_hand = true,
      .dtypes = kInexact,
      .lanes = set_of(float64),
      .complex_to_real = true,
      .ulp = 1,
      .grad_fn = "VarBackward0",
      .doc =
          "The variance along dim: the sum of squared distances from the mean, divided by the number of elements minus "
          "correction (default 1)."};
  template <class V>
  struct State {
    V count, mean, squares;
  };
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.number(0), at.number(0), at.number(0)};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    const V before = value - s.mean;
    s.count = s.count + at.number(1);
    s.mean = mul_add(before, at.share(), s.mean);
    s.squares = mul_add(before, value - s.mean, s.squares);
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At& at) {
    const V nothing = at.number(0), count = s.count + other.count;
    const V share = other.count / choose(count == nothing, at.number(1), count);
    // If a state is empty, there is no difference of means: a mean may be infinite.
    const V between = choose((s.count == nothing) | (other.count == nothing), nothing, other.mean - s.mean);
    s.mean = choose(s.count == nothing, other.mean, mul_add(between, share, s.mean));
    s.squares = s.squares + other.squares + between * (between * (s.count * share));
    s.count = count;
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At& at) {
    const V freedom = s.count - at.given(0);
    return s.squares / choose(freedom < at.number(0), at.number(0), freedom);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_variance(g, g.grad(), g.a());
  }
};

/// The square root of var.
struct std_ : var {
  static constexpr Row row{
      .signature =
          "std(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor out=None) -> "
          "Tensor",
      .array_api = "std",
      .python =
          "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False, *, Tensor out=None)\n"
          "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False, Tensor out=None)\n"
          "(Tensor self, bool unbiased=True)",
      .kind = Kind::fold,
      .values = "correction: 1 0 2 0.5",
      .by_hand = true,
      .name = "std",
      .dtypes = kInexact,
      .lanes = set_of(float64),
      .complex_to_real = true,
      .ulp = 1,
      .grad_fn = "StdBackward0",
      .doc = "The standard deviation along dim: the square root of the variance."};
  using Steps = var;
  template <class V, class At>
  static V finish(const State<V>& s, const At& at) {
    return square_root(var::finish(s, at));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_deviation(g, g.grad(), g.a(), g.result());
  }
};

struct var_mean : var {
  static constexpr Row row{
      .signature =
          "var_mean(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
      .python =
          "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False)\n"
          "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)\n"
          "(Tensor self, bool unbiased=True)",
      .kind = Kind::fold,
      .values = "correction: 1 0 2 0.5",
      .method = false,
      .dtypes = kInexact,
      .lanes = set_of(float64),
      .complex_to_real = true,
      .ulp = 1,
      .grad_fn = "VarMeanBackward0",
      .doc = "The variance and the mean along dim."};
  using Steps = var;
  template <class V>
  struct Results {
    V spread, mean;
  };
  template <class V, class At>
  static Results<V> finish(const State<V>& s, const At& at) {
    return {var::finish(s, at), s.mean};
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_var_mean(g, g.a());
  }
};

struct std_mean : std_ {
  static constexpr Row row{
      .signature =
          "std_mean(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False) -> (Tensor, Tensor)",
      .python =
          "(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False)\n"
          "(Tensor self, int[1]? dim=None, *, Scalar? correction=None, bool keepdim=False)\n"
          "(Tensor self, bool unbiased=True)",
      .kind = Kind::fold,
      .values = "correction: 1 0 2 0.5",
      .method = false,
      .dtypes = kInexact,
      .lanes = set_of(float64),
      .complex_to_real = true,
      .ulp = 1,
      .grad_fn = "StdMeanBackward0",
      .doc = "The standard deviation and the mean along dim."};
  using Steps = var;
  template <class V>
  struct Results {
    V spread, mean;
  };
  template <class V, class At>
  static Results<V> finish(const State<V>& s, const At& at) {
    return {std_::finish(s, at), s.mean};
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_std_mean(g, g.a(), g.result(0));
  }
};

/// `sum` is the sum of exp(x - max). For elements equal to max, also infinite ones, x - max counts as 0.
struct logsumexp {
  static constexpr Row row{
      .signature = "logsumexp(Tensor self, int[1] dim, bool keepdim=False, *, Tensor out=None) -> Tensor",
      .alias = "special_logsumexp",
      .kind = Kind::fold,
      .by_hand = true,
      .promotion = Promotion::int_to_float,
      .dtypes = kAllDtypes,
      .lanes = kWideFloats,
      .vectors = true,
      .ulp = 1,
      .grad_fn = "LogsumexpBackward0",
      .doc = "log(sum(exp(input))) along dim, without overflow of the exponentials."};
  template <class V>
  struct State {
    V max, sum;
  };
  template <class V, class At>
  static V nearness(V a, V b, const At& at) {
    return choose(a == b, at.number(1), exponential(at.number(0) - magnitude(a - b)));
  }
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.lowest(), at.number(0)};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    const V scale = nearness(s.max, value, at);
    const auto higher = s.max < value;
    s.sum = choose(higher, mul_add(s.sum, scale, at.number(1)), s.sum + scale);
    s.max = choose(higher, value, s.max);
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At& at) {
    const V scale = nearness(s.max, other.max, at);
    const auto higher = s.max < other.max;
    s.sum = choose(higher, mul_add(s.sum, scale, other.sum), mul_add(other.sum, scale, s.sum));
    s.max = choose(higher, other.max, s.max);
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At&) {
    return logarithm(s.sum) + s.max;
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.over_dims(g.grad()) * conj((g.a() - g.over_dims(g.result())).exp());
  }
};

/// This block is the norm with ord 2.
struct linalg_vector_norm : Sum {
  static constexpr Row row{.signature =
                               "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, "
                               "ScalarType? dtype=None, Tensor out=None) -> Tensor",
                           .numpy = "linalg.vector_norm",
                           .module = "linalg",
                           .kind = Kind::fold,
                           .values = "ord: 2 1 0 3 0.5 -1 inf -inf",
                           .by_hand = true,
                           .method = false,
                           .dtypes = kInexact,
                           .lanes = kWideFloats,
                           .strict_out = true,
                           .no_overlap = 1,
                           .complex_to_real = true,
                           .ulp = 1,
                           .grad_fn = "LinalgVectorNormBackward0",
                           .doc =
                               "The norm along dim: (sum of |input| ** ord) ** (1 / ord). ord inf and -inf give the "
                               "largest and the smallest magnitude, ord 0 the number of nonzero elements."};
  template <class V, class At>
  static void step(State<V>& s, V value, const At&) {
    s.sum = mul_add(value, value, s.sum);
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At&) {
    return square_root(s.sum);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return of_norm(g, g.grad(), g.a(), g.result());
  }
};

struct norm_1 : Sum {
  static constexpr Row row{.kind = Kind::fold, .name = "linalg_vector_norm", .dtypes = kFloats, .lanes = kWideFloats};
  template <class V, class At>
  static void step(State<V>& s, V value, const At&) {
    s.sum = s.sum + magnitude(value);
  }
};

struct norm_largest {
  static constexpr Row row{.kind = Kind::fold, .name = "linalg_vector_norm", .dtypes = kFloats, .lanes = kWideFloats};
  template <class V>
  struct State {
    V value;
  };
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.number(0)};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At&) {
    s.value = larger(s.value, magnitude(value));
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    s.value = larger(s.value, other.value);
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At&) {
    return s.value;
  }
};

struct norm_smallest : norm_largest {
  static constexpr Row row{.kind = Kind::fold, .name = "linalg_vector_norm", .dtypes = kFloats, .lanes = kWideFloats};
  template <class V, class At>
  static State<V> init(const At& at) {
    return {at.highest()};
  }
  template <class V, class At>
  static void step(State<V>& s, V value, const At&) {
    s.value = smaller(s.value, magnitude(value));
  }
  template <class V, class At>
  static void join(State<V>& s, const State<V>& other, const At&) {
    s.value = smaller(s.value, other.value);
  }
};

/// Any other ord. Computed in float64, because the logarithm loses accuracy in the power.
struct norm_power : Sum {
  static constexpr Row row{
      .kind = Kind::fold, .name = "linalg_vector_norm", .dtypes = kFloats, .lanes = set_of(float64), .vectors = true};
  template <class V, class At>
  static void step(State<V>& s, V value, const At& at) {
    s.sum = s.sum + exponential(at.given(0) * logarithm(magnitude(value)));
  }
  template <class V, class At>
  static V finish(const State<V>& s, const At& at) {
    return exponential(logarithm(s.sum) / at.given(0));
  }
};

/// Recorded as a quotient.
struct nanmean {
  static constexpr Row row{
      .signature =
          "nanmean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None) -> "
          "Tensor",
      .numpy = "nanmean",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kFloats,
      .ulp = 1,
      .doc = "The mean along dim of the elements that are not NaN."};
};

/// Calls linalg_vector_norm and amax or amin.
struct linalg_matrix_norm {
  static constexpr Row row{
      .signature =
          "linalg_matrix_norm(Tensor self, Scalar ord, int[]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, "
          "Tensor out=None) -> Tensor",
      .numpy = "",
      .module = "linalg",
      .python =
          "(Tensor self, Scalar ord, int[] dim={-2,-1}, bool keepdim=False, *, ScalarType? dtype=None, Tensor "
          "out=None)",
      .kind = Kind::algorithm,
      .values = "ord: 1 -1 inf -inf 3; dim: -2,-1 0,1 1,0 0,0 1 2,0",
      .by_hand = true,
      .method = false,
      .dtypes = kInexact,
      .complex_to_real = true,
      .ulp = 1,
      .doc =
          "The norm of matrices along two dims, by default the last ones: ord 1 and -1 give the largest and the "
          "smallest sum of a column's magnitudes, inf and -inf of a row's. There are no singular values: ord 2, -2."};
};

struct linalg_matrix_norm_named {
  static constexpr Row row{
      .signature =
          "linalg_matrix_norm(Tensor self, str ord='fro', int[]? dim=None, bool keepdim=False, *, ScalarType? "
          "dtype=None, Tensor out=None) -> Tensor",
      .module = "linalg",
      .python =
          "(Tensor self, str ord=\"fro\", int[] dim={-2,-1}, bool keepdim=False, *, ScalarType? dtype=None, Tensor "
          "out=None)",
      .kind = Kind::algorithm,
      .values = "ord: fro; dim: -2,-1 0,1 1,0 0,0 1 2,0",
      .by_hand = true,
      .method = false,
      .name = "linalg_matrix_norm",
      .dtypes = kInexact,
      .complex_to_real = true,
      .doc = "The norm with the name ord: \"fro\" is the root of the sum of squares."};
};

/// Calls linalg_matrix_norm or linalg_vector_norm.
struct linalg_norm {
  static constexpr Row row{
      .signature =
          "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, "
          "Tensor out=None) -> Tensor",
      .numpy = "",
      .module = "linalg",
      .kind = Kind::algorithm,
      .values = "ord: 1 -1 inf -inf 3 0",
      .by_hand = true,
      .method = false,
      .dtypes = kInexact,
      .complex_to_real = true,
      .ulp = 1,
      .doc =
          "linalg_matrix_norm of two dims, linalg_vector_norm of one; without dim of a matrix or a vector. Without ord "
          "the root of the sum of squares of any dims."};
};

struct linalg_norm_named {
  static constexpr Row row{
      .signature =
          "linalg_norm(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor "
          "out=None) -> Tensor",
      .module = "linalg",
      .kind = Kind::algorithm,
      .values = "ord: fro",
      .by_hand = true,
      .method = false,
      .name = "linalg_norm",
      .dtypes = kInexact,
      .complex_to_real = true};
};

struct norm {
  static constexpr Row row{
      .signature =
          "norm(Tensor self, Scalar? p=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, "
          "Tensor out=None) -> Tensor",
      .python =
          "(Tensor self, Scalar? p, int[1]? dim=None, bool keepdim=False, Tensor out=None, ScalarType? "
          "dtype=None)",
      .kind = Kind::algorithm,
      .values = "p: 2 1 0 3 0.5 -1 inf -inf",
      .by_hand = true,
      .dtypes = kInexact,
      .complex_to_real = true,
      .ulp = 1,
      .doc = "linalg_vector_norm with ord p; None means 2."};
};

struct norm_named {
  static constexpr Row row{
      .signature =
          "norm(Tensor self, str p, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, "
          "Tensor out=None) -> Tensor",
      .python =
          "(Tensor self, str p=\"fro\", int[1]? dim=None, bool keepdim=False, Tensor out=None, "
          "ScalarType? dtype=None)",
      .kind = Kind::algorithm,
      .values = "p: fro",
      .by_hand = true,
      .dtypes = kInexact,
      .complex_to_real = true,
      .doc = "The norm with the name p: \"fro\" is the one with ord 2."};
};
