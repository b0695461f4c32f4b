// python: functions of Python that the engine calls. Takes callables; gives hooks that take the interpreter for their
// call, check what comes back in PyTorch's words and let Python's exceptions through.
#pragma once
#include "python/references.h"
#include "tenon/autograd.h"

namespace tenon::python {

/// Of a tensor: gradient to gradient, or None.
struct PythonTensorHook {
  OwnedReference callable;
  Tensor operator()(const Tensor& gradient) const;
};
/// Of a leaf, after its grad has changed.
struct PythonLeafHook {
  OwnedReference callable;
  void operator()(const Tensor& leaf) const;
};
/// Of a node, before it runs and after.
struct PythonNodePreHook {
  OwnedReference callable;
  autograd::Tensors operator()(const autograd::Tensors& grad_outputs) const;
};
struct PythonNodeHook {
  OwnedReference callable;
  autograd::Tensors operator()(const autograd::Tensors& grad_inputs, const autograd::Tensors& grad_outputs) const;
};

/// Gradients as a tuple, None where there is none.
nb::object tuple_of(const autograd::Tensors& gradients);

/// The handle that takes a hook away again.
PyObject* to_python(autograd::HookHandle handle);
void bind_hooks(nb::module_& module);

}  // namespace tenon::python
