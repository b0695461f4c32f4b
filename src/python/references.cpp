#include "python/references.h"

#include <iterator>
#include <utility>

namespace tenon::python {

void OwnedReference::drop(PyObject* object) noexcept {
  if (!Py_IsInitialized()) return;  // the process ends
  const Held held;
  Py_DECREF(object);
}

namespace {

/// The object of a weak reference, invalid if it is dead. Runs no Python.
nb::object alive(const nb::object& weak_reference) {
#ifdef NB_FREE_THREADED
  PyObject* object = nullptr;
  if (PyWeakref_GetRef(weak_reference.ptr(), &object) < 0) throw PythonError{};
  return nb::steal(object);
#else
  nb::object object = checked_object(PyObject_CallNoArgs(weak_reference.ptr()));
  return object.is_none() ? nb::object() : object;
#endif
}

/// Never destroyed: the interpreter ends before static objects are destroyed.
IdentityCache& known_tensors() {
  static IdentityCache& known =
      *new IdentityCache([](PyObject* object) -> const void* { return tensor_of(object).impl(); });
  return known;
}

}  // namespace

nb::object IdentityCache::find_locked(const void* thing, std::vector<nb::object>& dropped) {
  const auto entry = weak_references_.find(thing);
  if (entry == weak_references_.end()) return {};
  nb::object object = alive(entry->second);
  // Compared, because an object may hold another thing by now, and an address may have been reused.
  if (object.is_valid() && thing_of_(object.ptr()) == thing) return object;
  if (object.is_valid()) dropped.push_back(std::move(object));
  return {};
}

nb::object IdentityCache::find(const void* thing) {
  std::vector<nb::object> dropped;
  const nb::ft_lock_guard guard(mutex_);
  return find_locked(thing, dropped);
}

void IdentityCache::set(const void* thing, PyObject* object) {
  std::vector<nb::object> dropped;
  nb::object weak_reference = checked_object(PyWeakref_NewRef(object, nullptr));
  const nb::ft_lock_guard guard(mutex_);
  if (weak_references_.size() >= limit_) drop_dead(dropped);
  std::swap(weak_references_[thing], weak_reference);
  dropped.push_back(std::move(weak_reference));
}

nb::object IdentityCache::add(const void* thing, nb::object object) {
  std::vector<nb::object> dropped;
  nb::object weak_reference = checked_object(PyWeakref_NewRef(object.ptr(), nullptr));
  const nb::ft_lock_guard guard(mutex_);
  if (nb::object first = find_locked(thing, dropped); first.is_valid()) {
    dropped.push_back(std::move(object));
    return first;
  }
  if (weak_references_.size() >= limit_) drop_dead(dropped);
  std::swap(weak_references_[thing], weak_reference);
  dropped.push_back(std::move(weak_reference));
  return object;
}

void IdentityCache::drop_dead(std::vector<nb::object>& dropped) {
  for (auto entry = weak_references_.begin(); entry != weak_references_.end();) {
    nb::object object = alive(entry->second);
    const bool lives = object.is_valid();
    dropped.push_back(lives ? std::move(object) : std::move(entry->second));
    entry = lives ? std::next(entry) : weak_references_.erase(entry);
  }
  limit_ = 2 * weak_references_.size() + 64;
}

void remember(PyObject* object) { known_tensors().set(tensor_of(object).impl(), object); }

PyObject* wrap_known(const Tensor& tensor) {
  if (!tensor.defined()) return again(Py_None);
  nb::object known = known_tensors().find(tensor.impl());
  if (!known.is_valid()) known = known_tensors().add(tensor.impl(), nb::steal(wrap(tensor)));
  return known.release().ptr();
}

}  // namespace tenon::python
