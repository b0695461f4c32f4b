// tile: takes a reduction's plan and a Program; folds the tiles that the Program gives. Results have the same bits
// whatever the number of threads: how the work is cut depends on shapes alone.
#pragma once
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/program.h"

namespace tenon {

struct Reduction {
  Op op;           // whose kernels fold; the Program's result has the dtype that is accumulated
  double divisor;  // of the folded value; 0: none
  Dtype output;    // dtype of the result
};

/// Whether 0 is added to a fold at its end. PyTorch's sums start at 0, so that nothing but -0 adds up to 0; every other
/// value is the same without.
constexpr bool starts_at_zero(Op op, Dtype accumulated) {
  return (op == Op::sum || op == Op::mean) && is_inexact(accumulated);
}

/// Operand 0 of `plan` is the output, with stride 0 along reduced loops; operand i + 1 is input i. No loop is empty.
void run_reduction(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                   const void* const* inputs);
/// How that will go.
Course course_of(const Plan& plan, const Program& program, const Reduction& reduction);

}  // namespace tenon
