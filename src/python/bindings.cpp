#include "python/bindings.h"

#include <algorithm>
#include <deque>
#include <string>

#include "ops/row.h"
#include "tenon/autograd.h"
#include "tenon/schema.h"

namespace tenon::python {
namespace {

/// Keeps a string for the life of the process, because Python stores a pointer to it.
const char* keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

/// The cast that Python's C API requires; flags tell Python the real type.
PyCFunction as_c_function(FastCall function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

using Parameter = Signature::Parameter;

/// Whether f(5, 3) may be written for f((5, 3)).
bool takes_loose(const Signature& signature) {
  return signature.positional == 1 && signature.parameters[0].type == Signature::Type::integers;
}

/// A default value as Python code; "..." if it cannot be written so.
std::string default_of(const Parameter& parameter) {
  if (!parameter.optional) return parameter.allow_none ? "None" : "...";
  const std::string& text = parameter.default_text;
  const bool is_literal = text.find_first_not_of("-+.0123456789e()") == std::string::npos;
  return is_literal || text == "None" || text == "True" || text == "False" ? text : "...";
}

const Parameter* find(const Signature& signature, Name name) {
  for (const Parameter& parameter : signature.parameters)
    if (parameter.name == name) return &parameter;
  return nullptr;
}

/// Whether `most` accepts every call that `other` accepts.
bool covers(const Signature& most, const Signature& other) {
  for (std::size_t i = 0; i < other.parameters.size(); ++i) {
    const Parameter& parameter = other.parameters[i];
    const Parameter* same = find(most, parameter.name);
    const bool placed = i >= other.positional || (i < most.positional && most.parameters[i].name == parameter.name);
    if (!same || !placed) return false;
  }
  return takes_loose(most) == takes_loose(other);
}

/// The signature that accepts all calls of the others; null if there is none.
const Signature* widest(const Parser& parser) {
  for (const Signature& most : parser.signatures()) {
    bool all = !most.deprecated;
    for (const Signature& other : parser.signatures()) all = all && (other.deprecated || covers(most, other));
    if (all) return &most;
  }
  return nullptr;
}

bool is_optional(const Parser& parser, const Parameter& parameter) {
  const std::vector<Signature>& all = parser.signatures();
  return parameter.optional || std::any_of(all.begin(), all.end(), [&](const Signature& signature) {
           return !signature.deprecated && !find(signature, parameter.name);
         });
}

/// "(input, other, *, alpha=1, out=None)", which inspect.signature reads.
std::string text_signature(const Parser& parser, Binding binding) {
  std::string text = binding == Binding::method ? "($self" : "(";
  const auto add = [&](const std::string& part) { text += (text.back() == '(' ? "" : ", ") + part; };
  const Signature* signature = widest(parser);
  if (!signature) {
    add("*args");
    add("**kwargs");
    return text + ")";
  }
  const bool loose = takes_loose(*signature);
  for (std::size_t i = 0; i < signature->parameters.size(); ++i) {
    const Parameter& parameter = signature->parameters[i];
    std::string word(parameter.name_text());
    if (word == "from") word += '_';  // Python's own word
    if (i == signature->positional && !loose) add("*");
    if (i == 0 && loose)
      add("*" + word);
    else
      add(word + (is_optional(parser, parameter) ? "=" + default_of(parameter) : ""));
  }
  return text + ")";
}

const char* docstring(const Parser& parser, Binding binding) {
  std::string text = parser.name() + text_signature(parser, binding) + "\n--\n\n";
  const std::string prefix = binding == Binding::method ? "Tensor." : "";
  for (const Signature& signature : parser.signatures())
    text += prefix + parser.name() + signature.text() + signature.returned + "\n";
  return keep(text + "\n" + parser.doc());
}

}  // namespace

const std::vector<Entry>& all_entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> entries;
    for (const auto& part : {op_entries(), view_entries(), factory_entries(), draw_entries(), function_entries(),
                             autograd_entries(), layer_entries()})
      entries.insert(entries.end(), part.begin(), part.end());
    return entries;
  }();
  return all;
}

PyMethodDef* method_table() {
  static std::vector<PyMethodDef> methods;
  for (const Entry& entry : all_entries()) {
    if (!has_binding(entry.definition->bindings, Binding::method)) continue;
    const Parser& parser = entry.method_parser();
    const bool bare = parser.signatures().size() == 1 && parser.signatures()[0].parameters.empty();
    const auto call = bare ? entry.method_without_arguments : as_c_function(entry.method);
    methods.push_back({entry.definition->name, call, bare ? METH_NOARGS : METH_FASTCALL | METH_KEYWORDS,
                       docstring(parser, Binding::method)});
  }
  methods.push_back({});
  return methods.data();
}

/// Adds the functions among `entries` to `module`. They say that they are in the package's module `name`.
static void bind_functions(nb::module_& module, const std::vector<Entry>& entries, const char* name) {
  static std::deque<PyMethodDef> functions;
  const nb::str shown(name);
  for (const Entry& entry : entries) {
    if (!has_binding(entry.definition->bindings, Binding::function)) continue;
    functions.push_back({entry.definition->name, as_c_function(entry.function), METH_FASTCALL | METH_KEYWORDS,
                         docstring(entry.function_parser(), Binding::function)});
    module.attr(entry.definition->name) = checked_object(PyCFunction_NewEx(&functions.back(), nullptr, shown.ptr()));
  }
}

void bind_functions(nb::module_& module) {
  bind_functions(module, all_entries(), "tenon");
  nb::module_ nn = module.def_submodule("_nn");
  bind_functions(nn, nn_entries(), "tenon.nn.functional");
  bind_functions(nn, layer_entries_of_nn(), "tenon.nn.functional");
  // Used by tests and for stubs.
  module.def("_ops", [] {
    nb::list all;
    for (const Schema& schema : schemas()) {
      nb::list parameters;
      for (const tenon::Parameter& parameter : schema.parameters())
        parameters.append(nb::make_tuple(parameter.type, parameter.name, nb::cast(parameter.fallback),
                                         parameter.keyword_only, parameter.takes_numbers, parameter.values));
      all.append(nb::make_tuple(schema.name, schema.kind, parameters, schema.method != nullptr, schema.out != nullptr,
                                schema.inplace != nullptr, row_of(static_cast<Op>(schema.op)).ulp == 0,
                                row_of(static_cast<Op>(schema.op)).domain, schema.shapes));
    }
    return all;
  });
  module.def("_signatures", [](bool methods) {
    nb::list all;
    for (const Entry& entry : all_entries()) {
      const Binding binding = methods ? Binding::method : Binding::function;
      if (!has_binding(entry.definition->bindings, binding)) continue;
      const Parser& parser = methods ? entry.method_parser() : entry.function_parser();
      nb::list signatures;
      for (const Signature& signature : parser.signatures()) signatures.append(signature.declared + signature.returned);
      all.append(nb::make_tuple(parser.name(), signatures, parser.doc()));
    }
    return all;
  });
}

}  // namespace tenon::python
