#include "python/node.h"

#include "autograd/accumulate.h"
#include "python/creation.h"
#include "python/function.h"
#include "python/hooks.h"

namespace tenon::python {
namespace {

PyTypeObject* node_type = nullptr;

/// Never destroyed: the interpreter ends before static objects are destroyed.
IdentityCache& known_nodes() {
  static IdentityCache& known =
      *new IdentityCache([](PyObject* object) -> const void* { return nb::inst_ptr<autograd::Node>(object)->impl(); });
  return known;
}

/// The class name without a namespace: CopySlices.
std::string class_name(const autograd::Node& node) {
  const std::string name = node.name();
  const std::size_t colon = name.rfind(':');
  return colon == std::string::npos ? name : name.substr(colon + 1);
}

nb::object new_class(const std::string& name) {
  const nb::handle base(reinterpret_cast<PyObject*>(node_type));
  nb::dict attributes;
  attributes["__module__"] = base.attr("__module__");
  const nb::handle metaclass(reinterpret_cast<PyObject*>(Py_TYPE(base.ptr())));
  return metaclass(name, nb::make_tuple(base), attributes);
}

/// The class of all nodes with a name: AddBackward0.
nb::handle class_of(const autograd::Node& node) {
  static nb::ft_mutex mutex;
  static std::unordered_map<std::string, PyObject*>& classes = *new std::unordered_map<std::string, PyObject*>;
  const std::string name = class_name(node);
  {
    const nb::ft_lock_guard guard(mutex);
    if (const auto known = classes.find(name); known != classes.end()) return known->second;
  }
  // Without the lock, because it runs Python. If another thread is first, its class stays.
  nb::object made = new_class(name);
  const nb::ft_lock_guard guard(mutex);
  PyObject*& type = classes[name];
  if (!type) type = made.release().ptr();
  return type;
}

nb::object new_object(const autograd::Node& node) {
  nb::object object = nb::inst_alloc(class_of(node));
  new (nb::inst_ptr<autograd::Node>(object)) autograd::Node(node);
  nb::inst_mark_ready(object);
  return object;
}

std::string repr_of_node(nb::handle self) {
  char address[32];
  std::snprintf(address, sizeof address, "0x%zx", reinterpret_cast<std::size_t>(self.ptr()));
  return "<" + class_name(*nb::inst_ptr<autograd::Node>(self)) + " object at " + address + ">";
}

/// The leaf of an accumulator.
nb::object variable_of(const autograd::Node& node) {
  if (!node.impl()->is_accumulator())
    throw nb::attribute_error(("'" + class_name(node) + "' object has no attribute 'variable'").c_str());
  return nb::steal(wrap_known(static_cast<const autograd::AccumulateGrad*>(node.impl())->variable()));
}

}  // namespace

PyObject* to_python(const autograd::Node& node) {
  if (!node.defined()) return again(Py_None);
  nb::object object = function_context(node.impl());
  if (!object.is_valid()) object = known_nodes().find(node.impl());
  if (!object.is_valid()) object = known_nodes().add(node.impl(), new_object(node));
  return object.release().ptr();
}

nb::object next_functions(const autograd::Node& node) {
  nb::list edges;
  for (const autograd::Node::Edge& edge : node.next_functions())
    edges.append(nb::make_tuple(nb::steal(to_python(edge.node)), edge.input_nr));
  return nb::tuple(edges);
}

void bind_nodes(nb::module_& module) {
  nb::class_<autograd::Node> bound(module, "Node", nb::type_slots(kRefuseNew), nb::is_weak_referenceable(),
                                   "An operation that was recorded.");
  bound
      .def(
          "name",
          [](const autograd::Node& self) {
            return self.impl()->is_accumulator() ? "torch::autograd::AccumulateGrad" : self.name();
          },
          "PyTorch's name of the operation's derivative.")
      .def_prop_ro("next_functions", &next_functions, "Where the gradients of the inputs go: nodes, and which result.")
      .def_prop_ro("variable", &variable_of, "The leaf an AccumulateGrad sums into.")
      .def(
          "register_hook",
          [](const autograd::Node& self, nb::object hook) {
            return nb::steal(to_python(self.register_hook(PythonNodeHook{OwnedReference(hook.ptr())})));
          },
          nb::arg("fn"), "Calls fn(grad_inputs, grad_outputs) after the node has run; a tuple replaces grad_inputs.")
      .def(
          "register_prehook",
          [](const autograd::Node& self, nb::object hook) {
            return nb::steal(to_python(self.register_prehook(PythonNodePreHook{OwnedReference(hook.ptr())})));
          },
          nb::arg("fn"), "Calls fn(grad_outputs) before the node runs; a tuple replaces grad_outputs.")
      .def(
          "_sequence_nr", [](const autograd::Node& self) { return self.impl()->sequence; }, "Later nodes run first.")
      .def("__repr__", [](nb::handle self) { return repr_of_node(self); });
  node_type = reinterpret_cast<PyTypeObject*>(bound.ptr());
  name_publicly(bound);
}

}  // namespace tenon::python
