// autograd: where gradients end. Takes a gradient; adds it to the leaf's.
#pragma once
#include "autograd/meta.h"

namespace tenon::autograd {

/// The node of a leaf. Both live as long as either is referred to: they count references in one place, the leaf's.
class AccumulateGrad final : public NodeImpl {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  void apply(const Tensor* grads, Tensor* out) override;
  const char* name() const noexcept override { return "AccumulateGrad"; }
  TensorImpl* leaf() const noexcept { return leaf_; }
  Tensor variable() const noexcept {
    leaf_->references.fetch_add(1, std::memory_order_relaxed);
    return Tensor(leaf_);
  }

 private:
  TensorImpl* leaf_;
};

/// Whether nobody else can see what is written into `tensor`.
bool is_owned_alone(const Tensor& tensor) noexcept;

}  // namespace tenon::autograd
