// An op of tenon/ops.def is tried by being declared there: its kind says which calls there are.
#include "faults.h"

namespace tenon::faults {
namespace {

/// 1, 2, 3, ... in some shape.
Tensor counting(SizesView sizes, Dtype dtype = float32) {
  return arange(1, numel_of(sizes) + 1).to(dtype).reshape(sizes);
}

/// Beside the first two operands: a condition, two results to write into, a right side of matrix products.
Tensors completed(const Tensor& a, const Tensor& b) {
  const Tensor plain = a.detach();
  const Device device = a.device();
  const int64_t columns = a.dim() == 2 ? a.size(1) : 1;
  return {a,
          b,
          a.is_meta() ? empty(a.sizes(), Options(bool_, device)) : plain > 2,
          empty({0}, Options(float32, device)),
          zeros(a.sizes(), Options(float32, device)),
          a.is_meta() ? empty({columns, 2}, device) : counting({columns, 2}, a.dtype())};
}

/// Computed from leaves, so that writing in place is allowed; `kLeafA` and `kLeafB` are the leaves.
Tensors tracked(Tensor a, Tensor b) {
  a.requires_grad_();
  b.requires_grad_();
  Tensors operands = completed(a + 0, b + 0);  // nodes that keep nothing: backward may be called again
  operands.push_back(a);
  operands.push_back(b);
  return operands;
}

constexpr int64_t kRows = 260, kColumns = 400;  // enough for several threads and for blocks that no thread keeps

Dims ten_dims() {
  Dims sizes(10, 1);
  sizes[0] = 3;
  sizes[9] = 4;
  return sizes;
}

using Build = std::function<void(const std::string& call, std::function<Results(Tensors&)>)>;

/// A call that has a gradient, and the gradient's own where it has one.
void add_derivatives(const Build& add, const std::string& op, const std::function<Tensor(Tensors&)>& call) {
  add(op + " backward", [call](Tensors& t) {
    call(t).sum().backward();
    return Results();  // the leaves' gradients are compared with the leaves
  });
  add(op + " twice differentiated", [call](Tensors& t) {
    autograd::GradOptions options;
    options.create_graph = options.allow_unused = true;
    const Tensors once = autograd::grad({call(t).sum()}, {t[kLeafA], t[kLeafB]}, {}, options);
    Tensors twice;
    for (const Tensor& grad : once)
      if (grad.defined() && grad.requires_grad())
        for (Tensor& next : autograd::grad({grad.sum()}, {t[kLeafA], t[kLeafB]}, {}, options))
          if (next.defined()) twice.push_back(std::move(next));
    return Results(twice);
  });
}

/// Adds the functional call, its method, and the derivatives.
struct Forms {
  const Build& add;
  bool grad;

