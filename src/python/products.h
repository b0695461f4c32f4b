// python: products of vectors and matrices. Takes tensors of any number of dims from one on; gives PyTorch's matmul.
#pragma once
#include "tenon/tensor.h"

namespace tenon::python {

Tensor matmul(const Tensor& a, const Tensor& b);

}  // namespace tenon::python
