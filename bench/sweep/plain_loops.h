// bench: the plainest loops for a number of bytes or for the arithmetic of an op: what this machine can do.
#pragma once
#include <vector>

#include "../cases.h"

namespace bench {

/// Runs each on a thread of its own, the first on the calling one. They don't wait for each other between repeats.
Work on_threads(std::vector<Work> shares);

/// Reads and writes so many bytes, each once, with ordinary or streaming stores, whichever are faster here. Every
/// thread has an equal share.
Work plain_moves(int64_t reads, int64_t writes, int threads);
/// So many multiplications with an addition each, in registers.
Work plain_products(int64_t count, Dtype dtype, int threads);
/// Running sums of rows of so many elements, each added to the one before; 16-bit floats are read and written as
/// integers.
Work plain_scans(int64_t nbytes, int64_t row, Dtype dtype, int threads);

}  // namespace bench
