// autograd: what a tensor knows of its history. Takes a tensor; gives its edge into the graph.
#pragma once
#include <atomic>
#include <thread>

#include "autograd/node.h"
#include "tensor/history.h"

namespace tenon {

struct LeafHooks {
  std::shared_ptr<autograd::HookList<autograd::TensorHook>> before;
  std::shared_ptr<autograd::HookList<autograd::LeafHook>> after;
};

namespace autograd {

/// What a tensor held before it was given other data, for the views that look at it still.
class FormerStorages {
 public:
  FormerStorages() = default;
  FormerStorages(const FormerStorages&) = delete;
  FormerStorages& operator=(const FormerStorages&) = delete;
  ~FormerStorages();
  /// Takes over a reference.
  void add(Storage* storage) { storages_.push_back(storage); }

 private:
  std::vector<Storage*> storages_;
};

}  // namespace autograd

struct AutogradMeta {
  autograd::NodeImpl* grad_fn = nullptr;
  std::atomic<autograd::NodeImpl*> accumulator{nullptr};  // of a leaf, which owns it
  Tensor grad;
  std::unique_ptr<LeafHooks> hooks;
  std::unique_ptr<autograd::FormerStorages> former_storages;
  uint32_t view_version = 0;  // of a view: the storage's when grad_fn was found
  int32_t output_nr = 0;
  bool requires_grad = false;
  bool retains_grad = false;
  std::atomic_flag lock;  // of `grad`

  static void* operator new(std::size_t nbytes) { return recycle::allocate(static_cast<int64_t>(nbytes)); }
  static void operator delete(void* meta, std::size_t nbytes) noexcept {
    recycle::deallocate(meta, static_cast<int64_t>(nbytes));
  }
};

namespace autograd {

/// Holds a flag: threads that share nothing but a leaf meet here for a few instructions.
class SpinLock {
 public:
  explicit SpinLock(std::atomic_flag& flag) noexcept : flag_(flag) {
    while (flag_.test_and_set(std::memory_order_acquire)) std::this_thread::yield();
  }
  ~SpinLock() { flag_.clear(std::memory_order_release); }
  SpinLock(const SpinLock&) = delete;
  SpinLock& operator=(const SpinLock&) = delete;

 private:
  std::atomic_flag& flag_;
};

AutogradMeta& meta_of(const Tensor& tensor);
/// The node a tensor comes from; null for leaves. Of a view whose base was written to, found anew.
NodeImpl* grad_fn_of(const Tensor& tensor);
/// With a reference of its own; null where the tensor requires no grad.
Edge gradient_edge(const Tensor& tensor);
/// The node that sums gradients into a leaf, with a reference; null where there is none and none is made.
NodeImpl* accumulator_of(const Tensor& leaf, bool make);
/// Makes `node` the origin of `tensor` and takes over the reference.
void set_history(const Tensor& tensor, NodeImpl* node, int32_t output_nr = 0);
/// The same for a tensor that was written to in place: of a view, the base's history is rebased.
void rebase_history(const Tensor& tensor, NodeImpl* node);
/// Makes `result` the next of the node's results and the node its origin.
inline void attach(const Tensor& result, Node node) {
  node.impl()->add_input(result);
  set_history(result, node.give_up());
}
/// The same for a tensor that the node's operation has written to.
inline void attach_inplace(const Tensor& self, Node node) {
  node.impl()->add_input(self);
  rebase_history(self, node.give_up());
}
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
