// ops: comparisons and logic.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct eq {
  static constexpr Row row{.signature = "eq(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .array_api = "equal",
                           .symbol = "==",
                           .promotion = Promotion::comparison,
                           .dtypes = kAllDtypes,
                           .short_rows = true,
                           .on_bits = true,
                           .doc = "Whether input equals other."};
  template <class T>
  static TruthOf<T> forward(T a, T b) {
    return a == b;
  }
};

struct ne {
  static constexpr Row row{.signature = "ne(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .alias = "not_equal",
                           .array_api = "not_equal",
                           .symbol = "!=",
                           .promotion = Promotion::comparison,
                           .dtypes = kAllDtypes,
                           .short_rows = true,
                           .on_bits = true,
                           .doc = "Whether input differs from other."};
  template <class T>
  static TruthOf<T> forward(T a, T b) {
    return a != b;
  }
};

struct lt {
  static constexpr Row row{.signature = "lt(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .alias = "less",
                           .array_api = "less",
                           .symbol = "<",
                           .promotion = Promotion::comparison,
                           .kernel_name = "lt_cpu",
                           .short_rows = true,
                           .on_bits = true,
                           .doc = "Whether input is less than other."};
  template <class T>
  static TruthOf<T> forward(T a, T b) {
    return a < b;
  }
};

struct le {
  static constexpr Row row{.signature = "le(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .alias = "less_equal",
                           .array_api = "less_equal",
                           .symbol = "<=",
                           .promotion = Promotion::comparison,
                           .kernel_name = "le_cpu",
                           .short_rows = true,
                           .on_bits = true,
                           .doc = "Whether input is less than or equal to other."};
  template <class T>
  static TruthOf<T> forward(T a, T b) {
    return a <= b;
  }
};

struct gt {
  static constexpr Row row{.signature = "gt(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .alias = "greater",
                           .array_api = "greater",
                           .symbol = ">",
                           .promotion = Promotion::comparison,
                           .kernel_name = "gt_cpu",
                           .short_rows = true,
                           .on_bits = true,
                           .doc = "Whether input is greater than other."};
  template <class T>
  static TruthOf<T> forward(T a, T b) {
    return b < a;
  }
};

struct ge {
  static constexpr Row row{.signature = "ge(Tensor self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
                           .alias = "greater_equal",
                           .array_api = "greater_equal",
                           .symbol = ">=",
                           .promotion = Promotion::comparison,
                           .kernel_name = "ge_cpu",
                           .short_rows = true,
                           .on_bits = true,
                           .doc = "Whether input is greater than or equal to other."};
  template <class T>
  static TruthOf<T> forward(T a, T b) {
    return b <= a;
  }
};

struct logical_and {
  static constexpr Row row{
      .signature = "logical_and(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .array_api = "logical_and",
      .promotion = Promotion::logical,
      .dtypes = kUsual | kComplex,
      .kernel_name = "logical_and_cpu",
      .doc = "Whether both are nonzero.",
  };
  template <class T>
  static Truth forward(T a, T b) {
    return a & b;
  }
};

struct logical_or {
  static constexpr Row row{
      .signature = "logical_or(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .array_api = "logical_or",
      .promotion = Promotion::logical,
      .dtypes = kUsual | kComplex,
      .kernel_name = "logical_or_cpu",
      .doc = "Whether at least one is nonzero.",
  };
  template <class T>
  static Truth forward(T a, T b) {
    return a | b;
  }
};

struct logical_xor {
  static constexpr Row row{
      .signature = "logical_xor(Tensor self, Tensor other, *, Tensor out=None) -> Tensor",
      .array_api = "logical_xor",
      .promotion = Promotion::logical,
      .dtypes = kUsual | kComplex,
      .kernel_name = "logical_xor_cpu",
      .doc = "Whether exactly one is nonzero.",
  };
  template <class T>
  static Truth forward(T a, T b) {
    return a ^ b;
  }
};

struct logical_not {
  static constexpr Row row{.signature = "logical_not(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "logical_not",
                           .promotion = Promotion::logical,
                           .dtypes = kUsual | kComplex,
                           .kernel_name = "logical_not_cpu",
                           .doc = "Whether input is 0."};
  template <class T>
  static Truth forward(T a) {
    return !a;
  }
};

struct isnan {
  static constexpr Row row{.signature = "isnan(Tensor self) -> Tensor",
                           .array_api = "isnan",
                           .inplace = false,
                           .promotion = Promotion::comparison,
                           .dtypes = kAllDtypes,
                           .on_bits = true,
                           .doc = "Whether an element is NaN."};
  template <class T>
  static TruthOf<T> forward(T a) {
    return is_not_a_number(a);
  }
};

struct isfinite {
  static constexpr Row row{.signature = "isfinite(Tensor self) -> Tensor",
                           .array_api = "isfinite",
                           .by_hand = true,
                           .inplace = false,
                           .promotion = Promotion::comparison,
                           .dtypes = kFloats,
                           .accepts = kAllDtypes,
                           .on_bits = true,
                           .doc = "Whether an element is neither infinite nor NaN; always true for integers."};
  template <class T>
  static TruthOf<T> forward(T a) {
    return is_below_infinity(magnitude(a));
  }
};

struct isinf {
  static constexpr Row row{.signature = "isinf(Tensor self) -> Tensor",
                           .array_api = "isinf",
                           .by_hand = true,
                           .inplace = false,
                           .promotion = Promotion::comparison,
                           .dtypes = kFloats,
                           .accepts = kAllDtypes,
                           .on_bits = true,
                           .doc = "Whether an element is infinite; always false for integers."};
  template <class T>
  static TruthOf<T> forward(T a) {
    return is_infinity(magnitude(a));
  }
};

struct isposinf {
  static constexpr Row row{.signature = "isposinf(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "isposinf",
                           .by_hand = true,
                           .inplace = false,
                           .promotion = Promotion::comparison,
                           .dtypes = kAllReal,
                           .refuses_complex = "isposinf does not support complex inputs.",
                           .on_bits = true,
                           .doc = "Whether an element is positive infinity."};
  template <class T>
  static TruthOf<T> forward(T a) {
    return is_infinity(a);
  }
};

struct isneginf {
  static constexpr Row row{.signature = "isneginf(Tensor self, *, Tensor out=None) -> Tensor",
                           .numpy = "isneginf",
                           .by_hand = true,
                           .inplace = false,
                           .promotion = Promotion::comparison,
                           .dtypes = kAllReal,
                           .refuses_complex = "isneginf does not support complex inputs.",
                           .on_bits = true,
                           .doc = "Whether an element is negative infinity."};
  template <class T>
  static TruthOf<T> forward(T a) {
    return is_infinity(-a);
  }
};

struct isclose {
  static constexpr Row row{
      .signature =
          "isclose(Tensor self, Tensor other, float rtol=1e-05, float atol=1e-08, bool equal_nan=False) -> Tensor",
      .numpy = "isclose",
      .kind = Kind::algorithm,
      .promotion = Promotion::comparison,
      .one_dtype = true,
      .dtypes = kAllDtypes,
      .doc = "Whether |input - other| <= atol + |rtol * other|."};
};
