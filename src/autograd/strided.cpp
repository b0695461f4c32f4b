#include "autograd/strided.h"

#include <algorithm>
#include <utility>

#include "dispatch/differentiate.h"
#include "shape/dense_strides.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"
#include "tensor/overlap.h"
#include "tensor/places.h"
#include "type/visit.h"

namespace tenon::autograd {
namespace {

int64_t end_of(const Geometry& g) { return offset_from(extent_of(g.sizes, g.strides) + g.offset); }

/// A view of a flat buffer, which stands for a storage from element `first` on.
Tensor laid_out(const Tensor& buffer, const Geometry& g, int64_t first) {
  return new_alias(buffer, g.sizes, g.strides, g.offset - first);  // exact: `first` is not larger
}

/// place[...] += values, element by element, because elements of `place` may overlap.
template <class T>
void add_each(const Tensor& place, const Tensor& values) {
  const Tensor dense = run_clone(values, MemoryFormat::contiguous);
  const T* from = dense.data<T>();
  T* to = place.data<T>();
  Places places(place.sizes(), place.strides());
  for (int64_t i = 0; i < place.numel(); ++i, places.next()) to[places.place()] += from[i];
}

void add_into(const Tensor& place, const Tensor& values) {
  if (place.is_meta() || place.numel() == 0) return;
  if (internal_overlap(place) == InternalOverlap::no) return run_copy(place, values);
  visit_dtype(place.dtype(), [&]<class T>() {
    if constexpr (std::is_floating_point_v<T> || is_complex_v<T>) add_each<T>(place, values);
  });
}

/// Adds the elements of `x`, laid out as `from`, to a buffer; returns what `to` reads from it. An address that several
/// elements of `input` share is divided by their number.
Tensor carry(const StridedMap& map, const Tensor& x, const Geometry& from, const Geometry& to) {
  const int64_t first = std::min(map.input.offset, map.output.offset);
  const Dtype wide = widened(x.dtype());
  Tensor buffer = zeros({std::max(end_of(map.input), end_of(map.output)) - first}, Options(wide, x.device()));
  add_into(laid_out(buffer, from, first), x.to(wide));
  const Tensor place = laid_out(buffer, map.input, first);
  if (!place.is_meta() && internal_overlap(place) != InternalOverlap::no) {
    const Tensor shares = zeros_like(buffer);
    add_into(laid_out(shares, map.input, first), ones(map.input.sizes, wide));
    buffer.div_(shares);  // NaN for elements of `output` outside `input`, as in PyTorch
  }
  return laid_out(buffer, to, first).to(x.dtype());
}

class StridedNode final : public NodeImpl {
 public:
  StridedNode(StridedMap map, const Tensor& x, bool adjoint) : map_(std::move(map)), adjoint_(adjoint) {
    Edge edge = gradient_edge(x);
    set_edges(&edge, 1);
  }
  const char* name() const noexcept override { return "AsStridedBackward0"; }
  void apply(const Tensor* grads, Tensor* out) override {
    if (grads[0].defined()) out[0] = apply_strided(map_, grads[0], !adjoint_);
  }

 private:
  StridedMap map_;
  bool adjoint_;
};

}  // namespace

/// Whether the view has the elements of its input, each at an address of its own, and no others.
bool StridedMap::is_identity() const {
  return input.offset == output.offset && input.strides == output.strides && input.sizes == output.sizes &&
         dense_strides_like(input.sizes, input.strides) == input.strides;
}
Tensor StridedMap::forward(const Tensor& x) const {
  return run_clone(carry(*this, x, input, output), MemoryFormat::contiguous);
}
Tensor StridedMap::backward(const Tensor& grad) const {
  if (is_identity()) {
    const Tensor laid_out = new_tensor(input.sizes, input.strides, grad.dtype(), grad.device());
    run_copy(laid_out, grad);
    return laid_out;
  }
  return run_clone(carry(*this, grad, output, input), MemoryFormat::preserve);
}

Tensor apply_strided(const StridedMap& map, const Tensor& x, bool adjoint) {
  // PyTorch's gradient of an empty view: zeros without history.
  if (adjoint && x.numel() == 0) return zeros(map.input.sizes, Options(x.dtype(), x.device()));
  const bool recorded = is_recorded(x);
  if (adjoint && !recorded && map.is_identity() && x.strides() == map.input.strides) return x;
  Node node(recorded ? new StridedNode(map, x, adjoint) : nullptr);
  const NoGrad no_grad;
  const Tensor result = adjoint ? map.backward(x) : map.forward(x);
  if (recorded) attach(result, std::move(node));
  return result;
}

}  // namespace tenon::autograd
