// column_copy: unsqueeze, with memory of its own.
#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "dispatch/plain.h"

namespace tenon {

Tensor plain::column_copy(const Tensor& self, int64_t dim) {
  return run_clone(self.detach().unsqueeze(dim), MemoryFormat::contiguous);
}

}  // namespace tenon
