#include "tenon/fuse.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "dispatch/differentiate.h"
#include "fuse/graph.h"
#include "tenon/factories.h"
#include "tenon/policy.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

// Graphs of one function that are kept: those of its latest layouts.
constexpr std::size_t kMostGraphs = 64;

/// All that a trace depends on besides the function, as words.
std::vector<int64_t> signature_of(const List<Tensor>& inputs) {
  const BroadcastPolicy policy = broadcast_policy();
  std::vector<int64_t> words{static_cast<int64_t>(get_default_dtype()),
                             get_num_threads(),
                             static_cast<int64_t>(policy.rank),
                             static_cast<int64_t>(policy.outer),
                             static_cast<int64_t>(policy.blow_up * 1024.0),
                             backcompat::broadcast_warning(),
                             backcompat::pointwise_1d(),
                             thread_modes.grad};
  for (const Tensor& input : inputs) {
    words.push_back(static_cast<int64_t>(input.dtype()));
    words.push_back(input.dim());
    words.insert(words.end(), input.sizes().begin(), input.sizes().end());
    words.insert(words.end(), input.strides().begin(), input.strides().end());
  }
  return words;
}

bool any_is_recorded(const List<Tensor>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& input) { return is_recorded(input); });
}
bool any_is_meta(const List<Tensor>& inputs) {
  return std::any_of(inputs.begin(), inputs.end(), [](const Tensor& input) { return input.is_meta(); });
}
bool is_called_as_it_is(const List<Tensor>& inputs) { return any_is_recorded(inputs) || any_is_meta(inputs); }

}  // namespace

struct Fused::State {
  struct Entry {
    std::vector<int64_t> signature;
    std::shared_ptr<const fusion::Graph> graph;
  };

  explicit State(Function given) : function(std::move(given)) {}

  std::shared_ptr<const fusion::Graph> graph_for(const List<Tensor>& inputs) {
    std::vector<int64_t> signature = signature_of(inputs);
    {
      const std::lock_guard own(lock);
      const auto found = std::find_if(entries.begin(), entries.end(),
                                      [&](const Entry& entry) { return entry.signature == signature; });
      if (found != entries.end()) return found->graph;
    }
    auto graph = std::make_shared<const fusion::Graph>(function, inputs);
    const std::lock_guard own(lock);
    entries.push_front({std::move(signature), graph});
    if (entries.size() > kMostGraphs) entries.pop_back();
    return graph;
  }

  Function function;
  std::mutex lock;
  std::deque<Entry> entries;  // the latest first
};

Fused::Fused(Function function) : state_(std::make_shared<State>(std::move(function))) {}

List<Tensor> Fused::operator()(const List<Tensor>& inputs) const {
  if (is_called_as_it_is(inputs)) return state_->function(inputs);
  const auto graph = state_->graph_for(inputs);
  return graph->can_run(inputs) ? graph->run(inputs) : state_->function(inputs);
}

const void* Fused::prepare(const List<Tensor>& inputs) const {
  if (is_called_as_it_is(inputs)) return nullptr;
  const auto graph = state_->graph_for(inputs);
  return graph->can_run(inputs) ? graph.get() : nullptr;
}

int Fused::passes(const List<Tensor>& inputs) const { return state_->graph_for(inputs)->passes(); }

}  // namespace tenon
