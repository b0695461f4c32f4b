// tile: reductions of short rows with gaps between them. Kernels fold each such row by a call; so slabs of rows are
// first copied without gaps, and then folded as contiguous elements are.
#pragma once
#include "tile/fold.h"
#include "tile/reduce.h"

namespace tenon {

/// Whether rows are packed first. Depends on shapes, strides and dtypes only.
bool packs_rows(const Plan& plan, const Program& program, const Reduction& reduction);
bool packs_rows(const Plan& plan);  // of a Fold
/// Runs such a reduction, or notes its course; as run_reduction and run_fold.
void run_packed(const Plan& plan, const Program& program, const Reduction& reduction, void* out, const void* in);
void run_packed(const Plan& plan, const Fold& fold, const void* in);

}  // namespace tenon
