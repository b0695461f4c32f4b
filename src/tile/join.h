// tile: concatenation. Takes parts; gives an output whose rows consist of one run of each part. Decides how short runs
// are copied, when to use streaming stores, and what each thread does.
#pragma once
#include <cstddef>
#include <cstdint>

namespace tenon {

/// One part: row i gets the `nbytes` bytes at `data + i * step`, which is not less.
struct Part {
  const std::byte* data;
  int64_t nbytes, step;
};

/// Writes `rows` rows, one after the other: each is the parts' runs in their order. Runs have at least one byte; no
/// part overlaps `out`. Throws std::bad_alloc only before anything is written.
void join(std::byte* out, const Part* parts, int64_t count, int64_t rows);

}  // namespace tenon
