// tile: reductions in two stages. If the innermost reduced loop is short and there are others beyond a kept one, lanes
// would be few: the other loops are reduced first, with the innermost one kept, then the small rest.
#pragma once
#include "tile/reduce.h"

namespace tenon {

/// Whether the loops of a reduction ask for two stages. Depends on sizes only.
bool has_two_stages(const Plan& plan);
/// Runs both, or notes their courses; as run_reduction.
void run_stages(const Plan& plan, const Program& program, const Reduction& reduction, void* out,
                const void* const* inputs);

}  // namespace tenon
