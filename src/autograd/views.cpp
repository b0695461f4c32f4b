// Recorded views. The derivative of a view puts a gradient back into the shape the view was taken of; the derivative of
// that is the view again.
#include "autograd/views.h"

#include "autograd/note.h"
#include "autograd/strided.h"
#include "dispatch/differentiate.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {
namespace {

/// In the order of ViewKind.
constexpr struct {
  const char* node;
  const char* backward_node;  // of the derivative's own
  const char* call;
} kNames[] = {
    {"AliasBackward0", "", "alias"},
    {"AsStridedBackward0", "", "as_strided"},
    {"DiagonalBackward0", "DiagonalBackwardBackward0", "diagonal"},
    {"ExpandBackward0", "", "expand"},
    {"PermuteBackward0", "", "permute"},
    {"ReshapeAliasBackward0", "", "reshape"},
    {"SelectBackward0", "SelectBackwardBackward0", "select"},
    {"SliceBackward0", "SliceBackwardBackward0", "slice"},
    {"SqueezeBackward0", "", "squeeze"},
    {"SqueezeBackward1", "", "squeeze"},
    {"SqueezeBackward2", "", "squeeze"},
    {"TBackward0", "", "t"},
    {"TransposeBackward0", "", "transpose"},
    {"UnsafeViewBackward0", "", "reshape"},
    {"UnsqueezeBackward0", "", "unsqueeze"},
    {"ViewBackward0", "", "view"},
};

/// A ViewCall that lives longer than its call.
struct KeptCall {
  ViewKind kind;
  int64_t numbers[4];
  Dims dims;
};

/// The part of a tensor that a select, slice or diagonal takes.
Tensor part_of(const Tensor& tensor, const KeptCall& call) {
  const int64_t* n = call.numbers;
  if (call.kind == ViewKind::select) return tensor.select(n[0], n[1]);
  if (call.kind == ViewKind::slice) return tensor.slice(n[0], n[1], n[2], n[3]);
  return tensor.diagonal(n[0], n[1], n[2]);
}

class PartNode final : public NodeImpl {
 public:
  PartNode(const KeptCall& call, const Tensor& grad) : call_(call) {
    const Edge edge = gradient_edge(grad);
    set_edges(&edge, 1);
  }
  const char* name() const noexcept override { return kNames[static_cast<int>(call_.kind)].backward_node; }
  void apply(const Tensor* grads, Tensor* out) override {
    if (grads[0].defined()) out[0] = part_of(grads[0], call_);
  }

 private:
  KeptCall call_;
};

/// Zeros but for the part, which is `grad`. Differentiable.
Tensor with_part(const KeptCall& call, const Tensor& grad, SizesView sizes) {
  Node node(is_recorded(grad) ? new PartNode(call, grad) : nullptr);
  const NoGrad no_grad;
  const Tensor whole = zeros(sizes, Options(grad.dtype(), grad.device()));
  run_copy(part_of(whole, call), grad);
  whole.impl()->storage ? whole.impl()->storage->version.store(0, std::memory_order_relaxed) : void();
  if (node.defined()) attach(whole, std::move(node));
  return whole;
}

Dims inverse_of(SizesView dims) {
  Dims inverse(dims.size(), 0);
  for (int64_t i = 0; i < dims.size(); ++i) inverse[wrap_dim(dims[i], dims.size())] = i;
  return inverse;
}

class ViewNode final : public NodeImpl {
 public:
  ViewNode(const Tensor& self, const ViewCall& call, Edge edge) {
    call_.kind = call.kind;
    for (int i = 0; i < 4; ++i) call_.numbers[i] = call.numbers[i];
    call_.dims = call.dims.copy();
    set_edges(&edge, 1);
    if (call.kind == ViewKind::as_strided) map_ = std::make_unique<StridedMap>(StridedMap{Geometry(self), {}});
  }
  void set_output(const Tensor& view) {
    add_input(view);
    if (map_) map_->output = Geometry(view);
  }
  const char* name() const noexcept override { return kNames[static_cast<int>(call_.kind)].node; }
  void apply(const Tensor* grads, Tensor* out) override {
    if (grads[0].defined()) out[0] = undone(grads[0]);
  }

 private:
  Tensor undone(const Tensor& grad) const {
    const SizesView sizes = edge(0).node->input(edge(0).input).sizes;
    switch (call_.kind) {
      case ViewKind::alias:
      case ViewKind::expand:  // the engine sums it down
        return grad;
      case ViewKind::as_strided:
        return apply_strided(*map_, grad, true);
      case ViewKind::diagonal:
      case ViewKind::select:
      case ViewKind::slice:
        return with_part(call_, grad, sizes);
      case ViewKind::permute:
        return grad.permute(inverse_of(call_.dims));
      case ViewKind::t:
        return grad.t();
      case ViewKind::transpose:
        return grad.transpose(call_.numbers[0], call_.numbers[1]);
      case ViewKind::unsqueeze:
        return grad.squeeze(call_.numbers[0]);
      case ViewKind::reshape_alias:
      case ViewKind::squeeze:
      case ViewKind::squeeze_dim:
      case ViewKind::squeeze_dims:
      case ViewKind::unsafe_view:
      case ViewKind::view:
        return grad.reshape(sizes);
    }
    return {};
  }

