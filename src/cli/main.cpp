// cli: the command line. Exit codes: 0; 1 for a wrong expression, shape or file; 2 for wrong usage; 128 plus the
// signal's number (130: Ctrl-C).
#include <CLI/CLI.hpp>
#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <limits>
#include <new>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/manual.h"
#include "cli/render.h"
#include "cli/terminal.h"
#include "expr/spelling.h"
#include "io/mapping.h"
#include "system/program.h"
#include "tenon/budget.h"
#include "tenon/policy.h"
#include "tenon/version.h"

namespace tenon::cli {

Binding split_binding(const std::string& argument) {
  const std::size_t equals = argument.find('=');
  if (equals == std::string::npos || equals == 0 || argument.compare(equals, 2, "==") == 0) return {};
  const std::string name = argument.substr(0, equals);
  const auto is_letter = [](char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; };
  if (!is_letter(name[0])) return {};
  for (char c : name)
    if (!is_letter(c) && !(c >= '0' && c <= '9')) return {};
  return {name, argument.substr(equals + 1)};
}

void print(const std::string& text) {
  io::check_lost_mappings();
  errno = 0;
  const bool printed = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  if (printed && std::fflush(stdout) == 0 && !std::ferror(stdout)) return;
  throw Error(std::string("standard output cannot be written") + (errno ? ": " : "") +
              (errno ? std::strerror(errno) : ""));
}

void show_error(const Error& error) {
  const Painter paint = stderr_painter();
  std::fprintf(stderr, "%s %s\n", paint(Colour::failing, "error:").c_str(), shown(error.what()).c_str());
  for (const std::string& note : error.notes()) std::fprintf(stderr, "%s\n", shown(note).c_str());
}

void show_error(const expr::ExpressionError& error, const std::string& expression) {
  const Painter paint = stderr_painter();
  std::fprintf(stderr, "%s %s\n%s", paint(Colour::failing, "error:").c_str(), shown(error.what()).c_str(),
               underlined(expression, error.span(), paint).c_str());
  for (const std::string& note : error.notes()) std::fprintf(stderr, "%s\n", shown(note).c_str());
}

namespace {

struct Options {
  ExplainOptions explain;
  EvalOptions eval;
  DemoOptions demo;
  InfoOptions info;
  OpsOptions ops;
  std::string shell;
  std::string broadcast_policy;
  uint64_t memory_budget = std::numeric_limits<int64_t>::max();
};

std::string check_file_name(const std::string& name) { return name.empty() ? "a file needs a name" : ""; }

CLI::App* add_explain(CLI::App& app, ExplainOptions& options) {
  CLI::App* command = app.add_subcommand("explain", "What broadcasting does: shapes, dtype, plan, bytes, gradients");
  command
      ->add_option(
          "what", options.arguments,
          "Shapes (5,1,4,1 or [3, 1, 1] or f32[4,3:1,4] with strides), or one expression of them, or of names\n"
          "given as name=SHAPE or name=FILE")
      ->required();
  command->add_flag("--json", options.json, "Print JSON");
  command->add_option("--svg", options.svg, "Draw it into FILE; - prints the drawing")
      ->check(check_file_name)
      ->type_name("FILE");
  command->footer(
      "Examples:\n  tenon explain 5,1,4,1 3,1,1\n  tenon explain 'f32[4096,3] + f32[3]'\n  tenon explain '(x - m) / "
      "255' x=u8[768,1024,3] m=f32[3]");
  return command;
}

CLI::App* add_eval(CLI::App& app, EvalOptions& options) {
  CLI::App* command = app.add_subcommand("eval", "Compute expressions over files");
  command
      ->add_option("arguments", options.arguments,
                   "An expression, Python-like: '(x - x.mean(0)) / 255', unless -o gives some; then name=FILE:\n.npy, "
                   ".safetensors and .npz (FILE:NAME if it holds several), .png, .csv and .csv.gz (FILE:NAME: one\n"
                   "column); - is standard input")
      ->required();
  command
      ->add_option(
          "-o,--output", options.outputs,
          "Write .npy, .npz, .safetensors, .png or .csv; - writes .npy to standard output; without it the result is "
          "printed.\n"
          "FILE=EXPR writes the value of another expression and NAME=EXPR prints it; may come several times:\n"
          "what the expressions share is computed once")
      ->check(check_file_name)
      ->allow_extra_args(false)
      ->type_name("FILE");
  command
      ->add_option("--grad", options.grad,
                   "Also the gradients of the result's sum with respect to these inputs: printed, or with -o FILE.npy\n"
                   "written to FILE.grad.NAME.npy")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command->add_option("--block-bytes", options.block_bytes, "Bytes of the result computed at a time")
      ->check(CLI::Range(int64_t{1}, std::numeric_limits<int64_t>::max()));
  command->add_option("--seed", options.seed, "The seed of random numbers, as for manual_seed")->type_name("NUMBER");
  command->add_flag("--json", options.json, "Print values as JSON, one object a line, with all elements");
  command->add_flag("--time", options.time, "Print time, passes over tensors and bytes to standard error");
  command->footer(
      "Examples:\n  tenon eval 'x / 255 - x.to(float32).mean((0, 1)) / 255' x=photo.png -o centred.npy\n  tenon eval "
      "x=photo.png -o mean.npy='x.float().mean()' -o std.npy='x.float().std()'");
  return command;
}

CLI::App* add_demo(CLI::App& app, DemoOptions& options) {
  CLI::App* command = app.add_subcommand("demo", "The documented examples, and a photo normalised per channel");
  command->add_option("--data", options.data, "The folder with raccoon.png")
      ->type_name("DIR")
      ->default_str("data")
      ->default_val("data");
  command->add_option("--out", options.out, "Where pictures go")->type_name("DIR")->default_val("out");
  return command;
}

CLI::App* add_info(CLI::App& app, InfoOptions& options) {
  CLI::App* command = app.add_subcommand("info", "Version, instruction sets, threads, memory");
  command->add_flag("--json", options.json, "Print JSON");
  return command;
}

void add_texts(CLI::App& app, std::string& shell) {
  app.add_subcommand("man", "The manual page, for `man -l -`");
  app.add_subcommand("completions", "The script by which a shell completes tenon's arguments")
      ->add_option("shell", shell, "The shell")
      ->required()
      ->check(CLI::IsMember({"bash", "zsh", "fish"}))
      ->type_name("bash|zsh|fish");
}

CLI::App* add_ops(CLI::App& app, OpsOptions& options) {
  CLI::App* command = app.add_subcommand("ops", "What expressions may call, with signatures");
  command->add_option("name", options.name, "One of them");
  command->add_flag("--json", options.json, "Print JSON");
  return command;
}

void set_policy(const std::string& text) {
  if (text.empty()) return;
  try {
    set_broadcast_policy(parse_broadcast_policy(text));
  } catch (const ValueError& error) {
    throw UsageError(std::string("--broadcast-policy: ") + error.what());
  }
}

/// Explains that an expression beginning with - looks like an option.
[[noreturn]] void fail_arguments(const CLI::ParseError& error, const CLI::App& app) {
  UsageError wrong(error.what());
  for (const std::string& word : app.remaining(true)) {
    if (word[0] != '-') continue;
    wrong.add_note(
        "what begins with - and is no option stands behind --, after all options: tenon eval -- '-x' x=FILE");
    break;
  }
  throw wrong;
}

/// Throws the error's text, with a suggestion for a misspelt command.
[[noreturn]] void fail_usage(const CLI::ParseError& error, const CLI::App& app) {
  const std::vector<std::string> left = app.remaining();
  if (!app.get_subcommands().empty() || left.empty()) fail_arguments(error, app);
  std::vector<std::string> commands;
  for (const CLI::App* command : app.get_subcommands({})) commands.push_back(command->get_name());
  const std::string nearest = expr::nearest_name(left[0], commands);
  UsageError unknown("there is no command '" + left[0] + "'" +
                     (nearest.empty() ? "" : "; did you mean " + nearest + "?"));
  std::string known;
  for (const std::string& command : commands) known += (known.empty() ? "" : ", ") + command;
  unknown.add_note("the commands are " + known + "; tenon --help says more");
  throw unknown;
}

/// Parses the arguments. CLI11 splits "[5,3]" into two, unless a space comes before it.
void parse(CLI::App& app, std::vector<std::string> words, Options& options) {
  for (std::string& word : words)
    if (word[0] == '[') word.insert(0, 1, ' ');
  std::reverse(words.begin(), words.end());  // CLI11 expects them reversed
  app.parse(std::move(words));
  for (std::string& argument : options.explain.arguments)
    if (argument.compare(0, 2, " [") == 0) argument.erase(0, 1);
}

int run(const std::vector<std::string>& words) {
  CLI::App app("Tensors whose broadcasting is exactly PyTorch's.", "tenon");
  Options options;
  app.set_version_flag("--version", TENON_VERSION);
  app.add_option("--broadcast-policy", options.broadcast_policy,
                 "What a suspicious broadcast does: rank=warn,outer=raise,blow_up=100")
      ->type_name("POLICY");
  app.add_option(
         "--memory-budget", options.memory_budget,
         "Refuse a tensor that needs more memory than is left of this, such as 512MB or 2GiB; files do not count")
      ->transform(CLI::AsSizeValue(true))
      ->check(CLI::Range(uint64_t{0}, static_cast<uint64_t>(std::numeric_limits<int64_t>::max())))
      ->type_name("BYTES");
  app.require_subcommand(1);
  app.fallthrough();  // the program's options may follow the command
  CLI::App* explain = add_explain(app, options.explain);
  CLI::App* eval = add_eval(app, options.eval);
  CLI::App* demo = add_demo(app, options.demo);
  CLI::App* ops = add_ops(app, options.ops);
  CLI::App* info = add_info(app, options.info);
  add_texts(app, options.shell);
  try {
    parse(app, words, options);
  } catch (const CLI::ParseError& error) {
    if (error.get_exit_code() == 0) return app.exit(error);  // --help and --version
    fail_usage(error, app);
  }
  set_policy(options.broadcast_policy);
  if (app.count("--memory-budget") > 0) memory::set_budget(static_cast<int64_t>(options.memory_budget));
  if (explain->parsed()) return run_explain(options.explain);
  if (eval->parsed()) return run_eval(options.eval);
  if (demo->parsed()) return run_demo(options.demo);
  if (ops->parsed()) return run_ops(options.ops);
  if (info->parsed()) return run_info(options.info);
  print(options.shell.empty() ? manual(app) : completions(app, options.shell));
  return 0;
}

/// Reports an error: with --json on standard output as JSON, otherwise on standard error.
int failed(const Error& error, int code, bool json) {
  try {
    if (json)
      print(render_json(error));
    else
      show_error(error);
  } catch (const Error& unprinted) {
    show_error(unprinted);
  }
  return code;
}

int run_or_fail(const std::vector<std::string>& words) {
  const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
  try {
    return run(words);
  } catch (const UsageError& error) {
    return failed(error, kUsageExit, json);
  } catch (const Interrupted&) {
    return interrupted_exit();
  } catch (const Error& error) {
    return failed(error, kFailedExit, json);
  } catch (const std::bad_alloc&) {
    return failed(OutOfMemoryError("not enough memory"), kFailedExit, json);
  } catch (const std::exception& error) {
    return failed(Error(error.what()), kFailedExit, json);
  }
}

/// Checks that everything printed was written: a full disk is an error, too.
int finished(int code) {
  if (code != 0) return code;
  try {
    print("");
    return 0;
  } catch (const Error& error) {
    show_error(error);
    return kFailedExit;
  }
}

}  // namespace
}  // namespace tenon::cli

int main(int argc, char** argv) {
  using namespace tenon::cli;
  tenon::system::prepare_standard_streams();
  watch_signals();
  const tenon::InterruptGuard guard(interruption());
  return finished(run_or_fail(tenon::system::arguments(argc, argv)));
}
