// tile: the way of small broadcasts. Takes contiguous operands of one dtype that have elements, and a kernel; expands
// each operand that needs it into a buffer on the stack and calls the kernel once. No plan: for so few elements it
// would cost more than the work.
#pragma once
#include "kernel/kernel.h"
#include "tenon/shape.h"

namespace tenon {

inline constexpr int64_t kSmallNumel = 1024;
inline constexpr int64_t kSmallDims = 6;

/// The result's shape, and the loops over it that do not merge, innermost first, with both operands' strides (0 where
/// an operand is broadcast). False where the shapes do not broadcast, are too large, or where another order of dims
/// than row-major could be PyTorch's: the plan decides then.
struct SmallBroadcast {
  int64_t ndim;
  int64_t sizes[kSmallDims];
  int64_t numel;
  int64_t loops;
  int64_t counts[kSmallDims];
  int64_t strides[2][kSmallDims];
  const void* data[2];

  bool set(SizesView a, SizesView a_strides, SizesView b, SizesView b_strides) noexcept;
  SizesView shape() const noexcept { return {sizes, ndim}; }

 private:
  void add_loop(int64_t count, const int64_t* own) noexcept;
};

/// out = kernel(a, b); `itemsize` of the operands. `out` is dense, row-major, and meets no operand.
void run_small(const SmallBroadcast& broadcast, Kernel kernel, int64_t itemsize, void* out);

}  // namespace tenon
