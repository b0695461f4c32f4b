// Nodes of indexing with tensors. The gradient of a gather is added to the elements it read; the gradient of a write is
// gathered.
#include "autograd/derivative.h"
#include "autograd/meta.h"
#include "autograd/note.h"
#include "autograd/recording.h"
#include "tenon/factories.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {
namespace {

/// The index tensors of a call. Backward checks that they have not changed.
class SavedPlaces {
 public:
  explicit SavedPlaces(const std::vector<Tensor>& tensors) : saved_(tensors.size()) {
    for (std::size_t i = 0; i < tensors.size(); ++i)
      if (tensors[i].defined()) saved_[i].save(tensors[i]);
  }
  Indexed of(const Tensor& view, NodeImpl* owner) const {
    Indexed indexed{view, std::vector<Tensor>(saved_.size())};
    for (std::size_t i = 0; i < saved_.size(); ++i)
      if (saved_[i].is_saved()) indexed.tensors[i] = saved_[i].unpack(owner);
    return indexed;
  }
  void release(NodeImpl* owner) noexcept {
    for (SavedTensor& tensor : saved_) {
      Tensor dropped;  // destroyed after unlocking
      const SpinLock own(owner->lock());
      dropped = tensor.take();
    }
  }

 private:
  std::vector<SavedTensor> saved_;
};

Tensor gather(const Indexed& indexed) {
  return is_recorded(indexed.view) ? recording::index(indexed) : run_index(indexed);
}

/// index_put_: values are written to elements of self, or added to them.
class IndexPutNode final : public NodeImpl {
 public:
  IndexPutNode(const Tensor& self, const Tensor& value, const std::vector<Tensor>& tensors, Put put)
      : places_(tensors), put_(put) {
    Edge edges[] = {gradient_edge(self), gradient_edge(value)};
    set_edges(edges, 2);
  }
  const char* name() const noexcept override {
    return put_ == Put::add_up ? "IndexPutImplBackward0" : "IndexPutBackward0";
  }
  void release_saved() noexcept override { places_.release(this); }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    if (has_edge(0)) out[0] = put_ == Put::replace ? without_places(grads[0]) : grads[0];
    if (has_edge(1)) out[1] = gather(places_.of(grads[0], this));
  }

 private:
  Tensor without_places(const Tensor& grad) {
    const Tensor rest = grad.clone();
    const Indexed indexed = places_.of(rest, this);
    const Tensor zero = zeros({}, Options(grad.dtype(), grad.device()));
    if (rest.impl()->in_graph)
      recording::index_put(indexed, zero, Put::replace);
    else
      run_index_put(indexed, zero, Put::replace);
    return rest;
  }

  SavedPlaces places_;
  Put put_;
};

/// Adds `grad` to zeros at the elements that `index_into(zeros)` selects. Differentiable. 16-bit floats are summed in
/// float32.
template <class IndexInto>
Tensor added_up(const Tensor& grad, SizesView sizes, const IndexInto& index_into) {
  const Tensor whole = zeros(sizes, Options(widened(grad.dtype()), grad.device()));
  const Indexed indexed = index_into(whole);
  Node node(is_recorded(grad) ? new IndexPutNode(whole, grad, indexed.tensors, Put::add_up) : nullptr);
  const NoGrad no_grad;
  run_index_put(indexed, grad.to(whole.dtype()), Put::add_up);
  const Tensor result = whole.to(grad.dtype());
  if (node.defined()) attach(result, std::move(node));
  return result;
}

class IndexNode final : public NodeImpl {
 public:
  explicit IndexNode(const Indexed& indexed) : places_(indexed.tensors) {
    Edge edge = gradient_edge(indexed.view);
    sizes_ = SavedSizes(indexed.view, edge);
    set_edges(&edge, 1);
  }
  const char* name() const noexcept override { return "IndexBackward0"; }
  void release_saved() noexcept override { places_.release(this); }
  void apply(const Tensor* grads, Tensor* out) override {
    if (grads[0].defined() && has_edge(0))
      out[0] = added_up(grads[0], sizes_.of(edge(0)), [this](const Tensor& whole) { return places_.of(whole, this); });
  }

 private:
  SavedPlaces places_;
  SavedSizes sizes_;
};

}  // namespace

Tensor added_along(const Tensor& grad, int64_t dim, const Tensor& places, SizesView sizes) {
  if (sizes.empty()) return grad;
  const int64_t along = wrap_dim(dim, sizes.size());
  return added_up(grad, sizes, [&](const Tensor& whole) {
    Indexed indexed{whole, std::vector<Tensor>(static_cast<std::size_t>(sizes.size()))};
    for (int64_t i = 0; i < sizes.size(); ++i) {
      Dims row(sizes.size(), 1);
      row[i] = places.sizes()[i];
      indexed.tensors[static_cast<std::size_t>(i)] =
          i == along ? places : arange(0, places.sizes()[i], 1, Options(int64, grad.device())).view(row);
    }
    return indexed;
  });
}

}  // namespace autograd

using namespace autograd;

Tensor recording::index(const Indexed& indexed) {
  Node node(new IndexNode(indexed));
  note_call(*node.impl(), "index", indexed.view);
  const NoGrad no_grad;
  const Tensor result = run_index(indexed);
  attach(result, std::move(node));
  return result;
}

void recording::index_put(const Indexed& indexed, const Tensor& value, Put put) {
  const Tensor& self = indexed.view;
  const bool recorded =
      thread_modes.grad && is_inexact(self.dtype()) && (self.requires_grad() || value.requires_grad());
  check_inplace(self, recorded);
  const auto write = [&] {
    const NoGrad no_grad;
    run_index_put(indexed, value, put);
  };
  if (!recorded) return write();
  Node node(new IndexPutNode(self, value, indexed.tensors, put));
  note_call(*node.impl(), "index_put_", self);
  InplaceHistory history(self, std::move(node));
  write();
  history.commit();
}

}  // namespace tenon
