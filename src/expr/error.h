// expr: errors in expressions. Takes a text and a position in the expression; gives an exception with both.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "tenon/budget.h"
#include "tenon/error.h"
#include "tenon/threads.h"

namespace tenon::expr {

/// Bytes `begin` to `end` (excluded) of the expression's text.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
};

/// An error in an expression, or an engine's error together with the part of the expression that caused it.
class ExpressionError : public Error {
 public:
  ExpressionError(std::string text, Span span) : Error(std::move(text)), span_(span) {}
  Span span() const noexcept { return span_; }

 private:
  Span span_;
};

/// Runs `work` and adds `span` to an engine's error. Interrupts, missing memory and file errors are not mistakes in the
/// expression and pass unchanged.
template <class Work>
auto at(Span span, const Work& work) {
  try {
    return work();
  } catch (const ExpressionError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
  } catch (const BudgetError& error) {
    throw ExpressionError(error.what(), span);
  } catch (const OutOfMemoryError&) {
    throw;
  } catch (const FileError&) {
    throw;
  } catch (const Error& error) {
    ExpressionError placed(error.what(), span);
    for (const std::string& note : error.notes()) placed.add_note(note);
    throw placed;
  }
}

}  // namespace tenon::expr
