// autograd: nodes and edges. A node is kept alive by the edges that lead to it. It is allocated from recycled blocks
// and holds its edges and the engine's state inline, so a small graph needs no other allocation.
#pragma once
#include <atomic>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/fork.h"
#include "tenon/autograd.h"
#include "tensor/recycle.h"

namespace tenon::autograd {

class GraphTask;

/// Sizes, dtype and device of a result, which its gradient must have.
struct InputMeta {
  Dims sizes;
  Dtype dtype = float32;
  Device device = Device::cpu;

  InputMeta() = default;
  explicit InputMeta(const Tensor& tensor)
      : sizes(tensor.impl()->sizes), dtype(tensor.dtype()), device(tensor.device()) {}
};

using SpinLock = std::lock_guard<ForkSpinLock>;

/// The destination of a gradient: input `input` of a node, which is result `input` of its operation. Owns a reference.
struct Edge {
  NodeImpl* node = nullptr;
  int32_t input = 0;

  Edge() noexcept = default;
  /// Takes ownership of a reference.
  Edge(NodeImpl* target, int32_t at) noexcept : node(target), input(at) {}
  Edge(Edge&& other) noexcept : node(std::exchange(other.node, nullptr)), input(other.input) {}
  Edge& operator=(Edge&& other) noexcept {
    std::swap(node, other.node);
    std::swap(input, other.input);
    return *this;
  }
  ~Edge();
  Edge copy() const noexcept;
};

/// Hooks in the order they were added. Threads may add and remove hooks while others run them.
template <class Hook>
class HookList {
 public:
  struct Entry {
    uint64_t id;
    std::shared_ptr<const Hook> hook;
  };
  /// A copy to iterate over: a hook may remove itself.
  std::vector<Entry> entries() const {
    std::vector<Entry> list;
    copy_to(list);
    return list;
  }
  /// The same; allocates nothing if the list's capacity suffices.
  void copy_to(std::vector<Entry>& list) const {
    list.clear();  // before locking: destroys hooks
    const SpinLock lock(lock_);
    list.insert(list.end(), entries_.begin(), entries_.end());
  }
  std::size_t size() const noexcept {
    const SpinLock lock(lock_);
    return entries_.size();
  }
  /// Calls `visit` under the lock, without allocating. `visit` must not run user code.
  template <class Visit>
  void for_each(const Visit& visit) const noexcept {
    const SpinLock lock(lock_);
    for (const Entry& entry : entries_) visit(*entry.hook);
  }
  void add(uint64_t id, Hook hook) {
    Entry entry{id, std::make_shared<const Hook>(std::move(hook))};
    const SpinLock lock(lock_);
    entries_.push_back(std::move(entry));
  }
  void clear() noexcept {
    std::vector<Entry> dropped;  // destroyed after unlocking
    const SpinLock lock(lock_);
    entries_.swap(dropped);
  }
  static void remove(void* self, uint64_t id) noexcept {
    HookList& list = *static_cast<HookList*>(self);
    std::shared_ptr<const Hook> dropped;  // destroyed after unlocking
    const SpinLock lock(list.lock_);
    for (std::size_t i = 0; i < list.entries_.size(); ++i) {
      if (list.entries_[i].id != id) continue;
      dropped = std::move(list.entries_[i].hook);
      list.entries_.erase(list.entries_.begin() + static_cast<std::ptrdiff_t>(i));
      return;
    }
  }

