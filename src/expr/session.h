// expr: what an evaluation has computed so far. Takes values and reductions that wait; computes reductions of large
// trees together, so that files are read as seldom as possible, and counts passes and bytes. Never reads expressions.
#pragma once
#include <map>
#include <string>
#include <vector>

#include "expr/parse.h"
#include "expr/traffic.h"
#include "expr/value.h"

namespace tenon::expr {

/// One step of an expression's evaluation: elementwise ops, and possibly a reduction of their result; or an algorithm.
struct Step;
struct Steps;

/// Thrown where a value waits for reductions. `Session::compute` gives them; then the evaluation is repeated.
struct Waiting {};

class Session {
 public:
  /// `steps`: where steps are noted; may be null.
  Session(ProgressCallback& progress, Steps* steps) : progress_(progress), steps_(steps) {}

  ProgressCallback& progress() const noexcept { return progress_; }
  Steps* steps() const noexcept { return steps_; }
  const Traffic& traffic() const noexcept { return traffic_; }

  /// The value of a part of the expression; null if it is not known. Keys say where the part stands or how it is
  /// written.
  const Value* find(const std::string& key) const;
  void keep(const std::string& key, const Value& value) { known_.insert_or_assign(key, value); }
  /// A formula that lives as long as the session, because keys of its parts name it.
  const Ast& formula(const std::string& key, const std::string& text, const Ast& around, Span span);

  /// Remembers a reduction, whose result `compute` keeps under `key`.
  void defer(const std::string& key, Reduction reduction, Span span, std::string label);
  /// Computes all reductions that wait: those of trees of the same sizes in one pass.
  void compute();
  /// Computes results into `outs`, those of the same sizes in one pass. No tree is a number.
  void compute(const Trees& trees, std::vector<Tensor>& outs);
  /// Counts and notes a step, which is a pass of its own.
  void note(Step step);
  /// Counts a copy of chosen elements.
  void count_copy(const Tensor& copy) { traffic_.add_copy(copy); }

 private:
  struct Deferred {
    std::string key;
    Reduction reduction;
    Span span;
    std::string label;
  };
  void compute(std::vector<Deferred>& group);
  void add(Step step);

  ProgressCallback& progress_;
  Steps* steps_;
  Traffic traffic_;
  std::map<std::string, Value> known_;
  std::map<std::string, Ast> formulas_;
  std::vector<Deferred> waiting_;
};

}  // namespace tenon::expr
