// cli: text for a terminal. Takes text; gives it coloured, aligned or underlined.
#pragma once
#include <cstdint>
#include <string>
#include <string_view>

#include "base/bytes_text.h"
#include "expr/error.h"

namespace tenon::cli {

enum class Colour : uint8_t { heading, stretched, added, failing, quiet, good };

/// Colours text if colours are on.
class Painter {
 public:
  explicit Painter(bool coloured) : coloured_(coloured) {}
  std::string operator()(Colour colour, std::string_view text) const;

 private:
  bool coloured_;
};

/// For standard output and standard error. Colours are on for a terminal, unless NO_COLOR is set. https://no-color.org
Painter stdout_painter();
Painter stderr_painter();

/// The text without control characters and invalid UTF-8, which are shown like "\\x1b". Newlines and tabs stay.
std::string shown(std::string_view text);

/// The number of characters, not bytes.
int64_t display_width(std::string_view text);
std::string pad_left(std::string_view text, int64_t width);
std::string pad_right(std::string_view text, int64_t width);

/// The line of `text` that holds the span, and a line below it that underlines it.
std::string underlined(std::string_view text, expr::Span span, const Painter& paint);

}  // namespace tenon::cli
