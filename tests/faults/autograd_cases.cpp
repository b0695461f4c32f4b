// Autograd with small, large and 10-dim operands.
#include "faults.h"

namespace tenon::faults {
namespace {

struct Double : autograd::Function<Double> {
  static constexpr const char* name = "DoubleBackward";
  static Tensors forward(autograd::Context& context, const Tensors& in) {
    context.save_for_backward({in[0]});
    context.save(std::string(100, 'x'));
    return {in[0] * 2, in[0] + 1};
  }
  static Tensors backward(autograd::Context& context, const Tensors& grads) {
    const Tensors saved = context.saved_tensors();
    return {grads[0] * 2 + grads[1] + saved[0] * 0};
  }
};

struct Dirty : autograd::Function<Dirty> {
  static constexpr const char* name = "DirtyBackward";
  static Tensors forward(autograd::Context& context, const Tensors& in) {
    Tensor self = in[0];
    self.mul_(2);
    context.mark_dirty({self});
    return {self};
  }
  static Tensors backward(autograd::Context&, const Tensors& grads) { return {grads[0] * 2}; }
};

Tensor product(const Tensors& t) { return t[kA] * t[kB]; }

/// A copy to write to, because operands must stay unchanged.
Tensor written(const Tensors& t) { return t[kA] * 1; }

/// Removes its hook in any case.
class Hooked {
 public:
  explicit Hooked(autograd::HookHandle handle) : handle_(std::move(handle)) {}
  ~Hooked() { handle_.remove(); }
  Hooked(const Hooked&) = delete;
  Hooked& operator=(const Hooked&) = delete;

