#include "python/hooks.h"

#include "autograd/node.h"
#include "python/creation.h"

namespace tenon::python {
namespace {

/// A callable's name in PyTorch's error texts: "hook 'double_it'".
std::string hook_name(PyObject* callable) {
  const nb::object name = nb::steal(PyObject_GetAttrString(callable, "__name__"));
  if (name.is_valid()) return "hook '" + nb::cast<std::string>(nb::str(name)) + "'";
  PyErr_Clear();
  return "hook";
}

/// The gradient that a hook returned as a replacement; undefined for None.
Tensor replacement(PyObject* callable, const Tensor& before, PyObject* result) {
  if (result == Py_None) return {};
  if (!is_tensor(result)) throw TypeError("expected Variable, but hook returned '" + type_name(result) + "'");
  const Tensor& after = tensor_of(result);
  if (!before.defined()) throw Error("can't replace a None gradient with a non-None value");
  if (before.dtype() != after.dtype())
    throw Error(hook_name(callable) + " has changed the type of value (was " + autograd::class_name(before) + " got " +
                autograd::class_name(after) + ")");
  if (!(before.sizes() == after.sizes())) throw Error(hook_name(callable) + " has changed the size of value");
  return after;
}

/// The gradients that a hook returned as replacements; an empty list for None.
autograd::Tensors replacements(PyObject* callable, const autograd::Tensors& before, PyObject* result) {
  if (result == Py_None) return {};
  if (!PyTuple_Check(result)) throw TypeError("expected tuple, but hook returned '" + type_name(result) + "'");
  const auto count = static_cast<std::size_t>(PyTuple_Size(result));
  if (count != before.size())
    throw Error(hook_name(callable) + " has returned an incorrect number of values (got " + std::to_string(count) +
                ", but expected " + std::to_string(before.size()) + ")");
  autograd::Tensors after;
  for (std::size_t i = 0; i < count; ++i)
    after.push_back(replacement(callable, before[i], NB_TUPLE_GET_ITEM(result, static_cast<Py_ssize_t>(i))));
  return after;
}

nb::object call(PyObject* callable, const nb::object& first, const nb::object& second = {}) {
  return checked_object(PyObject_CallFunctionObjArgs(callable, first.ptr(), second.ptr(), nullptr));
}

struct RemovableHandle {
  autograd::HookHandle handle;
};

}  // namespace

nb::object tuple_of(const autograd::Tensors& gradients) {
  nb::object tuple = checked_object(PyTuple_New(static_cast<Py_ssize_t>(gradients.size())));
  for (std::size_t i = 0; i < gradients.size(); ++i)
    NB_TUPLE_SET_ITEM(tuple.ptr(), static_cast<Py_ssize_t>(i), wrap_known(gradients[i]));
  return tuple;
}

Tensor PythonTensorHook::operator()(const Tensor& gradient) const {
  const Held held;
  const nb::object result = call(callable.get(), nb::steal(wrap_known(gradient)));
  return replacement(callable.get(), gradient, result.ptr());
}

void PythonLeafHook::operator()(const Tensor& leaf) const {
  const Held held;
  const nb::object given = nb::steal(wrap_known(leaf));
  const nb::object result = call(callable.get(), given);
  if (result.is(given) || result.is_none()) return;
  replacement(callable.get(), leaf, result.ptr());  // checks the result first
  throw Error("Tensor post accumulate grad hooks should return None.");
}

autograd::Tensors PythonNodePreHook::operator()(const autograd::Tensors& grad_outputs) const {
  const Held held;
  return replacements(callable.get(), grad_outputs, call(callable.get(), tuple_of(grad_outputs)).ptr());
}

autograd::Tensors PythonNodeHook::operator()(const autograd::Tensors& grad_inputs,
                                             const autograd::Tensors& grad_outputs) const {
  const Held held;
  const nb::object result = call(callable.get(), tuple_of(grad_inputs), tuple_of(grad_outputs));
  return replacements(callable.get(), grad_inputs, result.ptr());
}

PyObject* to_python(autograd::HookHandle handle) {
  return nb::cast(RemovableHandle{std::move(handle)}).release().ptr();
}

void bind_hooks(nb::module_& module) {
  nb::class_<RemovableHandle> bound(module, "RemovableHandle", nb::type_slots(kRefuseNew), "Takes a hook away again.");
  name_publicly(bound);
  bound
      .def(
          "remove", [](RemovableHandle& self) { self.handle.remove(); }, "Does nothing the second time.")
      .def("__enter__", [](nb::object self) { return self; })
      .def("__exit__", [](RemovableHandle& self, nb::args) { self.handle.remove(); });
}

}  // namespace tenon::python
