// python: takes tables of definitions; gives C functions for Python, with docstrings.
#pragma once
#include <array>
#include <span>
#include <utility>
#include <vector>

#include "python/arguments.h"

namespace tenon::python {

/// The parser of entry `I` of a table, made by the first call. Never destroyed: that would take a part of the process's
/// end.
template <const auto& Table, std::size_t I, Binding binding>
Parser& parser() {
  static Parser& parser = *new Parser(Table[I], binding);
  return parser;
}

template <const auto& Table, std::size_t I>
PyObject* call_function(PyObject*, PyObject* const* args, Py_ssize_t count, PyObject* keywords) noexcept {
  return parser<Table, I, Binding::function>().invoke(nullptr, args, count, keywords);
}
template <const auto& Table, std::size_t I>
PyObject* call_method(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords) noexcept {
  return parser<Table, I, Binding::method>().invoke(self, args, count, keywords);
}
template <const auto& Table, std::size_t I>
PyObject* call_method_without_arguments(PyObject* self, PyObject*) noexcept {
  return parser<Table, I, Binding::method>().invoke(self, nullptr, 0, nullptr);
}

using FastCall = PyObject* (*)(PyObject* self, PyObject* const* args, Py_ssize_t count, PyObject* keywords);

/// A definition with its C functions.
struct Entry {
  const Definition* definition;
  FastCall function;
  FastCall method;
  PyCFunction method_without_arguments;
  Parser& (*function_parser)();
  Parser& (*method_parser)();
};

template <const auto& Table>
std::vector<Entry> entries() {
  return []<std::size_t... I>(std::index_sequence<I...>) {
    return std::vector<Entry>{{&Table[I], call_function<Table, I>, call_method<Table, I>,
                               call_method_without_arguments<Table, I>, parser<Table, I, Binding::function>,
                               parser<Table, I, Binding::method>}...};
  }
  (std::make_index_sequence<std::size(Table)>());
}

/// All definitions in this folder.
const std::vector<Entry>& all_entries();
std::vector<Entry> op_entries();
/// The functions of the submodule `_nn`, which nn/functional.py takes them from.
std::vector<Entry> nn_entries();
std::vector<Entry> view_entries();
std::vector<Entry> factory_entries();
std::vector<Entry> draw_entries();
std::vector<Entry> function_entries();
std::vector<Entry> autograd_entries();
std::vector<Entry> layer_entries();
/// Those of the submodule _nn.
std::vector<Entry> layer_entries_of_nn();

/// The method table of the type Tensor; lives as long as the process.
PyMethodDef* method_table();
/// Adds every function to the module.
void bind_functions(nb::module_& module);

}  // namespace tenon::python
