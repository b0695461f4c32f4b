#include "python/fuse.h"

#include <map>
#include <memory>
#include <thread>
#include <unordered_map>

#include "fuse/graph.h"
#include "python/creation.h"
#include "python/references.h"
#include "tenon/fuse.h"
#include "tensor/history.h"

namespace tenon::python {
namespace {

/// A list or tuple of tensors.
List<Tensor> tensors_of(PyObject* sequence) {
  List<Tensor> tensors;
  for (Py_ssize_t i = 0; i < length_of(sequence); ++i) tensors.push_back(tensor_of(item_of(sequence, i).ptr()));
  return tensors;
}
bool are_tensors(PyObject* sequence) {
  for (Py_ssize_t i = 0; i < length_of(sequence); ++i)
    if (Py_TYPE(item_of(sequence, i).ptr()) != tensor_type) return false;
  return true;
}

nb::list list_of(const List<Tensor>& tensors) {
  nb::list list;
  for (const Tensor& tensor : tensors) list.append(nb::steal(wrap(tensor)));
  return list;
}

// A call whose values have so few elements ends sooner than another thread would ask for the GIL. To hand it over takes
// 0.07 us.
constexpr int64_t kFewElements = 4096;

/// A callable that takes a list of tensors and gives the structure of its results and a list of their tensors. Graphs
/// whose gradients will be asked for keep it alive.
struct Callable {
  OwnedReference callable;
  nb::ft_mutex mutex = {};
  std::unordered_map<std::thread::id, OwnedReference> structures = {};  // that it gave last in each thread

  List<Tensor> operator()(const List<Tensor>& inputs) {
    const Held held;
    const nb::list arguments = list_of(inputs);
    const nb::object given = nb::steal(PyObject_CallFunctionObjArgs(callable.get(), arguments.ptr(), nullptr));
    if (!given.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};  // KeyboardInterrupt
      throw nb::python_error();  // holds the exception, which a second try drops
    }
    OwnedReference structure{nb::object(given[0]).ptr()};
    {
      const nb::ft_lock_guard guard(mutex);
      const auto [place, is_new] = structures.try_emplace(std::this_thread::get_id(), structure);
      std::swap(place->second, structure);  // the former one is dropped without the lock
    }
    return tensors_of(nb::object(given[1]).ptr());
  }
};

/// While it lives, this thread calls a fused function. Outside, its derivatives call what it was made of.
class InCall {
 public:
  InCall() noexcept { ++depth; }
  ~InCall() { --depth; }
  InCall(const InCall&) = delete;
  InCall& operator=(const InCall&) = delete;
  static bool is_now() noexcept { return depth > 0; }

 private:
  static thread_local int depth;
};
thread_local int InCall::depth = 0;

class PythonFused {
 public:
  PythonFused(const nb::object& callable, int keep)
      : callable_(new Callable{OwnedReference(callable.ptr())}),
        fused_([shared = callable_](const List<Tensor>& inputs) { return (*shared)(inputs); },
               static_cast<Keep>(keep)) {}
  PythonFused(const PythonFused&) = delete;
  PythonFused& operator=(const PythonFused&) = delete;

  /// The structure and the tensors, or the tensor if it is the one result; NotImplemented if not all are tensors.
  nb::object call(const nb::object& inputs) {
    const InCall in_call;
    if (!are_tensors(inputs.ptr())) return nb::borrow(Py_NotImplemented);
    const List<Tensor> tensors = tensors_of(inputs.ptr());
    const auto [trace, graph] = prepare(tensors);
    nb::object structure = structure_of(trace);
    List<Tensor> results;
    if (structure.is_valid()) {
      const GilRelease released(!graph || graph->most_elements() > kFewElements);
      results = graph ? graph->run(tensors) : fused_(tensors);
    } else {  // as it is, or another thread traces it
      results = trace != 0 ? (*callable_)(tensors) : fused_(tensors);
      structure = take_latest();
    }
    if (structure.is_none()) return nb::steal(wrap(std::move(results[0])));
    return nb::make_tuple(structure, list_of(results));
  }
  int passes(const nb::object& inputs) {
    const InCall in_call;
    const List<Tensor> tensors = tensors_of(inputs.ptr());
    prepare(tensors);
    return fused_.passes(tensors);
  }
  /// The function, if no graph that waits for gradients holds it, too: then the garbage collector may count it as this
  /// object's.
  PyObject* own_callable() const noexcept {
    return callable_.use_count() == kOwners && callable_->callable.is_only() ? callable_->callable.get() : nullptr;
  }
  std::string explain(const nb::object& inputs) {
    const InCall in_call;
    const List<Tensor> tensors = tensors_of(inputs.ptr());
    prepare(tensors);
    return fused_.explain(tensors);
  }

