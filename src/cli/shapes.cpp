#include "cli/shapes.h"

namespace tenon::cli {
namespace {

/// Reads from left to right. Functions return false if the text is not a list of shapes.
class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  bool read(std::vector<std::string>& shapes) {
    skip_spaces();
    while (at_ < text_.size()) {
      std::string shape;
      if (!read_shape(shape)) return false;
      shapes.push_back("f32[" + shape + "]");
    }
    return true;
  }

 private:
  char peek() const { return at_ < text_.size() ? text_[at_] : '\0'; }
  bool accept(char wanted) {
    if (peek() != wanted) return false;
    ++at_;
    return true;
  }
  bool skip_spaces() {
    const std::size_t begin = at_;
    while (peek() == ' ' || peek() == '\t') ++at_;
    return at_ > begin;
  }

  bool read_shape(std::string& shape) {
    const char closing = accept('(') ? ')' : accept('[') ? ']' : '\0';
    if (closing == '\0') return read_sizes(shape) && ends_shape(false);
    skip_spaces();
    if (peek() != closing && !read_sizes(shape)) return false;
    skip_spaces();
    return accept(closing) && ends_shape(true);
  }
  /// Whether the text ends after a shape, or goes on with a space, or, after brackets, with a comma and more brackets.
  bool ends_shape(bool bracketed) {
    const bool space = skip_spaces();
    if (bracketed && accept(',')) {
      skip_spaces();
      return peek() == '(' || peek() == '[';
    }
    return space || at_ == text_.size();
  }
  bool read_sizes(std::string& shape) {
    if (!read_list(shape)) return false;
    if (!accept(':')) return true;
    shape += ':';
    skip_spaces();
    return read_list(shape);
  }
  /// Reads comma-separated numbers; a comma at the end is ignored.
  bool read_list(std::string& shape) {
    if (!read_number(shape)) return false;
    for (;;) {
      const std::size_t end = at_;
      skip_spaces();
      if (!accept(',')) {
        if (peek() != ':') at_ = end;  // leaves the spaces to the next function
        return true;
      }
      skip_spaces();
      std::string next = ",";
      if (!read_number(next)) return true;
      shape += next;
    }
  }
  bool read_number(std::string& shape) {
    const std::size_t begin = at_;
    accept('-');
    const std::size_t digits = at_;
    while (peek() >= '0' && peek() <= '9') ++at_;
    if (at_ == digits) {
      at_ = begin;
      return false;
    }
    shape += text_.substr(begin, at_ - begin);
    return true;
  }

  std::string_view text_;
  std::size_t at_ = 0;
};

}  // namespace

std::vector<std::string> read_shapes(std::string_view text) {
  std::vector<std::string> shapes;
  if (!Reader(text).read(shapes)) shapes.clear();
  return shapes;
}

}  // namespace tenon::cli
