// system: memory pages. Takes and gives addresses; never throws.
#pragma once
#include <cstdint>

namespace tenon::system {

/// Memory that begins at a multiple of `alignment`, a power of two. Null if there is none.
void* take_aligned(int64_t alignment, int64_t nbytes) noexcept;
/// Takes back what `take_aligned` gave; null is allowed.
void free_aligned(void* memory) noexcept;
/// Asks for huge pages, where processes may have them without special rights.
void prefer_huge_pages(void* memory, int64_t nbytes) noexcept;

int64_t page_bytes() noexcept;
/// Of the machine.
int64_t memory_bytes() noexcept;
int64_t free_memory_bytes() noexcept;

/// Says that these whole pages of a mapped file are not read again soon. What was written to them stays.
void give_back(uintptr_t begin, uintptr_t end) noexcept;

}  // namespace tenon::system
