#include "python/references.h"

namespace tenon::python {

void OwnedReference::drop(PyObject* object) noexcept {
  if (!Py_IsInitialized()) return;  // the process ends
  const Held held;
  Py_DECREF(object);
}

namespace {

/// A new reference to the object of a weak reference, or null.
PyObject* alive(PyObject* weak_reference) {
  PyObject* object = checked(PyObject_CallNoArgs(weak_reference));
  if (object != Py_None) return object;
  Py_DECREF(object);
  return nullptr;
}

/// Never destroyed: the interpreter ends before static objects are destroyed.
IdentityCache& known_tensors() {
  static IdentityCache& known = *new IdentityCache;
  return known;
}

}  // namespace

PyObject* IdentityCache::find(const void* thing) {
  const auto entry = weak_references_.find(thing);
  return entry == weak_references_.end() ? nullptr : alive(entry->second);
}

void IdentityCache::add(const void* thing, PyObject* object) {
  if (weak_references_.size() >= limit_) drop_dead();
  PyObject* weak_reference = checked(PyWeakref_NewRef(object, nullptr));
  PyObject*& entry = weak_references_[thing];
  Py_XDECREF(entry);
  entry = weak_reference;
}

void IdentityCache::drop_dead() {
  for (auto entry = weak_references_.begin(); entry != weak_references_.end();) {
    const nb::object object = nb::steal(alive(entry->second));
    if (object.is_valid()) {
      ++entry;
      continue;
    }
    Py_DECREF(entry->second);
    entry = weak_references_.erase(entry);
  }
  limit_ = 2 * weak_references_.size() + 64;
}

void remember(PyObject* object) { known_tensors().add(tensor_of(object).impl(), object); }

PyObject* wrap_known(const Tensor& tensor) {
  if (!tensor.defined()) return again(Py_None);
  nb::object known = nb::steal(known_tensors().find(tensor.impl()));
  // Compared, because an object may hold another tensor by now, and an address may have been reused.
  if (known.is_valid() && tensor_of(known.ptr()).is(tensor)) return known.release().ptr();
  const nb::object object = nb::steal(wrap(tensor));
  remember(object.ptr());
  return nb::object(object).release().ptr();
}

}  // namespace tenon::python
