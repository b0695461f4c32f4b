// tensor: reference-counted memory. Takes bytes; gives recycled blocks. Never knows shapes or dtypes.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

#include "tenon/export.h"

namespace tenon {

/// A block of memory shared by a tensor and its views, with the version counter they share.
struct Storage {
  using Deleter = void (*)(void* data, void* context);

  std::atomic<uint32_t> references{1};
  std::atomic<uint32_t> version{0};
  std::atomic<bool> resizable{true};  // false once code outside the library holds `data`: the block must not move
  std::byte* data = nullptr;
  int64_t nbytes = 0;
  Deleter deleter = nullptr;  // frees a caller's buffer; nullptr: a recycled block
  void* context = nullptr;
  int64_t block_bytes = 0;  // size of the block that this header lies in
};

/// A recycled block of `nbytes`, aligned to 64 bytes, uninitialised. Throws OutOfMemoryError and then changes nothing.
TENON_API Storage* new_storage(int64_t nbytes);
/// Wraps a caller's buffer; `deleter` (may be null) runs when the last tensor over it goes.
TENON_API Storage* new_storage(void* data, int64_t nbytes, Storage::Deleter deleter, void* context);
TENON_API void destroy_storage(Storage* storage) noexcept;

/// One reference more, and one fewer: the last one frees the memory.
inline void retain(Storage* storage) noexcept { storage->references.fetch_add(1, std::memory_order_relaxed); }
inline void release(Storage* storage) noexcept {
  // The only owner needs no locked instruction: no other thread can change the count.
  if (storage->references.load(std::memory_order_acquire) == 1 ||
      storage->references.fetch_sub(1, std::memory_order_acq_rel) == 1)
    destroy_storage(storage);
}

namespace memory {

/// Bytes, since the process began.
struct Statistics {
  int64_t in_use;  // held by live tensors
  int64_t peak;    // the most that `in_use` has been since reset_peak
  int64_t cached;  // kept for reuse
  int64_t blocks;  // blocks taken from the system so far
};
/// Of the whole process.
TENON_API Statistics statistics() noexcept;
/// The peak becomes what is in use now.
TENON_API void reset_peak() noexcept;
/// The most bytes kept for reuse (default: 1 GiB). Reading gives the cap in force.
TENON_API void set_cache_cap(int64_t nbytes) noexcept;
TENON_API int64_t cache_cap() noexcept;
/// Gives every cached block of this thread and of the shared cache back to the system.
TENON_API void trim() noexcept;

}  // namespace memory
}  // namespace tenon
