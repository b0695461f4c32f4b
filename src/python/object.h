// python: the type Tensor. Takes slots and methods of the other files; gives the class Python sees.
#pragma once
#include <vector>

#include "python/convert.h"

namespace tenon::python {

/// The last two dims swapped, conjugated; `name` stands in the Error for one dim, `warned` in the warning for none.
Tensor adjoint(const Tensor& self, const char* name, const char* warned);

/// Makes the types Tensor and Size and adds them to the module.
void bind_tensor(nb::module_& module);

/// What operators, indexing and exchange add to the type.
void add_operator_slots(std::vector<PyType_Slot>& slots);
void add_index_slots(std::vector<PyType_Slot>& slots);
void add_buffer_slots(std::vector<PyType_Slot>& slots);
void add_garbage_slots(std::vector<PyType_Slot>& slots);
/// What the collector needs to know of the type before there are objects of it.
void find_dict(nb::handle type);
/// The attributes that differentiation adds.
void add_autograd_attributes(std::vector<PyGetSetDef>& attributes);

/// "tensor([1, 2])".
PyObject* repr_of(PyObject* self) noexcept;

}  // namespace tenon::python
