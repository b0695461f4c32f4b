// cli: the commands. Each takes its options; gives an exit code. Mistakes of the user are exceptions, which main shows.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "expr/evaluate.h"

namespace tenon::cli {

inline constexpr int kFailedExit = 1;  // a wrong expression, shape or file
inline constexpr int kUsageExit = 2;

/// Wrong usage that the option parser cannot see.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct ExplainOptions {
  std::vector<std::string> arguments;
  bool json = false;
  std::string svg;  // a file's name, "-", or "" for none
};
int run_explain(const ExplainOptions& options);

struct EvalOptions {
  std::string expression;
  std::vector<std::string> inputs;  // name=file
  std::string output;               // "": print
  std::vector<std::string> grad;    // inputs whose gradients are wanted
  int64_t block_bytes = 0;          // 0: the default
};
int run_eval(EvalOptions options);

struct DemoOptions {
  std::string data;
  std::string out;
};
int run_demo(const DemoOptions& options);

struct InfoOptions {
  bool json = false;
};
int run_info(const InfoOptions& options);

struct OpsOptions {
  std::string name;  // "": all
  bool json = false;
};
int run_ops(const OpsOptions& options);

/// "name=value" in two parts; the name is empty where there is none (comparisons, calls with keywords).
struct Binding {
  std::string name;
  std::string value;
};
Binding split_binding(const std::string& argument);

/// "-" is standard input, or output.
inline std::string input_file(const std::string& name) { return name == "-" ? "/dev/stdin" : name; }
inline std::string output_file(const std::string& name) { return name == "-" ? "/dev/stdout" : name; }

/// Prints a result at once. Error when it cannot be written.
void print(const std::string& text);

/// Shows an error and its notes on standard error; of an expression, the place is underlined.
void show_error(const Error& error);
void show_error(const expr::ExpressionError& error, const std::string& expression);

}  // namespace tenon::cli
