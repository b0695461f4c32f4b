// tile: lanes of one dtype as lanes of another.
#pragma once
#include <cstddef>
#include <cstdint>

#include "kernel/kernel.h"

namespace tenon {

/// Casts `n` lanes that lie along memory.
inline void cast_lanes(void* to, Dtype to_dtype, const void* from, Dtype from_dtype, int64_t n) {
  const Lanes lanes{from, 1};
  kernels().cast[static_cast<int>(from_dtype)][static_cast<int>(to_dtype)](to, &lanes, n);
}

}  // namespace tenon
