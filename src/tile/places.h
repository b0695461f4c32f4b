// tile: takes the plan of argmax and its like; finds where extremes lie in memory, and stores the places, or the
// extremes and the places.
#pragma once
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/fold.h"

namespace tenon {

/// Whether a fold is one of these, and there are kernels.
bool finds_places(const Fold& fold);
/// As run_fold.
void run_places(const Plan& plan, const Fold& fold, const void* in);
Course course_of_places(const Plan& plan, const Fold& fold);

}  // namespace tenon
