// fuse: a function of tensors as steps. Takes a function, which is called once on tensors without data; gives the
// passes over memory that compute its results. Elementwise ops of one shape become one Program; all other ops are steps
// of their own; what works on the same rows runs block by block. Never knows autograd.
#pragma once
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "dispatch/recorder.h"
#include "tenon/fuse.h"
#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon {
struct Memory;
}

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
  std::string key = {};            // equal for equal calls of equal operands; empty: not known
  std::vector<int> operands = {};  // values
  std::vector<int> results = {};
  Recorder calls = {};       // of an elementwise op: its call on the operands' meta tensors
  Tensor recorded = {};      // its result there
  Run run = {};              // of any other op: computes the results; empty: elementwise
  int place = 0;             // among the function's calls
  bool is_function = false;  // an elementwise op that takes longer than a load and a store
  /// Of an op that computes rows apart: which dims of its one operand a row is. The other dims are the results', too.
  std::optional<Dims> row_dims = {};  // a mask
  bool keeps_dims = true;             // the results have the row's dims, too
  /// Of a reduction that can fold elements while they are computed.
  struct Fold {
    Op op;
    std::optional<Dtype> dtype;
  };
  std::optional<Fold> fold = {};

  bool is_elementwise() const noexcept { return !run; }
  /// Calls `run`. What it refuses of its elements gets a note of the op.
  List<Tensor> compute(const Tensor* tensors) const;
  /// Whether the call is an instruction of a Program.
  bool is_recorded() const { return calls.is_complete() && calls.find(recorded) >= static_cast<int>(operands.size()); }
};

struct GraphTrace {
  std::vector<GraphValue> values;
  std::vector<GraphStep> steps;
  std::vector<int> results;  // values
  /// Inputs that the function writes in place, and what they hold at its end.
  std::vector<std::pair<int, int>> written;
  /// Of a function that computes gradients: the number of steps before them, and what these gave.
  int forward_steps = 0;
  std::vector<int> forward_results;
  bool reads_recorded = false;  // a tensor from elsewhere, while gradients are recorded
  bool warns = false;           // in each call, so that the function is called as it is
};

/// The value of which a value is a view, or itself.
int root_of(const GraphTrace& trace, int id);

using TracedFunction = std::function<List<Tensor>(const List<Tensor>& inputs)>;

/// Calls `function` on meta tensors with the layouts of `inputs`. Throws Error for what cannot be traced: random
/// numbers, out=, writes to views, elements that are read (NotImplementedError).
GraphTrace trace_graph(const TracedFunction& function, const List<Tensor>& inputs);
/// The traced function has computed `results`, and computes their gradients from now on.
void note_forward(const List<Tensor>& results);

/// The part of a trace that computes `results` from `inputs`, which become its first values.
GraphTrace part_of_trace(const GraphTrace& trace, const std::vector<int>& inputs, const std::vector<int>& results);

struct Pass;
class Blocks;
class Axes;

/// A step that shows its operand's elements, from `offset` on, with the sizes, strides and dtype of `view`.
GraphStep view_step(const Tensor& view, int64_t offset);

/// Lets ops on expanded tensors compute at the size of what was expanded, where only other elementwise ops read them.
void narrow_expanded_steps(GraphTrace& trace);

/// Lets what reads a call's result read that of the first equal call: the others are dead.
void merge_repeated_steps(GraphTrace& trace);

/// Lets a Program write what is copied to an argument, in the argument's layout, if nothing else is done with it.
void write_sources_of_copies(GraphTrace& trace);

/// Whether a function may be one node: it gives new tensors, writes nothing, and no derivative of its ops looks at
/// elements.
bool can_be_one_node(const GraphTrace& trace);

/// The forward values that are kept for gradients.
std::vector<int> kept_values(const GraphTrace& trace, Keep keep);

class Graph {
 public:
  /// Passes over the same rows run in blocks of about so many bytes: small enough for a second-level cache of 1 MiB.
  /// Bench: tenon_bench --filter '^fuse/(softmax|layer_norm)'.
  static constexpr int64_t kBlockBytes = 256 << 10;

