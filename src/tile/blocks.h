// tile: blocks of a plan's innermost loops, brought to contiguous memory and back. Takes fused loops and an operand's
// strides; moves elements. Shared by runs over tiles and runs over memory.
#pragma once
#include <cstddef>

#include "kernel/kernel.h"
#include "plan/plan.h"

namespace tenon {

inline const std::byte* at(const void* base, int64_t elements, int shift) {
  return static_cast<const std::byte*>(base) + (elements << shift);
}

/// Fills `to` from fused loops [0, dims); the last loop gives `rows`. Elements are 1 << shift bytes wide.
void load_block(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift, int64_t dims,
                int64_t rows);
/// The way back.
void store_block(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift,
                 int64_t dims, int64_t rows);
/// Lays a periodic operand's `length` elements down once and doubles them until `total` are there.
void build_pattern(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift,
                   int64_t length, int64_t total);

}  // namespace tenon
