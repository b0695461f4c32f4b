// Shared by the tests of autograd: leaves, values, and the texts of calls.
#pragma once
#include <functional>
#include <string>
#include <vector>

#include "spec.h"

namespace autograd_tests {

using tenon::SizesView;
using tenon::Tensor;

inline Tensor leaf(SizesView sizes) { return tenon::ones(sizes).requires_grad_(); }

using Values = std::vector<double>;

/// The elements of a tensor; {-1} if it is undefined.
inline Values values(const Tensor& tensor) {
  if (!tensor.defined()) return {-1};
  Values list;
  const Tensor flat = tensor.detach().to(tenon::float64).contiguous();
  for (int64_t i = 0; i < flat.numel(); ++i) list.push_back(flat.data<double>()[i]);
  return list;
}

/// The error's text; else the first warning; else "accepted".
inline std::string text_of(const std::function<void()>& call) {
  const spec::Outcome outcome = spec::attempt([&] {
    call();
    return Tensor();
  });
  return outcome.failed() ? outcome.text : outcome.warnings.empty() ? "accepted" : outcome.warnings[0];
}

}  // namespace autograd_tests
