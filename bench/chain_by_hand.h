// bench: a loop written by hand for one expression, with the vectors of this machine.
#pragma once
#include <cstdint>

namespace bench {

/// out = clamp((a - row) / column * 2 + 1, 0, 5) of a matrix. `out` and `a` begin on cache lines, as do their rows.
/// `streamed`: the result goes past the caches.
void chain_by_hand(float* out, const float* a, const float* row, const float* column, int64_t rows, int64_t columns,
                   bool streamed);

}  // namespace bench
