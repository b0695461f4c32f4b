// autograd: the node of ops whose gradients are zeros: random numbers, and in-place ops such as comparisons.
#pragma once
#include <string>

#include "autograd/meta.h"
#include "autograd/node.h"
#include "tenon/factories.h"

namespace tenon::autograd {

class ZeroNode final : public NodeImpl {
 public:
  ZeroNode(std::string name, Args args, int count) : name_(std::move(name)) {
    Edge edges[kMaxArgs];
    int tensors = 0;
    for (int i = 0; i < count; ++i)
      if (args[i]->is_tensor()) edges[tensors++] = gradient_edge(args[i]->tensor());
    set_edges(edges, tensors);
  }
  const char* name() const noexcept override { return name_.c_str(); }
  void apply(const Tensor* grads, Tensor* out) override {
    if (!grads[0].defined()) return;
    for (int i = 0; i < edge_count(); ++i)
      if (has_edge(i))
        out[i] = zeros(edge(i).node->input(edge(i).input).sizes, Options(grads[0].dtype(), grads[0].device()));
  }

 private:
  std::string name_;
};

}  // namespace tenon::autograd
