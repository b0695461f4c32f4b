// What the forward call keeps for gradients, and the parts of a trace.
#include <algorithm>
#include <string_view>

#include "fuse/pass.h"

namespace tenon::fusion {
namespace {

// A result of a fold is small if it has at most so large a part of the elements.
constexpr int64_t kSmallPart = 8;
// Results of a function (exp, tanh) that have at most so many bytes are read from a cache in less time than the
// function takes again: softmax both ways of 300 x 257 takes 0.91 of the time. Bench: tenon_bench --filter
// '^fuse/(softmax|gelu) both ways/L'.
constexpr int64_t kNearBytes = 1 << 20;

bool is_one_of(std::string_view name, std::initializer_list<std::string_view> names) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

/// Chooses among the forward values those that the gradients need.
class Keeping {
 public:
  Keeping(const GraphTrace& trace, Keep keep)
      : trace_(trace), keep_(keep), seen_(trace.values.size(), false), feeds_forward_(seen_) {
    for (int i = 0; i < trace.forward_steps; ++i)
      if (const GraphStep& step = trace.steps[place(i)]; is_costly(step))
        for (const int id : step.operands) feeds_forward_[place(root_of(trace, id))] = true;
  }

  std::vector<int> run() {
    const std::vector<bool> used = used_values(trace_, trace_.results);
    for (std::size_t i = place(trace_.forward_steps); i < trace_.steps.size(); ++i) {
      const GraphStep& step = trace_.steps[i];
      if (std::none_of(step.results.begin(), step.results.end(), [&](int id) { return used[place(id)]; })) continue;
      for (const int id : step.operands) need(id, is_costly(step));
    }
    for (const int id : trace_.results) need(id, false);
    std::sort(kept_.begin(), kept_.end());
    return std::move(kept_);
  }

  static std::vector<bool> used_values(const GraphTrace& trace, const std::vector<int>& results) {
    std::vector<bool> used(trace.values.size(), false);
    for (const int id : results) used[place(id)] = true;
    for (std::size_t i = trace.steps.size(); i-- > 0;) {
      const GraphStep& step = trace.steps[i];
      if (std::any_of(step.results.begin(), step.results.end(), [&](int id) { return used[place(id)]; }))
        for (const int id : step.operands) used[place(id)] = true;
    }
    return used;
  }

 private:
  /// Whether computing it again takes more than a pass.
  static bool is_costly(const GraphStep& step) {
    if (step.is_elementwise() || step.name == "view") return false;
    return !step.row_dims || is_one_of(step.name, {"sort", "cummax", "cummin", "cumprod", "logcumsumexp"});
  }
  /// Whether it folds many elements to one, which are cheaper to keep than to fold again.
  bool is_small_fold(const GraphStep& step) const {
    if (!step.row_dims) return false;
    const auto numel_of = [&](int id) { return trace_.values[place(id)].meta.numel(); };
    return numel_of(step.results[0]) <= numel_of(step.operands[0]) / kSmallPart;
  }

  /// Whether it is a function whose results are in a cache until the derivative reads them.
  bool is_near_function(const GraphStep& step) const {
    return step.is_function && trace_.values[place(step.results[0])].meta.nbytes() <= kNearBytes;
  }

  bool is_kept(int id, const GraphStep& step, bool as_a_whole) const {
    if (keep_ != Keep::costly) return keep_ == Keep::everything;
    // What another costly op reads is in memory anyway.
    return is_costly(step) || is_small_fold(step) || is_near_function(step) ||
           (as_a_whole && feeds_forward_[place(id)]);
  }

  /// A gradient reads the value; `as_a_whole`: by what is no part of a pass.
  void need(int read, bool as_a_whole) {
    std::vector<std::pair<int, bool>> left{{read, as_a_whole}};
    while (!left.empty()) {
      const int id = root_of(trace_, left.back().first);
      const bool is_whole = left.back().second;
      left.pop_back();
      const int number = trace_.values[place(id)].step;
      if (number < 0 || number >= trace_.forward_steps) continue;
      const GraphStep& step = trace_.steps[place(number)];
      if (is_kept(id, step, is_whole)) {
        if (std::find(kept_.begin(), kept_.end(), id) == kept_.end()) kept_.push_back(id);
        continue;
      }
      if (seen_[place(id)]) continue;
      seen_[place(id)] = true;
      for (const int operand : step.operands) left.emplace_back(operand, is_costly(step));
    }
  }

  const GraphTrace& trace_;
  Keep keep_;
  std::vector<bool> seen_, feeds_forward_;
  std::vector<int> kept_;
};

}  // namespace

int root_of(const GraphTrace& trace, int id) {
  while (trace.values[place(id)].kind == GraphValue::Kind::made) {
    const GraphStep& step = trace.steps[place(trace.values[place(id)].step)];
    if (step.name != "view") return id;
    id = step.operands[0];
  }
  return id;
}

bool can_be_one_node(const GraphTrace& trace) {
  if (trace.reads_recorded || trace.warns || !trace.written.empty()) return false;
  for (const int id : trace.results)
    if (trace.values[place(id)].kind != GraphValue::Kind::made || root_of(trace, id) != id) return false;
  return std::none_of(trace.steps.begin(), trace.steps.end(), [](const GraphStep& step) {
    return is_one_of(step.name, {"prod", "cumprod"});  // their derivatives look for zeros
  });
}

std::vector<int> kept_values(const GraphTrace& trace, Keep keep) { return Keeping(trace, keep).run(); }

GraphTrace part_of_trace(const GraphTrace& trace, const std::vector<int>& inputs, const std::vector<int>& results) {
  GraphTrace part;
  std::vector<int> numbers(trace.values.size(), -1);
  const auto add = [&](int id, GraphValue value) {
    numbers[place(id)] = static_cast<int>(part.values.size());
    part.values.push_back(std::move(value));
  };
  for (const int id : inputs) add(id, {.kind = GraphValue::Kind::input, .meta = trace.values[place(id)].meta});
  // What computes an input is not used.
  std::vector<bool> used(trace.values.size(), false);
  for (const int id : results) used[place(id)] = true;
  std::vector<const GraphStep*> steps;
  for (std::size_t i = trace.steps.size(); i-- > 0;) {
    const GraphStep& step = trace.steps[i];
    if (std::none_of(step.results.begin(), step.results.end(),
                     [&](int id) { return used[place(id)] && numbers[place(id)] < 0; }))
      continue;
    for (const int id : step.operands) used[place(id)] = true;
    steps.push_back(&step);
  }
  for (std::size_t id = 0; id < used.size(); ++id)
    if (used[id] && numbers[id] < 0 && trace.values[id].kind != GraphValue::Kind::made)
      add(static_cast<int>(id), trace.values[id]);
  for (std::size_t i = steps.size(); i-- > 0;) {
    GraphStep step = *steps[i];
    for (int& id : step.operands) id = numbers[place(id)];
    for (int& id : step.results) {
      GraphValue value = trace.values[place(id)];
      value.step = static_cast<int>(part.steps.size());
      const bool is_input = numbers[place(id)] >= 0;  // kept, but computed again with another result of its step
      const int number = static_cast<int>(part.values.size());
      part.values.push_back(std::move(value));
      if (!is_input) numbers[place(id)] = number;
      id = number;
    }
    part.steps.push_back(std::move(step));
  }
  for (const int id : results) part.results.push_back(numbers[place(id)]);
  part.reads_recorded = trace.reads_recorded;
  return part;
}

}  // namespace tenon::fusion
