// cli: a report as text, JSON or a drawing. Takes reports; gives one string. Computes nothing that is not in the
// reports.
#pragma once
#include <string>
#include <vector>

#include "cli/report.h"
#include "cli/terminal.h"

namespace tenon::cli {

/// An error, for JSON and for drawings.
struct Failure {
  std::string text;
  expr::Span span;
  std::vector<std::string> notes;
};
/// Everything that `tenon explain` shows about one expression.
struct Explanation {
  std::string expression;
  std::vector<Report> steps = {};
  std::vector<Failure> failures = {};  // at most one
  expr::Traffic traffic = {};
  int64_t scratch_bytes = 0;  // of the step that needs most
};

std::string render_text(const Explanation& explanation, const Painter& paint);
std::string render_json(const Explanation& explanation);
/// An error that left nothing to explain.
std::string render_json(const Error& error);
std::string render_svg(const Explanation& explanation);

/// "2 passes, 640 MB moved; op by op 960 MB".
std::string traffic_text(const expr::Traffic& traffic);
/// The text of one dim in a table: "4", "1→4", "·→4", "·".
std::string cell_text(const Cell& cell, int64_t result);
/// How the result's gradient becomes the operand's: "expanded over dim 0", "summed over dims 0, 1", or "as it is".
std::string gradient_text(const OperandReport& operand, const Report& report);

/// Members of an object for a value: "dtype", "shape" and "values" with every element, in as many digits as its dtype
/// needs; of a number "value". NaN and infinities are strings, complex numbers pairs.
std::string tensor_json(const Tensor& tensor);
std::string number_json(Scalar number);

}  // namespace tenon::cli
