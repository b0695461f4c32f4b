// cli: `tenon explain`.
#include <algorithm>
#include <cstring>

#include "cli/commands.h"
#include "cli/render.h"
#include "cli/shapes.h"
#include "io/entries.h"
#include "io/input.h"
#include "io/load.h"
#include "io/output.h"
#include "tenon/factories.h"
#include "tenon/policy.h"

namespace tenon::cli {
namespace {

bool is_file(const std::string& text) {
  const auto ends_with = [&](const char* ending) {
    return text.size() > std::strlen(ending) &&
           text.compare(text.size() - std::strlen(ending), std::string::npos, ending) == 0;
  };
  return text == "-" || ends_with(".npy") || ends_with(".png") || ends_with(".csv") || ends_with(".csv.gz") ||
         io::has_entries(text) || io::is_stream(text);
}

/// The shape, or the expression of shapes, in a text.
std::string one_shape(const std::string& text) {
  const std::vector<std::string> shapes = read_shapes(text);
  if (shapes.size() > 1) throw UsageError("'" + text + "' are several shapes, and a name stands for one");
  return shapes.empty() ? text : shapes[0];
}

/// The shape that a name stands for: a given shape, or that of a file.
Tensor named_shape(const std::string& text) {
  if (!is_file(text)) {
    expr::NoProgress progress;
    const expr::Scope shapes{{}, true};
    const expr::Tree tree = expr::evaluate(expr::parse(one_shape(text)), shapes, progress);
    if (tree->is_number()) throw UsageError("'" + text + "' is no shape; one looks like 5,1,4 or f32[4096,3]");
    return tree->meta;
  }
  const Tensor tensor = io::load(input_file(text));
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}

/// Several operands are explained as their sum, "a + b + c".
std::string sum_of(const std::vector<std::string>& operands) {
  std::string text;
  for (const std::string& operand : operands) text += (text.empty() ? "" : " + ") + operand;
  return text;
}

/// The operands as separate shapes, for the table of a sum that fails.
std::vector<expr::Argument> operands_alone(const std::vector<std::string>& operands, const expr::Scope& scope) {
  std::vector<expr::Argument> result;
  expr::NoProgress progress;
  result.reserve(operands.size());
  for (const std::string& operand : operands) {
    result.push_back({operand, expr::evaluate(expr::parse(operand), scope, progress), {}});
  }
  return result;
}

void write_file(const std::string& path, const std::string& content) {
  io::OutputFile file(path);
  file.write(content.data(), content.size());
  file.commit();
}

struct Question {
  std::vector<std::string> operands;
  std::string expression;
  expr::Scope scope;
};

Question read_arguments(const std::vector<std::string>& arguments) {
  Question question;
  question.scope.shapes = true;
  for (const std::string& argument : arguments) {
    const Binding binding = split_binding(argument);
    if (!binding.name.empty()) {
      question.scope.names[binding.name] = named_shape(binding.value);
      continue;
    }
    const std::vector<std::string> shapes = read_shapes(argument);
    if (shapes.empty())
      question.operands.push_back(argument);
    else
      question.operands.insert(question.operands.end(), shapes.begin(), shapes.end());
  }
  if (question.operands.empty()) throw UsageError("an expression or shapes are expected");
  question.expression = sum_of(question.operands);
  return question;
}

/// Drops warnings while steps are planned: the evaluation gave them already.
class Silence {
 public:
  Silence() noexcept {
    set_warning_handler([](const char*, const std::string&, const std::string&, void*) {});
  }
  ~Silence() { set_warning_handler(nullptr); }
  Silence(const Silence&) = delete;
  Silence& operator=(const Silence&) = delete;
};

Explanation explain(const Question& question) {
  Explanation explanation;
  explanation.expression = question.expression;
  expr::Steps steps;
  expr::NoProgress progress;
  try {
    explanation.traffic = expr::note_steps(expr::parse(question.expression), question.scope, progress, steps);
    const Silence quiet;
    for (const expr::Step& step : steps.list) {
      explanation.steps.push_back(report_step(step, question.expression));
      explanation.scratch_bytes = std::max(explanation.scratch_bytes, scratch_of(explanation.steps.back()));
    }
  } catch (const expr::ExpressionError& error) {
    explanation.failures.push_back({error.what(), error.span(), error.notes()});
    if (steps.failed.empty()) return explanation;
    const bool is_list = question.operands.size() > 1;
    explanation.steps = {report_failure(is_list ? operands_alone(question.operands, question.scope) : steps.failed,
                                        question.expression)};
  }
  return explanation;
}

void show_failure(const Failure& failure, const std::string& expression) {
  expr::ExpressionError error(failure.text, failure.span);
  for (const std::string& note : failure.notes) error.add_note(note);
  show_error(error, expression);
}

}  // namespace

int run_explain(const ExplainOptions& options) {
  const bool prints_svg = options.svg == "-";
  if (prints_svg && options.json) throw UsageError("--json and --svg - both go to standard output");
  const Question question = read_arguments(options.arguments);
  const Explanation explanation = explain(question);
  if (!options.svg.empty() && !prints_svg) write_file(options.svg, render_svg(explanation));
  const std::string text = prints_svg     ? render_svg(explanation)
                           : options.json ? render_json(explanation)
                                          : render_text(explanation, stdout_painter());
  print(text);
  if (explanation.failures.empty()) return 0;
  if (!options.json) show_failure(explanation.failures[0], question.expression);
  return kFailedExit;
}

}  // namespace tenon::cli
