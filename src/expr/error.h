// expr: what goes wrong in an expression, and where. Takes a text and a place; gives an exception that knows both.
#pragma once
#include <cstdint>
#include <string>
#include <utility>

#include "tenon/error.h"
#include "tenon/threads.h"

namespace tenon::expr {

/// Bytes `begin` to `end` (excluded) of the expression's text.
struct Span {
  int64_t begin = 0;
  int64_t end = 0;
};

/// A wrong expression, or an engine's error with the place that caused it (its text and notes unchanged).
class ExpressionError : public Error {
 public:
  ExpressionError(std::string text, Span span) : Error(std::move(text)), span_(span) {}
  Span span() const noexcept { return span_; }

 private:
  Span span_;
};

/// Runs `work`; an engine's error gets `span`. Missing memory and files are nobody's fault in the expression: they
/// pass.
template <class Work>
auto at(Span span, const Work& work) {
  try {
    return work();
  } catch (const ExpressionError&) {
    throw;
  } catch (const Interrupted&) {
    throw;
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
