// The allocator of the test program: glibc's, which can be made to fail and counts live blocks. The library calls these
// functions, because the executable's symbols come first; operator new calls malloc.
#include <cerrno>
#include <cstddef>
#include <limits>

#include "faults.h"

extern "C" {
void* __libc_malloc(std::size_t nbytes);
void __libc_free(void* block);
void* __libc_calloc(std::size_t count, std::size_t nbytes);
void* __libc_realloc(void* block, std::size_t nbytes);
void* __libc_memalign(std::size_t alignment, std::size_t nbytes);
}

namespace {

std::atomic<bool> armed{false};
std::atomic<int64_t> calls{0}, first_to_fail{0}, last_to_fail{0}, live{0};

bool fails() noexcept {
  if (!armed.load(std::memory_order_relaxed)) return false;
  const int64_t call = calls.fetch_add(1, std::memory_order_relaxed);
  if (call < first_to_fail.load(std::memory_order_relaxed) || call >= last_to_fail.load(std::memory_order_relaxed))
    return false;
  errno = ENOMEM;
  return true;
}

void* counted(void* block) noexcept {
  if (block) live.fetch_add(1, std::memory_order_relaxed);
  return block;
}

}  // namespace

#define TENON_REPLACES extern "C" __attribute__((visibility("default"), noinline))
TENON_REPLACES void* malloc(std::size_t nbytes) noexcept { return fails() ? nullptr : counted(__libc_malloc(nbytes)); }
TENON_REPLACES void* calloc(std::size_t count, std::size_t nbytes) noexcept {
  return fails() ? nullptr : counted(__libc_calloc(count, nbytes));
}
TENON_REPLACES void* realloc(void* block, std::size_t nbytes) noexcept {
  if (fails()) return nullptr;
  void* moved = __libc_realloc(block, nbytes);
  return block ? moved : counted(moved);
}
TENON_REPLACES void* memalign(std::size_t alignment, std::size_t nbytes) noexcept {
  return fails() ? nullptr : counted(__libc_memalign(alignment, nbytes));
}
TENON_REPLACES void* aligned_alloc(std::size_t alignment, std::size_t nbytes) noexcept {
  return memalign(alignment, nbytes);
}
TENON_REPLACES int posix_memalign(void** block, std::size_t alignment, std::size_t nbytes) noexcept {
  *block = memalign(alignment, nbytes);
  return *block ? 0 : ENOMEM;
}
TENON_REPLACES void free(void* block) noexcept {
  if (block) live.fetch_sub(1, std::memory_order_relaxed);
  __libc_free(block);
}
#undef TENON_REPLACES

namespace tenon::faults {

void fail_allocations(int64_t first, int64_t count) noexcept {
  calls = 0;
  first_to_fail = first;
  last_to_fail =
      count > std::numeric_limits<int64_t>::max() - first ? std::numeric_limits<int64_t>::max() : first + count;
  armed = true;
}
int64_t stop_failing() noexcept {
  armed = false;
  return calls;
}
int64_t live_blocks() noexcept { return live; }

}  // namespace tenon::faults
