// The gradients of layer_norm and group_norm. Without history a kernel computes them; what is recorded is made of ops.
#include "autograd/derivative.h"
#include "dispatch/elementwise.h"
#include "dispatch/normalize.h"
#include "tenon/ops.h"
#include "tensor/history.h"

namespace tenon::autograd {
namespace {

Tensor wide(const Tensor& self) { return self.to(widened(self.dtype())); }

RowsToNormalize layers(const CallGiven& given) {
  return rows_of_layers(given.grad().sizes(), given.dims("normalized_shape").view(),
                        given.number("eps", 0).as_double());
}
RowsToNormalize groups(const CallGiven& given) {
  return rows_of_groups(given.grad().sizes(), given.integer("num_groups"), given.number("eps", 0).as_double());
}

/// The result without weight and bias, and 1 / deviation, as [rows, length] and [rows, 1].
struct Normalized {
  Tensor elements, factor;

  Normalized(const Tensor& input, const RowsToNormalize& rows) {
    const Tensor x = wide(input).reshape({rows.count, rows.length}), apart = x - x.mean(1, true);
    factor = rsqrt((apart * apart).mean(1, true) + rows.eps);
    elements = apart * factor;
  }
};

bool is_fused(const CallGiven& given, const Tensor& input) {
  return !thread_modes.grad && !input.is_meta() && input.numel() > 0 && given.grad().dtype() == input.dtype() &&
         has_gradient_kernel(input.dtype());
}

bool wants_sums(const CallGiven& given) { return given.wants(1) || given.wants(2); }

Tensor of_input(const CallGiven& given, const Tensor& input, const Tensor& weight, const RowsToNormalize& rows) {
  if (is_fused(given, input)) {
    NormalizedGradients all = normalized_gradients(given.grad(), input, weight, rows, true, wants_sums(given));
    given.kept() = {std::move(all.weight), std::move(all.bias)};
    return std::move(all.elements);
  }
  Tensor slope = wide(given.grad());
  if (weight.defined()) slope = slope.reshape(rows.by_weight()) * wide(weight).reshape({1, rows.weights(), 1});
  slope = slope.reshape({rows.count, rows.length});
  const Normalized normalized(input, rows);
  const Tensor share = (slope * normalized.elements).mean(1, true);  // exact: elements
  const Tensor of_deviation = mul(normalized.elements, share);
  const Tensor result = normalized.factor * (slope - slope.mean(1, true) - of_deviation);
  return result.reshape(input.sizes()).to(input.dtype());
}

Tensor of_weight(const CallGiven& given, const Tensor& input, const Tensor& weight, const RowsToNormalize& rows) {
  if (is_fused(given, input)) {
    if (!given.kept().b.defined()) {
      NormalizedGradients all = normalized_gradients(given.grad(), input, {}, rows, false, true);
      given.kept() = {std::move(all.weight), std::move(all.bias)};
    }
    return given.kept().b.reshape(weight.sizes()).to(weight.dtype());
  }
  const Tensor slope = wide(given.grad()).reshape({rows.count, rows.length});
  const Tensor products = mul(slope, Normalized(input, rows).elements);
  return products.reshape(rows.by_weight()).sum({0, 2}).reshape(weight.sizes()).to(weight.dtype());
}

Tensor of_bias(const CallGiven& given, const Tensor& bias, const RowsToNormalize& rows) {
  const Tensor& kept = given.kept().c;
  const Tensor sums = kept.defined() ? kept : wide(given.grad()).reshape(rows.by_weight()).sum({0, 2});
  return sums.reshape(bias.sizes()).to(bias.dtype());
}

}  // namespace

Tensor of_layer_norm(const CallGiven& given, const Tensor& input, const Tensor& weight) {
  return of_input(given, input, weight, layers(given));
}
Tensor of_layer_norm_weight(const CallGiven& given, const Tensor& input, const Tensor& weight) {
  return of_weight(given, input, weight, layers(given));
}
Tensor of_layer_norm_bias(const CallGiven& given, const Tensor& bias) { return of_bias(given, bias, layers(given)); }

Tensor of_group_norm(const CallGiven& given, const Tensor& input, const Tensor& weight) {
  return of_input(given, input, weight, groups(given));
}
Tensor of_group_norm_weight(const CallGiven& given, const Tensor& input, const Tensor& weight) {
  return of_weight(given, input, weight, groups(given));
}
Tensor of_group_norm_bias(const CallGiven& given, const Tensor& bias) { return of_bias(given, bias, groups(given)); }

}  // namespace tenon::autograd
