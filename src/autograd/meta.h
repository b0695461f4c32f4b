// autograd: what a tensor knows of its history. Takes a tensor; gives its edge into the graph.
#pragma once
#include <atomic>

#include "autograd/node.h"
#include "tensor/history.h"

namespace tenon {

struct LeafHooks {
  std::shared_ptr<autograd::HookList<autograd::TensorHook>> before;
  std::shared_ptr<autograd::HookList<autograd::LeafHook>> after;
};

namespace autograd {

/// What a tensor had before it was given other data: storages that views still look at, and the accumulators for
/// other sizes, dtypes or devices, which graphs may still lead to.
struct FormerParts {
  struct Viewed {
    Storage* storage;  // null of meta tensors
    uint64_t views;
  };
  std::vector<Viewed> storages;
  std::vector<std::unique_ptr<NodeImpl>> accumulators;

  FormerParts() = default;
  FormerParts(const FormerParts&) = delete;
  FormerParts& operator=(const FormerParts&) = delete;
  ~FormerParts();
};

}  // namespace autograd

struct AutogradMeta {
  std::atomic<autograd::NodeImpl*> grad_fn{nullptr};      // owned
  std::atomic<autograd::NodeImpl*> accumulator{nullptr};  // of a leaf, which owns it
  autograd::GradSlot own_grad;
  std::shared_ptr<autograd::GradSlot> retained;  // of a tensor that is no leaf and keeps its gradient
  std::atomic<LeafHooks*> hooks{nullptr};        // owned
  std::unique_ptr<autograd::FormerParts> former;
  AutogradMeta* next_dead = nullptr;
  int32_t output_nr = 0;
  bool requires_grad = false;
  ForkSpinLock lock;  // of hooks, retained and, where a view's history is found anew, of its base

  AutogradMeta() = default;
  AutogradMeta(const AutogradMeta&) = delete;
  AutogradMeta& operator=(const AutogradMeta&) = delete;
  ~AutogradMeta();
  autograd::GradSlot& grad() noexcept { return retained ? *retained : own_grad; }

  static void* operator new(std::size_t nbytes) { return recycle::allocate(static_cast<int64_t>(nbytes)); }
  static void operator delete(void* meta, std::size_t nbytes) noexcept {
    recycle::deallocate(meta, static_cast<int64_t>(nbytes));
  }
};

namespace autograd {

AutogradMeta& meta_of(const Tensor& tensor);
/// Whether a node is known; that of a view may be an older one, or still to be found.
inline bool has_node(const TensorImpl* impl) noexcept {
  return impl->meta() && impl->meta()->grad_fn.load(std::memory_order_relaxed);
}
/// The node a tensor comes from; null for leaves. Of a view whose base was written to, found anew.
NodeImpl* grad_fn_of(const Tensor& tensor);
/// With a reference of its own; null where the tensor requires no grad.
Edge gradient_edge(const Tensor& tensor);
/// The node that sums gradients into a leaf, with a reference; null where there is none and none is made. Made anew
/// where the leaf was given other sizes, another dtype or device since.
NodeImpl* accumulator_of(const Tensor& leaf, bool make);
/// Makes `node` the origin of `tensor`.
void set_history(const Tensor& tensor, Node node, int32_t output_nr = 0);
/// The same in two steps, for tensors that others may hold: the first may fail and changes nothing they see, the second
/// gives what was there before.
void prepare_history(const Tensor& tensor, NodeImpl* node, int32_t output_nr);
Node commit_history(const Tensor& tensor, Node node, int32_t output_nr) noexcept;
/// Makes `result` the next of the node's results and the node its origin.
inline void attach(const Tensor& result, Node node) {
  node.impl()->add_input(result);
  set_history(result, std::move(node));
}

/// The new history of a tensor that is written to in place; of a view, its base's, too. What may fail is done before
/// the write, by the constructor; what follows the write cannot fail.
class InplaceHistory {
 public:
  /// `node` knows the derivative of the write. With `output_nr`, the tensor is that one of its results; else it becomes
  /// the next.
  InplaceHistory(const Tensor& self, Node node, std::optional<int32_t> output_nr = {});
  InplaceHistory(const InplaceHistory&) = delete;
  InplaceHistory& operator=(const InplaceHistory&) = delete;
  void commit() noexcept;

 private:
  Tensor self_, base_;
  Node node_, base_node_;
  int32_t output_nr_ = 0;
};
/// Of an operand of a write to `self`. Backward refuses one that the write changes, without looking at its history; but
/// of a view that was made under no_grad, whose history says why.
SavedTensor::Role role_beside(const Tensor& self, const Tensor& operand);
/// Makes `slot` keep the gradient of that result of the node.
void retain_from(NodeImpl* node, const std::shared_ptr<GradSlot>& slot, int32_t output_nr);
/// "Exp" of "ExpBackward0", "Clamp1" of "ClampBackward1": what texts call a node.
std::string operation_name(std::string node_name);
/// Error of a view that was made where nothing was recorded and is written to; `indirect`: its base was.
[[noreturn]] void fail_view_mode(const Tensor& view, bool indirect);
/// Before something is written in place: `recorded` where the write takes part in the graph.
void check_inplace(const Tensor& self, bool recorded);

/// The new node of a recorded call is noted under anomaly mode.
struct AnomalyMode {
  bool enabled = false;
  bool check_nan = true;
};
extern constinit thread_local AnomalyMode anomaly_mode [[gnu::tls_model("initial-exec")]];

}  // namespace autograd
}  // namespace tenon