 private:
  /// Notes the structure of the results if the callable is traced.
  fusion::Prepared prepare(const List<Tensor>& tensors) {
    take_latest();
    fusion::Prepared prepared = fusion::Prepared::make(fused_, tensors);
    if (nb::object structure = take_latest(); prepared.number != 0 && structure.is_valid())
      keep(prepared.number, std::move(structure));
    return prepared;
  }
  nb::object structure_of(uint64_t trace) {
    const nb::ft_lock_guard guard(mutex_);
    const auto known = structures_.find(trace);
    return known == structures_.end() ? nb::object() : known->second;
  }
  void keep(uint64_t trace, nb::object structure) {
    decltype(structures_)::node_type oldest;  // dropped without the lock
    const nb::ft_lock_guard guard(mutex_);
    std::swap(structures_[trace], structure);
    if (structures_.size() > kMostStructures) oldest = structures_.extract(structures_.begin());
  }
  /// The structure that the callable gave last in this thread, if it was called.
  nb::object take_latest() {
    const auto found = [this] {
      const nb::ft_lock_guard guard(callable_->mutex);
      return callable_->structures.empty() ? decltype(callable_->structures)::node_type()
                                           : callable_->structures.extract(std::this_thread::get_id());
    }();
    return found.empty() ? nb::object() : nb::borrow(found.mapped().get());
  }

  static constexpr long kOwners = 2;  // this object and its Fused
  // More than the traces that are kept.
  static constexpr std::size_t kMostStructures = 256;

  std::shared_ptr<Callable> callable_;
  Fused fused_;
  nb::ft_mutex mutex_;
  std::map<uint64_t, nb::object> structures_;  // by trace, the oldest first; None: one tensor
};

/// A function may hold itself through what it reads. The dict that holds this object breaks such a cycle.
int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PythonFused>(self)->own_callable());
  return 0;
}

/// The object that a variable holds: of a dict of globals, or of a cell. Null: it is not known.
nb::object held_by(PyObject* where, PyObject* name) {
  if (PyDict_Check(where)) return value_in(where, name);
  if (where == Py_None) return {};
  nb::object held = nb::steal(PyObject_GetAttrString(where, "cell_contents"));
  if (!held.is_valid()) PyErr_Clear();  // an empty cell
  return held;
}

/// Whether a guard, (call, where, name, value), still holds: the variable is that value, or the call says that it is
/// equal.
bool holds(PyObject* guard) {
  const nb::object held = held_by(PyTuple_GetItem(guard, 1), PyTuple_GetItem(guard, 2));
  if (held.is_valid() && held.ptr() == PyTuple_GetItem(guard, 3)) return true;
  const nb::object given = checked_object(PyObject_CallFunctionObjArgs(PyTuple_GetItem(guard, 0), nullptr));
  const int is_true = PyObject_IsTrue(given.ptr());
  if (is_true < 0) throw PythonError{};
  return is_true != 0;
}

PyObject* traces_name = nullptr;  // never released

/// What `_FusedFunction._traces` holds for calls with these arguments, all tensors, if its guards hold; or nothing.
nb::object known_trace(PyObject* self, PyObject* args) {
  const nb::object traces = checked_object(PyObject_GetAttr(self, traces_name));
  const nb::object count = checked_object(PyLong_FromSsize_t(PyTuple_Size(args)));
  nb::object known = value_in(traces.ptr(), count.ptr());
  if (!known.is_valid()) return known;
  PyObject* const guards = PyTuple_GetItem(known.ptr(), 0);
  for (Py_ssize_t i = 0; i < PyList_Size(guards); ++i)
    if (!holds(nb::borrow(PyList_GetItem(guards, i)).ptr())) return {};
  return known;
}

/// Calls of few elements take less time than Python's way to its own `__call__`.
PyObject* call_fused(PyObject* self, PyObject* args, PyObject* keywords) noexcept {
  return guarded([&]() -> PyObject* {
    if (!keywords || PyDict_Size(keywords) == 0)
      if (const nb::object known = known_trace(self, args); known.is_valid()) {
        nb::object given = nb::inst_ptr<PythonFused>(PyTuple_GetItem(known.ptr(), 1))->call(nb::borrow(args));
        if (is_tensor(given.ptr())) return given.release().ptr();
        if (given.ptr() != Py_NotImplemented) return nb::borrow(self).attr("_structured")(given).release().ptr();
      }
    const nb::object call = nb::borrow(self).attr("_call");
    return checked(PyObject_Call(call.ptr(), args, keywords));
  });
}

struct FusedCalls {};

}  // namespace

void bind_fuse(nb::module_& module) {
  traces_name = checked(PyUnicode_InternFromString("_traces"));
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {0, nullptr}};
  module.def("_is_in_fused_call", InCall::is_now);
  module.def("_is_traced",
             [](nb::handle object) { return is_tensor(object.ptr()) && stands_for_data(tensor_of(object.ptr())); });
  nb::class_<PythonFused>(module, "_Fused", nb::type_slots(slots))
      .def(nb::init<const nb::object&, int>())
      .def("__call__", &PythonFused::call)
      .def("passes", &PythonFused::passes)
      .def("explain", &PythonFused::explain);
  static PyType_Slot call_slots[] = {{Py_tp_call, reinterpret_cast<void*>(call_fused)}, {0, nullptr}};
  nb::class_<FusedCalls>(module, "_FusedCalls", nb::type_slots(call_slots)).def(nb::init<>());
}

}  // namespace tenon::python
