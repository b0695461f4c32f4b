// expr: the parser. Takes a Python-like expression; gives its nodes, each with its position in the text. Never looks up
// names and never computes.
#pragma once
#include <string>
#include <vector>

#include "expr/error.h"
#include "tenon/dtype.h"

namespace tenon::expr {

struct Node {
  enum class Kind : uint8_t {
    number,     // 3, 1e-3, 2j, True
    string,     // "floor"
    none,       // None
    ellipsis,   // ...
    name,       // x
    unary,      // -x
    binary,     // x + y, x < y
    call,       // f(x, dim=0): children are the arguments; children[0] is the object of a method
    attribute,  // x.T
    index,      // x[0, 1:3]: children[0], then the items
    slice,      // 1:3:2 between brackets: three children, -1 where left out
    tuple,      // (0, 1) or [0, 1]
  };
  Kind kind;
  Span span;
  Scalar number;           // of a number
  std::string name = {};   // a name, an operator, a called function, an attribute, a string's text
  bool is_method = false;  // of a call
  std::vector<int> children = {};
  std::vector<std::string> keywords = {};  // of a call, one for each child: "" for positional arguments
  int height = 1;                          // nodes on the longest path down
};

struct Ast {
  std::string text;         // one line for each expression
  std::vector<Node> nodes;  // children come before their parents
  std::vector<int> roots;

  const Node& operator[](int node) const { return nodes[static_cast<std::size_t>(node)]; }
};

/// Limits for nested brackets and signs, and for the height of the tree (a chain of operators), because code that
/// visits the tree is recursive.
inline constexpr int kMaxNesting = 200;
inline constexpr int kMaxHeight = 500;

/// expression  = inverse [("<" | "<=" | ">" | ">=" | "==" | "!=") inverse], where `inverse` is a chain of | ^ & << >>
///               + - * / // % @ with Python's precedence, of signs
/// sign        = {"-" | "+" | "~"} value {"." name ["(" arguments ")"] | "[" items "]"} ["**" sign]
/// value       = number | string | name ["(" arguments ")"] | "(" expression ")" | "True" | "False" | "None" | "..."
///             | "(" [expression {"," expression}] ")" | "[" [expression {"," expression}] "]"
/// Throws ExpressionError with the position.
Ast parse(const std::string& text);
/// Several expressions, whose positions are those in `joined`.
Ast parse(const std::vector<std::string>& texts);
std::string joined(const std::vector<std::string>& texts);

}  // namespace tenon::expr
