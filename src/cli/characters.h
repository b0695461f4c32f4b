// cli: text of unknown origin (names, fields of files). Takes bytes; gives the characters of UTF-8 in them, one by one.
#pragma once
#include <string_view>

namespace tenon::cli {

struct Character {
  std::string_view bytes;  // one at least
  char32_t code = 0;       // without meaning where the bytes are no UTF-8
  bool is_utf8 = false;

  /// Moves a terminal's cursor, rings, or worse: C0, DEL and C1.
  bool is_control() const noexcept { return is_utf8 && (code < 0x20 || (code >= 0x7F && code < 0xA0)); }
};

/// The first character of `text`, which is not empty; a byte alone where it begins no valid UTF-8.
Character first_character(std::string_view text) noexcept;

}  // namespace tenon::cli
