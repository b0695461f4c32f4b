// tile: how many threads one op may use. Results do not depend on it.
#pragma once
#include "tenon/export.h"

namespace tenon {

/// Threads per op, the caller's included. Default: TENON_NUM_THREADS, else the machine's cores. ValueError below 1.
TENON_API void set_num_threads(int count);
TENON_API int get_num_threads() noexcept;
}  // namespace tenon
