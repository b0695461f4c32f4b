// ops: products of matrices. No formula over lanes: dispatch/product.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct mm {
  static constexpr Row row{.signature = "mm(Tensor self, Tensor mat2, *, Tensor out=None) -> Tensor",
                           .kind = Kind::algorithm,
                           .dtypes = kNoBool,
                           .kernel_name = "addmm_impl_cpu_",
                           .grad_fn = "MmBackward0",
                           .doc = "The product of two matrices."};
};

/// With results of another dtype: PyTorch lists it, and has it on no cpu.
struct mm_dtype {
  static constexpr Row row{
      .signature = "mm(Tensor self, Tensor mat2, ScalarType out_dtype, *, Tensor out=None) -> Tensor",
      .kind = Kind::algorithm,
      .method = false};
};
