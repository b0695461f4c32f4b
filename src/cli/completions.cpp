#include <CLI/CLI.hpp>

#include "cli/manual.h"

namespace tenon::cli {
namespace {

/// A word in single quotes, for every shell.
std::string in_quotes(const std::string& text, const char* quote) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string(quote) : std::string(1, c == '\n' ? ' ' : c);
  return result + "'";
}
std::string in_quotes(const std::string& text) { return in_quotes(text, "'\\''"); }
std::string fish_quoted(const std::string& text) { return in_quotes(text, "\\'"); }

std::vector<const CLI::Option*> options_of(const CLI::App& app) {
  return app.get_options([](const CLI::Option* option) { return option->nonpositional(); });
}
bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

std::vector<std::string> spellings_of(const CLI::Option& option) {
  std::vector<std::string> all;
  for (const std::string& name : option.get_snames()) all.push_back("-" + name);
  for (const std::string& name : option.get_lnames()) all.push_back("--" + name);
  return all;
}
std::string joined(const std::vector<std::string>& words, const char* between) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : between) + word;
  return text;
}
std::string spellings(const std::vector<const CLI::Option*>& options, const char* between) {
  std::vector<std::string> all;
  for (const CLI::Option* option : options)
    for (const std::string& spelling : spellings_of(*option)) all.push_back(spelling);
  return joined(all, between);
}

/// The words that a value may be: those of "bash|zsh|fish".
std::string choices_of(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    std::string type = type_of(*option);
    if (option->nonpositional() || type.find('|') == std::string::npos) continue;
    for (char& c : type)
      if (c == '|') c = ' ';
    return type;
  }
  return "";
}
/// Whether its argument is the name of an op.
bool takes_op(const CLI::App& command) { return command.get_name() == "ops"; }
constexpr const char* kOpNames = R"(tenon ops 2>/dev/null | sed -n 's/^\([a-z_0-9]*\)(.*/\1/p')";

std::string bash_script(const CLI::App& app) {
  std::vector<std::string> names;
  std::string cases;
  std::vector<const CLI::Option*> valued = options_of(app);
  const std::string global = spellings(options_of(app), " ");
  for (const CLI::App* command : commands_of(app)) {
    names.push_back(command->get_name());
    const std::vector<const CLI::Option*> options = options_of(*command);
    valued.insert(valued.end(), options.begin(), options.end());
    std::string words = in_quotes(choices_of(*command));
    if (takes_op(*command)) words = std::string("\"$(") + kOpNames + ")\"";
    cases.append("    ").append(command->get_name()).append(") options=");
    cases.append(in_quotes(spellings(options, " ") + " " + global)).append("; words=").append(words).append(" ;;\n");
  }
  std::erase_if(valued, [](const CLI::Option* option) { return !takes_value(*option); });
  std::string script = R"(# bash: source <(tenon completions bash)
_tenon() {
  local current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} command= options= words= word
  for word in "${COMP_WORDS[@]:1:COMP_CWORD - 1}"; do
    case $word in
      @NAMES@) command=$word; break ;;
    esac
  done
  COMPREPLY=()
  case $previous in
    @VALUED@ | =) return ;;
  esac
  case $command in
    '') options=@GLOBAL@; words=@COMMANDS@ ;;
@CASES@  esac
  if [[ $current == -* ]]; then words=$options; fi
  if [[ $current != = ]]; then COMPREPLY=($(compgen -W "$words" -- "$current")); fi
}
complete -o bashdefault -o default -F _tenon tenon
)";
  const auto fill = [&](const std::string& mark, const std::string& text) {
    script.replace(script.find(mark), mark.size(), text);
  };
  fill("@NAMES@", joined(names, " | "));
  fill("@VALUED@", spellings(valued, " | "));
  fill("@GLOBAL@", in_quotes(global));
  fill("@COMMANDS@", in_quotes(joined(names, " ")));
  fill("@CASES@", cases);
  return script;
}

