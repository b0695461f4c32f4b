// tile: rows of bytes, each of which is rolled. Takes contiguous rows; gives others.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

/// `rows` rows of `length` bytes, the first of which comes to place `start`, less than `length`. `to` may be null where
/// the run is only planned.
void roll_rows(std::byte* to, const std::byte* from, int64_t rows, int64_t length, int64_t start);

}  // namespace tenon