  Graph(const TracedFunction& function, const List<Tensor>& inputs, int64_t block_bytes = kBlockBytes)
      : Graph(trace_graph(function, inputs), block_bytes) {}
  explicit Graph(GraphTrace trace, int64_t block_bytes = kBlockBytes);
  ~Graph();
  /// `inputs` have the sizes, strides and dtypes of those that were traced. The results have no history.
  List<Tensor> run(const List<Tensor>& inputs) const;
  /// Above those of all earlier graphs.
  uint64_t number() const noexcept { return number_; }
  /// Whether `run` computes the function. Not if the results have a history, or show what the function writes to an
  /// argument, as its other arguments may.
  bool can_run(const List<Tensor>& inputs) const;
  /// The elements of the largest value.
  int64_t most_elements() const noexcept { return most_elements_; }
  /// The number of passes over memory: those of one turn are one; views are none.
  int passes() const noexcept;
  /// The passes with their ops, the bytes that they move, those that the ops would move one by one, and the scratch
  /// memory.
  std::string explain() const;

 private:
  /// Passes that run together: one, or several block by block.
  struct Turn {
    std::vector<int> passes;
    std::unique_ptr<const Blocks> blocks;  // null: one pass
    std::vector<int> dropped = {};         // values that no later turn reads
  };

  /// A tensor that only captures hold, and those of them that are results: each run begins with a copy of it.
  struct Own {
    Tensor base;
    std::vector<int> values = {};
  };

  /// The Program of these steps, which computes values from others.
  void add_program(const std::vector<int>& results, std::vector<int> reads, const std::vector<int>& steps);
  /// The Program of those steps, whose results are folded.
  void add_fold(const GraphStep& fold, std::vector<int> reads, const std::vector<int>& steps);
  void record(Pass& pass, const std::vector<int>& results, const std::vector<int>& steps) const;
  void plan(Pass& pass, const Memory& memory) const;
  /// Divides the passes into turns.
  void make_turns();
  Turn next_blocks(const Axes& axes, std::vector<int>& left);
  /// Notes after which turn each value is dropped.
  void note_last_reads();
  /// Notes which arguments the last turn may write itself: what it computes cannot fail any more.
  void note_last_writes();
  void run_turns(std::size_t begin, std::size_t end, std::vector<Tensor>& tensors) const;
  /// Runs the turns from `begin` on, and writes to the arguments.
  void run_writes(std::size_t begin, std::vector<Tensor>& tensors) const;
  /// Lets the last turn write to these arguments. Not if it reads their memory.
  void begin_last_writes(std::vector<Tensor>& tensors) const;
  /// Notes whether one Program computes all results from the arguments.
  void note_only_program();
  List<Tensor> run_only_program(const List<Tensor>& inputs) const;
  void note_captures();
  /// Lets passes read one number where the function made a tensor that holds nothing else.
  void shrink_constants();
  /// Notes the tensors that the function makes of numbers alone, and gives: each call gives new ones.
  void note_own_results();
  /// Whether captures alone hold a tensor and its views.
  bool is_own(const TensorImpl* base) const;
  void add_own_result(int id);
  void renew_own_results(std::vector<Tensor>& tensors) const;
  std::string described(const Pass& pass) const;

  uint64_t number_;
  int64_t most_elements_ = 0;
  int64_t block_bytes_;
  GraphTrace trace_;
  std::vector<std::unique_ptr<Pass>> passes_;
  std::vector<Turn> turns_;
  std::size_t last_turn_ = 0;                     // that is no view
  std::vector<std::pair<int, int>> last_writes_;  // of the trace's `written`, those that it makes
  bool replaces_ = false;                         // it writes where it reads
  const Pass* only_program_ = nullptr;     // that computes all results from the arguments; null: there is more to do
  std::vector<std::size_t> only_results_;  // of these, which of its results each is
  std::vector<int> captures_;
  std::vector<Own> own_;
  bool gives_written_views_ = false;  // a result is a view of an argument that is written
};

/// What `Fused::prepare` finds: the trace's number, and the trace, which computes the results without another look at
/// the inputs' layouts; null if more is to do.
struct Prepared {
  uint64_t number;
  std::shared_ptr<const Graph> graph;

  static Prepared make(const Fused& fused, const List<Tensor>& inputs);
};

}  // namespace tenon::fusion
