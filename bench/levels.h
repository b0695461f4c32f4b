// bench: levels of the memory hierarchy. Takes a level; gives the sizes of operands.
#pragma once
#include "libraries.h"

namespace bench {

struct Level {
  const char* name;
  int64_t rows, cols;
  int64_t offset;  // of every operand's first element in its memory
  bool in_memory;  // larger than the last-level cache
  int64_t numel() const { return rows * cols; }
};

inline constexpr Level kLevels[] = {
    // clang-format off
    {"L1",       32,   64, 0, false},  // 8 KiB an operand of f32
    {"L2",      128,  256, 0, false},  // 128 KiB
    {"L3",     1024, 1024, 0, false},  // 4 MiB
    {"memory", 4096, 4096, 0, true},   // 64 MiB
    {"odd",    4095, 4097, 0, true},   // rows end in the middle of a vector
    {"offset", 4096, 4096, 1, true},   // operands start at element 1: in the middle of a vector
    // clang-format on
};

/// Random values that begin `offset` elements into their memory.
template <class Library>
typename Library::Tensor random_at(SizesView sizes, Dtype dtype, int64_t offset) {
  if (offset == 0) return Library::random(sizes, dtype);
  const int64_t numel = tenon::numel_of(sizes);
  return Library::random({numel + offset}, dtype).narrow(0, offset, numel).view(Library::sizes(sizes));
}

}  // namespace bench
