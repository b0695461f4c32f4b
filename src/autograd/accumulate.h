// autograd: where gradients end. Takes a gradient; adds it to the leaf's.
#pragma once
#include "autograd/meta.h"

namespace tenon::autograd {

/// The node of a leaf. Both live as long as either is referred to: they count references in one place, the leaf's.
class AccumulateGrad final : public NodeImpl {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  /// The engine calls prepare and add.
  void apply(const Tensor*, Tensor*) override {}
  /// How a gradient will be added. `unsure`: the addition may fail, before it changes anything.
  enum class Accumulation : uint8_t { first, plain, unsure };
  /// Takes the memory that `add` needs.
  Accumulation prepare(Tensor& gradient) const;
  void add(Tensor& gradient, bool is_first) const;
  GradSlot& grad() const noexcept { return leaf_->meta()->grad(); }
  LeafHooks* hooks() const noexcept { return leaf_->meta()->hooks.load(std::memory_order_acquire); }
  const char* name() const noexcept override { return "AccumulateGrad"; }
  TensorImpl* leaf() const noexcept { return leaf_; }
  Tensor variable() const noexcept {
    leaf_->references.fetch_add(1, std::memory_order_relaxed);
    return Tensor(leaf_);
  }

 private:
  TensorImpl* leaf_;
};

/// Whether the leaf still has the sizes, dtype and device that the accumulator was made for.
bool sums_into(const NodeImpl& accumulator, const TensorImpl& leaf) noexcept;
/// Whether nobody else can see what is written into `tensor`.
bool is_owned_alone(const Tensor& tensor);

}  // namespace tenon::autograd
