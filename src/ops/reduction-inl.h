// ops: reductions. The formula folds two partial results.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct sum {
  static constexpr Row row{
      .signature =
          "sum(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None) -> "
          "Tensor",
      .array_api = "sum",
      .python =
          "(Tensor self, *, ScalarType? dtype=None)\n"
          "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None)",
      .kind = Kind::fold,
      .promotion = Promotion::sum,
      .dtypes = kUsual | kComplex,
      .kernel_name = "sum_cpu",
      .ulp = 1,
      .grad_fn = "SumBackward",
      .doc = "The sum along dim; integers and bool are summed in int64."};
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
};

/// Sums, then divides: see dispatch/reduce.cpp.
struct mean {
  static constexpr Row row{
      .signature =
          "mean(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None) -> "
          "Tensor",
      .array_api = "mean",
      .python =
          "(Tensor self, *, ScalarType? dtype=None, Tensor out=None)\n"
          "(Tensor self, int[1]? dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None)",
      .kind = Kind::fold,
      .promotion = Promotion::common,
      .dtypes = kInexact,
      .kernel_name = "mean_cpu",
      .ulp = 1,
      .grad_fn = "MeanBackward",
      .doc = "The mean along dim.",
  };
  template <class T>
  static T forward(T a, T b) {
    return a + b;
  }
};

struct prod {
  static constexpr Row row{
      .signature =
          "prod(Tensor self, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None) -> "
          "Tensor",
      .array_api = "prod",
      .python =
          "(Tensor self, *, ScalarType? dtype=None)\n"
          "(Tensor self, int dim, bool keepdim=False, *, ScalarType? dtype=None, Tensor out=None)",
      .kind = Kind::fold,
      .promotion = Promotion::sum,
      .dtypes = kUsual | kComplex,
      .kernel_name = "prod_out_cpu",
      .ulp = 1,
      .grad_fn = "ProdBackward",
      .doc = "The product along dim; integers and bool are multiplied in int64."};
  template <class T>
  static T forward(T a, T b) {
    return a * b;
  }
};

/// NaN wins.
struct amax {
  static constexpr Row row{
      .signature = "amax(Tensor self, int[1]? dim=(), bool keepdim=False, *, Tensor out=None) -> Tensor",
      .array_api = "max",
      .numpy = "max amax",
      .kind = Kind::fold,
      .kernel_name = "max_values_cpu",
      .grad_fn = "AmaxBackward0",
      .doc = "The largest element along dim; NaN if one is NaN."};
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
};

/// NaN wins.
struct amin {
  static constexpr Row row{
      .signature = "amin(Tensor self, int[1]? dim=(), bool keepdim=False, *, Tensor out=None) -> Tensor",
      .array_api = "min",
      .numpy = "min amin",
      .kind = Kind::fold,
      .kernel_name = "min_values_cpu",
      .grad_fn = "AminBackward0",
      .doc = "The smallest element along dim; NaN if one is NaN."};
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
};

/// Each element is asked whether it is not zero.
struct all {
  static constexpr Row row{
      .signature = "all(Tensor self, int[1]? dim=None, bool keepdim=False, *, Tensor out=None) -> Tensor",
      .array_api = "all",
      .python =
          "(Tensor self, *, Tensor out=None)\n"
          "(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor out=None)\n"
          "(Tensor self, int dim, bool keepdim=False, *, Tensor out=None)",
      .kind = Kind::fold,
      .promotion = Promotion::logical,
      .kernel_name = "and_cpu",
      .doc = "Whether all elements along dim are nonzero.",
  };
  template <class T>
  static T forward(T a, T b) {
    return smaller(a, b);
  }
};

/// Each element is asked whether it is not zero.
struct any {
  static constexpr Row row{
      .signature = "any(Tensor self, int[1]? dim=None, bool keepdim=False, *, Tensor out=None) -> Tensor",
      .array_api = "any",
      .python =
          "(Tensor self, *, Tensor out=None)\n"
          "(Tensor self, int[]? dim=None, bool keepdim=False, *, Tensor out=None)\n"
          "(Tensor self, int dim, bool keepdim=False, *, Tensor out=None)",
      .kind = Kind::fold,
      .promotion = Promotion::logical,
      .kernel_name = "or_cpu",
      .doc = "Whether at least one element along dim is nonzero.",
  };
  template <class T>
  static T forward(T a, T b) {
    return larger(a, b);
  }
};
