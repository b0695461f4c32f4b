// What Linux has beside POSIX.
#include <fcntl.h>
#include <linux/magic.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <ctime>

#include "system/file.h"
#include "system/library.h"
#include "system/memory.h"
#include "system/processor.h"
#include "system/threads.h"

namespace tenon::system {

// --- memory.h -----------------------------------------------------------------------------------------------------

void prefer_huge_pages(void* memory, int64_t nbytes) noexcept {
  madvise(memory, static_cast<std::size_t>(nbytes), MADV_HUGEPAGE);
}
int64_t free_memory_bytes() noexcept { return sysconf(_SC_AVPHYS_PAGES) * page_bytes(); }
void give_back(uintptr_t begin, uintptr_t end) noexcept {
  // Not MADV_DONTNEED: pages that were written would lose their content. NOLINTNEXTLINE(performance-no-int-to-ptr)
  madvise(reinterpret_cast<void*>(begin), end - begin, MADV_PAGEOUT);
}

// --- file.h -------------------------------------------------------------------------------------------------------

bool reserve(int descriptor, int64_t nbytes) noexcept {
  do {
    errno = posix_fallocate(descriptor, 0, nbytes);
  } while (errno == EINTR);
  return errno == 0;
}

bool is_opaque_link(const std::string& link) noexcept {
  struct statfs system = {};
  const std::size_t slash = link.rfind('/');
  const std::string folder = slash == std::string::npos ? "." : link.substr(0, slash + 1);
  return statfs(folder.c_str(), &system) == 0 && system.f_type == PROC_SUPER_MAGIC;
}

uint64_t random_bits() noexcept {
  uint64_t bits = 0;
  while (getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits)) {
  }
  return bits;
}

// --- threads.h ----------------------------------------------------------------------------------------------------

int current_core() noexcept { return sched_getcpu(); }

void leave_core(int core) noexcept {
  if (core < 0 || sched_getcpu() != core) return;
  cpu_set_t allowed;
  if (sched_getaffinity(0, sizeof allowed, &allowed) != 0) return;
  cpu_set_t others = allowed;
  CPU_CLR(static_cast<unsigned>(core), &others);
  if (CPU_COUNT(&others) > 0 && sched_setaffinity(0, sizeof others, &others) == 0)
    sched_setaffinity(0, sizeof allowed, &allowed);
}

int64_t coarse_milliseconds() noexcept {
  timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);
  return int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

// --- processor.h --------------------------------------------------------------------------------------------------

/// Not sysconf: on some processors it adds up several caches.
int64_t last_cache_bytes() noexcept {
  for (const char* path :
       {"/sys/devices/system/cpu/cpu0/cache/index3/size", "/sys/devices/system/cpu/cpu0/cache/index2/size"}) {
    std::FILE* file = std::fopen(path, "r");
    if (!file) continue;
    long size = 0;
    char unit = 0;
    const bool read = std::fscanf(file, "%ld%c", &size, &unit) == 2;
    std::fclose(file);
    if (read && size > 0) return static_cast<int64_t>(size) << (unit == 'M' ? 20 : 10);
  }
  return 0;
}

/// Linux gives the registers' memory to processes that ask for it (Documentation/arch/x86/xstate.rst).
bool permit_matrix_registers() noexcept {
#ifdef SYS_arch_prctl
  constexpr long kRequest = 0x1023, kTileData = 18;  // ARCH_REQ_XCOMP_PERM, XFEATURE_XTILEDATA
  return syscall(SYS_arch_prctl, kRequest, kTileData) == 0;
#else
  return false;
#endif
}

// --- library.h ----------------------------------------------------------------------------------------------------

const char* const kLibrarySuffix = ".so";

}  // namespace tenon::system
