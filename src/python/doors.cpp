#include "python/doors.h"

#include <deque>
#include <string>

namespace tenon::python {
namespace {

/// Texts that Python keeps pointers to.
const char* keep(std::string text) {
  static std::deque<std::string> texts;
  return texts.emplace_back(std::move(text)).c_str();
}

/// Python tells what a function takes by its flags.
PyCFunction as_c_function(FastCall function) {
  return reinterpret_cast<PyCFunction>(reinterpret_cast<void (*)()>(function));
}

/// "add(input, other, *, alpha=1, out=None)": what inspect.signature reads, where one signature says it all.
std::string text_signature(const Parser& parser, Door door) {
  if (parser.signatures().size() != 1) return "";
  std::string text = door == Door::method ? "($self" : "(";
  const Signature& signature = parser.signatures()[0];
  for (std::size_t i = 0; i < signature.parameters.size(); ++i) {
    const Signature::Parameter& parameter = signature.parameters[i];
    const std::string separator = text.back() == '(' ? "" : ", ";
    if (i == signature.positional) text += separator + "*";
    const std::string declared = parameter.text();
    const std::string name = declared.substr(0, declared.find(" = "));
    text += (text.back() == '(' ? "" : ", ") + name.substr(name.rfind(' ') + 1);
    if (parameter.optional) text += "=" + parameter.default_text;
  }
  return parser.name() + text + ")\n--\n\n";
}

const char* docstring(const Parser& parser, Door door) {
  std::string text = text_signature(parser, door);
  const std::string prefix = door == Door::method ? "Tensor." : "";
  for (const Signature& signature : parser.signatures()) text += prefix + parser.name() + signature.text() + "\n";
  return keep(text + "\n" + parser.doc());
}

}  // namespace

const std::vector<Entry>& all_entries() {
  static const std::vector<Entry> all = [] {
    std::vector<Entry> entries;
    for (const auto& part :
         {op_entries(), view_entries(), factory_entries(), function_entries(), autograd_entries(), product_entries()})
      entries.insert(entries.end(), part.begin(), part.end());
    return entries;
  }();
  return all;
}

PyMethodDef* method_table() {
  static std::vector<PyMethodDef> methods;
  for (const Entry& entry : all_entries()) {
    if (!has_door(entry.definition->doors, Door::method)) continue;
    const Parser& parser = entry.method_parser();
    const bool bare = parser.signatures().size() == 1 && parser.signatures()[0].parameters.empty();
    const auto call = bare ? entry.method_without_arguments : as_c_function(entry.method);
    methods.push_back({entry.definition->name, call, bare ? METH_NOARGS : METH_FASTCALL | METH_KEYWORDS,
                       docstring(parser, Door::method)});
  }
  methods.push_back({});
  return methods.data();
}

void bind_functions(nb::module_& module) {
  static std::deque<PyMethodDef> functions;
  const nb::object name = module.attr("__name__");
  for (const Entry& entry : all_entries()) {
    if (!has_door(entry.definition->doors, Door::function)) continue;
    functions.push_back({entry.definition->name, as_c_function(entry.function), METH_FASTCALL | METH_KEYWORDS,
                         docstring(entry.function_parser(), Door::function)});
    module.attr(entry.definition->name) = nb::steal(PyCFunction_New(&functions.back(), name.ptr()));
  }
  // What tests and stubs are made from.
  module.def("_ops", [] {
    nb::dict ops;
    for (const OpKind& op : op_kinds())
      if (std::string_view(op.kind) != "form") ops[op.name] = op.kind;
    return ops;
  });
  module.def("_signatures", [](bool methods) {
    nb::list all;
    for (const Entry& entry : all_entries()) {
      const Door door = methods ? Door::method : Door::function;
      if (!has_door(entry.definition->doors, door)) continue;
      const Parser& parser = methods ? entry.method_parser() : entry.function_parser();
      nb::list signatures;
      for (const Signature& signature : parser.signatures()) signatures.append(signature.text());
      all.append(nb::make_tuple(parser.name(), signatures, parser.doc()));
    }
    return all;
  });
}

}  // namespace tenon::python
