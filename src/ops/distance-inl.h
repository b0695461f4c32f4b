// ops: distances of vectors, and statistics of several variables. Without formulas: dispatch/distance.cpp and
// dispatch/covariance.cpp. Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct dist {
  static constexpr Row row{.signature = "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor",
                           .kind = Kind::algorithm,
                           .values = "p: 2 1 0 3 0.5 -1 inf -inf",
                           .dtypes = kInexact,
                           .complex_to_real = true,
                           .ulp = 1,
                           .grad_fn = "DistBackward0",
                           .doc = "linalg_vector_norm of input - other, with ord p."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_dist(g, g.grad(), g.a() - g.b(), g.result());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return -of_dist(g, g.grad(), g.a() - g.b(), g.result());
  }
};

struct cdist {
  static constexpr Row row{
      .signature = "cdist(Tensor x1, Tensor x2, float p=2, int? compute_mode=None) -> Tensor",
      .kind = Kind::algorithm,
      .shapes = "*bij,*bkj",
      .values = "p: 2 2 1 0 3 0.5 inf -1; compute_mode: 0 1 2",
      .one_dtype = true,
      .dtypes = kWideFloats,
      .kernel_name = "cdist",
      .ulp = 4,
      .grad_fn = "CdistBackward0",
      .doc =
          "The distance of each row of x1 to each row of x2: the norm with ord p of their difference. Batches "
          "broadcast. compute_mode is PyTorch's; all give the same here."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_cdist(g.grad(), g.a(), g.b(), g.result(), g.number("p", 2));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_cdist(g.grad().transpose(-1, -2), g.b(), g.a(), g.result().transpose(-1, -2), g.number("p", 2));
  }
};

/// Calls linalg_vector_norm.
struct pdist {
  static constexpr Row row{.signature = "pdist(Tensor self, float p=2) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "ij",
                           .values = "p: 2 2 1 0 3 0.5 inf -1",
                           .method = false,
                           .dtypes = kWideFloats,
                           .kernel_name = "pdist",
                           .ulp = 4,
                           .doc = "The distances of all pairs of rows, as a vector: those of the first row first."};
};

/// Calls linalg_vector_norm.
struct pairwise_distance {
  static constexpr Row row{
      .signature = "pairwise_distance(Tensor x1, Tensor x2, float p=2, float eps=1e-6, bool keepdim=False) -> Tensor",
      .kind = Kind::algorithm,
      .values = "p: 2 2 1 0 3 0.5 inf -1; eps: 1e-6 0 0.5",
      .promotion = Promotion::int_to_float,
      .dtypes = kInexact,
      .accepts = kNoBool | kComplex,
      .complex_to_real = true,
      .ulp = 4,
      .doc = "The norm with ord p of x1 - x2 + eps along the last dim."};
};

struct cosine_similarity {
  static constexpr Row row{
      .signature = "cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-8) -> Tensor",
      .kind = Kind::algorithm,
      .values = "eps: 1e-8 0 0.5",
      .dtypes = kFloats,
      .ulp = 4,
      .doc = "The products of x1 and x2 along dim, divided by both norms, which are at least eps."};
};

struct cov {
  static constexpr Row row{
      .signature = "cov(Tensor self, *, int correction=1, Tensor? fweights=None, Tensor? aweights=None) -> Tensor",
      .kind = Kind::algorithm,
      .shapes = "ij",
      .values = "correction: 1 0 2; fweights: int64",
      .promotion = Promotion::int_to_float,
      .dtypes = kInexact,
      .accepts = kAllNumbers | kComplex,
      .ulp = 4,
      .doc = "The covariances of variables, which are rows of observations."};
};

/// Calls cov.
struct corrcoef {
  static constexpr Row row{.signature = "corrcoef(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "ij",
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kAllNumbers | kComplex,
                           .ulp = 4,
                           .doc = "The covariances of variables divided by both standard deviations, from -1 to 1."};
};

struct renorm {
  static constexpr Row row{
      .signature = "renorm(Tensor self, Scalar p, int dim, Scalar maxnorm, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .values = "p: 2 1 3 0.5 inf 0 -1; maxnorm: 1 0.5 5 0 -1",
      .by_hand = true,
      .inplace = true,
      .dtypes = kInexact,
      .ulp = 4,
      .grad_fn = "RenormBackward0",
      .doc = "input with each slice along dim, whose norm with ord p is above maxnorm, scaled to that norm."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_renorm(g, g.grad(), g.a());
  }
};

struct trace {
  static constexpr Row row{.signature = "trace(Tensor self) -> Tensor",
                           .kind = Kind::algorithm,
                           .shapes = "ij",
                           .promotion = Promotion::sum,
                           .dtypes = kNoBool | kComplex,
                           .accepts = kNoBool | kComplex,
                           .kernel_name = "trace",
                           .grad_fn = "TraceBackward0",
                           .doc = "The sum of the elements on the diagonal of a matrix."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_trace(g.grad(), g.sizes());
  }
};
