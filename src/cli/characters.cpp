#include "cli/characters.h"

namespace tenon::cli {
namespace {

// By number of bytes: the smallest code, and the bits of the first byte that belong to the code.
constexpr char32_t kLeast[] = {0, 0, 0x80, 0x800, 0x10000};
constexpr unsigned kFirstBits[] = {0, 0x7F, 0x1F, 0x0F, 0x07};

std::size_t length_of(unsigned char first) noexcept {
  if (first < 0x80) return 1;
  if (first >= 0xF0) return first < 0xF8 ? 4 : 0;
  return first >= 0xE0 ? 3 : first >= 0xC0 ? 2 : 0;
}

}  // namespace

Character first_character(std::string_view text) noexcept {
  const Character bad{text.substr(0, 1), 0, false};
  const unsigned char first = static_cast<unsigned char>(text[0]);
  const std::size_t length = length_of(first);
  if (length == 0 || length > text.size()) return bad;
  char32_t code = first & kFirstBits[length];
  for (std::size_t i = 1; i < length; ++i) {
    const unsigned char next = static_cast<unsigned char>(text[i]);
    if ((next & 0xC0) != 0x80) return bad;
    code = code << 6 | (next & 0x3F);
  }
  const bool surrogate = code >= 0xD800 && code < 0xE000;
  if (code < kLeast[length] || code > 0x10FFFF || surrogate) return bad;
  return {text.substr(0, length), code, true};
}

}  // namespace tenon::cli
