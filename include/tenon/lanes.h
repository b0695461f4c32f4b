// kernel: the interface of a kernel.
#pragma once
#include <cstdint>

namespace tenon {

/// What a kernel reads: lanes one after the other (step 1), or one value for all (step 0).
struct Lanes {
  const void* data;
  int64_t step;
};

/// out[i] = f(in[0][i], ...) for `n` lanes. `out` may be one of the inputs, not partly overlap one.
/// At least one input has step 1.
using Kernel = void (*)(void* out, const Lanes* in, int64_t n);

}  // namespace tenon
