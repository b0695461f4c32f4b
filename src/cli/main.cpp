// cli: the door for shells. Takes words; gives text, files and an exit code: 0, 1 for a wrong expression, shape or
// file, 2 for wrong usage, 130 after Ctrl-C.
#include <CLI/CLI.hpp>
#include <clocale>
#include <cstdio>
#include <new>

#include "cli/commands.h"
#include "cli/interrupt.h"
#include "cli/terminal.h"
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

void show_error(const Error& error) {
  const Painter paint = stderr_painter();
  std::fprintf(stderr, "%s %s\n", paint(Colour::failing, "error:").c_str(), error.what());
  for (const std::string& note : error.notes()) std::fprintf(stderr, "%s\n", note.c_str());
}

void show_error(const expr::ExpressionError& error, const std::string& expression) {
  const Painter paint = stderr_painter();
  std::fprintf(stderr, "%s %s\n%s", paint(Colour::failing, "error:").c_str(), error.what(),
               underlined(expression, error.span(), paint).c_str());
  for (const std::string& note : error.notes()) std::fprintf(stderr, "%s\n", note.c_str());
}

namespace {

struct Options {
  ExplainOptions explain;
  EvalOptions eval;
  DemoOptions demo;
  InfoOptions info;
  std::string broadcast_policy;
};

CLI::App* add_explain(CLI::App& app, ExplainOptions& options) {
  CLI::App* command = app.add_subcommand("explain", "What broadcasting does: shapes, dtype, plan, bytes, gradients");
  command
      ->add_option(
          "what", options.arguments,
          "Shapes (5,1,4,1 or f32[3,1,1] or f32[4,3:1,4] with strides), or one expression of them, or of names\n"
          "given as name=SHAPE or name=FILE")
      ->required();
  command->add_flag("--json", options.json, "Print JSON");
  command->add_option("--svg", options.svg, "Draw it into FILE")->type_name("FILE");
  command->footer(
      "Examples:\n  tenon explain 5,1,4,1 3,1,1\n  tenon explain 'f32[4096,3] + f32[3]'\n  tenon explain '(x - m) / "
      "255' x=u8[768,1024,3] m=f32[3]");
  return command;
}

CLI::App* add_eval(CLI::App& app, EvalOptions& options) {
  CLI::App* command = app.add_subcommand("eval", "Compute an expression over files");
  command->add_option("expression", options.expression, "Python-like: '(x - x.mean(0)) / 255'")->required();
  command->add_option("inputs", options.inputs, "name=FILE: .npy (mapped), .png, .csv, .csv.gz");
  command->add_option("-o,--output", options.output, "Write .npy or .png; without it the result is printed")
      ->type_name("FILE");
  command
      ->add_option("--grad", options.grad,
                   "Also the gradients of the result's sum with respect to these inputs: printed, or with -o FILE.npy\n"
                   "written to FILE.grad.NAME.npy")
      ->delimiter(',')
      ->allow_extra_args(false)
      ->type_name("NAME,...");
  command->add_option("--block-bytes", options.block_bytes, "Bytes of the result computed at a time")
      ->check(CLI::PositiveNumber);
  command->footer("Example:\n  tenon eval 'x / 255 - x.to(float32).mean((0, 1)) / 255' x=photo.png -o centred.npy");
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

void set_policy(const std::string& text) {
  if (text.empty()) return;
  try {
    set_broadcast_policy(parse_broadcast_policy(text));
  } catch (const ValueError& error) {
    throw UsageError(std::string("--broadcast-policy: ") + error.what());
  }
}

int run(int argc, char** argv) {
  CLI::App app("Tensors whose broadcasting is exactly PyTorch's.", "tenon");
  Options options;
  app.set_version_flag("--version", TENON_VERSION);
  app.add_option("--broadcast-policy", options.broadcast_policy,
                 "What a suspicious broadcast does: rank=warn,outer=raise,blow_up=100")
      ->type_name("POLICY");
  app.require_subcommand(1);
  app.fallthrough();  // options of the program may stand behind the command
  CLI::App* explain = add_explain(app, options.explain);
  CLI::App* eval = add_eval(app, options.eval);
  CLI::App* demo = add_demo(app, options.demo);
  add_info(app, options.info);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : kUsageExit;
  }
  set_policy(options.broadcast_policy);
  if (explain->parsed()) return run_explain(options.explain);
  if (eval->parsed()) return run_eval(options.eval);
  if (demo->parsed()) return run_demo(options.demo);
  return run_info(options.info);
}

}  // namespace
}  // namespace tenon::cli

int main(int argc, char** argv) {
  using namespace tenon;
  cli::watch_signals();
  try {
    return cli::run(argc, argv);
  } catch (const cli::UsageError& error) {
    cli::show_error(error);
    return cli::kUsageExit;
  } catch (const expr::Interrupted&) {
    return cli::kInterruptedExit;
  } catch (const Error& error) {
    cli::show_error(error);
    return cli::kFailedExit;
  } catch (const std::bad_alloc&) {
    cli::show_error(OutOfMemoryError("not enough memory"));
    return cli::kFailedExit;
  } catch (const std::exception& error) {
    cli::show_error(Error(error.what()));
    return cli::kFailedExit;
  }
}
