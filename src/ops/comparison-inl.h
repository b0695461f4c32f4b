// ops: comparisons and logic.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct eq {
  static constexpr Row row{.name = "eq",
                           .symbol = "==",
                           .promotion = Promotion::comparison,
                           .dtypes = kAllDtypes,
                           .doc = "Whether elements are equal."};
  template <class T>
  static Truth forward(T a, T b) {
    return a == b;
  }
};

struct ne {
  static constexpr Row row{.name = "ne",
                           .symbol = "!=",
                           .promotion = Promotion::comparison,
                           .dtypes = kAllDtypes,
                           .doc = "Whether elements differ."};
  template <class T>
  static Truth forward(T a, T b) {
    return a != b;
  }
};

struct lt {
  static constexpr Row row{.name = "lt",
                           .symbol = "<",
                           .promotion = Promotion::comparison,
                           .kernel_name = "lt_cpu",
                           .doc = "Whether input is less than other."};
  template <class T>
  static Truth forward(T a, T b) {
    return a < b;
  }
};

struct le {
  static constexpr Row row{.name = "le",
                           .symbol = "<=",
                           .promotion = Promotion::comparison,
                           .kernel_name = "le_cpu",
                           .doc = "Whether input is at most other."};
  template <class T>
  static Truth forward(T a, T b) {
    return a <= b;
  }
};

struct gt {
  static constexpr Row row{.name = "gt",
                           .symbol = ">",
                           .promotion = Promotion::comparison,
                           .kernel_name = "gt_cpu",
                           .doc = "Whether input is greater than other."};
  template <class T>
  static Truth forward(T a, T b) {
    return b < a;
  }
};

struct ge {
  static constexpr Row row{.name = "ge",
                           .symbol = ">=",
                           .promotion = Promotion::comparison,
                           .kernel_name = "ge_cpu",
                           .doc = "Whether input is at least other."};
  template <class T>
  static Truth forward(T a, T b) {
    return b <= a;
  }
};

struct logical_and {
  static constexpr Row row{.name = "logical_and",
                           .promotion = Promotion::logical,
                           .kernel_name = "logical_and_cpu",
                           .doc = "Whether both are not 0.",
                           .signatures = kTensorsOnly};
  template <class T>
  static Truth forward(T a, T b) {
    return a & b;
  }
};

struct logical_or {
  static constexpr Row row{.name = "logical_or",
                           .promotion = Promotion::logical,
                           .kernel_name = "logical_or_cpu",
                           .doc = "Whether one of both is not 0.",
                           .signatures = kTensorsOnly};
  template <class T>
  static Truth forward(T a, T b) {
    return a | b;
  }
};

struct logical_xor {
  static constexpr Row row{.name = "logical_xor",
                           .promotion = Promotion::logical,
                           .kernel_name = "logical_xor_cpu",
                           .doc = "Whether exactly one of both is not 0.",
                           .signatures = kTensorsOnly};
  template <class T>
  static Truth forward(T a, T b) {
    return a ^ b;
  }
};

struct logical_not {
  static constexpr Row row{.name = "logical_not",
                           .arity = 1,
                           .promotion = Promotion::logical,
                           .kernel_name = "logical_not_cpu",
                           .doc = "Whether an element is 0."};
  template <class T>
  static Truth forward(T a) {
    return !a;
  }
};
