// ops: products of matrices. No formula over lanes: dispatch/product.cpp.
// Included by blocks-inl.h, inside a namespace: no includes and no guard here.

struct mm {
  static constexpr Row row{.name = "mm",
                           .dtypes = kNoBool,
                           .kernel_name = "addmm_impl_cpu_",
                           .whole = true,
                           .grad_fn = "MmBackward0",
                           .doc = "The product of two matrices."};
};
