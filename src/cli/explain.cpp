// cli: `tenon explain`.
#include <algorithm>
#include <cstdio>
#include <cstring>

#include "cli/commands.h"
#include "cli/render.h"
#include "io/aside.h"
#include "io/load.h"
#include "tenon/factories.h"

namespace tenon::cli {
namespace {

/// "5,1,4,1", "(3,)", "4,3:1,4": sizes without a dtype.
bool is_bare_shape(const std::string& text) {
  return text.find_first_not_of("0123456789,:()[] -") == std::string::npos &&
         text.find_first_of("0123456789(") != std::string::npos;
}

/// A bare shape in the words of the expression language.
std::string with_dtype(std::string text) {
  if (!is_bare_shape(text)) return text;
  text.erase(std::remove_if(text.begin(), text.end(), [](char c) { return std::strchr("()[] ", c) && c != '\0'; }),
             text.end());
  if (!text.empty() && text.back() == ',') text.pop_back();
  return text.empty() ? "f32[]" : "f32[" + text + "]";
}

bool is_file(const std::string& text) {
  const auto ends_with = [&](const char* ending) {
    return text.size() > std::strlen(ending) &&
           text.compare(text.size() - std::strlen(ending), std::string::npos, ending) == 0;
  };
  return ends_with(".npy") || ends_with(".png") || ends_with(".csv") || ends_with(".csv.gz");
}

/// What a name stands for: a shape, or a file whose shape is taken.
Tensor named_shape(const std::string& text) {
  if (!is_file(text)) {
    expr::NoWatch watch;
    const expr::Scope shapes{{}, true};
    const std::string shape = with_dtype(text);
    const expr::Tree tree = expr::evaluate(expr::parse(shape), shapes, watch);
    if (tree->is_number()) throw UsageError("'" + text + "' is no shape; one looks like 5,1,4 or f32[4096,3]");
    return tree->meta;
  }
  const Tensor tensor = io::load(text);
  return empty_strided(tensor.sizes(), tensor.strides(), Options(tensor.dtype(), Device::meta));
}

/// Several operands stand for their sum: "a + b + c", which has every operand's broadcasting in it.
std::string sum_of(const std::vector<std::string>& operands) {
  std::string text;
  for (const std::string& operand : operands) text += (text.empty() ? "" : " + ") + with_dtype(operand);
  return text;
}

/// The operands as given, each shape for itself, for the table of a sum that fails.
std::vector<expr::Argument> operands_alone(const std::vector<std::string>& operands, const expr::Scope& scope) {
  std::vector<expr::Argument> result;
  expr::NoWatch watch;
  for (const std::string& operand : operands) {
    const std::string text = with_dtype(operand);
    result.push_back({text, expr::evaluate(expr::parse(text), scope, watch), {}});
  }
  return result;
}

void write_file(const std::string& path, const std::string& content) {
  io::AsideFile file(path);
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
    if (binding.name.empty())
      question.operands.push_back(argument);
    else
      question.scope.names[binding.name] = named_shape(binding.value);
  }
  if (question.operands.empty()) throw UsageError("an expression or shapes are expected");
  question.expression = sum_of(question.operands);
  return question;
}

Explanation explain(const Question& question) {
  Explanation explanation;
  explanation.expression = question.expression;
  expr::Steps steps;
  expr::NoWatch watch;
  try {
    expr::evaluate(expr::parse(question.expression), question.scope, watch, &steps);
    for (const expr::Step& step : steps.list) explanation.steps.push_back(report_step(step, question.expression));
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
  const Question question = read_arguments(options.arguments);
  const Explanation explanation = explain(question);
  if (!options.svg.empty()) write_file(options.svg, render_svg(explanation));
  const std::string text = options.json ? render_json(explanation) : render_text(explanation, stdout_painter());
  std::fputs(text.c_str(), stdout);
  std::fflush(stdout);
  if (explanation.failures.empty()) return 0;
  if (!options.json) show_failure(explanation.failures[0], question.expression);
  return kFailedExit;
}

}  // namespace tenon::cli
