// python: products of vectors and matrices. Takes tensors of any number of dims from one on; gives PyTorch's matmul.
#pragma once
#include "python/arguments.h"

namespace tenon::python {

Tensor matmul(const Tensor& a, const Tensor& b);
/// Error of `out_dtype=`, which PyTorch lists for products and has on no cpu.
[[noreturn]] void fail_other_dtype(const char* product, const Call& call);

}  // namespace tenon::python
