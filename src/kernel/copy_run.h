// kernel: copies runs of bytes.
#pragma once
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "kernel/kernel.h"

namespace tenon {

/// Copies a run of at least a cache line by vectors.
inline void copy_by_vectors(std::byte* to, const std::byte* from, int64_t nbytes) {
  constexpr int64_t kCacheLine = 64;
  constexpr auto bytes = static_cast<std::size_t>(uint8);
  std::memcpy(to, from, kCacheLine);
  const int64_t head = -static_cast<int64_t>(reinterpret_cast<uintptr_t>(to)) & (kCacheLine - 1);
  const Lanes rest{from + head, 1};
  kernels().cast[bytes][bytes](to + head, &rest, nbytes - head);
}

// A result of so many bytes leaves the first-level cache; runs of so many are copied to it by copy_far. Bench:
// ./dev bench --sweep, copies and cat.
inline constexpr int64_t kFarCopyBytes = 32 << 10, kFarCopyRun = 3 << 10;
/// Copies a run of at least a cache line to memory beyond the first-level cache.
///
/// glibc's memcpy copies 2 KB to 1 MB by `rep movsb` where a processor says that this is fast. Beyond the first-level
/// cache it is: on Zen 5 by a fifth to a half. On Zen 3 and 4 it takes thirty times as long if the low 12 bits of `to`
/// are 1 to 31 above those of `from`: https://sourceware.org/PR30994.
inline void copy_far(std::byte* to, const std::byte* from, int64_t nbytes) {
  constexpr uintptr_t kPage = 4096, kClose = 64;
  constexpr int64_t kPiece = 512 << 10;
  const uintptr_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % kPage;
  if (ahead > 0 && ahead < kClose) return copy_by_vectors(to, from, nbytes);
  for (int64_t start = 0; start < nbytes; start += kPiece)
    std::memcpy(to + start, from + start, static_cast<std::size_t>(std::min(kPiece, nbytes - start)));
}

/// Copies a run of bytes, which overlap no other. Any length is quick.
inline void copy_run(void* to, const void* from, int64_t nbytes) {
  constexpr int64_t kLeast = 2048, kFar = 28 << 10, kMost = 2 << 20;
  auto* const out = static_cast<std::byte*>(to);
  const auto* const in = static_cast<const std::byte*>(from);
  if (nbytes < kLeast || nbytes > kMost) {
    std::memcpy(to, from, static_cast<std::size_t>(nbytes));
  } else if (nbytes < kFar) {
    copy_by_vectors(out, in, nbytes);
  } else {
    copy_far(out, in, nbytes);
  }
}

}  // namespace tenon
