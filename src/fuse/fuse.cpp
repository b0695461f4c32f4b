#include "tenon/fuse.h"

#include <algorithm>
#include <deque>
#include <map>
#include <mutex>
#include <vector>

#include "dispatch/differentiate.h"
#include "fuse/graph.h"
#include "tenon/autograd.h"
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

}  // namespace

namespace {

/// The derivative of a function for some layouts of its arguments: functions of the arguments and of the results'
/// gradients, one for each choice of results that have a gradient.
class Backward {
 public:
  Backward(Fused::Function function, const List<Tensor>& inputs) : function_(std::move(function)) {
    for (const Tensor& input : inputs) wanted_.push_back(input.requires_grad());
  }
  const std::vector<bool>& wanted() const { return wanted_; }
  const Fused& of(const std::vector<bool>& results) const;

  std::vector<bool> is_recorded;  // of each result
  std::vector<Dims> strides;      // of each result

 private:
  Fused::Function function_;
  std::vector<bool> wanted_;  // of each argument: its gradient
  mutable std::mutex lock_;
  mutable std::map<std::vector<bool>, Fused> functions_;
};

/// Stands for a gradient that is none.
Tensor no_gradient() { return zeros({0}, bool_); }
bool is_no_gradient(const Tensor& gradient) { return gradient.dtype() == bool_; }

/// The arguments as they are, or as leaves of a graph of their own.
List<Tensor> leaves_of(const List<Tensor>& inputs, const std::vector<bool>& wanted) {
  List<Tensor> leaves;
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    leaves.push_back(inputs[i]);
    if (wanted[i] && !inputs[i].requires_grad()) leaves[i] = inputs[i].detach().requires_grad_();
  }
  return leaves;
}

/// The gradients of `wanted` arguments, of arguments and then the gradients of some results.
List<Tensor> gradients_of(const Fused::Function& function, const std::vector<bool>& wanted,
                          const std::vector<bool>& of_results, const List<Tensor>& given) {
  const bool create_graph = thread_modes.grad;
  const List<Tensor> leaves = leaves_of(given, wanted);
  List<Tensor> results, outputs, gradients, inputs;
  {
    const EnableGrad recorded;
    results = function(leaves);
  }
  for (std::size_t i = 0; i < results.size(); ++i) {
    if (!of_results[i]) continue;
    gradients.push_back(given[leaves.size() + outputs.size()]);
    outputs.push_back(results[i]);
  }
  for (std::size_t i = 0; i < wanted.size(); ++i)
    if (wanted[i]) inputs.push_back(leaves[i]);
  autograd::GradOptions options;
  options.create_graph = create_graph;
  options.allow_unused = true;
  List<Tensor> found = autograd::grad(outputs, inputs, gradients, options);
  for (Tensor& gradient : found)
    if (!gradient.defined()) gradient = no_gradient();
  return found;
}

const Fused& Backward::of(const std::vector<bool>& results) const {
  const std::lock_guard own(lock_);
  const auto known = functions_.find(results);
  if (known != functions_.end()) return known->second;
  // Copies: the fused function may be gone when gradients are asked for.
  Fused fused([function = function_, wanted = wanted_, results](const List<Tensor>& given) {
    return gradients_of(function, wanted, results, given);
  });
  return functions_.emplace(results, std::move(fused)).first->second;
}

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
        if (is_signature(entry.signature, [&](const auto& take) { for_each_word(inputs, take); })) return entry.graph;
    }
    auto graph = std::make_shared<const fusion::Graph>(function, inputs);
    std::vector<int64_t> signature;
    for_each_word(inputs, [&](int64_t word) { signature.push_back(word); });
    const std::lock_guard own(lock);
    entries.push_front({std::move(signature), graph});
    if (entries.size() > kMostGraphs) entries.pop_back();
    return graph;
  }

  template <class ForEach>
  static bool is_signature(const std::vector<int64_t>& signature, const ForEach& for_each) {
    auto expected = signature.begin();
    bool is_same = true;
    for_each([&](int64_t word) { is_same = is_same && expected != signature.end() && *expected++ == word; });
    return is_same && expected == signature.end();
  }

  struct Recorded {
    std::vector<int64_t> signature;
    std::shared_ptr<const Backward> backward;  // null: the function is called as it is
  };

  /// Of recorded arguments; null: the function is called as it is.
  std::shared_ptr<const Backward> backward_for(const List<Tensor>& inputs) {
    const auto for_each = [&](const auto& take) {
      for_each_word(inputs, take);
      for (const Tensor& input : inputs) take(input.requires_grad());
    };
    {
      const std::lock_guard own(lock);
      for (const Recorded& entry : recorded)
        if (is_signature(entry.signature, for_each)) return entry.backward;
    }
    std::shared_ptr<const Backward> backward = make_backward(inputs);
    std::vector<int64_t> signature;
    for_each([&](int64_t word) { signature.push_back(word); });
    const std::lock_guard own(lock);
    recorded.push_front({std::move(signature), backward});
    if (recorded.size() > kMostGraphs) recorded.pop_back();
    return backward;
  }

  std::shared_ptr<const Backward> make_backward(const List<Tensor>& inputs) const {
    const auto backward = std::make_shared<Backward>(function, inputs);
    std::vector<bool>& is_recorded = backward->is_recorded;
    List<Tensor> results;
    const auto with_gradients = [&](const List<Tensor>& given) {
      const EnableGrad enabled;
      results = function(leaves_of(given, backward->wanted()));
      for (const Tensor& result : results) {
        is_recorded.push_back(result.requires_grad());
        backward->strides.push_back(result.strides().copy());
      }
      return results;
    };
    const NoGrad unrecorded;
    try {
      const fusion::GraphTrace trace = fusion::trace_graph(with_gradients, inputs);
      if (!fusion::is_cheap_to_repeat(trace)) return nullptr;
      // What the function reads besides its arguments may have changed when gradients are asked for, so the usual
      // gradients are traced now: of all results, and of each alone.
      prepare(*backward, is_recorded, inputs, results);
      const auto count = std::count(is_recorded.begin(), is_recorded.end(), true);
      for (std::size_t i = 0; i < is_recorded.size() && count > 1; ++i) {
        std::vector<bool> alone(is_recorded.size(), false);
        alone[i] = true;
        if (is_recorded[i]) prepare(*backward, alone, inputs, results);
      }
      return backward;
    } catch (const std::exception&) {
      return nullptr;  // the call as it is says what is wrong
    }
  }

  static void prepare(const Backward& backward, const std::vector<bool>& of_results, const List<Tensor>& inputs,
                      const List<Tensor>& results) {
    for (const bool is_constant : {false, true}) {
      List<Tensor> given;
      for (const Tensor& input : inputs) given.push_back(input.detach());
      for (std::size_t i = 0; i < results.size(); ++i)
        if (of_results[i]) given.push_back(gradient_like(results[i], is_constant));
      backward.of(of_results).prepare(given);
    }
  }

  /// A gradient of the two usual layouts: that of the result, and one element for all.
  static Tensor gradient_like(const Tensor& result, bool is_constant) {
    const Options options(result.dtype());
    return is_constant ? zeros({}, options).expand(result.sizes())
                       : empty_strided(result.sizes(), result.strides(), options);
  }

  Function function;
  std::mutex lock;
  std::deque<Entry> entries;  // the latest first
  std::deque<Recorded> recorded;
};

