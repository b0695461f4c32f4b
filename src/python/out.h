// python: `out=` of what is no op of the table. Refused before anything is made; resized and written when all is there.
#pragma once
#include <initializer_list>

#include "python/arguments.h"

namespace tenon::python {

/// Error where `dtype=` or `device=` are not those of `out=`, as PyTorch's parser says it.
void check_out(const Call& call);
/// Error where autograd would have to record the call.
void check_unrecorded(const std::string& name, const Tensor& out, std::initializer_list<const Tensor*> operands = {});
/// New sizes for a tensor that is written next: without a word, whether or not it requires grad.
void resize_quietly(Tensor& out, SizesView sizes);
/// Copies a result, with PyTorch's warning where `out` held elements and has another shape.
/// One that is resized gets those strides.
void write_out(Tensor& out, const Tensor& result, SizesView strides);

}  // namespace tenon::python
