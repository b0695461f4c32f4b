// Pages of memory that tests ask the system for.
#pragma once
#include <cstddef>
#ifdef _WIN32
// Not windows.h, whose macros are names of these tests.
extern "C" __declspec(dllimport) void* VirtualAlloc(void*, std::size_t, unsigned long, unsigned long);
extern "C" __declspec(dllimport) int VirtualFree(void*, std::size_t, unsigned long);
extern "C" __declspec(dllimport) int VirtualProtect(void*, std::size_t, unsigned long, unsigned long*);
#else
#include <sys/mman.h>
#endif

namespace tenon {

constexpr std::size_t kPageBytes = 1 << 16;  // a multiple of every system's pages

/// Zeros at so many addresses, a multiple of kPageBytes. Only the pages that are used take memory. Null: there are
/// none.
inline void* take_pages(std::size_t nbytes) {
#ifdef _WIN32
  constexpr unsigned long kReserveAndCommit = 0x3000, kReadWrite = 4;
  return VirtualAlloc(nullptr, nbytes, kReserveAndCommit, kReadWrite);
#else
  void* memory = mmap(nullptr, nbytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : memory;
#endif
}

inline void free_pages(void* memory, std::size_t nbytes) {
#ifdef _WIN32
  constexpr unsigned long kRelease = 0x8000;
  static_cast<void>(nbytes);
  VirtualFree(memory, 0, kRelease);
#else
  munmap(memory, nbytes);
#endif
}

/// From now on the process may neither read nor write these pages.
inline void forbid_pages(void* memory, std::size_t nbytes) {
#ifdef _WIN32
  constexpr unsigned long kNoAccess = 1;
  unsigned long before = 0;
  VirtualProtect(memory, nbytes, kNoAccess, &before);
#else
  mprotect(memory, nbytes, PROT_NONE);
#endif
}

}  // namespace tenon
