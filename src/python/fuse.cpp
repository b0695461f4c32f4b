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

// A call whose values have so few elements takes less than handing over the GIL.
constexpr int64_t kFewElements = 64;

/// A callable that takes a list of tensors and gives the structure of its results and a list of their tensors. Graphs
/// whose gradients will be asked for keep it alive.
struct Callable {
  OwnedReference callable;
  std::unordered_map<std::thread::id, OwnedReference> structures = {};  // that it gave last in each thread

  List<Tensor> operator()(const List<Tensor>& inputs) {
    const Held held;
    const nb::list arguments = list_of(inputs);
    const nb::object given = nb::steal(PyObject_CallFunctionObjArgs(callable.get(), arguments.ptr(), nullptr));
    if (!given.is_valid()) {
      if (!PyErr_ExceptionMatches(PyExc_Exception)) throw PythonError{};  // KeyboardInterrupt
      throw nb::python_error();  // holds the exception, which a second try drops
    }
    structures.insert_or_assign(std::this_thread::get_id(), OwnedReference(nb::object(given[0]).ptr()));
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
  explicit PythonFused(const nb::object& callable)
      : callable_(new Callable{OwnedReference(callable.ptr())}),
        fused_([shared = callable_](const List<Tensor>& inputs) { return (*shared)(inputs); }) {}
  PythonFused(const PythonFused&) = delete;
  PythonFused& operator=(const PythonFused&) = delete;

  /// The structure and the tensors, or the tensor if it is the one result; NotImplemented if not all are tensors.
  nb::object call(const nb::object& inputs) {
    const InCall in_call;
    if (!are_tensors(inputs.ptr())) return nb::borrow(Py_NotImplemented);
    const List<Tensor> tensors = tensors_of(inputs.ptr());
    std::shared_ptr<const fusion::Graph> graph;
    const uint64_t trace = prepare(tensors, graph);
    const auto known = structures_.find(trace);
    List<Tensor> results;
    nb::object structure;
    if (known != structures_.end()) {
      structure = known->second;
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
    std::shared_ptr<const fusion::Graph> graph;
    prepare(tensors, graph);
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
    std::shared_ptr<const fusion::Graph> graph;
    prepare(tensors, graph);
    return fused_.explain(tensors);
  }

 private:
  /// Notes the structure of the results if the callable is traced.
  uint64_t prepare(const List<Tensor>& tensors, std::shared_ptr<const fusion::Graph>& graph) {
    take_latest();
    const uint64_t trace = fused_.prepare(tensors, graph);
    if (nb::object structure = take_latest(); trace != 0 && structure.is_valid()) {
      structures_[trace] = std::move(structure);
      if (structures_.size() > kMostStructures) structures_.erase(structures_.begin());
    }
    return trace;
  }
  /// The structure that the callable gave last in this thread, if it was called.
  nb::object take_latest() {
    if (callable_->structures.empty()) return {};
    const auto found = callable_->structures.extract(std::this_thread::get_id());
    return found.empty() ? nb::object() : nb::borrow(found.mapped().get());
  }

  static constexpr long kOwners = 2;  // this object and its Fused
  // More than the traces that are kept.
  static constexpr std::size_t kMostStructures = 256;

  std::shared_ptr<Callable> callable_;
  Fused fused_;
  std::map<uint64_t, nb::object> structures_;  // by trace, the oldest first; None: one tensor
};

/// A function may hold itself through what it reads. The dict that holds this object breaks such a cycle.
int traverse(PyObject* self, visitproc visit, void* arg) noexcept {
  Py_VISIT(reinterpret_cast<PyObject*>(Py_TYPE(self)));
  if (!nb::inst_ready(self)) return 0;
  Py_VISIT(nb::inst_ptr<PythonFused>(self)->own_callable());
  return 0;
}

}  // namespace

void bind_fuse(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_traverse, reinterpret_cast<void*>(traverse)}, {0, nullptr}};
  module.def("_is_in_fused_call", InCall::is_now);
  module.def("_is_traced",
             [](nb::handle object) { return is_tensor(object.ptr()) && stands_for_data(tensor_of(object.ptr())); });
  nb::class_<PythonFused>(module, "_Fused", nb::type_slots(slots))
      .def(nb::init<const nb::object&>())
      .def("__call__", &PythonFused::call)
      .def("passes", &PythonFused::passes)
      .def("explain", &PythonFused::explain);
}

}  // namespace tenon::python
