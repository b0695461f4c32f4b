// Garbage collection of tensors (tp_traverse, tp_clear). A hook that refers to its tensor, or a context that holds a
// result of its function, forms a cycle through the engine. The collector visits what only the tensor owns.
#include "autograd/meta.h"
#include "python/function.h"
#include "python/hooks.h"
#include "python/object.h"

namespace tenon::python {
namespace {

Py_ssize_t dict_offset = 0;

/// The address of an object's __dict__, also for subclasses.
PyObject** dict_of(PyObject* self) noexcept {
  return reinterpret_cast<PyObject**>(reinterpret_cast<char*>(self) + dict_offset);
}

/// What one tensor owns alone; null if it is shared.
struct Owned {
  LeafHooks* leaf_hooks = nullptr;
  autograd::NodeImpl* node = nullptr;
};

/// A running backward holds references, so what it uses counts as shared.
Owned owned_by(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const TensorImpl* impl = tensor.impl();
  const AutogradMeta* meta = impl->meta();
  if (!meta || impl->references.load() != 1) return {};
  autograd::NodeImpl* node = meta->grad_fn.load();
  return {meta->hooks.load(), node && node->references->load() == 1 ? node : nullptr};
}

template <class Visit>
void for_each_list(const Owned& owned, const Visit& visit) {
  if (owned.leaf_hooks) {
    visit.template operator()<PythonTensorHook>(owned.leaf_hooks->before);
    visit.template operator()<PythonLeafHook>(owned.leaf_hooks->after);
  }
  if (!owned.node || !owned.node->extras_if_any()) return;
  const autograd::NodeExtras& extras = *owned.node->extras_if_any();
  for (const autograd::NodeExtras::OfResult& of : extras.tensor_hooks)
    visit.template operator()<PythonTensorHook>(of.hooks);
  visit.template operator()<PythonNodePreHook>(extras.pre_hooks);
  visit.template operator()<PythonNodeHook>(extras.hooks);
}

/// The Python function of a hook, if the hook is its only owner in the engine.
template <class Caller, class Hook>
PyObject* callable_of(const Hook& hook) {
  const Caller* caller = hook.template target<Caller>();
  return caller && caller->callable.is_only() ? caller->callable.get() : nullptr;
}

int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(*dict_of(self));
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  if (!nb::inst_ready(self)) return 0;
  int stopped = 0;
  const auto visit_object = [&](PyObject* object) {
    if (object && stopped == 0) stopped = visit(object, arg);
  };
  const Owned owned = owned_by(tensor_of(self));
  for_each_list(owned, [&]<class Caller>(const auto& list) {
    if (list) list->for_each([&](const auto& hook) { visit_object(callable_of<Caller>(hook)); });
  });
  if (owned.node) visit_object(visited_context(owned.node));
  return stopped;
}

/// Breaks cycles through hooks. Cycles through a context are broken by the context.
int clear(PyObject* self) noexcept {
  Py_CLEAR(*dict_of(self));
  if (!nb::inst_ready(self)) return 0;
  for_each_list(owned_by(tensor_of(self)), [&]<class Caller>(const auto& list) {
    if (list) list->clear();
  });
  return 0;
}

}  // namespace

void add_garbage_slots(std::vector<PyType_Slot>& slots) {
  slots.push_back({Py_tp_traverse, reinterpret_cast<void*>(traverse)});
  slots.push_back({Py_tp_clear, reinterpret_cast<void*>(clear)});
}

void find_dict(nb::handle type) { dict_offset = nb::cast<Py_ssize_t>(type.attr("__dictoffset__")); }

}  // namespace tenon::python
