#include "expr/scan.h"

#include <charconv>
#include <cstdint>

#include "base/decimal.h"

namespace tenon::expr {
namespace {

// Longest first: "<=" before "<".
constexpr std::string_view kSymbols[] = {"...", "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "<",
                                         ">",   "+",  "-",  "*",  "@",  "/",  "%",  "&",  "|",  "^",
                                         "~",   "(",  ")",  "[",  "]",  ",",  ".",  ":",  "="};

// Not the functions of <cctype>: those depend on the locale.
bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool begins_name(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool continues_name(char c) { return begins_name(c) || is_digit(c); }
bool is_space(char c) { return c == ' ' || c == '\t' || c == '\n' || c == '\r'; }
bool continues_character(char c) { return (static_cast<unsigned char>(c) & 0xC0) == 0x80; }  // inside a UTF-8 character

class Scanner {
 public:
  Scanner(std::string_view text, int64_t begin) : text_(text), at_(static_cast<std::size_t>(begin)) {}

  Token next() {
    while (is_space(peek())) ++at_;
    begin_ = at_;
    if (at_ >= text_.size()) return token(Token::Kind::end);
    if (is_digit(peek()) || (peek() == '.' && is_digit(peek(1)))) return number();
    if (begins_name(peek())) return name();
    if (peek() == '\'' || peek() == '"') return string();
    return symbol();
  }

 private:
  char peek(std::size_t ahead = 0) const { return at_ + ahead < text_.size() ? text_[at_ + ahead] : '\0'; }
  Span span() const { return {static_cast<int64_t>(begin_), static_cast<int64_t>(at_)}; }
  std::string_view taken() const { return text_.substr(begin_, at_ - begin_); }
  Token token(Token::Kind kind) const { return {kind, span(), taken(), {}}; }
  [[noreturn]] void fail(const std::string& what) const { throw ExpressionError(what, span()); }

  void skip_digits() {
    while (is_digit(peek())) ++at_;
  }
  /// Skips digits, a point and an exponent. Returns whether the number is floating.
  bool skip_number() {
    skip_digits();
    bool floating = false;
    // In `1.` the point belongs to the number; in `1..` it begins "...".
    if (peek() == '.' && peek(1) != '.') {
      floating = true;
      ++at_;
      skip_digits();
    }
    const std::size_t sign = peek(1) == '+' || peek(1) == '-' ? 2 : 1;
    if ((peek() == 'e' || peek() == 'E') && is_digit(peek(sign))) {
      floating = true;
      at_ += sign;
      skip_digits();
    }
    return floating;
  }
  Token number() {
    const bool floating = skip_number();
    const bool imaginary = (peek() == 'j' || peek() == 'J') && !continues_name(peek(1));
    if (imaginary) return imaginary_number();
    if (continues_name(peek())) {
      while (continues_name(peek())) ++at_;
      fail("'" + std::string(taken()) + "' is not a number");
    }
    Token result = token(Token::Kind::number);
    result.number = floating ? Scalar(value<double>()) : Scalar(value<int64_t>());
    return result;
  }
  Token imaginary_number() {
    const double part = value<double>();
    ++at_;
    Token result = token(Token::Kind::number);
    result.number = Scalar(Complex128{0, part});
    return result;
  }
  template <class T>
  T value() const {
    T number{};
    const std::string_view digits = taken();
    const char *begin = digits.data(), *last = begin + digits.size();
    std::from_chars_result read;
    if constexpr (std::is_same_v<T, double>)
      read = from_decimal(begin, last, number);
    else
      read = std::from_chars(begin, last, number);
    const auto [end, failed] = read;
    if (failed == std::errc::result_out_of_range)
      fail("'" + std::string(digits) + "' is out of the range of " + (std::is_same_v<T, double> ? "float64" : "int64"));
    if (failed != std::errc() || end != last) fail("'" + std::string(digits) + "' is not a number");
    return number;
  }
  Token name() {
    while (continues_name(peek())) ++at_;
    return token(Token::Kind::name);
  }
  Token string() {
    const std::size_t end = text_.find(peek(), at_ + 1);
    if (end == std::string_view::npos) {
      at_ = text_.size();
      fail("the string is not closed");
    }
    at_ = end + 1;
    Token result = token(Token::Kind::string);
    result.text = result.text.substr(1, result.text.size() - 2);
    return result;
  }
  Token symbol() {
    for (std::string_view candidate : kSymbols) {
      if (text_.substr(at_, candidate.size()) != candidate) continue;
      at_ += candidate.size();
      return token(Token::Kind::symbol);
    }
    do ++at_;
    while (continues_character(peek()));
    fail("unexpected character '" + std::string(taken()) + "'");
  }

  std::string_view text_;
  std::size_t begin_ = 0;
  std::size_t at_;
};

}  // namespace

Token next_token(std::string_view text, int64_t begin) { return Scanner(text, begin).next(); }

}  // namespace tenon::expr
