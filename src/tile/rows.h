// tile: how a kernel is called for a row. Takes the row's length; gives the lanes of one or two calls.
#pragma once
#include "kernel/kernel.h"

namespace tenon {

// A kernel computes lanes that fill no half vector one by one. From this many on, another call costs less. Bench:
// ./dev bench --sweep, comparisons, columns and gaps.
inline constexpr int64_t kManySingles = 12;
// Of wider elements no half vector holds so many.
inline constexpr int64_t kWidest = 2;

// Kernels with vectors of so many bytes end rows by a mask.
inline constexpr int64_t kMaskedBytes = 64;
/// Whether kernels for rows compute the ends of rows of so narrow elements by a mask.
inline bool masks_rows(int64_t narrowest) noexcept {
  return narrowest <= kWidest && kernels().vector_bytes == kMaskedBytes;
}

/// A row's lanes in one call, or in two that overlap.
struct RowCalls {
  int64_t first;  // lanes of the first call
  int64_t last;   // lanes of the second call, which ends with the row; 0: there is none

  /// `narrowest`: bytes of the narrowest element. The output must be no input.
  static RowCalls of(int64_t lanes, int64_t narrowest) noexcept {
    if (narrowest > kWidest) return {lanes, 0};
    const int64_t block = kernels().vector_bytes / 2 / narrowest, singles = lanes % block;
    if (lanes < block || singles < kManySingles) return {lanes, 0};
    return {lanes - singles, block};
  }
};

}  // namespace tenon
