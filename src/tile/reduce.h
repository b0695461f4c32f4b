// tile: takes a reduction's plan and a Program; folds the tiles that the Program computes. Results have the same bits
// for any number of threads, because the work is divided by shapes only.
#pragma once
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

/// Operand 0 of `plan` is the output, with stride 0 along reduced loops; operand i + 1 is input i. No loop is empty.
void run_reduction(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                   const void* const* inputs);
/// Describes such a run.
Course course_of(const Plan& plan, const Program& program, const Reduction& reduction);

}  // namespace tenon
