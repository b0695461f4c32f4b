// A fold whose formula joins two partial results.

struct xor_all {
  static constexpr Row row{
      .signature = "xor_all(Tensor self, int[1]? dim=(), bool keepdim=False, *, Tensor out=None) -> Tensor",
      .kind = Kind::fold,
      .dtypes = kUsualIntegers,
      .kernel_name = "xor_all_cpu",
      .doc = "The exclusive or of the elements along dim."};
  template <class T>
  static T forward(T a, T b) {
    return a ^ b;
  }
};
