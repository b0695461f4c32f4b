// cli: a report as text, JSON or a drawing. Takes reports; gives one string. Never computes anything that a report
// lacks.
#pragma once
#include <string>
#include <vector>

#include "cli/report.h"
#include "cli/terminal.h"

namespace tenon::cli {

/// What went wrong, for JSON and for drawings.
struct Failure {
  std::string text;
  expr::Span span;
  std::vector<std::string> notes;
};
/// Everything `tenon explain` knows of one expression.
struct Explanation {
  std::string expression;
  std::vector<Report> steps;
  std::vector<Failure> failures;  // none or one
};

std::string render_text(const Explanation& explanation, const Painter& paint);
std::string render_json(const Explanation& explanation);
/// An error before there was anything to explain.
std::string render_json(const Error& error);
std::string render_svg(const Explanation& explanation);

/// The text of one dim in a table: "4", "1→4", "·→4", "·".
std::string cell_text(const Cell& cell, int64_t result);
/// How the result's gradient becomes the operand's: "summed over dims 0, 1", or "as it is".
std::string gradient_text(const OperandReport& operand);

}  // namespace tenon::cli
