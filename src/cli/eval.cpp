// cli: `tenon eval`.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <map>
#include <memory>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "io/csv.h"
#include "io/entries.h"
#include "io/input.h"
#include "io/load.h"
#include "io/npy.h"
#include "io/png.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/random.h"

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

/// An expression, and where its value goes: to a file, or else it is printed.
struct Target {
  std::string path;   // "": printed
  std::string entry;  // in a file of several tensors
  std::string name;   // before the printed value
  std::string expression;
  bool json = false;  // printed as JSON
};

bool is_file_name(const std::string& text) {
  const auto ends_with = [&](const std::string& ending) {
    return text.ends_with(ending) && text.size() > ending.size();
  };
  return text == "-" || ends_with(".npy") || ends_with(".png") || ends_with(".csv") || io::has_entries(text);
}

Target with_path(const std::string& path, std::string expression) {
  Target target{output_file(path), "", "", std::move(expression), false};
  if (!io::has_entries(path)) return target;
  const io::EntryName name = io::split_entry(path);
  target.path = name.path;
  target.entry = name.entry.empty() ? "result" : name.entry;
  return target;
}

/// "FILE=EXPR" or "NAME=EXPR"; a target without an expression for "FILE".
Target target_of(const std::string& output) {
  const std::size_t equals = output.find('=');
  if (equals == std::string::npos || output.compare(equals, 2, "==") == 0) return with_path(output, "");
  const std::string left = output.substr(0, equals), right = output.substr(equals + 1);
  if (is_file_name(left)) return with_path(left, right);
  if (split_binding(output).name.empty() || is_file_name(right)) return with_path(output, "");
  return {"", "", left, right, false};
}

/// The targets; takes the expression from the arguments if there is one.
std::vector<Target> targets_of(EvalOptions& options) {
  std::vector<Target> targets;
  for (const std::string& output : options.outputs) targets.push_back(target_of(output));
  const bool has_own =
      std::any_of(targets.begin(), targets.end(), [](const Target& target) { return !target.expression.empty(); });
  const bool has_first = split_binding(options.arguments[0]).name.empty();
  if (!has_first && !has_own)
    throw UsageError("'" + options.arguments[0] + "' is an input; an expression is expected before it");
  std::string first = has_first ? options.arguments[0] : "";
  if (has_first) options.arguments.erase(options.arguments.begin());
  if (targets.empty()) targets.emplace_back();
  const auto empty =
      std::find_if(targets.begin(), targets.end(), [](const Target& target) { return target.expression.empty(); });
  if (empty != targets.end()) {
    if (!has_first) throw UsageError("-o " + empty->path + " needs an expression: -o " + empty->path + "=EXPR");
    empty->expression = std::exchange(first, "");
  }
  for (const Target& target : targets)
    if (target.expression.empty())
      throw UsageError("-o " + target.path + " needs an expression of its own: -o " + target.path + "=EXPR");
  if (!first.empty()) targets.insert(targets.begin(), Target{"", "", "", first, false});
  for (Target& target : targets) target.json = options.json;
  return targets;
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

void print_value(const std::string& name, const std::string& text, bool json) {
  if (json) return print("{" + (name.empty() ? "" : R"("name": ")" + name + R"(", )") + text + "}\n");
  print((name.empty() ? "" : name + " = ") + text + "\n");
}
void print_value(const std::string& name, const Tensor& value, bool json) {
  print_value(name, json ? tensor_json(value) : to_string(value), json);
}

/// A value that is written or printed once it is computed.
class Result {
 public:
  Result(const Target& target, const expr::Argument& value) : target_(target) {
    if (const Dims* dims = std::get_if<Dims>(&value.value); dims && target.path.empty()) {
      text_ = target.json ? "\"value\": " + to_string(*dims) : "torch.Size(" + to_string(*dims) + ")";
      return;
    }
    if (const Dtype* dtype = std::get_if<Dtype>(&value.value); dtype && target.path.empty()) {
      const std::string name = dtype_name(*dtype);
      text_ = target.json ? R"("value": ")" + name + "\"" : "torch." + name;
      return;
    }
    tree_ = expr::tree_of(value);
    if (target.path.empty() && tree_->is_number())
      text_ = target.json ? number_json(tree_->number) : number_text(tree_->number);
  }

  const Target& target() const noexcept { return target_; }
  const expr::Tree& tree() const noexcept { return tree_; }
  Tensor& out() noexcept { return out_; }
  /// Whether elements are still to be computed into `out`.
  bool is_open() const noexcept { return text_.empty() && tree_ && !tree_->is_number() && !is_finished_; }

  /// Makes room for the elements: in the file, if it has a format that is mapped.
  void open() {
    if (!text_.empty()) return;
    if (tree_->is_number()) {
      out_ = full({}, tree_->number);
      return;
    }
    const bool is_npy = !target_.path.empty() && io::output_format(target_.path) == io::OutputFormat::npy;
    if (is_npy) {
      writer_ = std::make_unique<io::NpyWriter>(target_.path, tree_->sizes(), tree_->meta.dtype());
      out_ = writer_->tensor();
    } else if (tree_->is_leaf()) {
      out_ = tree_->tensor;
      is_finished_ = true;
    } else {
      out_ = empty_strided(tree_->sizes(), tree_->meta.strides(), tree_->meta.dtype());
    }
  }
  /// Prints or writes the elements.
  void finish() {
    if (target_.path.empty() && text_.empty()) return print_value(target_.name, out_, target_.json);
    if (target_.path.empty()) return print_value(target_.name, text_, target_.json);
    if (writer_) return writer_->commit();
    const io::OutputFormat format = io::output_format(target_.path);
    if (format == io::OutputFormat::png) io::save_png(target_.path, out_);
    if (format == io::OutputFormat::csv) io::save_csv(target_.path, out_);
    if (format == io::OutputFormat::npy) io::save_npy(target_.path, out_);
  }

 private:
  Target target_;
  std::string text_;  // of a value that is no tensor and is printed
  expr::Tree tree_;
  Tensor out_;
  bool is_finished_ = false;
  std::unique_ptr<io::NpyWriter> writer_;
};

