#include "tenon/storage.h"

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "tenon/error.h"
#include "tensor/recycle.h"

namespace tenon {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kHugePage = int64_t{1} << 21;
constexpr int kClasses = 4 * 62;

struct FreeBlock {
  FreeBlock* next;
};

std::atomic<int64_t> in_use{0}, peak{0}, cached{0}, blocks{0};
std::atomic<int64_t> cap{int64_t{1} << 30};

[[noreturn]] void fail_out_of_memory(int64_t nbytes) {
  throw OutOfMemoryError("not enough memory: you tried to allocate " + std::to_string(nbytes) + " bytes.");
}

void* take_from_system(int64_t nbytes) noexcept {
  // Blocks of a huge page and more start on one: fewer page faults when they are first touched.
  const int64_t alignment = nbytes >= kHugePage ? kHugePage : kAlignment;
  void* block = std::aligned_alloc(static_cast<std::size_t>(alignment),
                                   static_cast<std::size_t>((nbytes + alignment - 1) / alignment * alignment));
  if (block && nbytes >= kHugePage) madvise(block, static_cast<std::size_t>(nbytes), MADV_HUGEPAGE);
  if (block) blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

/// Large blocks of all threads.
class SharedCache {
 public:
  void* take(int index) noexcept {
    std::lock_guard lock(mutex_);
    FreeBlock* block = free_[static_cast<std::size_t>(index)];
    if (!block) return nullptr;
    free_[static_cast<std::size_t>(index)] = block->next;
    cached.fetch_sub(recycle::class_bytes(index), std::memory_order_relaxed);
    return block;
  }
  bool put(void* memory, int index) noexcept {
    if (cached.load(std::memory_order_relaxed) + recycle::class_bytes(index) > cap.load(std::memory_order_relaxed))
      return false;
    std::lock_guard lock(mutex_);
    FreeBlock* block = static_cast<FreeBlock*>(memory);
    block->next = free_[static_cast<std::size_t>(index)];
    free_[static_cast<std::size_t>(index)] = block;
    cached.fetch_add(recycle::class_bytes(index), std::memory_order_relaxed);
    return true;
  }
  void trim() noexcept {
    std::lock_guard lock(mutex_);
    for (int index = 0; index < kClasses; ++index) {
      FreeBlock*& head = free_[static_cast<std::size_t>(index)];
      while (head) {
        std::free(std::exchange(head, head->next));
        cached.fetch_sub(recycle::class_bytes(index), std::memory_order_relaxed);
      }
    }
  }

 private:
  std::mutex mutex_;
  std::array<FreeBlock*, kClasses> free_{};
};

SharedCache& shared_cache() {
  static SharedCache* cache = new SharedCache;  // outlives every thread that still frees into it
  return *cache;
}

/// Ends a thread's cache with the thread: other destructors may still free into it.
constinit recycle::ThreadCache closed_cache = recycle::ThreadCache::closed();
struct CacheOwner {
  recycle::ThreadCache cache;
  ~CacheOwner() {
    recycle::thread_cache = &closed_cache;
    cache.trim();
  }
};

void count_use(int64_t nbytes) noexcept {
  const int64_t now = in_use.fetch_add(nbytes, std::memory_order_relaxed) + nbytes;
  int64_t before = peak.load(std::memory_order_relaxed);
  while (before < now && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

/// A small block carries its header: one allocation for both.
constexpr int64_t kHeader = (static_cast<int64_t>(sizeof(Storage)) + kAlignment - 1) / kAlignment * kAlignment;
bool is_inline(const Storage* storage) noexcept {
  return storage->data == reinterpret_cast<const std::byte*>(storage) + kHeader;
}

}  // namespace

namespace recycle {

constinit thread_local ThreadCache* thread_cache = nullptr;

void ThreadCache::trim() noexcept {
  for (List& list : lists_) {
    while (list.head) std::free(std::exchange(list.head, list.head->next));
    list.count = 0;
  }
}

void* allocate_slow(int64_t nbytes) {
  if (nbytes <= kSmall && !thread_cache) {
    thread_local CacheOwner owner;
    thread_cache = &owner.cache;
  }
  const int index = class_of(nbytes);
  if (nbytes > kSmall)
    if (void* block = shared_cache().take(index)) return block;
  if (nbytes > (int64_t{1} << 60)) fail_out_of_memory(nbytes);
  void* block = take_from_system(recycle::class_bytes(index));
  if (!block) {
    memory::trim();
    block = take_from_system(recycle::class_bytes(index));
  }
  if (!block) fail_out_of_memory(nbytes);
  return block;
}

void deallocate_slow(void* block, int64_t nbytes) noexcept {
  const bool kept = nbytes > kSmall && shared_cache().put(block, class_of(nbytes));
  if (!kept) std::free(block);
}

}  // namespace recycle

Storage* new_storage(int64_t nbytes) {
  const bool with_header = nbytes + kHeader <= recycle::kSmall;
  const int64_t block_bytes = with_header ? kHeader + nbytes : kHeader;
  void* block = recycle::allocate(block_bytes);
  Storage* storage = new (block) Storage;
  storage->nbytes = nbytes;
  storage->block_bytes = block_bytes;
  if (with_header) {
    storage->data = static_cast<std::byte*>(block) + kHeader;
    return storage;
  }
  try {
    storage->data = static_cast<std::byte*>(recycle::allocate(nbytes));
  } catch (...) {
    recycle::deallocate(storage, block_bytes);
    throw;
  }
  count_use(nbytes);
  return storage;
}

Storage* new_storage(void* data, int64_t nbytes, Storage::Deleter deleter, void* context) {
  Storage* storage = new (recycle::allocate(kHeader)) Storage;
  storage->data = static_cast<std::byte*>(data);
  storage->nbytes = nbytes;
  storage->block_bytes = kHeader;
  storage->deleter = deleter ? deleter : [](void*, void*) {};
  storage->context = context;
  return storage;
}

namespace {

void release_elements(Storage* storage) noexcept {
  if (storage->deleter) return storage->deleter(storage->data, storage->context);
  if (is_inline(storage)) return;
  recycle::deallocate(storage->data, storage->nbytes);
  in_use.fetch_sub(storage->nbytes, std::memory_order_relaxed);
}

}  // namespace

void destroy_storage(Storage* storage) noexcept {
  release_elements(storage);
  recycle::deallocate(storage, storage->block_bytes);
}

void grow_storage(Storage* storage, int64_t nbytes) {
  std::byte* wider = static_cast<std::byte*>(recycle::allocate(nbytes));
  std::memcpy(wider, storage->data, static_cast<std::size_t>(storage->nbytes));
  release_elements(storage);
  storage->data = wider;  // the header stays where it is: views point at it
  storage->nbytes = nbytes;
  count_use(nbytes);
}

namespace memory {

Statistics statistics() noexcept {
  return {in_use.load(std::memory_order_relaxed), peak.load(std::memory_order_relaxed),
          cached.load(std::memory_order_relaxed), blocks.load(std::memory_order_relaxed)};
}
void reset_peak() noexcept { peak.store(in_use.load(std::memory_order_relaxed), std::memory_order_relaxed); }
void set_cache_cap(int64_t nbytes) noexcept {
  cap.store(nbytes, std::memory_order_relaxed);
  if (cached.load(std::memory_order_relaxed) > nbytes) trim();
}
int64_t cache_cap() noexcept { return cap.load(std::memory_order_relaxed); }
void trim() noexcept {
  if (recycle::thread_cache && recycle::thread_cache != &closed_cache) recycle::thread_cache->trim();
  shared_cache().trim();
}

}  // namespace memory
}  // namespace tenon
