// Nodes of views. The derivative of a view maps a gradient to the base's shape; the derivative of that is the view
// again.
#include "autograd/views.h"

#include <atomic>
#include <utility>

#include "autograd/note.h"
#include "autograd/recording.h"
#include "autograd/strided.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {
namespace {

/// In the order of ViewKind.
constexpr struct {
  const char* node;
  const char* call;
  const char* inplace_node = "";
  const char* backward_node = "";  // the node of the derivative
} kNames[] = {
    {"AliasBackward0", "alias"},
    {"AsStridedBackward0", "as_strided", "AsStridedBackward1"},
    {"DiagonalBackward0", "diagonal", "", "DiagonalBackwardBackward0"},
    {"ExpandBackward0", "expand"},
    {"PermuteBackward0", "permute"},
    {"ReshapeAliasBackward0", "reshape"},
    {"SelectBackward0", "select", "", "SelectBackwardBackward0"},
    {"SliceBackward0", "slice", "", "SliceBackwardBackward0"},
    {"SqueezeBackward0", "squeeze", "SqueezeBackward3"},
    {"SqueezeBackward1", "squeeze", "SqueezeBackward4"},
    {"SqueezeBackward2", "squeeze", "SqueezeBackward5"},
    {"TBackward0", "t", "TBackward1"},
    {"TransposeBackward0", "transpose", "TransposeBackward1"},
    {"UnfoldBackward0", "unfold", "", "UnfoldBackwardBackward0"},
    {"UnsafeViewBackward0", "reshape"},
    {"UnsqueezeBackward0", "unsqueeze", "UnsqueezeBackward1"},
    {"ViewBackward0", "view"},
    {"ViewAsComplexBackward0", "view_as_complex"},
    {"ViewAsRealBackward0", "view_as_real"},
};

/// A copy of a ViewCall that lives longer than the call.
struct KeptCall {
  ViewKind kind;
  int64_t numbers[4];
  Dims dims;
};

/// The part of a tensor that a select, slice, diagonal or unfold selects.
Tensor part_of(const Tensor& tensor, const KeptCall& call) {
  const int64_t* n = call.numbers;
  if (call.kind == ViewKind::select) return tensor.select(n[0], n[1]);
  if (call.kind == ViewKind::slice) return tensor.slice(n[0], n[1], n[2], n[3]);
  if (call.kind == ViewKind::unfold) return tensor.unfold(n[0], n[1], n[2]);
  return tensor.diagonal(n[0], n[1], n[2]);
}

class PartNode final : public NodeImpl {
 public:
  PartNode(KeptCall call, const Tensor& grad) : call_(std::move(call)) {
    Edge edge = gradient_edge(grad);
    set_edges(&edge, 1);
  }
  const char* name() const noexcept override { return kNames[static_cast<int>(call_.kind)].backward_node; }
  void apply(const Tensor* grads, Tensor* out) override {
    if (grads[0].defined()) out[0] = part_of(grads[0], call_);
  }

 private:
  KeptCall call_;
};

/// Adds each window to its elements of `whole`; windows may overlap. The order of additions is PyTorch's.
void add_windows(const Tensor& whole, const KeptCall& call, const Tensor& windows) {
  const int64_t dim = call.numbers[0], size = call.numbers[1], step = call.numbers[2];
  for (int64_t place = size - 1; place >= 0; --place) {
    // exact: between 0 and the size of the dim
    Tensor elements = whole.dim() == 0 ? whole : whole.slice(dim, place, whole.size(dim) - size + place + 1, step);
    elements.add_(windows.select(-1, place));
  }
}

/// A copy of `whole` with `grad` in the part: an op of its own, which a function that is traced sees.
Tensor copy_with_part(const Tensor& whole, const KeptCall& call, const Tensor& grad) {
  const int64_t* n = call.numbers;
  if (call.kind == ViewKind::select) return select_scatter(whole, grad, n[0], n[1]);
  if (call.kind == ViewKind::slice) return slice_scatter(whole, grad, n[0], n[1], n[2], n[3]);
  return diagonal_scatter(whole, grad, n[0], n[1], n[2]);
}

/// Zeros, with `grad` in the part. Differentiable.
Tensor with_part(const KeptCall& call, const Tensor& grad, SizesView sizes) {
  Node node(is_recorded(grad) ? new PartNode(call, grad) : nullptr);
  const NoGrad no_grad;
  Tensor whole = zeros(sizes, Options(grad.dtype(), grad.device()));
  if (call.kind == ViewKind::unfold)
    add_windows(whole, call, grad);
  else if (grad.is_meta())
    whole = copy_with_part(whole, call, grad);
  else
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
    sizes_ = SavedSizes(self, edge);
    set_edges(&edge, 1);
    if (call.kind == ViewKind::as_strided) map_ = std::make_unique<StridedMap>(StridedMap{Geometry(self), {}});
  }
  void set_output(const Tensor& view) {
    add_input(view);
    if (map_) map_->output = Geometry(view);
  }
  /// The tensor itself got the view's layout (an in-place view op).
  void set_inplace() noexcept { is_inplace_ = true; }
  const char* name() const noexcept override {
    const auto& names = kNames[static_cast<int>(call_.kind)];
    return is_inplace_ ? names.inplace_node : names.node;
  }
  void apply(const Tensor* grads, Tensor* out) override {
    if (grads[0].defined() && has_edge(0)) out[0] = undone(grads[0]);
  }

