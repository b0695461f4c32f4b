#include "python/function.h"

#include <set>
#include <unordered_map>

#include "autograd/node.h"
#include "python/creation.h"
#include "python/hooks.h"
#include "python/node.h"
#include "python/references.h"

namespace tenon::python {
namespace {

/// The C++ part of a context. The node owns the context; the context refers to the node only while it lives.
struct FunctionContext {
  std::optional<autograd::Context> shared;
};

FunctionContext& part_of(PyObject* context) { return *nb::inst_ptr<FunctionContext>(context); }

/// The context of each node. Never destroyed, because nodes may outlive static objects. Needs `contexts_mutex`, and a
/// thread that may use Python.
std::unordered_map<const autograd::NodeImpl*, PyObject*>& contexts() {
  static auto& all = *new std::unordered_map<const autograd::NodeImpl*, PyObject*>;
  return all;
}
nb::ft_mutex contexts_mutex;
PyObject* context_of(const autograd::NodeImpl* node) noexcept {
  const auto entry = contexts().find(node);
  return entry == contexts().end() ? nullptr : entry->second;
}

/// What a node keeps of a call: its context, which is cleared when the node is destroyed.
class SavedCall {
 public:
  SavedCall(PyObject* context, const autograd::Context& shared, std::vector<bool> is_variable)
      : context_(again(context)), node_(shared.node().impl()), is_variable_(std::move(is_variable)) {
    part_of(context).shared = shared;
    const nb::ft_lock_guard guard(contexts_mutex);
    contexts()[node_] = context;
  }
  SavedCall(const SavedCall&) = delete;
  SavedCall& operator=(const SavedCall&) = delete;
  ~SavedCall() {
    if (!Py_IsInitialized()) return;  // the process ends
    const Held held;
    {
      const nb::ft_lock_guard guard(contexts_mutex);
      contexts().erase(node_);
    }
    part_of(context_).shared.reset();
    Py_DECREF(context_);
  }

  PyObject* context() const noexcept { return context_; }
  /// Which of the call's arguments were tensors.
  const std::vector<bool>& is_variable() const noexcept { return is_variable_; }
  /// Which of its results were tensors.
  std::vector<bool> is_tensor_result;

