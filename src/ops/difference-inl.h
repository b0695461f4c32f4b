// ops: differences of neighbours and areas below samples. Differentiated through the ops that they call.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct diff {
  static constexpr Row row{
      .signature =
          "diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None, *, Tensor out=None) "
          "-> Tensor",
      .kind = Kind::algorithm,
      .values = "n: 1 1 1 0 2 3 7 -1",
      .by_hand = true,
      .dtypes = kUsual | kComplex,
      .doc =
          "The differences of neighbours along dim, n times; of bools whether they differ. prepend and append are "
          "joined to input first."};
};

struct trapezoid {
  static constexpr Row row{.signature = "trapezoid(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 1,
                           .doc =
                               "The area below the samples y along dim, as trapezoids between neighbours, which are "
                               "dx apart or lie at the places x."};
};

struct trapezoid_dx {
  static constexpr Row row{.signature = "trapezoid(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 1};
};

struct trapz {
  static constexpr Row row{.signature = "trapz(Tensor y, *, float dx=1, int dim=-1) -> Tensor",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 1,
                           .doc = "trapezoid."};
};

struct trapz_x {
  static constexpr Row row{.signature = "trapz(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 1};
};

struct cumulative_trapezoid {
  static constexpr Row row{.signature = "cumulative_trapezoid(Tensor y, Tensor x, *, int dim=-1) -> Tensor",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 1,
                           .doc = "trapezoid of the samples up to each one but the first."};
};

struct cumulative_trapezoid_dx {
  static constexpr Row row{.signature = "cumulative_trapezoid(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::int_to_float,
                           .dtypes = kInexact,
                           .accepts = kNoBool | kComplex,
                           .ulp = 1};
};
