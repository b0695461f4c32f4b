// cli: `tenon eval`.
#include <algorithm>
#include <cmath>
#include <cstdio>

#include "cli/commands.h"
#include "cli/progress.h"
#include "io/input.h"
#include "io/load.h"
#include "io/npy.h"
#include "io/png.h"
#include "tenon/factories.h"
#include "tenon/ops.h"

namespace tenon::cli {
namespace {

expr::Scope load_inputs(const std::vector<std::string>& inputs) {
  expr::Scope scope;
  for (const std::string& input : inputs) {
    const Binding binding = split_binding(input);
    if (binding.name.empty() || binding.value.empty()) throw UsageError("'" + input + "' should be name=FILE");
    if (binding.name == "True" || binding.name == "False")
      throw UsageError("'" + input + "': no file can be named " + binding.name + ", which is a number");
    if (scope.names.contains(binding.name)) throw UsageError("the name '" + binding.name + "' is given twice");
    scope.names[binding.name] = io::load(input_file(binding.value));
  }
  return scope;
}

std::string digits_of(double number, const char* format) {
  char text[40];
  std::snprintf(text, sizeof text, format, number);
  return text;
}

std::string number_text(Scalar number) {
  if (number.is_boolean()) return number.as_bool() ? "True" : "False";
  if (number.is_complex()) {
    const Complex128 parts = number.as_complex();
    if (parts.re == 0 && !std::signbit(parts.re)) return digits_of(parts.im, "%.17gj");
    return digits_of(parts.re, "(%.17g") + digits_of(parts.im, "%+.17gj)");
  }
  return number.is_floating() ? digits_of(number.as_double(), "%.17g") : std::to_string(number.as_int64());
}

/// Computes a value that is printed, and therefore must fit in memory.
Tensor whole(const expr::Tree& tree, expr::ProgressCallback& progress) {
  try {
    return expr::evaluate_elementwise(tree, progress);
  } catch (OutOfMemoryError& error) {
    error.add_note("`-o FILE.npy` computes straight into the file, whatever its size");
    throw;
  }
}

void print_value(const expr::Tree& tree, expr::ProgressCallback& progress) {
  const std::string text = tree->is_number() ? number_text(tree->number) : to_string(whole(tree, progress));
  print(text + "\n");
}

/// Computes into the mapped file, so the result may be larger than memory.
void write_npy(const std::string& path, const expr::Tree& tree, expr::ProgressCallback& progress) {
  if (tree->is_number()) return io::save_npy(path, expr::evaluate_elementwise(tree, progress));
  io::NpyWriter writer(path, tree->sizes(), tree->meta.dtype());
  Tensor out = writer.tensor();
  expr::evaluate_elementwise(tree, out, progress);
  writer.commit();
}

void write(const std::string& path, const expr::Tree& tree, expr::ProgressCallback& progress) {
  if (io::output_format(path) == io::OutputFormat::npy) return write_npy(path, tree, progress);
  io::save_png(path, expr::evaluate_elementwise(tree, progress));
}

void ask_for_gradients(const std::vector<std::string>& names, expr::Scope& scope) {
  for (const std::string& name : names) {
    const auto input = scope.names.find(name);
    if (input == scope.names.end()) throw UsageError("--grad " + name + ": no such input");
    if (std::count(names.begin(), names.end(), name) > 1) throw UsageError("--grad " + name + ": named twice");
    try {
      input->second.requires_grad_();
    } catch (Error& error) {
      error.add_note("--grad " + name + ": the input is " + dtype_name(input->second.dtype()));
      throw;
    }
  }
}

/// "out.npy" and "x" give "out.grad.x.npy".
std::string gradient_path(const std::string& output, const std::string& name) {
  return output.substr(0, output.rfind('.')) + ".grad." + name + ".npy";
}

void show_gradients(const EvalOptions& options, const expr::Scope& scope, const Tensor& value) {
  if (value.requires_grad()) value.sum().backward();
  for (const std::string& name : options.grad) {
    const Tensor& input = scope.names.at(name);
    const Tensor grad = input.grad().defined() ? input.grad() : zeros_like(input.detach());
    if (options.output.empty())
      print(name + ".grad = " + to_string(grad) + "\n");
    else
      io::save_npy(gradient_path(options.output, name), grad);
  }
}

/// Computes the result with history, then the gradients.
void evaluate_with_gradients(const EvalOptions& options, const expr::Scope& scope, const expr::Tree& tree,
                             expr::ProgressCallback& progress) {
  const Tensor value = whole(tree, progress);
  const expr::Tree result = expr::leaf(value.detach(), {}, {});
  if (options.output.empty())
    print_value(result, progress);
  else
    write(options.output, result, progress);
  show_gradients(options, scope, value);
}

/// Checks the output's name before the work.
void check_output(const EvalOptions& options) {
  if (options.output.empty()) return;
  io::output_format(options.output);
  if (!options.grad.empty() && io::is_stream(options.output))
    throw UsageError("--grad needs the name of a file behind -o: gradients are written beside it");
}

}  // namespace

int run_eval(EvalOptions options) {
  options.output = output_file(options.output);
  check_output(options);
  try {
    const expr::Ast ast = expr::parse(options.expression);
    expr::Scope scope = load_inputs(options.inputs);
    ask_for_gradients(options.grad, scope);
    Progress progress;
    if (options.block_bytes > 0) progress.block_bytes = progress.stream_bytes = options.block_bytes;
    const expr::Tree tree = expr::evaluate(ast, scope, progress);
    if (!options.grad.empty())
      evaluate_with_gradients(options, scope, tree, progress);
    else if (options.output.empty())
      print_value(tree, progress);
    else
      write(options.output, tree, progress);
    return 0;
  } catch (const expr::ExpressionError& error) {
    show_error(error, options.expression);
    return kFailedExit;
  }
}

}  // namespace tenon::cli
