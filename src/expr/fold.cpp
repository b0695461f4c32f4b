#include "expr/fold.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <optional>

namespace tenon::expr {
namespace {

bool is_in(std::string_view symbol, std::initializer_list<std::string_view> symbols) {
  return std::find(symbols.begin(), symbols.end(), symbol) != symbols.end();
}

[[noreturn]] void fail(const std::string& what, Span span) { throw ExpressionError(what, span); }
[[noreturn]] void fail_operands(std::string_view symbol, const char* what, Span span) {
  fail("'" + std::string(symbol) + "' does not take " + what, span);
}

Scalar fold_complex(std::string_view symbol, Scalar a, Scalar b, Span span) {
  const std::complex<double> x(a.as_complex().re, a.as_complex().im), y(b.as_complex().re, b.as_complex().im);
  if (is_in(symbol, {"<", "<=", ">", ">="}))
    fail("complex numbers have no order, which '" + std::string(symbol) + "' needs", span);
  if (symbol == "==") return Scalar(x == y);
  if (symbol == "!=") return Scalar(x != y);
  if (symbol == "/" && y == 0.0) fail("division by zero", span);
  if (symbol == "**") return Scalar(std::pow(x, y));
  if (symbol == "+") return Scalar(x + y);
  if (symbol == "-") return Scalar(x - y);
  if (symbol == "*") return Scalar(x * y);
  if (symbol == "/") return Scalar(x / y);
  fail_operands(symbol, "complex numbers", span);
}

template <class T>
std::optional<Scalar> compare(std::string_view symbol, T a, T b) {
  if (symbol == "<") return Scalar(a < b);
  if (symbol == "<=") return Scalar(a <= b);
  if (symbol == ">") return Scalar(a > b);
  if (symbol == ">=") return Scalar(a >= b);
  if (symbol == "==") return Scalar(a == b);
  if (symbol == "!=") return Scalar(a != b);
  return std::nullopt;
}

/// Python's quotient and remainder, which has the sign of the divisor. `y` is not 0.
struct Division {
  double quotient, remainder;
};
Division divide(double x, double y) {
  const double rest = std::fmod(x, y);
  const double quotient = (x - rest) / y;
  if (rest == 0) return {std::round(quotient), std::copysign(0.0, y)};
  return (rest < 0) != (y < 0) ? Division{std::round(quotient) - 1, rest + y} : Division{std::round(quotient), rest};
}

Scalar fold_floating(std::string_view symbol, double x, double y, Span span) {
  if (const std::optional<Scalar> truth = compare(symbol, x, y)) return *truth;
  if (is_in(symbol, {"/", "//", "%"}) && y == 0) fail("division by zero", span);
  if (symbol == "+") return Scalar(x + y);
  if (symbol == "-") return Scalar(x - y);
  if (symbol == "*") return Scalar(x * y);
  if (symbol == "/") return Scalar(x / y);
  if (symbol == "//") return Scalar(divide(x, y).quotient);
  if (symbol == "%") return Scalar(divide(x, y).remainder);
  if (symbol == "**") return Scalar(std::pow(x, y));
  fail_operands(symbol, "floating-point numbers", span);
}

/// An integer to the power of one that is not negative. std::nullopt for overflow.
std::optional<int64_t> power(int64_t base, int64_t exponent) {
  int64_t result = 1;
  for (; exponent > 0; exponent /= 2) {
    if (exponent % 2 != 0 && __builtin_mul_overflow(result, base, &result)) return std::nullopt;
    if (exponent > 1 && __builtin_mul_overflow(base, base, &base)) return std::nullopt;
  }
  return result;
}

std::optional<int64_t> shift_left(int64_t number, int64_t count) {
  int64_t result = 0;
  if (number == 0) return 0;
  if (count > 62 || __builtin_mul_overflow(number, int64_t{1} << count, &result)) return std::nullopt;
  return result;
}

std::optional<int64_t> divide(std::string_view symbol, int64_t i, int64_t k) {
  if (k == -1) {  // the quotient of the least integer overflows
    int64_t quotient = 0;
    if (symbol == "%") return 0;
    return __builtin_sub_overflow(0, i, &quotient) ? std::nullopt : std::optional(quotient);
  }
  const bool is_inexact = i % k != 0 && (i % k < 0) != (k < 0);
  return symbol == "%" ? i % k + (is_inexact ? k : 0) : i / k - (is_inexact ? 1 : 0);
}

/// std::nullopt for overflow.
std::optional<int64_t> integer_of(std::string_view symbol, int64_t i, int64_t k, Span span) {
  int64_t exact = 0;
  if (symbol == "+") return __builtin_add_overflow(i, k, &exact) ? std::nullopt : std::optional(exact);
  if (symbol == "-") return __builtin_sub_overflow(i, k, &exact) ? std::nullopt : std::optional(exact);
  if (symbol == "*") return __builtin_mul_overflow(i, k, &exact) ? std::nullopt : std::optional(exact);
  if (symbol == "**") return power(i, k);
  if (symbol == "&") return i & k;
  if (symbol == "|") return i | k;
  if (symbol == "^") return i ^ k;
  if (is_in(symbol, {"<<", ">>"})) {
    if (k < 0) fail("negative shift count", span);
    return symbol == "<<" ? shift_left(i, k) : i >> std::min<int64_t>(k, 63);
  }
  if (is_in(symbol, {"//", "%"})) return divide(symbol, i, k);
  fail_operands(symbol, "two numbers", span);
}

Scalar fold_integers(std::string_view symbol, Scalar a, Scalar b, Span span) {
  const int64_t i = a.as_int64(), k = b.as_int64();
  if (const std::optional<Scalar> truth = compare(symbol, i, k)) return *truth;
  if (is_in(symbol, {"/", "//", "%"}) && k == 0) fail("division by zero", span);
  if (symbol == "**" && k < 0 && i == 0) fail("division by zero", span);
  if (symbol == "/" || (symbol == "**" && k < 0)) return fold_floating(symbol, a.as_double(), b.as_double(), span);
  const std::optional<int64_t> result = integer_of(symbol, i, k, span);
  if (!result) fail("the number is out of the range of int64", span);
  const bool is_truth = a.is_boolean() && b.is_boolean() && is_in(symbol, {"&", "|", "^"});
  return is_truth ? Scalar(*result != 0) : Scalar(*result);
}

}  // namespace

Scalar fold(std::string_view symbol, Scalar a, Scalar b, Span span) {
  if (a.is_complex() || b.is_complex()) return fold_complex(symbol, a, b, span);
  if (a.is_floating() || b.is_floating()) return fold_floating(symbol, a.as_double(), b.as_double(), span);
  return fold_integers(symbol, a, b, span);
}

Scalar fold(std::string_view symbol, Scalar a, Span span) {
  const bool is_inversion = symbol == "~";
  if (is_inversion && (a.is_complex() || a.is_floating())) fail_operands(symbol, "floating-point numbers", span);
  if (is_inversion) return Scalar(~a.as_int64());
  if (a.is_complex()) return Scalar(Complex128{-a.as_complex().re, -a.as_complex().im});
  if (a.is_floating()) return Scalar(-a.as_double());
  if (a.as_int64() == std::numeric_limits<int64_t>::min()) fail("the number is out of the range of int64", span);
  return Scalar(-a.as_int64());
}

}  // namespace tenon::expr
