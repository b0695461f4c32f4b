// kernel: copies runs of bytes.
#pragma once
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel/kernel.h"

namespace tenon {

/// Copies a run of bytes, which overlap no other. Any length is quick.
///
/// glibc's memcpy copies 2 KB to 1 MB by `rep movsb` where a processor says that this is fast. On Zen 3 and 4 it takes
/// thirty times as long if the low 12 bits of `to` are 1 to 31 above those of `from`: https://sourceware.org/PR30994.
inline void copy_run(void* to, const void* from, int64_t nbytes) {
  constexpr int64_t kLeast = 2048, kMost = 2 << 20, kCacheLine = 64;
  if (nbytes < kLeast || nbytes > kMost) {
    std::memcpy(to, from, static_cast<std::size_t>(nbytes));
    return;
  }
  std::memcpy(to, from, kCacheLine);
  const int64_t head = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(to)) & (kCacheLine - 1);
  const Lanes rest{static_cast<const std::byte*>(from) + head, 1};
  constexpr auto bytes = static_cast<std::size_t>(uint8);
  kernels().cast[bytes][bytes](static_cast<std::byte*>(to) + head, &rest, nbytes - head);
}

}  // namespace tenon
