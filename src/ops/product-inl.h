// ops: products of matrices. No formula over lanes: dispatch/product.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct mm {
  static constexpr Row row{.signature = "mm(Tensor self, Tensor mat2, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .by_hand = true,
                           .dtypes = kNoBool,
                           .kernel_name = "addmm_impl_cpu_",
                           .strict_out = true,
                           .grad_fn = "MmBackward0",
                           .doc = "The product of two matrices."};
  template <class G>
  static auto grad_a(const G& g) {
    return g.grad().mm(g.b().t());
  }
  template <class G>
  static auto grad_b(const G& g) {
    return g.a().t().mm(g.grad());
  }
};

/// With results of another dtype: PyTorch lists it, and has it on no cpu.
struct mm_dtype {
  static constexpr Row row{
      .signature = "mm(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .by_hand = true,
      .method = false};
};
