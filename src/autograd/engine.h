// autograd: takes roots with their gradients; runs ready nodes, the latest made first, and sums what meets.
#pragma once
#include <unordered_map>

#include "autograd/accumulate.h"
#include "base/small_vector.h"

namespace tenon::autograd {

/// A gradient that is asked for instead of being summed into a leaf.
struct Capture {
  NodeImpl* node;
  int32_t input;
  Tensor gradient;
};

/// A list for a short time; few values need no memory.
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

/// A gradient to be kept when the run has succeeded: what a slot held before, and what it is to hold then.
struct KeptGradient {
  std::shared_ptr<GradSlot> owner;  // null: a leaf's, which the graph holds
  GradSlot* slot;
  Tensor gradient;
  bool in_place = false;  // the slot's tensor stays and is given the elements of `after`
  Tensor before = {}, after = {};
  uint32_t version = 0;  // of `before`

  void compute();
  /// False where another thread has changed the slot since.
  bool commit() noexcept;
};

/// Room for what hooks are called with when the leaves have their gradients.
struct HooksAfter {
  bool any = false;
  std::vector<HookList<LeafHook>::Entry> of_leaf;
  std::vector<HookList<NodeHook>::Entry> of_node;
  Tensors gradients;
};

/// One run of the engine, on the thread that asked for it. What it changes of tensors it changes at the end, when
/// nothing can fail any more: of an Error on the way, no `grad` knows.
class GraphTask {
 public:
  GraphTask(bool keep_graph, bool create_graph) noexcept : keep_graph_(keep_graph), create_graph_(create_graph) {}
  ~GraphTask();
  GraphTask(const GraphTask&) = delete;
  GraphTask& operator=(const GraphTask&) = delete;

  /// Limits the run to what leads to the captures and `accumulators`.
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
  std::vector<std::pair<const NodeImpl*, std::size_t>> asked_;  // the captures by node, sorted
  std::vector<NodeImpl*> accumulators_;                         // sorted
  SmallVector<AccumulateGrad*, 16> arrived_;                    // leaves whose gradient is complete
  std::vector<KeptGradient> kept_;
  AccumulateGrad* unsure_ = nullptr;  // the leaf whose addition may fail: it comes first
  HooksAfter hooks_after_;
  SmallVector<NodeImpl*, 16> claimed_;
  SmallVector<NodeImpl*, 16> ready_;  // a heap
  SmallVector<NodeImpl*, 16> ready_leaves_;
  // Notes about nodes that another run (a second thread, a backward inside a hook) is using.
  std::unique_ptr<std::unordered_map<NodeImpl*, TaskState>> aside_;
};

/// A gradient as code from outside gets it, which may write to it. A gradient that repeats has stride 0 on its way
/// through the graph; in PyTorch only that of a sum has.
Tensor with_own_elements(const Tensor& gradient);

/// PyTorch's validate_outputs: every gradient gets its input's shape (summed down where it is expandable to it), dtype
/// and device, or an Error says why it cannot.
void validate_outputs(NodeImpl* node, Tensor* grads);

}  // namespace tenon::autograd
