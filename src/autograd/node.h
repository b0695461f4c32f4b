// autograd: nodes and edges. Takes what an operation saves; gives a graph whose nodes are counted by their edges.
// A node's memory comes from the recycled blocks, its edges and the engine's state lie inside it: a small graph costs
// no other allocation.
#pragma once
#include <atomic>
#include <memory>
#include <string>
#include <vector>

#include "tenon/autograd.h"
#include "tensor/recycle.h"

namespace tenon::autograd {

class GraphTask;

/// What is known of a result before its gradient comes.
struct InputMeta {
  Dims sizes;
  Dtype dtype = float32;
  Device device = Device::cpu;

  InputMeta() = default;
  explicit InputMeta(const Tensor& tensor)
      : sizes(tensor.impl()->sizes), dtype(tensor.dtype()), device(tensor.device()) {}
};

/// Where a gradient goes: result `input` of the forward operation is that input of its node.
struct Edge {
  NodeImpl* node = nullptr;
  int32_t input = 0;
};

template <class Hook>
struct HookList {
  std::vector<std::pair<uint64_t, Hook>> hooks;

  static void remove(void* self, uint64_t id) {
    std::erase_if(static_cast<HookList*>(self)->hooks, [id](const auto& entry) { return entry.first == id; });
  }
};
uint64_t next_hook_id() noexcept;
template <class Hook>
HookHandle add_hook(std::shared_ptr<HookList<Hook>>& list, Hook hook) {
  if (!list) list = std::make_shared<HookList<Hook>>();
  const uint64_t id = next_hook_id();
  list->hooks.emplace_back(id, std::move(hook));
  return HookHandle(list, id, &HookList<Hook>::remove);
}

/// What few nodes have.
struct NodeExtras {
  struct OfResult {
    int32_t input;
    std::shared_ptr<HookList<TensorHook>> hooks;
  };
  std::vector<OfResult> tensor_hooks;
  std::vector<std::pair<int32_t, TensorImpl*>> retained;  // results that keep their gradient; not owned
  std::shared_ptr<HookList<NodePreHook>> pre_hooks;
  std::shared_ptr<HookList<NodeHook>> hooks;
  std::string forward_call;       // anomaly mode
  std::unique_ptr<Edge[]> edges;  // where there are more than the node has room for
  std::vector<InputMeta> metas;   // of all results but the first
};

/// The engine's notes about one node during one run.
struct TaskState {
  int32_t dependencies = 0;
  bool execute = true;
  bool needed = true;  // the node or one behind it was asked for
  Tensor first;        // the gradient of the first result so far
  std::unique_ptr<Tensor[]> others;

  void reset() noexcept {
    dependencies = 0;
    execute = needed = true;
    first = Tensor();
    others.reset();
  }
};

class NodeImpl {
 public:
  static constexpr int kInlineEdges = 3;

  NodeImpl() noexcept;
  virtual ~NodeImpl();
  NodeImpl(const NodeImpl&) = delete;
  NodeImpl& operator=(const NodeImpl&) = delete;
  static void* operator new(std::size_t nbytes) { return recycle::allocate(static_cast<int64_t>(nbytes)); }
  static void operator delete(void* node, std::size_t nbytes) noexcept {
    recycle::deallocate(node, static_cast<int64_t>(nbytes));
  }

  /// Gradients of the results (some may be undefined) to gradients of the inputs, one an edge. Where the edge is null
  /// nothing is asked for.
  virtual void apply(const Tensor* grads, Tensor* out) = 0;
  virtual const char* name() const noexcept = 0;
  /// Frees what was saved; a later apply fails where it needs it.
  virtual void release_saved() noexcept {}
  /// A custom function: the number and shapes of its gradients are anybody's.
  virtual bool is_custom() const noexcept { return false; }

  /// The nodes of leaves run as soon as they are ready.
  static constexpr uint64_t kAccumulates = UINT64_MAX;
  bool is_accumulator() const noexcept { return sequence == kAccumulates; }
  int edge_count() const noexcept { return edge_count_; }
  const Edge& edge(int i) const noexcept { return edge_count_ <= kInlineEdges ? inline_edges_[i] : extras_->edges[i]; }
  bool has_edge(int i) const noexcept { return edge(i).node != nullptr; }
  /// Takes over the edges' references.
  void set_edges(const Edge* edges, int count);
  const InputMeta& input(int i) const noexcept {
    return i == 0 ? meta_ : extras_->metas[static_cast<std::size_t>(i) - 1];
  }
  int input_count() const noexcept { return input_count_; }
  void add_input(const Tensor& result);
  NodeExtras& extras() {
    if (!extras_) extras_ = std::make_unique<NodeExtras>();
    return *extras_;
  }
  const std::unique_ptr<NodeExtras>& extras_if_any() const noexcept { return extras_; }

  std::atomic<uint32_t>* references = &own_references_;
  uint64_t sequence;                       // nodes made later run first
  std::atomic<GraphTask*> owner{nullptr};  // the run that `state` belongs to
  TaskState state;
  NodeImpl* next_dead = nullptr;

 private:
  std::atomic<uint32_t> own_references_{1};
  int32_t edge_count_ = 0;
  int32_t input_count_ = 0;
  Edge inline_edges_[kInlineEdges];
  InputMeta meta_;
  std::unique_ptr<NodeExtras> extras_;
};

inline void retain(NodeImpl* node) noexcept { node->references->fetch_add(1, std::memory_order_relaxed); }
void destroy_node(NodeImpl* node) noexcept;
inline void release(NodeImpl* node) noexcept {
  // The only owner needs no locked instruction.
  if (node->references->load(std::memory_order_acquire) == 1 ||
      node->references->fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroy_node(node);
}

/// A tensor kept for backward.
class SavedTensor {
 public:
  SavedTensor() noexcept {}  // not `= default`: four of them would be cleared by one slow string instruction
  /// `owner`: the node that computes it, if it is a result. Error for inference tensors.
  void save(const Tensor& tensor, bool is_result);
  /// Error where it was changed in place since, or freed.
  Tensor unpack(NodeImpl* owner) const;
  void reset() noexcept { tensor_ = Tensor(); }
  bool is_saved() const noexcept { return was_saved_; }

 private:
  Tensor tensor_;
  uint32_t version_;
  int16_t output_nr_;
  bool is_result_;
  bool is_view_;
  bool was_saved_ = false;  // the others mean nothing before
};

}  // namespace tenon::autograd
