// Nodes of reductions and matrix products.
#include "autograd/derivative.h"
#include "autograd/meta.h"
#include "autograd/note.h"
#include "autograd/recording.h"
#include "ops/row.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {

Tensor with_reduced_dims(const Tensor& reduced, SizesView mask, bool keepdim) {
  if (keepdim || reduced.dim() == mask.size()) return reduced;
  Tensor result = reduced;
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) result = result.unsqueeze(dim);
  return result;
}

namespace {

/// The gradient expanded to all elements that were added: a view.
Tensor spread(const Tensor& grad, SizesView mask, bool keepdim, SizesView sizes) {
  if (thread_modes.grad) return with_reduced_dims(grad, mask, keepdim).expand(sizes);
  Dims strides(mask.size(), 0);
  if (grad.dim() == 0) return new_alias(grad, sizes, strides, grad.storage_offset());
  int64_t at = grad.dim(), step = 1;  // the stride that unsqueeze gives a new dim
  for (int64_t dim = mask.size() - 1; dim >= 0; --dim) {
    const bool kept = !mask[dim] || keepdim;
    if (kept) --at;
    if (!mask[dim] || sizes[dim] == 1) strides[dim] = kept ? grad.strides()[at] : step;
    step = (Checked(sizes[dim]) * strides[dim]).value_or(1);
  }
  return new_alias(grad, sizes, strides, grad.storage_offset());
}

class ReduceNode : public NodeImpl {
 public:
  ReduceNode(Op op, const Tensor& self, SizesView dims, bool keepdim)
      : op_(op), keepdim_(keepdim), all_(dims.data() == nullptr && !keepdim), mask_(reduced_mask(dims, self.dim())) {
    Edge edge = gradient_edge(self);
    sizes_ = SavedSizes(self, edge);
    set_edges(&edge, 1);
  }

 protected:
  SizesView sizes() const { return sizes_.of(edge(0)); }

  Op op_;
  bool keepdim_, all_;
  Dims mask_;
  SavedSizes sizes_;
};

/// The node of sum and mean, which saves nothing.
class SumNode final : public ReduceNode {
 public:
  using ReduceNode::ReduceNode;
  const char* name() const noexcept override {
    if (op_ == Op::sum) return all_ ? "SumBackward0" : "SumBackward1";
    return all_ ? "MeanBackward0" : "MeanBackward1";
  }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined() || !has_edge(0)) return;
    const Tensor grad = op_ == Op::mean ? grads[0] / Scalar(count()) : grads[0];
    out[0] = spread(grad, mask_, keepdim_, sizes());
  }

 private:
  int64_t count() const {
    Checked count = 1;
    for (int64_t dim = 0; dim < mask_.size(); ++dim)
      if (mask_[dim]) count *= sizes()[dim];
    return count.value_or(1);  // overflows only if the gradient has no elements
  }
};

/// The base of nodes that save the operand and the result.
class SavingNode : public ReduceNode {
 public:
  using ReduceNode::ReduceNode;
  void save(const Tensor& self, const Tensor& result) {
    self_.save(self);
    result_.save(result, SavedTensor::Role::result);
  }
  void release_saved() noexcept override {
    Tensor dropped[2];  // destroyed after unlocking
    const SpinLock own(lock());
    dropped[0] = self_.take();
    dropped[1] = result_.take();
  }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    // PyTorch's order of checks, if both were changed in place.
    const Tensor self = self_.unpack(this), result = with_reduced_dims(result_.unpack(this), mask_, keepdim_);
    out[0] = gradient(with_reduced_dims(grads[0], mask_, keepdim_), self, result);
  }

 protected:
  virtual Tensor gradient(const Tensor& grad, const Tensor& self, const Tensor& result) const = 0;
  /// The reduced dims; empty for a 0-dim tensor.
  Dims reduced_dims() const {
    Dims dims;
    for (int64_t dim = 0; dim < mask_.size(); ++dim)
      if (mask_[dim]) dims.push_back(dim);
    return dims;
  }

 private:
  SavedTensor self_, result_;
};

/// The node of amax and amin: equal extremes share the gradient.
class ExtremeNode final : public SavingNode {
 public:
  using SavingNode::SavingNode;
  const char* name() const noexcept override { return row_of(op_).grad_fn; }

 protected:
  Tensor gradient(const Tensor& grad, const Tensor& self, const Tensor& result) const override {
    const Tensor ties = self == result;
    const Dims dims = reduced_dims();
    const Tensor count = dims.empty() ? ties.to(int64) : tenon::sum(ties, SizesView(dims), true);
    return grad * ties / count;
  }
};

/// The node of prod: the derivative is the product of the other elements.
class ProdNode final : public SavingNode {
 public:
  using SavingNode::SavingNode;
  const char* name() const noexcept override { return all_ ? "ProdBackward0" : "ProdBackward1"; }

 protected:
  Tensor gradient(const Tensor& grad, const Tensor& input, const Tensor& result) const override {
    const Tensor self = input.to(grad.dtype());  // the elements that were multiplied
    if (self.dim() == 0) return grad.clone();
    const Tensor zero = self == 0;
    if (self.is_meta() || !tenon::any(zero).item().as_bool()) return grad * conj(result / self);
    // With one zero, only that element has a nonzero derivative: the product of the others. `zeros` keeps second
    // derivatives of zero elements.
    const Dims dims = reduced_dims();
    const Tensor count = tenon::sum(zero, SizesView(dims), true);
    const Tensor zeros = tenon::sum(where(zero, self, Scalar(0)), SizesView(dims), true);
    const Tensor nonzero = where(zero, Scalar(1), self), others = tenon::prod(nonzero, SizesView(dims), true);
    const Tensor of_zero = where(count == 1, others, where(count == 2, (zeros - self) * others, Scalar(0)));
    const Tensor of_other = where(count == 0, others, where(count == 1, zeros * others, Scalar(0))) / nonzero;
    return grad * conj(where(zero, of_zero, of_other));
  }
};

}  // namespace
}  // namespace autograd

using namespace autograd;

Tensor recording::reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  const Tensor result = run_reduce(op, self, dims, keepdim, dtype);
  const bool sums = op == Op::sum || op == Op::mean;
  if (!is_inexact(result.dtype())) {
    if (sums || op == Op::prod)
      throw Error(std::string("Autograd not support dtype: ") + scalar_type_name(result.dtype()));
    return result;
  }
  SavingNode* saving = sums             ? nullptr
                       : op == Op::prod ? static_cast<SavingNode*>(new ProdNode(op, self, dims, keepdim))
                                        : new ExtremeNode(op, self, dims, keepdim);
  NodeImpl* node = sums ? static_cast<NodeImpl*>(new SumNode(op, self, dims, keepdim)) : saving;
  Node handle(node);
  note_call(*node, row_of(op).name, self);
  attach(result, std::move(handle));
  if (saving) saving->save(self, result);
  return result;
}

}  // namespace tenon
