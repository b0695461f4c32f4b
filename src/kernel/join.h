// kernel: what the kernel of joined rows takes and gives.
#pragma once
#include <cstdint>

namespace tenon {

/// How rows that consist of a few units of each part are put together: block by block of the output, each of which is
/// the union of one shuffled vector of each part. After a turn of some rows the same shuffles begin anew. Without
/// blocks a turn is one row of longer runs, which are copied one after the other.
struct JoinTurn {
  static constexpr int64_t kMostParts = 4, kMostBlocks = 32, kMostUnits = 16;
  static constexpr uint8_t kNone = 0x80;

  int64_t count;                             // of parts, 2 to kMostParts
  int64_t unit;                              // bytes: 1, or 4 if the instruction set has vectors of 32 bytes
  int64_t block;                             // bytes: 16, or a vector
  int64_t blocks;                            // of a turn, up to kMostBlocks; 0: only `count` and `steps` count
  int64_t steps[kMostParts];                 // bytes of a part in a turn, at least those of a block, if there are any
  int32_t offsets[kMostBlocks][kMostParts];  // of a block's vector in a part's bytes
  alignas(16) uint8_t shuffles[kMostBlocks][kMostParts][kMostUnits];  // the unit of that vector, or kNone
};

}  // namespace tenon
