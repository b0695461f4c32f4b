#include "expr/parse.h"

#include <algorithm>
#include <string_view>

#include "expr/scan.h"

namespace tenon::expr {
namespace {

constexpr std::string_view kComparisons[] = {"<", "<=", ">", ">=", "==", "!="};

bool is_comparison(const Token& token) {
  return std::any_of(std::begin(kComparisons), std::end(kComparisons),
                     [&](std::string_view symbol) { return token.is(symbol); });
}

class Parser {
 public:
  explicit Parser(const std::string& text) {
    ast_.text = text;
    advance();
  }

  Ast parse() {
    if (token_.kind == Token::Kind::end) fail("the expression is empty", token_.span);
    ast_.roots = {tuple_or_expression()};
    if (token_.is(")") || token_.is("]")) fail("unmatched '" + std::string(token_.text) + "'", token_.span);
    if (token_.kind != Token::Kind::end) fail_unexpected("an operator");
    return std::move(ast_);
  }

 private:
  /// Counts the depth of the parser's recursion.
  class Level {
   public:
    explicit Level(Parser& parser) : parser_(parser) {
      if (parser.nesting_ >= kMaxNesting)
        fail("the expression nests deeper than " + std::to_string(kMaxNesting) + " levels", parser.token_.span);
      ++parser.nesting_;
    }
    ~Level() { --parser_.nesting_; }
    Level(const Level&) = delete;
    Level& operator=(const Level&) = delete;

   private:
    Parser& parser_;
  };

  [[noreturn]] static void fail(const std::string& what, Span span) { throw ExpressionError(what, span); }
  [[noreturn]] void fail_unexpected(const std::string& wanted) const {
    if (token_.kind == Token::Kind::end) {
      const int64_t end = static_cast<int64_t>(ast_.text.size());
      fail("the expression ends where " + wanted + " is expected", {end, end});
    }
    fail(wanted + " is expected, not '" +
             ast_.text.substr(static_cast<std::size_t>(token_.span.begin),
                              static_cast<std::size_t>(token_.span.end - token_.span.begin)) +
             "'",
         token_.span);
  }

  void advance() {
    last_end_ = token_.span.end;
    token_ = next_token(ast_.text, token_.span.end);
  }
  bool accept(std::string_view symbol) {
    if (!token_.is(symbol)) return false;
    advance();
    return true;
  }
  void close(std::string_view symbol, const Token& opening) {
    if (accept(symbol)) return;
    if (token_.kind == Token::Kind::end) fail("'" + std::string(opening.text) + "' was never closed", opening.span);
    fail_unexpected("',' or '" + std::string(symbol) + "'");
  }

  int add(Node node) {
    for (int child : node.children)
      if (child >= 0) node.height = std::max(node.height, ast_[child].height + 1);
    if (node.height > kMaxHeight)
      fail("the expression chains more than " + std::to_string(kMaxHeight) + " operations", node.span);
    ast_.nodes.push_back(std::move(node));
    return static_cast<int>(ast_.nodes.size()) - 1;
  }
  int leaf(Node::Kind kind, Span span, Scalar number = {}, std::string_view name = {}) {
    return add({.kind = kind, .span = span, .number = number, .name = std::string(name)});
  }
  Span from(int first) const { return {ast_[first].span.begin, last_end_}; }

  int tuple_or_expression() {
    const int first = expression();
    if (!token_.is(",")) return first;
    std::vector<int> items{first};
    while (accept(",") && token_.kind != Token::Kind::end) items.push_back(expression());
    return add({.kind = Node::Kind::tuple, .span = from(first), .number = {}, .children = std::move(items)});
  }

