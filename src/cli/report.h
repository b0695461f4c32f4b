// cli: the content of `tenon explain`. Takes the steps of an expression; gives plain data, which is rendered as text,
// JSON or SVG. Never prints and never touches element data.
#pragma once
#include <string>
#include <vector>

#include "expr/evaluate.h"
#include "tenon/dims.h"
#include "tenon/dtype.h"

namespace tenon::cli {

/// What broadcasting does to one dim of one operand.
enum class Mark : uint8_t { same, stretched, added, failing };

struct Cell {
  int64_t size = -1;  // -1: the operand has no such dim
  Mark mark = Mark::same;
};

/// A tensor that an elementwise operation reads.
struct OperandReport {
  std::string label;
  Dtype dtype = Dtype::float32;
  Dims sizes;
  Dims strides;
  std::vector<Cell> cells;  // one for each dim of the result
  bool has_gradient = true;
  Dims expanded_dims;  // dims over which the gradient of a reduction's result is expanded
  Dims gradient_dims;  // dims over which the gradient is then summed for this operand
  std::string
      access;         // access pattern: "direct", "periodic 3", with "cast" if the dtype changes; empty: it is not read
  Dims loop_strides;  // innermost first
  int64_t bytes = 0;  // bytes of the elements that are read
};

/// One op of a step.
struct OpReport {
  std::string text;  // as written in the expression
  std::string name;
  Dtype dtype = Dtype::float32;
  std::string rule;  // why the result has its dtype
};

struct ReductionReport {
  std::string name;
  Dims dims;
  Dims sizes;  // of the reduction's result
  Dtype dtype = Dtype::float32;
};

/// How an engine runs a step.
struct RunReport {
  std::string name;                   // name of the reduction or algorithm, or "elementwise"
  std::string route;                  // "tiles", "direct", ...
  std::string stores;                 // store mode: "in place", "streamed", ...
  std::vector<std::string> accesses;  // access patterns of its inputs
  int64_t passes = 1;
  int64_t parts = 1;
  int64_t threads = 1;
  int64_t scratch_bytes = 0;         // for each thread
  std::vector<std::string> kernels;  // op.type.isa
};

using expr::ByteSum;

/// One step: elementwise work, and possibly a reduction of its value; or an algorithm.
struct Report {
  std::string text;
  std::vector<OperandReport> operands;
  Dims result;  // -1 for a dim in which operands disagree
  Dims result_strides;
  Dtype dtype = Dtype::float32;
  std::vector<OpReport> ops;
  std::vector<ReductionReport> reductions;  // none or one
  std::string algorithm;                    // its name; empty: none
  std::vector<OperandReport> results;       // of an algorithm
  Dims loops;                               // innermost first
  std::vector<RunReport> runs;              // the runs of one block
  int64_t blocks = 1;
  int64_t temporary_bytes = 0;  // of the value that a reduction reads: one block, or all of it
  ByteSum bytes_read = 0;
  ByteSum bytes_written = 0;
  bool fails = false;
};

/// Report of one finished step; `text` is the whole expression.
Report report_step(const expr::Step& step, const std::string& text);
/// Memory besides operands and results.
int64_t scratch_of(const Report& report);
/// Report of operands that do not broadcast: shapes only.
Report report_failure(const std::vector<expr::Argument>& operands, const std::string& text);

/// Whether the first operand is a condition, which promotion ignores.
bool is_selection(const expr::TreeNode& node);
/// Why an op's result has its dtype, in a sentence.
std::string dtype_rule(const expr::TreeNode& node);
/// The dtype's name in kernel names, such as "f32".
const char* short_name(Dtype dtype);

}  // namespace tenon::cli
