#include "python/autograd.h"

#include "autograd/meta.h"
#include "autograd/recording.h"
#include "python/bindings.h"
#include "python/function.h"
#include "python/hooks.h"
#include "python/node.h"
#include "python/object.h"
#include "tenon/policy.h"

namespace tenon::python {
namespace {

// --- Attributes

#define TENON_GETTER(NAME, EXPRESSION)                   \
  PyObject* get_##NAME(PyObject* self, void*) noexcept { \
    return guarded([&] {                                 \
      const Tensor& tensor = tensor_of(self);            \
      return checked(EXPRESSION);                        \
    });                                                  \
  }
TENON_GETTER(requires_grad, PyBool_FromLong(tensor.requires_grad()))
TENON_GETTER(is_leaf, PyBool_FromLong(tensor.is_leaf()))
TENON_GETTER(grad, wrap_known(tensor.grad()))
TENON_GETTER(grad_fn, to_python(tensor.grad_fn()))
TENON_GETTER(output_nr, PyLong_FromLongLong(tensor.output_nr()))
TENON_GETTER(retains_grad, PyBool_FromLong(tensor.retains_grad()))
#undef TENON_GETTER

/// Sets requires_grad. Registers the object, because the graph will return the leaf and must return this object.
void require_grad(PyObject* self, bool wanted) {
  tensor_of(self).requires_grad_(wanted);
  if (wanted) remember(self);
}

int set_requires_grad(PyObject* self, PyObject* value, void*) noexcept {
  return guarded_int([&] {
    if (!value || !PyBool_Check(value)) throw Error("requires_grad must be a bool");
    if (value == Py_True && !tensor_of(self).is_leaf())
      throw Error("you can only change requires_grad flags of leaf variables.");
    if (value == Py_True && !is_inexact(tensor_of(self).dtype()))
      throw Error("only Tensors of floating point and complex dtype can require gradients");
    require_grad(self, value == Py_True);
    return 0;
  });
}

int set_grad(PyObject* self, PyObject* value, void*) noexcept {
  return guarded_int([&] {
    const bool none = !value || value == Py_None;
    if (!none && !is_tensor(value))
      throw TypeError("assigned grad expected to be a Tensor or None but got grad of type " + type_name(value));
    if (value == self) throw Error("can't assign Variable as its own grad");
    tensor_of(self).set_grad(none ? Tensor() : tensor_of(value));
    if (!none) remember(value);
    return 0;
  });
}

PyGetSetDef attributes[] = {
    {"requires_grad", get_requires_grad, set_requires_grad, "Whether operations on it are recorded.", nullptr},
    {"is_leaf", get_is_leaf, nullptr, "Whether no recorded operation computed it.", nullptr},
    {"grad", get_grad, set_grad, "What backward has summed up so far, or None.", nullptr},
    {"grad_fn", get_grad_fn, nullptr, "The operation that computed it; None for leaves.", nullptr},
    {"output_nr", get_output_nr, nullptr, "Which of that operation's results it is.", nullptr},
    {"retains_grad", get_retains_grad, nullptr, "Whether a computed tensor keeps its gradient.", nullptr},
};

// --- Backward

/// Whether a backward run is long enough to release the GIL: many elements or many nodes. Follows only first inputs,
/// which is cheap and seldom wrong.
bool is_long_run(const Tensor& root) {
  constexpr int kManyNodes = 64;
  if (root.numel() >= kReleaseNumel) return true;
  const autograd::NodeImpl* node = root.requires_grad() ? autograd::grad_fn_of(root) : nullptr;
  for (int visited = 0; node; ++visited) {
    if (visited == kManyNodes || numel_of(node->input(0).sizes) >= kReleaseNumel) return true;
    int first = 0;
    while (first < node->edge_count() && !node->has_edge(first)) ++first;
    node = first < node->edge_count() ? node->edge(first).node : nullptr;
  }
  return false;
}

autograd::Tensors tensors_of(PyObject* given) {
  if (is_tensor(given)) return {tensor_of(given)};
  const nb::object sequence = checked_object(PySequence_Tuple(given));
  autograd::Tensors tensors;
  for (Py_ssize_t i = 0; i < PyTuple_Size(sequence.ptr()); ++i) {
    PyObject* item = NB_TUPLE_GET_ITEM(sequence.ptr(), i);
    if (item != Py_None && !is_tensor(item))
      throw TypeError("element " + std::to_string(i) + " of tensors is " + type_name(item) + ", not a Tensor");
    tensors.push_back(item == Py_None ? Tensor() : tensor_of(item));
  }
  return tensors;
}

/// A truth value as PyTorch reads it: a bool, or an integer that is not 0.
std::optional<bool> optional_truth(PyObject* value) {
  if (!value || value == Py_None) return std::nullopt;
  const nb::object number = checked_object(PyNumber_Index(value));
  const int truth = PyObject_IsTrue(number.ptr());
  if (truth < 0) throw PythonError{};
  return truth == 1;
}

PyObject* run_backward(const Call& call) {
  const Tensor& self = call.tensor(Name::input);
  const Tensor gradient = call.has(Name::gradient) ? call.tensor(Name::gradient) : Tensor();
  const std::optional<bool> retain_graph = optional_truth(call.object(Name::retain_graph));
  const bool create_graph = call.boolean(Name::create_graph);
  if (call.has(Name::inputs)) {
    const autograd::Tensors inputs = tensors_of(call.object(Name::inputs));
    const GilRelease released(is_long_run(self));
    autograd::backward({self}, {gradient}, {retain_graph, create_graph}, inputs);
  } else {
    const GilRelease released(is_long_run(self));
    self.backward(gradient, retain_graph, create_graph);
  }
  return again(Py_None);
}

bool is_any_long(const autograd::Tensors& roots) {
  return std::any_of(roots.begin(), roots.end(), [](const Tensor& root) { return is_long_run(root); });
}

void backward_of_all(nb::handle outputs, nb::handle gradients, nb::handle retain_graph, bool create_graph,
                     nb::handle inputs) {
  const autograd::Tensors roots = tensors_of(outputs.ptr()), weights = tensors_of(gradients.ptr());
  const autograd::BackwardOptions options{optional_truth(retain_graph.ptr()), create_graph};
  if (inputs.is_none()) {
    const GilRelease released(is_any_long(roots));
    autograd::backward(roots, weights, options);
    return;
  }
  const autograd::Tensors leaves = tensors_of(inputs.ptr());
  const GilRelease released(is_any_long(roots));
  autograd::backward(roots, weights, options, leaves);
}

nb::object gradients_of(nb::handle outputs, nb::handle inputs, nb::handle gradients, nb::handle retain_graph,
                        bool create_graph, bool allow_unused, bool materialize_grads) {
  const autograd::Tensors roots = tensors_of(outputs.ptr()), weights = tensors_of(gradients.ptr());
  const autograd::Tensors variables = tensors_of(inputs.ptr());
  autograd::GradOptions options;
  options.retain_graph = optional_truth(retain_graph.ptr());
  options.create_graph = create_graph;
  options.allow_unused = allow_unused;
  options.materialize_grads = materialize_grads;
  autograd::Tensors result;
  {
    const GilRelease released(is_any_long(roots));
    result = autograd::grad(roots, variables, weights, options);
  }
  return tuple_of(result);
}

// --- Checks

/// A Python function for gradcheck. Only its tensor arguments that require grad vary; the others are fixed.
autograd::Differentiable differentiable(nb::handle function, nb::handle arguments) {
  return [function, arguments](const autograd::Tensors& inputs) {
    nb::list given;
    std::size_t next = 0;
    for (nb::handle argument : arguments)
      given.append(is_tensor(argument.ptr()) ? nb::steal(wrap_known(inputs[next++])) : nb::borrow(argument));
    const nb::object result = function(*given);
    return tensors_of(result.ptr());
  };
}

template <auto check>
bool run_check(nb::handle function, nb::handle arguments, double eps, double atol, double rtol) {
  autograd::Tensors inputs;
  for (nb::handle argument : arguments)
    if (is_tensor(argument.ptr())) inputs.push_back(tensor_of(argument.ptr()));
  try {
    return check(differentiable(function, arguments), inputs, {eps, atol, rtol});
  } catch (const autograd::GradcheckError& error) {
    const nb::object type = nb::module_::import_("tenon.autograd.gradcheck").attr("GradcheckError");
    PyErr_SetString(type.ptr(), error.what());
    throw PythonError{};
  }
}

// --- The table

constexpr Binding kBoth = Binding::both, kFunction = Binding::function, kMethod = Binding::method;

const Definition kAutograd[] = {
    {"backward", kMethod,
     "(Tensor input, Tensor? gradient=None, object? retain_graph=None, bool create_graph=False, object? inputs=None) "
     "-> None",
     "Computes gradients and adds them to the grad of every leaf that this tensor was computed from, or only of "
     "`inputs`.",
     run_backward},
    {"detach", kBoth, "(Tensor input)", "A view that is not part of the graph of gradients.",
     [](const Call& call) -> PyObject* { return wrap(call.tensor(Name::input).detach()); }},
    {"detach_", kBoth, "(Tensor input)", "Removes the tensor from the graph of gradients.",
     [](const Call& call) -> PyObject* {
       call.tensor(Name::input).detach_();
       return again(call.object(Name::input));
     }},
    {"is_grad_enabled", kFunction, "() -> bool", "Whether this thread records operations.",
     [](const Call&) -> PyObject* { return PyBool_FromLong(is_grad_enabled()); }},
    {"is_inference", kBoth, "(Tensor input) -> bool", "Whether the tensor was made in inference mode.",
     [](const Call& call) -> PyObject* { return PyBool_FromLong(call.tensor(Name::input).is_inference()); }},
    {"is_inference_mode_enabled", kFunction, "() -> bool", "Whether this thread is in inference mode.",
     [](const Call&) -> PyObject* { return PyBool_FromLong(is_inference_mode_enabled()); }},
    {"register_hook", kMethod, "(Tensor input, object hook) -> RemovableHandle",
     "Calls hook(grad) before the gradient is used; a tensor that it returns replaces the gradient.",
     [](const Call& call) -> PyObject* {
       const PythonTensorHook hook{OwnedReference(call.object(Name::hook))};
       return to_python(call.tensor(Name::input).register_hook(autograd::TensorHook(hook)));
     }},
    {"register_post_accumulate_grad_hook", kMethod, "(Tensor input, object hook) -> RemovableHandle",
     "Calls hook(tensor) after backward has changed this leaf's grad.",
     [](const Call& call) -> PyObject* {
       const PythonLeafHook hook{OwnedReference(call.object(Name::hook))};
       return to_python(call.tensor(Name::input).register_post_accumulate_grad_hook(autograd::LeafHook(hook)));
     }},
    {"requires_grad_", kMethod, "(Tensor input, bool requires_grad=True)",
     "Sets whether operations on this tensor are recorded.",
     [](const Call& call) -> PyObject* {
       require_grad(call.self(), call.boolean(Name::requires_grad, true));
       return again(call.object(Name::input));
     }},
    {"retain_grad", kMethod, "(Tensor input) -> None",
     "Makes backward store the gradient of this tensor, which is not a leaf.",
     [](const Call& call) -> PyObject* {
       call.tensor(Name::input).retain_grad();
       return again(Py_None);
     }},
};

}  // namespace

