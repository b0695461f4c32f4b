// bench: memory in huge pages, like the library's large blocks, for plain loops.
#pragma once
#include <sys/mman.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace bench {

struct FreeBlock {
  void operator()(std::byte* block) const { std::free(block); }
};
using Block = std::unique_ptr<std::byte, FreeBlock>;

/// Whole huge pages of at least `nbytes` bytes, every byte 1.
inline Block allocate_pages(int64_t nbytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  const std::size_t whole = (static_cast<std::size_t>(nbytes) + kHugePage) / kHugePage * kHugePage;
  Block block(static_cast<std::byte*>(std::aligned_alloc(kHugePage, whole)));
#ifdef MADV_HUGEPAGE
  madvise(block.get(), whole, MADV_HUGEPAGE);
#endif
  std::memset(block.get(), 1, whole);
  return block;
}

}  // namespace bench
