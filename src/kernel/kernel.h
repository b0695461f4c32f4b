// kernel: takes contiguous lanes; gives contiguous lanes. Never sees a shape, a stride or a dtype rule.
// One table per instruction set, chosen once; every entry is a plain function.
#pragma once
#include <cstdint>

#include "ops/row.h"
#include "tenon/dtype.h"

namespace tenon {

/// What a kernel reads: lanes one after the other (step 1), or one value for all (step 0).
/// A value for all is stored as a whole block of `kSplatBytes`, so that vector loads need no special case.
struct Lanes {
  const void* data;
  int64_t step;
};
inline constexpr int64_t kSplatBytes = 64;

/// out[i] = f(in[0][i], ...) for `n` lanes. `out` may be one of the inputs, not partly overlap one.
using Kernel = void (*)(void* out, const Lanes* in, int64_t n);
/// *out = the fold of `n` >= 1 lanes.
using FoldKernel = void (*)(void* out, const void* in, int64_t n);

/// Copies by element size: index 0 for 1 byte, 1 for 2, 2 for 4, 3 for 8.
struct MoveKernels {
  /// out[i] = in[i * stride], strides in elements.
  void (*gather)(void* out, const void* in, int64_t stride, int64_t n);
  /// out[i * stride] = in[i].
  void (*scatter)(void* out, int64_t stride, const void* in, int64_t n);
  /// out[i] = in[i / times] for n * times elements.
  void (*repeat)(void* out, const void* in, int64_t times, int64_t n);
  /// out[i] = value for n elements.
  void (*fill)(void* out, const void* value, int64_t n);
  /// out[row * columns + column] = in[column * stride + row]: reads down columns that lie one after the other.
  void (*transpose)(void* out, int64_t out_stride, const void* in, int64_t stride, int64_t rows, int64_t columns);
};

struct KernelTable {
  const char* name;                                // of the instruction set
  Kernel elementwise[kOpCount][kDtypeCount];       // by op and dtype of computation; null where there is none
  Kernel cast[kDtypeCount][kDtypeCount];           // from, to
  FoldKernel fold[kOpCount][kDtypeCount];          // reductions over lanes
  MoveKernels move[4];
  /// memcpy with stores that go past the caches; both ends may be unaligned.
  void (*stream)(void* out, const void* in, int64_t nbytes);
};

/// The table of the best instruction set this machine has (TENON_ISA=AVX2 asks for another one).
const KernelTable& kernels() noexcept;

}  // namespace tenon
