// tile: reductions in two stages. Where reduced loops lie on both sides of a kept one, the lanes of one pass would be
// few, or lie far apart: either the innermost reduced loop is folded first, and then the rest, or it is kept in the
// first stage and folded at the end.
#pragma once
#include "tile/reduce.h"

namespace tenon {

/// Whether the loops of a reduction ask for two stages. Depends on sizes and dtypes only.
bool has_two_stages(const Plan& plan, const Program& program);
/// Runs both, or notes their courses; as run_reduction.
void run_stages(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                const void* const* inputs);

}  // namespace tenon
