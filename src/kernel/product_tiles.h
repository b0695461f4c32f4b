// kernel: how rows of a product are divided among tiles, and which matrices are turned.
#pragma once
#include "kernel/kernel.h"

namespace tenon {

// Of matrices of b that ProductKernels::multiply_small turns: elements, and columns or depth.
inline constexpr int64_t kTurnedNumel = 512, kTurnedSizes = 64;

/// Calls visit(tile, first row, rows) for each tile: as few as hold all rows, and about as high.
template <class Visit>
inline void visit_tiles(int64_t rows, int64_t most, Visit visit) {
  if (rows <= most) return visit(int64_t{0}, int64_t{0}, rows);  // without the divisions
  const int64_t tiles = tiles_of(rows, most), each = rows / tiles, higher = rows % tiles;
  for (int64_t tile = 0, row = 0; tile < tiles; ++tile) {
    const int64_t height = each + (tile < higher ? 1 : 0);
    visit(tile, row, height);
    row += height;
  }
}

}  // namespace tenon
