// tile: the fast path for small broadcasts. Takes two contiguous operands of one dtype and a kernel; expands operands
// into buffers on the stack and calls the kernel once. No plan, which would cost more than the work.
#pragma once
#include "kernel/kernel.h"
#include "tenon/shape.h"

namespace tenon {

// Up to this size a binary op runs without a plan. Bench: tenon_bench --filter '^tiny/\[5,1,4,1\]'.
inline constexpr int64_t kSmallNumel = 1024;
inline constexpr int64_t kSmallDims = 6;

/// The result's shape, and its merged loops, innermost first, with both operands' strides (0 where an operand is
/// broadcast). False if the shapes do not broadcast or are too large, or if PyTorch's result might not be row-major:
/// then a plan is needed.
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

/// out = kernel(a, b). `itemsize` is the operands'. `out` is row-major and overlaps no operand.
void run_small(const SmallBroadcast& broadcast, Kernel kernel, int64_t itemsize, void* out);

}  // namespace tenon
