// tile: parts one behind the other. Takes runs of bytes; gives an output whose rows are made of one run of each.
// Decides how short runs are copied, what goes past the caches, and what each thread does.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

/// What one part gives to every row: row i takes `nbytes` from `data + i * nbytes`.
struct Part {
  const std::byte* data;
  int64_t nbytes;
};

/// Writes `rows` rows, one behind the other: each is the runs of the parts in their order. Each part gives at least a
/// byte, and lies apart from `out`. std::bad_alloc before anything is written.
void join(std::byte* out, const Part* parts, int64_t count, int64_t rows);

}  // namespace tenon
