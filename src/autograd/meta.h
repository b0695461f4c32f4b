// autograd: a tensor's autograd metadata. Takes a tensor; gives its edge into the graph.
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

/// What a tensor had before set_data: storages that views still use, and accumulators for its former sizes, dtype or
/// device, which graphs may still reach.
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
  std::atomic<autograd::NodeImpl*> accumulator{nullptr};  // of a leaf; owned
  autograd::GradSlot own_grad;
  std::shared_ptr<autograd::GradSlot> retained;  // for retain_grad on a tensor that is not a leaf
  std::atomic<LeafHooks*> hooks{nullptr};        // owned
  std::unique_ptr<autograd::FormerParts> former;
  AutogradMeta* next_dead = nullptr;
  int32_t output_nr = 0;
  bool requires_grad = false;
  ForkSpinLock lock;  // protects hooks and retained; of a base also its views' histories while they are recomputed

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
/// Whether the tensor has a node. A view's node may be outdated, or not computed yet.
inline bool has_node(const TensorImpl* impl) noexcept {
  return impl->meta() && impl->meta()->grad_fn.load(std::memory_order_relaxed);
}
/// The node that computed a tensor; null for leaves. For a view whose base was written to, it is computed again.
NodeImpl* grad_fn_of(const Tensor& tensor);
/// An edge that owns a reference; null if the tensor does not require grad.
Edge gradient_edge(const Tensor& tensor);
/// The accumulator of a leaf, with a reference; null if there is none and `make` is false. A leaf whose sizes, dtype or
/// device have changed gets a new one.
NodeImpl* accumulator_of(const Tensor& leaf, bool make);
/// Makes `node` the grad_fn of `tensor`.
void set_history(const Tensor& tensor, Node node, int32_t output_nr = 0);
/// The same in two steps, for tensors that other handles may share. The first may fail and changes nothing visible; the
/// second returns the former node.
void prepare_history(const Tensor& tensor, NodeImpl* node, int32_t output_nr);
Node commit_history(const Tensor& tensor, Node node, int32_t output_nr) noexcept;
/// Adds `result` to the node's results and makes the node its grad_fn.
inline void attach(const Tensor& result, Node node) {
  node.impl()->add_input(result);
  set_history(result, std::move(node));
}

/// The new history of a tensor that is written in place; for a view also that of its base. Everything that may fail is
/// done by the constructor, before the write; nothing after the write can fail.
class InplaceHistory {
 public:
  /// `node` has the derivative of the write. The tensor is its result `output_nr`, or else becomes the next result.
  InplaceHistory(const Tensor& self, Node node, std::optional<int32_t> output_nr = {});
  InplaceHistory(const InplaceHistory&) = delete;
  InplaceHistory& operator=(const InplaceHistory&) = delete;
  void commit() noexcept;

 private:
  Tensor self_, base_;
  Node node_, base_node_;
  int32_t output_nr_ = 0;
};
/// How an operand of an in-place op on `self` is saved. An operand that the write changes is saved without its history,
/// because backward refuses it anyway; except a view made under no_grad, whose history gives the error text.
SavedTensor::Role role_beside(const Tensor& self, const Tensor& operand);
/// Makes `slot` keep the gradient of the node's result `output_nr`.
void retain_from(NodeImpl* node, const std::shared_ptr<GradSlot>& slot, int32_t output_nr);
/// "Exp" of "ExpBackward0", "Clamp1" of "ClampBackward1": the name of a node in error texts.
std::string operation_name(std::string node_name);
/// The Error of an in-place write to a view that was made under no_grad; `indirect`: the write was to its base.
[[noreturn]] void fail_view_mode(const Tensor& view, bool indirect);
/// Checks an in-place write. `recorded`: it becomes part of the graph.
void check_inplace(const Tensor& self, bool recorded);

/// Anomaly mode's callback for the new node of a recorded call.
struct AnomalyMode {
  bool enabled = false;
  bool check_nan = true;
};
extern constinit thread_local AnomalyMode anomaly_mode [[gnu::tls_model("initial-exec")]];

}  // namespace autograd
}  // namespace tenon
