// What POSIX systems other than Linux have where POSIX has no word: macOS, WebAssembly.
#include <time.h>
#include <unistd.h>
#if __has_include(<sys/random.h>)
#include <sys/random.h>  // getentropy, on macOS
#endif

#include "system/file.h"
#include "system/library.h"
#include "system/memory.h"
#include "system/processor.h"
#include "system/threads.h"

namespace tenon::system {

// --- memory.h -----------------------------------------------------------------------------------------------------

void prefer_huge_pages(void*, int64_t) noexcept {}
int64_t free_memory_bytes() noexcept { return memory_bytes(); }
void give_back(uintptr_t, uintptr_t) noexcept {}

// --- file.h -------------------------------------------------------------------------------------------------------

/// The space is taken when pages are written: a full disk is a lost page then.
bool reserve(int descriptor, int64_t nbytes) noexcept { return ftruncate(descriptor, nbytes) == 0; }
bool is_opaque_link(const std::string&) noexcept { return false; }
uint64_t random_bits() noexcept {
  uint64_t bits = 0;
  while (getentropy(&bits, sizeof bits) != 0) {
  }
  return bits;
}

// --- threads.h ----------------------------------------------------------------------------------------------------

int current_core() noexcept { return -1; }
void leave_core(int) noexcept {}
int64_t coarse_milliseconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// --- processor.h --------------------------------------------------------------------------------------------------

int64_t last_cache_bytes() noexcept { return 0; }
bool permit_matrix_registers() noexcept { return false; }

// --- library.h ----------------------------------------------------------------------------------------------------

const char* const kLibrarySuffix = ".so";

}  // namespace tenon::system
