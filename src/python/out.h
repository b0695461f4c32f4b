// python: `out=` of functions that are not declared ops. Checked before anything is computed; resized and written at
// the end.
#pragma once
#include <initializer_list>

#include "python/arguments.h"
#include "tenon/factories.h"

namespace tenon::python {

/// Throws PyTorch's Error if `dtype=` or `device=` differ from those of `out=`.
void check_out(const Call& call);
/// Throws Error if autograd would have to record the call.
void check_unrecorded(const std::string& name, const Tensor& out, std::initializer_list<const Tensor*> operands = {});
/// Resizes a tensor without a warning and without looking at requires_grad.
void resize_quietly(Tensor& out, SizesView sizes);
/// Copies a result. If `out` has another shape it is resized, with these strides, and with PyTorch's warning if it had
/// elements.
void write_out(Tensor& out, const Tensor& result, SizesView strides);
/// Memory for random numbers: with the strides of `out=`, on which depends which element gets which number, if that has
/// this size.
Tensor memory_to_draw(const Call& call, SizesView size, const Options& options);
/// The tensor given as `out=` of a factory, with requires_grad as the call asks.
PyObject* returned_by_factory(const Call& call);

}  // namespace tenon::python