 private:
  mutable ForkSpinLock lock_;
  std::vector<Entry> entries_;
};
/// What PyTorch calls a tensor of that kind: "torch.FloatTensor", "CPUComplexFloatType".
std::string class_name(const Tensor& tensor);

uint64_t next_hook_id() noexcept;
template <class Hook>
HookHandle add_hook(const std::shared_ptr<HookList<Hook>>& list, Hook hook) {
  const uint64_t id = next_hook_id();
  list->add(id, std::move(hook));
  return HookHandle(list, id, &HookList<Hook>::remove);
}

/// A tensor's `grad`. Thread-safe, because threads may share a leaf.
class GradSlot {
 public:
  Tensor get() const {
    const SpinLock lock(lock_);
    return grad_;
  }
  /// Swaps the slot's grad and `grad`.
  void exchange(Tensor& grad) noexcept {
    const SpinLock lock(lock_);
    swap(grad);
  }
  /// The same if the slot's grad is `expected`.
  bool replace(const Tensor& expected, Tensor& by) noexcept {
    const SpinLock lock(lock_);
    if (!grad_.is(expected)) return false;
    swap(by);
    return true;
  }
  /// Whether `add` can succeed, unless another thread changes the slot.
  bool takes(const Tensor& gradient) const;
  /// Adds in place. Returns false if the slot is empty.
  bool add(const Tensor& gradient);
  /// Copies the elements of `by` to the slot's grad, if that is `expected` with version `version`.
  bool overwrite(const Tensor& expected, uint32_t version, const Tensor& by) noexcept;
  /// Reads without the lock: another thread may change it at any time.
  bool is_empty() const noexcept { return !is_defined_.load(std::memory_order_relaxed); }

 private:
  void swap(Tensor& grad) noexcept {
    std::swap(grad_, grad);
    is_defined_.store(grad_.defined(), std::memory_order_relaxed);
  }

  mutable ForkSpinLock lock_;
  std::atomic<bool> is_defined_{false};
  Tensor grad_;
};

/// Members that few nodes need. The node's lock protects hooks and retained results.
struct NodeExtras {
  struct OfResult {
    int32_t input;
    std::shared_ptr<HookList<TensorHook>> hooks;
  };
  /// A result that keeps its gradient while its tensor lives.
  struct Retained {
    int32_t input;
    std::weak_ptr<GradSlot> slot;
  };
  std::vector<OfResult> tensor_hooks;
  std::vector<Retained> retained;
  std::shared_ptr<HookList<NodePreHook>> pre_hooks;
  std::shared_ptr<HookList<NodeHook>> hooks;
  std::string forward_call;       // anomaly mode
  std::unique_ptr<Edge[]> edges;  // if there are more than kInlineEdges
  std::vector<InputMeta> metas;   // for all results but the first
};

/// The engine's state of one node during one run.
struct TaskState {
  int32_t dependencies = 0;
  bool execute = true;
  bool needed = true;     // the run needs this node's gradient or one beyond it
  bool is_first = false;  // of a leaf: it has no gradient yet
  Tensor first;           // the gradient of the first result so far
  std::unique_ptr<Tensor[]> others;

