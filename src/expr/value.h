// expr: values of parts of an expression. Takes a value of any kind; converts it to the kind that is needed.
#pragma once
#include <map>
#include <string>
#include <variant>
#include <vector>

#include "expr/tree.h"

namespace tenon::expr {

struct NoneValue {};
struct EllipsisValue {};
/// The results of a function that returns several tensors.
struct Results {
  const Schema* function;
  std::vector<Tree> trees;  // leaves, if they are computed

  /// "values", "indices"; empty if they have no names.
  std::vector<std::string> names() const;
};
/// A list of numbers of which at least one is no integer.
using Floats = List<double>;
/// A tree is a tensor or a number; Dims are a list of integers.
using Value = std::variant<Tree, Dims, Floats, Trees, Dtype, std::string, Results, NoneValue, EllipsisValue>;

/// An argument of a call, with its position for errors.
struct Argument {
  std::string keyword;  // "": positional
  Value value;
  Span span;
};

bool is_none(const Value& value);
/// "a tensor of shape [2, 3]", "the number 2.5", "a list".
std::string describe(const Value& value);
[[noreturn]] void fail_argument(const Argument& argument, const std::string& wanted);

const Tree& as_tree(const Argument& argument);
int64_t as_integer(const Argument& argument);
Scalar as_number(const Argument& argument);
bool as_boolean(const Argument& argument);
Dtype as_dtype(const Argument& argument);
const std::string& as_string(const Argument& argument);
/// A list of tensors, or several results.
Trees as_trees(const Argument& argument);
/// A list, or one integer.
Dims as_dims(const Argument& argument);
/// A list of numbers, which may be integers.
Floats as_floats(const Argument& argument);

}  // namespace tenon::expr