  void functional(const std::string& op, const std::function<Tensor(Tensors&)>& call) const {
    add(op, [call](Tensors& t) { return Results(call(t)); });
    if (grad) add_derivatives(add, op, call);
  }
  void method(const std::string& op, const std::function<Tensor(Tensors&)>& call) const {
    add(op + " method", [call](Tensors& t) { return Results(call(t)); });
  }
  void inplace(const std::string& op, const std::function<void(Tensors&)>& call) const {
    add(op + " in place", [call](Tensors& t) {
      call(t);
      return Results();
    });
    if (grad)
      add_derivatives(add, op + " in place", [call](Tensors& t) {
        Tensors written = t;  // what failed behind the write has changed no operand
        written[kA] = t[kA] * 1;
        call(written);
        return written[kA];
      });
  }
  /// Into an empty tensor, one of the operand's shape, and one of another, which is resized with a warning.
  void out(const std::string& op, const std::function<void(Tensor&, Tensors&)>& call) const {
    add(op + " out=", [call](Tensors& t) {
      const NoGrad no_grad;
      call(t[kOut], t);
      return Results();
    });
    if (grad) return;
    add(op + " out= of its size", [call](Tensors& t) {
      call(t[kSame], t);
      return Results();
    });
    add(op + " out= of another size", [call](Tensors& t) {
      call(t[kMatrix], t);
      return Results();
    });
  }
};

#define TENON_OP(NAME, KIND) TENON_FORMS_##KIND(NAME)
#define TENON_FORMS_form(NAME)
#define TENON_FORMS_unary(NAME)                                    \
  forms.functional(#NAME, [](Tensors& t) { return NAME(t[kA]); }); \
  forms.method(#NAME, [](Tensors& t) { return t[kA].NAME(); });    \
  forms.inplace(#NAME, [](Tensors& t) { t[kA].NAME##_(); });       \
  forms.out(#NAME, [](Tensor& out, Tensors& t) { NAME##_out(out, t[kA]); });
#define TENON_FORMS_binary(NAME)                                                          \
  forms.functional(#NAME, [](Tensors& t) { return NAME(t[kA], t[kB]); });                 \
  forms.functional(#NAME " a number", [](Tensors& t) { return NAME(t[kA], 2); });         \
  forms.functional("number " #NAME, [](Tensors& t) { return NAME(2, t[kA]); });           \
  forms.functional(#NAME " mismatch", [](Tensors& t) { return NAME(t[kA], ones({7})); }); \
  forms.method(#NAME, [](Tensors& t) { return t[kA].NAME(t[kB]); });                      \
  forms.inplace(#NAME, [](Tensors& t) { t[kA].NAME##_(t[kB]); });                         \
  forms.inplace(#NAME " a number", [](Tensors& t) { t[kA].NAME##_(2); });                 \
  forms.out(#NAME, [](Tensor& out, Tensors& t) { NAME##_out(out, t[kA], t[kB]); });
#define TENON_FORMS_binary_alpha(NAME)                                                                         \
  TENON_FORMS_binary(NAME) forms.functional(#NAME " alpha", [](Tensors& t) { return NAME(t[kA], t[kB], 3); }); \
  forms.inplace(#NAME " alpha", [](Tensors& t) { t[kA].NAME##_(t[kB], 3); });
#define TENON_FORMS_division(NAME)                                                                                   \
  TENON_FORMS_binary(NAME) forms.functional(#NAME " floor", [](Tensors& t) { return NAME(t[kA], t[kB], "floor"); }); \
  forms.functional(#NAME " trunc", [](Tensors& t) { return NAME(t[kA], t[kB], "trunc"); });                          \
  forms.inplace(#NAME " floor", [](Tensors& t) { t[kA].NAME##_(t[kB], "floor"); });
#define TENON_FORMS_clamp(NAME)                                                                       \
  forms.functional(#NAME, [](Tensors& t) { return NAME(t[kA], 1, 3); });                              \
  forms.functional(#NAME " min", [](Tensors& t) { return NAME(t[kA], 1); });                          \
  forms.functional(#NAME " max", [](Tensors& t) { return NAME(t[kA], std::nullopt, 3); });            \
  forms.functional(#NAME " tensors", [](Tensors& t) { return NAME(t[kA], t[kB], t[kA]); });           \
  forms.functional(#NAME " tensor min", [](Tensors& t) { return NAME(t[kA], t[kB]); });               \
  forms.functional(#NAME " tensor max", [](Tensors& t) { return NAME(t[kA], std::nullopt, t[kB]); }); \
  forms.method(#NAME, [](Tensors& t) { return t[kA].NAME(1, 3); });                                   \
  forms.inplace(#NAME, [](Tensors& t) { t[kA].NAME##_(1, 3); });                                      \
  forms.inplace(#NAME " tensor", [](Tensors& t) { t[kA].NAME##_(t[kB]); });                           \
  forms.out(#NAME, [](Tensor& out, Tensors& t) { NAME##_out(out, t[kA], 1, 3); });
#define TENON_FORMS_where(NAME)                                                                  \
  forms.functional(#NAME, [](Tensors& t) { return NAME(t[kCondition], t[kA], t[kB]); });         \
  forms.functional(#NAME " a number", [](Tensors& t) { return NAME(t[kCondition], t[kA], 2); }); \
  forms.method(#NAME, [](Tensors& t) { return t[kA].NAME(t[kCondition], t[kB]); });              \
  forms.out(#NAME, [](Tensor& out, Tensors& t) { NAME##_out(out, t[kCondition], t[kA], t[kB]); });
#define TENON_FORMS_product(NAME)                                              \
  forms.functional(#NAME, [](Tensors& t) { return NAME(t[kA], t[kMatrix]); }); \
  forms.method(#NAME, [](Tensors& t) { return t[kA].NAME(t[kMatrix]); });      \
  forms.out(#NAME, [](Tensor& out, Tensors& t) { NAME##_out(out, t[kA], t[kMatrix]); });
#define TENON_FORMS_reduction(NAME)                                                       \
  forms.functional(#NAME, [](Tensors& t) { return NAME(t[kA]); });                        \
  forms.functional(#NAME " first", [](Tensors& t) { return NAME(t[kA], 0); });            \
  forms.functional(#NAME " last kept", [](Tensors& t) { return NAME(t[kA], -1, true); }); \
  forms.method(#NAME, [](Tensors& t) { return t[kA].NAME({0, -1}); });                    \
  forms.out(#NAME, [](Tensor& out, Tensors& t) { NAME##_out(out, t[kA], 0); });
#define TENON_FORMS_reduction_dtype(NAME) \
  TENON_FORMS_reduction(NAME)             \
      forms.functional(#NAME " dtype", [](Tensors& t) { return NAME(t[kA], 0, false, float64); });

void add_table(const Forms& forms) {
#include "tenon/ops.def"
}

}  // namespace

const std::vector<Operands>& operand_kinds() {
  static const std::vector<Operands> kinds = {
      {"small",
       [] {
         return completed(counting({3, 4}), counting({4}));
       }},
      {"big",
       [] {
         return completed(counting({kRows, kColumns}), counting({kColumns}));
       }},
      {"10 dims", [] { return completed(counting(ten_dims()), counting({4})); }},
      {"grad",
       [] {
         return tracked(counting({3, 4}), counting({4}));
       },
       true},
      {"big grad",
       [] {
         return tracked(counting({kRows, kColumns}), counting({kColumns}));
       },
       true},
      {"10 dims grad", [] { return tracked(counting(ten_dims()), counting({4})); }, true},
      {"mixed",
       [] {
         return completed(counting({kRows, kColumns}), counting({kRows, 1}, int32));
       }},
      {"integers",
       [] {
         return completed(counting({3, 4}, int64), counting({3, 1}, uint8));
       }},
      {"half",
       [] {
         return completed(counting({kRows, kColumns}, bfloat16), counting({kColumns}, float16));
       }},
      {"transposed",
       [] {
         return completed(counting({kColumns, kRows}).t(), counting({kRows, kColumns}));
       }},
      {"strided",
       [] {
         return completed(counting({6, 8}).slice(1, 0, {}, 2), counting({6, 1}));
       }},
      {"empty",
       [] {
         return completed(counting({0, 4}), counting({4}));
       }},
      {"meta",
       [] {
         return completed(empty({3, 4}, Device::meta), empty({4}, Device::meta));
       }},
      {"overlapping",
       [] {
         const Tensor memory = counting({16});
         return completed(memory.slice(0, 1, 13).reshape({3, 4}), memory.slice(0, 0, 12).reshape({3, 4}));
       }},
      {"mismatched",
       [] {
         return completed(counting({3, 4}), counting({5, 1, 7}));
       }},
      {"inference",
       [] {
         const InferenceMode mode;
         return completed(counting({3, 4}), counting({4}));
       }},
  };
  return kinds;
}

void add_table_cases(std::vector<Case>& cases) {
  for (const Operands& operands : operand_kinds()) {
    const Build add = [&](const std::string& call, std::function<Results(Tensors&)> run) {
      cases.push_back({std::string(operands.name) + "/" + call, operands.make, std::move(run)});
    };
    add_table({add, operands.grad});
  }
}

}  // namespace tenon::faults
