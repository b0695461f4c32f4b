// autograd: the backward engine. Takes roots with their gradients; runs ready nodes, the newest first, and sums
// gradients that meet.
#pragma once
#include <unordered_map>

#include "autograd/accumulate.h"
#include "base/small_vector.h"

namespace tenon::autograd {

/// A gradient that the caller wants returned instead of added to a leaf.
struct Capture {
  NodeImpl* node;
  int32_t input;
  Tensor gradient;
};

/// A short-lived list; few values need no heap memory.
template <class T>
class ShortList {
 public:
  explicit ShortList(int64_t count) {
    if (count > kInline) many_ = std::make_unique<T[]>(static_cast<std::size_t>(count));
  }
  T* data() noexcept { return many_ ? many_.get() : few_; }
  const T* data() const noexcept { return many_ ? many_.get() : few_; }

 private:
  static constexpr int64_t kInline = 3;
  T few_[kInline];
  std::unique_ptr<T[]> many_;
};
using GradList = ShortList<Tensor>;
using EdgeList = ShortList<Edge>;

/// A gradient to store when the run has succeeded: the slot's value before and after.
struct KeptGradient {
  std::shared_ptr<GradSlot> owner;  // null: the slot of a leaf, which the graph keeps alive
  GradSlot* slot;
  Tensor gradient;
  bool in_place = false;  // the slot keeps its tensor, which gets the elements of `after`
  Tensor before = {}, after = {};
  uint32_t version = 0;  // the version of `before`

  void compute();
  /// Returns false if another thread has changed the slot since.
  bool commit() noexcept;
};

/// Memory, allocated early, for calling hooks after the leaves have their gradients.
struct HooksAfter {
  bool any = false;
  std::vector<HookList<LeafHook>::Entry> of_leaf;
  std::vector<HookList<NodeHook>::Entry> of_node;
  Tensors gradients;
};

/// One run of the engine, on the calling thread. It changes tensors at the end only, when nothing can fail any more, so
/// an Error leaves every `grad` unchanged.
class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph) noexcept : keep_graph_(keep_graph), create_graph_(create_graph) {}
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Limits the run to nodes from which captures or `accumulators` are reached.
  void limit_to(std::vector<Capture>* captures, const std::vector<NodeImpl*>& accumulators);
  void run(const Edge* roots, const Tensor* gradients, int64_t count);

 private:
  struct Frame {
    NodeImpl* node;
    int32_t next;
  };
  TaskState& state_of(NodeImpl* node);
  bool claim(NodeImpl* node);
  bool is_asked_for(const NodeImpl* node) const;
  void prepare(NodeImpl* root);
  void leave(NodeImpl* node, NodeImpl* parent);
  void push(NodeImpl* node);
  NodeImpl* pop();
  void deliver(NodeImpl* node, int32_t input, Tensor gradient);
  void evaluate(NodeImpl* node);
  void evaluate(NodeImpl* node, Tensor* grads, bool execute);
  void apply(NodeImpl* node, Tensor* grads);
  void capture(const NodeImpl* node, const Tensor* grads);
  void keep_retained(NodeImpl* node, const Tensor* grads);
  void arrive(AccumulateGrad* leaf, Tensor* grads);
  void prepare_gradients();
  void prepare_hooks();
  void commit();
  void call_hooks_after(AccumulateGrad* leaf);

  bool keep_graph_, create_graph_;
  bool limited_ = false;
  std::vector<Capture>* captures_ = nullptr;
  std::vector<std::pair<const NodeImpl*, std::size_t>> asked_;  // the captures, sorted by node
  std::vector<NodeImpl*> accumulators_;                         // sorted
  SmallVector<AccumulateGrad*, 16> arrived_;                    // leaves whose gradient is complete
  std::vector<KeptGradient> kept_;
  AccumulateGrad* unsure_ = nullptr;  // the leaf whose addition may fail; it is done first
  HooksAfter hooks_after_;
  SmallVector<NodeImpl*, 16> claimed_;
  SmallVector<NodeImpl*, 16> ready_;  // a heap
  SmallVector<NodeImpl*, 16> ready_leaves_;
  // The states of nodes that another run (a second thread, a backward inside a hook) is using.
  std::unique_ptr<std::unordered_map<NodeImpl*, TaskState>> busy_states_;
};

/// A gradient for hooks and custom functions, which may write to it: copied if it has strides of 0. Inside the graph,
/// gradients often have strides of 0; in PyTorch only that of a sum has.
Tensor with_own_elements(const Tensor& gradient);

/// PyTorch's validate_outputs: gives every gradient its input's shape (by summing), dtype and device, or throws Error.
void validate_outputs(NodeImpl* node, Tensor* grads);

}  // namespace tenon::autograd
