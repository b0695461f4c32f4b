// tile: takes a reduction's plan and a Program; folds the tiles that the Program gives. Results have the same bits
// whatever the number of threads: how the work is cut depends on shapes alone.
#pragma once
#include "plan/plan.h"
#include "tile/program.h"

namespace tenon {

struct Reduction {
  Op op;           // whose kernels fold; the Program's result has the dtype that is accumulated
  double divisor;  // of the folded value; 0: none
  Dtype output;    // dtype of the result
};

/// Operand 0 of `plan` is the output, standing still along reduced loops; operand i + 1 is input i. No loop is empty.
void run_reduction(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                   const void* const* inputs);

}  // namespace tenon
