// autograd: derivatives of functions, as functions.
//
//   const auto slope = func::grad([](const Tensor& x) { return pow(x, 3).sum(); });
//   slope(arange(3.0));                 // 3 x^2
//   func::grad<0, 1>(loss)(a, b);       // a tuple: by the first argument and by the second
//   func::grad([&](const Tensor& x) { return slope(x).sum(); });  // the gradient has gradients, too: 6 x
//
// https://docs.pytorch.org/docs/stable/generated/torch.func.grad.html
#pragma once
#include <concepts>
#include <cstddef>
#include <functional>
#include <tuple>
#include <utility>

#include "tenon/autograd.h"

namespace tenon::func {

/// The value of a function, and its gradients by some of its arguments.
struct Differentiated {
  autograd::Tensors gradients;
  Tensor value;
};
/// A function of tensors whose result has no dims.
using Scalars = std::function<Tensor(const autograd::Tensors& args)>;
/// Calls `function`, whose result has no dims. Gradients and value are in the graph of arguments that require grad;
/// those of other arguments require none. Zeros where the result doesn't depend on an argument. Error "only Tensors of
/// floating point dtype can require gradients", "grad_and_value(f)(*args): Expected f(*args) to return a scalar
/// Tensor, ...".
TENON_API Differentiated differentiate(const Scalars& function, const autograd::Tensors& args, SizesView argnums);

namespace internal {

template <std::size_t... numbers>
auto as_result(const autograd::Tensors& gradients, std::index_sequence<numbers...>) {
  if constexpr (sizeof...(numbers) == 1)
    return gradients[0];
  else
    return std::make_tuple(gradients[static_cast<int64_t>(numbers)]...);
}
template <class F, std::size_t... places>
Scalars with_list(const F& function, std::index_sequence<places...>) {
  return
      [&function](const autograd::Tensors& args) -> Tensor { return function(args[static_cast<int64_t>(places)]...); };
}

}  // namespace internal

/// A function of tensors that gives (gradient, value) of `function`; a tuple of gradients by several arguments.
template <int64_t... argnums, class F>
auto grad_and_value(F function) {
  if constexpr (sizeof...(argnums) == 0) {
    return grad_and_value<0>(std::move(function));
  } else {
    return [function = std::move(function)](const std::same_as<Tensor> auto&... args) {
      static_assert(((argnums >= 0 && argnums < static_cast<int64_t>(sizeof...(args))) && ...));
      const int64_t numbers[] = {argnums...};
      const Differentiated both =
          differentiate(internal::with_list(function, std::index_sequence_for<decltype(args)...>()), {args...},
                        {numbers, sizeof...(argnums)});
      return std::make_pair(internal::as_result(both.gradients, std::make_index_sequence<sizeof...(argnums)>()),
                            both.value);
    };
  }
}
/// A function of tensors that gives the gradient of `function`, whose result has no dims, by its first argument; by
/// others, as in grad<1>(f) or grad<0, 2>(f), which gives a tuple.
template <int64_t... argnums, class F>
auto grad(F function) {
  return [both = grad_and_value<argnums...>(std::move(function))](const std::same_as<Tensor> auto&... args) {
    return both(args...).first;
  };
}

}  // namespace tenon::func