/// The files of several tensors among the targets, each with all its tensors.
class EntriesFiles {
 public:
  explicit EntriesFiles(std::vector<Result>& results) {
    std::map<std::string, std::vector<Result*>> by_path;
    for (Result& result : results)
      if (!result.target().entry.empty()) by_path[result.target().path].push_back(&result);
    for (const auto& [path, members] : by_path) open(path, members);
  }
  void commit() {
    for (const auto& writer : writers_) writer->commit();
  }

 private:
  void open(const std::string& path, const std::vector<Result*>& members) {
    std::vector<io::NewEntry> entries;
    entries.reserve(members.size());
    for (Result* result : members)
      entries.push_back({result->target().entry, result->tree()->sizes().copy(), dtype_of(*result)});
    writers_.push_back(io::new_entries(path, entries));
    for (std::size_t i = 0; i < members.size(); ++i) {
      members[i]->out() = writers_.back()->tensors()[i];
      if (members[i]->tree()->is_number()) members[i]->out().fill_(members[i]->tree()->number);
    }
  }
  static Dtype dtype_of(const Result& result) {
    return result.tree()->is_number() ? full({}, result.tree()->number).dtype() : result.tree()->meta.dtype();
  }

  std::vector<std::unique_ptr<io::EntriesWriter>> writers_;
};

/// Computes all values; no file appears before all are computed.
void compute_results(const std::vector<Target>& targets, const std::vector<expr::Argument>& values,
                     expr::Session& session) {
  std::vector<Result> results;
  for (std::size_t i = 0; i < targets.size(); ++i) results.emplace_back(targets[i], values[i]);
  EntriesFiles files(results);
  expr::Trees trees;
  std::vector<Tensor> outs;
  try {
    for (Result& result : results) {
      if (result.target().entry.empty()) result.open();
      if (!result.is_open()) continue;
      trees.push_back(result.tree());
      outs.push_back(result.out());
    }
    if (!trees.empty()) session.compute(trees, outs);
  } catch (OutOfMemoryError& error) {
    error.add_note("`-o FILE.npy` computes straight into the file, whatever its size");
    throw;
  }
  for (Result& result : results) result.finish();
  files.commit();
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

void show_gradients(const std::vector<std::string>& names, const Target& target, const expr::Scope& scope,
                    const Tensor& value) {
  if (value.requires_grad()) value.sum().backward();
  for (const std::string& name : names) {
    const Tensor& input = scope.names.at(name);
    const Tensor grad = input.grad().defined() ? input.grad() : zeros_like(input.detach());
    if (target.path.empty())
      print_value(name + ".grad", grad, target.json);
    else
      io::save_npy(gradient_path(target.path, name), grad);
  }
}

/// Computes the result with history, then the gradients.
void evaluate_with_gradients(const Target& target, const std::vector<std::string>& names, const expr::Scope& scope,
                             const expr::Argument& result, expr::Session& session) {
  const Tensor value = whole(expr::tree_of(result), session.progress());
  compute_results({target}, {{"", expr::leaf(value.detach(), {}, {}), {}}}, session);
  show_gradients(names, target, scope, value);
}

/// Checks the outputs' names before the work.
void check_outputs(const std::vector<Target>& targets, const std::vector<std::string>& grad) {
  for (const Target& target : targets)
    if (!target.path.empty()) io::output_format(target.path);
  if (grad.empty()) return;
  if (targets.size() > 1) throw UsageError("--grad takes one expression");
  if (!targets[0].path.empty() && io::is_stream(targets[0].path))
    throw UsageError("--grad needs the name of a file behind -o: gradients are written beside it");
}

void show_time(std::chrono::steady_clock::duration elapsed, const expr::Traffic& traffic) {
  const double seconds = std::chrono::duration<double>(elapsed).count();
  const double bytes = static_cast<double>(traffic.bytes);
  std::fprintf(stderr, "%.3f s, %.1f GB/s: %s\n", seconds, bytes / seconds / 1e9, traffic_text(traffic).c_str());
}

}  // namespace

int run_eval(EvalOptions options) {
  const std::vector<Target> targets = targets_of(options);
  check_outputs(targets, options.grad);
  std::vector<std::string> texts;
  texts.reserve(targets.size());
  for (const Target& target : targets) texts.push_back(target.expression);
  try {
    const expr::Ast ast = expr::parse(texts);
    expr::Scope scope = load_inputs(options.arguments);
    ask_for_gradients(options.grad, scope);
    if (options.seed) manual_seed(*options.seed);
    Progress progress;
    if (options.block_bytes > 0) progress.block_bytes = progress.stream_bytes = options.block_bytes;
    const auto begin = std::chrono::steady_clock::now();
    expr::Session session(progress, nullptr);
    const std::vector<expr::Argument> values = expr::evaluate(ast, scope, session);
    if (options.grad.empty())
      compute_results(targets, values, session);
    else
      evaluate_with_gradients(targets[0], options.grad, scope, values[0], session);
    if (options.time) show_time(std::chrono::steady_clock::now() - begin, session.traffic());
    return 0;
  } catch (const expr::ExpressionError& error) {
    if (options.json) throw;
    show_error(error, expr::joined(texts));
    return kFailedExit;
  }
}

}  // namespace tenon::cli
