// tile: prefetches memory that the processor does not read ahead by itself.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

/// Prefetches `rows` rows of `bytes` bytes, `step` bytes apart, into the second-level cache. Any address will do.
inline void prefetch_rows(const std::byte* from, int64_t bytes, int64_t step, int64_t rows) {
  for (int64_t row = 0; row < rows; ++row, from += step)
    for (int64_t line = 0; line < bytes; line += 64) __builtin_prefetch(from + line, 0, 2);
}

}  // namespace tenon
