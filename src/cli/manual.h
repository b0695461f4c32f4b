// cli: texts made from the descriptions of commands and options. Takes the parser; gives a manual page and scripts.
#pragma once
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace tenon::cli {

/// All commands.
std::vector<const CLI::App*> commands_of(const CLI::App& app);

/// What an option's value is: "FILE", without what CLI11 adds about checks.
std::string type_of(const CLI::Option& option);

/// A page in the language of `man` (roff).
std::string manual(const CLI::App& app);
/// The script by which bash, zsh or fish completes commands, options, names of ops and files.
std::string completions(const CLI::App& app, const std::string& shell);

}  // namespace tenon::cli