/// A description inside of [...] for zsh.
std::string zsh_text(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '[' || c == ']' || c == ':' || c == '\\') result += '\\';
    result += c;
  }
  return result;
}

std::string zsh_options(const std::vector<const CLI::Option*>& options) {
  std::string text;
  for (const CLI::Option* option : options)
    for (const std::string& spelling : spellings_of(*option)) {
      std::string spec = "*" + spelling + "[" + zsh_text(option->get_description()) + "]";
      const std::string type = type_of(*option);
      if (takes_value(*option))
        spec += ":" + zsh_text(type) + ":" + (type == "DIR" ? "_files -/" : type == "FILE" ? "_files" : " ");
      text += " \\\n      " + in_quotes(spec);
    }
  return text;
}

std::string zsh_script(const CLI::App& app) {
  std::string commands, cases;
  const std::string global = zsh_options(options_of(app));
  for (const CLI::App* command : commands_of(app)) {
    commands += "    " + in_quotes(zsh_text(command->get_name()) + ":" + command->get_description()) + "\n";
    const std::string choices = choices_of(*command);
    std::string argument = "'*:argument:_files'";
    if (!choices.empty()) argument = in_quotes("1:shell:(" + choices + ")");
    if (takes_op(*command)) argument = "\"1:op:($(" + std::string(kOpNames) + "))\"";
    cases.append("    ").append(command->get_name()).append(") _arguments");
    cases.append(zsh_options(options_of(*command))).append(global);
    cases.append(" \\\n      ").append(argument).append(" ;;\n");
  }
  return "#compdef tenon\n# zsh: source <(tenon completions zsh), or a file _tenon in a folder of $fpath\n_tenon() {\n"
         "  local context state line\n  typeset -A opt_args\n  local -a commands=(\n" +
         commands + "  )\n  _arguments -C" + global +
         " \\\n      '1:command:->command' '*::argument:->argument'\n"
         "  case $state in\n    command) _describe command commands; return ;;\n    argument) ;;\n    *) return ;;\n  "
         "esac\n"
         "  case $words[1] in\n" +
         cases +
         "  esac\n}\n"
         "if [[ $funcstack[1] == _tenon ]]; then _tenon \"$@\"; else compdef _tenon tenon; fi\n";
}

std::string fish_options(const std::vector<const CLI::Option*>& options, const std::string& condition) {
  std::string text;
  for (const CLI::Option* option : options) {
    text += "complete -c tenon" + condition;
    for (const std::string& name : option->get_snames()) text += " -s " + name;
    for (const std::string& name : option->get_lnames()) text += " -l " + name;
    const std::string type = type_of(*option);
    if (takes_value(*option))
      text += type == "DIR" ? " -x -a '(__fish_complete_directories)'" : type == "FILE" ? " -r -F" : " -x";
    text += " -d " + fish_quoted(option->get_description()) + "\n";
  }
  return text;
}

std::string fish_script(const CLI::App& app) {
  std::string text = "# fish: tenon completions fish | source\n" + fish_options(options_of(app), "");
  for (const CLI::App* command : commands_of(app)) {
    text += "complete -c tenon -n __fish_use_subcommand -f -a " + command->get_name() + " -d " +
            fish_quoted(command->get_description()) + "\n";
    const std::string condition = " -n '__fish_seen_subcommand_from " + command->get_name() + "'";
    text += fish_options(options_of(*command), condition);
    if (const std::string choices = choices_of(*command); !choices.empty())
      text += "complete -c tenon" + condition + " -f -a " + fish_quoted(choices) + "\n";
    if (takes_op(*command))
      text += "complete -c tenon" + condition +
              " -f -a \"(tenon ops 2>/dev/null | string match -r '^[a-z_0-9]+(?=\\()')\"\n";
  }
  return text;
}

}  // namespace

std::string completions(const CLI::App& app, const std::string& shell) {
  if (shell == "bash") return bash_script(app);
  return shell == "zsh" ? zsh_script(app) : fish_script(app);
}

}  // namespace tenon::cli
