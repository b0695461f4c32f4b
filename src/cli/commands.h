// cli: the commands. Each takes its options; gives an exit code. Users' mistakes are exceptions, which main prints.
#pragma once
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "expr/evaluate.h"

namespace tenon::cli {

inline constexpr int kFailedExit = 1;  // a wrong expression, shape or file
inline constexpr int kUsageExit = 2;

/// Wrong usage that the option parser does not detect.
class UsageError : public Error {
 public:
  using Error::Error;
};

struct ExplainOptions {
  std::vector<std::string> arguments;
  bool json = false;
  std::string svg;  // file name, "-" for standard output, "" for none
};
int run_explain(const ExplainOptions& options);

struct EvalOptions {
  std::vector<std::string> arguments;  // the expression, then name=file
  std::vector<std::string> outputs;    // FILE, or FILE=EXPR or NAME=EXPR; none: print
  std::vector<std::string> grad;       // inputs whose gradients are requested
  int64_t block_bytes = 0;             // 0: the default
  std::optional<uint64_t> seed;        // of random numbers
  bool time = false;
  bool json = false;
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

/// "name=value" split at the "="; the name is empty if there is none, as in comparisons and calls with keywords.
struct Binding {
  std::string name;
  std::string value;
};
Binding split_binding(const std::string& argument);

/// "-" is standard input.
inline std::string input_file(const std::string& name) { return name == "-" ? "/dev/stdin" : name; }
inline std::string output_file(const std::string& name) { return name == "-" ? "/dev/stdout" : name; }

/// Prints and flushes a result. Throws Error if it cannot be written.
void print(const std::string& text);

/// Prints an error and its notes to standard error. For an expression the wrong part is underlined.
void show_error(const Error& error);
void show_error(const expr::ExpressionError& error, const std::string& expression);

}  // namespace tenon::cli
