// python: owned references across the Python boundary, and the identity cache. The engine may copy and drop references
// to Python objects on any thread. The cache finds the Python object of a C++ object again.
#pragma once
#include <memory>
#include <unordered_map>
#include <vector>

#include "python/convert.h"

namespace tenon::python {

/// A reference to a Python object that may be copied and dropped without the GIL.
class OwnedReference {
 public:
  explicit OwnedReference(PyObject* object) : object_(again(object), drop) {}
  PyObject* get() const noexcept { return object_.get(); }
  /// Whether no copy of this reference exists. Then the garbage collector may count it as its owner's.
  bool is_only() const noexcept { return object_.use_count() == 1; }

 private:
  static void drop(PyObject* object) noexcept;
  std::shared_ptr<PyObject> object_;
};

/// Maps C++ objects to their Python objects while these live, so that the same object is returned each time. Any thread
/// may use it that may use Python.
class IdentityCache {
 public:
  /// `thing_of` gives the C++ object that a Python object holds by now.
  explicit IdentityCache(const void* (*thing_of)(PyObject*)) : thing_of_(thing_of) {}
  /// The object, invalid if there is none.
  nb::object find(const void* thing);
  /// Makes `find` give this object.
  void set(const void* thing, PyObject* object);
  /// The same, unless another thread was first: then its object is returned.
  nb::object add(const void* thing, nb::object object);

 private:
  /// Needs the lock. What it drops may run Python, so that waits until the lock is open.
  nb::object find_locked(const void* thing, std::vector<nb::object>& dropped);
  void drop_dead(std::vector<nb::object>& dropped);

  nb::ft_mutex mutex_;
  const void* (*thing_of_)(PyObject*);
  std::unordered_map<const void*, nb::object> weak_references_;
  std::size_t limit_ = 64;  // above this size, dead entries are removed
};

/// The tensor's Python object, the former one if that still lives; None for an undefined tensor.
PyObject* wrap_known(const Tensor& tensor);
/// Makes `wrap_known` of the object's tensor give this object.
void remember(PyObject* object);

}  // namespace tenon::python
