// tile: takes a reduction's plan and a Program; folds the tiles that the Program computes. Results have the same bits
// for any number of threads, because the work is divided by shapes only.
#pragma once
#include "kernel/kernel.h"
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/program.h"

namespace tenon {

struct Reduction {
  Op op;           // its kernels fold; the Program's result has the accumulated dtype
  double divisor;  // divides the folded value; 0: none
  Dtype output;    // dtype of the result
};

/// Whether 0 is added to a fold at its end. PyTorch's sums start at 0, so a sum of -0 is 0; no other result changes.
constexpr bool starts_at_zero(Op op, Dtype accumulated) {
  return (op == Op::sum || op == Op::mean) && is_inexact(accumulated);
}

/// Whether elements are compared only. Those of 16-bit floats are not widened.
constexpr bool finds_extremes(Op op) { return op == Op::amax || op == Op::amin; }

// Rows of at most so many elements are folded by one call of a kernel. Bench: tenon_bench --filter '^reduce/sum/'.
inline constexpr int64_t kRowNumel = 8 * 1024 - 1;
// Shorter rows of several are folded across, unless their kernel folds them in vectors.
inline constexpr int64_t kNarrowRow = 4;
/// The kernels that fold lanes of dtype `from` to the accumulated dtype where they lie in memory.
FoldKernels folds_of(Op op, Dtype from, Dtype accumulated) noexcept;
/// The kernels that fold the Program's input where it lies; none if it computes more.
FoldKernels folds_of_input(const Program& program, Op op);
/// Whether these fold narrow rows in vectors, too.
bool folds_narrow_rows(Op op, Dtype from, Dtype accumulated) noexcept;

// Rows that are cast first have at most so many. Bench: tenon_bench --filter '^reduce/(i32|bool) sum/L1'.
inline constexpr int64_t kCastRowNumel = 2048;
/// Folds each of `rows` contiguous rows of `numel` elements of dtype `from`, at most kRowNumel, or kCastRowNumel if
/// they are cast; rows of several that are cast are not narrow. Gives the same bits as run_reduction gives if its
/// Program is at most one cast to the accumulated dtype. 16-bit floats may be accumulated in float32.
void fold_contiguous_rows(const Reduction& reduction, Dtype from, Dtype accumulated, void* out, const void* in,
                          int64_t numel, int64_t rows);

/// Folds each of `count` contiguous blocks, several of `rows` rows of `numel` elements of dtype `from`, lane by lane.
/// False if there is no kernel for that, or blocks are too large. Gives the same bits as run_reduction if its Program
/// is at most one cast to the accumulated dtype, which has at most 8 bytes unless it is the output's.
bool fold_contiguous_blocks(const Reduction& reduction, Dtype from, Dtype accumulated, void* out, const void* in,
                            int64_t numel, int64_t rows, int64_t count);

/// Folds `rows` contiguous rows of `columns` elements, of the output's dtype, into one, one after the other.
void fold_few_rows(const Reduction& reduction, void* out, const void* in, int64_t rows, int64_t columns);

/// Operand 0 of `plan` is the output, with stride 0 along reduced loops; operand i + 1 is input i. No loop is empty.
void run_reduction(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                   const void* const* inputs);
/// Describes such a run.
Course course_of(const Plan& plan, const Program& program, const Reduction& reduction);

}  // namespace tenon
