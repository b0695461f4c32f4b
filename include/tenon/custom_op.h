// autograd: custom elementwise ops. They broadcast, promote dtypes, run and are differentiated like built-in ops:
//
//   struct Hypot {
//     static constexpr const char* name = "hypot";
//     template <class T>
//     static T forward(T a, T b) { return std::sqrt(a * a + b * b); }
// static Tensor grad_a(const CustomGiven& g) { return g.grad() * (g.a() / g.result()); } // optional
//     static Tensor grad_b(const CustomGiven& g) { return g.grad() * (g.b() / g.result()); }
//   };
//   const CustomOp<Hypot> hypot;
//   Tensor y = hypot(a, b);
#pragma once
#include <concepts>
#include <utility>

#include "tenon/lane_loop.h"
#include "tenon/tensor.h"

namespace tenon {

/// The values that a derivative may read. A derivative is written with the library's ops; its result is then summed to
/// the operand's shape.
class TENON_API CustomGiven {
 public:
  CustomGiven(Tensor grad, Tensor a, Tensor b, Tensor c, Tensor result)
      : grad_(std::move(grad)), operands_{std::move(a), std::move(b), std::move(c)}, result_(std::move(result)) {}
  /// The gradient of the result.
  const Tensor& grad() const noexcept { return grad_; }
  const Tensor& a() const noexcept { return operands_[0]; }
  const Tensor& b() const noexcept { return operands_[1]; }
  const Tensor& c() const noexcept { return operands_[2]; }
  const Tensor& result() const noexcept { return result_; }

 private:
  Tensor grad_, operands_[3], result_;
};

/// The properties of a custom op, derived by CustomOp from its block.
struct CustomDefinition {
  const char* name;
  int arity;
  bool takes_integers;  // else they become the default dtype
  bool gives_bool;
  bool may_throw;                          // then an in-place result is computed into a temporary first
  simd::LoopKernels kernels[kDtypeCount];  // by dtype of computation; 16-bit floats are computed in float32
  Tensor (*gradients[3])(const CustomGiven&);
};

namespace custom {

/// Registers the op and returns its number. Throws Error for a name without letters, and beyond about 65,000 ops.
TENON_API int define(const CustomDefinition& definition);
TENON_API Tensor call(int op, const Arg* const* args, int count);
TENON_API Tensor& call_out(int op, Tensor& out, const Arg* const* args, int count);
TENON_API Tensor& call_inplace(int op, Tensor& self, const Arg* const* args, int count);

template <class F, class T>
constexpr int arity_for() {
  if constexpr (requires(T x) { F::forward(x); })
    return 1;
  else if constexpr (requires(T x) { F::forward(x, x); })
    return 2;
  else if constexpr (requires(T x) { F::forward(x, x, x); })
    return 3;
  else
    return 0;
}

/// How a loop calls a block.
template <class F>
struct Forward {
  static constexpr bool takes_numbers = true;
  template <class... T>
  static auto apply(T... x) {
    return F::forward(x...);
  }
};

template <class F, class... T>
void add_kernels(CustomDefinition& definition) {
  ((definition.kernels[static_cast<int>(dtype_of_v<T>)] = simd::loops<Forward<F>, T, arity_for<F, T>()>()), ...);
}

/// True if no overload of `forward` throws.
template <class F, class... T>
constexpr bool never_throws() {
  constexpr auto is_safe = []<class U>(U x) {
    constexpr int arity = arity_for<F, U>();
    if constexpr (arity == 1) return noexcept(F::forward(x));
    if constexpr (arity == 2) return noexcept(F::forward(x, x));
    if constexpr (arity == 3) return noexcept(F::forward(x, x, x));
    return false;
  };
  return (is_safe(T{}) && ...);
}

template <class F>
constexpr bool takes_integers() {
  if constexpr (requires {
                  { F::integers } -> std::convertible_to<bool>;
                })
    return F::integers;
  else
    return false;
}

template <class F>
CustomDefinition definition_of() {
  constexpr int arity = arity_for<F, float>();
  static_assert(arity > 0, "a block needs a `template <class T> static T forward(T a, ...)` of one to three operands");
  constexpr bool safe = never_throws<F, float, double>() &&
                        (!takes_integers<F>() || never_throws<F, uint8_t, int8_t, int16_t, int32_t, int64_t>());
  CustomDefinition definition{F::name, arity, takes_integers<F>(), false, !safe, {}, {}};
  add_kernels<F, float, double>(definition);
  if constexpr (takes_integers<F>()) add_kernels<F, uint8_t, int8_t, int16_t, int32_t, int64_t>(definition);
  const auto gives_bool = []<std::size_t... I>(std::index_sequence<I...>) {
    return std::is_same_v<decltype(F::forward((static_cast<void>(I), 0.f)...)), bool>;
  };
  definition.gives_bool = gives_bool(std::make_index_sequence<static_cast<std::size_t>(arity)>());
  if constexpr (requires(const CustomGiven& g) { F::grad_a(g); }) definition.gradients[0] = &F::grad_a;
  if constexpr (requires(const CustomGiven& g) { F::grad_b(g); }) definition.gradients[1] = &F::grad_b;
  if constexpr (requires(const CustomGiven& g) { F::grad_c(g); }) definition.gradients[2] = &F::grad_c;
  return definition;
}

}  // namespace custom

/// An op made from the block `F`, which has a `name`, a `forward` for float and double (and, with `static constexpr
/// bool integers = true`, for integers) and optional derivatives. If `forward` returns bool, the op is a comparison. An
/// element may be computed more than once, so the value of `forward` must depend on its arguments alone. If `forward`
/// throws, the call throws the same and leaves its operands unchanged; therefore, unless `forward` is noexcept, an
/// in-place result is computed apart and copied at the end. All objects of one block are the same op.
template <class F>
class CustomOp {
 public:
  static constexpr int arity = custom::arity_for<F, float>();

  CustomOp() : op_(number()) {}

  /// Takes tensors and numbers. Throws the errors of built-in ops.
  template <class... A>
  requires(sizeof...(A) == arity) Tensor operator()(const A&... args) const {
    return with(args..., [this](const Arg* const* list) { return custom::call(op_, list, arity); });
  }
  template <class... A>
  requires(sizeof...(A) == arity) Tensor& out(Tensor& out, const A&... args) const {
    with(args..., [&](const Arg* const* list) { return custom::call_out(op_, out, list, arity); });
    return out;
  }
  /// In place: writes the result into the first operand.
  template <class... A>
  requires(sizeof...(A) == arity - 1) Tensor& inplace(Tensor& self, const A&... args) const {
    with(self, args..., [&](const Arg* const* list) { return custom::call_inplace(op_, self, list, arity); });
    return self;
  }

 private:
  static int number() {
    static const int op = custom::define(custom::definition_of<F>());
    return op;
  }
  template <class Call>
  static Tensor with(const Arg& a, const Call& call) {
    const Arg* const list[] = {&a};
    return call(list);
  }
  template <class Call>
  static Tensor with(const Arg& a, const Arg& b, const Call& call) {
    const Arg* const list[] = {&a, &b};
    return call(list);
  }
  template <class Call>
  static Tensor with(const Arg& a, const Arg& b, const Arg& c, const Call& call) {
    const Arg* const list[] = {&a, &b, &c};
    return call(list);
  }

  int op_;
};

}  // namespace tenon