 private:
  PyObject* context_;
  const autograd::NodeImpl* node_;
  std::vector<bool> is_variable_;
};
using SharedCall = std::shared_ptr<SavedCall>;

// --- Backward

[[noreturn]] void fail_backward(PyObject* context, const std::string& text) {
  throw Error("function " + nb::cast<std::string>(nb::handle(context).type().attr("__name__")) + " returned " + text);
}

/// The result of backward as a tuple with an entry for each argument of forward. Surplus entries may be None.
nb::object gradients_of_arguments(const SavedCall& call, nb::object result) {
  if (!PyTuple_Check(result.ptr())) result = nb::make_tuple(result);
  const auto wanted = static_cast<Py_ssize_t>(call.is_variable().size());
  Py_ssize_t count = PyTuple_Size(result.ptr());
  while (count > wanted && NB_TUPLE_GET_ITEM(result.ptr(), count - 1) == Py_None) --count;
  if (count != wanted)
    fail_backward(call.context(), "an incorrect number of gradients (expected " + std::to_string(wanted) + ", got " +
                                      std::to_string(PyTuple_Size(result.ptr())) + ")");
  return result;
}

/// The gradients of the arguments that were tensors.
autograd::Tensors gradients_of_tensors(const SavedCall& call, const nb::object& result) {
  autograd::Tensors gradients;
  for (std::size_t i = 0; i < call.is_variable().size(); ++i) {
    PyObject* gradient = NB_TUPLE_GET_ITEM(result.ptr(), static_cast<Py_ssize_t>(i));
    if (!call.is_variable()[i]) {
      if (gradient != Py_None)
        fail_backward(call.context(), "a gradient different than None at position " + std::to_string(i + 1) +
                                          ", but the corresponding forward input was not a Variable");
      continue;
    }
    if (gradient != Py_None && !is_tensor(gradient))
      throw Error("expected Variable or None (got " + type_name(gradient) + ")");
    gradients.push_back(gradient == Py_None ? Tensor() : tensor_of(gradient));
  }
  return gradients;
}

/// The arguments of backward: None for results that were not tensors.
nb::object gradients_of_results(const SavedCall& call, const autograd::Tensors& gradients) {
  const nb::object of_tensors = tuple_of(gradients);
  nb::list all;
  Py_ssize_t next = 0;
  for (const bool is_tensor : call.is_tensor_result)
    all.append(is_tensor ? nb::handle(NB_TUPLE_GET_ITEM(of_tensors.ptr(), next++)) : nb::handle(Py_None));
  return nb::tuple(all);
}

autograd::Tensors backward(autograd::Context& shared, const autograd::Tensors& gradients) {
  const Held held;
  // NOLINTNEXTLINE(performance-unnecessary-copy-initialization): the node may be destroyed while backward runs
  const SharedCall call = shared.saved<SharedCall>();
  const nb::object result = nb::handle(call->context()).attr("_backward")(*gradients_of_results(*call, gradients));
  return gradients_of_tensors(*call, gradients_of_arguments(*call, result));
}

// --- Forward

/// Keeps a string for the life of the process, because nodes store a pointer to it.
const char* lasting(const std::string& name) {
  static nb::ft_mutex mutex;
  static std::set<std::string>& names = *new std::set<std::string>;
  const nb::ft_lock_guard guard(mutex);
  return names.insert(name).first->c_str();
}

/// Takes the tensors that forward gave to one of the context's methods.
template <class Refusal>
autograd::Tensors taken(nb::handle context, const char* attribute, const char* method) {
  const nb::object given = context.attr(attribute);
  if (given.is_none()) return {};
  if (!PyTuple_Check(given.ptr())) throw Refusal(std::string(method) + " variables, not a " + type_name(given.ptr()));
  autograd::Tensors tensors;
  for (Py_ssize_t i = 0; i < PyTuple_Size(given.ptr()); ++i) {
    PyObject* item = NB_TUPLE_GET_ITEM(given.ptr(), i);
    if (item != Py_None && !is_tensor(item))
      throw Refusal(std::string(method) + " variables, but argument " + std::to_string(i) + " is of type " +
                    type_name(item));
    tensors.push_back(item == Py_None ? Tensor() : tensor_of(item));
    if (item != Py_None) remember(item);  // saved_tensors returns the same object
  }
  nb::delattr(context, attribute);
  return tensors;
}

/// One call of Function.apply.
class Application {
 public:
  Application(nb::handle context, nb::tuple arguments) : context_(context), arguments_(std::move(arguments)) {
    nb::list needs_grad;
    for (nb::handle argument : arguments_) {
      const bool variable = is_tensor(argument.ptr());
      is_variable_.push_back(variable);
      needs_grad.append(variable && tensor_of(argument.ptr()).requires_grad());
      if (variable) inputs_.push_back(tensor_of(argument.ptr()));
    }
    context_.attr("needs_input_grad") = nb::tuple(needs_grad);
  }

  nb::object run() {
    const char* name = lasting(nb::cast<std::string>(context_.type().attr("__name__")));
    const auto forward = [this](autograd::Context& shared, const autograd::Tensors&) { return call_forward(shared); };
    const autograd::Tensors results = autograd::apply_function({name, forward, backward}, inputs_);
    put_back(results);
    return is_single_ ? nb::object(outputs_[0]) : outputs_;
  }

 private:
  autograd::Tensors call_forward(autograd::Context& shared) {
    shared.save(std::make_shared<SavedCall>(context_.ptr(), shared, is_variable_));
    const nb::object output = context_.attr("_forward")(*arguments_);
    is_single_ = !PyTuple_Check(output.ptr());
    outputs_ = is_single_ ? nb::make_tuple(output) : nb::borrow<nb::tuple>(output);
    autograd::Tensors results;
    std::vector<bool>& is_tensor_result = shared.saved<SharedCall>()->is_tensor_result;
    for (nb::handle item : outputs_) {
      is_tensor_result.push_back(is_tensor(item.ptr()));
      if (is_tensor_result.back()) results.push_back(tensor_of(item.ptr()));
    }
    hand_over(shared, results);
    return results;
  }

