// ops: choosing among values.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.


/// NaN wins.
struct maximum {
  static constexpr Row row{.name = "maximum", .kernel_name = "maximum_cpu"};
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
};

/// NaN wins.
struct minimum {
  static constexpr Row row{.name = "minimum", .kernel_name = "minimum_cpu"};
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
};

/// min(max(self, low), high): the upper bound wins where the bounds cross.
struct clamp {
  static constexpr Row row{.name = "clamp", .arity = 3, .dtypes = kNoBool, .kernel_name = "clamp_kernel_impl"};
  template <class T>
  static T forward(T a, T low, T high) {
    return smaller(high, larger(low, a));
  }
};

struct clamp_min {
  static constexpr Row row{.name = "clamp_min", .dtypes = kNoBool, .kernel_name = "clamp_min_kernel_impl"};
  template <class T>
  static T forward(T a, T low) {
    return larger(low, a);
  }
};

struct clamp_max {
  static constexpr Row row{.name = "clamp_max", .dtypes = kNoBool, .kernel_name = "clamp_max_kernel_impl"};
  template <class T>
  static T forward(T a, T high) {
    return smaller(high, a);
  }
};

struct where {
  static constexpr Row row{.name = "where", .arity = 3, .promotion = Promotion::select, .kernel_name = "where_cpu"};
  template <class T>
  static T forward(Truth condition, T a, T b) {
    return choose(condition, a, b);
  }
};
