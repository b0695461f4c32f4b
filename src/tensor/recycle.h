// tensor: takes a number of bytes; gives a block of memory, recycled if possible, because fresh pages cost more than
// arithmetic. Small blocks are kept per thread, large ones in one shared cache.
#pragma once
#include <bit>
#include <cstddef>
#include <cstdint>

#include "tenon/storage.h"

namespace tenon {

/// Moves the elements of a recycled storage to a larger block.
void grow_storage(Storage* storage, int64_t nbytes);

namespace recycle {

// Under AddressSanitizer nothing is recycled and blocks have the requested size, so that it finds reads past the end
// and uses after free.
#if defined(__SANITIZE_ADDRESS__)
inline constexpr bool kRecycles = false;
#elif defined(__has_feature)
inline constexpr bool kRecycles = !__has_feature(address_sanitizer);
#else
inline constexpr bool kRecycles = true;
#endif

// Size classes: multiples of 64 bytes up to 256, then four per power of two (at most a quarter of a block is unused).
constexpr int class_of(int64_t nbytes) noexcept {
  if (nbytes <= 256) return nbytes <= 0 ? 0 : static_cast<int>((nbytes + 63) / 64) - 1;
  const int power =
      static_cast<int>(std::bit_width(static_cast<uint64_t>(nbytes - 1))) - 1;  // 2^power < nbytes <= 2^(power+1)
  const int64_t above = nbytes - (int64_t{1} << power);
  return 4 * (power - 7) + static_cast<int>((above - 1) >> (power - 2));
}
constexpr int64_t class_bytes(int index) noexcept {
  if (index < 4) return int64_t{64} * (index + 1);
  const int power = index / 4 + 7;
  return (int64_t{1} << power) + (int64_t{1} << (power - 2)) * (index % 4 + 1);
}
static_assert(class_of(64) == 0 && class_of(256) == 3 && class_of(257) == 4 && class_bytes(4) == 320);
static_assert(class_bytes(class_of(512)) == 512 && class_bytes(class_of(513)) == 640 &&
              class_of(513) == class_of(512) + 1);

/// Blocks up to this size are kept per thread, without a lock.
inline constexpr int64_t kSmall = int64_t{1} << 16;

/// The small blocks one thread keeps: a bounded list per class.
class ThreadCache {
 public:
  void* take(int index) noexcept {
    List& list = lists_[index];
    Block* block = list.head;
    if (!block) return nullptr;
    list.head = block->next;
    --list.count;
    return block;
  }
  bool put(void* memory, int index) noexcept {
    List& list = lists_[index];
    if (list.count >= keep_) return false;
    Block* block = static_cast<Block*>(memory);
    block->next = list.head;
    list.head = block;
    ++list.count;
    return true;
  }
  void trim() noexcept;

  /// A cache that keeps nothing, for destructors that run after the thread's cache is gone.
  static constexpr ThreadCache closed() noexcept {
    ThreadCache cache;
    cache.keep_ = 0;
    return cache;
  }

 private:
  struct Block {
    Block* next;
  };
  struct List {
    Block* head = nullptr;
    int count = 0;
  };
  List lists_[class_of(kSmall) + 1];
  int keep_ = 64;
};

/// This thread's cache; null before its first use. Initial-exec TLS: no call to find it.
extern constinit thread_local ThreadCache* thread_cache [[gnu::tls_model("initial-exec")]];

void* allocate_slow(int64_t nbytes);
void deallocate_slow(void* block, int64_t nbytes) noexcept;

/// Returns at least `nbytes` bytes, aligned to 64. Throws OutOfMemoryError.
inline void* allocate(int64_t nbytes) {
  if (kRecycles && nbytes <= kSmall && thread_cache)
    if (void* block = thread_cache->take(class_of(nbytes))) return block;
  return allocate_slow(nbytes);
}
/// Takes back what `allocate(nbytes)` gave.
inline void deallocate(void* block, int64_t nbytes) noexcept {
  if (kRecycles && nbytes <= kSmall && thread_cache && thread_cache->put(block, class_of(nbytes))) return;
  deallocate_slow(block, nbytes);
}

}  // namespace recycle
}  // namespace tenon
