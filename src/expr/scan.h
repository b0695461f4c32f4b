// expr: text to tokens. Takes the expression's text; gives one token at a time with its place.
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
  std::string_view text = {};  // a string's without quotes
  Scalar number = {};

  bool is(std::string_view symbol) const noexcept { return kind == Kind::symbol && text == symbol; }
};

/// The token that begins at `begin` or after spaces there. ExpressionError for characters that begin none.
Token next_token(std::string_view text, int64_t begin);

}  // namespace tenon::expr
