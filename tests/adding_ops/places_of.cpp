// places_of: nonzero.
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::places_of(const Tensor& self) { return tenon::nonzero(self); }

}  // namespace tenon
