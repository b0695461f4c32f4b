#include "dispatch/keys.h"

#include <cstring>

#include "dispatch/algorithm.h"
#include "dispatch/differentiate.h"
#include "kernel/kernel.h"

namespace tenon {

void check_sortable(const Tensor& self) {
  if (is_complex(self.dtype()) && is_computed(self)) throw Error(" Sort does not support complex dtypes on CPU");
}

Tensor row_major(const Tensor& self, Dtype dtype) {
  const Tensor plain = self.detach();
  return plain.dtype() == dtype && plain.is_contiguous() ? plain : run_to(plain, dtype, MemoryFormat::contiguous);
}

Tensor with_plain_truths(const Tensor& self) {
  if (self.dtype() != bool_ || !is_computed(self)) return self;
  Tensor truths = run_clone(self, MemoryFormat::contiguous);
  const Arg first(truths), none(false);
  const Arg* const args[] = {&first, &none};
  run_inplace(Op::ne, truths, args, 2);
  forget_writes(truths);
  return truths;
}

Tensor dense_rows_along(const Tensor& self, int64_t dim) {
  const Tensor rows = self.dim() == 0 ? self.detach() : self.detach().movedim(dim, -1);
  return rows.is_contiguous() ? rows : run_clone(rows, MemoryFormat::contiguous);
}

void write_keys(int64_t* keys, const Tensor& self, int64_t start, int64_t n) {
  // exact: inside the storage
  const auto* const from = reinterpret_cast<const std::byte*>(self.impl()->data()) + start * itemsize(self.dtype());
  const auto& kernel = kernels().order[static_cast<std::size_t>(self.dtype())];
  if (itemsize(self.dtype()) == 8) return kernel.keys(keys, from, n, false);
  // Keys of 32 bits take the second half of the memory; each is read before its place is written.
  auto* const narrow = reinterpret_cast<std::byte*>(keys) + n * int64_t{sizeof(int32_t)};  // exact: inside the keys
  kernel.keys(narrow, from, n, false);
  for (int64_t i = 0; i < n; ++i) {
    int32_t key;
    std::memcpy(&key, narrow + i * int64_t{sizeof key}, sizeof key);  // exact: inside the keys
    keys[i] = key;
  }
}

std::vector<int64_t> keys_of(const Tensor& self, int64_t start, int64_t n) {
  std::vector<int64_t> keys(static_cast<std::size_t>(n));
  write_keys(keys.data(), self, start, n);
  return keys;
}

}  // namespace tenon