  KeptCall call_;
  std::unique_ptr<StridedMap> map_;
};

Tensor base_of(const Tensor& view) {
  view.impl()->base->references.fetch_add(1, std::memory_order_relaxed);
  return Tensor(view.impl()->base);
}

/// The view as it would be taken of its base now.
void take_anew(const Tensor& view, const Tensor& base) {
  ViewNode* node = new ViewNode(base, {ViewKind::as_strided, {view.storage_offset()}}, gradient_edge(base));
  node->set_output(view);
  AutogradMeta& meta = meta_of(view);
  if (meta.retains_grad) {
    if (meta.grad_fn)
      std::erase_if(meta.grad_fn->extras().retained, [&](const auto& entry) { return entry.second == view.impl(); });
    node->extras().retained.emplace_back(0, view.impl());
  }
  set_history(view, node);
}

/// PyTorch: torch/csrc/autograd/functions/tensor.h, CopySlices.
class CopySlices final : public NodeImpl {
 public:
  CopySlices(const Tensor& base, const Tensor& view, NodeImpl* inner) : base_(base), view_(view), inner_(inner) {
    std::vector<Edge> edges{gradient_edge(base)};
    for (int i = 1; i < inner->edge_count(); ++i) {
      edges.push_back(inner->edge(i));
      if (edges.back().node) retain(edges.back().node);
    }
    set_edges(edges.data(), static_cast<int>(edges.size()));
    add_input(base);
  }
  const char* name() const noexcept override { return "torch::autograd::CopySlices"; }
  void release_saved() noexcept override { inner_.impl()->release_saved(); }

  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    Tensor whole = new_tensor(base_.sizes, contiguous_strides(base_.sizes), grads[0].dtype(), grads[0].device());
    if (is_non_overlapping_and_dense(base_.sizes, base_.strides))
      whole = new_tensor(base_.sizes, base_.strides, grads[0].dtype(), grads[0].device());
    whole.copy_(grads[0]);
    Tensor part = slice_of(whole);
    const Tensor inner_grad = part.clone(MemoryFormat::contiguous);
    std::vector<Tensor> given(static_cast<std::size_t>(inner_.impl()->edge_count()));
    inner_.impl()->apply(&inner_grad, given.data());
    validate_inner(given.data());
    for (int i = 1; i < edge_count(); ++i) out[i] = given[static_cast<std::size_t>(i)];
    if (!has_edge(0)) return;
    if (given[0].defined())
      part.copy_(given[0]);
    else
      part.zero_();
    out[0] = whole;
  }

 private:
  /// Where the view lies in a tensor that is laid out as the base, whose strides it has where they are dense.
  Tensor slice_of(const Tensor& whole) const {
    return whole.as_strided(view_.sizes, view_.strides, view_.offset - base_.offset);
  }
  /// The part's own gradient has the part's shape; the others are the engine's care.
  void validate_inner(Tensor* given) const {
    if (given[0].defined() && !(given[0].sizes() == SizesView(view_.sizes)))
      given[0] = given[0].sum_to_size(view_.sizes);
  }

  Geometry base_, view_;
  Node inner_;
};

}  // namespace

NodeImpl* view_grad_fn(const Tensor& view) {
  TensorImpl* impl = view.impl();
  AutogradMeta* meta = impl->autograd;
  const uint32_t version = impl->storage ? impl->storage->version.load(std::memory_order_relaxed) : 0;
  if (meta && meta->view_version == version) return meta->grad_fn;
  if (!meta && impl->view_mode != Mode::grad) return nullptr;
  const Tensor base = base_of(view);
  if (!requires_grad(base.impl()) || !is_floating_point(impl->dtype)) return meta ? meta->grad_fn : nullptr;
  take_anew(view, base);
  return view.impl()->autograd->grad_fn;
}

void rebase_view(const Tensor& view, NodeImpl* node) {
  const Tensor base = base_of(view);
  rebase_history(base, new CopySlices(base, view, node));
  take_anew(view, base);
}

}  // namespace autograd

using namespace autograd;

void record_view(const Tensor& self, const Tensor& view, const ViewCall& call) {
  if (!is_recorded(self)) return;
  ViewNode* node = new ViewNode(self, call, gradient_edge(self));
  node->set_output(view);
  note_call(*node, kNames[static_cast<int>(call.kind)].call, self);
  set_history(view, node);
}

}  // namespace tenon
