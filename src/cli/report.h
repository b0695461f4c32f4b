// cli: what `tenon explain` says. Takes the steps of an expression; gives plain data, which text, JSON and SVG then
// show. Never prints and never touches element data.
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
  Dims gradient_dims;       // dims the result's gradient is summed over to be this operand's
  std::string access;       // how it reaches a tile: "direct", "periodic 3", with "cast" where the dtype changes;
                            // empty: nothing reads it
  Dims loop_strides;        // innermost first
  int64_t bytes = 0;        // of the elements read
};

/// One op of the operation.
struct OpReport {
  std::string text;  // as written
  std::string name;
  Dtype dtype = Dtype::float32;
  std::string rule;    // why that dtype
  std::string kernel;  // op.type.isa
};

struct ReductionReport {
  std::string name;
  Dims dims;
  Dims sizes;  // of its result
  Dtype dtype = Dtype::float32;
};

/// What an engine does for a step.
struct RunReport {
  std::string name;                   // of the reduction; "elementwise"
  std::string route;                  // "tiles", "direct", ...
  std::string stores;                 // how results leave: "in place", "streamed", ...
  std::vector<std::string> accesses;  // of its inputs
  int64_t passes = 1;
  int64_t parts = 1;
  int64_t threads = 1;
  int64_t scratch_bytes = 0;  // of one thread
};

/// Wide enough for the sum of any operands' bytes.
__extension__ using ByteSum = unsigned __int128;

/// One step: elementwise work, and the reduction over its value where there is one.
struct Report {
  std::string text;
  std::vector<OperandReport> operands;
  Dims result;  // -1 where operands disagree
  Dims result_strides;
  Dtype dtype = Dtype::float32;
  std::vector<OpReport> ops;
  std::vector<ReductionReport> reductions;  // none or one
  Dims loops;                               // innermost first
  std::vector<RunReport> runs;              // of one block
  int64_t blocks = 1;
  ByteSum bytes_read = 0;
  int64_t bytes_written = 0;
  bool fails = false;
};

/// Report of one finished step; `text` is the whole expression.
Report report_step(const expr::Step& step, const std::string& text);
/// Report of operands that do not fit: shapes only.
Report report_failure(const std::vector<expr::Argument>& operands, const std::string& text);

/// Whether the first operand is a condition, which takes no part in promotion.
bool is_selection(const expr::TreeNode& node);
/// Why an op's result has its dtype, in a sentence.
std::string dtype_rule(const expr::TreeNode& node);
/// "f32": as in kernel names.
const char* short_name(Dtype dtype);

}  // namespace tenon::cli
