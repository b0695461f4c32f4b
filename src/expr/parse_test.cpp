#include "expr/parse.h"

#include <gtest/gtest.h>

namespace tenon::expr {
namespace {

/// The tree with every bracket: "(a + (b * c))".
std::string show(const Ast& ast, int index) {
  if (index < 0) return "_";
  const Node& node = ast[index];
  const auto children = [&](std::size_t begin) {
    std::string text;
    for (std::size_t i = begin; i < node.children.size(); ++i) {
      text += i > begin ? ", " : "";
      if (i < node.keywords.size() && !node.keywords[i].empty()) text += node.keywords[i] + "=";
      text += show(ast, node.children[i]);
    }
    return text;
  };
  switch (node.kind) {
    case Node::Kind::number:
      if (node.number.is_boolean()) return node.number.as_bool() ? "True" : "False";
      return node.number.is_floating() ? "float:" + std::to_string(node.number.as_double())
                                       : std::to_string(node.number.as_int64());
    case Node::Kind::string:
      return "\"" + node.name + "\"";
    case Node::Kind::none:
      return "None";
    case Node::Kind::ellipsis:
      return "...";
    case Node::Kind::name:
      return node.name;
    case Node::Kind::unary:
      return "(" + node.name + show(ast, node.children[0]) + ")";
    case Node::Kind::binary:
      return "(" + show(ast, node.children[0]) + " " + node.name + " " + show(ast, node.children[1]) + ")";
    case Node::Kind::call:
      return node.is_method ? show(ast, node.children[0]) + "." + node.name + "(" + children(1) + ")"
                            : node.name + "(" + children(0) + ")";
    case Node::Kind::attribute:
      return show(ast, node.children[0]) + "." + node.name;
    case Node::Kind::index:
      return show(ast, node.children[0]) + "[" + children(1) + "]";
    case Node::Kind::slice:
      return show(ast, node.children[0]) + ":" + show(ast, node.children[1]) + ":" + show(ast, node.children[2]);
    case Node::Kind::tuple:
      return "<" + children(0) + ">";
  }
  return "?";
}
std::string shown(const std::string& text) {
  const Ast ast = parse(text);
  return show(ast, ast.roots[0]);
}

TEST(Parse, Trees) {
  const struct {
    const char* text;
    const char* want;
  } cases[] = {
      {"a + b * c", "(a + (b * c))"},
      {"a - b - c", "((a - b) - c)"},
      {"a + b @ c * d", "(a + ((b @ c) * d))"},
      {"(a + b) / c", "((a + b) / c)"},
      {"-a * b", "((-a) * b)"},
      {"--a", "(-(-a))"},
      {"-x.T", "(-x.T)"},
      {"a < b + 1", "(a < (b + 1))"},
      {"a==b", "(a == b)"},
      {"1 + 2.5 - 1e-3", "((1 + float:2.500000) - float:0.001000)"},
      {".5 + 1.", "(float:0.500000 + float:1.000000)"},
      {"True", "True"},
      {"f(a, b, dim=0, keepdim=True)", "f(a, b, dim=0, keepdim=True)"},
      {"f()", "f()"},
      {"f(a,)", "f(a)"},
      {"x.mean((0, 1))", "x.mean(<0, 1>)"},
      {"x.mean([0])", "x.mean(<0>)"},
      {"x.view(2, -1).t()", "x.view(2, (-1)).t()"},
      {"x[0, 1:3, ..., None, ::2, 1:]", "x[0, 1:3:_, ..., None, _:_:2, 1:_:_]"},
      {"x[-1][2]", "x[(-1)][2]"},
      {"div(a, b, rounding_mode=\"floor\")", "div(a, b, rounding_mode=\"floor\")"},
      {"5, 1, 4", "<5, 1, 4>"},
      {"()", "<>"},
      {"(3,)", "<3>"},
      {"f32[4,3: 1,4]", "f32[4, 3:1:_, 4]"},
      {"where(m, x, y) <= 1", "(where(m, x, y) <= 1)"},
      {"a | b ^ c & d << 1 + e % 2", "(a | (b ^ (c & (d << (1 + (e % 2))))))"},
      {"a ** b ** c", "(a ** (b ** c))"},
      {"-a ** -b * c", "((-(a ** (-b))) * c)"},
      {"x.T ** 2 // y", "((x.T ** 2) // y)"},
      {"a >> 1 >> 2 < ~b", "(((a >> 1) >> 2) < (~b))"},
  };
  for (const auto& c : cases) EXPECT_EQ(shown(c.text), c.want) << c.text;
}

TEST(Parse, SpansCoverWhatWasWritten) {
  const std::string text = "  a + f(b.T, (c))[0]";
  const Ast ast = parse(text);
  const auto covered = [&](int node) {
    return text.substr(ast[node].span.begin, ast[node].span.end - ast[node].span.begin);
  };
  const Node& root = ast[ast.roots[0]];
  EXPECT_EQ(covered(ast.roots[0]), "a + f(b.T, (c))[0]");
  EXPECT_EQ(covered(root.children[1]), "f(b.T, (c))[0]");
  const Node& call = ast[ast[root.children[1]].children[0]];
  EXPECT_EQ(covered(call.children[0]), "b.T");
  EXPECT_EQ(covered(call.children[1]), "(c)");
}

TEST(Parse, Errors) {
  const struct {
    const char* text;
    const char* want;
    int begin, end;
  } cases[] = {
      {"", "the expression is empty", 0, 0},
      {"   ", "the expression is empty", 3, 3},
      {"a +", "the expression ends where a value is expected", 3, 3},
      {"a b", "an operator is expected, not 'b'", 2, 3},
      {"(a", "'(' was never closed", 0, 1},
      {"f(a", "'(' was never closed", 1, 2},
      {"f(", "'(' was never closed", 1, 2},
      {"x[1", "'[' was never closed", 1, 2},
      {"x[", "'[' was never closed", 1, 2},
      {"[1, 2", "'[' was never closed", 0, 1},
      {"a)", "unmatched ')'", 1, 2},
      {"(a]", "',' or ')' is expected, not ']'", 2, 3},
      {"a $ b", "unexpected character '$'", 2, 3},
      {"a × b", "unexpected character '×'", 2, 4},
      {"12ab", "'12ab' is not a number", 0, 4},
      {"1.mean()", "'1.mean' is not a number", 0, 6},
      {"9223372036854775808", "'9223372036854775808' is out of the range of int64", 0, 19},
      {"1e999", "'1e999' is out of the range of float64", 0, 5},
      {"a < b < c", "comparisons cannot be chained; write logical_and(a < b, b < c)", 0, 7},
      {"a * * b", "a value is expected, not '*'", 4, 5},
      {"f(a=1, b)", "a positional argument follows a keyword argument", 7, 8},
      {"x.", "the expression ends where a name is expected", 2, 2},
      {"f(a)(b)", "only a name can be called", 0, 4},
      {"'abc", "the string is not closed", 0, 4},
      {"a = b", "an operator is expected, not '='", 2, 3},
  };
  for (const auto& c : cases) {
    try {
      parse(c.text);
      ADD_FAILURE() << c.text << " was parsed";
    } catch (const ExpressionError& error) {
      EXPECT_STREQ(error.what(), c.want) << c.text;
      EXPECT_EQ(error.span().begin, c.begin) << c.text;
      EXPECT_EQ(error.span().end, c.end) << c.text;
    }
  }
}

TEST(Parse, DepthIsLimitedNotTheStack) {
  const auto fails = [](const std::string& text) {
    try {
      parse(text);
    } catch (const ExpressionError& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  const auto repeated = [](int count, const std::string& part) {
    std::string text;
    for (int i = 0; i < count; ++i) text += part;
    return text;
  };
  const std::string deep = "the expression nests deeper than 200 levels",
                    chained = "the expression chains more than 500 operations";
  EXPECT_EQ(fails(repeated(1000000, "(")), deep);
  EXPECT_EQ(fails(repeated(1000000, "[")), deep);
  EXPECT_EQ(fails(repeated(1000000, "-") + "1"), deep);
  EXPECT_EQ(fails(repeated(1000000, "f(")), deep);
  EXPECT_EQ(fails("x" + repeated(1000000, "[0")), deep);
  EXPECT_EQ(fails("a" + repeated(1000000, "+a")), chained);
  EXPECT_EQ(fails("a" + repeated(1000000, ".T")), chained);
  EXPECT_EQ(fails("a" + repeated(1000000, "[0]")), chained);
  EXPECT_EQ(fails(repeated(190, "(") + "a" + repeated(190, ")")), "");
  EXPECT_EQ(fails("a" + repeated(490, "+a")), "");
}

// NUL, control characters and invalid UTF-8 are parsed or refused, with a span inside the text.
TEST(Parse, AnyByteAnywhere) {
  int refused = 0;
  for (int byte = 0; byte < 256; ++byte) {
    for (std::string text : {"a + b", "f(x, 'text')", "x[1:2]", "f32[3]"}) {
      for (std::size_t at = 0; at <= text.size(); ++at) {
        const std::string changed = text.substr(0, at) + static_cast<char>(byte) + text.substr(at);
        try {
          parse(changed);
        } catch (const ExpressionError& error) {
          ++refused;
          EXPECT_LE(error.span().begin, error.span().end) << changed;
          EXPECT_LE(error.span().end, static_cast<int>(changed.size())) << changed;
        }
      }
    }
  }
  EXPECT_GT(refused, 256 * 10);
}

}  // namespace
}  // namespace tenon::expr
