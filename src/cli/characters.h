// cli: text that may be any bytes (names, fields of files). Takes bytes; gives UTF-8 characters, one by one.
#pragma once
#include <string_view>

namespace tenon::cli {

struct Character {
  std::string_view bytes;  // at least one
  char32_t code = 0;       // 0 if the bytes are not UTF-8
  bool is_utf8 = false;

  /// Whether it is a control character, which could change the terminal: C0, DEL and C1.
  bool is_control() const noexcept { return is_utf8 && (code < 0x20 || (code >= 0x7F && code < 0xA0)); }
};

/// The first character of `text`, which is not empty; a single byte if that is not valid UTF-8.
Character first_character(std::string_view text) noexcept;

}  // namespace tenon::cli
