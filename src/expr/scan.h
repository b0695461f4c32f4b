// expr: the scanner. Takes the expression's text; gives one token at a time with its position.
#pragma once
#include <string>
#include <string_view>

#include "expr/error.h"
#include "tenon/dtype.h"

namespace tenon::expr {

struct Token {
  enum class Kind : uint8_t { end, number, string, name, symbol };
  Kind kind = Kind::end;
  Span span;
  std::string_view text = {};  // of a string: without its quotes
  Scalar number = {};

  bool is(std::string_view symbol) const noexcept { return kind == Kind::symbol && text == symbol; }
};

/// The first token at or after `begin`. Throws ExpressionError for a character that begins no token.
Token next_token(std::string_view text, int64_t begin);

}  // namespace tenon::expr
