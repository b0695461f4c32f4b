// python: hooks written in Python. Takes callables; gives hooks that hold the GIL during the call, check the result
// with PyTorch's error texts and pass Python exceptions on.
#pragma once
#include "python/references.h"
#include "tenon/autograd.h"

namespace tenon::python {

/// A tensor's hook: takes a gradient; returns a gradient or None.
struct PythonTensorHook {
  OwnedReference callable;
  Tensor operator()(const Tensor& gradient) const;
};
/// A leaf's hook, after its grad has changed.
struct PythonLeafHook {
  OwnedReference callable;
  void operator()(const Tensor& leaf) const;
};
/// A node's hooks, before and after it runs.
struct PythonNodePreHook {
  OwnedReference callable;
  autograd::Tensors operator()(const autograd::Tensors& grad_outputs) const;
};
struct PythonNodeHook {
  OwnedReference callable;
  autograd::Tensors operator()(const autograd::Tensors& grad_inputs, const autograd::Tensors& grad_outputs) const;
};

/// Gradients as a tuple; None for undefined ones.
nb::object tuple_of(const autograd::Tensors& gradients);

/// The handle that removes a hook.
PyObject* to_python(autograd::HookHandle handle);
void bind_hooks(nb::module_& module);

}  // namespace tenon::python
