// colsort: sort along the first dim.
#include "dispatch/plain.h"
#include "tenon/ops.h"

namespace tenon {

Tensor plain::colsort(const Tensor& self) { return std::get<0>(tenon::sort(self, 0)); }

}  // namespace tenon
