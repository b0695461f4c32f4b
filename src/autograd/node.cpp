#include "autograd/node.h"

#include "autograd/accumulate.h"

namespace tenon::autograd {
namespace {

constinit thread_local uint64_t next_sequence [[gnu::tls_model("initial-exec")]] = 0;
constinit thread_local NodeImpl* dead [[gnu::tls_model("initial-exec")]] = nullptr;
constinit thread_local bool destroying [[gnu::tls_model("initial-exec")]] = false;

}  // namespace

std::string operation_name(std::string name) {
  const std::string word = "Backward";
  const std::size_t at = name.rfind(word), digits = at + word.size();
  if (at == std::string::npos || name.find_first_not_of("0123456789", digits) != std::string::npos) return name;
  name.erase(at, word.size());
  if (name.substr(at) == "0") name.erase(at);
  return name;
}

namespace {

/// `origin`: the name of the node that computed the tensor; null for a leaf.
[[noreturn]] void fail_version(const Tensor& tensor, uint32_t now, uint32_t saved, const char* origin,
                               int32_t output_nr) {
  std::string text =
      "one of the variables needed for gradient computation has been modified by an inplace operation: [" +
      class_name(tensor) + " " + to_string(tensor.sizes()) + "]";
  if (origin) text += ", which is output " + std::to_string(output_nr) + " of " + operation_name(origin) + ",";
  text += " is at version " + std::to_string(now) + "; expected version " + std::to_string(saved) + " instead. Hint: ";
  text += anomaly_mode.enabled
              ? "the backtrace further above shows the operation that failed to compute its gradient. The variable in "
                "question was changed in there or anywhere later. Good luck!"
              : "enable anomaly detection to find the operation that failed to compute its gradient, with "
                "torch.autograd.set_detect_anomaly(True, check_nan=False).";
  throw Error(text);
}

}  // namespace

std::string class_name(const Tensor& tensor) {
  const std::string type = scalar_type_name(tensor.dtype());
  if (tensor.is_meta()) return "Meta" + type + "Type";
  // PyTorch's first eight dtypes have a class of tensors, the later ones only a type.
  const bool is_late = is_complex(tensor.dtype()) || is_wide_unsigned(tensor.dtype()) || tensor.dtype() == bool_ ||
                       tensor.dtype() == bfloat16;
  return is_late ? "CPU" + type + "Type" : "torch." + type + "Tensor";
}

uint64_t next_hook_id() noexcept {
  static std::atomic<uint64_t> next{1};
  return next.fetch_add(1, std::memory_order_relaxed);
}

NodeImpl::NodeImpl() noexcept : sequence(next_sequence++) {}

NodeImpl::~NodeImpl() { delete extras_if_any(); }

NodeExtras& NodeImpl::extras() {
  if (!extras_if_any()) extras_.store(new NodeExtras, std::memory_order_release);
  return *extras_if_any();
}

void NodeImpl::set_edges(Edge* edges, int count) {
  Edge* into = inline_edges_;
  if (count > kInlineEdges) {
    extras().edges = std::make_unique<Edge[]>(static_cast<std::size_t>(count));
    into = extras().edges.get();
  }
  edge_count_ = count;
  for (int i = 0; i < count; ++i) into[i] = std::move(edges[i]);
}

void NodeImpl::add_input(const Tensor& result) {
  if (input_count_ > 0) {
    extras().metas.emplace_back(result);
    ++input_count_;
    return;
  }
  input_count_ = 1;
  meta_.sizes = result.impl()->sizes;
  meta_.dtype = result.dtype();
  meta_.device = result.device();
}

/// Not recursive, because chains may be long: nodes that become unused meanwhile are added to a queue.
void destroy_node(NodeImpl* node) noexcept {
  if (node->is_accumulator()) return destroy_impl(static_cast<AccumulateGrad*>(node)->leaf());
  node->next_dead = dead;
  dead = node;
  if (destroying) return;
  destroying = true;
  while (dead) delete std::exchange(dead, dead->next_dead);
  destroying = false;
}

void SavedTensor::save(const Tensor& tensor, Role role) {
  const TensorImpl* impl = tensor.impl();
  if (impl->inference)
    throw Error(
        "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
        "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
        "in autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.");
  role_ = role;
  is_view_ = role != Role::operand && tensor.is_view();
  was_computed_ = role == Role::operand && has_node(impl);
  tensor_ = role == Role::operand ? tensor : tensor.detach();
  was_saved_ = true;
  settle(tensor);
}

void SavedTensor::settle(const Tensor& tensor) noexcept {
  const TensorImpl* impl = tensor.impl();
  version_ = impl->storage ? impl->storage->version.load(std::memory_order_relaxed) : 0;
  output_nr_ = static_cast<int16_t>(role_ == Role::result && impl->meta() ? impl->meta()->output_nr : 0);
}

void fail_freed() {
  throw Error(
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
      "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
      "saved tensors after calling backward.");
}

Tensor SavedTensor::unpack(NodeImpl* owner) const {
  Tensor tensor;
  {
    const SpinLock lock(owner->lock());
    tensor = held();
  }
  return check(std::move(tensor), owner);
}

Tensor SavedTensor::check(Tensor held, NodeImpl* owner) const {
  if (!held.defined()) {
    if (!was_saved_) return {};
    fail_freed();
  }
  if (was_computed_ && !has_node(held.impl()))
    throw Error(
        "Trying to use a saved tensor that has been detached in-place, i.e. with .detach_().This is not supported, "
        "please use out-of-place `.detach()` instead");
  const uint32_t now = held.version();
  if (now != version_) {
    const NodeImpl* node = role_ == Role::operand ? grad_fn_of(held) : owner;
    // After a write through a view, the base's node is CopySlices, and each view's node takes a part of it.
    const char* origin = is_view_                    ? "AsStridedBackward0"
                         : role_ == Role::shared     ? "torch::autograd::CopySlices"
                         : !is_inexact(held.dtype()) ? nullptr  // the integers beside a result, such as sort's indices
                         : node                      ? node->name()
                                                     : nullptr;
    fail_version(held, now, version_, origin, output_nr_);
  }
  if (role_ != Role::result || !thread_modes.grad || !is_inexact(held.dtype())) return held;
  Tensor result = held.detach();
  retain(owner);
  set_history(result, Node(owner), output_nr_);
  return result;
}

// --- the public handle

Node::Node(const Node& other) noexcept : impl_(other.impl_) {
  if (impl_) retain(impl_);
}
Node::~Node() {
  if (impl_) release(impl_);
}

void Node::fail_undefined() { throw Error("Expected a proper Node but got an undefined one"); }

std::string Node::name() const { return impl()->name(); }

List<Node::Edge> Node::next_functions() const {
  List<Edge> edges;
  for (int i = 0; i < impl()->edge_count(); ++i) {
    NodeImpl* node = impl_->edge(i).node;
    if (node) retain(node);
    edges.push_back({Node(node), impl_->edge(i).input});
  }
  return edges;
}

namespace {

/// The list `place` of a node's extras; it is created if there is none.
template <class List>
std::shared_ptr<List> list_of(NodeImpl* node, std::shared_ptr<List> NodeExtras::*place) {
  const SpinLock lock(node->lock());
  std::shared_ptr<List>& list = node->extras().*place;
  if (!list) list = std::make_shared<List>();
  return list;
}

template <class Hook>
void check_callable(const Hook& hook) {
  if (!hook) throw TypeError("a hook must be callable, and an empty function is not");
}

}  // namespace

HookHandle Node::register_hook(NodeHook hook) const {
  check_callable(hook);
  return add_hook(list_of(impl(), &NodeExtras::hooks), std::move(hook));
}
HookHandle Node::register_prehook(NodePreHook hook) const {
  check_callable(hook);
  return add_hook(list_of(impl(), &NodeExtras::pre_hooks), std::move(hook));
}

void HookHandle::remove() {
  if (const std::shared_ptr<void> list = list_.lock()) remover_(list.get(), id_);
  list_.reset();
}

}  // namespace tenon::autograd
