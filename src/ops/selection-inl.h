// ops: selection of values.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

/// NaN wins.
struct maximum {
  static constexpr Row row{
      .signature = "maximum(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .array_api = "maximum",
      .kernel_name = "maximum_cpu",
      .refuses_complex = "maximum not implemented for complex tensors.",
      .short_rows = true,
      .on_bits = true,
      .grad_fn = "MaximumBackward0",
      .doc = "The larger of both; NaN if one is NaN.",
  };
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
  /// Halves where both are equal.
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() < g.b(), 0, choose(g.a() == g.b(), g.grad() / 2, g.grad()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.b() < g.a(), 0, choose(g.a() == g.b(), g.grad() / 2, g.grad()));
  }
};

/// NaN wins.
struct minimum {
  static constexpr Row row{
      .signature = "minimum(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .array_api = "minimum",
      .kernel_name = "minimum_cpu",
      .refuses_complex = "minimum not implemented for complex tensors.",
      .short_rows = true,
      .on_bits = true,
      .grad_fn = "MinimumBackward0",
      .doc = "The smaller of both; NaN if one is NaN.",
  };
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
  /// Halves where both are equal.
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.b() < g.a(), 0, choose(g.a() == g.b(), g.grad() / 2, g.grad()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.a() < g.b(), 0, choose(g.a() == g.b(), g.grad() / 2, g.grad()));
  }
};

/// min(max(self, low), high): if low > high, the result is high.
struct clamp {
  static constexpr Row row{
      .signature = "clamp(Tensor self, Tensor|Scalar? min=None, Tensor|Scalar? max=None, *, Tensor out=None) -> Tensor",
      .alias = "clip",
      .array_api = "clip",
      .by_hand = true,
      .inplace_functions = "clamp_ clip_",
      .dtypes = kNoBool,
      .kernel_name = "clamp_cpu",
      .on_bits = true,
      .grad_fn = "ClampBackward0",
      .doc = "Each element limited to the range from min to max; max if min > max."};
  template <class T>
  static T forward(T a, T low, T high) {
    return smaller(larger(a, low), high);
  }
  /// The gradient passes at the bounds; if low > high, all of it goes to high.
  template <class G>
  static auto grad_a(const G& g) {
    return choose((g.b() <= g.a()) & (g.a() <= g.c()), g.grad(), 0);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose((g.b() < g.c()) & (g.a() < g.b()), g.grad(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return choose((g.c() < g.a()) | (g.c() < g.b()), g.grad(), 0);
  }
};

/// clamp with one bound.
struct clamp_low {
  static constexpr Row row{.name = "clamp", .kernel_name = "maximum_cpu", .grad_fn = "ClampBackward0"};
  template <class T>
  static T forward(T a, T low) {
    return larger(a, low);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.b() <= g.a(), g.grad(), 0);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.a() < g.b(), g.grad(), 0);
  }
};

struct clamp_high {
  static constexpr Row row{.name = "clamp", .kernel_name = "minimum_cpu", .grad_fn = "ClampBackward0"};
  template <class T>
  static T forward(T a, T high) {
    return smaller(a, high);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() <= g.b(), g.grad(), 0);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.b() < g.a(), g.grad(), 0);
  }
};

struct clamp_min : clamp_low {
  static constexpr Row row{.signature = "clamp_min(Tensor self, Tensor|Scalar min, *, Tensor out=None) -> Tensor",
                           .by_hand = true,
                           .inplace_functions = "clamp_min_",
                           .kernel_name = "maximum_cpu",
                           .grad_fn = "ClampMinBackward1",
                           .grad_fn_of_number = "ClampMinBackward0",
                           .doc = "Every element raised to min; NaN stays."};
};

struct clamp_max : clamp_high {
  static constexpr Row row{.signature = "clamp_max(Tensor self, Tensor|Scalar max, *, Tensor out=None) -> Tensor",
                           .by_hand = true,
                           .inplace_functions = "clamp_max_",
                           .kernel_name = "minimum_cpu",
                           .grad_fn = "ClampMaxBackward1",
                           .grad_fn_of_number = "ClampMaxBackward0",
                           .doc = "Every element lowered to max; NaN stays."};
};

/// clamp with numbers as bounds.
struct clamp_scalar {
  static constexpr Row row{.name = "clamp",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true,
                           .on_bits = true,
                           .grad_fn = "ClampBackward1"};
  template <class T>
  static T forward(T a, T low, T high) {
    return bounded(a, low, high);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose((g.b() <= g.a()) & (g.a() <= g.c()), g.grad(), 0);
  }
};

struct clamp_low_scalar {
  static constexpr Row row{.name = "clamp",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_min_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true,
                           .grad_fn = "ClampBackward1"};
  template <class T>
  static T forward(T a, T low) {
    return raised(a, low);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.b() <= g.a(), g.grad(), 0);
  }
};

struct clamp_high_scalar {
  static constexpr Row row{.name = "clamp",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_max_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true,
                           .grad_fn = "ClampBackward1"};
  template <class T>
  static T forward(T a, T high) {
    return lowered(a, high);
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() <= g.b(), g.grad(), 0);
  }
};

struct clamp_min_scalar : clamp_low_scalar {
  static constexpr Row row{.name = "clamp_min",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_min_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true,
                           .on_bits = true,
                           .grad_fn = "ClampMinBackward0"};
};

