// autograd: steps of gradient descent. Names, defaults and errors are those of torch::optim; the options of a step may
// be changed between steps. Limits for gradients: clip_grad_norm_ in tenon/autograd.h.
#pragma once
#include "tenon/list.h"
#include "tenon/tensor.h"

namespace tenon::optim {

/// What is optimized. Errors "optimizer got an empty parameter list", "can't optimize a non-leaf Tensor".
class TENON_API Parameters {
 public:
  explicit Parameters(List<Tensor> tensors);
  /// Those that were given.
  const List<Tensor>& parameters() const noexcept { return tensors_; }
  /// Removes all gradients, or with `set_to_none` = false fills them with 0.
  void zero_grad(bool set_to_none = true) const;

 private:
  List<Tensor> tensors_;
};

/// The arguments of torch.optim.SGD.
struct SGDOptions {
  double lr = 1e-3, momentum = 0, dampening = 0, weight_decay = 0;
  bool nesterov = false, maximize = false;
};
/// p -= lr * g, where g may be the running sum of gradients (momentum).
/// https://docs.pytorch.org/docs/stable/generated/torch.optim.SGD.html
class TENON_API SGD : public Parameters {
 public:
  /// Errors "Invalid learning rate: -1", "Nesterov momentum requires a momentum and zero dampening" and others.
  explicit SGD(List<Tensor> parameters, const SGDOptions& options = {});
  /// Parameters without a gradient stay as they are.
  void step();

  SGDOptions options;

 private:
  Tensor with_momentum(Tensor& sum, const Tensor& gradient) const;
  List<Tensor> sums_;  // undefined until the first step
};

/// The arguments of torch.optim.Adam.
struct AdamOptions {
  double lr = 1e-3, beta1 = 0.9, beta2 = 0.999, eps = 1e-8, weight_decay = 0;
  bool amsgrad = false, maximize = false;
  bool decoupled_weight_decay = false;  // as AdamW has it, whose weight_decay is 0.01 by default
};
/// Gradient descent by running means of gradients and of their squares.
/// https://docs.pytorch.org/docs/stable/generated/torch.optim.Adam.html
class TENON_API Adam : public Parameters {
 public:
  /// Errors "Invalid learning rate: -1", "Invalid beta parameter at index 0: 1" and others.
  explicit Adam(List<Tensor> parameters, const AdamOptions& options = {});
  /// Parameters without a gradient stay as they are.
  void step();

  AdamOptions options;

 private:
  struct State {
    double steps = 0;
    Tensor mean, square, largest;
  };
  void step_of(Tensor parameter, State& state) const;
  List<State> states_;
};

}  // namespace tenon::optim