void add_autograd_attributes(std::vector<PyGetSetDef>& all) {
  all.insert(all.end(), std::begin(attributes), std::end(attributes));
}

std::vector<Entry> autograd_entries() { return entries<kAutograd>(); }

void bind_autograd(nb::module_& module) {
  bind_hooks(module);
  bind_nodes(module);
  bind_function(module);
  module.def("_backward", &backward_of_all, nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg().none());
  module.def("_grad", &gradients_of, nb::arg(), nb::arg(), nb::arg(), nb::arg().none(), nb::arg(), nb::arg(),
             nb::arg());
  module.def("_gradcheck", &run_check<autograd::gradcheck>);
  module.def("_gradgradcheck", &run_check<autograd::gradgradcheck>);
  module.def("_set_grad_enabled", [](bool enabled) { thread_modes.set(enabled, thread_modes.inference); });
  module.def("_set_inference_mode", [](bool enabled) {
    recording::begin();
    thread_modes.set(thread_modes.grad_enabled, enabled);
  });
  module.def("_anomaly_mode",
             [] { return nb::make_tuple(autograd::anomaly_mode.enabled, autograd::anomaly_mode.check_nan); });
  module.def("_set_anomaly_mode", [](bool enabled, bool check_nan) { autograd::anomaly_mode = {enabled, check_nan}; });
}

}  // namespace tenon::python
