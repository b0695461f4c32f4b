// autograd: gradients, hooks, custom functions and numerical checks of gradients. Ops record the graph themselves
// (tenon/tensor.h, tenon/ops.h).
#pragma once
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>

#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon {

// --- modes: per thread, for the life of a guard. https://docs.pytorch.org/docs/stable/notes/autograd.html#grad-modes

/// Whether this thread records the graph.
TENON_API bool is_grad_enabled() noexcept;
/// Whether this thread is in inference mode.
TENON_API bool is_inference_mode_enabled() noexcept;

/// Switches recording of the graph on or off.
class TENON_API SetGradEnabled {
 public:
  explicit SetGradEnabled(bool enabled) noexcept;
  ~SetGradEnabled();
  SetGradEnabled(const SetGradEnabled&) = delete;
  SetGradEnabled& operator=(const SetGradEnabled&) = delete;

 private:
  bool previous_;
};
/// Switches recording off.
struct NoGrad : SetGradEnabled {
  NoGrad() noexcept : SetGradEnabled(false) {}
};
/// Switches recording on, inside of NoGrad.
struct EnableGrad : SetGradEnabled {
  EnableGrad() noexcept : SetGradEnabled(true) {}
};
/// Records nothing. Tensors made under this guard can never become part of a graph.
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

/// Inputs, results and gradients; an undefined tensor stands for none.
using Tensors = List<Tensor>;

// --- hooks

/// Removes its hook on request.
class TENON_API HookHandle {
 public:
  HookHandle() = default;
  HookHandle(std::weak_ptr<void> list, uint64_t id, void (*remover)(void* list, uint64_t id)) noexcept
      : list_(std::move(list)), id_(id), remover_(remover) {}
  /// A second call does nothing.
  void remove();

 private:
  std::weak_ptr<void> list_;
  uint64_t id_ = 0;
  void (*remover_)(void*, uint64_t) = nullptr;
};

/// Called with a gradient. Returns its replacement, or an undefined tensor to keep it.
class TensorHook : public std::function<Tensor(const Tensor&)> {
 public:
  using std::function<Tensor(const Tensor&)>::function;
};
/// Called with a leaf after its `grad` has changed.
class LeafHook : public std::function<void(const Tensor&)> {
 public:
  using std::function<void(const Tensor&)>::function;
};
/// Called before a node runs, with the gradients of its results. Returns replacements, or an empty list to keep them.
using NodePreHook = std::function<Tensors(const Tensors& grad_outputs)>;
/// Called after a node has run, with the gradients of its inputs and of its results. Returns replacements for those of
/// the inputs, or an empty list to keep them.
using NodeHook = std::function<Tensors(const Tensors& grad_inputs, const Tensors& grad_outputs)>;

// --- the graph

class NodeImpl;

/// A handle of a recorded operation. Copies share the node.
class TENON_API Node {
 public:
  Node() noexcept = default;
  /// Takes ownership of one reference.
  explicit Node(NodeImpl* impl) noexcept : impl_(impl) {}
  Node(const Node& other) noexcept;
  Node(Node&& other) noexcept : impl_(std::exchange(other.impl_, nullptr)) {}
  Node& operator=(Node other) noexcept {
    std::swap(impl_, other.impl_);
    return *this;
  }
  ~Node();

  /// False for a default-constructed handle, as of leaves.
  bool defined() const noexcept { return impl_ != nullptr; }
  /// Whether both handles are the same node.
  bool is(const Node& other) const noexcept { return impl_ == other.impl_; }
  /// Never null. Throws Error if the handle is undefined.
  NodeImpl* impl() const {
    if (!impl_) fail_undefined();
    return impl_;
  }
  /// Gives up ownership: the caller must release the reference.
  NodeImpl* give_up() noexcept { return std::exchange(impl_, nullptr); }
  /// PyTorch's name of the node, such as "AddBackward0".
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
/// A node that gets a gradient, and as the gradient of which of its results.
struct Node::Edge {
  Node node;
  int64_t input_nr;
};

/// What backward keeps and records.
struct BackwardOptions {
  std::optional<bool> retain_graph = std::nullopt;  // unset: same as create_graph
  bool create_graph = false;  // record the backward pass, so that the gradients can be differentiated
};
/// Adds the gradients of `tensors`, weighted by `gradients`, to the `grad` of all leaves, or of `inputs` only. For
/// tensors of one element `gradients` may be empty or hold undefined tensors. Throws the errors of Tensor::backward and
/// "Mismatch in shape: grad_output[0] has a shape of ...".
/// https://docs.pytorch.org/docs/stable/generated/torch.autograd.backward.html
TENON_API void backward(const Tensors& tensors, const Tensors& gradients = {}, const BackwardOptions& options = {});
TENON_API void backward(const Tensors& tensors, const Tensors& gradients, const BackwardOptions& options,
                        const Tensors& inputs);

/// The same, and what inputs without gradients get.
struct GradOptions : BackwardOptions {
  bool allow_unused = false;       // an input outside the graph gets an undefined gradient instead of an Error
  bool materialize_grads = false;  // zeros instead of undefined gradients
};
/// The gradients of `outputs` with respect to `inputs`; no `grad` changes. Error "One of the differentiated Tensors
/// does not require grad", "... appears to not have been used in the graph. Set allow_unused=True ...".
/// https://docs.pytorch.org/docs/stable/generated/torch.autograd.grad.html
TENON_API Tensors grad(const Tensors& outputs, const Tensors& inputs, const Tensors& grad_outputs = {},
                       const GradOptions& options = {});

/// When on, a custom function must return gradients of its inputs' shapes; when off, they are summed to those shapes.
/// Per process; off by default, as in PyTorch.
TENON_API void set_strict_shapes(bool strict) noexcept;
TENON_API bool strict_shapes() noexcept;

// --- custom functions

struct FunctionState;

/// State that a custom function's forward passes to its backward. Lives as long as the graph.
/// https://docs.pytorch.org/docs/stable/notes/extending.html
class TENON_API Context {
 public:
  explicit Context(std::shared_ptr<FunctionState> state) noexcept : state_(std::move(state)) {}
  /// Saves inputs and outputs of forward that backward reads.
  void save_for_backward(Tensors tensors);
  /// Throws Error if one was changed in place since, or if the graph is freed.
  Tensors saved_tensors() const;
  /// Saves any other value that backward needs.
  template <class T>
  void save(T value) {
    set_other(std::make_shared<T>(std::move(value)));
  }
  template <class T>
  const T& saved() const {
    return *static_cast<const T*>(other());
  }
  /// Throws IndexError if forward had no such input.
  bool needs_input_grad(int64_t input) const;
  /// Declares the inputs that forward changes in place and returns.
  void mark_dirty(const Tensors& inputs);
  void mark_non_differentiable(const Tensors& outputs);
  /// false: backward gets undefined gradients as they are, not as zeros.
  void set_materialize_grads(bool materialize);
  /// Declares that the result of backward cannot be differentiated again.
  void set_once_differentiable();
  /// The node of this call. Throws Error if the graph is gone.
  Node node() const;

