// ops: reductions. The formula folds two partial results.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct sum {
  static constexpr Row row{.name = "sum",
                           .arity = 1,
                           .promotion = Promotion::sum,
                           .kernel_name = "sum_cpu",
                           .grad_fn = "SumBackward",
                           .doc = "The sum along dim; integers and bool are summed in int64."};
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
};

/// Sums, then divides: see dispatch/reduce.cpp.
struct mean {
  static constexpr Row row{.name = "mean",
                           .arity = 1,
                           .promotion = Promotion::common,
                           .dtypes = kFloats,
                           .kernel_name = "mean_cpu",
                           .grad_fn = "MeanBackward",
                           .doc = "The mean along dim.",
                           .signatures =
                               "(Tensor input, *, dtype dtype=None, Tensor out=None)\n(Tensor input, ints[1]? dim, "
                               "bool keepdim=False, *, dtype dtype=None, Tensor out=None)"};
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
};

/// NaN wins.
struct amax {
  static constexpr Row row{.name = "amax",
                           .arity = 1,
                           .kernel_name = "max_values_cpu",
                           .grad_fn = "AmaxBackward0",
                           .doc = "The largest element along dim; NaN wins."};
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
};

/// NaN wins.
struct amin {
  static constexpr Row row{.name = "amin",
                           .arity = 1,
                           .kernel_name = "min_values_cpu",
                           .grad_fn = "AminBackward0",
                           .doc = "The smallest element along dim; NaN wins."};
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
};

/// Each element is asked whether it is not zero.
struct all {
  static constexpr Row row{.name = "all",
                           .arity = 1,
                           .promotion = Promotion::logical,
                           .kernel_name = "and_cpu",
                           .doc = "Whether no element along dim is 0.",
                           .signatures = kTruthReduction};
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
};

/// Each element is asked whether it is not zero.
struct any {
  static constexpr Row row{.name = "any",
                           .arity = 1,
                           .promotion = Promotion::logical,
                           .kernel_name = "or_cpu",
                           .doc = "Whether an element along dim is not 0.",
                           .signatures = kTruthReduction};
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
};