  int expression() {
    const Level level(*this);
    const int left = disjunction();
    if (!is_comparison(token_)) return left;
    const int result = binary(left, &Parser::disjunction);
    if (is_comparison(token_))
      fail("comparisons cannot be chained; write logical_and(a < b, b < c)",
           {ast_[result].span.begin, token_.span.end});
    return result;
  }
  // Python's precedence.
  int disjunction() { return chain({"|"}, &Parser::exclusive_disjunction); }
  int exclusive_disjunction() { return chain({"^"}, &Parser::conjunction); }
  int conjunction() { return chain({"&"}, &Parser::shift); }
  int shift() { return chain({"<<", ">>"}, &Parser::sum); }
  int sum() { return chain({"+", "-"}, &Parser::product); }
  int product() { return chain({"*", "/", "//", "%", "@"}, &Parser::sign); }
  /// Operators of one precedence, from the left.
  int chain(std::initializer_list<std::string_view> symbols, int (Parser::*operand)()) {
    int left = (this->*operand)();
    const auto is_next = [&](std::string_view symbol) { return token_.is(symbol); };
    while (std::any_of(symbols.begin(), symbols.end(), is_next)) left = binary(left, operand);
    return left;
  }
  int binary(int left, int (Parser::*operand)()) {
    const std::string_view symbol = token_.text;
    advance();
    const int right = (this->*operand)();
    return add({.kind = Node::Kind::binary,
                .span = from(left),
                .number = {},
                .name = std::string(symbol),
                .children = {left, right}});
  }
  int sign() {
    if (!token_.is("-") && !token_.is("+") && !token_.is("~")) return power();
    const Level level(*this);
    const Token symbol = token_;
    advance();
    const int operand = sign();
    const Span span{symbol.span.begin, last_end_};
    return add({.kind = Node::Kind::unary,
                .span = span,
                .number = {},
                .name = std::string(symbol.text),
                .children = {operand}});
  }

  /// From the right, and before a sign: -a ** -b ** c is -(a ** (-(b ** c))).
  int power() {
    const int left = postfix();
    if (!token_.is("**")) return left;
    const Level level(*this);
    return binary(left, &Parser::sign);
  }

  int postfix() {
    int result = value();
    for (;;) {
      if (token_.is("."))
        result = attribute(result);
      else if (token_.is("["))
        result = index(result);
      else if (token_.is("("))
        fail("only a name can be called", from(result));
      else
        return result;
    }
  }
  int attribute(int receiver) {
    advance();
    if (token_.kind != Token::Kind::name) fail_unexpected("a name");
    const std::string name(token_.text);
    advance();
    if (!token_.is("("))
      return add(
          {.kind = Node::Kind::attribute, .span = from(receiver), .number = {}, .name = name, .children = {receiver}});
    Node call{.kind = Node::Kind::call,
              .span = {},
              .number = {},
              .name = name,
              .is_method = true,
              .children = {receiver},
              .keywords = {""}};
    arguments(call);
    call.span = from(receiver);
    return add(std::move(call));
  }
  void arguments(Node& call) {
    const Token opening = token_;
    advance();
    while (!token_.is(")")) {
      const std::string keyword = accept_keyword();
      if (keyword.empty() && !call.keywords.empty() && !call.keywords.back().empty())
        fail("a positional argument follows a keyword argument", token_.span);
      if (token_.kind == Token::Kind::end) close(")", opening);
      call.children.push_back(expression());
      call.keywords.push_back(keyword);
      if (!accept(",")) break;
    }
    close(")", opening);
  }
  /// Reads a name and "="; reads nothing if they are not there.
  std::string accept_keyword() {
    if (token_.kind != Token::Kind::name) return {};
    const Token after = next_token(ast_.text, token_.span.end);
    if (!after.is("=")) return {};
    const std::string name(token_.text);
    advance();
    advance();
    return name;
  }
  int index(int receiver) {
    const Token opening = token_;
    advance();
    Node node{.kind = Node::Kind::index, .span = {}, .number = {}, .children = {receiver}};
    while (!token_.is("]")) {
      if (token_.kind == Token::Kind::end) close("]", opening);
      node.children.push_back(index_item());
      if (!accept(",")) break;
    }
    close("]", opening);
    node.span = from(receiver);
    return add(std::move(node));
  }
  int index_item() {
    const int64_t begin = token_.span.begin;
    int parts[3] = {-1, -1, -1};
    if (!token_.is(":")) parts[0] = expression();
    if (!token_.is(":")) return parts[0];
    for (int part = 1; part < 3 && accept(":"); ++part)
      if (!token_.is(":") && !token_.is(",") && !token_.is("]")) parts[part] = expression();
    return add({.kind = Node::Kind::slice,
                .span = {begin, last_end_},
                .number = {},
                .children = {parts[0], parts[1], parts[2]}});
  }

