// gelu: by erf, or approximated by tanh.
#include <cmath>
#include <string_view>

#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::gelu(const Tensor& self, const char* approximate) {
  const std::string_view how = approximate;
  if (how == "none") return self * 0.5 * (tenon::erf(self * std::sqrt(0.5)) + 1);
  if (how == "tanh")
    return self * 0.5 * (tenon::tanh((self + self * self * self * 0.044715) * std::sqrt(2 / std::acos(-1.0))) + 1);
  throw Error("approximate argument must be either none or tanh.");
}

}  // namespace tenon
