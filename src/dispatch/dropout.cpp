// Dropout, of elements and of channels. PyTorch: Dropout.cpp; the same random numbers are drawn.
#include <cmath>
#include <string>

#include "dispatch/broadcast_check.h"
#include "dispatch/text.h"
#include "tenon/factories.h"
#include "tenon/nn.h"
#include "tenon/ops.h"
#include "tenon/random.h"

namespace tenon {
namespace {

enum class Dropped { elements, channels };
enum class Replaced { by_zero, by_lower_end };

/// What the input is multiplied by, and what is added; undefined: nothing.
struct Noise {
  Tensor factor, shift;
};

Tensor empty_noise(const Tensor& input, Dropped what) {
  if (what == Dropped::elements) return empty_like(input);
  if (input.dim() < 2) throw Error("Feature dropout requires at least 2 dimensions in the input");
  Dims sizes(input.dim(), 1);
  sizes[0] = input.size(0);
  sizes[1] = input.size(1);
  return empty(sizes, {input.dtype(), input.device()});
}

Noise draw(const Tensor& input, double p, Dropped what, Replaced how) {
  constexpr double kLowerEnd = 1.7580993408473766;  // of selu, positive
  if (p == 1) return {zeros({}, {input.dtype(), input.device()}), {}};
  Tensor noise = empty_noise(input, what);
  bernoulli_(noise, 1 - p);
  if (how == Replaced::by_zero) return {noise.div_(1 - p), {}};
  const double scale = 1 / std::sqrt((kLowerEnd * kLowerEnd * p + 1) * (1 - p));
  Tensor shift = noise.add(-1).mul_(kLowerEnd * scale).add_(kLowerEnd * scale * p);
  return {noise.mul_(scale), std::move(shift)};
}

bool drops(const Tensor& input, double p, bool train) {
  if (!(p >= 0 && p <= 1)) throw Error("dropout probability has to be between 0 and 1, but got " + text_of(p));
  return p != 0 && train && input.numel() != 0;
}

Tensor dropped(const Tensor& input, double p, bool train, Dropped what, Replaced how) {
  if (!drops(input, p, train)) return input;
  const PolicyExemption exempt;
  const Noise noise = draw(input, p, what, how);
  const Tensor product = input * noise.factor;
  return noise.shift.defined() ? product + noise.shift : product;
}
Tensor& drop(Tensor& input, double p, bool train, Dropped what, Replaced how) {
  if (!drops(input, p, train)) return input;
  const PolicyExemption exempt;
  const Noise noise = draw(input, p, what, how);
  input.mul_(noise.factor);
  return noise.shift.defined() ? input.add_(noise.shift) : input;
}

}  // namespace

Tensor dropout(const Tensor& input, double p, bool train) {
  return dropped(input, p, train, Dropped::elements, Replaced::by_zero);
}
Tensor& dropout_(Tensor& input, double p, bool train) {
  return drop(input, p, train, Dropped::elements, Replaced::by_zero);
}
Tensor feature_dropout(const Tensor& input, double p, bool train) {
  return dropped(input, p, train, Dropped::channels, Replaced::by_zero);
}
Tensor& feature_dropout_(Tensor& input, double p, bool train) {
  return drop(input, p, train, Dropped::channels, Replaced::by_zero);
}
Tensor alpha_dropout(const Tensor& input, double p, bool train) {
  return dropped(input, p, train, Dropped::elements, Replaced::by_lower_end);
}
Tensor& alpha_dropout_(Tensor& input, double p, bool train) {
  return drop(input, p, train, Dropped::elements, Replaced::by_lower_end);
}
Tensor feature_alpha_dropout(const Tensor& input, double p, bool train) {
  return dropped(input, p, train, Dropped::channels, Replaced::by_lower_end);
}
Tensor& feature_alpha_dropout_(Tensor& input, double p, bool train) {
  return drop(input, p, train, Dropped::channels, Replaced::by_lower_end);
}

}  // namespace tenon