  /// Passes what forward stored in its context to the node.
  void hand_over(autograd::Context& shared, const autograd::Tensors& results) {
    shared.set_materialize_grads(nb::cast<bool>(context_.attr("materialize_grads")));
    shared.mark_non_differentiable(
        taken<Error>(context_, "non_differentiable", "mark_non_differentiable can only accept"));
    shared.save_for_backward(taken<TypeError>(context_, "to_save", "save_for_backward can only save"));
    const autograd::Tensors dirty = taken<Error>(context_, "dirty_tensors", "mark_dirty can only accept");
    for (const Tensor& tensor : dirty) check_returned(tensor, results);
    shared.mark_dirty(dirty);
  }

  static void check_returned(const Tensor& tensor, const autograd::Tensors& results) {
    for (const Tensor& result : results)
      if (result.is(tensor)) return;
    throw Error(
        "Some elements marked as dirty during the forward method were not returned as output. The inputs that are "
        "modified inplace must all be outputs of the Function.");
  }

  /// Replaces forward's results by those that have a history.
  void put_back(const autograd::Tensors& results) {
    nb::list outputs;
    std::size_t next = 0;
    for (nb::handle item : outputs_) {
      const bool kept = !is_tensor(item.ptr()) || tensor_of(item.ptr()).is(results[next]);
      outputs.append(kept ? nb::borrow(item) : nb::steal(wrap(results[next])));
      if (is_tensor(item.ptr())) ++next;
    }
    outputs_ = nb::tuple(outputs);
  }

  nb::handle context_;
  nb::tuple arguments_;
  autograd::Tensors inputs_;
  std::vector<bool> is_variable_;
  nb::tuple outputs_;
  bool is_single_ = false;
};

// --- The context as the node it belongs to

autograd::Node node_of(const FunctionContext& self) {
  if (!self.shared) throw Error("this context belongs to no recorded call, or to one whose graph is gone");
  return self.shared->node();
}

nb::object saved_tensors(const FunctionContext& self) {
  if (!self.shared)
    throw Error(
        "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
        "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
        "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
        "saved tensors after calling backward.");
  return tuple_of(self.shared->saved_tensors());
}

}  // namespace

nb::object function_context(const autograd::NodeImpl* node) noexcept {
  const nb::ft_lock_guard guard(contexts_mutex);
  return nb::borrow(context_of(node));
}

PyObject* visited_context(const autograd::NodeImpl* node) noexcept {
  const nb::ft_lock_guard guard(contexts_mutex);
  return context_of(node);
}

void bind_function(nb::module_& module) {
  static PyType_Slot slots[] = {{Py_tp_new, reinterpret_cast<void*>(default_new<FunctionContext>)},
                                {Py_tp_init, reinterpret_cast<void*>(ignore_arguments)},
                                {0, nullptr}};
  nb::class_<FunctionContext>(module, "_FunctionContext", nb::type_slots(slots), nb::dynamic_attr(),
                              nb::is_weak_referenceable())
      .def_prop_ro("saved_tensors", &saved_tensors, "What forward saved; Error where that was changed in place since.")
      .def_prop_ro("next_functions", [](const FunctionContext& self) { return next_functions(node_of(self)); })
      .def("name", [](nb::handle self) { return self.type().attr("__name__"); })
      .def(
          "register_hook",
          [](const FunctionContext& self, nb::object hook) {
            return nb::steal(to_python(node_of(self).register_hook(PythonNodeHook{OwnedReference(hook.ptr())})));
          },
          nb::arg("fn"))
      .def(
          "register_prehook",
          [](const FunctionContext& self, nb::object hook) {
            return nb::steal(to_python(node_of(self).register_prehook(PythonNodePreHook{OwnedReference(hook.ptr())})));
          },
          nb::arg("fn"));
  module.def("_apply_function", [](nb::object context, nb::tuple arguments) {
    if (!nb::isinstance<FunctionContext>(context)) throw TypeError("expected the context of a Function");
    return Application(context, std::move(arguments)).run();
  });
}

}  // namespace tenon::python
