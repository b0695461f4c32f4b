// autograd: where gradients end. Takes a gradient; adds it to the leaf's.
#pragma once
#include "autograd/meta.h"

namespace tenon::autograd {

/// The node of a leaf. It owns the leaf; the leaf knows it as long as some graph does.
class AccumulateGrad final : public NodeImpl {
 public:
  explicit AccumulateGrad(const Tensor& variable);
  ~AccumulateGrad() override;
  void apply(const Tensor* grads, Tensor* out) override;
  const char* name() const noexcept override { return "AccumulateGrad"; }
  bool is_accumulator() const noexcept override { return true; }
  const Tensor& variable() const noexcept { return variable_; }

 private:
  Tensor variable_;
};

/// Whether nobody else can see what is written into `tensor`.
bool is_owned_alone(const Tensor& tensor) noexcept;

}  // namespace tenon::autograd
