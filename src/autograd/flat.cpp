#include "autograd/flat.h"

#include <string>

#include "autograd/meta.h"
#include "tenon/factories.h"
#include "tensor/history.h"

namespace tenon::autograd {
namespace {

/// "HardtanhBackward0" is differentiated as "HardtanhBackwardBackward0".
std::string name_of_next(Op op) {
  if (op == Op::relu) return "ThresholdBackwardBackward0";
  const std::string name = row_of(op).grad_fn;
  return name.substr(0, name.size() - 1) + "Backward0";
}

/// Passes gradients on to the history that a gradient has already, if any; gives the operand zeros.
class FlatNode final : public NodeImpl {
 public:
  FlatNode(Op op, const Edge& operand, Edge history) : name_(name_of_next(op)) {
    Edge edges[] = {operand.copy(), std::move(history)};
    set_edges(edges, edges[1].node ? 2 : 1);
  }
  const char* name() const noexcept override { return name_.c_str(); }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    if (has_edge(0)) {
      const InputMeta& of = edge(0).node->input(edge(0).input);
      out[0] = zeros(of.sizes, Options(of.dtype, of.device));
    }
    if (edge_count() > 1) out[1] = grads[0];
  }

 private:
  std::string name_;
};

}  // namespace

Tensor with_flat_history(Op op, Tensor gradient, const Edge& edge) {
  if (!row_of(op).flat_gradient || !thread_modes.grad || !gradient.defined()) return gradient;
  if (!is_inexact(gradient.dtype())) return gradient;
  const bool is_recorded = gradient.impl()->in_graph;
  Edge history = is_recorded ? gradient_edge(gradient) : Edge{};
  if (is_recorded) gradient = gradient.detach();
  attach(gradient, Node(new FlatNode(op, edge, std::move(history))));
  return gradient;
}

}  // namespace tenon::autograd
