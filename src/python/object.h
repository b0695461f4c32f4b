// python: the type Tensor, made from slots and methods of the other files.
#pragma once
#include <vector>

#include "python/convert.h"

namespace tenon::python {

/// The last two dims swapped, conjugated. `name` is the attribute in the Error for 1-D tensors, `warned` in the warning
/// for 0-D tensors.
Tensor adjoint(const Tensor& self, const char* name, const char* warned);

/// Makes the types Tensor and Size and adds them to the module.
void bind_tensor(nb::module_& module);

/// Slots that operators, indexing and exchange add to the type.
void add_operator_slots(std::vector<PyType_Slot>& slots);
/// Adds _choose_operators, which gives operators to other functions.
void bind_operators(nb::module_& module);
/// Adds _use_backward_slices: while they have users, slices with negative steps are taken.
void bind_indexing(nb::module_& module);
void add_index_slots(std::vector<PyType_Slot>& slots);
/// The value to write: a tensor of any dtype, or a number in the dtype of `self`.
Tensor value_of(PyObject* value, const Tensor& self);
void add_buffer_slots(std::vector<PyType_Slot>& slots);
void add_garbage_slots(std::vector<PyType_Slot>& slots);
/// Finds the offset of an object's __dict__, for the garbage collector. Call before the first object is made.
void find_dict(nb::handle type);
/// Adds the attributes of autograd.
void add_autograd_attributes(std::vector<PyGetSetDef>& attributes);

/// "tensor([1, 2])".
PyObject* repr_of(PyObject* self) noexcept;

}  // namespace tenon::python
