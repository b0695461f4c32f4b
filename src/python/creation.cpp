#include "python/creation.h"

namespace tenon::python {

PyObject* refuse_new(PyTypeObject* type, PyObject*, PyObject*) noexcept {
  const bool tensor = tensor_type && PyType_IsSubtype(type, tensor_type);
  return guarded([&]() -> PyObject* {
    const nb::handle self(reinterpret_cast<PyObject*>(type));
    const std::string name =
        nb::cast<std::string>(nb::str("{}.{}").format(self.attr("__module__"), self.attr("__qualname__")));
    throw TypeError("cannot create '" + name + "' instances" +
                    (tensor ? ": tenon.tensor(data) gives a tensor of values, tenon.empty(size) one of a size" : ""));
  });
}

int ignore_arguments(PyObject*, PyObject*, PyObject*) noexcept { return 0; }

void name_publicly(nb::handle type) { nb::setattr(type, "__module__", nb::str("tenon")); }

}  // namespace tenon::python
