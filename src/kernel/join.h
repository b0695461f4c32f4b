// kernel: what the kernel of joined rows takes and gives.
#pragma once
#include <cstdint>

namespace tenon {

/// How rows that consist of a few bytes of each part are put together: 16 bytes of output at a time, which is the union
/// of one shuffled vector of each part. After a turn of some rows the same shuffles begin anew.
struct JoinTurn {
  static constexpr int64_t kMostParts = 4, kMostBlocks = 32, kBlock = 16;

  int64_t count;                             // of parts, 2 to kMostParts
  int64_t blocks;                            // of output in a turn
  int64_t steps[kMostParts];                 // bytes of a part in a turn, at least kBlock
  int32_t offsets[kMostBlocks][kMostParts];  // of the vector that a block takes from a part's bytes
  alignas(16) uint8_t shuffles[kMostBlocks][kMostParts][kBlock];  // 0x80: a zero
};

/// Writes `turns` turns. Reads and writes nothing beside them.
using JoinKernel = void (*)(void* out, const void* const* parts, const JoinTurn& turn, int64_t turns);

}  // namespace tenon
