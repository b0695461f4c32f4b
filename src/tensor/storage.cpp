#include "tenon/storage.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <mutex>
#include <new>
#include <string>
#include <utility>

#include "base/checked.h"
#include "base/fork.h"
#include "system/memory.h"
#include "system/threads.h"
#include "tenon/error.h"
#include "tensor/recycle.h"

namespace tenon {
namespace {

constexpr int64_t kAlignment = 64;
constexpr int64_t kPage = 4096;
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
  // Blocks of at least a huge page are aligned to one: fewer page faults when they are first written. Other large ones
  // begin with a page: processors compare the addresses of loads with those of earlier stores modulo 4096, so a loop
  // whose output lies a little after an input there may lose a third.
  const int64_t alignment = nbytes >= kHugePage ? kHugePage : nbytes > recycle::kSmall ? kPage : kAlignment;
  const int64_t whole = recycle::kRecycles ? (nbytes + alignment - 1) / alignment * alignment : nbytes;
  void* const block = system::take_aligned(alignment, whole);
  if (!block) return nullptr;
  if (nbytes >= kHugePage) system::prefer_huge_pages(block, nbytes);
  blocks.fetch_add(1, std::memory_order_relaxed);
  return block;
}

/// The large blocks of all threads.
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
        system::free_aligned(std::exchange(head, head->next));
        cached.fetch_sub(recycle::class_bytes(index), std::memory_order_relaxed);
      }
    }
  }

 private:
  ForkMutex mutex_;
  std::array<FreeBlock*, kClasses> free_{};
};

/// Never destroyed, because threads may free into it until the process ends.
SharedCache& shared_cache() noexcept {
  alignas(SharedCache) static std::byte memory[sizeof(SharedCache)];
  static SharedCache* const cache = new (memory) SharedCache;
  return *cache;
}
const AtLoad cache_at_load(shared_cache);

/// A cache of the list of all, whose thread may have ended. The list only grows, to as many as there were threads at
/// once. A child after fork still reaches the caches of its parent's threads through it, so they are not lost.
class OwnedCache : public recycle::ThreadCache {
 public:
  /// Null without memory.
  static OwnedCache* take() noexcept {
    for (OwnedCache* cache = first_.load(std::memory_order_acquire); cache; cache = cache->next_)
      if (!cache->taken_.exchange(true, std::memory_order_acquire)) return cache;
    auto* const made = new (std::nothrow) OwnedCache;
    if (!made) return nullptr;
    made->next_ = first_.load(std::memory_order_relaxed);
    while (!first_.compare_exchange_weak(made->next_, made, std::memory_order_release, std::memory_order_relaxed)) {
    }
    return made;
  }
  void give_back() noexcept {
    trim();
    taken_.store(false, std::memory_order_release);
  }

 private:
  std::atomic<bool> taken_{true};
  OwnedCache* next_ = nullptr;
  static constinit std::atomic<OwnedCache*> first_;
};
constinit std::atomic<OwnedCache*> OwnedCache::first_{nullptr};

/// For destructors that run after the thread's cache is gone, and for threads that cannot have a cache.
constinit recycle::ThreadCache closed_cache = recycle::ThreadCache::closed();

/// Runs when a thread ends. Destructors that run later may still free blocks.
void close_cache(void* cache) noexcept {
  recycle::thread_cache = &closed_cache;
  static_cast<OwnedCache*>(cache)->give_back();
}

/// Makes this thread's cache; without memory it is made at the next try. In the heap: some systems free thread_local
/// objects before `close_cache` runs.
void open_cache() noexcept {
  if (recycle::thread_cache) return;  // a program's static tensor has opened it
  static const system::ThreadExit at_exit(close_cache);
  OwnedCache* const own = OwnedCache::take();
  if (!own) return;
  recycle::thread_cache = own;
  if (at_exit.set(own)) return;
  recycle::thread_cache = &closed_cache;
  own->give_back();
}
const AtLoad cache_of_thread_at_load(open_cache);

void count_use(int64_t nbytes) noexcept {
  const int64_t now = in_use.fetch_add(nbytes, std::memory_order_relaxed) + nbytes;
  int64_t before = peak.load(std::memory_order_relaxed);
  while (before < now && !peak.compare_exchange_weak(before, now, std::memory_order_relaxed)) {
  }
}

/// Small blocks lie behind their Storage header, so that one allocation holds both.
constexpr int64_t kHeader = (static_cast<int64_t>(sizeof(Storage)) + kAlignment - 1) / kAlignment * kAlignment;
bool is_inline(const Storage* storage) noexcept {
  return storage->data == reinterpret_cast<const std::byte*>(storage) + kHeader;
}

}  // namespace

namespace recycle {

// GCC forgets the declaration's attribute at a definition without it.
constinit thread_local ThreadCache* thread_cache [[gnu::tls_model("initial-exec")]] = nullptr;

void ThreadCache::trim() noexcept {
  for (List& list : lists_) {
    while (list.head) system::free_aligned(std::exchange(list.head, list.head->next));
    list.count = 0;
  }
}

void* allocate_slow(int64_t nbytes) {
  if (nbytes <= kSmall && !thread_cache) open_cache();
  if (nbytes > kMaxStorageBytes) fail_out_of_memory(nbytes);
  const int index = class_of(nbytes);
  if (kRecycles && nbytes > kSmall)
    if (void* block = shared_cache().take(index)) return block;
  const int64_t whole = kRecycles ? class_bytes(index) : nbytes;
  void* block = take_from_system(whole);
  if (!block) {
    memory::trim();
    block = take_from_system(whole);
  }
  if (!block) fail_out_of_memory(nbytes);
  return block;
}

void deallocate_slow(void* block, int64_t nbytes) noexcept {
  const bool kept = kRecycles && nbytes > kSmall && shared_cache().put(block, class_of(nbytes));
  if (!kept) system::free_aligned(block);
}

}  // namespace recycle

Storage* new_storage(int64_t nbytes) {
  const bool with_header = nbytes <= recycle::kSmall - kHeader;
  const int64_t block_bytes = with_header ? kHeader + nbytes : kHeader;  // exact: less than kSmall
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
  storage->resizable.store(false, std::memory_order_relaxed);
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
  storage->data = wider;  // the header does not move, because views point to it
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
