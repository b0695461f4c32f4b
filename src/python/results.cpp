#include "python/results.h"

#include <iterator>
#include <string>
#include <vector>

namespace tenon::python {
namespace {

constexpr int kMostFields = 4;
struct Fields {
  const char* name;
  const char* fields[kMostFields];
};
constexpr Fields kFields[] = {
#define TENON_RESULT_TYPE(NAME, ...) {#NAME, {__VA_ARGS__}},
    TENON_RESULT_TYPES(TENON_RESULT_TYPE)
#undef TENON_RESULT_TYPE
        {nullptr, {}},
};
constexpr std::size_t kTypes = std::size(kFields) - 1;

// As in PyTorch, results written to `out=` have their own types. Never released.
PyTypeObject* result_types[kTypes + 1] = {};
PyTypeObject* out_types[kTypes + 1] = {};

PyTypeObject* make_type(const Fields& fields, const std::string& name) {
  PyStructSequence_Field members[kMostFields + 1] = {};
  int count = 0;
  for (; count < kMostFields && fields.fields[count]; ++count) members[count].name = fields.fields[count];
  PyStructSequence_Desc description = {name.c_str(), nullptr, members, count};
  PyTypeObject* type = PyStructSequence_NewType(&description);
  if (!type) throw PythonError{};
  return type;
}

/// Makes a tuple of the references that `item(i)` returns.
template <class Item>
PyObject* filled(PyTypeObject* type, std::size_t count, const Item& item) {
  nb::object result = checked_object(PyStructSequence_New(type));
  for (std::size_t i = 0; i < count; ++i) PyStructSequence_SetItem(result.ptr(), static_cast<Py_ssize_t>(i), item(i));
  return result.release().ptr();
}

}  // namespace

PyObject* give(List<Tensor> results) {
  nb::object items = checked_object(PyTuple_New(static_cast<Py_ssize_t>(results.size())));
  for (std::size_t i = 0; i < results.size(); ++i)
    NB_TUPLE_SET_ITEM(items.ptr(), static_cast<Py_ssize_t>(i), wrap(std::move(results[i])));
  return items.release().ptr();
}

PyObject* give(ResultType type, List<Tensor> results) {
  return filled(result_types[static_cast<std::size_t>(type)], results.size(),
                [&](std::size_t i) { return wrap(std::move(results[i])); });
}

PyObject* give_outs(const Call& call) { return checked(PySequence_Tuple(call.object(Name::out))); }

PyObject* give_outs(ResultType type, const Call& call) {
  const nb::object outs = nb::steal(give_outs(call));
  return filled(out_types[static_cast<std::size_t>(type)], static_cast<std::size_t>(PyTuple_Size(outs.ptr())),
                [&](std::size_t i) { return again(NB_TUPLE_GET_ITEM(outs.ptr(), static_cast<Py_ssize_t>(i))); });
}

void bind_results(nb::module_& module) {
  nb::dict types;
  for (std::size_t i = 0; i < kTypes; ++i)
    for (const bool into_out : {false, true}) {
      const std::string name = std::string(kFields[i].name) + (into_out ? "_out" : "");
      PyTypeObject* type = make_type(kFields[i], "tenon.return_types." + name);
      (into_out ? out_types : result_types)[i] = type;
      types[name.c_str()] = nb::borrow(reinterpret_cast<PyObject*>(type));
    }
  module.attr("_return_types") = types;
}

}  // namespace tenon::python
