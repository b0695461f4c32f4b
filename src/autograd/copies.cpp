// Recorded copies and fills.
#include "autograd/meta.h"
#include "autograd/note.h"
#include "dispatch/differentiate.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {
namespace {

/// Zeros that take up one element.
Tensor still_zeros(const Tensor& like) {
  return new_alias(zeros({}, Options(like.dtype(), like.device())), like.sizes(), Dims(like.dim(), 0), 0);
}

/// clone and to: the engine casts the gradient back.
class PassNode final : public NodeImpl {
 public:
  PassNode(const char* name, const Tensor& self) : name_(name) {
    const Edge edge = gradient_edge(self);
    set_edges(&edge, 1);
  }
  const char* name() const noexcept override { return name_; }
  void apply(const Tensor* grads, Tensor* out) override { out[0] = grads[0]; }

 private:
  const char* name_;
};

/// Writes over all of self: what was there before has no part in the result.
class OverwriteNode final : public NodeImpl {
 public:
  OverwriteNode(const char* name, const Tensor& self, const Tensor* src) : name_(name) {
    const Edge edges[] = {gradient_edge(self), src ? gradient_edge(*src) : Edge{}};
    set_edges(edges, src ? 2 : 1);
  }
  const char* name() const noexcept override { return name_; }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    if (has_edge(0)) out[0] = still_zeros(grads[0]);
    if (edge_count() > 1 && has_edge(1)) out[1] = grads[0];
  }

 private:
  const char* name_;
};

Tensor passed(const char* name, const char* call, const Tensor& self, Tensor result) {
  if (!is_floating_point(result.dtype())) return result;
  PassNode* node = new PassNode(name, self);
  note_call(*node, call, self);
  attach(result, Node(node));
  return result;
}

}  // namespace
}  // namespace autograd

using namespace autograd;

Tensor differentiate_clone(const Tensor& self, MemoryFormat format) {
  return passed("CloneBackward0", "clone", self, run_clone(self, format));
}

Tensor differentiate_to(const Tensor& self, Dtype dtype, MemoryFormat format) {
  return passed("ToCopyBackward0", "to", self, run_to(self, dtype, format));
}

void differentiate_copy(Tensor& self, const Tensor& src) {
  const bool recorded =
      thread_modes.grad && is_floating_point(self.dtype()) && (self.requires_grad() || src.requires_grad());
  check_inplace(self, recorded);
  if (!recorded) return run_copy(self, src);
  Node node(new OverwriteNode("torch::autograd::CopyBackwards", self, &src));
  run_copy(self, src);
  note_call(*node.impl(), "copy_", src);
  attach_inplace(self, std::move(node));
}

void differentiate_fill(Tensor& self, Scalar value) {
  const bool recorded = thread_modes.grad && self.requires_grad();
  check_inplace(self, recorded);
  if (!recorded) return run_fill(self, value);
  const bool zero = !value.is_floating() && !value.is_boolean() && value.as_int64() == 0;
  Node node(new OverwriteNode(zero ? "ZeroBackward0" : "FillBackward2", self, nullptr));
  run_fill(self, value);
  note_call(*node.impl(), "fill_", self);
  attach_inplace(self, std::move(node));
}

}  // namespace tenon
