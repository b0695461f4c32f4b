#include "expr/value.h"

namespace tenon::expr {
namespace {

const TreeNode* number_of(const Value& value) {
  const Tree* tree = std::get_if<Tree>(&value);
  return tree && (*tree)->is_number() ? tree->get() : nullptr;
}

std::string describe_number(Scalar number) {
  if (number.is_boolean()) return number.as_bool() ? "True" : "False";
  if (number.is_complex()) return "a complex number";
  if (number.is_floating()) return "a floating-point number";
  return "the integer " + std::to_string(number.as_int64());
}

std::string describe_results(const Results& results) {
  std::string hints;
  for (const std::string& name : results.names()) hints += (hints.empty() ? " (take ." : " or .") + name;
  if (hints.empty()) hints = " (take [0] to [" + std::to_string(results.trees.size() - 1) + "]";
  return "the " + std::to_string(results.trees.size()) + " results of " + results.function->name + hints + ")";
}

}  // namespace

/// The names at the end of the signature: "-> (Tensor values, Tensor indices)".
std::vector<std::string> Results::names() const {
  std::string_view rest = function->signature;
  rest.remove_prefix(rest.find(" -> ") + 4);
  std::vector<std::string> all;
  for (std::size_t at; (at = rest.find("Tensor ")) != std::string_view::npos;) {
    rest.remove_prefix(at + 7);
    all.emplace_back(rest.substr(0, rest.find_first_of(",)")));
  }
  return all;
}

bool is_none(const Value& value) { return std::holds_alternative<NoneValue>(value); }

std::string describe(const Value& value) {
  if (const TreeNode* number = number_of(value)) return describe_number(number->number);
  if (const Tree* tree = std::get_if<Tree>(&value)) return "a tensor of shape " + to_string((*tree)->sizes());
  if (std::holds_alternative<Trees>(value)) return "a list of tensors";
  if (const Dims* dims = std::get_if<Dims>(&value)) return "the list " + to_string(*dims);
  if (std::holds_alternative<Floats>(value)) return "a list of numbers";
  if (const Dtype* dtype = std::get_if<Dtype>(&value)) return std::string("the dtype ") + dtype_name(*dtype);
  if (const Results* results = std::get_if<Results>(&value)) return describe_results(*results);
  if (const std::string* text = std::get_if<std::string>(&value)) return "the string \"" + *text + "\"";
  return is_none(value) ? "None" : "...";
}

void fail_argument(const Argument& argument, const std::string& wanted) {
  const std::string name = argument.keyword.empty() ? "" : argument.keyword + ": ";
  throw ExpressionError(name + wanted + " is expected, not " + describe(argument.value), argument.span);
}

const Tree& as_tree(const Argument& argument) {
  if (const Tree* tree = std::get_if<Tree>(&argument.value)) return *tree;
  fail_argument(argument, "a tensor or a number");
}
int64_t as_integer(const Argument& argument) {
  const TreeNode* number = number_of(argument.value);
  if (!number || number->number.kind() != Scalar::Kind::integer) fail_argument(argument, "an integer");
  return number->number.as_int64();
}
Scalar as_number(const Argument& argument) {
  const TreeNode* number = number_of(argument.value);
  if (!number) fail_argument(argument, "a number");
  return number->number;
}
bool as_boolean(const Argument& argument) {
  const TreeNode* number = number_of(argument.value);
  if (!number || !number->number.is_boolean()) fail_argument(argument, "True or False");
  return number->number.as_bool();
}
Dtype as_dtype(const Argument& argument) {
  if (const Dtype* dtype = std::get_if<Dtype>(&argument.value)) return *dtype;
  fail_argument(argument, "a dtype such as float32");
}
const std::string& as_string(const Argument& argument) {
  if (const std::string* text = std::get_if<std::string>(&argument.value)) return *text;
  fail_argument(argument, "a string");
}
Floats as_floats(const Argument& argument) {
  if (const Floats* floats = std::get_if<Floats>(&argument.value)) return *floats;
  if (const Dims* dims = std::get_if<Dims>(&argument.value)) return *tenon::Value(*dims).optional_floats();
  fail_argument(argument, "a list of numbers");
}
Trees as_trees(const Argument& argument) {
  Trees trees;
  if (const Results* results = std::get_if<Results>(&argument.value))
    trees = results->trees;
  else if (const Trees* list = std::get_if<Trees>(&argument.value))
    trees = *list;
  else if (const Dims* dims = std::get_if<Dims>(&argument.value); !dims || !dims->empty())
    fail_argument(argument, "a list of tensors");
  for (const Tree& tree : trees)
    if (tree->is_number()) fail_argument({"", tree, tree->span}, "a tensor");
  return trees;
}
Dims as_dims(const Argument& argument) {
  if (const Dims* dims = std::get_if<Dims>(&argument.value)) return *dims;
  const TreeNode* number = number_of(argument.value);
  if (!number || number->number.kind() != Scalar::Kind::integer)
    fail_argument(argument, "an integer or a list of integers");
  return Dims{number->number.as_int64()};
}

}  // namespace tenon::expr