 private:
  Tensor undone(const Tensor& grad) const {
    const SizesView sizes = sizes_.of(edge(0));
    switch (call_.kind) {
      case ViewKind::alias:
        return grad;
      case ViewKind::expand:  // the engine sums it to the base's shape
        return sizes_.differ() ? grad.sum_to_size(sizes) : grad;
      case ViewKind::as_strided:
        return apply_strided(*map_, grad, true);
      case ViewKind::diagonal:
      case ViewKind::select:
      case ViewKind::slice:
      case ViewKind::unfold:
        return with_part(call_, grad, sizes);
      case ViewKind::permute:
        return grad.permute(inverse_of(call_.dims));
      case ViewKind::t:
        return grad.t();
      case ViewKind::transpose:
        return grad.transpose(call_.numbers[0], call_.numbers[1]);
      case ViewKind::unsqueeze:
        return grad.squeeze(call_.numbers[0]);
      case ViewKind::squeeze_dim:
        return sizes.empty() || sizes[call_.numbers[0]] != 1 ? grad : grad.unsqueeze(call_.numbers[0]);
      case ViewKind::reshape_alias:
      case ViewKind::squeeze:
      case ViewKind::squeeze_dims:
      case ViewKind::unsafe_view:
      case ViewKind::view:
        return grad.reshape(sizes);
      case ViewKind::view_as_complex:
        return view_as_real(grad.contiguous());
      case ViewKind::view_as_real:
        return view_as_complex(grad.contiguous());
    }
    return {};
  }

  KeptCall call_;
  SavedSizes sizes_;
  bool is_inplace_ = false;
  std::unique_ptr<StridedMap> map_;
};

/// `tensor`, or its parts if it is complex and `other` is not: what both of them see of one memory.
Tensor seen_beside(const Tensor& other, const Tensor& tensor) {
  return is_complex(tensor.dtype()) && !is_complex(other.dtype()) ? view_as_real(tensor.detach()) : tensor;
}

/// The node of `view`, one view op away from `self`. Not recorded by that op, because `edge` may lead to another node
/// than self's own.
Node view_node(const ViewCall& call, const Tensor& self, const Tensor& view, Edge edge) {
  Node node(new ViewNode(self, call, std::move(edge)));
  static_cast<ViewNode*>(node.impl())->set_output(view);
  return node;
}

/// The node of `view` as views of `base` that read the same memory. Where only one of the two is complex, its parts are
/// seen.
Node as_strided_node(const Tensor& base, const Tensor& view, Edge edge) {
  const Tensor seen = seen_beside(view, base), part = seen_beside(base, view);
  const auto after = [](Node node) { return Edge(node.give_up(), 0); };
  if (seen.dtype() != base.dtype()) edge = after(view_node({ViewKind::view_as_real}, base, seen, std::move(edge)));
  Node node = view_node({ViewKind::as_strided, {part.storage_offset()}}, seen, part, std::move(edge));
  if (part.dtype() == view.dtype()) return node;
  return view_node({ViewKind::view_as_complex}, part, view, after(std::move(node)));
}

/// A tensor for the gradient of a tensor laid out as `base`. Memory between its elements holds zeros, because a view of
/// the base may reach it.
Tensor room_for(const Geometry& base, const Tensor& grad) {
  if (is_non_overlapping_and_dense(base.sizes, base.strides))
    return new_tensor(base.sizes, base.strides, grad.dtype(), grad.device());
  const Tensor memory = zeros({offset_from(extent_of(base.sizes, base.strides))}, Options(grad.dtype(), grad.device()));
  return new_alias(memory, base.sizes, base.strides, 0);
}

