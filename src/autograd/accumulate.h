// autograd: the node at the end of a graph, which adds a gradient to its leaf's `grad`.
#pragma once
#include "autograd/meta.h"

namespace tenon::autograd {

/// The node of a leaf. Node and leaf share the leaf's reference count, so each keeps the other alive.
class AccumulateGrad final : public NodeImpl {
 public:
  explicit AccumulateGrad(const Tensor& leaf);
  /// Unused: the engine calls prepare and add instead.
  void apply(const Tensor*, Tensor*) override {}
  /// How a gradient will be added. `unsure`: the addition may fail, but then changes nothing.
  enum class Accumulation : uint8_t { first, plain, unsure };
  /// Allocates what `add` needs.
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
/// Whether no other tensor shares the elements of `tensor`.
bool is_owned_alone(const Tensor& tensor);

}  // namespace tenon::autograd
