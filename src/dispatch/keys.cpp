#include "dispatch/keys.h"

#include <algorithm>

#include "dispatch/differentiate.h"
#include "kernel/kernel.h"

namespace tenon {

Tensor dense_rows_along(const Tensor& self, int64_t dim) {
  const Tensor rows = self.dim() == 0 ? self.detach() : self.detach().movedim(dim, -1);
  return rows.is_contiguous() ? rows : run_clone(rows, MemoryFormat::contiguous);
}

std::vector<int64_t> keys_of(const Tensor& self, int64_t start, int64_t n) {
  std::vector<int64_t> keys(static_cast<std::size_t>(n));
  // exact: inside the storage
  const auto* const from = reinterpret_cast<const std::byte*>(self.impl()->data()) + start * itemsize(self.dtype());
  const auto& kernel = kernels().order[static_cast<std::size_t>(self.dtype())];
  if (itemsize(self.dtype()) == 8) {
    kernel.keys(keys.data(), from, n, false);
    return keys;
  }
  std::vector<int32_t> narrow(static_cast<std::size_t>(n));
  kernel.keys(narrow.data(), from, n, false);
  std::copy(narrow.begin(), narrow.end(), keys.begin());
  return keys;
}

}  // namespace tenon
