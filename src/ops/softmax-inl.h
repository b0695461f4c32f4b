// ops: softmax, whose results are positive and add up to 1 along a dim, and its logarithm.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct softmax {
  static constexpr Row row{
      .signature = "softmax(Tensor self, int dim, ScalarType? dtype=None, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kFloats,
      .kernel_name = "softmax_kernel_impl",
      .ulp = 4,
      .grad_fn = "SoftmaxBackward0",
      .doc = "exp(input), divided by its sum along dim. 16-bit floats are computed in float32 and rounded once."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_softmax(g.grad(), g.result(), g.integer("dim"));
  }
};

struct log_softmax {
  static constexpr Row row{
      .signature = "log_softmax(Tensor self, int dim, ScalarType? dtype=None, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .dtypes = kFloats,
      .kernel_name = "log_softmax_kernel_impl",
      .ulp = 4,
      .grad_fn = "LogSoftmaxBackward0",
      .doc = "The logarithm of softmax, without its underflow: input - logsumexp(input) along dim."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_log_softmax(g.grad(), g.result(), g.integer("dim"));
  }
};

/// Calls softmax.
struct special_softmax {
  static constexpr Row row{.signature = "special_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor",
                           .module = "special",
                           .kind = Kind::algorithm,
                           .method = false,
                           .dtypes = kFloats,
                           .ulp = 4,
                           .doc = "softmax."};
};

/// Calls log_softmax.
struct special_log_softmax {
  static constexpr Row row{
      .signature = "special_log_softmax(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor",
      .module = "special",
      .kind = Kind::algorithm,
      .method = false,
      .dtypes = kFloats,
      .ulp = 4,
      .doc = "log_softmax."};
};
