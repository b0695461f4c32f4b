// cli: `tenon ops`.
#include <nlohmann/json.hpp>

#include "cli/commands.h"
#include "cli/terminal.h"
#include "expr/functions.h"

namespace tenon::cli {
namespace {

std::vector<const Schema*> schemas_named(const std::string& name) {
  std::vector<const Schema*> found;
  for (const Schema& schema : schemas())
    if (name.empty() || name == schema.name) found.push_back(&schema);
  if (!found.empty()) return found;
  Error unknown("there is no op '" + name + "'");
  const std::string nearest = expr::nearest_function(name);
  if (!nearest.empty()) unknown.add_note("did you mean " + nearest + "?");
  throw unknown;
}

nlohmann::ordered_json as_json(const Schema& schema) {
  nlohmann::ordered_json parameters = nlohmann::ordered_json::array();
  for (const Parameter& parameter : schema.parameters()) {
    parameters.push_back(
        {{"name", parameter.name}, {"type", parameter.type}, {"keyword_only", parameter.keyword_only}});
    if (parameter.fallback) parameters.back()["default"] = parameter.fallback;
  }
  return {{"name", schema.name},
          {"signature", schema.signature},
          {"doc", schema.doc},
          {"kind", schema.kind},
          {"parameters", parameters},
          {"method", schema.method != nullptr},
          {"out", schema.out != nullptr},
          {"inplace", schema.inplace != nullptr}};
}

std::string as_text(const std::vector<const Schema*>& found) {
  const Painter paint = stdout_painter();
  std::string text;
  for (const Schema* schema : found) {
    text += paint(Colour::heading, schema->signature) + "\n";
    if (*schema->doc) text += std::string("  ") + schema->doc + "\n";
  }
  return text;
}

}  // namespace

int run_ops(const OpsOptions& options) {
  const std::vector<const Schema*> found = schemas_named(options.name);
  if (!options.json) {
    print(as_text(found));
    return 0;
  }
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Schema* schema : found) all.push_back(as_json(*schema));
  print(all.dump(2) + "\n");
  return 0;
}

}  // namespace tenon::cli