/// PyTorch: torch/csrc/autograd/functions/tensor.h, CopySlices.
class CopySlices final : public NodeImpl {
 public:
  CopySlices(const Tensor& base, const Tensor& view, Node inner)
      : base_(base),
        seen_(seen_beside(view, base)),
        part_(seen_beside(base, view)),
        sizes_(view.sizes().copy()),
        sees_parts_(is_complex(base.dtype()) && !is_complex(view.dtype())),
        joins_parts_(is_complex(view.dtype()) && !is_complex(base.dtype())),
        inner_(std::move(inner)) {
    std::vector<Edge> edges;
    edges.push_back(gradient_edge(base));
    for (int i = 1; i < inner_.impl()->edge_count(); ++i) edges.push_back(inner_.impl()->edge(i).copy());
    set_edges(edges.data(), static_cast<int>(edges.size()));
    add_input(base);
  }
  const char* name() const noexcept override { return "torch::autograd::CopySlices"; }
  void release_saved() noexcept override {
    freed_.store(true, std::memory_order_relaxed);
    inner_.impl()->release_saved();
  }

  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    if (freed_.load(std::memory_order_relaxed)) fail_freed();  // even if the write itself saved nothing
    Tensor whole = room_for(base_, grads[0]);
    whole.copy_(grads[0]);
    // exact: neither offset is negative
    Tensor part =
        (sees_parts_ ? view_as_real(whole) : whole).as_strided(part_.sizes, part_.strides, part_.offset - seen_.offset);
    const Tensor dense = part.clone(MemoryFormat::contiguous);
    const Tensor inner_grad = joins_parts_ ? view_as_complex(dense) : dense;
    std::vector<Tensor> given(static_cast<std::size_t>(inner_.impl()->edge_count()));
    inner_.impl()->apply(&inner_grad, given.data());
    validate_inner(given.data());
    for (int i = 1; i < edge_count(); ++i) out[i] = given[static_cast<std::size_t>(i)];
    if (!has_edge(0)) return;
    if (given[0].defined())
      part.copy_(joins_parts_ ? view_as_real(given[0]) : given[0]);
    else
      part.zero_();
    out[0] = whole;
  }

 private:
  /// Checks the shape of the part's gradient. The engine checks the others.
  void validate_inner(Tensor* given) const {
    if (given[0].defined() && !(given[0].sizes() == SizesView(sizes_))) given[0] = given[0].sum_to_size(sizes_);
  }

  Geometry base_;
  Geometry seen_, part_;  // of base and view, as both see the memory
  Dims sizes_;            // the view's
  bool sees_parts_;       // the base is complex, the view real
  bool joins_parts_;      // the view is complex, the base real
  Node inner_;
  std::atomic<bool> freed_{false};
};

}  // namespace

NodeImpl* view_grad_fn(const Tensor& view) {
  TensorImpl* impl = view.impl();
  const uint32_t version = impl->storage ? impl->storage->version.load(std::memory_order_relaxed) : 0;
  const auto known = [impl] { return impl->meta() ? impl->meta()->grad_fn.load(std::memory_order_relaxed) : nullptr; };
  const auto is_current = [impl, version] { return impl->view_version.load(std::memory_order_acquire) == version; };
  if (is_current() || !is_inexact(impl->dtype)) return known();
  const Tensor base = base_of(view);
  if (!known() && !requires_grad(base.impl())) return nullptr;
  if (impl->view_mode != Mode::grad) fail_view_mode(view, true);
  Node node = as_strided_node(base, view, gradient_edge(base)), before;
  // Two threads may compute the view's node after the same write; one of the nodes is kept. If the base has no
  // metadata, the view has.
  const SpinLock lock((base.impl()->meta() ? base : view).impl()->meta()->lock);
  if (is_current()) return known();
  prepare_history(view, node.impl(), 0);
  before = commit_history(view, std::move(node), 0);
  return known();
}

Tensor base_of(const Tensor& view) {
  view.impl()->base->references.fetch_add(1, std::memory_order_relaxed);
  return Tensor(view.impl()->base);
}

Node copy_slices(const Tensor& base, const Tensor& view, Node node) {
  return Node(new CopySlices(base, view, std::move(node)));
}

Node taken_from(const Node& base_node, const Tensor& base, const Tensor& view) {
  retain(base_node.impl());
  return as_strided_node(base, view, Edge(base_node.impl(), 0));
}

}  // namespace autograd

using namespace autograd;

void recording::take_layout(const Tensor& self, const Tensor& view) {
  Node node = view.grad_fn();
  if (node.defined()) {
    static_cast<ViewNode*>(node.impl())->set_inplace();
    meta_of(self);  // allocates before anything is changed
  }
  swap_layout(self, view);
  // A retained gradient stays with the node for which it was requested, with the sizes of then, as in PyTorch.
  if (node.defined()) set_history(self, std::move(node));
}

void recording::record_view(const Tensor& self, const Tensor& view, const ViewCall& call) {
  if (!is_recorded(self)) return;
  Node handle(new ViewNode(self, call, gradient_edge(self)));
  ViewNode& node = *static_cast<ViewNode*>(handle.impl());
  node.set_output(view);
  note_call(node, kNames[static_cast<int>(call.kind)].call, self);
  set_history(view, std::move(handle));
}

}  // namespace tenon