namespace {

/// A fused function in a graph: one node. Its derivative recomputes what it needs.
struct FusedNode : autograd::Function<FusedNode> {
  static constexpr const char* name = "FusedBackward";
  /// Only for the two usual layouts the derivative was traced in the forward call.
  static Tensor in_usual_layout(const Tensor& grad, SizesView strides) {
    const auto is_zero = [](int64_t stride) { return stride == 0; };
    if (thread_modes.grad || grad.strides() == strides) return grad;
    if (std::all_of(grad.strides().begin(), grad.strides().end(), is_zero)) return grad;
    Tensor copy = empty_strided(grad.sizes(), strides, Options(grad.dtype()));
    return copy.copy_(grad);
  }
  static List<Tensor> backward(autograd::Context& context, const List<Tensor>& grads) {
    const auto& backward = context.saved<std::shared_ptr<const Backward>>();
    List<Tensor> given = context.saved_tensors();
    std::vector<bool> of_results;
    for (std::size_t i = 0; i < grads.size(); ++i) {
      of_results.push_back(grads[i].defined());
      if (grads[i].defined()) given.push_back(in_usual_layout(grads[i], backward->strides[i]));
    }
    const List<Tensor> found = backward->of(of_results)(given);
    List<Tensor> gradients(backward->wanted().size());
    std::size_t next = 0;
    for (std::size_t i = 0; i < gradients.size(); ++i) {
      if (!backward->wanted()[i]) continue;
      const Tensor& gradient = found[next++];
      if (!is_no_gradient(gradient)) gradients[i] = gradient;
    }
    return gradients;
  }
};

List<Tensor> call_recorded(const Fused& fused, const std::shared_ptr<const Backward>& backward,
                           const List<Tensor>& inputs) {
  const auto forward = [&](autograd::Context& context, const List<Tensor>& given) {
    context.save_for_backward(given);
    context.save(backward);
    context.set_materialize_grads(false);
    List<Tensor> results = fused(given), constants;
    for (std::size_t i = 0; i < results.size(); ++i)
      if (!backward->is_recorded[i]) constants.push_back(results[i]);
    context.mark_non_differentiable(constants);
    return results;
  };
  return autograd::apply_function({FusedNode::name, forward, FusedNode::backward}, inputs);
}

}  // namespace

Fused::Fused(Function function) : state_(std::make_shared<State>(std::move(function))) {}

List<Tensor> Fused::operator()(const List<Tensor>& inputs) const {
  if (any_is_meta(inputs) || thread_modes.traced) return state_->function(inputs);
  if (any_is_recorded(inputs)) {
    const auto backward = state_->backward_for(inputs);
    return backward ? call_recorded(*this, backward, inputs) : state_->function(inputs);
  }
  const auto graph = state_->graph_for(inputs);
  return graph->can_run(inputs) ? graph->run(inputs) : state_->function(inputs);
}

const void* Fused::prepare(const List<Tensor>& inputs) const {
  if (any_is_meta(inputs) || thread_modes.traced) return nullptr;
  if (any_is_recorded(inputs)) {
    if (!state_->backward_for(inputs)) return nullptr;
    const NoGrad unrecorded;
    return prepare(inputs);
  }
  const auto graph = state_->graph_for(inputs);
  return graph->can_run(inputs) ? graph.get() : nullptr;
}

int Fused::passes(const List<Tensor>& inputs) const { return state_->graph_for(inputs)->passes(); }
std::string Fused::explain(const List<Tensor>& inputs) const { return state_->graph_for(inputs)->explain(); }

}  // namespace tenon
