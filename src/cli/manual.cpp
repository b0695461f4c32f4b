#include "cli/manual.h"

#include <CLI/CLI.hpp>
#include <string_view>

#include "tenon/version.h"

namespace tenon::cli {
namespace {

struct Described {
  const char* name;
  const char* text;
};

// What no option says. Each variable is read where the text says.
constexpr Described kEnvironment[] = {
    {"TENON_NUM_THREADS", "Threads of an op, instead of as many as the machine has cores."},
    {"TENON_MEMORY_BUDGET", "Bytes that tensors may hold together; as --memory-budget."},
    {"TENON_BROADCAST_POLICY", "What a suspicious broadcast does; as --broadcast-policy."},
    {"TENON_LOAD_LIMIT", "Bytes that a compressed file, a picture or a pipe may take in memory; 1 GiB without it."},
    {"NO_COLOR", "If set, nothing is coloured; otherwise what a terminal shows is."},
};
constexpr Described kExitStatus[] = {
    {"0", "Success."},
    {"1", "A wrong expression, shape or file."},
    {"2", "Wrong usage."},
    {"128+N", "Signal N ended the program; 130: Ctrl-C."},
};

/// A text for roff: no escapes, and no line that begins as a request does.
std::string escaped(std::string_view text) {
  std::string result;
  bool begins_line = true;
  for (const char c : text) {
    if (begins_line && (c == '.' || c == '\'')) result += "\\&";
    begins_line = c == '\n';
    if (c == '\\')
      result += "\\e";
    else if (c == '-')
      result += "\\-";
    else
      result += c;
  }
  return result;
}

std::string bold(std::string_view text) { return "\\fB" + escaped(text) + "\\fR"; }
std::string italic(std::string_view text) { return "\\fI" + escaped(text) + "\\fR"; }

/// "-o, --output FILE".
std::string heading_of(const CLI::Option& option) {
  std::string text;
  for (const std::string& name : option.get_snames()) text += (text.empty() ? "" : ", ") + bold("-" + name);
  for (const std::string& name : option.get_lnames()) text += (text.empty() ? "" : ", ") + bold("--" + name);
  if (option.nonpositional() && option.get_items_expected_max() > 0) text += " " + italic(type_of(option));
  return option.nonpositional() ? text : italic(option.get_name());
}

std::string paragraph(const std::string& heading, const std::string& text) {
  return ".TP\n" + heading + "\n" + escaped(text) + "\n";
}

/// The arguments first, then the options.
std::string options_text(const CLI::App& app) {
  std::string arguments, options;
  for (const CLI::Option* option : app.get_options())
    (option->nonpositional() ? options : arguments) += paragraph(heading_of(*option), option->get_description());
  return arguments + options;
}

std::string arguments_of(const CLI::App& command) {
  std::string text;
  for (const CLI::Option* option : command.get_options()) {
    if (option->nonpositional()) continue;
    const std::string name = italic(option->get_name()) + (option->get_items_expected_max() > 1 ? " ..." : "");
    text += option->get_required() ? " " + name : " [" + name + "]";
  }
  return text;
}

/// The examples below a command, whose lines are shown as they stand.
std::string examples_text(const CLI::App& command) {
  constexpr std::string_view kHeading = "Examples:\n";
  const std::string footer = command.get_footer();
  if (footer.compare(0, kHeading.size(), kHeading) != 0) return "";
  return ".PP\nExamples:\n.PP\n.nf\n" + escaped(footer.substr(kHeading.size())) + "\n.fi\n";
}

template <std::size_t Count>
std::string table_text(const Described (&rows)[Count]) {
  std::string text;
  for (const Described& row : rows) text += paragraph(bold(row.name), row.text);
  return text;
}

}  // namespace

std::string type_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  return type.substr(0, type.find(':'));
}
std::vector<const CLI::App*> commands_of(const CLI::App& app) {
  return app.get_subcommands([](const CLI::App*) { return true; });
}

std::string manual(const CLI::App& app) {
  std::string text = ".TH TENON 1 \"\" \"tenon " TENON_VERSION "\" \"User Commands\"\n";
  text += ".SH NAME\ntenon \\- " + escaped(app.get_description()) + "\n";
  text += ".SH SYNOPSIS\n";
  for (const CLI::App* command : commands_of(app))
    text += bold("tenon " + command->get_name()) + arguments_of(*command) + " [" + italic("options") + "]\n.br\n";
  text += ".SH OPTIONS\n" + options_text(app);
  text += ".SH COMMANDS\n";
  for (const CLI::App* command : commands_of(app)) {
    text += ".SS " + bold("tenon " + command->get_name()) + "\n" + escaped(command->get_description()) + ".\n";
    text += options_text(*command) + examples_text(*command);
  }
  text += ".SH EXIT STATUS\n" + table_text(kExitStatus);
  text += ".SH ENVIRONMENT\n" + table_text(kEnvironment);
  return text;
}

}  // namespace tenon::cli
