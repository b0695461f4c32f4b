// python: results of ops with several results, as tuples or named tuples.
#pragma once
#include <array>
#include <tuple>

#include "python/arguments.h"
#include "python/results.inc"

namespace tenon::python {

/// The ops with named results, in the order of the named tuples.
enum class ResultType : uint8_t {
#define TENON_RESULT_TYPE(NAME, ...) NAME,
  TENON_RESULT_TYPES(TENON_RESULT_TYPE)
#undef TENON_RESULT_TYPE
};

inline PyObject* give(Tensor result) { return wrap(std::move(result)); }
/// The `self` object if that is the result, otherwise a new object.
inline PyObject* give_same(const Call& call, Tensor result) {
  return result.is(call.tensor(Name::input)) ? again(call.object(Name::input)) : wrap(std::move(result));
}
PyObject* give(List<Tensor> results);
/// A named tuple: "tenon.return_types.max(\nvalues=tensor(3.),\nindices=tensor(1))".
PyObject* give(ResultType type, List<Tensor> results);
/// The tensors given as `out=`, as such a tuple.
PyObject* give_outs(const Call& call);
PyObject* give_outs(ResultType type, const Call& call);

template <class... Tensors>
List<Tensor> listed(std::tuple<Tensors...> results) {
  return std::apply([](auto&... result) { return List<Tensor>{std::move(result)...}; }, results);
}
template <class... Tensors>
PyObject* give(std::tuple<Tensors...> results) {
  return give(listed(std::move(results)));
}
template <class... Tensors>
PyObject* give(ResultType type, std::tuple<Tensors...> results) {
  return give(type, listed(std::move(results)));
}

/// Adds the named tuples' types to the module, as `_return_types`.
void bind_results(nb::module_& module);

}  // namespace tenon::python
