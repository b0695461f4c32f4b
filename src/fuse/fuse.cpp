#include "tenon/fuse.h"

#include <algorithm>
#include <deque>
#include <mutex>
#include <vector>

#include "dispatch/differentiate.h"
#include "fuse/backward.h"
#include "fuse/graph.h"
#include "tenon/autograd.h"
#include "tenon/policy.h"
#include "tenon/threads.h"

namespace tenon {
namespace {

// Traces of one function that are kept: those of its latest layouts.
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

/// What is made of a function, once for each signature of its arguments; the latest are kept.
template <class Made>
class Kept {
 public:
  /// `for_each(take)` gives the signature's words.
  template <class ForEach, class Make>
  std::shared_ptr<const Made> get(const ForEach& for_each, const Make& make) {
    {
      const std::lock_guard own(lock_);
      for (const Entry& entry : entries_)
        if (is_signature(entry.signature, for_each)) return entry.made;
    }
    Entry entry{{}, make()};
    for_each([&](int64_t word) { entry.signature.push_back(word); });
    const std::lock_guard own(lock_);
    entries_.push_front(std::move(entry));
    const auto made = entries_.front().made;
    if (entries_.size() > kMostGraphs) entries_.pop_back();
    return made;
  }

 private:
  struct Entry {
    std::vector<int64_t> signature;
    std::shared_ptr<const Made> made;
  };
  template <class ForEach>
  static bool is_signature(const std::vector<int64_t>& signature, const ForEach& for_each) {
    auto expected = signature.begin();
    bool is_same = true;
    for_each([&](int64_t word) { is_same = is_same && expected != signature.end() && *expected++ == word; });
    return is_same && expected == signature.end();
  }

  std::mutex lock_;
  std::deque<Entry> entries_;
};

}  // namespace

struct Fused::State {
  State(Function given, Keep what) : function(std::move(given)), keep(what) {}

  std::shared_ptr<const fusion::Graph> graph_for(const List<Tensor>& inputs) {
    return graphs.get([&](const auto& take) { for_each_word(inputs, take); },
                      [&] { return std::make_shared<const fusion::Graph>(function, inputs); });
  }
  /// Of recorded arguments; null: the function is called as it is.
  std::shared_ptr<const fusion::Backward> backward_for(const List<Tensor>& inputs) {
    auto backward = known_backward(inputs);
    return backward && backward->can_run(inputs) ? backward : nullptr;
  }
  std::shared_ptr<const fusion::Backward> known_backward(const List<Tensor>& inputs) {
    const auto for_each = [&](const auto& take) {
      for_each_word(inputs, take);
      for (const Tensor& input : inputs) take(input.requires_grad());
    };
    return backwards.get(for_each, [&] { return fusion::Backward::make(function, inputs, keep); });
  }

  Function function;
  Keep keep;
  Kept<fusion::Graph> graphs;
  Kept<fusion::Backward> backwards;
};

Fused::Fused(Function function, Keep keep) : state_(std::make_shared<State>(std::move(function), keep)) {}

List<Tensor> Fused::operator()(const List<Tensor>& inputs) const {
  if (any_is_meta(inputs) || thread_modes.traced) return state_->function(inputs);
  if (any_is_recorded(inputs)) {
    const auto backward = state_->backward_for(inputs);
    return backward ? fusion::Backward::call(backward, inputs) : state_->function(inputs);
  }
  const auto graph = state_->graph_for(inputs);
  return graph->can_run(inputs) ? graph->run(inputs) : state_->function(inputs);
}

uint64_t Fused::prepare(const List<Tensor>& inputs) const {
  if (any_is_meta(inputs) || thread_modes.traced) return 0;
  if (any_is_recorded(inputs)) {
    if (!state_->backward_for(inputs)) return 0;
    const NoGrad unrecorded;
    return prepare(inputs);
  }
  const auto graph = state_->graph_for(inputs);
  return graph->can_run(inputs) ? graph->number() : 0;
}

fusion::Prepared fusion::Prepared::make(const Fused& fused, const List<Tensor>& inputs) {
  if (any_is_meta(inputs) || thread_modes.traced || any_is_recorded(inputs)) return {fused.prepare(inputs), nullptr};
  auto graph = fused.state_->graph_for(inputs);
  if (!graph->can_run(inputs)) return {0, nullptr};
  return {graph->number(), std::move(graph)};
}

int Fused::passes(const List<Tensor>& inputs) const { return state_->graph_for(inputs)->passes(); }
std::string Fused::explain(const List<Tensor>& inputs) const { return state_->graph_for(inputs)->explain(); }

}  // namespace tenon
