// Recorded reductions and matrix products.
#include "autograd/meta.h"
#include "autograd/note.h"
#include "dispatch/differentiate.h"
#include "ops/row.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {
namespace {

/// The gradient of a reduced tensor over the dims of the tensor it was reduced from: of size 1 where reduced.
Tensor with_reduced_dims(const Tensor& grad, SizesView mask, bool keepdim) {
  if (keepdim || grad.dim() == mask.size()) return grad;
  Tensor result = grad;
  for (int64_t dim = 0; dim < mask.size(); ++dim)
    if (mask[dim]) result = result.unsqueeze(dim);
  return result;
}

/// The same gradient for every element that was added: a view.
Tensor spread(const Tensor& grad, SizesView mask, bool keepdim, SizesView sizes) {
  if (thread_modes.grad) return with_reduced_dims(grad, mask, keepdim).expand(sizes);
  Dims strides(mask.size(), 0);
  if (grad.dim() == 0) return new_alias(grad, sizes, strides, grad.storage_offset());
  int64_t at = grad.dim(), step = 1;  // a new dim of size 1 steps as unsqueeze has it
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
    sizes_ = RecordedSizes(self, edge);
    set_edges(&edge, 1);
  }

 protected:
  SizesView sizes() const { return sizes_.of(edge(0)); }

  Op op_;
  bool keepdim_, all_;
  Dims mask_;
  RecordedSizes sizes_;
};

/// sum and mean: nothing is saved.
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
    return count.value_or(1);  // too many to count only where no gradient has elements
  }
};

/// amax and amin: elements that tie share the gradient.
class ExtremeNode final : public ReduceNode {
 public:
  using ReduceNode::ReduceNode;
  const char* name() const noexcept override { return row_of(op_).grad_fn; }
  void save(const Tensor& self, const Tensor& result) {
    self_.save(self);
    result_.save(result, SavedTensor::Role::result);
  }
  void release_saved() noexcept override {
    Tensor dropped[2];  // die after the lock
    const SpinLock own(lock());
    dropped[0] = self_.take();
    dropped[1] = result_.take();
  }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    const Tensor self = self_.unpack(this), result = with_reduced_dims(result_.unpack(this), mask_, keepdim_);
    const Tensor ties = self == result;
    Dims dims;
    for (int64_t dim = 0; dim < mask_.size(); ++dim)
      if (mask_[dim]) dims.push_back(dim);
    const Tensor count = dims.empty() ? ties.to(int64) : tenon::sum(ties, SizesView(dims), true);
    out[0] = with_reduced_dims(grads[0], mask_, keepdim_) * ties / count;
  }

 private:
  SavedTensor self_, result_;
};

}  // namespace
}  // namespace autograd

using namespace autograd;

Tensor differentiate_reduce(Op op, const Tensor& self, SizesView dims, bool keepdim, std::optional<Dtype> dtype) {
  const Tensor result = run_reduce(op, self, dims, keepdim, dtype);
  const bool sums = op == Op::sum || op == Op::mean;
  if (!is_floating_point(result.dtype())) {
    if (sums) throw Error(std::string("Autograd not support dtype: ") + scalar_type_name(result.dtype()));
    return result;
  }
  NodeImpl* node =
      sums ? static_cast<NodeImpl*>(new SumNode(op, self, dims, keepdim)) : new ExtremeNode(op, self, dims, keepdim);
  Node handle(node);
  note_call(*node, row_of(op).name, self);
  attach(result, std::move(handle));
  if (!sums) static_cast<ExtremeNode*>(node)->save(self, result);
  return result;
}

}  // namespace tenon
