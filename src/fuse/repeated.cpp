// Calls that a function repeats.
#include <map>

#include "fuse/graph.h"

namespace tenon::fusion {

void merge_repeated_steps(GraphTrace& trace) {
  const auto place = [](int id) { return static_cast<std::size_t>(id); };
  std::vector<bool> is_given(trace.values.size(), false);  // two results are two tensors
  for (const int id : trace.results) is_given[place(id)] = is_given[place(root_of(trace, id))] = true;
  for (const auto& [input, id] : trace.written) is_given[place(id)] = true;
  std::vector<int> first(trace.values.size());  // the value of the first equal call
  for (std::size_t id = 0; id < first.size(); ++id) first[id] = static_cast<int>(id);
  std::map<std::pair<std::string, std::vector<int>>, const GraphStep*> known;
  for (GraphStep& step : trace.steps) {
    for (int& operand : step.operands) operand = first[place(operand)];
    if (step.key.empty()) continue;
    const auto [entry, is_new] = known.try_emplace({step.key, step.operands}, &step);
    for (std::size_t i = 0; i < step.results.size() && !is_new; ++i)
      if (!is_given[place(step.results[i])]) first[place(step.results[i])] = entry->second->results[i];
  }
}

}  // namespace tenon::fusion
