// ops: normalization, which makes the mean of a row of elements 0 and its deviation 1.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct layer_norm {
  static constexpr Row row{
      .signature =
          "layer_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) "
          "-> "
          "Tensor",
      .module = "nn.functional",
      .python =
          "(Tensor input, int[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
          "cudnn_enable=True)",
      .kind = Kind::algorithm,
      .shapes = "ij,j,j",
      .values = "normalized_shape: 2 3; eps: 1e-5 0.1",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "LayerNormKernelImpl",
      .ulp = 16,
      .grad_fn = "NativeLayerNormBackward0",
      .doc = "input less its mean, over the root of its variance + eps, over the last dims; times weight, plus bias."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_layer_norm(g, g.a(), g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_layer_norm_weight(g, g.a(), g.b());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return of_layer_norm_bias(g, g.c());
  }
};

struct group_norm {
  static constexpr Row row{
      .signature =
          "group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05) -> Tensor",
      .module = "nn.functional",
      .python =
          "(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1e-05, bool "
          "cudnn_enabled=True)",
      .kind = Kind::algorithm,
      .shapes = "bik,i,i",
      .values = "num_groups: 1 2 3; eps: 1e-5 0.1",
      .method = false,
      .dtypes = kFloats,
      .kernel_name = "GroupNormKernelImpl",
      .ulp = 16,
      .grad_fn = "NativeGroupNormBackward0",
      .doc =
          "input less its mean, over the root of its variance + eps, over each of num_groups groups of channels, which "
          "lie along dim 1; times the weight of each channel, plus its bias."};
  template <class G>
  static auto grad_a(const G& g) {
    return of_group_norm(g, g.a(), g.b());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return of_group_norm_weight(g, g.a(), g.b());
  }
  template <class G>
  static auto grad_c(const G& g) {
    return of_group_norm_bias(g, g.c());
  }
};

struct rms_norm {
  static constexpr Row row{
      .signature = "rms_norm(Tensor input, int[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor",
      .module = "nn.functional",
      .kind = Kind::algorithm,
      .shapes = "ij,j",
      .values = "normalized_shape: 2 3; eps: 1e-5 0.1",
      .method = false,
      .dtypes = kInexact,
      .kernel_name = "rms_norm",
      .ulp = 16,
      .doc =
          "input over the root of the mean of its squares + eps, over the last dims; times weight. Without eps it is "
          "the distance of 1 to the next number."};
};