struct clamp_max_scalar : clamp_high_scalar {
  static constexpr Row row{.name = "clamp_max",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_max_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true,
                           .on_bits = true,
                           .grad_fn = "ClampMaxBackward0"};
};

/// The indices where `condition` is true, one tensor for each dim.
struct where_places {
  static constexpr Row row{.signature = "where(Tensor condition) -> Tensor[]",
                           .kind = Kind::algorithm,
                           .promotion = Promotion::place,
                           .dtypes = kUsual | kComplex};
};

struct where {
  static constexpr Row row{
      .signature = "where(Tensor condition, Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "where",
      .python =
          "(Tensor condition, Tensor self, Tensor other, *, Tensor out=None)\n"
          "(Tensor condition, Scalar self, Tensor other)\n"
          "(Tensor condition, Tensor self, Scalar other)\n"
          "(Tensor condition, Scalar self, Scalar other)",
      .values = "condition: bool",
      .by_hand = true,
      .inplace = false,
      .promotion = Promotion::select,
      .dtypes = kAllDtypes,
      .kernel_name = "where_cpu",
      .grad_fn = "WhereBackward0",
      .doc =
          "input where condition is true, otherwise other. With condition only: the indices of its nonzero elements, "
          "one tensor for each dim."};
  template <class T>
  static T forward(Truth condition, T a, T b) {
    return choose(condition, a, b);
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.a(), g.grad(), 0);
  }
  template <class G>
  static auto grad_c(const G& g) {
    return choose(g.a(), 0, g.grad());
  }
};

/// A number wins over NaN.
struct fmax {
  static constexpr Row row{.signature = "fmax(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "fmax",
                           .inplace = false,
                           .kernel_name = "maximum_cpu",
                           .refuses_complex = "fmax not implemented for complex tensors.",
                           .through_float32 = true,
                           .grad_fn = "FmaxBackward0",
                           .doc = "The larger of both; NaN only if both are NaN."};
  template <class T>
  static T forward(T a, T b) {
    return choose((a < b) | (a != a), b, a);  // NOLINT(misc-redundant-expression): only a NaN differs from itself
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.b() <= g.a(), g.grad(), choose(g.b() == g.b(), 0, g.grad()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.b() <= g.a(), 0, choose(g.b() == g.b(), g.grad(), 0));
  }
};

/// A number wins over NaN.
struct fmin {
  static constexpr Row row{.signature = "fmin(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
                           .numpy = "fmin",
                           .inplace = false,
                           .kernel_name = "minimum_cpu",
                           .refuses_complex = "fmin not implemented for complex tensors.",
                           .through_float32 = true,
                           .grad_fn = "FminBackward0",
                           .doc = "The smaller of both; NaN only if both are NaN."};
  template <class T>
  static T forward(T a, T b) {
    return choose((b < a) | (a != a), b, a);  // NOLINT(misc-redundant-expression): only a NaN differs from itself
  }
  template <class G>
  static auto grad_a(const G& g) {
    return choose(g.a() <= g.b(), g.grad(), choose(g.b() == g.b(), 0, g.grad()));
  }
  template <class G>
  static auto grad_b(const G& g) {
    return choose(g.a() <= g.b(), 0, choose(g.b() == g.b(), g.grad(), 0));
  }
};

struct heaviside {
  static constexpr Row row{.signature = "heaviside(Tensor self, Tensor values, *, Tensor out=None) -> Tensor",
                           .numpy = "heaviside",
                           .by_hand = true,
                           .one_dtype = true,
                           .kernel_name = "heaviside_cpu",
                           .refuses_complex = "heaviside is not yet implemented for complex tensors.",
                           .through_float32 = true,
                           .grad_fn = "torch::autograd::NotImplemented",
                           .doc = "0 where input is negative or NaN, values where it is 0, 1 where it is positive."};
  template <class T>
  static T forward(T a, T b) {
    return choose(a == T(0), b, choose(T(0) < a, T(1), T(0)));
  }
  template <class G>
  static auto grad_a(const G& g) {
    return lacks_derivative(g.grad(), "heaviside");
  }
  template <class G>
  static auto grad_b(const G& g) {
    return lacks_derivative(g.grad(), "heaviside");
  }
};

struct nan_to_num {
  static constexpr Row row{
      .signature =
          "nan_to_num(Tensor self, float? nan=None, float? posinf=None, float? neginf=None, *, Tensor out=None) -> "
          "Tensor",
      .numpy = "nan_to_num",
      .by_hand = true,
      .inplace_functions = "nan_to_num_",
      .dtypes = kFloats,
      .accepts = kAllDtypes,
      .parameters = Parameters::replacements,
      .beside_numbers = true,
      .grad_fn = "NanToNumBackward0",
      .doc =
          "input with NaN replaced by nan (default 0), infinity by posinf (the largest number) and -infinity by neginf "
          "(the smallest)."};
  template <class T>
  static T forward(T a, T nan, T posinf, T neginf) {
    const T number = choose(a == T(kInfinity), posinf, choose(a == T(-kInfinity), neginf, a));
    return choose(a == a, number, nan);  // NOLINT(misc-redundant-expression): only a NaN differs from itself
  }
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad() * ((g.a() < kInfinity) & (-g.a() < kInfinity));
  }
};
