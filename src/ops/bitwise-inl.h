// ops: bitwise ops of integers.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct bitwise_and {
  static constexpr Row row{
      .signature = "bitwise_and(Tensor|Scalar self, Tensor|Scalar other, *, Tensor out=None) -> Tensor",
      .array_api = "bitwise_and",
      .symbol = "&",
      .dtypes = kAllIntegers,
      .kernel_name = "bitwise_and_cpu",
      .doc = "Bitwise and. Of bool: logical and."};
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
      .doc = "Bitwise or. Of bool: logical or."};
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
      .doc = "Bitwise exclusive or. Of bool: logical exclusive or."};
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
                           .doc = "Every bit inverted. Of bool: logical not."};
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
      .doc =
          "The bits of input moved left by other: input * 2 ** other. Bits that do not fit are lost; 0 if other is "
          "negative."};
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
      .doc =
          "The bits of input moved right by other: input / 2 ** other, rounded down. If other is negative: 0, or -1 "
          "for a negative input."};
  template <class T>
  static T forward(T a, T b) {
    return a >> b;
  }
};
