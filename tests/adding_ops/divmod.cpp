// divmod: div and remainder.
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {

std::tuple<Tensor, Tensor> plain::divmod(const Tensor& self, const Tensor& other) {
  return {tenon::div(self, other, "floor"), tenon::remainder(self, other)};
}

}  // namespace tenon
