// ops: bitwise ops of integers.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct bitwise_and {
  static constexpr Row row{
      .signature = "bitwise_and(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "bitwise_and",
      .symbol = "&",
      .dtypes = kAllIntegers,
      .kernel_name = "bitwise_and_cpu",
      .doc = "The bits that are set in both. Of bool: logical."};
  template <class T>
  static T forward(T a, T b) {
    return a & b;
  }
};

struct bitwise_or {
  static constexpr Row row{
      .signature = "bitwise_or(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "bitwise_or",
      .symbol = "|",
      .dtypes = kAllIntegers,
      .kernel_name = "bitwise_or_cpu",
      .doc = "The bits that are set in one of both or in both. Of bool: logical."};
  template <class T>
  static T forward(T a, T b) {
    return a | b;
  }
};

struct bitwise_xor {
  static constexpr Row row{
      .signature = "bitwise_xor(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "bitwise_xor",
      .symbol = "^",
      .dtypes = kAllIntegers,
      .kernel_name = "bitwise_xor_cpu",
      .doc = "The bits that are set in exactly one of both. Of bool: logical."};
  template <class T>
  static T forward(T a, T b) {
    return a ^ b;
  }
};

struct bitwise_not {
  static constexpr Row row{.signature = "bitwise_not(Tensor self, *, Tensor out=None) -> Tensor",
                           .array_api = "bitwise_invert",
                           .numpy = "invert",
                           .symbol = "~",
                           .dtypes = kUsualIntegers | set_of(bool_),
                           .kernel_name = "bitwise_not_cpu",
                           .strict_out = true,
                           .doc = "Every bit turned. Of bool: logical."};
  template <class T>
  static T forward(T a) {
    return ~a;
  }
};

struct bitwise_left_shift {
  static constexpr Row row{
      .signature = "bitwise_left_shift(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "bitwise_left_shift",
      .numpy = "left_shift",
      .symbol = "<<",
      .dtypes = kUsualIntegers,
      .kernel_name = "lshift_cpu",
      .doc = "input times 2 to the power of other, without the bits that don't fit; 0 where other is negative."};
  template <class T>
  static T forward(T a, T b) {
    return a << b;
  }
};

struct bitwise_right_shift {
  static constexpr Row row{
      .signature = "bitwise_right_shift(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "bitwise_right_shift",
      .numpy = "right_shift",
      .symbol = ">>",
      .dtypes = kUsualIntegers,
      .kernel_name = "rshift_cpu",
      .doc = "input divided by 2 to the power of other, rounded down; the sign alone where other is negative."};
  template <class T>
  static T forward(T a, T b) {
    return a >> b;
  }
};
