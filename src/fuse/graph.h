// fuse: a function of tensors as steps. Takes a function, which is called once on tensors without data; gives the
// passes over memory that compute its results. Elementwise ops of one shape become one Program; all other ops are steps
// of their own. Never knows autograd.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "dispatch/recorder.h"
#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon::fusion {

/// A tensor that a traced function makes or reads. Values are numbered in the order of the trace.
struct GraphValue {
  enum class Kind : uint8_t {
    input,    // of the function
    capture,  // a tensor that the function reads from elsewhere
    made,     // by a step
  };
  Kind kind;
  Tensor meta;          // sizes, strides and dtype
  Tensor capture = {};  // as it is when the graph runs
  int step = -1;        // that makes it
  int result = 0;       // which of the step's results
};

/// One call of the traced function.
struct GraphStep {
  using Run = std::function<List<Tensor>(const Tensor* operands)>;

  std::string name;
  std::vector<int> operands = {};  // values
  std::vector<int> results = {};
  Recorder calls = {};   // of an elementwise op: its call on the operands' meta tensors
  Tensor recorded = {};  // its result there
  Run run = {};          // of any other op: computes the results; empty: elementwise

  bool is_elementwise() const noexcept { return !run; }
  /// Whether the call is an instruction of a Program.
  bool is_recorded() const { return calls.is_complete() && calls.find(recorded) >= static_cast<int>(operands.size()); }
};

struct GraphTrace {
  std::vector<GraphValue> values;
  std::vector<GraphStep> steps;
  std::vector<int> results;  // values
  /// Inputs that the function writes in place, and what they hold at its end.
  std::vector<std::pair<int, int>> written;
  bool reads_recorded = false;  // a tensor from elsewhere, while gradients are recorded
};

using TracedFunction = std::function<List<Tensor>(const List<Tensor>& inputs)>;

/// Calls `function` on meta tensors with the layouts of `inputs`. Throws Error for what cannot be traced: random
/// numbers, out=, writes to views, elements that are read (NotImplementedError).
GraphTrace trace_graph(const TracedFunction& function, const List<Tensor>& inputs);

class Graph {
 public:
  Graph(const TracedFunction& function, const List<Tensor>& inputs);
  ~Graph();
  /// `inputs` have the sizes, strides and dtypes of those that were traced. The results have no history.
  List<Tensor> run(const List<Tensor>& inputs) const;
  /// Whether `run` computes the function. Not if the results have a history, or show what the function writes to an
  /// argument, as its other arguments may.
  bool can_run(const List<Tensor>& inputs) const;
  /// The number of passes: Programs, and calls of other ops but views.
  int passes() const noexcept;

 private:
  struct Pass;

  /// The Program of these steps, which computes values from others.
  void add_program(const std::vector<int>& results, std::vector<int> reads, const std::vector<int>& steps);
  /// Notes after which pass each value is dropped.
  void note_last_reads();
  int root_of(int id) const;
  /// Notes the tensors that the function makes of numbers alone, and gives: each call gives new ones.
  void note_own_results();

  GraphTrace trace_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::vector<int> copied_;           // captures that begin each run as copies
  bool gives_written_views_ = false;  // a result is a view of an argument that is written
};

}  // namespace tenon::fusion
