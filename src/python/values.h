// python: takes numbers, nested sequences and arrays; gives a new tensor with their values.
#pragma once
#include "python/convert.h"
#include "tenon/factories.h"

namespace tenon::python {

/// The tensor that torch.tensor(data) makes, or its error.
Tensor tensor_of_values(PyObject* data, const Options& options);
/// Nested lists of Python numbers.
PyObject* to_list(const Tensor& tensor);

}  // namespace tenon::python
