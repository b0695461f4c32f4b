// cli: `tenon ops`.
#include <algorithm>
#include <cstring>
#include <span>

#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "expr/own_functions.h"
#include "expr/spelling.h"
#include "tenon/error.h"
#include "tenon/schema.h"

namespace tenon::cli {
namespace {

/// What is listed of an op or of a view.
struct Listed {
  const char* name;
  const char* signature;
  const char* doc;
  const char* kind;
  std::span<const Parameter> parameters;
  bool has_method, has_out, has_inplace;
};

Listed listed(const Schema& op) {
  return {op.name,           op.signature,         op.doc, op.kind, op.parameters(), op.method != nullptr,
          op.out != nullptr, op.inplace != nullptr};
}
Listed listed(const ViewSchema& view) {
  return {view.name, view.signature, view.doc, "view", view.parameters(), view.is_method, false, view.has_inplace};
}

/// In alphabetical order.
std::vector<Listed> everything() {
  std::vector<Listed> all;
  for (const Schema& op : schemas()) all.push_back(listed(op));
  for (const expr::OwnFunction& own : expr::own_functions()) all.push_back(listed(own.schema));
  for (const ViewSchema& view : view_schemas()) all.push_back(listed(view));
  std::stable_sort(all.begin(), all.end(),
                   [](const Listed& a, const Listed& b) { return std::strcmp(a.name, b.name) < 0; });
  return all;
}

std::vector<Listed> named(const std::string& name) {
  const std::vector<Listed> all = everything();
  if (name.empty()) return all;
  std::vector<Listed> found;
  std::vector<const char*> names;
  for (const Listed& one : all) {
    names.push_back(one.name);
    if (name == one.name) found.push_back(one);
  }
  if (!found.empty()) return found;
  Error unknown("there is no op '" + name + "'");
  const std::string nearest = expr::nearest_name(name, names);
  if (!nearest.empty()) unknown.add_note("did you mean " + nearest + "?");
  throw unknown;
}

nlohmann::ordered_json as_json(const Listed& one) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const Parameter& parameter : one.parameters) {
    parameters.push_back(
        {{"name", parameter.name}, {"type", parameter.type}, {"keyword_only", parameter.keyword_only}});
    if (parameter.fallback) parameters.back()["default"] = parameter.fallback;
  }
  return {{"name", one.name},         {"signature", one.signature}, {"doc", one.doc},     {"kind", one.kind},
          {"parameters", parameters}, {"method", one.has_method},   {"out", one.has_out}, {"inplace", one.has_inplace}};
}

std::string as_text(const std::vector<Listed>& found) {
  const Painter paint = stdout_painter();
  std::string text;
  for (const Listed& one : found) {
    text += paint(Colour::heading, one.signature) + "\n";
    if (*one.doc) text += std::string("  ") + one.doc + "\n";
  }
  return text;
}

}  // namespace

int run_ops(const OpsOptions& options) {
  const std::vector<Listed> found = named(options.name);
  if (!options.json) {
    print(as_text(found));
    return 0;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Listed& one : found) all.push_back(as_json(one));
  print(all.dump(2) + "\n");
  return 0;
}

}  // namespace tenon::cli
