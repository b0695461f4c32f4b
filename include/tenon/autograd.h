// autograd: derivatives. Takes tensors that require grad; gives gradients, hooks on the way, functions of one's own and
// numerical checks. The operations themselves record what they need (tenon/tensor.h, tenon/ops.h).
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon {

// --- modes: per thread, for the life of a guard. https://docs.pytorch.org/docs/stable/notes/autograd.html#grad-modes

TENON_API bool is_grad_enabled() noexcept;
TENON_API bool is_inference_mode_enabled() noexcept;

/// Records operations, or does not.
class TENON_API SetGradEnabled {
 public:
  explicit SetGradEnabled(bool enabled) noexcept;
  ~SetGradEnabled();
  SetGradEnabled(const SetGradEnabled&) = delete;
  SetGradEnabled& operator=(const SetGradEnabled&) = delete;

 private:
  bool previous_;
};
struct NoGrad : SetGradEnabled {
  NoGrad() noexcept : SetGradEnabled(false) {}
};
struct EnableGrad : SetGradEnabled {
  EnableGrad() noexcept : SetGradEnabled(true) {}
};
/// Records nothing, and what is made meanwhile never takes part in a graph.
class TENON_API InferenceMode {
 public:
  explicit InferenceMode(bool enabled = true) noexcept;
  ~InferenceMode();
  InferenceMode(const InferenceMode&) = delete;
  InferenceMode& operator=(const InferenceMode&) = delete;

 private:
  bool inference_, grad_;
};

namespace autograd {

using Tensors = List<Tensor>;

// --- hooks

/// Takes a hook away again.
class TENON_API HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<void> list, uint64_t id, void (*remover)(void* list, uint64_t id)) noexcept
      : list_(std::move(list)), id_(id), remover_(remover) {}
  /// Does nothing the second time.
  void remove();

 private:
  std::weak_ptr<void> list_;
  uint64_t id_ = 0;
  void (*remover_)(void*, uint64_t) = nullptr;
};

/// Gets a gradient; gives the one to go on with, or an undefined tensor to leave it.
class TensorHook : public std::function<Tensor(const Tensor&)> {
 public:
  using std::function<Tensor(const Tensor&)>::function;
};
/// Gets a leaf whose `grad` has changed.
class LeafHook : public std::function<void(const Tensor&)> {
 public:
  using std::function<void(const Tensor&)>::function;
};
/// Before a node runs: gets the gradients of its results; gives others, or an empty list to leave them.
using NodePreHook = std::function<Tensors(const Tensors& grad_outputs)>;
/// After a node has run: gets the gradients of its inputs and of its results; gives others for the inputs, or an empty
/// list.
using NodeHook = std::function<Tensors(const Tensors& grad_inputs, const Tensors& grad_outputs)>;

// --- the graph

class NodeImpl;