  void reset() noexcept {
    dependencies = 0;
    execute = needed = true;
    is_first = false;
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

  /// Computes the gradients of the inputs, one for each edge, from those of the results (some may be undefined). A null
  /// edge needs none.
  virtual void apply(const Tensor* grads, Tensor* out) = 0;
  virtual const char* name() const noexcept = 0;
  /// Frees saved tensors. A later apply that needs them throws.
  virtual void release_saved() noexcept {}
  /// Whether it is a custom function, whose gradients may have any number and shapes.
  virtual bool is_custom() const noexcept { return false; }

  /// The sequence number of leaves' nodes: they run as soon as they are ready.
  static constexpr uint64_t kAccumulates = UINT64_MAX;
  bool is_accumulator() const noexcept { return sequence == kAccumulates; }
  int edge_count() const noexcept { return edge_count_; }
  const Edge& edge(int i) const noexcept {
    return edge_count_ <= kInlineEdges ? inline_edges_[i] : extras_if_any()->edges[static_cast<std::size_t>(i)];
  }
  bool has_edge(int i) const noexcept { return edge(i).node != nullptr; }
  /// Takes ownership of the edges.
  void set_edges(Edge* edges, int count);
  const InputMeta& input(int i) const noexcept {
    return i == 0 ? meta_ : extras_if_any()->metas[static_cast<std::size_t>(i) - 1];
  }
  int input_count() const noexcept { return input_count_; }
  void add_input(const Tensor& result);
  /// Creates the extras if there are none. If other threads know the node, hold its lock.
  NodeExtras& extras();
  NodeExtras* extras_if_any() const noexcept { return extras_.load(std::memory_order_acquire); }
  /// Protects saved tensors and extras: other threads may run, hook and free the same node.
  ForkSpinLock& lock() const noexcept { return lock_; }

  std::atomic<uint64_t>* references = &own_references_;
  uint64_t sequence;                       // nodes made later run first
  std::atomic<GraphTask*> owner{nullptr};  // the run that uses `state`
  TaskState state;
  NodeImpl* next_dead = nullptr;

 private:
  std::atomic<uint64_t> own_references_{1};
  int32_t edge_count_ = 0;
  int32_t input_count_ = 0;
  Edge inline_edges_[kInlineEdges];
  InputMeta meta_;
  std::atomic<NodeExtras*> extras_{nullptr};  // owned
  mutable ForkSpinLock lock_;
};

inline void retain(NodeImpl* node) noexcept { node->references->fetch_add(1, std::memory_order_relaxed); }
void destroy_node(NodeImpl* node) noexcept;
inline void release(NodeImpl* node) noexcept {
  // The only owner needs no locked instruction.
  if (node->references->load(std::memory_order_acquire) == 1 ||
      node->references->fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroy_node(node);
}

inline Edge::~Edge() {
  if (node) release(node);
}
inline Edge Edge::copy() const noexcept {
  if (node) retain(node);
  return {node, input};
}

/// The sizes of an operand when its op was recorded. They are stored only if the edge's node has other sizes, after an
/// unrecorded in-place reshape (`with no_grad(): x.squeeze_()`).
class SavedSizes {
 public:
  SavedSizes() = default;
  SavedSizes(const Tensor& operand, const Edge& edge) {
    if (edge.node && !(edge.node->input(edge.input).sizes == operand.sizes()))
      own_ = std::make_unique<Dims>(operand.impl()->sizes);
  }
  bool differ() const noexcept { return own_ != nullptr; }
  SizesView of(const Edge& edge) const { return own_ ? SizesView(*own_) : edge.node->input(edge.input).sizes; }

 private:
  std::unique_ptr<Dims> own_;
};

/// Error "Trying to backward through the graph a second time (...)".
[[noreturn]] void fail_freed();

/// A tensor kept for backward.
class SavedTensor {
 public:
  /// The tensor's relation to the node that saves it. For the last two, history would be a reference cycle and is not
  /// saved.
  enum class Role : uint8_t {
    operand,
    result,  // the node computes it
    shared,  // an operand that is a view, or the base, of the tensor that the node writes to
  };

  SavedTensor() noexcept {}  // not `= default`: the compiler would clear four of them by one slow `rep stos`
  /// Throws Error for inference tensors.
  void save(const Tensor& tensor, Role role = Role::operand);
  /// The second step of saving the result of an in-place op, after the write. It cannot fail.
  void settle(const Tensor& tensor) noexcept;
  /// The argument for `check`. Call it under the node's lock: another thread may free the tensor.
  Tensor held() const noexcept { return tensor_; }
  Tensor take() noexcept { return std::exchange(tensor_, Tensor()); }
  /// Throws Error if the tensor was changed or detached in place since, or freed.
  Tensor check(Tensor held, NodeImpl* owner) const;
  Tensor unpack(NodeImpl* owner) const;
  /// For a number that a formula reads: it counts as saved and freed like a tensor, as in PyTorch.
  void free_number() noexcept { was_saved_ = true; }
  bool is_saved() const noexcept { return was_saved_; }

 private:
  Tensor tensor_;
  uint32_t version_;
  int16_t output_nr_;
  Role role_;
  bool is_view_;
  bool was_computed_;       // an operand with a node
  bool was_saved_ = false;  // if false, the other members are unset
};

}  // namespace tenon::autograd
