// ops: choosing among values.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

/// NaN wins.
struct maximum {
  static constexpr Row row{.name = "maximum",
                           .kernel_name = "maximum_cpu",
                           .doc = "The larger of both; NaN wins.",
                           .signatures = kTensorsOnly};
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
};

/// NaN wins.
struct minimum {
  static constexpr Row row{.name = "minimum",
                           .kernel_name = "minimum_cpu",
                           .doc = "The smaller of both; NaN wins.",
                           .signatures = kTensorsOnly};
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
};

/// min(max(self, low), high): the upper bound wins where the bounds cross.
struct clamp {
  static constexpr Row row{
      .name = "clamp",
      .arity = 3,
      .dtypes = kNoBool,
      .kernel_name = "clamp_cpu",
      .doc = "Every element raised to min and lowered to max; the upper bound wins where they cross."};
  template <class T>
  static T forward(T a, T low, T high) {
    return smaller(larger(a, low), high);
  }
};

struct clamp_min {
  static constexpr Row row{.name = "clamp", .kernel_name = "maximum_cpu"};
  template <class T>
  static T forward(T a, T low) {
    return larger(a, low);
  }
};

struct clamp_max {
  static constexpr Row row{.name = "clamp", .kernel_name = "minimum_cpu"};
  template <class T>
  static T forward(T a, T high) {
    return smaller(a, high);
  }
};

/// Bounds that are numbers.
struct clamp_scalar {
  static constexpr Row row{.name = "clamp",
                           .arity = 3,
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true};
  template <class T>
  static T forward(T a, T low, T high) {
    return smaller(larger(a, low), high);
  }
};

struct clamp_min_scalar {
  static constexpr Row row{.name = "clamp",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_min_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true};
  template <class T>
  static T forward(T a, T low) {
    return larger(a, low);
  }
};

struct clamp_max_scalar {
  static constexpr Row row{.name = "clamp",
                           .dtypes = kNoBool,
                           .kernel_name = "clamp_max_scalar_cpu",
                           .parameters = Parameters::bounds,
                           .strict_out = true};
  template <class T>
  static T forward(T a, T high) {
    return smaller(a, high);
  }
};

struct where {
  static constexpr Row row{.name = "where",
                           .arity = 3,
                           .promotion = Promotion::select,
                           .kernel_name = "where_cpu",
                           .doc = "input where condition holds, else other."};
  template <class T>
  static T forward(Truth condition, T a, T b) {
    return choose(condition, a, b);
  }
};
