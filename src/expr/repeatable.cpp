#include "expr/repeatable.h"

#include <algorithm>
#include <map>
#include <string_view>

#include "expr/own_functions.h"

namespace tenon::expr {
namespace {

bool is_random(const Node& node) {
  if (node.kind != Node::Kind::call) return false;
  const auto own = find_own_functions(node.name);
  return node.name == "rrelu" || (!own.empty() && own[0].is_random);
}

/// `f32[4, 3]` stands for another tensor each time.
bool is_shape(const Ast& ast, const Node& node, const Scope& scope) {
  if (!scope.shapes || node.kind != Node::Kind::index) return false;
  const Node& base = ast[node.children[0]];
  return base.kind == Node::Kind::name && !scope.names.contains(base.name);
}

bool is_kept(const Node& node) {
  switch (node.kind) {
    case Node::Kind::unary:
    case Node::Kind::binary:
    case Node::Kind::call:
    case Node::Kind::attribute:
    case Node::Kind::index:
      return true;
    default:
      return false;
  }
}

/// Whether the first bracket closes with the last character.
bool is_in_brackets(std::string_view part) {
  int depth = 0;
  for (std::size_t i = 0; i < part.size(); ++i) {
    depth += part[i] == '(' ? 1 : part[i] == ')' ? -1 : 0;
    if (depth == 0) return i + 1 == part.size() && part[0] == '(';
  }
  return false;
}

/// The part as it is written, without brackets around it, and without spaces unless it has strings, in which they
/// count.
std::string written(const std::string& text, Span span) {
  std::string part = text.substr(static_cast<std::size_t>(span.begin), static_cast<std::size_t>(span.end - span.begin));
  if (part.find_first_of("'\"") == std::string::npos)
    part.erase(std::remove_if(part.begin(), part.end(), [](char c) { return c == ' ' || c == '\t' || c == '\n'; }),
               part.end());
  while (is_in_brackets(part)) part = part.substr(1, part.size() - 2);
  return part;
}

bool is_reduction(const std::string& name) {
  const auto overloads = find_functions(name);
  const bool is_fold =
      std::any_of(overloads.begin(), overloads.end(), [](const Schema& each) { return each.is_fold(); });
  return is_fold || name == "norm" || name == "linalg_norm";
}

/// Whether a part may be a reduction that is done together with others. Then the evaluation may be repeated.
bool may_wait(const Ast& ast) {
  return std::any_of(ast.nodes.begin(), ast.nodes.end(), [](const Node& node) {
    if (node.kind != Node::Kind::call) return false;
    const auto own = find_own_functions(node.name);
    return node.name == "equal" || node.name == "allclose" || (!own.empty() && own[0].formula) ||
           is_reduction(node.name) || is_reduction("linalg_" + node.name) || is_reduction("special_" + node.name);
  });
}

/// Forgets keys that name one part only: its value would be kept in memory in vain.
void clear_unique(std::vector<std::string>& keys) {
  std::map<std::string, int> counts;
  for (const std::string& key : keys) ++counts[key];
  for (std::string& key : keys)
    if (counts[key] == 1) key.clear();
}

}  // namespace

std::vector<std::string> keys_of(const Ast& ast, const Scope& scope) {
  const std::size_t count = ast.nodes.size();
  std::vector<std::string> keys(count);
  std::vector<bool> repeats(count, true);
  for (std::size_t i = 0; i < count; ++i) {
    const Node& node = ast.nodes[i];
    const bool shape = is_shape(ast, node, scope);
    repeats[i] = !is_random(node) && !shape && std::all_of(node.children.begin(), node.children.end(), [&](int child) {
      return child < 0 || repeats[static_cast<std::size_t>(child)];
    });
    if (is_kept(node) && !shape) keys[i] = repeats[i] ? written(ast.text, node.span) : "#" + std::to_string(i);
  }
  if (!may_wait(ast)) clear_unique(keys);
  return keys;
}

}  // namespace tenon::expr
