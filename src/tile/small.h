// tile: the fast path for small broadcasts. Takes one to three operands and a kernel. Long rows are computed one by one
// in memory; short ones are expanded into buffers on the stack, tile by tile. No plan, which would cost more than the
// work.
#pragma once
#include "kernel/kernel.h"
#include "plan/plan.h"
#include "tenon/shape.h"

namespace tenon {

// Up to this size operands with gaps or other orders of dims are expanded on the stack. Bench: tenon_bench --filter
// '^tiny/\[5,1,4,1\]'.
inline constexpr int64_t kSmallBytes = 8192;
// Up to this size an operand is cast on the stack.
inline constexpr int64_t kSmallNumel = 1024;
// Up to this size an op runs without a plan, on one thread. Bench: tenon_bench --filter '^large/(row|column)/(L1|L2)'.
inline constexpr int64_t kSmallRowsNumel = 32768;
// The same where an operand is cast, up to where plans have one thread. Bench: ./dev bench --sweep, mixed dtypes.
inline constexpr int64_t kSmallCastNumel = 98303;
inline constexpr int64_t kSmallDims = 8;

/// Who decides the strides of a row-major result: its operands, or an output that is there.
enum class ResultStrides : uint8_t { from_operands, given };

/// The result's shape, and its merged loops, innermost first, with the operands' strides (0 where an operand is
/// broadcast). False if the shapes do not broadcast or are too large, or if PyTorch's result might not be row-major:
/// then a plan is needed.
template <int kCount>
struct SmallBroadcast {
  int64_t ndim;
  int64_t sizes[kSmallDims];
  int64_t numel;
  int64_t itemsize;  // of the kernel's operands, but for conditions
  int64_t loops;
  int64_t counts[kSmallDims];
  int64_t strides[kCount][kSmallDims];
  const void* data[kCount];
  Kernel casts[kCount];              // to the kernel's dtype; null: none. Such an operand is contiguous.
  int64_t numels[kCount];            // of the operands that are cast
  int64_t widths[kCount];            // bytes of their elements
  bool is_dense;                     // all operands are contiguous
  RowsKernel rows_kernel = nullptr;  // null: each row is a call
  bool has_condition = false;        // the first operand is bool, whatever the others are

  int64_t limit = kSmallRowsNumel;  // elements of the largest result

  /// `width`: bytes of the kernel's operands' elements; `most`: the number of elements of the largest operand;
  /// `are_dense`: whether all operands are contiguous.
  bool set(const StridedView* operands, int64_t width, int64_t most, bool are_dense, ResultStrides result) noexcept;
  SizesView shape() const noexcept { return {sizes, ndim}; }
  int64_t itemsize_of(int i) const noexcept { return has_condition && i == 0 ? 1 : itemsize; }
  /// Whether the innermost loop is long, and each operand's elements in it are contiguous or one element.
  bool has_rows() const noexcept;
  /// Whether an operand is cast.
  bool casts_any() const noexcept;
  /// Whether tiles would cast an operand's elements again for each turn of a loop along which it is broadcast.
  bool casts_again() const noexcept;
  /// Whether the last operand, into which the others' results go, has no element in two places, and its loops are in
  /// the order of memory.
  bool fills_in_order() const noexcept;
  /// Whether the innermost loop passes over contiguous elements, or one, of each operand.
  bool is_in_rows() const noexcept;

 private:
  int64_t shortest_row(bool is_planned) const noexcept;
  bool has_rows_of(int64_t shortest) const noexcept;
  /// Whether an operand's row is the same in each turn of the next loop.
  bool repeats_rows() const noexcept;
  /// Whether the result is two loops of dense operands, none of which is a column.
  bool shares_row() const noexcept;
  void add_loop(int64_t count, const int64_t* own) noexcept;
};

/// out = kernel(operands). `out_itemsize`: of the results. `out` is row-major; it is an operand or overlaps none.
void run_small(SmallBroadcast<2>& broadcast, Kernel kernel, int64_t out_itemsize, void* out);
void run_small(SmallBroadcast<3>& broadcast, Kernel kernel, int64_t out_itemsize, void* out);
/// The same into the last operand, which fills_in_order(): each of its elements is the kernel's result for those of the
/// others, none of which is cast. If the operands are not in rows, there is a kernel for single elements.
void run_small_into(const SmallBroadcast<2>& broadcast, Kernel kernel);
void run_small_into(const SmallBroadcast<3>& broadcast, Kernel kernel);
void run_small_into(const SmallBroadcast<4>& broadcast, Kernel kernel);
/// Copies an operand of at most kSmallBytes to `out`, which is row-major and overlaps no operand.
void run_small(const SmallBroadcast<1>& broadcast, void* out);

}  // namespace tenon
