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

/// Calls `take` with all that a trace depends on besides the function, as words.
template <class Take>
void for_each_word(const List<Tensor>& inputs, const Take& take) {
  const BroadcastPolicy policy = broadcast_policy();
  take(static_cast<int64_t>(get_default_dtype()));
  take(get_num_threads());
  take(static_cast<int64_t>(policy.rank));
  take(static_cast<int64_t>(policy.outer));
  take(static_cast<int64_t>(policy.blow_up * 1024.0));
  take(backcompat::broadcast_warning());
  take(backcompat::pointwise_1d());
  take(thread_modes.grad);
  for (const Tensor& input : inputs) {
    take(static_cast<int64_t>(input.dtype()));
    take(input.dim());
    for (const int64_t size : input.sizes()) take(size);
    for (const int64_t stride : input.strides()) take(stride);
  }
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
    {
      const std::lock_guard own(lock);
      for (const Entry& entry : entries)
        if (is_signature(entry.signature, inputs)) return entry.graph;
    }
    auto graph = std::make_shared<const fusion::Graph>(function, inputs);
    std::vector<int64_t> signature;
    for_each_word(inputs, [&](int64_t word) { signature.push_back(word); });
    const std::lock_guard own(lock);
    entries.push_front({std::move(signature), graph});
    if (entries.size() > kMostGraphs) entries.pop_back();
    return graph;
  }

  static bool is_signature(const std::vector<int64_t>& signature, const List<Tensor>& inputs) {
    auto expected = signature.begin();
    bool is_same = true;
    for_each_word(inputs,
                  [&](int64_t word) { is_same = is_same && expected != signature.end() && *expected++ == word; });
    return is_same && expected == signature.end();
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