 private:
  autograd::HookHandle handle_;
};

const std::vector<Named>& calls() {
  static const std::vector<Named> list = {
      {"requires_grad_",
       [](Tensors& t) {
         Tensor copy = t[kA].detach().clone();
         copy.requires_grad_();
         return copy * 2;
       }},
      {"backward",
       [](Tensors& t) {
         product(t).sum().backward();
         return done();
       }},
      {"backward of a chain",
       [](Tensors& t) {
         (t[kA] / t[kB]).mean(0).square().sum().backward();
         return done();
       }},
      {"grad twice",
       [](Tensors& t) {
         const Tensor sum = product(t).sum();
         Tensors all = autograd::grad({sum}, {t[kLeafA]}, {}, {{true, false}});
         for (Tensor& grad : autograd::grad({sum}, {t[kLeafA]})) all.push_back(std::move(grad));
         return all;
       }},
      {"backward of what is expanded",
       [](Tensors& t) {
         const Tensor sum = t[kLeafA].mean(0).sum() + t[kLeafB].sum() + (t[kLeafA] + t[kLeafB]).sum();
         sum.backward();
         return done();
       }},
      {"backward with create_graph",
       [](Tensors& t) {
         autograd::BackwardOptions options;
         options.create_graph = true;
         autograd::backward({product(t).square().sum()}, {}, options);
         for (const Place leaf : {kLeafA, kLeafB})
           t[leaf].set_grad({});  // otherwise each would keep its leaf alive for ever
         return done();
       }},
      {"backward without a graph",
       [](Tensors& t) {
         t[kOut].sum().backward();
         return done();
       }},
      {"backward with a gradient",
       [](Tensors& t) {
         const Tensor result = product(t);
         result.backward(ones(result.sizes()));
         return done();
       }},
      {"backward of two, to one input",
       [](Tensors& t) {
         autograd::backward({product(t).sum(), (t[kA] + t[kB]).sum()}, {}, {}, {t[kLeafA]});
         return done();
       }},
      {"grad",
       [](Tensors& t) {
         return autograd::grad({product(t).sum()}, {t[kLeafA], t[kLeafB]});
       }},
      {"grad of what is no leaf", [](Tensors& t) { return autograd::grad({product(t).sum()}, {t[kA]}); }},
      {"grad, unused", [](Tensors& t) { return autograd::grad({product(t).sum()}, {ones({2}).requires_grad_()}); }},
      {"grad, materialized",
       [](Tensors& t) {
         autograd::GradOptions options;
         options.materialize_grads = true;
         return autograd::grad({product(t).sum()}, {ones({2}).requires_grad_()}, {}, options);
       }},
      {"grad of a grad",
       [](Tensors& t) {
         autograd::GradOptions options;
         options.create_graph = true;
         const Tensors once = autograd::grad({(product(t) * t[kA]).sum()}, {t[kLeafA]}, {}, options);
         once[0].sum().backward();
         return done();
       }},
      {"tensor hook",
       [](Tensors& t) {
         const Hooked hook(t[kLeafA].register_hook([](const Tensor& grad) { return grad * 2; }));
         product(t).sum().backward();
         return done();
       }},
      {"tensor hook on what is no leaf",
       [](Tensors& t) {
         const Tensor middle = product(t);
         const Hooked hook(middle.register_hook([](const Tensor& grad) { return grad * 2; }));
         middle.sum().backward();
         return done();
       }},
      {"leaf hook",
       [](Tensors& t) {
         const Hooked hook(t[kLeafA].register_post_accumulate_grad_hook([](const Tensor&) {}));
         product(t).sum().backward();
         return done();
       }},
      {"hooks of leaves' nodes",
       [](Tensors& t) {
         const auto node = [](const Tensor& leaf) { return (leaf * 1).grad_fn().next_functions()[0].node; };
         const Tensor result = product(t).sum();
         const autograd::Node a = node(t[kLeafA]), b = node(t[kLeafB]);
         const Hooked before(a.register_prehook([](const Tensors& given) { return Tensors{given[0] * 2}; }));
         const Hooked after(b.register_hook([](const Tensors&, const Tensors&) { return Tensors(); }));
         result.backward();
         return done();
       }},
      {"node hooks",
       [](Tensors& t) {
         const Tensor middle = product(t);
         const Hooked before(
             middle.grad_fn().register_prehook([](const Tensors& given) { return Tensors{given[0] * 2}; }));
         const Hooked after(middle.grad_fn().register_hook([](const Tensors& given, const Tensors&) {
           Tensors changed = given;
           changed[0] = changed[0] * 3;
           return changed;
         }));
         middle.sum().backward();
         return done();
       }},
      {"hook that throws",
       [](Tensors& t) {
         const Hooked hook(t[kLeafB].register_hook([](const Tensor&) -> Tensor { throw Error("refused"); }));
         product(t).sum().backward();
         return done();
       }},
      {"retain_grad",
       [](Tensors& t) {
         const Tensor middle = product(t);
         middle.retain_grad();
         middle.sum().backward();
         return middle.grad();
       }},
      {"retain_grad of an operand",
       [](Tensors& t) {
         t[kA].retain_grad();
         return done();
       }},
      {"grad of what retains none", [](Tensors& t) { return std::to_string(t[kA].grad().defined()); }},
      {"set_grad",
       [](Tensors& t) {
         t[kLeafA].set_grad(ones_like(t[kLeafA].detach()));
         return done();
       }},
      {"set_grad of another shape",
       [](Tensors& t) {
         t[kLeafA].set_grad(ones({7}));
         return done();
       }},
      {"set_data",
       [](Tensors& t) {
         t[kLeafA].set_data(ones({5}));
         return done();
       }},
      {"variable_data", [](Tensors& t) { return t[kA].variable_data(); }},
      {"detach_",
       [](Tensors& t) {
         t[kA].detach_();
         return done();
       }},
      {"write through a view",
       [](Tensors& t) {
         const Tensor self = written(t);
         self.select(0, 0).mul_(3);
         self.sum().backward();
         return done();
       }},
      {"view made before a write",
       [](Tensors& t) {
         Tensor self = written(t);
         const Tensor view = self.transpose(0, -1);
         self.mul_(t[kB]);
         view.sum().backward();
         return done();
       }},
      {"saved tensor changed",
       [](Tensors& t) {
         Tensor self = written(t);
         const Tensor result = self * self;
         self.add_(1);
         result.sum().backward();
         return done();
       }},
      {"leaf written in place",
       [](Tensors& t) {
         t[kLeafA].add_(1);
         return done();
       }},
      {"copy_ into a graph",
       [](Tensors& t) {
         Tensor self = written(t);
         self.copy_(t[kB]);
         self.sum().backward();
         return done();
       }},
      {"index backward",
       [](Tensors& t) {
         const Tensor places = tensor({0, 1, 1});
         t[kA].index({places}).sum().backward();
         return done();
       }},
      {"index_put_ backward",
       [](Tensors& t) {
         const Tensor places = tensor({0, 1});
         Tensor self = written(t);
         self.index_put_({places}, t[kB].sum());
         self.sum().backward();
         return done();
       }},
      {"long chain",
       [](Tensors& t) {
         Tensor result = t[kA];
         for (int i = 0; i < 20; ++i) result = result + 1;
         result.sum().backward();
         return done();
       }},
      {"next_functions",
       [](Tensors& t) {
         const Tensor result = product(t);
         std::string names;
         for (const auto& edge : result.grad_fn().next_functions())
           names += edge.node.defined() ? edge.node.name() + " " : "none ";
         return names;
       }},
      {"function",
       [](Tensors& t) {
         const Tensors results = Double::apply({t[kA]});
         (results[0] * results[1]).sum().backward();
         return done();
       }},
      {"function in place",
       [](Tensors& t) {
         const Tensor self = written(t);
         Dirty::apply({self});
         self.sum().backward();
         return done();
       }},
      {"anomaly mode",
       [](Tensors& t) {
         const autograd::DetectAnomaly detect;
         product(t).sum().backward();
         return done();
       }},
      {"anomaly found",
       [](Tensors& t) {
         const autograd::DetectAnomaly detect;
         ((t[kA] - 1e9).sqrt() * t[kB]).sum().backward();
         return done();
       }},
      {"gradcheck",
       [](Tensors&) {
         const Tensor x = ones({2}, float64).requires_grad_();
         return std::to_string(autograd::gradcheck([](const Tensors& in) { return Tensors{in[0] * in[0]}; }, {x}));
       }},
      {"gradgradcheck",
       [](Tensors&) {
         manual_seed(1);
         const Tensor x = ones({2}, float64).requires_grad_();
         return std::to_string(autograd::gradgradcheck([](const Tensors& in) { return Tensors{in[0] * in[0]}; }, {x}));
       }},
      {"gradcheck of a wrong derivative",
       [](Tensors&) {
         const Tensor x = ones({2}, float64).requires_grad_();
         return std::to_string(
             autograd::gradcheck([](const Tensors& in) { return Tensors{in[0] * in[0].detach()}; }, {x}));
       }},
      {"to_string", [](Tensors& t) { return to_string(product(t)); }},
  };
  return list;
}

}  // namespace

namespace {

/// The same operands; their leaves have gradients already.
std::function<Tensors()> with_gradients(const std::function<Tensors()>& make, Tensor (*gradient)(SizesView)) {
  return [make, gradient] {
    Tensors operands = make();
    for (const Place leaf : {kLeafA, kLeafB}) operands[leaf].set_grad(gradient(operands[leaf].sizes()));
    return operands;
  };
}

Tensor row_major(SizesView sizes) { return ones(sizes); }
/// A view of every second element.
Tensor with_gaps(SizesView sizes) {
  Dims wider = sizes.copy();
  wider[wider.size() - 1] *= 2;
  return ones(wider).slice(-1, 0, {}, 2);
}

void add_calls(std::vector<Case>& cases, const std::string& operands, const std::function<Tensors()>& make) {
  for (const Named& named : calls()) cases.push_back({operands + "/" + named.name, make, named.call});
}

}  // namespace

void add_autograd_cases(std::vector<Case>& cases) {
  for (const Operands& operands : operand_kinds()) {
    if (!operands.grad) continue;
    const std::string name = operands.name;
    add_calls(cases, name, operands.make);
    add_calls(cases, name + " added to", with_gradients(operands.make, row_major));
    add_calls(cases, name + " added to with gaps", with_gradients(operands.make, with_gaps));
  }
}

}  // namespace tenon::faults
