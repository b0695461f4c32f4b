// tile: takes the plan of argmax and its like; finds where extremes lie in memory, and stores the places, or the
// extremes and the places.
#pragma once
#include "kernel/kernel.h"
#include "plan/plan.h"
#include "tile/course.h"
#include "tile/fold.h"

namespace tenon {

/// The fold whose value an op finds the place of; the op itself if it looks for none.
constexpr Op extreme_of_place(Op op) {
  switch (op) {
    case Op::argmax:
    case Op::max_dim:
      return Op::amax;
    case Op::argmin:
    case Op::min_dim:
      return Op::amin;
    default:
      return op;
  }
}
/// Whether a fold finds places, and there are kernels.
inline bool finds_places(const Fold& fold) {
  return extreme_of_place(fold.op) != fold.op && kernels().place[static_cast<int>(fold.input)].along;
}
/// As run_fold.
void run_places(const Plan& plan, const Fold& fold, const void* in);
Course course_of_places(const Plan& plan, const Fold& fold);

}  // namespace tenon
