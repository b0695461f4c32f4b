// Nodes of copies and fills.
#include "autograd/meta.h"
#include "autograd/note.h"
#include "autograd/recording.h"
#include "autograd/zero_node.h"
#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tensor/impl.h"

namespace tenon {
namespace autograd {
namespace {

/// Zeros with strides of 0: one element in memory.
Tensor expanded_zeros(const Tensor& like) {
  return new_alias(zeros({}, Options(like.dtype(), like.device())), like.sizes(), Dims(like.dim(), 0), 0);
}

/// The node of clone and to. The engine casts the gradient back.
class PassNode final : public NodeImpl {
 public:
  PassNode(const char* name, const Tensor& self) : name_(name) {
    Edge edge = gradient_edge(self);
    set_edges(&edge, 1);
  }
  const char* name() const noexcept override { return name_; }
  void apply(const Tensor* grads, Tensor* out) override { out[0] = grads[0]; }

 private:
  const char* name_;
};

/// The node of a write to all of self, whose former value does not affect the result.
class OverwriteNode final : public NodeImpl {
 public:
  OverwriteNode(const char* name, const Tensor& self, const Tensor* src) : name_(name) {
    Edge edges[] = {gradient_edge(self), src ? gradient_edge(*src) : Edge{}};
    set_edges(edges, src ? 2 : 1);
  }
  const char* name() const noexcept override { return name_; }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    if (has_edge(0)) out[0] = expanded_zeros(grads[0]);
    if (edge_count() > 1 && has_edge(1)) out[1] = grads[0];
  }

 private:
  const char* name_;
};

Tensor passed(const char* name, const char* call, const Tensor& self, Tensor result) {
  if (!is_inexact(result.dtype())) return result;
  Node node(new PassNode(name, self));
  note_call(*node.impl(), call, self);
  attach(result, std::move(node));
  return result;
}

}  // namespace
}  // namespace autograd

using namespace autograd;

Tensor recording::clone(const Tensor& self, MemoryFormat format) {
  return passed("CloneBackward0", "clone", self, run_clone(self, format));
}

Tensor recording::to(const Tensor& self, Dtype dtype, MemoryFormat format) {
  return passed("ToCopyBackward0", "to", self, run_to(self, dtype, format));
}

namespace {

/// `src` is null if a number is written.
struct Overwriting {
  const char* node;
  const char* call;
  const Tensor* src;
};

template <class Write>
void overwrite(Tensor& self, const Overwriting& how, const Write& write) {
  const bool from_graph = how.src && how.src->requires_grad();
  const bool recorded = thread_modes.grad && is_inexact(self.dtype()) && (self.requires_grad() || from_graph);
  check_inplace(self, recorded);
  if (!recorded) return write();
  Node node(new OverwriteNode(how.node, self, how.src));
  note_call(*node.impl(), how.call, how.src ? *how.src : self);
  InplaceHistory history(self, std::move(node));
  write();
  history.commit();
}

}  // namespace

void recording::copy(Tensor& self, const Tensor& src) {
  overwrite(self, {"torch::autograd::CopyBackwards", "copy_", &src}, [&] { run_copy(self, src); });
}

void recording::fill(Tensor& self, const Tensor& value) {
  overwrite(self, {"FillBackward3", "fill_", &value}, [&] { run_fill(self, value); });
}

void recording::fill_number(Tensor& self, Scalar value) {
  overwrite(self, {"FillBackward2", "fill_", nullptr}, [&] { run_fill(self, value); });
}

void recording::zero(Tensor& self) {
  overwrite(self, {"ZeroBackward0", "zero_", nullptr}, [&] { run_fill(self, 0); });
}

void recording::draw(DrawnBy by, const Tensor& result, Args args, int count) {
  if (!is_recorded(args, count) || !is_inexact(result.dtype())) return;
  Node node(new ZeroNode(by.node, args, count));
  note_call(*node.impl(), by.call, args, count);
  attach(result, std::move(node));
}

void recording::draw_inplace(DrawnBy by, Tensor& self, const Arg* p, const std::function<void()>& write) {
  const Arg first(self);
  const Arg* const args[] = {&first, p};
  const int count = p ? 2 : 1;
  const bool recorded = is_recorded(args, count) && is_inexact(self.dtype());
  check_inplace(self, recorded);
  if (!recorded) return write();
  Node node(new ZeroNode(by.node, args, count));
  note_call(*node.impl(), by.call, args, count);
  InplaceHistory history(self, std::move(node));
  write();
  history.commit();
}

}  // namespace tenon
