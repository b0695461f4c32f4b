// tile: the fast path for small broadcasts. Takes two operands and a kernel. Long rows are computed one by one in
// memory; short ones are expanded into buffers on the stack, where the kernel is called once. No plan, which would cost
// more than the work.
#pragma once
#include "kernel/kernel.h"
#include "tenon/shape.h"

namespace tenon {

// Up to this size a binary op is expanded on the stack. Bench: tenon_bench --filter '^tiny/\[5,1,4,1\]'.
inline constexpr int64_t kSmallBytes = 8192;
// Up to this size an operand is cast on the stack.
inline constexpr int64_t kSmallNumel = 1024;
// Up to this size a binary op over rows runs without a plan, on one thread. Bench: tenon_bench --filter
// '^large/(row|column)/(L1|L2)'.
inline constexpr int64_t kSmallRowsNumel = 32768;
inline constexpr int64_t kSmallDims = 6;

/// Who decides the strides of a row-major result: its operands, or an output that is there.
enum class ResultStrides : uint8_t { from_operands, given };

/// The result's shape, and its merged loops, innermost first, with both operands' strides (0 where an operand is
/// broadcast). False if the shapes do not broadcast or are too large, or if PyTorch's result might not be row-major:
/// then a plan is needed.
struct SmallBroadcast {
  int64_t ndim;
  int64_t sizes[kSmallDims];
  int64_t numel;
  int64_t itemsize;  // of the kernel's operands
  int64_t loops;
  int64_t counts[kSmallDims];
  int64_t strides[2][kSmallDims];
  const void* data[2];
  Kernel casts[2];                   // to the kernel's dtype; null: none. Such an operand is contiguous.
  int64_t numels[2];                 // of the operands that are cast
  int64_t widths[2];                 // bytes of their elements
  RowsKernel rows_kernel = nullptr;  // null: each row is a call

  /// `width`: bytes of the kernel's operands' elements; `most`: the number of elements of the larger operand.
  bool set(SizesView a, SizesView a_strides, SizesView b, SizesView b_strides, int64_t width, int64_t most,
           ResultStrides result) noexcept;
  SizesView shape() const noexcept { return {sizes, ndim}; }
  /// Whether the innermost loop is long, and each operand's elements in it are contiguous or one element.
  bool has_rows() const noexcept;
  /// The same, with rows long enough to be cast one by one.
  bool has_rows_to_cast() const noexcept;
  /// Whether an operand that is cast is too large for a buffer.
  bool casts_many() const noexcept;

 private:
  int64_t shortest_row(bool is_planned) const noexcept;
  bool has_rows_of(int64_t shortest) const noexcept;
  void add_loop(int64_t count, const int64_t* own) noexcept;
};

/// out = kernel(a, b). `out_itemsize`: of the results. `out` is row-major; it is
/// an operand or overlaps none.
void run_small(SmallBroadcast& broadcast, Kernel kernel, int64_t out_itemsize, void* out);

}  // namespace tenon
