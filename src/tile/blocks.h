// tile: copies blocks of a plan's innermost loops to contiguous memory and back. Takes fused loops and an operand's
// strides. Used by the tile route and the direct route.
#pragma once
#include <cstddef>

#include "kernel/kernel.h"
#include "plan/plan.h"

namespace tenon {

inline const std::byte* at(const void* base, int64_t elements, int shift) {
  return static_cast<const std::byte*>(base) + (elements << shift);
}

/// Fills `to` from fused loops [0, dims), with `rows` turns of the last one. Elements have 1 << shift bytes.
void load_block(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift, int64_t dims,
                int64_t rows);
/// The inverse: copies a contiguous block to the operand.
void store_block(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift,
                 int64_t dims, int64_t rows);
/// Copies the `length` elements of a periodic operand and repeats them until there are `total`.
void build_pattern(std::byte* to, const std::byte* from, const Plan& plan, const int64_t* strides, int shift,
                   int64_t length, int64_t total);

}  // namespace tenon