/// An operation that was recorded. A handle: copies share the node.
class TENON_API Node {
 public:
  Node() noexcept = default;
  /// Takes over one reference.
  explicit Node(NodeImpl* impl) noexcept : impl_(impl) {}
  Node(const Node& other) noexcept;
  Node(Node&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Node& operator=(Node other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Node();

  bool defined() const noexcept { return impl_ != nullptr; }
  bool is(const Node& other) const noexcept { return impl_ == other.impl_; }
  /// Never null. Error where the handle is undefined.
  NodeImpl* impl() const {
    if (!impl_) fail_undefined();
    return impl_;
  }
  /// Hands this handle's reference over.
  NodeImpl* give_up() noexcept { return std::exchange(impl_, nullptr); }
  /// "AddBackward0": PyTorch's names.
  std::string name() const;
  struct Edge;
  /// Where the gradients of the inputs go; undefined nodes for inputs that need none.
  List<Edge> next_functions() const;
  HookHandle register_hook(NodeHook hook) const;
  HookHandle register_prehook(NodePreHook hook) const;

 private:
  [[noreturn]] static void fail_undefined();

  NodeImpl* impl_ = nullptr;
};
struct Node::Edge {
  Node node;
  int64_t input_nr;
};

struct BackwardOptions {
  std::optional<bool> retain_graph = std::nullopt;  // unset: as create_graph
  bool create_graph = false;                        // the gradients can be differentiated in turn
};
/// Adds the gradients of `tensors`, weighed by `gradients` (may be empty, or hold undefined tensors, for tensors of one
/// element), to the `grad` of all leaves, or of `inputs` alone. Error as Tensor::backward, and for shapes:
/// "Mismatch in shape: grad_output[0] has a shape of ...".
/// https://docs.pytorch.org/docs/stable/generated/torch.autograd.backward.html
TENON_API void backward(const Tensors& tensors, const Tensors& gradients = {}, const BackwardOptions& options = {});
TENON_API void backward(const Tensors& tensors, const Tensors& gradients, const BackwardOptions& options,
                        const Tensors& inputs);

struct GradOptions : BackwardOptions {
  bool allow_unused = false;       // undefined gradients for inputs that are not in the graph, instead of an Error
  bool materialize_grads = false;  // zeros instead of undefined ones
};
/// The gradients of `outputs` with respect to `inputs`; no `grad` changes. Error "One of the differentiated Tensors
/// does not require grad", "... appears to not have been used in the graph. Set allow_unused=True ...".
/// https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html
TENON_API Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs = {},
                       const GradOptions& options = {});

/// Makes it an Error that a custom function's gradient is summed to its input's shape, instead of letting it pass.
/// Per process; off, as in PyTorch.
TENON_API void set_strict_shapes(bool strict) noexcept;
TENON_API bool strict_shapes() noexcept;

// --- functions of one's own

struct FunctionState;

/// What a custom function's forward and backward share, as long as the graph lives.
/// https://docs.pytorch.org/docs/stable/notes/extending.html
class TENON_API Context {
 public:
  explicit Context(std::shared_ptr<FunctionState> state) noexcept : state_(std::move(state)) {}
  /// Inputs and outputs (of forward) that backward reads.
  void save_for_backward(Tensors tensors);
  /// Error where one was changed in place since, or where the graph is freed.
  Tensors saved_tensors() const;
  /// Numbers and whatever else backward needs.
  template <class T>
  void save(T value) {
    set_other(std::make_shared<T>(std::move(value)));
  }
  template <class T>
  const T& saved() const {
    return *static_cast<const T*>(other());
  }
  /// IndexError where forward had no such input.
  bool needs_input_grad(int64_t input) const;
  /// Inputs that forward changes in place and returns.
  void mark_dirty(const Tensors& inputs);
  void mark_non_differentiable(const Tensors& outputs);
  /// false: backward sees undefined gradients as such, not as zeros.
  void set_materialize_grads(bool materialize);
  /// The result of backward cannot be differentiated again.
  void set_once_differentiable();
  /// The operation that the call is recorded as. Error where the graph is gone.
  Node node() const;

 private:
  void set_other(std::shared_ptr<void> value);
  const void* other() const;
  std::shared_ptr<FunctionState> state_;
};

/// What `Function::apply` needs to know of a function.
struct FunctionCalls {
  const char* name;  // of its node
  std::function<Tensors(Context&, const Tensors& inputs)> forward;
  Tensors (*backward)(Context&, const Tensors& grads);
};
TENON_API Tensors apply_function(const FunctionCalls& calls, const Tensors& inputs);

/// Base of custom functions:
///
///   struct Cube : autograd::Function<Cube> {
///     static constexpr const char* name = "CubeBackward";
///     static Tensors forward(Context& ctx, const Tensors& inputs) { ... }
///     static Tensors backward(Context& ctx, const Tensors& grads) { ... }  // one gradient an input; undefined: none
///   };
///   Tensor y = Cube::apply({x})[0];
template <class Self>
struct Function {
  static Tensors apply(const Tensors& inputs) {
    return apply_function({Self::name, &Self::forward, &Self::backward}, inputs);
  }
};

// --- checks

struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};
/// Thrown with the numerical and the analytical Jacobian in the text.
class TENON_API GradcheckError : public Error {
 public:
  using Error::Error;
};
using Differentiable = std::function<Tensors(const Tensors& inputs)>;
/// Compares the gradients of `function` at `inputs` (float64) with finite differences. Returns true; GradcheckError
/// "Jacobian mismatch for output 0 with respect to input 0,...", ValueError when no input requires grad.
/// https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html
TENON_API bool gradcheck(const Differentiable& function, const Tensors& inputs, const GradcheckOptions& options = {});
/// The same for the gradients of the gradients, weighed by random numbers.
TENON_API bool gradgradcheck(const Differentiable& function, const Tensors& inputs,
                             const GradcheckOptions& options = {});

/// While one lives, on this thread: an operation notes where it was called, and an Error names the one whose gradient
/// went wrong, a NaN included (`check_nan`).
/// https://docs.pytorch.org/docs/stable/autograd.html#torch.autograd.set_detect_anomaly
class TENON_API DetectAnomaly {
 public:
  explicit DetectAnomaly(bool enabled = true, bool check_nan = true) noexcept;
  ~DetectAnomaly();
  DetectAnomaly(const DetectAnomaly&) = delete;
  DetectAnomaly& operator=(const DetectAnomaly&) = delete;

 private:
  bool enabled_, check_nan_;
};

}  // namespace autograd
}  // namespace tenon
