// fuse: functions of tensors that the C++ compiler turns into one loop over SIMD vectors. The function is a generic
// lambda of one to four elements, whose operators and functions are those of tenon/lane.h:
//
//   const auto scaled = tenon::compile([](auto a, auto m, auto s) { return clamp((a - m) / s * 2 + 1, 0, 5); });
//   Tensor y = scaled(a, mean, deviation);
//   scaled.out(y, a, mean, deviation);
#pragma once
#include <concepts>
#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "tenon/custom_op.h"
#include "tenon/fuse.h"
#include "tenon/lane_loop.h"

namespace tenon {

/// What is made of one lambda. It has a loop for float32 and one for float64; a call with other dtypes, or one that is
/// recorded for gradients, runs as a Fused does.
class TENON_API CompiledFunction {
 public:
  CompiledFunction(const CustomDefinition& definition, const Fused::Function& function);
  Tensor operator()(const Tensor* const* inputs, int count) const;
  /// Writes into `out`, as Compiled::out does.
  Tensor& out(Tensor& out, const Tensor* const* inputs, int count) const;

 private:
  struct State;
  std::shared_ptr<const State> state_;
};

namespace simd {

/// How a loop calls a lambda.
template <class F>
struct OfLanes {
  static constexpr bool takes_numbers = false;
  template <class... T>
  static auto apply(T... x) {
    const auto result = F()(Lane<T>{x}...);
    using Result = std::remove_const_t<decltype(result)>;
    static_assert(std::is_same_v<Result, Truth> || (std::is_same_v<Result, Lane<T>> && ...),
                  "the function must give an element or a comparison of elements");
    return result.value;
  }
};

template <class F, std::size_t... I>
const CompiledFunction& compiled(std::index_sequence<I...>) {
  using Loop = OfLanes<F>;
  static constexpr int kArity = sizeof...(I);
  static const CompiledFunction made = [] {
    CustomDefinition definition{"compiled", kArity, false, false, false, {}, {}};
    definition.gives_bool = std::is_same_v<decltype(Loop::apply((static_cast<void>(I), 0.f)...)), bool>;
    definition.kernels[static_cast<int>(float32)] = loops<Loop, float, kArity>();
    definition.kernels[static_cast<int>(float64)] = loops<Loop, double, kArity>();
    return CompiledFunction(definition, [](const List<Tensor>& inputs) -> List<Tensor> { return {F()(inputs[I]...)}; });
  }();
  return made;
}

}  // namespace simd

/// A lambda as a function of tensors. It has no state, so calls from several threads are safe.
template <class F>
class Compiled {
  static_assert(std::is_empty_v<F> && std::is_default_constructible_v<F>,
                "the lambda must capture nothing: give numbers that change as tensors of no dims");

 public:
  /// The result is the function's, bit for bit, as if its ops ran one by one; so are errors.
  template <std::convertible_to<const Tensor&>... A>
  requires(sizeof...(A) >= 1 && sizeof...(A) <= 4) Tensor operator()(const A&... tensors) const {
    const Tensor* const inputs[] = {&static_cast<const Tensor&>(tensors)...};
    return function<sizeof...(A)>()(inputs, sizeof...(A));
  }
  /// Writes into `out`, which is resized and cast like the output of any op.
  template <std::convertible_to<const Tensor&>... A>
  requires(sizeof...(A) >= 1 && sizeof...(A) <= 4) Tensor& out(Tensor& out, const A&... tensors) const {
    const Tensor* const inputs[] = {&static_cast<const Tensor&>(tensors)...};
    return function<sizeof...(A)>().out(out, inputs, sizeof...(A));
  }

 private:
  template <std::size_t kArity>
  static const CompiledFunction& function() {
    return simd::compiled<F>(std::make_index_sequence<kArity>());
  }
};

/// Turns a generic lambda without captures into a function of tensors. It is instantiated with elements and with
/// tensors.
template <class F>
Compiled<F> compile(F) {
  return {};
}

}  // namespace tenon
