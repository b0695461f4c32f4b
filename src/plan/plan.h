// plan: takes the result's shape and the strides of its operands; gives merged loops and each operand's access pattern.
// Depends on shapes, strides and dtypes only. Never touches element data, never knows an instruction set.
#pragma once
#include "base/small_vector.h"
#include "tenon/dims.h"
#include "tenon/shape.h"

namespace tenon {

/// How a tile's elements of an operand lie in memory.
enum class AccessPattern : uint8_t {
  direct,      // element after element: kernels read the memory itself
  splat,       // one value for the whole tile
  periodic,    // a short pattern repeats: it is built once and reused
  repeated,    // each element is repeated `length` times
  transposed,  // element after element along another loop: read in square blocks
  gather,      // anything else
};
const char* access_pattern_name(AccessPattern access) noexcept;

/// A tensor's sizes and strides.
struct StridedView {
  SizesView sizes;
  SizesView strides;  // in elements
};

struct Plan {
  struct Operand {
    AccessPattern access = AccessPattern::direct;
    int64_t length = 0;  // periodic: elements of the pattern; repeated: repetitions of each element
  };

  SmallVector<int64_t, 8> sizes;     // of the merged loops, innermost first
  SmallVector<int64_t, 32> strides;  // operand by operand, in the order of `sizes`
  SmallVector<Operand, 8> operands;  // the outputs first
  int64_t outputs = 1;
  int64_t numel = 1;
  int64_t fused = 0;       // number of innermost loops that a tile treats as one
  int64_t flat = 1;        // elements of the fused loops together
  int64_t unit = 1;        // tiles are whole multiples of this many elements
  int64_t transposed = 0;  // the loop along which transposed operands are dense; 0: there is none
  int64_t continued = 0;   // the loop that goes on from there as one loop, for transposed operands; 0: there is none

  int64_t ndim() const noexcept { return sizes.size(); }
  /// The operand that is input i.
  int64_t input(int64_t i) const noexcept { return outputs + i; }
  const int64_t* strides_of(int64_t operand) const noexcept { return strides.data() + operand * ndim(); }
};

/// An operand's strides over the result's dims, 0 where it is broadcast. Writes shape.size() values to `out`.
void compute_strides(SizesView shape, const StridedView& operand, int64_t* out);

/// The shortest runs, in elements, that are computed one by one; shorter ones are first joined by a copy. Bench:
/// tenon_bench --filter '^large/NCHW 7x7/' and ./dev bench --sweep, gaps and columns.
struct FairRuns {
  int64_t with_gaps;  // where joining takes a gather
  int64_t repeated;   // where it takes no more than repeating elements
  bool fill = false;  // whether a run of one value takes one call
  int64_t flat = 0;   // loops are fused until they have as many elements
  int64_t tile = 0;   // where each run is a tile, and joining copies or repeats other operands

  /// For kernels that compute a run at a call.
  static FairRuns of_calls(int64_t itemsize) noexcept { return {64 / itemsize, 64 / itemsize}; }
  /// For copies, which bring runs straight to their places, from a list.
  static FairRuns of_copies(int64_t itemsize) noexcept {
    return {2048 / itemsize, 64 / itemsize, true, 4096 / itemsize};
  }
  /// For kernels that compute many runs at a call.
  static FairRuns of_rows(int64_t itemsize) noexcept {
    return {(19 + itemsize) / itemsize, 44 / itemsize};  // exact: at most 16 bytes
  }
};

/// Makes the plan of an elementwise operation; the first `outputs` operands are the outputs.
void make_plan(SizesView shape, const StridedView* operands, int64_t count, Plan& plan, int64_t outputs = 1,
               FairRuns fair = FairRuns::of_calls(2));

/// Makes the plan of a reduction: operand 0, the output, has stride 0 along reduced dims. The inputs decide the order
/// of loops.
void make_reduction_plan(SizesView shape, const StridedView* operands, int64_t count, Plan& plan);
/// Whether a loop of such a plan is reduced.
inline bool is_reduced(const Plan& plan, int64_t loop) noexcept { return plan.strides_of(0)[loop] == 0; }

/// Strides of a new result that keeps the memory format of its inputs.
/// PyTorch: TensorIteratorBase::allocate_or_resize_outputs and fast_set_up.
Dims result_strides(SizesView shape, const StridedView* inputs, int64_t count);

}  // namespace tenon
