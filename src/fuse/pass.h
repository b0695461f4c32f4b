// fuse: one pass over memory: a Program, or the call of another op.
#pragma once
#include <vector>

#include "dispatch/recorder.h"
#include "fuse/graph.h"
#include "tile/reduce.h"
#include "tile/schedule.h"

namespace tenon::fusion {

inline std::size_t place(int number) { return static_cast<std::size_t>(number); }

/// How a Program runs over operands of some layout.
struct PlannedProgram {
  Plan plan;
  Schedule schedule;
};

struct Pass {
  const GraphStep* step = nullptr;  // null: a Program
  std::vector<int> reads = {};      // values
  std::vector<int> writes = {};

  Recorder recorder = {};  // holds the numbers
  Program program = {};
  std::vector<const void*> numbers = {};
  const GraphStep* fold_step = nullptr;  // folds what the Program computes
  Reduction reduction = {};
  PlannedProgram planned = {};

  bool is_view() const { return step && step->name == "view"; }
  /// The op on rows that it is, or ends in; null: none.
  const GraphStep* row_step() const { return fold_step ? fold_step : step; }
  /// The value whose elements are folded; -1: none.
  int folded() const { return fold_step ? fold_step->operands[0] : -1; }
  /// Ends the Program, whose result has the dtype of `elements`, with what the fold asks of them.
  void finish_fold(const Tensor& elements);
  /// Plans the Program for operands of these layouts.
  template <class ViewOf>
  void plan(const ViewOf& view_of, const Memory& memory, PlannedProgram& to) const {
    std::vector<StridedView> views;
    for (const std::vector<int>* ids : {&writes, &reads})
      for (const int id : *ids) views.push_back(view_of(id));
    const SizesView shape = view_of(fold_step ? folded() : writes[0]).sizes;
    plan(shape, std::move(views), memory, to);
  }
  void run(const PlannedProgram& how, void* const* outs, const void* const* inputs) const;
  /// Whether the tensors that a Program reads have the layouts that it is planned for: an op may give others than on
  /// meta.
  bool fits(const std::vector<GraphValue>& values, const std::vector<Tensor>& tensors) const;
  /// Computes the values that it writes.
  void run(const std::vector<GraphValue>& values, std::vector<Tensor>& tensors) const;

 private:
  void plan(SizesView shape, std::vector<StridedView> views, const Memory& memory, PlannedProgram& to) const;
  void run_program(const std::vector<GraphValue>& values, std::vector<Tensor>& tensors) const;
};

}  // namespace tenon::fusion
