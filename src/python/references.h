// python: objects of one side that the other side holds. Takes Python objects for the engine, which copies and drops
// them on any thread; remembers which Python objects stand for what the engine gives out more than once.
#pragma once
#include <memory>
#include <unordered_map>

#include "python/convert.h"

namespace tenon::python {

/// A reference to a Python object that may be copied and dropped without the interpreter.
class OwnedReference {
 public:
  explicit OwnedReference(PyObject* object) : object_(again(object), drop) {}
  PyObject* get() const noexcept { return object_.get(); }
  /// Whether no copy of this reference exists: then the garbage collector may take it for its owner's.
  bool is_only() const noexcept { return object_.use_count() == 1; }

 private:
  static void drop(PyObject* object) noexcept;
  std::shared_ptr<PyObject> object_;
};

/// The Python objects of things of the engine, for as long as Python holds them: asked for twice, the same one comes.
/// Needs the interpreter.
class IdentityCache {
 public:
  /// A new reference, or null.
  PyObject* find(const void* thing);
  void add(const void* thing, PyObject* object);

 private:
  void drop_dead();
  std::unordered_map<const void*, PyObject*> weak_references_;
  std::size_t limit_ = 64;  // above it, the dead ones are looked for
};

/// The tensor as the object it was to Python before, if that one lives; None where it is undefined.
PyObject* wrap_known(const Tensor& tensor);
/// Makes `wrap_known` of the object's tensor give this object.
void remember(PyObject* object);

}  // namespace tenon::python