  int value() {
    const Token token = token_;
    if (token.is("(")) return bracket(")");
    if (token.is("[")) return bracket("]");
    if (token.kind == Token::Kind::end || (token.kind == Token::Kind::symbol && !token.is("...")))
      fail_unexpected("a value");
    advance();
    if (token.kind == Token::Kind::number) return leaf(Node::Kind::number, token.span, token.number);
    if (token.kind == Token::Kind::string) return leaf(Node::Kind::string, token.span, {}, token.text);
    if (token.is("...")) return leaf(Node::Kind::ellipsis, token.span);
    return word(token);
  }
  int word(const Token& token) {
    if (token.text == "True") return leaf(Node::Kind::number, token.span, true);
    if (token.text == "False") return leaf(Node::Kind::number, token.span, false);
    if (token.text == "None") return leaf(Node::Kind::none, token.span);
    if (!token_.is("(")) return leaf(Node::Kind::name, token.span, {}, token.text);
    Node call{.kind = Node::Kind::call, .span = {}, .number = {}, .name = std::string(token.text)};
    arguments(call);
    call.span = {token.span.begin, last_end_};
    return add(std::move(call));
  }
  /// A parenthesised expression, or a tuple or list.
  int bracket(std::string_view closing) {
    const Token opening = token_;
    advance();
    std::vector<int> items;
    bool is_tuple = closing == "]" || token_.is(")");
    while (!token_.is(closing)) {
      if (token_.kind == Token::Kind::end) close(closing, opening);
      items.push_back(expression());
      if (!accept(",")) break;
      is_tuple = true;
    }
    close(closing, opening);
    const Span span{opening.span.begin, last_end_};
    if (is_tuple) return add({.kind = Node::Kind::tuple, .span = span, .number = {}, .children = std::move(items)});
    ast_.nodes[static_cast<std::size_t>(items[0])].span = span;  // errors underline the brackets, too
    return items[0];
  }

  Ast ast_;
  Token token_;
  int64_t last_end_ = 0;  // end of the previous token
  int nesting_ = 0;
};

}  // namespace

Ast parse(const std::string& text) { return Parser(text).parse(); }

std::string joined(const std::vector<std::string>& texts) {
  std::string all;
  for (std::size_t i = 0; i < texts.size(); ++i) all += (i ? "\n" : "") + texts[i];
  return all;
}

namespace {

/// Adds an expression's nodes behind those that are there. `begin`: where its text begins.
void append(Ast& ast, Ast part, int64_t begin) {
  const int first = static_cast<int>(ast.nodes.size());
  for (Node& node : part.nodes) {
    node.span = {node.span.begin + begin, node.span.end + begin};
    for (int& child : node.children) child += child < 0 ? 0 : first;
    ast.nodes.push_back(std::move(node));
  }
  ast.roots.push_back(part.roots[0] + first);
}

}  // namespace

Ast parse(const std::vector<std::string>& texts) {
  Ast ast;
  for (const std::string& text : texts) {
    const int64_t begin = static_cast<int64_t>(ast.text.size()) + (ast.roots.empty() ? 0 : 1);
    try {
      append(ast, parse(text), begin);
    } catch (const ExpressionError& error) {
      throw ExpressionError(error.what(), {error.span().begin + begin, error.span().end + begin});
    }
    ast.text += (ast.roots.size() > 1 ? "\n" : "") + text;
  }
  return ast;
}

}  // namespace tenon::expr
