// argwhere: nonzero.
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::argwhere(const Tensor& self) { return tenon::nonzero(self); }

}  // namespace tenon
