// bench: the plainest loops for a number of bytes or of multiplications: what this machine can do.
#pragma once
#include "../cases.h"

namespace bench {

/// Reads and writes so many bytes, each once, with ordinary or streaming stores, whichever are faster here. Every
/// thread has an equal share.
Work plain_moves(int64_t reads, int64_t writes, int threads);
/// So many multiplications with an addition each, in registers.
Work plain_products(int64_t count, Dtype dtype, int threads);

}  // namespace bench
