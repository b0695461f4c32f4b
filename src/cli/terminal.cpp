#include "cli/terminal.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include "cli/characters.h"
#include "system/program.h"

namespace tenon::cli {
namespace {

bool wants_colour(int stream) {
  const char* refused = std::getenv("NO_COLOR");
  return system::is_terminal(stream) && !(refused && *refused);
}

}  // namespace

std::string Painter::operator()(Colour colour, std::string_view text) const {
  if (!coloured_) return std::string(text);
  constexpr const char* kCodes[] = {"1", "33", "36", "1;31", "2", "32"};  // in the order of Colour
  return std::string("\x1b[") + kCodes[static_cast<int>(colour)] + "m" + std::string(text) + "\x1b[0m";
}

Painter stdout_painter() { return Painter(wants_colour(1)); }
Painter stderr_painter() { return Painter(wants_colour(2)); }

std::string shown(std::string_view text) {
  std::string result;
  while (!text.empty()) {
    const Character character = first_character(text);
    text.remove_prefix(character.bytes.size());
    const bool is_layout = character.code == '\n' || character.code == '\t';
    if (character.is_utf8 && (!character.is_control() || is_layout)) {
      result += character.bytes;
      continue;
    }
    for (char byte : character.bytes) {
      char escaped[8];
      std::snprintf(escaped, sizeof escaped, "\\x%02x", static_cast<unsigned>(static_cast<unsigned char>(byte)));
      result += escaped;
    }
  }
  return result;
}

int64_t display_width(std::string_view text) {
  return std::count_if(text.begin(), text.end(), [](char c) { return (static_cast<unsigned char>(c) & 0xC0) != 0x80; });
}
std::string pad_left(std::string_view text, int64_t width) {
  return std::string(static_cast<std::size_t>(std::max<int64_t>(width - display_width(text), 0)), ' ') +
         std::string(text);
}
std::string pad_right(std::string_view text, int64_t width) {
  return std::string(text) +
         std::string(static_cast<std::size_t>(std::max<int64_t>(width - display_width(text), 0)), ' ');
}

std::string underlined(std::string_view text, expr::Span span, const Painter& paint) {
  const std::size_t size = text.size();
  const std::size_t begin = std::min(static_cast<std::size_t>(span.begin), size);
  const std::size_t line = begin == 0 ? 0 : text.rfind('\n', begin - 1) + 1;  // npos + 1 is 0
  const std::size_t line_end = std::min(text.find('\n', begin), size);
  const std::size_t end = std::min(static_cast<std::size_t>(span.end), line_end);
  const auto piece = [&](std::size_t from, std::size_t to) {
    std::string part = shown(text.substr(from, to - from));
    std::replace(part.begin(), part.end(), '\t', ' ');
    return part;
  };
  const int64_t before = display_width(piece(line, begin));
  const int64_t width = std::max<int64_t>(end > begin ? display_width(piece(begin, end)) : 0, 1);
  return "  " + piece(line, line_end) + "\n  " + std::string(static_cast<std::size_t>(before), ' ') +
         paint(Colour::failing, std::string(static_cast<std::size_t>(width), '^')) + "\n";
}

}  // namespace tenon::cli