 private:
  void set_other(std::shared_ptr<void> value);
  const void* other() const;
  std::shared_ptr<FunctionState> state_;
};

/// The callbacks of a custom function, as `Function::apply` passes them on.
struct FunctionCalls {
  const char* name;  // of its node
  std::function<Tensors(Context&, const Tensors& inputs)> forward;
  Tensors (*backward)(Context&, const Tensors& grads);
};
/// Calls a custom function and records its node.
TENON_API Tensors apply_function(const FunctionCalls& calls, const Tensors& inputs);

/// Base of custom functions:
///
///   struct Cube : autograd::Function<Cube> {
///     static constexpr const char* name = "CubeBackward";
///     static Tensors forward(Context& ctx, const Tensors& inputs) { ... }
/// static Tensors backward(Context& ctx, const Tensors& grads) { ... } // a gradient for each input; undefined: none
///   };
///   Tensor y = Cube::apply({x})[0];
template <class Self>
struct Function {
  /// Calls `forward` and records a node that calls `backward`.
  static Tensors apply(const Tensors& inputs) {
    return apply_function({Self::name, &Self::forward, &Self::backward}, inputs);
  }
};

// --- checks

/// The step of the differences, and the tolerances for what they give.
struct GradcheckOptions {
  double eps = 1e-6;
  double atol = 1e-5;
  double rtol = 1e-3;
};
/// Its text shows the numerical and the analytical Jacobian.
class TENON_API GradcheckError : public Error {
 public:
  using Error::Error;
  ~GradcheckError() override;
};
/// A function whose gradients are checked.
using Differentiable = std::function<Tensors(const Tensors& inputs)>;
/// Compares the gradients of `function` at `inputs` (float64) with finite differences. Returns true; GradcheckError
/// "Jacobian mismatch for output 0 with respect to input 0,...", ValueError when no input requires grad.
/// https://docs.pytorch.org/docs/stable/generated/torch.autograd.gradcheck.gradcheck.html
TENON_API bool gradcheck(const Differentiable& function, const Tensors& inputs, const GradcheckOptions& options = {});
/// The same for second derivatives, weighted by random numbers.
TENON_API bool gradgradcheck(const Differentiable& function, const Tensors& inputs,
                             const GradcheckOptions& options = {});

// --- Gradients of several parameters, limited together. Parameters without a gradient do not count.

/// The norm of order `norm_type` of all elements of all tensors: a 0-dim tensor.
TENON_API Tensor get_total_norm(const Tensors& tensors, double norm_type = 2);
/// Multiplies all gradients by max_norm / total_norm if that is below 1.
TENON_API void clip_grads_with_norm_(const Tensors& parameters, double max_norm, const Tensor& total_norm);
/// The same with the total norm of the gradients, which is returned. Error "The total norm of order 2 for gradients
/// from `parameters` is non-finite, so it cannot be clipped. ..." if asked for.
/// https://docs.pytorch.org/docs/stable/generated/torch.nn.utils.clip_grad_norm_.html
TENON_API double clip_grad_norm_(const Tensors& parameters, double max_norm, double norm_type = 2,
                                 bool error_if_nonfinite = false);
/// Limits every element of the gradients to [-clip_value, clip_value].
TENON_API void clip_grad_value_(const Tensors& parameters, double clip_value);

/// While a guard lives, ops of this thread remember where they were called. If backward fails, or gives a NaN
/// (`check_nan`), the Error names the op that caused it.
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
